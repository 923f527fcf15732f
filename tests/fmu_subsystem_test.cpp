// Single subsystems as FMUs: every shipped model, an ode and a plugin, in FMI 2.0 and 3.0, by model exchange and by co-simulation, give the numbers of
// the subsystem itself, with the same solver to the last bit; what stands in the description holds; what cannot be exported is refused with its name.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <set>

#include "api/mdpcosim.hpp"
#include "export/fmu.hpp"
#include "fmi/archive.hpp"
#include "fmi/instance.hpp"
#include "scenario/read.hpp"
#include "simulation/simulation.hpp"
#include "subsystem/model.hpp"
#include "support/archives.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

struct round_trip {
    std::string name;
    std::string entry;     ///< of the subsystem
    double amplitude = 1;  ///< by which inputs move about their start values
    double within =
        0;  ///< the range of an output over the run: model exchange may differ by so much of it; 0: not at all
    int steps = 60;
    std::string step = "1 ms";
    bool exchange = true;
};

const std::vector<round_trip>& round_trips() {
    static const std::string source_folder = MDPCOSIM_SOURCE_DIR,
                             plugins = std::string(MDPCOSIM_BINARY_DIR) + "/plugins/";
    static std::vector<round_trip> list{
        {"busy", "{model: busy, set: {work: 20, x0: 1}, solver: rk4}"},
        {"capacitor", "{model: capacitor, set: {capacitance: 1 mF, potential0: 12 V, leakage: 1 mS}}"},
        {"chain", "{model: chain, set: {n: 5, stiffness: 2 kN/m, damping: 1, x-amplitude: 10 mm, seed: 3}}"},
        {"long_chain",
         "{model: chain, set: {n: 30, stiffness: 2 kN/m, damping: 1, x-amplitude: 10 mm, seed: 3}, solver: "
         "trapezoidal}",
         1, 1e-9},
        {"dc_motor",
         "{model: dc-motor, set: {resistance: 0.5 Ohm, constant: 0.1 N.m/A, inertia: 2e-4 kg.m2}, solver: {name: "
         "cvode-bdf, rtol: 1e-8}}"},
        {"fixed_frame", "{model: fixed-frame, set: {position: [0, 0.1, 0.12]}}"},
        {"hydraulic_line", "{model: hydraulic-line, set: {linear-loss: 2e9 Pa.s/m3}}", 1e5},
        {"inertia", "{model: inertia, set: {inertia: 0.4, damping: 0.3, w0: 300 rpm}, solver: trapezoidal}"},
        {"lag_1", "{model: lag-1, set: {time-constant: 20 ms, gain: -2}, solver: dirk-4}"},
        {"lag_2", "{model: lag-2, set: {omega0: 70 rad/s, damping-ratio: 0.2, gain: 3}}"},
        {"lookup_table", "{model: lookup-table, set: {x: [-1, 0, 4], y: [10, 20, 0]}}"},
        {"oscillator",
         "{model: mass-spring-damper, set: {mass: 2, stiffness: 500, damping: 0.7, cubic-stiffness: 40, x0: 10 mm, "
         "excitation: harmonic, amplitude: 5, frequency: 30 Hz}}"},
        {"stepped_mass",
         "{model: mass-spring-damper, set: {stiffness: 900, excitation: step, amplitude: 20, step-time: 20.3 ms}}"},
        {"pid", "{model: pid, set: {kp: 4, ki: 80, kd: 0.1, lower: -2, upper: 3}}", 1},
        {"pid_sampled", "{model: pid-sampled, set: {kp: 0.3, ki: 4}, sample: {time: 5 ms, delay: 2 ms}}", 1, 0, 60,
         "1 ms", false},
        {"piston", "{model: piston, set: {mass: 5 kg, head-area: 20 cm2, damping: 400}}", 1e4},
        {"planar_link", "{model: planar-link, set: {support: hinged, mass: 1 kg, length: 1 m, angle: 45 deg}}"},
        {"rigid_body", "{model: rigid-body, set: {position: [0, 0.1, 0.16], first-position: [0, 0, -0.04]}}", 0.1},
        {"rl_branch", "{model: rl-branch, set: {inductance: 0.7, resistance: 200, current0: 1.2}}"},
        {"saturation", "{model: saturation, set: {lower: 0, upper: 0.5}}"},
        {"source_sine", "{model: source, set: {kind: sine, amplitude: 3, start: 0.01, frequency: 20}}"},
        {"source_pulse", "{model: source, set: {kind: pulse, start: 5.5 ms, duration: 10 ms, period: 31 ms}}"},
        {"state_space", "{model: state-space, set: {n: 2, A: [0, 1, -4000, -0.5], B: [0, 1], p: 2, C: [1, 0, 0, 1]}}"},
        {"thermal_mass", "{model: thermal-mass, set: {heat-capacity: 3, temperature0: 20 degC}}"},
        {"transfer_function", "{model: transfer-function, set: {num: [2, 1], den: [0.05, 1]}}"},
        {"blocks",
         "{model: blocks, parts: {u: {kind: input}, e: {kind: function, of: 40*(u - x)}, x: {kind: integrator, of: e, "
         "lower: -0.3, upper: 0.3}, held: {kind: sample, of: x, time: 7 ms}, on: {kind: relay, of: u, on: 0.4, off: "
         "-0.4}}}"},
        {"blocks_with_a_delay",
         "{model: blocks, parts: {u: {kind: input}, x: {kind: lag, of: u, time-constant: 5 ms}, late: {kind: delay, "
         "of: x, time: 3 ms}}, solver: {name: erk-5, max-step: 1 ms}}",
         1, 1e-9},
        {"contact_bodies",
         "{model: contact-bodies, set: {step: 100 us}, parts: {ball: {kind: body, mass: 0.5 kg, y: 5 mm}, floor: "
         "{kind: contact, of: ball, restitution: 0.5}}}",
         0.1, 0, 60, "1 ms", false},
        {"hydraulics",
         "{model: hydraulics, set: {modulus: 1.4 GPa, density: 850 kg/m3, viscosity: 10 mPa.s}, parts: {supply: {kind: "
         "source, pressure: 4 bar, ripple: 0.3 bar, frequency: 250 Hz}, feed: {kind: "
         "orifice, from: supply, to: chamber, area: 4.9 mm2}, chamber: {kind: node, volume: 2 cm3, pressure: 4 bar}, "
         "leak: {kind: gap, from: chamber, to: sump, diameter: 12 mm, height: 44 um, length: "
         "20 mm}, sump: {kind: tank, pressure: 1 bar}, piston: {kind: piston, head: chamber, mass: 40 g, head-area: "
         "113 mm2, preload: 120 N, stiffness: 2 N/mm, low: -5 mm, high: 15 mm}}, solver: "
         "{name: dirk-4, rtol: 1e-7}}",
         5, 1e-6, 60, "100 us"},
        {"valve_train",
         "{include: " + source_folder +
             "/examples/valve-train/parts/intake.yaml, solver: {name: erk-5, rtol: 1e-5, atol: 1e-8}}",
         0.1, 0, 20, "10 us"},
        {"chain_drive",
         "{include: " + source_folder +
             "/examples/valve-train/parts/chain.yaml, solver: {name: erk-3, rtol: 1e-5, atol: 1e-6}}",
         0.1, 0, 5, "10 us"},
        {"pendulum",
         "{ode: {parameters: {m: 1 kg, L: 1 m}, states: {phi: 60 deg, w: 0}, inputs: {T: 0 N.m}, equations: {phi: w, "
         "w: -9.81/L*sin(phi) + T/(m*L^2)}, outputs: {E: {value: m*L^2*w^2/2 - m*9.81*L*cos(phi), unit: J}}}}"},
        {"bouncing_ball",
         "{ode: {states: {h: 1 mm, v: 0}, inputs: {u: 0}, parameters: {e: 0.8}, equations: {h: v, v: u - 9.81}, "
         "events: [{when: h, direction: falling, set: {v: -e*v}}]}}",
         1},
        {"switched",
         "{ode: {states: {x: 0}, inputs: {u: 0}, equations: {x: \"if(t > 0.01234, -40*x, 10 + u)\"}, outputs: {x: x, "
         "y: x + 2*u}}}"},
        {"algebraic",
         "{ode: {states: {x: 1}, algebraic: {z: 0}, inputs: {u: 0}, equations: {x: -z, z: \"z - x - u\"}, outputs: {x: "
         "x, z: z}}, solver: ida}",
         1, 0, 60, "1 ms", false},
        {"plugin", "{plugin: " + plugins + "oscillator_c.so, set: {mass: 1 kg, stiffness: 100 N/m, x0: 10 mm}}"},
        {"plugin_with_solver",
         "{plugin: " + plugins + "oscillator_cpp_solver.so, set: {mass: 1 kg, stiffness: 100 N/m, step: 100 us}}", 1, 0,
         60, "1 ms", false},
    };
    // Sanitized builds have no module.
    if (list.back().name != "multibody" && fs::exists(fs::path(MDPCOSIM_BINARY_DIR) / "mdpcosim-multibody.so"))
        list.push_back(
            {"multibody",
             "{model: multibody, parts: {crank: {kind: body, mass: 1, inertia: 0.01, centre: [0.1, 0, 0]}, rod: {kind: "
             "body, mass: 2, inertia: 0.03, centre: [0.25, 0, 0]}, rocker: {kind: body, mass: 1.5, inertia: 0.02}, a: "
             "{kind: pin, child: crank, axis: [0, 1, 0], start: -0.5, speed: 3}, b: {kind: pin, child: rod, parent: "
             "crank, at: [0.2, 0, 0], axis: [0, 1, 0]}, c: {kind: pin, child: rocker, at: [0.5, 0, 0], axis: [0, 1, "
             "0]}, loop: {kind: point-closure, first: rod, first-at: [0.5, 0, 0], second: rocker, second-at: [0.3, 0, "
             "0]}, shaft: {kind: joint-port, joint: a}, tip: {kind: frame, body: rod, at: [0.4, 0, 0]}}}",
             0.5});
    return list;
}

std::string scenario_text(const round_trip& c) {
    return fmt::format("time: {{end: {} s, step: {}}}\nsubsystems:\n  m: {}\n", 1, c.step, c.entry);
}

class single_subsystems : public testing::Test {
   protected:
    scenario read(const std::string& text) {
        test::write_file(folder_ / "s.yaml", text);
        return load_scenario(folder_ / "s.yaml", {});
    }
    fs::path exported(const scenario& s, fmi::version version = fmi::version::v2, const std::string& name = "m") {
        const fs::path file = folder_ / fmt::format("m{}.fmu", version == fmi::version::v2 ? 2 : 3);
        notes_ = export_fmu(s, file, version, name).notes;
        return file;
    }
    std::string refusal(const std::string& text, const std::string& name) {
        const scenario s = read(text);
        try {
            exported(s, fmi::version::v2, name);
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "accepted";
    }
    /// The FMU in place of the subsystem, with its solver.
    scenario hosted(const fs::path& fmu, bool exchange, const std::string& step, const solver_spec& solver) {
        scenario s = read(
            fmt::format("time: {{end: 1 s, step: {}}}\nsubsystems:\n  m: {{fmu: {}, isolate: false, interface: {}}}\n",
                        step, fmu.string(), exchange ? "model-exchange" : "co-simulation"));
        if (exchange) s.subsystems.front().solver = solver;
        return s;
    }

    test::temporary_folder folder_;
    std::vector<std::string> notes_;
};

/// Rows of all outputs of subsystem m, whose inputs are moved from step to step.
std::vector<std::vector<double>> rows(const scenario& s, const std::vector<std::string>& outputs,
                                      const std::vector<std::pair<std::string, double>>& inputs, const round_trip& c) {
    simulation run(s, {.workers = 1});
    const auto drive = [&](int n) {
        for (std::size_t k = 0; k < inputs.size(); ++k)
            run.set("m." + inputs[k].first,
                    inputs[k].second + c.amplitude * std::sin(0.17 * n + static_cast<double>(k)));
    };
    std::vector<std::vector<double>> all;
    drive(0);
    run.initialise();
    for (int n = 0; n < c.steps; ++n) {
        if (n > 0) {
            drive(n);
            run.step();
        }
        auto& row = all.emplace_back();
        for (const auto& y : outputs) row.push_back(run.value("m." + y));
    }
    return all;
}

class every_round_trip : public single_subsystems, public testing::WithParamInterface<round_trip> {};
INSTANTIATE_TEST_SUITE_P(models, every_round_trip, testing::ValuesIn(round_trips()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(every_round_trip, gives_the_numbers_of_the_subsystem) {
    const round_trip& c = GetParam();
    const scenario s = read(scenario_text(c));
    const simulation native(s, {.workers = 1});
    const subsystem_description& d = native.parts().system.subsystems->describe(subsystem_index(0));
    std::vector<std::string> outputs;
    std::vector<std::pair<std::string, double>> inputs;
    for (const auto& column : native.parts().columns)
        if (column.from == recorded_column::source::output) outputs.push_back(column.name.substr(2));
    ASSERT_FALSE(outputs.empty());
    for (const auto& u : d.inputs)
        for (int slot = u.slot; slot < u.slot + u.size; ++slot) inputs.emplace_back(element_name(u, slot), u.start);
    const auto expected = rows(s, outputs, inputs, c);
    for (const auto version : {fmi::version::v2, fmi::version::v3}) {
        const fs::path file = exported(s, version);
        EXPECT_LT(fs::file_size(file), 6000000u);
        const auto d_fmu = fmi::open_fmu(file);
        EXPECT_EQ(d_fmu->description().model_exchange.has_value(), c.exchange) << testing::PrintToString(notes_);
        for (const bool exchange : {true, false}) {
            if (exchange && !c.exchange) continue;
            SCOPED_TRACE(fmt::format("FMI {}, {}", name(version), exchange ? "model exchange" : "co-simulation"));
            const auto got =
                rows(hosted(file, exchange, c.step, native.resolved().subsystems.front().solver), outputs, inputs, c);
            for (std::size_t k = 0; k < outputs.size(); ++k) {
                double low = expected[0][k], high = low;
                for (const auto& row : expected) low = std::min(low, row[k]), high = std::max(high, row[k]);
                for (std::size_t n = 0; n < expected.size(); ++n)
                    if (exchange && c.within > 0)
                        ASSERT_NEAR(got[n][k], expected[n][k], c.within * (high - low)) << outputs[k] << " row " << n;
                    else
                        ASSERT_EQ(got[n][k], expected[n][k]) << outputs[k] << " row " << n;
            }
        }
    }
}

TEST(single_subsystem_exports, every_model_has_a_round_trip) {
    for (const auto& model : model_registry::instance().names()) {
        const bool tried = std::ranges::any_of(round_trips(), [&](const round_trip& c) {
            return c.entry.find("model: " + model + ",") != std::string::npos;
        });
        // Of the two in a file of their own; multibody where its module is.
        EXPECT_TRUE(tried || model == "valve-train" || model == "chain-drive" || model == "multibody") << model;
    }
}

/// One instance of an FMU by the names of its variables.
struct instance {
    instance(const fs::path& file, fmi::kind kind) : files(fmi::open_fmu(file)) {
        fmi::instance_options options;
        options.name = "host";
        options.kind = kind;
        options.log = [this](const fmi::log_message& m) { told += std::string(m.text) + "\n"; };
        fmu = fmi::make_instance(files, options);
        fmu->set_up({.start = 0});
    }
    fmi::value_block block(const std::string& name) const {
        const int variable = files->description().index_of(name);
        if (variable < 0) throw std::invalid_argument("no variable " + name);
        return fmu->make_block(std::span(&variable, 1));
    }
    void set(const std::string& name, double value) {
        auto b = block(name);
        fmu->set(b, std::span(&value, 1));
    }
    double get(const std::string& name) {
        auto b = block(name);
        double value = 0;
        fmu->get(b, std::span(&value, 1));
        return value;
    }
    double derivative(const std::string& of, const std::string& by) {
        const double one = 1;
        double result = 0;
        fmu->directional_derivative(block(of), block(by), std::span(&one, 1), std::span(&result, 1));
        return result;
    }
    void begin() {
        fmu->enter_initialisation();
        fmu->exit_initialisation();
    }
    /// Events that are due; then continuous time.
    fmi::discrete_update go_on() {
        const fmi::discrete_update last = fmu->update_discrete_states();
        fmu->enter_continuous_mode();
        return last;
    }

    std::shared_ptr<const fmi::fmu_files> files;
    std::string told;
    std::unique_ptr<fmi::instance> fmu;
};

// x' = k u - sin(x), y = x^2 + 3 u.
constexpr const char* sine = R"(time: {end: 1 s, step: 10 ms}
subsystems:
  m:
    ode: {parameters: {k: 2}, states: {x: 0.5}, inputs: {u: 0}, equations: {x: k*u - sin(x)}, outputs: {x: x, y: x^2 + 3*u}}
    solver: {name: erk-5, rtol: 1e-11, atol: 1e-12}
)";

TEST_F(single_subsystems, directional_derivatives_are_those_of_the_equations) {
    const scenario s = read(sine);
    for (const auto version : {fmi::version::v2, fmi::version::v3}) {
        const fs::path file = exported(s, version);
        instance m(file, fmi::kind::model_exchange);
        EXPECT_TRUE(m.files->description().model_exchange->directional_derivatives);
        m.begin();
        m.go_on();
        for (const double x : {0.5, 1.3, -2.0}) {
            m.fmu->set_states(std::span(&x, 1));
            m.set("u", 0.1);
            EXPECT_EQ(m.derivative("der(state.x)", "state.x"), -std::cos(x));  // exact
            EXPECT_NEAR(m.derivative("der(state.x)", "u"), 2, 1e-9);
            EXPECT_NEAR(m.derivative("y", "state.x"), 2 * x, 1e-8);
            EXPECT_NEAR(m.derivative("y", "u"), 3, 1e-9);
            EXPECT_EQ(m.get("y"), x * x + 0.3) << "changed by asking";
        }
        instance c(file, fmi::kind::co_simulation);
        c.begin();
        EXPECT_NEAR(c.derivative("y", "u"), 3, 1e-9);
        EXPECT_NEAR(c.derivative("x", "u"), 0, 1e-9);
        EXPECT_THROW(c.derivative("y", "state.x"), fmi::fmu_failure);
    }
}

TEST_F(single_subsystems, derivatives_of_inputs_are_heeded) {
    // x' = u with u = 1 - 2 s + 9 s^2 over a step of 0.1 s: x = 0.1 - 0.01 + 0.003, whatever the solver.
    const fs::path file = exported(read(R"(time: {end: 1 s, step: 100 ms}
subsystems: {m: {ode: {states: {x: 0}, inputs: {u: 0}, equations: {x: u}, outputs: {x: x, y: x + u}}, solver: rk4}}
)"));
    instance m(file, fmi::kind::co_simulation);
    EXPECT_TRUE(m.files->description().co_simulation->input_derivatives);
    m.begin();
    m.set("u", 1);
    const double first = -2, second = 18;
    m.fmu->set_input_derivatives(m.block("u"), 1, std::span(&first, 1));
    m.fmu->set_input_derivatives(m.block("u"), 2, std::span(&second, 1));
    m.fmu->do_step(0, 0.1, false);
    EXPECT_NEAR(m.get("x"), 0.093, 1e-15);
    EXPECT_NEAR(m.get("y"), 0.093 + 0.89, 1e-15);
    // They count for one step; the input stays where they led it until it is set.
    m.fmu->do_step(0.1, 0.1, false);
    EXPECT_NEAR(m.get("x"), 0.093 + 0.089, 1e-15);
    m.set("u", 1);
    m.fmu->do_step(0.2, 0.1, false);
    EXPECT_NEAR(m.get("x"), 0.093 + 0.089 + 0.1, 1e-15);
}

TEST_F(single_subsystems, parameters_and_starts_count) {
    const scenario s = read(sine);
    for (const auto kind : {fmi::kind::model_exchange, fmi::kind::co_simulation}) {
        instance m(exported(s), kind);
        m.set("k", 5);
        m.set("x.start", -0.25);
        m.set("u", 0.1);
        m.fmu->enter_initialisation();
        EXPECT_EQ(m.get("state.x"), -0.25);
        m.set("x.start", 0.75);
        EXPECT_EQ(m.get("state.x"), 0.75);
        EXPECT_EQ(m.get("der(state.x)"), 0.5 - std::sin(0.75));
        m.fmu->exit_initialisation();
        m.set("k", 3);  // tunable, in event mode or between steps
        if (kind == fmi::kind::model_exchange) m.go_on();
        EXPECT_EQ(m.get("der(state.x)"), 3 * 0.1 - std::sin(0.75));
        EXPECT_THROW(m.set("x.start", 0), fmi::fmu_failure);
        EXPECT_THAT(m.told, HasSubstr("'x' is fixed"));
    }
}

TEST_F(single_subsystems, states_are_put_back_in_both_interfaces) {
    const scenario s = read(R"(time: {end: 1 s, step: 10 ms}
subsystems: {m: {ode: {states: {h: 0.05, v: 0}, parameters: {e: 0.8}, equations: {h: v, v: -9.81}, events: [{when: h, direction: falling, set: {v: -e*v}}]}}}
)");
    const fs::path file = exported(s, fmi::version::v3);
    const auto go = [](instance& m, int from, int to) {
        for (int n = from; n < to; ++n) m.fmu->do_step(n * 0.01, 0.01, false);
        return m.get("h");
    };
    instance one(file, fmi::kind::co_simulation), other(file, fmi::kind::co_simulation);
    one.begin();
    other.begin();
    go(one, 0, 15);
    const auto state = one.fmu->make_state();
    one.fmu->save(*state);
    std::vector<std::byte> bytes;
    one.fmu->write(*state, bytes);
    const double later = go(one, 15, 40);
    one.fmu->restore(*state);
    EXPECT_EQ(go(one, 15, 40), later);
    const auto foreign = other.fmu->make_state();
    other.fmu->read(*foreign, bytes);
    other.fmu->restore(*foreign);
    EXPECT_EQ(go(other, 15, 40), later);
    bytes.resize(bytes.size() - 9);
    other.fmu->read(*foreign, bytes);
    EXPECT_THROW(other.fmu->restore(*foreign), fmi::fmu_failure);

    // Model exchange: the side on which the indicator was belongs to the state.
    instance x(file, fmi::kind::model_exchange);
    x.begin();
    x.go_on();
    const auto above = x.fmu->make_state();
    x.fmu->save(*above);
    const std::array below{-1e-9, -0.7};
    for (int n = 0; n < 2; ++n) {
        x.fmu->set_time(0.1);
        x.fmu->set_states(below);
        x.fmu->enter_event_mode();
        EXPECT_TRUE(x.fmu->update_discrete_states().states_changed) << n;
        std::array<double, 2> after{};
        x.fmu->get_states(after);
        EXPECT_EQ(after[1], 0.8 * 0.7);
        // The same event again: it has happened.
        x.fmu->enter_continuous_mode();
        x.fmu->enter_event_mode();
        EXPECT_FALSE(x.fmu->update_discrete_states().states_changed);
        x.fmu->restore(*above);
        EXPECT_EQ(x.get("state.h"), 0.05);
    }
}

TEST_F(single_subsystems, ports_couple_as_those_of_the_subsystem) {
    const std::string system =
        "time: {{end: 0.2 s, step: 1 ms}}\nsubsystems:\n  a: {}\n  b: {{model: "
        "mass-spring-damper, set: {{stiffness: 300 N/m}}, solver: rk4}}\nconnections:\n  rod: {{law: spring, between: "
        "[a.mass, b.mass], stiffness: 400 N/m}}\n";
    const std::string model = "{model: mass-spring-damper, set: {mass: 2 kg, stiffness: 500, x0: 10 mm}, solver: rk4}";
    const scenario native = read(fmt::format(fmt::runtime(system), model));
    const fs::path file = folder_ / "a.fmu";
    export_fmu(native, file, fmi::version::v3, "a");
    const auto run = [](const scenario& s) {
        simulation whole(s, {.workers = 1});
        whole.initialise();
        std::vector<double> all;
        while (!whole.done()) {
            whole.step();
            all.push_back(whole.value("a.mass.position"));
            all.push_back(whole.value("rod.u"));
        }
        return all;
    };
    const auto expected = run(native);
    ASSERT_EQ(expected.size(), 400u);
    // Its ports are found by its terminals; what it says of rates lets the law extrapolate as with the subsystem itself.
    EXPECT_EQ(
        run(read(fmt::format(fmt::runtime(system),
                             "{fmu: " + file.string() + ", interface: model-exchange, isolate: false, solver: rk4}"))),
        expected);
    const auto steps = run(read(fmt::format(fmt::runtime(system), "{fmu: " + file.string() + ", isolate: false}")));
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(steps[i], expected[i], i % 2 == 0 ? 1e-4 : 4e-2) << i;
}

TEST_F(single_subsystems, what_cannot_be_exported_is_named) {
    const std::string all = fmt::format(R"(time: {{end: 1 s, step: 1 ms}}
subsystems:
  oscillator: {{model: mass-spring-damper}}
  table: {{file: {}}}
  other: {{fmu: {}/fmus/oscillator-2.fmu}}
  script: {{program: [nothing]}}
)",
                                        (folder_ / "t.csv").string(), MDPCOSIM_BINARY_DIR);
    test::write_file(folder_ / "t.csv", "time,x\n0,1\n1,2\n");
    EXPECT_THAT(refusal(all, "table"), AllOf(HasSubstr("s.yaml:4:3: subsystem 'table' is a table of recorded data"),
                                             HasSubstr("Export a model, an 'ode', a plugin")));
    EXPECT_THAT(refusal(all, "other"), AllOf(HasSubstr("s.yaml:5:3: subsystem 'other' is an FMU already"),
                                             HasSubstr("oscillator-2.fmu'. Copy that one.")));
    EXPECT_THAT(refusal(all, "script"), HasSubstr("s.yaml:6:3: subsystem 'script': a program runs in a process"));
    EXPECT_THAT(refusal(all, "oscilator"),
                AllOf(HasSubstr("--subsystem oscilator"), HasSubstr("has: oscillator, table"),
                      HasSubstr("Did you mean 'oscillator'?")));
    EXPECT_FALSE(fs::exists(folder_ / "m2.fmu"));
}

}  // namespace
}  // namespace mdpcosim
