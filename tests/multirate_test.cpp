// Steps of their own through the whole engine: orders, transports, samples, delays, and what F. Gonzalez and others (2010) state about two masses.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <numbers>
#include <sstream>

#include "api/mdpcosim.hpp"
#include "benchmark/multirate.hpp"
#include "scenarios.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using test::content;
using test::temporary_folder;

struct outcome {
    run_summary summary;
    std::string csv;
    std::vector<std::vector<double>> rows;
    double end(std::size_t column) const { return rows.back()[column]; }
};

outcome run_text(const std::string& text, int workers = 1, const std::string& transport = "threads") {
    const temporary_folder folder;
    const run_options options{.out = folder / "out", .workers = workers, .transport = transport};
    outcome seen{run(read_scenario_text(text, "test.yaml"), options), content(folder / "out/results.csv"), {}};
    EXPECT_EQ(seen.summary.status, "done") << seen.summary.message;
    std::istringstream in(seen.csv);
    std::string line, field;
    std::getline(in, line);
    while (std::getline(in, line)) {
        seen.rows.emplace_back();
        for (std::istringstream fields(line); std::getline(fields, field, ',');)
            seen.rows.back().push_back(std::stod(field));
    }
    return seen;
}

/// Two equations whose exact solutions are A = t^6 exp(-2t) and B = t^7 exp(-2t), whatever the coupling, as long as each hears the other exactly. Both
/// start so softly that the first steps, with little history, say nothing. The grids never meet but at the end.
double error_of(const std::string& scheme, int order, double H) {
    const std::string text = fmt::format(R"(time: {{end: 2, step: 2}}
method: {{name: multirate, scheme: {0}, slow-order: {1}, fast-order: {1}}}
subsystems:
  a:
    ode:
      states: {{x: 0}}
      inputs: {{b: 0}}
      equations: {{x: (6*t^5 - 2*t^6)*exp(-2*t) + 3*(b - t^7*exp(-2*t)) - (x - t^6*exp(-2*t))}}
    solver: &s {{name: erk-8, rtol: 1e-12, atol: 1e-14}}
    step: {2}
  b:
    ode:
      states: {{x: 0}}
      inputs: {{a: 0}}
      equations: {{x: (7*t^6 - 2*t^7)*exp(-2*t) - 2*(a - t^6*exp(-2*t)) - (x - t^7*exp(-2*t))}}
    solver: *s
    step: {3}
signals: [a.x -> b.a, b.x -> a.b]
record: {{only: ["*.x"]}}
)",
                                         scheme, order, 0.31 * H, 0.73 * H);
    const outcome seen = run_text(text);
    return std::hypot(seen.end(1) - 64 * std::exp(-4), seen.end(2) - 128 * std::exp(-4));
}

TEST(multirate_run, errors_fall_with_the_order_plus_one_on_grids_that_never_meet) {
    for (const char* scheme : {"slowest-first", "fastest-first", "sequential"})
        for (int order = 0; order <= 4; ++order) {
            const double coarse = error_of(scheme, order, 0.1), fine = error_of(scheme, order, 0.0125);
            const double measured = std::log(coarse / fine) / std::log(8);
            fmt::print("{:<14} order {}: {:.2e} {:.2e}, measured {:.2f}\n", scheme, order, coarse, fine, measured);
            EXPECT_NEAR(measured, order + 1, 0.35) << scheme << " " << order;
        }
}

// What section 3.4 of the source states about two masses, as far as it reproduces.

double position_error(const std::string& scheme, int order, double ratio, double damping = 0) {
    return run_multirate({.scheme = scheme,
                          .slow_order = order,
                          .fast_order = order,
                          .damping = damping,
                          .frequency_ratio = ratio})
        .position_error;
}

TEST(multirate_two_mass, fastest_first_has_a_peak_near_40) {
    for (const int order : {3, 4}) {
        const double peak = position_error("fastest-first", order, 39);
        EXPECT_GT(peak, 0.15) << order;
        EXPECT_LT(position_error("fastest-first", order, 25), peak / 5) << order;
        EXPECT_LT(position_error("fastest-first", order, 50), peak / 2) << order;
        EXPECT_GT(
            run_multirate({.scheme = "fastest-first", .slow_order = order, .fast_order = order, .frequency_ratio = 39})
                .gain,
            5)
            << "the oscillation is amplified";
    }
}

TEST(multirate_two_mass, beyond_the_peak_fastest_first_damps_the_oscillation_and_then_amplifies_it) {
    const multirate_result damped =
        run_multirate({.scheme = "fastest-first", .slow_order = 4, .fast_order = 4, .frequency_ratio = 65});
    EXPECT_LT(damped.gain, 1e-3);
    EXPECT_LT(damped.position_error, 0.1) << "and yet the error looks small";
    EXPECT_GT(run_multirate({.scheme = "fastest-first", .slow_order = 4, .fast_order = 4, .frequency_ratio = 85}).gain,
              100);
}

TEST(multirate_two_mass, slowest_first_is_good_up_to_50_and_above_ten_percent_beyond_55) {
    EXPECT_LT(position_error("slowest-first", 0, 50), 0.1);
    for (int order = 0; order <= 4; ++order)
        for (const double ratio : {55.0, 70.0, 90.0})
            EXPECT_GT(position_error("slowest-first", order, ratio), 0.1) << order << " at " << ratio;
    EXPECT_LT(position_error("slowest-first", 0, 85), position_error("slowest-first", 1, 85)) << "order 0 is the best";
}

TEST(multirate_two_mass, below_25_higher_orders_with_slowest_first_keep_the_energy) {
    const auto energy = [](int order) {
        return run_multirate({.slow_order = order, .fast_order = order, .frequency_ratio = 15}).energy_error;
    };
    EXPECT_LT(energy(3), 1e-3);
    EXPECT_GT(energy(0), 10 * energy(3));
}

TEST(multirate_two_mass, half_of_the_critical_damping_reduces_the_error_by_about_ten) {
    double product = 1;
    int count = 0;
    for (const char* scheme : {"slowest-first", "fastest-first"})
        for (const double ratio : {10.0, 20.0, 30.0, 40.0, 50.0}) {
            product *= position_error(scheme, 3, ratio) / position_error(scheme, 3, ratio, 0.5);
            ++count;
        }
    const double mean = std::pow(product, 1.0 / count);
    fmt::print("damping reduces the error by {:.1f} in the mean\n", mean);
    EXPECT_GT(mean, 4);
    EXPECT_LT(mean, 25);
}

TEST(multirate_two_mass, smoothing_tracks_where_interpolation_has_lost_the_motion) {
    const auto at_100 = [](bool smoothing) {
        return run_multirate({.scheme = "fastest-first",
                              .slow_order = 3,
                              .fast_order = smoothing ? 0 : 3,
                              .smoothing = smoothing,
                              .frequency_ratio = 100})
            .position_error;
    };
    EXPECT_LT(at_100(true), at_100(false) / 20);
}

/// The source: equivalent in practice, errors below ten percent being good.
TEST(multirate_two_mass, with_a_memory_block_of_a_fast_step_the_solution_stays_good) {
    for (const double ratio : {10.0, 20.0}) {
        const multirate_run plain{.slow_order = 1, .fast_order = 1, .frequency_ratio = ratio};
        multirate_run delayed = plain;
        delayed.delay = 0.01;
        const double a = run_multirate(plain).position_error, b = run_multirate(delayed).position_error;
        fmt::print("FR {}: {:.2e} without, {:.2e} with a memory block\n", ratio, a, b);
        EXPECT_LT(b, 0.05) << ratio;
    }
}

/// The numbers of examples/multirate-two-mass/README.md.
TEST(multirate_two_mass, the_example_errs_as_stated) {
    const auto error = [](const std::string& scheme, int order) {
        const temporary_folder folder;
        const std::filesystem::path file = MDPCOSIM_SOURCE_DIR "/examples/multirate-two-mass/scenario.yaml";
        std::vector<scenario_override> changes{{"method.scheme", scheme, ""},
                                               {"method.slow-order", std::to_string(order), ""},
                                               {"method.fast-order", std::to_string(order), ""}};
        EXPECT_EQ(run(read_scenario(file, changes), {.out = folder / "out", .workers = 1}).status, "done");
        std::ifstream in(folder / "out/results.csv");
        std::string line, field;
        std::getline(in, line);
        EXPECT_TRUE(line.starts_with("time,fast.x,")) << line;
        double largest = 0;
        while (std::getline(in, line)) {
            std::istringstream fields(line);
            double t = 0, x = 0;
            char comma = 0;
            fields >> t >> comma >> x;
            const double w = 2 * std::numbers::pi;
            largest = std::max(largest, std::abs(x - std::cos(w * t) - 10 * std::cos(w / 20 * t)));
        }
        fmt::print("{:<14} order {}: {:.3g} m\n", scheme, order, largest);
        return largest;
    };
    const std::vector<double> slowest{1.26, 0.783, 0.728, 1.02, 0.868}, fastest{11.9, 2.95, 0.704, 0.790, 1.02};
    for (int order = 0; order <= 4; ++order) {
        EXPECT_NEAR(error("slowest-first", order), slowest[static_cast<std::size_t>(order)],
                    0.01 * slowest[static_cast<std::size_t>(order)]);
        EXPECT_NEAR(error("fastest-first", order), fastest[static_cast<std::size_t>(order)],
                    0.01 * fastest[static_cast<std::size_t>(order)]);
    }
}

// One result on every transport

class multirate_transport : public testing::TestWithParam<std::string> {};

TEST_P(multirate_transport, results_are_the_same_to_the_last_bit) {
    const std::string text = test::multirate(GetParam());
    const outcome serial = run_text(text, 1);
    EXPECT_EQ(serial.rows.size(), 21u);
    for (const char* transport : {"threads", "processes", "tcp"})
        for (const int workers : {2, 9})
            EXPECT_TRUE(run_text(text, workers, transport).csv == serial.csv) << transport << " " << workers;
}

TEST_P(multirate_transport, the_resolved_scenario_gives_the_same_run) {
    const temporary_folder folder;
    const run_options options{.out = folder / "out", .workers = 1};
    run(read_scenario_text(test::multirate(GetParam()), "test.yaml"), options);
    const std::string first = content(folder / "out/results.csv"), resolved = content(folder / "out/scenario.yaml");
    EXPECT_THAT(resolved, testing::HasSubstr("step: solver"));
    run(read_scenario_text(resolved, "again.yaml"), options);
    EXPECT_TRUE(content(folder / "out/results.csv") == first);
}

INSTANTIATE_TEST_SUITE_P(schemes, multirate_transport, testing::Values("slowest-first", "fastest-first", "sequential"),
                         [](const auto& tested) {
                             std::string name = tested.param;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

TEST(multirate_run, parts_that_are_not_coupled_work_at_the_same_time) {
    std::string text = "time: {end: 0.2 s, step: 10 ms}\nmethod: {name: multirate}\nsubsystems:\n";
    for (int k = 0; k < 4; ++k)
        text += fmt::format("  a{0}: {{model: busy, set: {{work: 20000, v0: {0}}}, solver: rk4, step: 5 ms}}\n", k);
    text += "connections:\n";
    for (int k = 0; k < 4; k += 2)
        text += fmt::format("  c{0}: {{law: spring, between: [a{0}.mass, a{1}.mass], stiffness: 100}}\n", k, k + 1);
    const outcome one = run_text(text, 1), two = run_text(text, 2);
    EXPECT_EQ(one.summary.parallel_steps, 0);
    EXPECT_GT(two.summary.parallel_steps, 10);
    EXPECT_TRUE(one.csv == two.csv);
}

// Samples, feed-through, delays, chosen steps

/// A sampled controller and its plant, which hears held values: the explicit method with the macro step of the plant does the same.
TEST(multirate_run, a_sampled_controller_with_a_long_step_acts_at_its_samples) {
    const std::string system = R"(
subsystems:
  plant: {model: lag-1, set: {time-constant: 50 ms}, solver: {name: rk4, step: 1 ms}STEP1}
  control: {model: pid-sampled, set: {kp: 2, ki: 30}, sample: {time: 20 ms}STEP2}
signals: [control.y -> plant.u, plant.y -> control.measurement, 1 -> control.setpoint]
)";
    const auto with = [&](const std::string& head, const std::string& one, const std::string& two) {
        std::string text = head + system;
        text.replace(text.find("STEP1"), 5, one);
        text.replace(text.find("STEP2"), 5, two);
        return run_text(text);
    };
    const outcome reference = with("time: {end: 1, step: 1 ms}\nrecord: {every: 20 ms}", "", "");
    for (const char* scheme : {"slowest-first", "fastest-first", "sequential"}) {
        const outcome seen =
            with(fmt::format("time: {{end: 1, step: 20 ms}}\nmethod: {{name: multirate, scheme: {}, fast-order: 4}}",
                             scheme),
                 ", step: 1 ms", ", step: 20 ms");
        ASSERT_EQ(seen.rows.size(), reference.rows.size());
        for (std::size_t n = 0; n < seen.rows.size(); ++n)
            for (std::size_t k = 0; k < seen.rows[n].size(); ++k)
                ASSERT_NEAR(seen.rows[n][k], reference.rows[n][k], 1e-12) << scheme << ", row " << n;
    }
}

/// x' = sin(t - T), and sin(0) before the start.
TEST(multirate_run, a_delay_shows_what_was) {
    const outcome seen = run_text(R"(time: {end: 4, step: 0.5}
method: {name: multirate, slow-order: 4, fast-order: 4}
subsystems:
  wave: {ode: {states: {s: 0, c: 1}, equations: {s: c, c: -s}}, solver: {name: erk-8, rtol: 1e-12}, step: 0.02}
  sum: {ode: {states: {x: 0}, inputs: {u: 0}, equations: {x: u}}, solver: rk4, step: 0.03}
signals:
  - {connect: wave.s -> sum.u, delay: 1.25 s, name: late}
)");
    for (const auto& row : seen.rows) {
        const double t = row[0];
        EXPECT_NEAR(row[3], t < 1.25 ? 0 : 1 - std::cos(t - 1.25), 2e-5) << t;
        EXPECT_NEAR(row[4], t < 1.25 ? 0 : std::sin(t - 1.25), 1e-6) << t;
    }
}

/// y = u/2 + 1 fed by itself: a loop without a state, which the delay breaks; y halves its distance from 2 with every delay.
TEST(multirate_run, a_delay_breaks_an_algebraic_loop) {
    const std::string text = R"(time: {end: 8, step: 1}
method: {name: multirate, slow-order: 0}
subsystems:
  f: {ode: {inputs: {u: 0}, outputs: {y: u/2 + 1}}, solver: rk4}
  g: {ode: {inputs: {u: 0}, outputs: {y: u}}, solver: rk4}
signals:
  - f.y -> g.u
  - {connect: g.y -> f.u DELAY}
)";
    const auto with = [&](const std::string& delay) {
        std::string changed = text;
        return changed.replace(changed.find(" DELAY"), 6, delay);
    };
    EXPECT_THROW(run_text(with("")), user_error);
    const outcome seen = run_text(with(", delay: 1"));
    for (std::size_t n = 2; n < seen.rows.size(); ++n) {
        EXPECT_NEAR(2 - seen.rows[n][1], (2 - seen.rows[n - 1][1]) / 2, 1e-12) << n;
        EXPECT_NEAR(seen.rows[n][2], seen.rows[n][1], 1e-12) << n;
    }
}

/// The tolerance of the integrator decides how often it is heard.
TEST(multirate_run, an_integrator_chooses_its_steps) {
    const auto steps = [](double rtol) {
        const outcome seen = run_text(fmt::format(R"(time: {{end: 20, step: 1}}
method: {{name: multirate, slow-order: 3, fast-order: 3}}
subsystems:
  A: {{model: mass-spring-damper, set: {{mass: 1, stiffness: 1, x0: 1}}, solver: {{name: erk-4, rtol: {0}, atol: {0}}}, step: solver}}
  B: {{model: mass-spring-damper, set: {{mass: 1, stiffness: 1}}, solver: rk4, step: 20 ms}}
connections:
  spring: {{law: spring, between: [A.mass, B.mass], stiffness: 4}}
)",
                                                  rtol));
        for (const auto& row : seen.rows)
            EXPECT_NEAR(row[1], (std::cos(row[0]) + std::cos(3 * row[0])) / 2, 2e-3) << "t = " << row[0];
        return seen.summary.subsystems[0].micro_steps;
    };
    const auto coarse = steps(1e-5), fine = steps(1e-8);
    EXPECT_GT(fine, 2 * coarse);
    EXPECT_LT(coarse, 1000);
}

TEST(multirate_run, a_failing_subsystem_is_told_with_its_own_step) {
    const std::string text = R"(time: {end: 1 s, step: 100 ms}
method: multirate
subsystems:
  calm: {model: lag-1, solver: rk4, step: 10 ms}
  wild: {ode: {states: {x: 2}, inputs: {u: 0}, equations: {x: x^2 + 0*u}}, solver: rk4, step: 1 ms}
signals: [calm.y -> wild.u, wild.x -> calm.u]
)";
    for (const char* transport : {"threads", "processes"}) {
        const temporary_folder folder;
        const run_summary s =
            run(read_scenario_text(text, "test.yaml"), {.out = folder / "out", .workers = 2, .transport = transport});
        EXPECT_EQ(s.status, "failed");
        EXPECT_THAT(s.message, testing::HasSubstr("subsystem 'wild' failed"));
        EXPECT_THAT(s.message, testing::ContainsRegex("0\\.50[0-9]* s to 0\\.50[0-9]* s|t = 0\\.50"));
    }
}

}  // namespace
}  // namespace mdpcosim
