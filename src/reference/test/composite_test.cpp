#include "reference/composite.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "reference/monolithic.hpp"
#include "subsystem/description_parts.hpp"
#include "subsystem/factory.hpp"
#include "subsystem/sampled_subsystem.hpp"

/// Composite equations against the same equations written by hand.
namespace mdpcosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using vec = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// x'' = -k x + F; outputs x, v and the acceleration, which depends on F at once. Hits a wall at x = 0 from above with
/// restitution `bounce` when that is positive.
class mass final : public equations {
   public:
    mass(double k, double x0, double v0, double bounce = 0) : k_(k), x0_(x0), v0_(v0), bounce_(bounce) {
        add_mechanical_port(d_, "m", port_kind::translation, "");
    }
    const subsystem_description& describe() const noexcept override { return d_; }
    int state_count() const override { return 2; }
    void initial_state(double, double* x) const override {
        x[0] = x0_;
        x[1] = v0_;
    }
    void derivatives(double, const double* x, const double* u, double* dx) const override {
        dx[0] = x[1];
        dx[1] = u[0] - k_ * x[0];
    }
    void outputs(double, const double* x, const double* u, double* y) const override {
        if (x[0] > 1e6) throw run_error("the mass is gone");
        y[0] = x[0];
        y[1] = x[1];
        y[2] = u[0] - k_ * x[0];
    }
    int event_count() const override { return bounce_ > 0 ? 1 : 0; }
    void event_indicators(double, const double* x, const double*, double* z) const override { z[0] = x[0]; }
    bool apply_event(int, bool rising, double, double* x, const double*) override {
        if (rising) return false;
        x[1] = -bounce_ * x[1];
        return true;
    }

   private:
    subsystem_description d_;
    double k_, x0_, v0_, bounce_;
};

/// y = f(t, u) with feed-through, no states; a jump of f at `jump`.
class algebraic final : public equations {
   public:
    algebraic(int inputs, std::function<double(double, const double*)> f, double jump = infinity)
        : f_(std::move(f)), jump_(jump) {
        for (int i = 0; i < inputs; ++i) add_input(d_, "u" + std::to_string(i), "1", "");
        add_output(d_, "y", "1", "");
        d_.outputs[0].direct.resize(static_cast<std::size_t>(inputs));
        std::iota(d_.outputs[0].direct.begin(), d_.outputs[0].direct.end(), 0);
    }
    const subsystem_description& describe() const noexcept override { return d_; }
    int state_count() const override { return 0; }
    void initial_state(double, double*) const override {}
    void derivatives(double, const double*, const double*, double*) const override {}
    void outputs(double t, const double*, const double* u, double* y) const override { y[0] = f_(t, u); }
    double next_time_event(double t) const override { return t < jump_ ? jump_ : infinity; }

   private:
    subsystem_description d_;
    std::function<double(double, const double*)> f_;
    double jump_;
};

/// Q' = -p / L; gives its flow only.
class inertance final : public equations {
   public:
    explicit inertance(double L) : L_(L) {
        add_input(d_, "p", "Pa", "");
        add_output(d_, "Q", "m3/s", "");
    }
    const subsystem_description& describe() const noexcept override { return d_; }
    int state_count() const override { return 1; }
    void initial_state(double, double* x) const override { x[0] = 1; }
    void derivatives(double, const double*, const double* u, double* dx) const override { dx[0] = -u[0] / L_; }
    void outputs(double, const double* x, const double*, double* y) const override { y[0] = x[0]; }

   private:
    subsystem_description d_;
    double L_;
};

struct linear_law final : law {
    explicit linear_law(double c, double d = 0) : c_(c), d_(d) {}
    bool needs_velocity() const override { return d_ != 0; }
    law_value evaluate(double q, double v) const override { return {c_ * q + d_ * v, c_ * v}; }
    double c_, d_;
};

extrapolation_rule any_rule() { return make_extrapolation("poly-1"); }

void add_part(composite_parts& parts, std::string name, std::unique_ptr<equations> model) {
    std::size_t input = 0, output = 0;
    for (const auto& p : parts.subsystems) {
        input += static_cast<std::size_t>(p.model->describe().input_count());
        output += static_cast<std::size_t>(p.model->describe().output_count());
    }
    parts.subsystems.push_back({std::move(name), std::move(model), input, output});
}

vec start_of(const equations& model) {
    vec x(static_cast<std::size_t>(model.state_count()));
    model.initial_state(0, x.data());
    return x;
}

vec rates_of(const equations& model, double t, const vec& x) {
    vec dx(x.size(), NAN);
    model.derivatives(t, x.data(), nullptr, dx.data());
    return dx;
}

vec outputs_of(const equations& model, double t, const vec& x) {
    vec y(static_cast<std::size_t>(model.describe().output_count()), NAN);
    model.outputs(t, x.data(), nullptr, y.data());
    return y;
}

/// Two masses and a spring-damper between them.
composite_parts two_masses(double k, double c, double d, double bounce = 0) {
    composite_parts parts;
    add_part(parts, "a", std::make_unique<mass>(k, 1, 0, bounce));
    add_part(parts, "b", std::make_unique<mass>(k, -0.5, 2));
    const auto channel = parts.coupling.add_channel(
        "spring", std::make_unique<linear_law>(c, d),
        {{output_slot(0), output_slot(1), 1}, {output_slot(3), output_slot(4), -1}}, any_rule());
    parts.coupling.add_delivery(input_slot(0), 0, {channel, -1});
    parts.coupling.add_delivery(input_slot(1), 0, {channel, 1});
    parts.coupling.finish(vec{0, 0});
    return parts;
}

std::unique_ptr<solver> reference_integrator(double rtol = 1e-12) {
    reference_spec spec;
    spec.solver.options.push_back({"rtol", {}, {{fmt::format("{}", rtol), {}}}, false});
    return make_solver(reference_solver(spec), {}, "test");
}

void run_to_end(monolithic_run& run, const time_grid& grid, std::optional<double> every = {}) {
    run.start(grid, every);
    while (!run.done()) run.step();
}

TEST(composite, derivatives_and_outputs_equal_those_written_by_hand) {
    constexpr double k = 7, c = 30, d = 0.25;
    const composite_equations whole(two_masses(k, c, d), 0);
    ASSERT_EQ(whole.state_count(), 4);
    ASSERT_EQ(whole.output_count(), 6u);
    ASSERT_EQ(whole.channel_count(), 1u);
    EXPECT_THAT(start_of(whole), ElementsAre(1, 0, -0.5, 2));
    for (int n = 0; n < 100; ++n) {
        const vec x{std::sin(n), std::cos(3 * n), std::sin(5 * n), std::cos(7 * n)};
        const double u = c * (x[0] - x[2]) + d * (x[1] - x[3]);
        const double a = -u - k * x[0], b = u - k * x[2];
        EXPECT_THAT(rates_of(whole, n, x), ElementsAre(x[1], a, x[3], b));
        EXPECT_THAT(outputs_of(whole, n, x), ElementsAre(x[0], x[1], a, x[2], x[3], b, u));
    }
}

/// Entry (i, j) of df/dx may differ from zero.
bool may_depend(const sparsity& s, int i, int j) {
    const auto column = s.rows.begin();
    return std::find(column + s.start[static_cast<std::size_t>(j)], column + s.start[static_cast<std::size_t>(j) + 1],
                     i) != column + s.start[static_cast<std::size_t>(j) + 1];
}

/// How many entries there are; every difference that is not zero is one of them.
std::size_t entries_of(const composite_equations& whole, double t) {
    const sparsity& s = *whole.structure();
    const int n = whole.state_count();
    EXPECT_EQ(s.start.size(), static_cast<std::size_t>(n) + 1);
    vec x(static_cast<std::size_t>(n));
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = 0.3 + std::sin(3.0 * static_cast<double>(j));
    const vec f = rates_of(whole, t, x);
    for (int j = 0; j < n; ++j) {
        vec moved = x;
        moved[static_cast<std::size_t>(j)] += 0.125;
        const vec g = rates_of(whole, t, moved);
        for (int i = 0; i < n; ++i)
            if (f[static_cast<std::size_t>(i)] != g[static_cast<std::size_t>(i)]) {
                EXPECT_TRUE(may_depend(s, i, j)) << i << ", " << j;
            }
    }
    return s.entries();
}

TEST(composite_structure, neighbours_in_a_row_of_masses) {
    constexpr int count = 40;
    composite_parts parts;
    for (int i = 0; i < count; ++i) add_part(parts, "m" + std::to_string(i), std::make_unique<mass>(4, 1, 0));
    for (std::size_t i = 0; i + 1 < count; ++i) {
        const auto channel = parts.coupling.add_channel(
            "c" + std::to_string(i), std::make_unique<linear_law>(3, 0.5),
            {{output_slot(3 * i), output_slot(3 * i + 1), 1}, {output_slot(3 * i + 3), output_slot(3 * i + 4), -1}},
            any_rule());
        parts.coupling.add_delivery(input_slot(i), 0, {channel, -1});
        parts.coupling.add_delivery(input_slot(i + 1), 0, {channel, 1});
    }
    parts.coupling.finish(vec(count, 0.0));
    const composite_equations whole(std::move(parts), 0);
    // Blocks of two states, dense: each mass and its neighbours.
    EXPECT_EQ(entries_of(whole, 0), 4u * (count + 2 * (count - 1)));
}

/// Port outputs alone give the same rates and, in rows, the same outputs as all of them.
TEST(composite, who_is_read_by_ports_is_asked_for_those_alone) {
    class counted final : public equations {
       public:
        explicit counted(int& all) : all_(all) { add_mechanical_port(d_, "m", port_kind::translation, ""); }
        const subsystem_description& describe() const noexcept override { return d_; }
        int state_count() const override { return 2; }
        void initial_state(double, double* x) const override { x[0] = 1, x[1] = 0; }
        void derivatives(double, const double* x, const double* u, double* dx) const override {
            dx[0] = x[1], dx[1] = u[0] - x[0];
        }
        void outputs(double, const double* x, const double* u, double* y) const override {
            ++all_;
            y[0] = x[0], y[1] = x[1], y[2] = u[0] - x[0];
        }
        void port_outputs(double, const double* x, const double*, double* y) const override {
            y[0] = x[0], y[1] = x[1];
        }

       private:
        subsystem_description d_;
        int& all_;
    };
    int asked = 0;
    composite_parts parts;
    add_part(parts, "a", std::make_unique<counted>(asked));
    add_part(parts, "b", std::make_unique<mass>(4, 2, 0));
    const auto channel = parts.coupling.add_channel(
        "spring", std::make_unique<linear_law>(3),
        {{output_slot(0), output_slot(1), 1}, {output_slot(3), output_slot(4), -1}}, any_rule());
    parts.coupling.add_delivery(input_slot(0), 0, {channel, -1});
    parts.coupling.add_delivery(input_slot(1), 0, {channel, 1});
    parts.coupling.finish(vec(2, 0.0));
    const composite_equations whole(std::move(parts), 0);
    asked = 0;
    const vec x{0.5, 0.25, 2, 1};
    EXPECT_THAT(rates_of(whole, 0, x), ElementsAre(0.25, 4.5 - 0.5, 1, -4.5 - 8));
    EXPECT_EQ(asked, 0);
    EXPECT_THAT(outputs_of(whole, 0, x), ElementsAre(0.5, 0.25, 4, 2, 1, -12.5, -4.5));
    EXPECT_EQ(asked, 1);
}

/// f3(f2(f1(t))) with the subsystems in the wrong order: 3 <- 2 <- 1, and a mass that f3 pushes.
TEST(composite, feed_through_is_followed_in_its_order) {
    composite_parts parts;
    add_part(parts, "three", std::make_unique<algebraic>(1, [](double, const double* u) { return u[0] * u[0]; }));
    add_part(parts, "two", std::make_unique<algebraic>(1, [](double t, const double* u) { return u[0] + t; }));
    add_part(parts, "one", std::make_unique<algebraic>(0, [](double t, const double*) { return std::exp(-t); }));
    add_part(parts, "mass", std::make_unique<mass>(4, 0, 0));
    const auto join = [&](std::size_t from, std::size_t to, double factor) {
        const auto channel = parts.coupling.add_channel("c" + std::to_string(to), nullptr,
                                                        {{output_slot(from), output_slot(), 1}}, any_rule());
        parts.coupling.add_delivery(input_slot(to), 0, {channel, factor});
        return channel;
    };
    const auto to_three = join(1, 0, 1), to_two = join(2, 1, 3);
    join(0, 2, 1);
    parts.coupling.finish(vec(3, 0.0));
    parts.at_each_step = {{subsystem_index(1), {to_two}}, {subsystem_index(0), {to_three}}};
    const composite_equations whole(std::move(parts), 0);
    EXPECT_EQ(entries_of(whole, 0.5), 4u);  // of the mass alone: time is all that pushes it
    for (const double t : {0.0, 0.3, 2.5}) {
        const double two = 3 * std::exp(-t) + t;
        const vec x{0.2, -0.1};
        const double a = two * two - 4 * x[0];
        EXPECT_THAT(rates_of(whole, t, x), ElementsAre(x[1], a));
        EXPECT_THAT(outputs_of(whole, t, x),
                    ElementsAre(two * two, two, std::exp(-t), x[0], x[1], a, two, std::exp(-t), two * two));
    }
}

/// L Q' = -p, p = V/C, V' = Q: with Q(0) = 1 the flow is cos(w t) and the pressure sin(w t) / (w C).
TEST(composite, flows_become_states) {
    constexpr double L = 0.5, C = 0.02, w = 10;
    composite_parts parts;
    add_part(parts, "pipe", std::make_unique<inertance>(L));
    const auto node = parts.coupling.add_channel("node", std::make_unique<linear_law>(1 / C),
                                                 {{output_slot(), output_slot(0), 1}}, any_rule());
    parts.coupling.add_delivery(input_slot(0), 0, {node, 1});
    parts.coupling.finish(vec{0});
    auto whole = std::make_unique<composite_equations>(std::move(parts), 0);
    EXPECT_EQ(whole->state_count(), 2);
    EXPECT_EQ(whole->integral_count(), 1u);
    EXPECT_THAT(rates_of(*whole, 0, {0.3, 0.7}), ElementsAre(-0.7 / C / L, 0.3));
    EXPECT_EQ(entries_of(*whole, 0), 3u);
    EXPECT_EQ(whole->state_name(0), "0 of subsystem 'pipe'");
    EXPECT_EQ(whole->state_name(1), "1 (the integral of a flow)");
    EXPECT_EQ(whole->output_name(0), "output 'Q' of subsystem 'pipe'");
    EXPECT_EQ(whole->output_name(1), "the integral of output 'Q' of subsystem 'pipe'");
    EXPECT_EQ(whole->output_name(2), "u of connection 'node'");

    monolithic_run run(std::move(whole), reference_integrator());
    run_to_end(run, time_grid(0, 3, 0.5));
    EXPECT_EQ(run.reached(), 3);
    EXPECT_NEAR(run.outputs()[0], std::cos(3 * w), 1e-10);
    EXPECT_NEAR(run.coupling_variables()[0], std::sin(3 * w) / (w * C), 1e-9);
}

/// Mass a hits a wall; between two hits the system is linear. Without coupling each bounce is known exactly.
TEST(composite, state_events_reach_their_subsystem) {
    auto whole = std::make_unique<composite_equations>(two_masses(4, 0, 0, 0.5), 0);
    ASSERT_EQ(whole->event_count(), 1);
    vec x{0.25, -3, 7, 8};
    vec z{NAN};
    whole->event_indicators(0, x.data(), nullptr, z.data());
    EXPECT_EQ(z[0], 0.25);
    EXPECT_FALSE(whole->apply_event(0, true, 0, x.data(), nullptr));
    EXPECT_TRUE(whole->apply_event(0, false, 0, x.data(), nullptr));
    EXPECT_THAT(x, ElementsAre(0.25, 1.5, 7, 8));

    // x = cos 2t to t = pi/4, where v = -2; then |v| halves at every half period pi/2.
    monolithic_run run(std::move(whole), reference_integrator());
    const double pi = std::numbers::pi;
    run_to_end(run, time_grid(0, pi, pi));
    EXPECT_EQ(run.statistics().events, 2);
    EXPECT_NEAR(run.outputs()[0], 0.25 * std::sin(2 * (pi - 3 * pi / 4)), 1e-10);
    EXPECT_NEAR(run.outputs()[3], -0.5, 1e-9);  // b is not touched: a whole period
}

/// x'' = F with F = 1 before t = 1 and -3 after it: the solver stops at the jump and loses no digit.
TEST(composite, time_events_stop_the_solver) {
    composite_parts parts;
    add_part(parts, "force",
             std::make_unique<algebraic>(
                 0, [](double t, const double*) { return t < 1 ? 1.0 : -3.0; }, 1.0));
    add_part(parts, "mass", std::make_unique<mass>(0, 0, 0));
    const auto channel = parts.coupling.add_channel("F", nullptr, {{output_slot(0), output_slot(), 1}}, any_rule());
    parts.coupling.add_delivery(input_slot(0), 0, {channel, 1});
    parts.coupling.finish(vec{0});
    auto whole = std::make_unique<composite_equations>(std::move(parts), 0);
    EXPECT_EQ(whole->next_time_event(0), 1);
    EXPECT_EQ(whole->next_time_event(1), infinity);
    monolithic_run run(std::move(whole), reference_integrator());
    run_to_end(run, time_grid(0, 2, 2));
    EXPECT_NEAR(run.outputs()[1], 0.5 + 1 - 1.5, 1e-13);
    EXPECT_NEAR(run.outputs()[2], 1 - 3, 1e-13);
    EXPECT_EQ(run.statistics().events, 1);
    EXPECT_LT(run.statistics().micro_steps, 40);
}

TEST(composite, laws_take_their_limit_and_then_start) {
    struct remembering final : law {
        explicit remembering(std::vector<std::string>& list) : calls(list) {}
        void use_limit() override { calls.emplace_back("limit"); }
        void start(double q) override { calls.push_back("start " + std::to_string(q)); }
        law_value evaluate(double q, double) const override { return {q, 0}; }
        void accept(double, double, double) override { calls.emplace_back("accept"); }
        std::vector<std::string>& calls;
    };
    std::vector<std::string> calls;
    composite_parts parts;
    add_part(parts, "a", std::make_unique<mass>(1, 3, 0));
    const auto channel = parts.coupling.add_channel("c", std::make_unique<remembering>(calls),
                                                    {{output_slot(0), output_slot(), 2}}, any_rule());
    parts.coupling.add_delivery(input_slot(0), 0, {channel, 1});
    parts.coupling.finish(vec{0});
    monolithic_run run(std::make_unique<composite_equations>(std::move(parts), 0), reference_integrator());
    run_to_end(run, time_grid(0, 1, 0.1));
    EXPECT_THAT(calls, ElementsAre("limit", "start 6.000000"));
}

TEST(composite, failures_name_the_subsystem) {
    const composite_equations whole(two_masses(1, 1, 0), 0);
    vec dx(4);
    const vec x{0, 0, 2e6, 0};
    try {
        whole.derivatives(0.5, x.data(), nullptr, dx.data());
        FAIL() << "no failure";
    } catch (const run_error& problem) {
        EXPECT_STREQ(problem.what(), "subsystem 'b' failed at t = 0.5 s: the mass is gone");
    }
    EXPECT_EQ(whole.state_name(3), "1 of subsystem 'b'");
}

TEST(composite, a_state_that_is_not_finite_is_named) {
    composite_parts parts;
    add_part(parts, "a", std::make_unique<mass>(1, 3, 0));
    add_part(parts, "root", std::make_unique<algebraic>(0, [](double t, const double*) { return std::sqrt(0.5 - t); }));
    const auto channel = parts.coupling.add_channel("F", nullptr, {{output_slot(3), output_slot(), 1}}, any_rule());
    parts.coupling.add_delivery(input_slot(0), 0, {channel, 1});
    parts.coupling.finish(vec{0});
    monolithic_run run(std::make_unique<composite_equations>(std::move(parts), 0), reference_integrator(1e-9));
    try {
        run_to_end(run, time_grid(0, 1, 0.25));
        FAIL() << "no failure";
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("derivative of state 1 of subsystem 'a'"));
    }
    EXPECT_EQ(run.reached(), 0.5);
}

TEST(monolithic, stops_at_rows_only) {
    const auto steps = [](double H, std::optional<double> every) {
        monolithic_run run(std::make_unique<composite_equations>(two_masses(1, 1, 0), 0), reference_integrator());
        run_to_end(run, time_grid(0, 10, H), every);
        return run.statistics().micro_steps;
    };
    const auto coarse = steps(1e-4, 5.0);
    EXPECT_LT(coarse, 700);  // of a hundred thousand macro points
    EXPECT_GE(steps(1e-2, {}), 1000);
    EXPECT_EQ(coarse, steps(1e-3, 5.0));
}

/// y_k = u_k, until u is too large.
class fuse final : public sampled_equations {
   public:
    fuse() {
        add_input(d_, "u", "1", "");
        add_output(d_, "y", "1", "");
        d_.outputs[0].direct = {0};
    }
    const subsystem_description& describe() const noexcept override { return d_; }
    int state_count() const override { return 0; }
    void initial_state(double, double*) const override {}
    void outputs(double, const double*, const double* u, double* y) const override {
        if (u[0] > 1.5) throw run_error("burnt");
        y[0] = u[0];
    }
    void update(double, const double*, const double*, double*) const override {}

   private:
    subsystem_description d_;
};

TEST(monolithic, a_sample_that_fails_names_its_subsystem) {
    const auto run_with = [](double end) {
        composite_parts parts;
        add_part(parts, "clock", std::make_unique<algebraic>(0, [](double t, const double*) { return t; }));
        composite_parts::part& sampled = parts.subsystems.emplace_back();
        sampled.name = "fuse";
        sampled.output_offset = 1;
        sampled.clock = {0.5, 0.25, 0};
        sampled.sampled = make_sampled_subsystem(std::make_unique<fuse>(), sampled.clock);
        const auto signal = parts.coupling.add_channel("signal", nullptr, {{output_slot(0), {}, 1}}, any_rule());
        parts.coupling.add_delivery(input_slot(0), 0, {signal, 1});
        parts.coupling.finish(vec{0});
        parts.at_each_step.push_back({subsystem_index(1), {signal}});
        monolithic_run run(std::make_unique<composite_equations>(std::move(parts), 0), reference_integrator());
        run_to_end(run, time_grid(0, end, 0.125));
        return std::pair(run.outputs()[1], run.statistics().events);
    };
    EXPECT_EQ(run_with(0.125), std::pair(0.0, std::int64_t{0}));
    EXPECT_EQ(run_with(0.25).first, 0.25);
    EXPECT_EQ(run_with(1.125), std::pair(0.75, std::int64_t{2}));
    try {
        run_with(3);
        FAIL() << "nothing failed";
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), StartsWith("subsystem 'fuse' failed at t = 1.75 s: burnt"));
    }
}

TEST(monolithic, an_interrupt_ends_the_run_inside_a_row) {
    std::atomic<bool> interrupt{false};
    composite_parts parts;
    add_part(parts, "bell", std::make_unique<algebraic>(0, [&](double t, const double*) {
                 if (t > 1.5) interrupt = true;
                 return 0;
             }));
    add_part(parts, "mass", std::make_unique<mass>(1, 1, 0));
    parts.coupling.finish(vec{0});
    monolithic_run run(std::make_unique<composite_equations>(std::move(parts), 0, &interrupt), reference_integrator());
    EXPECT_THROW(run_to_end(run, time_grid(0, 4, 1)), composite_interrupted);
    EXPECT_EQ(run.reached(), 1);
    EXPECT_NEAR(run.outputs()[1], std::cos(1), 1e-10);  // what was reached last
}

TEST(monolithic, solver_defaults) {
    const auto text = [](const solver_spec& s) {
        std::string all = s.name.value;
        for (const auto& o : s.options) all += " " + o.name + "=" + o.values.front().value;
        return all;
    };
    EXPECT_THAT(text(reference_solver({})), StartsWith("erk-6 rtol=1e-12 atol=1e-15 max-steps=10000000"));
    reference_spec given;
    given.solver.name.value = "cvode-bdf";
    given.solver.options.push_back({"rtol", {}, {{"1e-7", {}}}, false});
    EXPECT_THAT(text(reference_solver(given)), StartsWith("cvode-bdf rtol=1e-7 atol=1e-15 max-steps=10000000"));
    given.solver = {{"rk4", {}}, {}};
    EXPECT_EQ(text(reference_solver(given)), "rk4");
    given.solver = {{"erk8", {}}, {}};
    EXPECT_THROW(reference_solver(given), user_error);
}

}  // namespace
}  // namespace mdpcosim
