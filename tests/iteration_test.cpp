// Algebraic loops and iterated macro steps through the whole engine; the numbers of examples/iterated-loop/README.md.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "bad_input.hpp"
#include "core/json.hpp"
#include "coupled_run.hpp"
#include "monolithic_fixture.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// y1 = x - 20 (u + c u^3), y2 = w + z: a stiff loop, linear for c = 0.
std::string stiff_loop(const std::string& c, const std::string& further) {
    return "time: {end: 1, step: 0.01}\nsubsystems:\n"
           "  a: {ode: {states: {x: 1}, inputs: {u: 0}, equations: {x: -x}, outputs: {y: x - 20*(u + " +
           c +
           "*u^3)}}}\n  b: {ode: {states: {z: 2}, inputs: {w: 0}, equations: {z: -2*z}, outputs: {y: w + z}}}\n"
           "  after: {ode: {inputs: {u: 0}, outputs: {y: 3*u}}}\n  last: {model: lag-1}\n"
           "signals:\n  - a.y -> b.w\n  - b.y -> a.u\n  - b.y -> after.u\n  - 1*after.y -> last.u\n" +
           further + "\n";
}

/// u = (x + z)/21, x = exp(-t), z = 2 exp(-2t)
TEST(algebraic_loop_run, has_the_exact_solution_at_every_macro_point) {
    for (const char* solver : {"newton", "anderson", "iqn-ils"}) {
        coupled_run run(read_scenario_text(stiff_loop("0", fmt::format("iteration: {}", solver)), "s.yaml"));
        run.watch("b.y");
        run.watch("after.y");
        int n = 0;
        for (const auto& row : run.rows()) {
            const double t = 0.01 * n++, u = (std::exp(-t) + 2 * std::exp(-2 * t)) / 21;
            EXPECT_NEAR(row[0], u, 1e-6 * u) << solver << " at " << t;
            EXPECT_NEAR(row[1], 3 * row[0], 1e-7) << "what follows the loop comes after it";
        }
    }
}

TEST(algebraic_loop_run, of_two_unknowns) {
    // Two loops through one subsystem: p = 1 - 2 q - 3 r, q = 4 p + t, r = -p/2 + 1, so that 7.5 p = -2 - 2 t.
    coupled_run run(read_scenario_text(R"(time: {end: 1, step: 0.1}
iteration: {solver: anderson}
subsystems:
  s: {ode: {inputs: {q: 0, r: 0}, outputs: {p: 1 - 2*q - 3*r}}}
  q: {ode: {inputs: {p: 0}, outputs: {y: 4*p + t}}}
  r: {ode: {inputs: {p: 0}, outputs: {y: 1 - p/2}}}
signals: [s.p -> q.p, s.p -> r.p, q.y -> s.q, r.y -> s.r]
)",
                                       "s.yaml"));
    run.watch("s.p");
    ASSERT_EQ(run.all.parts().system.loops.size(), 1u);
    int n = 0;
    for (const auto& row : run.rows()) EXPECT_NEAR(row[0], -(2 + 0.2 * n++) / 7.5, 1e-7);
}

TEST(algebraic_loop_run, tears_few_channels) {
    std::string ring = "time: {end: 1, step: 0.1}\niteration: newton\nsubsystems:\n", signals = "signals:\n";
    for (int k = 0; k < 6; ++k) {
        ring += fmt::format("  s{}: {{ode: {{inputs: {{u: 0, v: 0}}, outputs: {{y: 0.3*u + 0.1*v + {}}}}}}}\n", k, k);
        signals += fmt::format("  - s{}.y -> s{}.u\n", k, (k + 1) % 6);
    }
    signals += "  - s2.y -> s0.v\n";
    const assembly one = assemble(read_scenario_text(ring + signals, "s.yaml"), {.workers = 1});
    ASSERT_EQ(one.system.loops.size(), 1u);
    EXPECT_EQ(one.system.loops[0].torn().size(), 1u);  // s0.y -> s1.u or s1.y -> s2.u stands in both rings
    const assembly two = assemble(read_scenario_text(ring + signals + "  - s5.y -> s4.v\n", "s.yaml"), {.workers = 1});
    EXPECT_EQ(two.system.loops[0].torn().size(), 2u);
}

TEST(algebraic_loop_run, through_a_damper_whose_velocity_follows_the_force) {
    // v = 0.1 F, F = -10 v against a wall at rest that nothing moves, with a force of 5: v = 0.1 (5 - 10 v).
    coupled_run run(read_scenario_text(R"(time: {end: 1, step: 0.01}
iteration: newton
subsystems:
  a:
    ode: {states: {x: 0 m}, inputs: {F: 0 N}, equations: {x: 0.1*(F + 5)}, outputs: {v: {value: 0.1*(F + 5), unit: m/s}}}
    ports: {end: {kind: translation, position: x, velocity: v, force: F}}
  b: {model: mass-spring-damper, set: {mass: 1e9, stiffness: 0}}
connections:
  d: {law: spring-damper, between: [a.end, b.mass], stiffness: 0, damping: 10, extrapolation: poly-1}
)",
                                       "s.yaml"));
    run.watch("a.v");
    for (const auto& row : run.rows()) EXPECT_NEAR(row[0], 0.25, 1e-7);
}

/// The pair of the waveform literature (src/benchmark/methods.cpp).
std::string oscillator_pair(const std::string& method, double step) {
    return fmt::format(
        "time: {{end: 10, step: {}}}\nmethod: {}\nsubsystems:\n"
        "  A: {{model: mass-spring-damper, set: {{mass: 1, stiffness: 1, x0: 1}}, solver: &s {{name: erk-8, rtol: "
        "1e-13, "
        "atol: 1e-14}}}}\n  B: {{model: mass-spring-damper, set: {{mass: 1, stiffness: 1}}, solver: "
        "*s}}\nconnections:\n"
        "  coupling: {{law: spring-damper, between: [A.mass, B.mass], stiffness: 1, damping: 0.1}}\n",
        step, method);
}

class iteration_run : public monolithic {
   protected:
    run_summary run_scenario(const std::string& text, bool whole = false) {
        return run_into(whole ? "whole" : "run", read_scenario_text(text, "s.yaml"), whole);
    }

    /// Of the run in `run`, an oscillator pair, over their range.
    double error_of_positions(double step) {
        EXPECT_EQ(run_scenario(oscillator_pair("iterated", step), true).status, "done");
        double error = 0;
        for (const auto& e :
             compare_results(folder / "run", folder / "whole", {"A.mass.position", "B.mass.position"}).errors)
            error = std::max(error, e.relative);
        return error;
    }
};

TEST_F(iteration_run, the_reference_solves_the_same_loop) {
    const std::string text = stiff_loop("0.5", "iteration: newton\nmethod: {name: iterated, tolerance: 1e-9}");
    EXPECT_EQ(run_scenario(text).status, "done");
    EXPECT_EQ(run_scenario(text, true).status, "done");
    for (const auto& e : compare_results(folder / "run", folder / "whole").errors)
        EXPECT_LT(e.relative, 1e-5) << e.name;
}

TEST_F(iteration_run, the_initialisation_is_a_phase_of_its_own) {
    const run_summary s = run_scenario(stiff_loop("0.5", "iteration: newton"));
    ASSERT_TRUE(s.initialisation);
    EXPECT_GT(s.initialisation->seconds, 0);
    EXPECT_GE(s.initialisation->evaluations, 8);
    ASSERT_EQ(s.initialisation->loops.size(), 1u);
    EXPECT_EQ(s.initialisation->loops[0].subject, "algebraic loop a.y -> b.w -> b.y -> a.u -> a.y");
    EXPECT_EQ(s.initialisation->loops[0].variables, std::vector<std::string>{"a.u"});
    EXPECT_LT(s.initialisation->loops[0].residual, 1e-8);
    EXPECT_GE(s.initialisation->loops[0].iterations, 2);
    ASSERT_EQ(s.iterations.size(), 1u);
    EXPECT_EQ(s.iterations[0].solutions, 109);  // 100 macro steps, the first of them in ten parts
    EXPECT_THAT(to_table(s), AllOf(HasSubstr("\n  initialised in "), HasSubstr(" iterations of newton, residual "),
                                   HasSubstr(" iterations of newton in the mean, ")));
    const auto document = json::parse(test::content(folder / "run/summary.json"));
    EXPECT_EQ(document["initialisation"]["loops"][0]["solver"], "newton");
    EXPECT_EQ(document["iterations"][0]["iterations_largest"], s.iterations[0].largest);
}

TEST_F(iteration_run, a_loop_that_does_not_converge_at_the_start_is_told) {
    const run_summary s = run_scenario(stiff_loop("0", "iteration: {solver: fixed-point, limit: 20}"));
    EXPECT_EQ(s.status, "failed");
    EXPECT_THAT(
        s.message,
        AllOf(HasSubstr("initialisation: algebraic loop a.y -> b.w -> b.y -> a.u -> a.y at t = 0 s: the limit is "
                        "reached after 20 iterations of fixed-point (20 evaluations); last residual "),
              HasSubstr(" at 'a.u' = "), HasSubstr("Try 'iteration: {solver: newton}'")));
}

/// The gain of the loop grows with time; what was recorded before it passes 1 is kept.
TEST_F(iteration_run, a_loop_that_stops_converging_leaves_what_was_recorded) {
    const run_summary s = run_scenario(
        "time: {end: 2, step: 0.01}\niteration: fixed-point\nsubsystems:\n"
        "  a: {ode: {states: {x: 0.1}, equations: {x: 1}, inputs: {u: 0}, outputs: {y: 1 - x*u}}}\n"
        "  b: {ode: {inputs: {u: 0}, outputs: {y: u}}}\nsignals: [a.y -> b.u, b.y -> a.u]\n");
    EXPECT_EQ(s.status, "failed");
    EXPECT_THAT(s.message, HasSubstr("algebraic loop a.y -> b.u -> b.y -> a.u -> a.y at t = 0."));
    EXPECT_THAT(s.message, testing::Not(HasSubstr("initialisation")));
    EXPECT_GT(s.rows, 40);
    EXPECT_LT(s.reached, 0.9);
}

TEST_F(iteration_run, macro_steps_that_do_not_converge_leave_what_was_recorded) {
    const run_summary s = run_scenario(
        "time: {end: 2, step: 0.1}\nmethod: {name: iterated, solver: fixed-point}\nsubsystems:\n"
        "  a: {model: mass-spring-damper, set: {mass: 1, stiffness: 1, x0: 1}}\n"
        "  b: {model: mass-spring-damper, set: {mass: 1, stiffness: 1}}\n"
        "connections: {rod: {law: spring, between: [a.mass, b.mass], stiffness: 1e4}}\n");
    EXPECT_EQ(s.status, "failed");
    EXPECT_THAT(s.message, AllOf(HasSubstr("the macro step from t = 0 s to 0.1 s does not converge"),
                                 HasSubstr("last residuals: 'rod' "), HasSubstr("'solver: newton'")));
    EXPECT_EQ(s.rows, 1);
    EXPECT_TRUE(fs::exists(folder / "run/summary.json"));
}

TEST_F(iteration_run, sampled_controllers_take_part) {
    const std::string text =
        "time: {end: 1 s, step: 10 ms}\nmethod: {name: iterated, points: 3, tolerance: 1e-9}\nsubsystems:\n"
        "  a: {ode: {states: {x: 0}, inputs: {u: 0, v: 0}, equations: {x: 5*(v - x) + u}}, solver: &exact {name: "
        "erk-8, "
        "rtol: 1e-11, atol: 1e-13}}\n"
        "  b: {ode: {states: {v: 0}, inputs: {x: 0}, equations: {v: 20*(x - v)}}, solver: *exact}\n"
        "  pid: {model: pid-sampled, set: {kp: 2, ki: 5}, sample: 50 ms}\n"
        "signals: [a.x -> b.x, b.v -> a.v, 1 -> pid.setpoint, a.x -> pid.measurement, pid.y -> a.u]\n";
    EXPECT_EQ(run_scenario(text).status, "done");
    EXPECT_EQ(run_scenario(text, true).status, "done");
    for (const auto& e : compare_results(folder / "run", folder / "whole", {"a.x", "b.v"}).errors)
        EXPECT_LT(e.relative, 1e-7);
}

/// `iterations: N` is N integrations of every macro step, converged or not, and fewer where fewer do.
TEST_F(iteration_run, a_number_of_iterations) {
    std::vector<double> errors;
    for (const int n : {1, 2, 3, 4}) {
        const std::string method =
            fmt::format("{{name: iterated, iterations: {}, solver: fixed-point, tolerance: 1e-14}}", n);
        const run_summary s = run_scenario(oscillator_pair(method, 0.25));
        ASSERT_EQ(s.status, "done") << s.message;
        EXPECT_EQ(s.steps, 40);
        EXPECT_EQ(s.integrations, 40 * n);
        EXPECT_EQ(s.iterations.at(0).largest, n);
        errors.push_back(shown(fmt::format("iterations: {}", n), error_of_positions(0.25)));
    }
    EXPECT_LT(errors[1], errors[0] / 10);
    EXPECT_LT(errors[2], errors[1] / 3);
    EXPECT_LT(errors[3], 1.1 * errors[2]);  // what is left is the polynomials'
    const run_summary enough = run_scenario(oscillator_pair("{name: iterated, iterations: 40}", 0.25));
    EXPECT_LT(enough.integrations, 40 * 4);
}

TEST_F(iteration_run, a_number_of_iterations_fails_nothing) {
    const std::string stiff =
        "subsystems:\n  a: {model: mass-spring-damper, set: {mass: 1, stiffness: 1, x0: 1}}\n"
        "  b: {model: mass-spring-damper, set: {mass: 1, stiffness: 1}}\n"
        "connections: {rod: {law: spring, between: [a.mass, b.mass], stiffness: 400}}\n";
    const std::string time = "time: {end: 0.5, step: 0.1}\nmonitor: {divergence: note}\n";
    EXPECT_EQ(run_scenario(time + "method: {name: iterated, solver: fixed-point, limit: 3}\n" + stiff).status,
              "failed");
    const run_summary s = run_scenario(time + "method: {name: iterated, solver: fixed-point, iterations: 3}\n" + stiff);
    EXPECT_EQ(s.status, "done") << s.message;
    EXPECT_EQ(s.integrations, 15);
    EXPECT_THAT(message_of("method: {name: iterated, iterations: 1.5}\ntime: {end: 1, step: 0.1}\n" + stiff),
                HasSubstr("iterations = 1.5 is no whole number"));
}

/// 80 to 88 integrations of both, by tolerance and points.
TEST_F(iteration_run, the_oscillator_pair_at_equal_work) {
    const run_summary s = run_scenario(oscillator_pair("{name: iterated, points: 4, tolerance: 1e-7}", 10.0 / 40));
    ASSERT_EQ(s.status, "done") << s.message;
    EXPECT_GE(s.integrations, 80);
    EXPECT_LE(s.integrations, 88);
    EXPECT_LE(shown(fmt::format("{} integrations", s.integrations), error_of_positions(10.0 / 40)), 1.4e-6);
}

struct worked {
    std::int64_t integrations;
    double error;  ///< largest of the positions, whose range is about 2
};

/// Two masses of 1 kg on springs of 1 N/m, one of them displaced by 1 m: their sum and their difference swing by themselves.
worked run_pair(double stiffness, double damping, const std::string& more) {
    coupled_run run(read_scenario_text(
        fmt::format(
            "subsystems:\n  A: {{model: mass-spring-damper, set: {{mass: 1, stiffness: 1, x0: 1}}, solver: &s {{name: "
            "erk-8, rtol: 1e-13, atol: 1e-14}}}}\n  B: {{model: mass-spring-damper, set: {{mass: 1, stiffness: 1}}, "
            "solver: *s}}\nconnections:\n  coupling: {{law: spring-damper, between: [A.mass, B.mass], stiffness: {}, "
            "damping: {}}}\n{}",
            stiffness, damping, more),
        "s.yaml"));
    const std::size_t A = run.watch("A.mass.position"), B = run.watch("B.mass.position");
    const double omega = std::sqrt(1 + 2 * stiffness - damping * damping);
    worked found{0, 0};
    while (!run.done()) {
        run.step();
        const double t = run.time();
        const double sum = std::cos(t), difference = std::exp(-damping * t) *
                                                     (std::cos(omega * t) + damping / omega * std::sin(omega * t));
        found.error = std::max({found.error, std::abs(run.value(A) - (sum + difference) / 2),
                                std::abs(run.value(B) - (sum - difference) / 2)});
    }
    found.integrations = run.all.parts().system.integrations;
    return found;
}

/// Controlled steps are as accurate as the best constant step with 1/1.15 of the integrations: which step that is they find by themselves.
TEST(iteration, controlled_steps_at_the_work_of_the_best_constant_step) {
    for (const auto& [stiffness, damping] : {std::pair{1.0, 0.1}, std::pair{2.0, 0.5}})
        for (const int points : {2, 4})
            for (const double rtol : {1e-3, 1e-4, 1e-5}) {
                const std::string method = fmt::format("method: {{name: iterated, points: {}, tolerance: {}}}\n",
                                                       points, points == 2 ? 1e-6 : 1e-7);
                const worked controlled =
                    run_pair(stiffness, damping,
                             fmt::format("{}time: {{end: 10, step: {}}}\nstep-control: {{rtol: {}, atol: {}}}\n",
                                         method, 10.0 / 24, rtol, rtol));
                worked constant{controlled.integrations, 0};
                for (auto steps = controlled.integrations / 2;
                     1.15 * static_cast<double>(constant.integrations) > static_cast<double>(controlled.integrations);
                     --steps)
                    constant = run_pair(
                        stiffness, damping,
                        fmt::format("{}time: {{end: 10, step: {}}}\n", method, 10.0 / static_cast<double>(steps)));
                shown(fmt::format("{} N.s/m, {} points, rtol {:g}: {} integrations", damping, points, rtol,
                                  controlled.integrations),
                      controlled.error);
                shown(fmt::format("  constant steps, {} integrations", constant.integrations), constant.error);
                EXPECT_LE(controlled.error, constant.error);
            }
}

TEST(iteration, what_needs_more_is_refused_with_the_way_that_needs_less) {
    EXPECT_THAT(
        message_of("time: {end: 1, step: 0.1}\nmethod: iterated\nsubsystems:\n"
                   "  a: {model: lag-1, solver: cvode-bdf}\n  b: {model: lag-1}\nsignals: [a.y -> b.u]\n"),
        AllOf(HasSubstr("method 'iterated' repeats every macro step, and needs subsystems that can save and restore"),
              HasSubstr("a: "), HasSubstr("for algebraic loops 'iteration: newton'")));
}

TEST(iteration, check_shows_loops) {
    EXPECT_THAT(check(read_scenario_text(stiff_loop("0", "iteration: anderson"), "s.yaml")),
                HasSubstr("algebraic loop a.y -> b.w -> b.y -> a.u -> a.y\n  solved at the start and at every macro "
                          "point by anderson for a.u\n"));
    EXPECT_THAT(message_of(stiff_loop("0", "")), HasSubstr("'iteration: newton'"));
}

const fs::path iterated_loop = examples / "iterated-loop/scenario.yaml";

class iterated_loop_example : public monolithic {
   protected:
    double error(const settings& list) {
        return difference(run("run", iterated_loop, false, list), "drive.vc", run("whole", iterated_loop, true),
                          "drive.vc");
    }
};

TEST_F(iterated_loop_example, errors_as_stated) {
    const double coarse = shown("explicit, 50 us", error({{"time.step", "50 us"}}));
    const double fine = shown("explicit, 25 us", error({}));
    EXPECT_NEAR(coarse, 4.5e-5, 3e-6);
    EXPECT_NEAR(std::log2(coarse / fine), 3, 0.1);
    settings changes{{"method", "iterated"}, {"method.tolerance", "1e-10"}, {"iteration.tolerance", "1e-13"}};
    const double best = shown("iterated, 25 us", error(changes));
    changes.emplace_back("time.step", "50 us");
    const double better = shown("iterated, 50 us", error(changes));
    EXPECT_LT(better, coarse / 500);
    EXPECT_NEAR(std::log2(better / best), 4, 0.3);
}

TEST_F(iterated_loop_example, solvers_as_stated) {
    for (const auto& [solver, most] : {std::pair{"newton", 2.2}, {"anderson", 3.2}, {"iqn-ils", 2.4}}) {
        const run_summary s = run_into("run", read_scenario(iterated_loop, overrides({{"iteration", solver}})), false);
        ASSERT_EQ(s.status, "done") << s.message;
        EXPECT_LT(shown(solver, s.iterations.at(0).mean()), most);
    }
    const run_summary s =
        run_into("run", read_scenario(iterated_loop, overrides({{"iteration", "fixed-point"}})), false);
    EXPECT_EQ(s.status, "failed");
    EXPECT_THAT(s.message, HasSubstr("initialisation: algebraic loop battery.v -> drive.v -> drive.i -> battery.i"));
}

}  // namespace
}  // namespace mdpcosim::test
