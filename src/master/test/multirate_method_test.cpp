#include <gmock/gmock.h>

#include "master/multirate_order.hpp"
#include "master/test/small_systems.hpp"

namespace mdpcosim {
namespace {

std::unique_ptr<method> make_multirate_method(const std::vector<std::pair<std::string, double>>& options,
                                              multirate_plan plan = {}) {
    const method_info* info = method_registry::instance().find("multirate");
    parameter_values values(info->options);
    for (const auto& [name, value] : options) values.set(name, {value});
    auto chosen = info->make_with(values);
    hand_over(*chosen, std::move(plan));
    return chosen;
}

enum scheme_number { slowest_first, fastest_first, sequential };

struct advance_call {
    int who;
    double begin, end;
    bool operator==(const advance_call& other) const {
        return who == other.who && std::abs(begin - other.begin) < 1e-9 && std::abs(end - other.end) < 1e-9;
    }
    friend void PrintTo(const advance_call& c, std::ostream* out) {
        *out << c.who << ": " << c.begin << " to " << c.end;
    }
};

/// Subsystems in a ring, each hearing the one before it; who is advanced when.
struct ring_of_clocks {
    std::vector<advance_call> calls;
    coupled_system system;
    multirate_plan plan;

    ring_of_clocks(std::vector<double> steps, double interval, double end) {
        std::vector<named_subsystem> parts;
        const auto n = steps.size();
        for (std::size_t i = 0; i < n; ++i) {
            auto one = std::make_unique<test::algebraic>(1, false, [](double t, auto) { return t; });
            one->on_advance = [this, i](const macro_step& s) {
                calls.push_back({static_cast<int>(i), s.begin, s.end});
            };
            parts.push_back({std::string(1, static_cast<char>('a' + i)), std::move(one)});
        }
        system.subsystems = make_thread_transport(std::move(parts), 1);
        for (std::size_t i = 0; i < n; ++i) {
            const auto channel = system.coupling.add_channel("s", nullptr, {{output_slot((i + n - 1) % n), {}, 1}},
                                                             make_extrapolation("poly-2"));
            system.coupling.add_delivery(input_slot(i), max_degree, {channel, 1});
        }
        system.coupling.finish(std::vector<double>(n, 0.0));
        plan = {0, end, interval, std::move(steps), {}, std::vector<double>(n, 0.0)};
        system.finish();
    }

    std::vector<advance_call> run(scheme_number s) {
        const auto chosen = make_multirate_method({{"scheme", s}}, plan);
        system.initialise(0);
        test::run_steps(system, *chosen, time_grid(0, plan.end, plan.macro_step));
        return calls;
    }
};

using calls = std::vector<advance_call>;

TEST(multirate, whoever_leads_is_always_ahead_by_less_than_a_step_too_many) {
    EXPECT_EQ(ring_of_clocks({1, 3}, 3, 3).run(slowest_first), (calls{{1, 0, 3}, {0, 0, 1}, {0, 1, 2}, {0, 2, 3}}));
    EXPECT_EQ(ring_of_clocks({1, 3}, 3, 3).run(fastest_first), (calls{{0, 0, 1}, {0, 1, 2}, {0, 2, 3}, {1, 0, 3}}));
    EXPECT_EQ(ring_of_clocks({1, 1}, 1, 2).run(sequential), (calls{{0, 0, 1}, {1, 0, 1}, {0, 1, 2}, {1, 1, 2}}));
}

/// 2 and 3 meet at 6 only; the last steps end with the run.
TEST(multirate, grids_need_not_meet) {
    EXPECT_EQ(ring_of_clocks({2, 3}, 1, 5).run(slowest_first),
              (calls{{1, 0, 3}, {0, 0, 2}, {1, 3, 5}, {0, 2, 4}, {0, 4, 5}}));
    EXPECT_EQ(ring_of_clocks({2, 3}, 1, 5).run(fastest_first),
              (calls{{0, 0, 2}, {0, 2, 4}, {1, 0, 3}, {0, 4, 5}, {1, 3, 5}}));
}

TEST(multirate, among_three_each_leads_the_next_by_one_of_its_steps) {
    EXPECT_EQ(ring_of_clocks({1, 2, 4}, 4, 4).run(slowest_first),
              (calls{{2, 0, 4}, {1, 0, 2}, {0, 0, 1}, {0, 1, 2}, {1, 2, 4}, {0, 2, 3}, {0, 3, 4}}));
    EXPECT_EQ(ring_of_clocks({1, 2, 4}, 4, 4).run(fastest_first),
              (calls{{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {0, 2, 3}, {0, 3, 4}, {1, 2, 4}, {2, 0, 4}}));
}

TEST(multirate, outputs_at_macro_points_are_interpolated_where_subsystems_are_ahead) {
    ring_of_clocks r({0.3, 0.7}, 0.25, 1);
    const auto chosen = make_multirate_method({}, r.plan);
    r.system.initialise(0);
    chosen->prepare(r.system);
    const time_grid grid(0, 1, 0.25);
    for (std::int64_t n = 0; n < grid.steps(); ++n) {
        chosen->step(r.system, grid.step(n));
        for (const double y : r.system.outputs()) EXPECT_NEAR(y, grid.time(n + 1), 1e-12);
    }
}

/// The follower's line through the leader's values at both ends of the step, solved exactly:
/// x' = y - x, y' = x - y with equal steps and order 0, x first.
TEST(multirate, gauss_seidel_gives_the_recursion_that_follows_from_it) {
    const double H = 0.1;
    const auto relaxing = [](double start) {
        class equation final : public equations {
           public:
            explicit equation(double start) : start_(start) {
                add_input(description_, "u", "1", "");
                add_output(description_, "x", "1", "");
            }
            const subsystem_description& describe() const noexcept override { return description_; }
            int state_count() const override { return 1; }
            void initial_state(double, double* x) const override { x[0] = start_; }
            void derivatives(double, const double* x, const double* u, double* dx) const override {
                dx[0] = u[0] - x[0];
            }
            void outputs(double, const double* x, const double*, double* y) const override { y[0] = x[0]; }

           private:
            double start_;
            subsystem_description description_;
        };
        return test::with_rk4(std::make_unique<equation>(start), 1e-3);
    };
    for (const bool reversed : {false, true}) {
        std::vector<named_subsystem> parts;
        parts.push_back({"x", relaxing(1)});
        parts.push_back({"y", relaxing(-2)});
        coupled_system system;
        system.subsystems = make_thread_transport(std::move(parts), 1);
        for (const std::size_t i : {0, 1}) {
            const auto channel =
                system.coupling.add_channel("s", nullptr, {{output_slot(1 - i), {}, 1}}, make_extrapolation("poly-2"));
            system.coupling.add_delivery(input_slot(i), max_degree, {channel, 1});
        }
        system.coupling.finish(std::vector<double>{0, 0});
        system.finish();
        multirate_plan plan{0, 2, H, {H, H}, {}, {0, 0}};
        if (reversed) plan.order = {subsystem_index(1), subsystem_index(0)};
        const auto chosen = make_multirate_method({{"scheme", sequential}, {"slow-order", 0}, {"fast-order", 0}}, plan);
        system.initialise(0);
        test::run_steps(system, *chosen, time_grid(0, 2, H));
        double first = reversed ? -2 : 1, second = reversed ? 1 : -2;
        const double decay = std::exp(-H), rest = 1 - decay;
        for (int n = 0; n < 20; ++n) {
            const double next = decay * first + rest * second, slope = (next - first) / H;
            second = decay * second + rest * first + slope * (H - rest);
            first = next;
        }
        EXPECT_NEAR(system.outputs()[0], reversed ? second : first, 1e-12);
        EXPECT_NEAR(system.outputs()[1], reversed ? first : second, 1e-12);
    }
}

TEST(multirate, smoothing_needs_the_fast_ones_first) {
    EXPECT_THROW(make_multirate_method({{"smoothing", 1}}), std::invalid_argument);
    EXPECT_THROW(make_multirate_method({{"smoothing", 1}, {"scheme", sequential}}), std::invalid_argument);
    EXPECT_NE(make_multirate_method({{"smoothing", 1}, {"scheme", fastest_first}}), nullptr);
}

}  // namespace
}  // namespace mdpcosim
