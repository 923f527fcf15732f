// The model blocks: its parts in closed form, the Jacobian, the contract of subsystems, users' mistakes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <numbers>
#include <random>

#include "core/error.hpp"
#include "scenario/read.hpp"
#include "subsystem/factory.hpp"
#include "support/subsystem_contract.hpp"

namespace mdpcosim::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

subsystem_spec entry(const std::string& parts, const std::string& solver = "{name: erk-5, rtol: 1e-11, atol: 1e-12}") {
    const std::string text = "time: {end: 1, step: 0.1}\nsubsystems:\n  a:\n    model: blocks\n    solver: " + solver +
                             "\n    parts:\n" + parts;
    return read_scenario_text(text, "s.yaml").subsystems.at(0);
}

/// Runs alone with constant inputs.
class runner {
   public:
    explicit runner(const std::string& parts, const std::string& solver = "{name: erk-5, rtol: 1e-11, atol: 1e-12}")
        : subsystem_(make_subsystem(entry(parts, solver))) {
        const auto& d = subsystem_->describe();
        inputs_.resize(static_cast<std::size_t>(d.input_count()));
        y_.resize(static_cast<std::size_t>(d.output_count()));
        for (const auto& o : d.outputs) slots_[o.name] = static_cast<std::size_t>(o.slot);
        for (const auto& u : d.inputs) inputs_[static_cast<std::size_t>(u.slot)].c[0] = u.start;
        subsystem_->initialise(0);
        std::vector<double> u;
        for (const auto& p : inputs_) u.push_back(p.c[0]);
        subsystem_->outputs(u, y_);
    }
    void set(double value) { inputs_.at(0).c[0] = value; }
    runner& to(double end, int steps = 1) {
        const double begin = time_, H = (end - begin) / steps;
        for (int n = 0; n < steps; ++n) {
            const double next = n + 1 == steps ? end : begin + (n + 1) * H;
            subsystem_->advance({time_, next, step_++}, inputs_, y_);
            time_ = next;
        }
        return *this;
    }
    double operator[](const std::string& name) const { return y_[slots_.at(name)]; }
    std::int64_t events() const { return subsystem_->statistics().events; }

   private:
    std::unique_ptr<subsystem> subsystem_;
    std::vector<polynomial> inputs_;
    std::vector<double> y_;
    std::map<std::string, std::size_t> slots_;
    double time_ = 0;
    int step_ = 0;
};

const std::string everything = R"y(
      u: {kind: input, start: 0.3, unit: rad/s}
      w: {kind: constant, value: 7 rad/s}
      J: {kind: constant, value: 0.2}
      shaft: {kind: rotation, angle: phi, speed: speed}
      torque: {kind: function, of: "engine*lagged - 0.1*speed + 0.2*late", unit: N.m}
      speed: {kind: integrator, of: (torque + shaft)/J, start: 2, unit: rad/s}
      phi: {kind: integrator, of: speed, unit: rad}
      engine: {kind: map, of: speed, by: lagged + 1, x: [0, 3, 6], y: [0, 1, 3], values: [1, 2, 3, 1, 3, 6, 1, 2, 4], outside: extend}
      lagged: {kind: lag, of: error, time-constant: 0.05, gain: 0.8}
      error: {kind: function, of: "u + sin(w*t) - 0.2*speed"}
      curve: {kind: table, of: phi, x: [-1, 0, 2], values: [2, 0, 4]}
      bounded: {kind: limiter, of: curve - 1, lower: -0.5, upper: 1.5}
      held: {kind: integrator, of: 4*cos(w*t), lower: -0.2, upper: 0.3}
      filter: {kind: transfer-function, of: speed, num: [1, 2, 3], den: [0.01, 0.2, 1]}
      control: {kind: pid, of: error, kp: 2, ki: 5, kd: 0.1, lower: -1, upper: 1}
      late: {kind: delay, of: speed, time: 0.05, before: 2}
      digital: {kind: sample, of: error, time: 0.04, offset: 0.01}
      switched: {kind: relay, of: sin(w*t), on: 0.5, off: -0.4, high: 3}
      gear: {kind: memory, start: 1, parts: {up: {kind: rule, when: "if(gear < 3, speed - 2 - gear/2, -1)", to: gear + 1}, down: {kind: rule, when: "if(gear > 1, 1 + gear/2 - speed, -1)", to: gear - 1}}}
)y";

subsystem_case contract_case(const std::string& name, const std::string& solver) {
    return {.name = name, .make = [=] { return make_subsystem(entry(everything, solver)); }, .tolerance = 1e-3};
}

INSTANTIATE_TEST_SUITE_P(blocks, subsystem_contract,
                         testing::Values(contract_case("erk", "{name: erk-5, rtol: 1e-9, atol: 1e-9, max-step: 2 ms}"),
                                         contract_case("rk4", "{name: rk4, step: 0.5 ms}"),
                                         contract_case("dirk",
                                                       "{name: dirk-4, rtol: 1e-8, atol: 1e-8, max-step: 2 ms}")),
                         case_name);

/// Away from corners, every entry and nothing outside the structures.
TEST(blocks, differences_give_jacobian_and_structures) {
    const auto model = make_equations(entry(everything));
    const auto& d = model->describe();
    const auto n = static_cast<std::size_t>(model->state_count());
    const auto inputs = static_cast<std::size_t>(d.input_count()), outputs = static_cast<std::size_t>(d.output_count());
    std::vector<double> x(n), u(inputs), J(n * n), up(n), down(n), y_up(outputs), y_down(outputs);
    std::mt19937 dice(5);
    std::uniform_real_distribution<double> any(-1, 1);
    const auto has = [](const sparsity& s, std::size_t column, std::size_t row) {
        return std::count(s.rows.begin() + s.start[column], s.rows.begin() + s.start[column + 1], row) > 0;
    };
    for (int trial = 0; trial < 50; ++trial) {
        model->initial_state(0, x.data());
        model->settle(0, u.data(), x.data());
        for (auto& value : x) value += any(dice);
        for (auto& value : u) value = any(dice);
        const double t = 0.01 * trial;
        ASSERT_TRUE(model->jacobian(t, x.data(), u.data(), J.data()));
        const auto both = [&](double& moved) {
            const double before = moved, h = 1e-6;
            moved = before + h;
            model->derivatives(t, x.data(), u.data(), up.data());
            model->outputs(t, x.data(), u.data(), y_up.data());
            moved = before - h;
            model->derivatives(t, x.data(), u.data(), down.data());
            model->outputs(t, x.data(), u.data(), y_down.data());
            moved = before;
        };
        for (std::size_t j = 0; j < n; ++j) {
            both(x[j]);
            for (std::size_t i = 0; i < n; ++i) {
                EXPECT_NEAR(J[i + j * n], (up[i] - down[i]) / 2e-6, 1e-6 * (1 + std::fabs(J[i + j * n])))
                    << model->state_name(static_cast<int>(i)) << " by " << model->state_name(static_cast<int>(j));
                if (!has(*model->structure(), j, i)) {
                    EXPECT_EQ(up[i], down[i]);
                }
            }
            for (std::size_t i = 0; i < outputs; ++i)
                if (!has(*model->output_structure(), j, i)) {
                    EXPECT_EQ(y_up[i], y_down[i]) << d.outputs[i].name;
                }
        }
        for (std::size_t j = 0; j < inputs; ++j) {
            both(u[j]);
            for (std::size_t i = 0; i < n; ++i)
                if (!has(*model->input_structure(), j, i)) {
                    EXPECT_EQ(up[i], down[i]);
                }
            for (std::size_t i = 0; i < outputs; ++i)
                if (std::ranges::find(d.outputs[i].direct, static_cast<int>(j)) == d.outputs[i].direct.end()) {
                    EXPECT_EQ(y_up[i], y_down[i]) << d.outputs[i].name;
                }
        }
    }
}

/// Rates, of tables, filters and the delay too, against differences over time.
TEST(blocks, rates_are_those_of_the_outputs) {
    const auto made = make_subsystem(entry(everything, "{name: erk-5, rtol: 1e-11, atol: 1e-12, max-step: 1 ms}"));
    const auto& d = made->describe();
    std::vector<polynomial> u(static_cast<std::size_t>(d.input_count()));
    std::vector<double> before(static_cast<std::size_t>(d.output_count())), now = before, behind = before;
    made->initialise(0);
    const double t = 0.2137, h = 1e-5;
    made->advance({0, t - h, 0}, u, before);
    made->advance({t - h, t, 1}, u, now);
    made->advance({t, t + h, 2}, u, behind);
    int rates = 0;
    for (const auto& o : d.outputs) {
        if (o.rate_slot < 0) continue;
        const auto i = static_cast<std::size_t>(o.slot);
        EXPECT_NEAR(now[static_cast<std::size_t>(o.rate_slot)], (behind[i] - before[i]) / (2 * h), 1e-3) << o.name;
        ++rates;
    }
    EXPECT_GE(rates, 15);
}

TEST(blocks, filters_in_closed_form) {
    runner r(R"y(
      u: {kind: input, start: 1}
      lag: {kind: lag, of: u, time-constant: 0.5, gain: 3}
      second: {kind: transfer-function, of: u, num: 25, den: [1, 2, 25]}
      through: {kind: transfer-function, of: u, num: [1, 1], den: [1, 4]}
)y");
    EXPECT_EQ(r["through"], 1);
    for (const double t : {0.1, 0.7, 2.0}) {
        r.to(t);
        const double wd = std::sqrt(24.0);
        EXPECT_NEAR(r["lag"], 3 * (1 - std::exp(-2 * t)), 1e-9);
        EXPECT_NEAR(r["second"], 1 - std::exp(-t) * (std::cos(wd * t) + std::sin(wd * t) / wd), 1e-9);
        EXPECT_NEAR(r["through"], 0.25 + 0.75 * std::exp(-4 * t), 1e-9);
    }
}

/// The model pid, driven by the same difference.
TEST(blocks, pid_is_that_of_the_model_pid) {
    const std::string same = "kp: 2, ki: 8, kd: 0.3, filter-time: 0.02, lower: -0.5, upper: 1";
    const auto scenario = read_scenario_text("time: {end: 1, step: 0.1}\nsubsystems:\n  a: {model: pid, set: {" + same +
                                                 "}, solver: {name: erk-5, rtol: 1e-11, atol: 1e-12}}\n",
                                             "s.yaml");
    const auto model = make_subsystem(scenario.subsystems.at(0));
    const auto blocks = make_subsystem(
        entry("      r: {kind: input}\n      m: {kind: input}\n      y: {kind: pid, of: r - m, " + same + "}\n"));
    ASSERT_EQ(model->describe().input_count(), 2);
    std::vector<polynomial> u(2);
    std::vector<double> a(static_cast<std::size_t>(model->describe().output_count())),
        b(static_cast<std::size_t>(blocks->describe().output_count()));
    model->initialise(0);
    blocks->initialise(0);
    double highest = -10, lowest = 10;
    for (int n = 0; n < 60; ++n) {
        u[0].c[0] = n < 20 ? 1 : -0.7;
        u[1].c[0] = std::sin(0.3 * n);
        model->advance({0.1 * n, 0.1 * (n + 1), n}, u, a);
        blocks->advance({0.1 * n, 0.1 * (n + 1), n}, u, b);
        EXPECT_NEAR(a[0], b[0], 1e-8);
        highest = std::max(highest, b[0]);
        lowest = std::min(lowest, b[0]);
    }
    EXPECT_EQ(highest, 1);
    EXPECT_EQ(lowest, -0.5);
}

/// x' = -x(t - 1) with x = 1 before: polynomials, piece by piece (method of steps).
TEST(blocks, delay_equation_piece_by_piece) {
    for (const char* solver :
         {"{name: erk-5, rtol: 1e-10, atol: 1e-12, max-step: 50 ms}", "{name: rk4, step: 10 ms}"}) {
        runner r(
            "      x: {kind: integrator, of: -late, start: 1}\n      late: {kind: delay, of: x, time: 1, before: 1}\n",
            solver);
        r.to(0.6);
        EXPECT_NEAR(r["x"], 0.4, 1e-12);
        r.to(1.7, 3);
        EXPECT_NEAR(r["x"], 1 - 1.7 + 0.7 * 0.7 / 2, 1e-11);
        r.to(2.9);
        EXPECT_NEAR(r["x"], 1 - 2.9 + 1.9 * 1.9 / 2 - std::pow(0.9, 3) / 6, 1e-10);
        EXPECT_NEAR(r["late"], 1 - 1.9 + 0.9 * 0.9 / 2, 1e-10);
    }
}

/// A jump comes out of a delay as a jump, at its time and with nothing lost.
TEST(blocks, delayed_jumps_stay_sharp) {
    runner r(R"y(
      u: {kind: input, start: 0}
      late: {kind: delay, of: u, time: 0.25}
      sum: {kind: integrator, of: late}
)y",
             "{name: erk-5, max-step: 0.1}");
    r.to(0.4);
    r.set(2);
    r.to(1);
    EXPECT_NEAR(r["sum"], 2 * 0.35, 1e-12);
}

/// T' = s - T between thresholds: on for ln((1 - off)/(1 - on)), off for ln(on/off).
TEST(blocks, relay_switches_with_its_period) {
    const double on_time = std::log(0.7 / 0.4), off_time = std::log(0.6 / 0.3);
    runner r(
        "      T: {kind: lag, of: 1 - cold, time-constant: 1, start: 0.3}\n"
        "      cold: {kind: relay, of: T, on: 0.6, off: 0.3}\n");
    EXPECT_EQ(r["cold"], 0);
    for (int n = 1; n <= 5; ++n) {
        const double begin = (n - 1) * (on_time + off_time);
        r.to(begin + 0.5 * on_time);
        EXPECT_EQ(r["cold"], 0);
        EXPECT_NEAR(r["T"], 1 - 0.7 * std::exp(-0.5 * on_time), 1e-8);
        r.to(begin + on_time + 0.5 * off_time);
        EXPECT_EQ(r["cold"], 1);
        EXPECT_NEAR(r["T"], 0.6 * std::exp(-0.5 * off_time), 1e-8);
    }
}

/// Gears up and down a ramp that turns: one at a time, with a hysteresis; all rules that hold at the start act at once.
TEST(blocks, rules_are_a_state_machine) {
    const auto gears = [](double start) {
        return fmt::format(R"y(
      speed: {{kind: integrator, of: "if(t < 5, 10, -10)", start: {}}}
      gear: {{kind: memory, start: 1, parts: {{up: {{kind: rule, when: "if(gear < 4, speed - 12*gear, -1)", to: gear + 1}}, down: {{kind: rule, when: "if(gear > 1, 12*(gear - 1) - 4 - speed, -1)", to: gear - 1}}}}}}
      shifts: {{kind: memory, parts: {{one: {{kind: rule, when: abs(gear - seen) - 0.5, to: shifts + 1}}}}}}
      seen: {{kind: memory, start: 1, parts: {{same: {{kind: rule, when: abs(gear - seen) - 0.5, to: gear}}}}}}
)y",
                           start);
    };
    runner r(gears(0));
    const std::vector<std::pair<double, double>> expected{{1.1, 1}, {1.3, 2}, {2.5, 3}, {3.7, 4},
                                                          {6.7, 4}, {7.0, 3}, {8.1, 2}, {9.3, 1}};
    for (const auto& [t, gear] : expected) {
        r.to(t);
        EXPECT_EQ(r["gear"], gear) << t;
    }
    EXPECT_EQ(r["shifts"], 6);
    EXPECT_EQ(runner(gears(30))["gear"], 3);
}

/// x' = -k (x as it was sampled): x_{n+1} = (1 - k T) x_n exactly, whatever the solver's steps.
TEST(blocks, samples_are_held) {
    runner r("      x: {kind: integrator, of: -5*held, start: 1}\n      held: {kind: sample, of: x, time: 0.1}\n",
             "{name: rk4, step: 30 ms}");
    EXPECT_EQ(r["held"], 1);
    for (int n = 1; n <= 12; ++n) {
        r.to(0.1 * n + 0.05);
        EXPECT_NEAR(r["x"], std::pow(0.5, n) * 0.75, 1e-13) << n;
    }
}

/// x' = 5 cos 3t: held at its limit from there until the drive turns.
TEST(blocks, integrators_stop_at_their_limits) {
    runner r("      x: {kind: integrator, of: 5*cos(3*t), upper: 0.5, lower: -0.4}\n");
    const auto free = [](double t) { return 5.0 / 3 * std::sin(3 * t); };
    r.to(0.1);
    EXPECT_NEAR(r["x"], free(0.1), 1e-9);
    r.to(0.4);
    EXPECT_EQ(r["x"], 0.5);
    r.to(0.6);
    EXPECT_NEAR(r["x"], 0.5 + free(0.6) - 5.0 / 3, 1e-7);
    r.to(1.5);
    EXPECT_EQ(r["x"], -0.4);
    r.to(1.7);
    EXPECT_NEAR(r["x"], -0.4 + free(1.7) + 5.0 / 3, 1e-7);
}

TEST(blocks, tables_and_maps_between_and_beyond_their_points) {
    const auto at = [](double a, double b, const char* outside) {
        runner r(fmt::format(
            "      product: {{kind: map, of: {0}, by: {1}, x: [-1, 2, 3], y: [0, 5], values: [0, -5, 0, 10, "
            "0, 15], outside: {2}}}\n      line: {{kind: table, of: {0}, x: [0, 1, 3], values: [1, 0, 4], "
            "outside: {2}}}\n",
            a, b, outside));
        return std::pair{r["product"], r["line"]};
    };
    for (const double a : {-1.0, 0.25, 2.0, 2.9})
        for (const double b : {0.0, 1.7, 5.0}) EXPECT_NEAR(at(a, b, "hold").first, a * b, 1e-14);
    EXPECT_EQ(at(7, 1, "hold").first, 3);
    EXPECT_NEAR(at(7, 6, "extend").first, 42, 1e-12);
    EXPECT_EQ(at(0.5, 0, "hold").second, 0.5);
    EXPECT_EQ(at(-2, 0, "hold").second, 1);
    EXPECT_EQ(at(-2, 0, "extend").second, 3);
    EXPECT_EQ(at(4, 0, "extend").second, 6);
}

/// x'' = -9 x with the force from a table, in fixed steps of order 4.
TEST(blocks, fixed_steps_have_their_order) {
    const auto error = [](int steps) {
        runner r(
            "      x: {kind: integrator, of: v, start: 1}\n      v: {kind: integrator, of: force}\n"
            "      force: {kind: table, of: x, x: [-2, 2], values: [18, -18]}\n",
            fmt::format("{{name: rk4, step: {}}}", 1.0 / steps));
        return std::fabs(r.to(1)["x"] - std::cos(3.0));
    };
    EXPECT_NEAR(std::log2(error(80) / error(160)), 4, 0.2);
}

TEST(blocks, mistakes_are_named) {
    const auto refusal = [](const std::string& parts) -> std::string {
        try {
            make_subsystem(entry(parts));
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "";
    };
    EXPECT_THAT(refusal("      a: {kind: function, of: b + 1}\n      b: {kind: limiter, of: 2*c}\n"
                        "      c: {kind: table, of: a, x: [0, 1], values: [0, 1]}\n"),
                AllOf(HasSubstr("s.yaml:7:7"), HasSubstr("algebraic loop: a <- b <- c <- a"), HasSubstr("lag")));
    EXPECT_THAT(refusal("      speed: {kind: integrator, of: 1}\n      a: {kind: function, of: 2*sped}\n"),
                AllOf(HasSubstr("s.yaml:8:33"), HasSubstr("'sped' does not exist"), HasSubstr("Did you mean 'speed'")));
    EXPECT_THAT(refusal("      a: {kind: function, of: 2*}\n"), HasSubstr("function 'a': 'of': expected a value"));
    EXPECT_THAT(refusal("      a: {kind: function}\n"), HasSubstr("'of' (formula of what drives it) is missing"));
    EXPECT_THAT(refusal("      a: {kind: function, of: [1, 2]}\n"), HasSubstr("'of' is one text, not a list"));
    EXPECT_THAT(refusal("      a-b: {kind: constant, value: 1}\n"), HasSubstr("letters, digits and '_'"));
    EXPECT_THAT(refusal("      sin: {kind: constant, value: 1}\n"), HasSubstr("reserved for formulas"));
    EXPECT_THAT(refusal("      a: {kind: relay, of: t, on: 1, off: 1}\n"), HasSubstr("goes on at 1 and off at 1"));
    EXPECT_THAT(refusal("      a: {kind: integrator, of: t, start: 3, upper: 2}\n"), HasSubstr("starts at 3"));
    EXPECT_THAT(refusal("      a: {kind: transfer-function, of: t, num: [1, 0, 0], den: [1, 1]}\n"),
                HasSubstr("degree 2 and 'den' the degree 1"));
    EXPECT_THAT(refusal("      a: {kind: map, of: t, by: t, x: [0, 1], y: [0, 1], values: [1, 2]}\n"),
                HasSubstr("'values' has 2 instead of 4"));
    EXPECT_THAT(refusal("      a: {kind: table, of: t, x: [0, 0], values: [1, 2]}\n"), HasSubstr("0 follows 0"));
    EXPECT_THAT(refusal("      a: {kind: memory}\n"), HasSubstr("nothing changes it"));
    EXPECT_THAT(refusal("      a: {kind: constant, value: 1, unit: rpm}\n"), HasSubstr("'rpm' is none"));
    EXPECT_THAT(refusal("      u: {kind: input}\n      p: {kind: rotation, angle: 0, speed: u}\n"),
                HasSubstr("its speed follows from an input at once"));
    EXPECT_THAT(refusal("      a: {kind: sample, of: t, time: 1, offset: 2}\n"), HasSubstr("must be less than 'time'"));

    const auto failure = [](const std::string& parts, const std::string& solver) -> std::string {
        try {
            runner(parts, solver).to(1);
        } catch (const run_error& problem) {
            return problem.what();
        }
        return "";
    };
    EXPECT_THAT(
        failure("      x: {kind: integrator, of: -late, start: 1}\n      late: {kind: delay, of: x, time: 0.01}\n",
                "{name: rk4, step: 0.1}"),
        AllOf(HasSubstr("delay 'late' of 0.01 s is shorter"), HasSubstr("max-step")));
    EXPECT_THAT(failure("      a: {kind: memory, parts: {r: {kind: rule, when: t - 0.5 + 0*a, to: 1 - b}}}\n"
                        "      b: {kind: memory, parts: {r: {kind: rule, when: a - 0.5, to: 1}, s: {kind: rule, when: "
                        "\"0.5 - a + if(t < 0.5, -1, 0)\", to: 0}, q: {kind: rule, when: b - 0.5, to: 0}, z: {kind: "
                        "rule, when: \"0.5 - b + if(t < 0.5, -1, 0)\", to: 1}}}\n",
                        "{name: rk4, step: 0.1}"),
                AllOf(HasSubstr("rules set each other off without end"), HasSubstr("memory 'b' by rule")));
}

}  // namespace
}  // namespace mdpcosim::test
