#include "coupling/network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "coupling/test/spring_pair.hpp"

// Every way to the heap is counted, Eigen's included, which does not go through operator new. The address sanitizer
// puts its own functions here; the test of allocations then leaves out.
static long allocations = 0;
#ifndef __SANITIZE_ADDRESS__
extern "C" {
void* __libc_malloc(std::size_t size) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;
void* malloc(std::size_t size) noexcept {
    ++allocations;
    return __libc_malloc(size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    ++allocations;
    return __libc_memalign(alignment, size);
}
}
#endif

namespace mdpcosim {
namespace {

using test::make_law;

// ---- a network written down without any thought of speed ------------------------------------------------------------

struct naive_channel {
    double stiffness;
    bool signal;
    std::vector<channel_term> terms;
    extrapolation_rule rule;
    std::vector<double> times, u, du;  // newest first
    polynomial p;
    bool has_polynomial = false;
    double end = 0;
};

class naive_network {
   public:
    std::vector<naive_channel> channels;
    struct input {
        double start = 0;
        int limit = max_degree;
        std::vector<delivery> deliveries;
    };
    std::vector<input> inputs;

    std::pair<double, double> value(const naive_channel& c, const std::vector<double>& y) const {
        double q = 0, v = 0;
        for (const auto& t : c.terms) {
            q += t.weight * y[t.value.value()];
            v += t.weight * y[t.rate.value()];
        }
        return c.signal ? std::pair{q, v} : std::pair{c.stiffness * q, c.stiffness * v};
    }

    void accept(double t, const std::vector<double>& y) {
        for (auto& c : channels) {
            const auto [u, du] = value(c, y);
            c.end = c.has_polynomial ? c.p(t - c.times.front()) : u;
            c.times.insert(c.times.begin(), t);
            c.u.insert(c.u.begin(), u);
            c.du.insert(c.du.begin(), du);
        }
    }

    void extrapolate(double t_next) {
        for (auto& c : channels) {
            const double H = t_next - c.times.front();
            std::vector<double> tau;
            for (const double t : c.times) tau.push_back((t - c.times.front()) / H);
            const auto w = make_weights(c.rule, tau);
            c.p = {};
            c.p.degree = w.degree;
            for (int n = 0; n <= w.degree; ++n) {
                double sum = w.C[n] * c.end;
                for (int k = 0; k < w.points; ++k) sum += w.A[n][k] * c.u[k] + w.B[n][k] * H * c.du[k];
                c.p.c[n] = sum / std::pow(H, n);
            }
            c.has_polynomial = true;
        }
    }

    polynomial input_polynomial(std::size_t i, double H) const {
        polynomial sum;
        if (inputs[i].deliveries.empty()) sum.c[0] = inputs[i].start;
        for (const auto& d : inputs[i].deliveries) {
            const auto& [p, rule] = std::tie(channels[d.channel.value()].p, channels[d.channel.value()].rule);
            sum.degree = std::max(sum.degree, rule.degree);  // at the start with zeros behind those of p
            for (int n = 0; n <= p.degree; ++n) sum.c[n] += d.factor * p.c[n];
        }
        return project(sum, H, inputs[i].limit);
    }
};

struct random_system {
    network net;
    naive_network naive;
    std::size_t outputs = 0;
};

/// Springs with two ports, signals with up to three sources, every extrapolation in turn, inputs that take 0 to 3
/// deliveries and various degrees.
random_system make_random_system(std::mt19937& random, std::size_t channels, std::size_t inputs) {
    random_system s;
    s.outputs = 2 * channels;
    const auto names = extrapolation_names();
    std::uniform_real_distribution<double> number(-2, 2);
    const auto pick = [&random](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    for (std::size_t c = 0; c < channels; ++c) {
        naive_channel reference{std::abs(number(random)),
                                pick(3) == 0,
                                {},
                                make_extrapolation(names[pick(names.size())]),
                                {},
                                {},
                                {},
                                {},
                                false,
                                0};
        const std::size_t terms = reference.signal ? 1 + pick(3) : 2;
        for (std::size_t i = 0; i < terms; ++i) {
            const std::size_t body = pick(channels);
            reference.terms.push_back({output_slot(2 * body), output_slot(2 * body + 1), number(random)});
        }
        s.net.add_channel("c" + std::to_string(c),
                          reference.signal ? nullptr : make_law("spring", {{"stiffness", reference.stiffness}}),
                          reference.terms, reference.rule);
        s.naive.channels.push_back(std::move(reference));
    }
    std::vector<double> start(inputs);
    s.naive.inputs.resize(inputs);
    for (std::size_t i = 0; i < inputs; ++i) {
        start[i] = s.naive.inputs[i].start = number(random);
        const std::size_t deliveries = pick(4);
        if (deliveries > 0) s.naive.inputs[i].limit = static_cast<int>(pick(7));
        for (std::size_t d = 0; d < deliveries; ++d)
            s.naive.inputs[i].deliveries.push_back({channel_index(pick(channels)), number(random)});
    }
    // Delivered input after input from the last to the first: finish() puts them in order.
    for (std::size_t i = inputs; i-- > 0;)
        for (const auto& d : s.naive.inputs[i].deliveries)
            s.net.add_delivery(input_slot(i), s.naive.inputs[i].limit, d);
    s.net.finish(start);
    return s;
}

TEST(network, agrees_with_a_naive_implementation) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> number(-1, 1), step(0.5, 1.5);
    for (int system = 0; system < 20; ++system) {
        auto s = make_random_system(random, 37, 29);
        std::vector<double> y(s.outputs), u(37), du(37);
        std::vector<polynomial> inputs(29);
        s.net.deliver_starts(inputs);
        double t = 0;
        for (int n = 0; n < 12; ++n) {
            for (auto& value : y) value = number(random);
            s.net.evaluate(0, y, u, du);
            for (std::size_t c = 0; c < 37; ++c) {
                const auto [value, rate] = s.naive.value(s.naive.channels[c], y);
                EXPECT_DOUBLE_EQ(u[c], value);
                EXPECT_DOUBLE_EQ(du[c], rate);
                EXPECT_EQ(s.net.evaluate_one(0, channel_index(c), y), u[c]);
            }
            std::vector<double> some(37, -77), values_then(3);
            const std::array<channel_index, 3> wanted{channel_index(4), channel_index(0), channel_index(36)};
            s.net.evaluate_inputs(0, y, wanted, some, 0, values_then);
            for (std::size_t c = 0; c < 37; ++c) EXPECT_EQ(some[c], c == 4 || c == 0 || c == 36 ? u[c] : -77);
            s.net.accept(t, y, u, du);
            s.naive.accept(t, y);
            const double H = system % 2 == 0 ? 0.125 : step(random);
            s.net.extrapolate(t + 2 * H);  // a trial step that is thrown away
            s.net.extrapolate(t + H);
            s.naive.extrapolate(t + H);
            s.net.deliver(H, inputs);
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                const polynomial expected = s.naive.input_polynomial(i, H);
                EXPECT_EQ(inputs[i].degree, expected.degree);
                double size = 1;
                for (int d = 0; d <= expected.degree; ++d)
                    size = std::max(size, std::abs(expected.c[d]) * std::pow(H, d));
                for (const double x : {0.0, 0.3, 0.7, 1.0})
                    EXPECT_NEAR(inputs[i](x * H), expected(x * H), 1e-10 * size)
                        << "system " << system << " step " << n;
            }
            std::vector<double> values(7, -77);
            s.net.input_values(u, 5, values);
            for (std::size_t i = 0; i < values.size(); ++i) {
                double expected = s.naive.inputs[5 + i].deliveries.empty() ? -77 : 0;
                for (const auto& d : s.naive.inputs[5 + i].deliveries) expected += d.factor * u[d.channel.value()];
                EXPECT_EQ(values[i], expected);
            }
            t += H;
        }
    }
}

TEST(network, does_not_allocate_after_finish) {
    std::mt19937 random(12);
    auto s = make_random_system(random, 200, 100);
    std::vector<double> y(s.outputs, 1.0), u(200), du(200), values(10);
    std::vector<polynomial> inputs(100);
    const auto run = [&] {
        for (int n = 0; n < 20; ++n) {
            const double t = n * 0.1, t_next = n == 19 ? t + 0.03 : (n + 1) * 0.1;  // the last step is shorter
            s.net.evaluate(0, y, u, du);
            s.net.accept(t, y, u, du);
            s.net.extrapolate(t_next);
            s.net.deliver(t_next - t, inputs);
            s.net.input_values(u, 3, values);
        }
        s.net.clear_history();
    };
#ifdef __SANITIZE_ADDRESS__
    run();
    GTEST_SKIP() << "the sanitizer owns the heap";
#endif
    const long before_vector = allocations;
    const std::vector<polynomial> counted(3);
    EXPECT_GT(allocations, before_vector) << "allocations are counted";
    const long before = allocations;
    run();
    run();
    EXPECT_EQ(allocations, before);
}

TEST(network, first_port_receives_minus_u) {
    test::spring_pair pair(10, make_extrapolation("poly-1"));
    pair.accept(0, {0.5, 0, 0.2, 0});
    const auto& forces = pair.forces(0, 1);
    EXPECT_DOUBLE_EQ(forces[0](0), -3);
    EXPECT_DOUBLE_EQ(forces[1](0), 3);
}

TEST(network, projection_keeps_the_impulse) {
    const double H = 0.25;
    for (const char* name : {"lin-2-3-opt", "quad-2-4", "hermite-3", "poly-5"})
        for (const int degree : {0, 1, 2}) {
            test::spring_pair full(3, make_extrapolation(name)), limited(3, make_extrapolation(name), degree);
            for (int n = 0; n < 6; ++n)
                for (auto* pair : {&full, &limited}) pair->accept(n * H, {std::sin(n * H), std::cos(n * H), 0, 0});
            const auto impulse = [H](const polynomial& p) {
                double sum = 0;
                for (int n = 0; n <= p.degree; ++n) sum += p.c[n] * std::pow(H, n + 1) / (n + 1);
                return sum;
            };
            const polynomial all = full.forces(5 * H, 6 * H)[0], some = limited.forces(5 * H, 6 * H)[0];
            EXPECT_LE(some.degree, degree) << name;
            EXPECT_NEAR(impulse(some), impulse(all), 1e-15) << name;
            const polynomial expected = project(all, H, degree);
            EXPECT_EQ(some.c, expected.c) << name << ": bitwise the projection of core";
        }
}

TEST(network, continuous_polynomials_join) {
    for (const char* name :
         {"lin-2-4-continuous", "lin-2-3-opt-continuous", "lin-1-1-b0-continuous", "lin-3-3-b0-continuous"}) {
        test::spring_pair pair(3, make_extrapolation(name));
        double t = 0, end = 0;
        for (int n = 0; n < 30; ++n) {
            const double H = n % 3 == 0 ? 0.1 : 0.07;
            pair.accept(t, {std::sin(t), std::cos(t), 0, 0});
            const polynomial p = pair.forces(t, t + H)[0];
            EXPECT_NEAR(p(0), n == 0 ? 0 : end, 1e-14) << name << " step " << n;
            end = p(H);
            t += H;
        }
    }
}

TEST(network, starts_again_after_clear_history) {
    for (const auto& name : extrapolation_names()) {
        test::spring_pair fresh(3, make_extrapolation(name)), cleared(3, make_extrapolation(name));
        for (int n = 0; n < 10; ++n) {
            cleared.accept(n, {1.0 * n * n, 2.0 * n, 0.5, 0});
            cleared.forces(n, n + 1);
        }
        cleared.clear();
        for (int n = 0; n < 8; ++n) {
            const std::array<double, 4> y{std::sin(n * 0.1), std::cos(n * 0.1), 0.3, 0.1};
            fresh.accept(n * 0.5, y);
            cleared.accept(n * 0.5, y);
            const auto expected = fresh.forces(n * 0.5, (n + 1) * 0.5), found = cleared.forces(n * 0.5, (n + 1) * 0.5);
            EXPECT_EQ(found[0].c, expected[0].c) << name << " step " << n;
            EXPECT_EQ(found[0].degree, expected[0].degree) << name << " step " << n;
        }
    }
}

TEST(network, accepting_a_time_again_replaces_its_values) {
    test::spring_pair once(3, make_extrapolation("lin-2-3-opt")), twice(3, make_extrapolation("lin-2-3-opt"));
    once.accept(0, {0.1, 0, 0, 0});
    twice.accept(0, {0.1, 0, 0, 0});
    twice.accept(1, {7, 7, 0, 0});
    once.accept(1, {0.3, 0.5, 0, 0});
    twice.accept(1, {0.3, 0.5, 0, 0});
    EXPECT_EQ(once.forces(1, 2)[0].c, twice.forces(1, 2)[0].c);
    EXPECT_THROW(twice.accept(0.5, {0, 0, 0, 0}), std::logic_error);
    EXPECT_THROW(twice.forces(1, 1), std::logic_error);
}

TEST(network, late_times_do_not_make_the_weights_jitter) {
    const double H = 1e-5;
    for (const char* name : {"lin-2-3-opt", "poly-3", "lin-7-7-b0"}) {
        const auto rule = make_extrapolation(name);
        test::spring_pair early(1, rule), late(1, rule);
        for (int n = 0; n < 200; ++n) {
            const std::array<double, 4> y{std::sin(n * 2.0), 0, 0, 0};
            const double t = 1000 + n * H, t_next = 1000 + (n + 1) * H;
            early.accept(n, y);
            late.accept(t, y);
            const polynomial expected = early.forces(n, n + 1)[1], found = late.forces(t, t_next)[1];
            for (int d = 0; d <= expected.degree; ++d)
                EXPECT_NEAR(found.c[d] * std::pow(t_next - t, d), expected.c[d], 1e-13) << name << " step " << n;
        }
    }
}

TEST(network, inputs_without_delivery_keep_their_start_value) {
    network net;
    net.finish(std::vector<double>{4.5, -2});
    std::vector<polynomial> inputs(2);
    net.deliver_starts(inputs);
    net.deliver(1, inputs);
    EXPECT_EQ(inputs[0].degree, 0);
    EXPECT_EQ(inputs[0](0.7), 4.5);
    EXPECT_EQ(inputs[1](0.1), -2);
}

TEST(network, refuses_rates_that_nobody_gives) {
    network net;
    const std::vector<channel_term> with{{output_slot(0), output_slot(1), 1}}, without{{output_slot(0), {}, 1}};
    const auto damper = [] { return make_law("spring-damper", {{"stiffness", 1}, {"damping", 1}}); };
    EXPECT_THROW(net.add_channel("c", damper(), with, make_extrapolation("lin-2-3-opt")), std::invalid_argument);
    EXPECT_THROW(net.add_channel("c", damper(), without, make_extrapolation("poly-2")), std::invalid_argument);
    EXPECT_THROW(net.add_channel("c", nullptr, without, make_extrapolation("hermite-1")), std::invalid_argument);
    EXPECT_EQ(net.channels(), 0u);
    net.add_channel("c", damper(), with, make_extrapolation("lin-2-2-b0"));
    net.add_channel("d", nullptr, without, make_extrapolation("poly-2"));
    EXPECT_EQ(net.channels(), 2u);
    EXPECT_EQ(net.name(channel_index(1)), "d");
}

/// Remembers the last accepted u, as a hydraulic law remembers its pressure.
class counting_law final : public law {
   public:
    explicit counting_law(std::vector<double>& accepted) : accepted_(accepted) {}
    law_value evaluate(double q, double v) const override { return {2 * q, 2 * v}; }
    void accept(double q, double v, double u) override { accepted_.insert(accepted_.end(), {q, v, u}); }

   private:
    std::vector<double>& accepted_;
};

TEST(network, laws_remember_on_accept_only) {
    std::vector<double> accepted;
    network net;
    const auto channel = net.add_channel("c", std::make_unique<counting_law>(accepted),
                                         {{output_slot(0), output_slot(1), 1}}, make_extrapolation("poly-1"));
    net.finish({});
    const std::vector<double> y{3, 4};
    std::vector<double> u(1), du(1);
    net.evaluate(0, y, u, du);
    net.evaluate_one(0, channel, y);
    EXPECT_TRUE(accepted.empty());
    net.accept(0, y, u, du);
    net.extrapolate(1);
    EXPECT_EQ(accepted, (std::vector<double>{3, 4, 6}));
    EXPECT_EQ(net.channel_polynomial(channel).c[0], 6);
    EXPECT_EQ(net.channel_polynomial(channel).degree, 0);
}

TEST(network, repeats_itself_bitwise) {
    const auto run = [] {
        std::mt19937 random(13);
        auto s = make_random_system(random, 50, 40);
        std::vector<double> y(s.outputs), u(50), du(50), all;
        std::vector<polynomial> inputs(40);
        for (int n = 0; n < 10; ++n) {
            for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::sin(static_cast<double>(i) + 0.1 * n);
            s.net.evaluate(0, y, u, du);
            s.net.accept(n * 1e-3, y, u, du);
            s.net.extrapolate((n + 1) * 1e-3);
            s.net.deliver(1e-3, inputs);
            for (const auto& p : inputs) all.insert(all.end(), p.c.begin(), p.c.end());
        }
        return all;
    };
    EXPECT_EQ(run(), run());
}

/// A network put back into its memory goes on as before: two rules, forced continuity, an integrated flow.
TEST(network, memory_holds_what_the_next_steps_need) {
    const auto make = [] {
        network net;
        const auto add = [&](std::size_t y, const char* rule) {
            const auto c =
                net.add_channel("c", nullptr, {{output_slot(y), output_slot(y + 1), 1}}, make_extrapolation(rule));
            net.add_delivery(input_slot(c.value()), max_degree, {c, 1});
        };
        add(0, "lin-2-3-opt-continuous");
        add(2, "poly-3");
        add(0, "lin-2-3-opt-continuous");
        const auto flow =
            net.add_channel("flow", nullptr, {{output_slot(), output_slot(1), 1}}, make_extrapolation("hermite-2"));
        net.add_delivery(input_slot(3), max_degree, {flow, 1});
        net.finish(std::vector<double>(4, 0.0));
        net.start(0, std::vector<double>{0, 0, 0, 0});
        return net;
    };
    constexpr double H = 0.1;
    const auto step = [](network& net, int n, std::vector<polynomial>& inputs) {
        const double t = n * H;
        const std::vector<double> y{std::sin(t), std::cos(t), t * t, 2 * t};
        std::vector<double> u(4), du(4);
        net.evaluate(t, y, u, du);
        net.accept(t, y, u, du);
        net.extrapolate(t + H);
        net.deliver(H, inputs);
    };
    network running = make(), restored = make();
    std::vector<polynomial> expected(4), found(4);
    for (int n = 0; n < 10; ++n) step(running, n, expected);
    std::vector<double> memory(running.memory_size());
    EXPECT_EQ(memory.size(), 2u * (2 + 1) + 2u + 2u + 3u);
    running.memory(10 * H, memory);
    restored.set_memory(10 * H, H, memory);
    for (int n = 10; n < 15; ++n) {
        step(running, n, expected);
        step(restored, n, found);
        for (std::size_t i = 0; i < 4; ++i)
            for (int k = 0; k <= expected[i].degree; ++k)
                EXPECT_NEAR(found[i].c[k], expected[i].c[k], 1e-11) << "step " << n << " input " << i << " c_" << k;
    }
}

/// A signal u(t) whose polynomials are shifted by what those before them missed, over steps of changing length: what is left at the end.
struct given_back {
    double left, of_last_step;
};
given_back run_given_back(const char* rule, const std::vector<double>& times, const std::function<double(double)>& u_of,
                          const std::function<double(double)>& integral) {
    network net;
    const channel_index c =
        net.add_channel("s", nullptr, {{output_slot(0), output_slot(), 1}}, make_extrapolation(rule));
    net.give_back(c);
    net.finish({});
    double received = 0, last = 0;
    std::vector<double> u(1), du(1);
    for (std::size_t n = 0; n < times.size(); ++n) {
        const std::vector<double> y{u_of(times[n])};
        if (n == 0) net.start(times[0], y);
        net.evaluate(times[n], y, u, du);
        net.accept(times[n], y, u, du);
        if (n + 1 == times.size()) break;
        const double H = times[n + 1] - times[n];
        net.extrapolate(times[n + 1]);
        net.extrapolate(times[n + 1]);  // again: a trial step changes nothing
        last = integral(times[n + 1]) - integral(times[n]) - H * net.mean(c, H);
        received += H * net.mean(c, H);
    }
    return {integral(times.back()) - integral(times.front()) - received, last};
}

TEST(network, gives_back_what_polynomials_missed) {
    // A parabola is integrated exactly: whatever was missed has come back, but for what the last step itself would have missed alone.
    const auto u = [](double t) { return 3 + 2 * t - 5 * t * t; };
    const auto integral = [](double t) { return 3 * t + t * t - 5 * t * t * t / 3; };
    const std::vector<double> times{0, 0.1, 0.25, 0.3, 0.5, 0.8, 0.9, 1.0};
    const double held = integral(1.0) - integral(0.9) - 0.1 * u(0.9);
    // In the first step two values are known: the trapezoidal rule misses u'' H^3/12 for good.
    const double at_start = 10 * 0.001 / 12;
    EXPECT_NEAR(run_given_back("poly-1", times, u, integral).left, held + at_start, 1e-14);
    // A straight line is missed by held values only, and comes back in full.
    const auto line = [](double t) { return 1 + 4 * t; };
    const auto area = [](double t) { return t + 2 * t * t; };
    EXPECT_NEAR(run_given_back("poly-1", times, line, area).left, area(1.0) - area(0.9) - 0.1 * line(0.9), 1e-14);
}

TEST(network, gives_nothing_back_of_a_jump) {
    for (const char* rule : {"poly-1", "poly-2"}) {
        network net;
        const channel_index c =
            net.add_channel("s", nullptr, {{output_slot(0), output_slot(), 1}}, make_extrapolation(rule));
        net.give_back(c);
        net.finish({});
        EXPECT_TRUE(net.builds_on_history(c)) << "it must be told of jumps";
        std::vector<double> u(1), du(1);
        const auto u_of = [](int n) { return n < 4 ? 1.0 : 9.0; };
        for (int n = 0; n < 8; ++n) {
            const std::vector<double> y{u_of(n)};
            if (n == 0) net.start(0, y);
            net.evaluate(n, y, u, du);
            if (n == 4) {
                net.tell_jump(c, 4);
                net.find_jumps(1, u);
            }
            net.accept(n, y, u, du);
            net.extrapolate(n + 1);
            EXPECT_EQ(net.mean(c, 1), u_of(n))
                << n << ": the value of the far side, at once and without anything added";
        }
    }
}

}  // namespace
}  // namespace mdpcosim
