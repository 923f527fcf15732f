#include <gtest/gtest.h>

#include <cmath>

#include "fmu/test/fmu_spec.hpp"
#include "subsystem/factory.hpp"
#include "support/solver_test_models.hpp"
#include "support/subsystem_contract.hpp"

/// FMUs through model exchange: their events in our solvers.
namespace mdpcosim::test {
namespace {

subsystem_spec exchange_spec(const std::string& name, const std::string& solver = "", const settings& options = {},
                             const settings& set = {}) {
    subsystem_spec spec = spec_of_fmu(name, set);
    spec.fmu.interface.value = "model-exchange";
    spec.solver.name.value = solver;
    spec.solver.options = to_settings(options);
    return spec;
}

/// The state of the ball after time t, from arc to arc.
struct ball {
    double h = 1, v = 0;
    int impacts = 0;
    bool resting = false;
};

ball exact_ball(double t) {
    constexpr double g = 9.81, e = 0.7, v_min = 0.1;
    ball b;
    while (!b.resting) {
        const double arc = (b.v + std::sqrt(b.v * b.v + 2 * g * b.h)) / g;
        if (arc > t) break;
        t -= arc;
        const double speed = e * (g * arc - b.v);
        ++b.impacts;
        b.resting = speed < v_min;
        b.h = 0;
        b.v = b.resting ? 0 : speed;
    }
    if (!b.resting) {
        b.h += t * (b.v - g * t / 2);
        b.v -= g * t;
    }
    return b;
}

/// Options so sharp that the solver's error does not show.
settings sharp(const std::string& solver) {
    return is_fixed(solver) ? settings{{"step", "1 ms"}} : settings{{"rtol", "1e-9"}, {"atol", "1e-12"}};
}

std::size_t slot_of(const subsystem& s, const std::string& name) {
    for (const auto& y : s.describe().outputs)
        if (y.name == name) return static_cast<std::size_t>(y.slot);
    throw std::logic_error("no output " + name);
}

class exchange : public testing::TestWithParam<std::tuple<std::string, std::string>> {
   protected:
    std::string fmu(const std::string& name) const { return name + "-" + std::get<0>(GetParam()); }
    std::string solver() const { return std::get<1>(GetParam()); }
    settings options() const { return sharp(solver()); }
};

/// A state of 1e-9: an absolute tolerance that does not know its nominal value lets the solver step over it.
TEST_P(exchange, nominal_values_scale_the_absolute_tolerance) {
    if (is_fixed(solver())) GTEST_SKIP() << "no tolerances";
    const auto integrate = [&](const std::string& name) {
        const auto s = make_subsystem(
            exchange_spec(fmu(name), solver(), {{"rtol", "1e-6"}, {"atol", "1e-6"}}, {{"x", "1e-9"}, {"k", "10 1/s"}}));
        s->initialise(0);
        std::vector<double> y(static_cast<std::size_t>(s->describe().output_count()));
        s->advance({0, 0.3, 0}, {}, y);
        return std::pair(s->statistics().micro_steps, std::abs(y[slot_of(*s, "x")] / (1e-9 * std::exp(-3.0)) - 1));
    };
    const auto [steps, error] = integrate("tiny-decay");
    EXPECT_LT(error, 1e-4);
    EXPECT_GT(steps, integrate("decay").first);
}

/// Sizes are known before the solver is made, and again after a reset.
TEST(exchange_of_arrays, structural_parameters_give_the_number_of_states) {
    subsystem_spec spec = exchange_spec("state-space-3", "erk-8", sharp("erk-8"), {{"n", "3"}, {"r", "2"}});
    const auto list = [](const std::string& name, const std::vector<std::string>& values) {
        setting s{name, {}, {}, true};
        for (const auto& v : values) s.values.push_back({v, {}});
        return s;
    };
    spec.set.push_back(list("A", {"-1", "0", "0", "0", "-2", "0", "0", "0", "-3"}));
    spec.set.push_back(list("B", {"0", "0", "0", "0", "0", "1"}));
    spec.set.push_back(list("C", {"1", "0", "0", "0", "1", "1"}));
    spec.set.push_back(list("x0", {"1", "2", "4"}));
    const auto model = make_equations(spec);
    EXPECT_EQ(model->state_count(), 3);
    std::vector<double> x(3);
    for (int start = 0; start < 2; ++start) {
        model->initial_state(0, x.data());
        model->settle(0, std::vector<double>(2).data(), x.data());
        EXPECT_EQ(x, (std::vector<double>{1, 2, 4}));
    }
    const auto s = make_subsystem(spec);
    s->initialise(0);
    std::vector<double> y(2);
    polynomial zero, three;
    three.c[0] = 3;
    const std::vector<polynomial> inputs{zero, three};
    for (int i = 0; i < 10; ++i) s->advance({0.1 * i, 0.1 * (i + 1), i}, inputs, y);
    EXPECT_NEAR(y[0], std::exp(-1.0), 1e-8);
    EXPECT_NEAR(y[1], 2 * std::exp(-2.0) + 4 * std::exp(-3.0) + (1 - std::exp(-3.0)), 1e-8);
}

TEST_P(exchange, impacts_of_the_ball_are_exact) {
    if (solver() == "euler") GTEST_SKIP() << "an arc is no straight line";
#ifdef __SANITIZE_ADDRESS__
    if (solver().ends_with("-2")) GTEST_SKIP() << "slow";
#endif
    const auto s = make_subsystem(exchange_spec(fmu("bouncing-ball"), solver(), options()));
    s->initialise(0);
    std::vector<double> y(static_cast<std::size_t>(s->describe().output_count()));
    for (int i = 0; i < 300; ++i) {
        s->advance({0.01 * i, 0.01 * (i + 1), i}, {}, y);
        const ball b = exact_ball(0.01 * (i + 1));
        EXPECT_NEAR(y[slot_of(*s, "h")], b.h, 1e-7) << "t = " << 0.01 * (i + 1);
        EXPECT_NEAR(y[slot_of(*s, "v")], b.v, 1e-6) << "t = " << 0.01 * (i + 1);
        EXPECT_EQ(y[slot_of(*s, "impacts")], b.impacts) << "t = " << 0.01 * (i + 1);
    }
    EXPECT_EQ(y[slot_of(*s, "resting")], 1);
}

TEST_P(exchange, time_events_come_on_time) {
    const auto s = make_subsystem(exchange_spec(fmu("stairs"), solver()));
    s->initialise(0);
    std::vector<double> y(static_cast<std::size_t>(s->describe().output_count()));
    for (int i = 0; i < 10; ++i) {
        s->advance({0.07 * i, 0.07 * (i + 1), i}, {}, y);
        const double count = std::floor(0.07 * (i + 1) / 0.1 + 1e-6);
        EXPECT_EQ(y[slot_of(*s, "count")], count);
        EXPECT_EQ(y[slot_of(*s, "level")], 0.5 * count);
    }
}

TEST_P(exchange, step_events_are_seen) {
    const auto s = make_subsystem(exchange_spec(fmu("sawtooth"), solver(), {}, {{"rate", "2.5"}}));
    s->initialise(0);
    std::vector<double> y(static_cast<std::size_t>(s->describe().output_count()));
    for (int i = 0; i < 20; ++i) {
        s->advance({0.1 * i, 0.1 * (i + 1), i}, {}, y);
        EXPECT_NEAR(y[slot_of(*s, "x")] + y[slot_of(*s, "count")], 2.5 * 0.1 * (i + 1), 1e-9);
        EXPECT_LT(y[slot_of(*s, "x")], 1);
    }
}

INSTANTIATE_TEST_SUITE_P(fmus, exchange, testing::Combine(testing::Values("2", "3"), testing::ValuesIn(all_solvers)),
                         [](const auto& tested) {
                             return "fmi" + std::get<0>(tested.param) + "_" + test_name(std::get<1>(tested.param));
                         });

std::vector<subsystem_case> cases() {
    std::vector<subsystem_case> all;
    const auto add = [&](std::string name, subsystem_spec spec) {
        all.push_back({.name = std::move(name),
                       .make = [spec = std::move(spec)] { return make_subsystem(spec); },
                       .counts_allocations = !spec.fmu.isolate});
    };
    for (const std::string version : {"2", "3"}) {
        for (const std::string solver : {"rk4", "erk-5", "dirk-4"})
            add("oscillator_" + version + "_" + test_name(solver),
                exchange_spec("oscillator-" + version, solver, sharp(solver)));
        settings restarted = sharp("cvode-bdf");
        restarted.emplace_back("restart", "yes");
        add("bdf_" + version, exchange_spec("oscillator-" + version, "cvode-bdf", restarted));
        add("plain_" + version, exchange_spec("plain-oscillator-" + version));
        add("van_der_pol_" + version, exchange_spec("van-der-pol-" + version, "erk-5", sharp("erk-5")));
        add("ball_" + version, exchange_spec("bouncing-ball-" + version));
        add("stairs_" + version, exchange_spec("stairs-" + version, "", {}, {{"period", "93 ms"}}));
        subsystem_spec isolated = exchange_spec("oscillator-" + version);
        isolated.fmu.isolate = true;
        add("isolated_" + version, isolated);
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(fmu_exchange, subsystem_contract, testing::ValuesIn(cases()), case_name);

}  // namespace
}  // namespace mdpcosim::test
