#include "benchmark/methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "analysis/plot.hpp"
#include "core/json.hpp"
#include "scenario/read.hpp"
#include "simulation/row_recorder.hpp"

namespace mdpcosim {

namespace {

struct test_case {
    std::string name;
    std::string text;  ///< of a scenario without `time`; or its file
    double end, largest_step;
    bool is_file = false;
};

/// Unequal bodies that start together: of a stiff coupling's own vibration there is little.
std::string two_mass(double F) {
    return fmt::format(R"(subsystems:
  A: {{model: mass-spring-damper, set: {{mass: 1, stiffness: 1, damping: 0.002, x0: 1}}, solver: &s {{name: erk-5, rtol: 1e-11, atol: 1e-13}}}}
  B: {{model: mass-spring-damper, set: {{mass: 1, stiffness: 2, damping: 0.002, x0: 1}}, solver: *s}}
connections:
  spring: {{law: spring, between: [A.mass, B.mass], stiffness: {}}}
record: {{only: ["*.position", "*.velocity"]}}
)",
                       F);
}

constexpr const char* quarter_car = R"(subsystems:
  wheel:
    model: mass-spring-damper
    set: {mass: 40, stiffness: 2e5, damping: 100, x0: 0.01, excitation: harmonic, amplitude: 2000, frequency: 1.5}
    solver: &s {name: erk-5, rtol: 1e-11, atol: 1e-13}
  body: {model: mass-spring-damper, set: {mass: 400, stiffness: 0, damping: 0}, solver: *s}
connections:
  strut: {law: spring-damper, between: [wheel.mass, body.mass], stiffness: 2e4, damping: 1500}
record: {only: ["*.position", "*.velocity"]}
)";

std::string chain() {
    std::string out = "subsystems:\n";
    for (int part = 0; part < 3; ++part)
        out += fmt::format(
            "  part{}: {{model: chain, set: {{n: 10, first: {}, left: {}, right: {}, stiffness: 1e7, damping: 1, "
            "cubic-stiffness: 1e9, "
            "cubic-damping: 0.01, x-amplitude: 0.1, v-amplitude: 100, seed: 1}}, solver: {{name: erk-5, rtol: 1e-11, "
            "atol: 1e-13}}}}\n",
            part + 1, 1 + 10 * part, part == 0 ? "fixed" : "free", part == 2 ? "fixed" : "free");
    out += "connections:\n";
    for (int cut = 1; cut < 3; ++cut)
        out += fmt::format(
            "  cut{0}: {{law: cubic-spring-damper, between: [part{0}.right, part{1}.left], stiffness: 1e7, damping: 1, "
            "cubic-stiffness: "
            "1e9, cubic-damping: 0.01}}\n",
            cut, cut + 1);
    return out + "record: {only: [\"*.position\", \"*.velocity\"]}\n";
}

/// The pair on which waveform iteration is compared: equal masses on equal springs, coupled by a spring and a damper.
constexpr const char* oscillator_pair = R"(subsystems:
  A: {model: mass-spring-damper, set: {mass: 1, stiffness: 1, x0: 1}, solver: &s {name: erk-8, rtol: 1e-13, atol: 1e-14}}
  B: {model: mass-spring-damper, set: {mass: 1, stiffness: 1}, solver: *s}
connections:
  coupling: {law: spring-damper, between: [A.mass, B.mass], stiffness: 1, damping: 0.1}
record: {only: ["*.position", "*.velocity"]}
)";

/// A mass that is thrown against another one, and back.
constexpr const char* stops = R"(subsystems:
  A: {model: mass-spring-damper, set: {mass: 1, stiffness: 40, x0: -0.1}, solver: &s {name: erk-5, rtol: 1e-11, atol: 1e-13}}
  B: {model: mass-spring-damper, set: {mass: 2, stiffness: 60, damping: 1}, solver: *s}
connections:
  stop: {law: stop, between: [A.mass, B.mass], upper: 0.03, stiffness: 2000}
record: {only: ["*.position", "*.velocity"]}
)";

/// The controller acts through a saturation, without a state between.
constexpr const char* sampled = R"(subsystems:
  demand: {model: source, set: {kind: step, amplitude: 0.1, start: 0.08}}
  controller: {model: pid-sampled, set: {kp: 40, ki: 60}, sample: {time: 40 ms}}
  limit: {model: saturation, set: {lower: -5, upper: 5}}
  A:
    ode: {states: {x: 0, v: 0}, inputs: {F: 0, f: 0}, outputs: {position: x, velocity: v}, equations: {x: v, v: F + f - 40*x - 3*v}}
    ports: {mass: {kind: translation, position: x, velocity: v, force: F}}
    solver: &s {name: erk-5, rtol: 1e-11, atol: 1e-13}
  B: {model: mass-spring-damper, set: {mass: 0.5, stiffness: 10, damping: 0.5}, solver: *s}
connections:
  spring: {law: spring, between: [A.mass, B.mass], stiffness: 50}
signals: [demand.y -> controller.setpoint, A.x -> controller.measurement, controller.y -> limit.u, limit.y -> A.f]
record: {only: ["*.position", "*.velocity"]}
)";

/// The boom of examples/hydraulic-crane on its jack, with the switches of its valve earlier. The chambers are fast lags of the valve's flow.
constexpr const char* crane =
    R"yaml(let: {area: 65 cm2, chamber: 1436.5 cm3, modulus: 1.531393568147014 GPa, curvature: -1.19e-18 Pa-2}
subsystems:
  boom:
    ode:
      parameters: {L: 1, h: 0.5, m: 200, mp: 250, mh: 100, g: 9.81, c: 1e5}
      states: {th1: 0.5235987755982988, th2: 4.71238898038469, w1: 0, w2: 0}
      inputs: {f: 0 N}
      equations: {th1: w1, th2: w2, w1: (M22*b1 - M12*b2)/(M11*M22 - M12^2), w2: (M11*b2 - M12*b1)/(M11*M22 - M12^2)}
      outputs:
        s: {value: L*sqrt(1 - sqrt(3)/2*cos(th1)), unit: m}
        J: sqrt(3)*L^2*sin(th1)/(4*s)
        M11: L^2*(m/3 + mp + mh)
        M12: L*h*mh*cos(th1 - th2)
        M22: h^2*mh
        b1: J*(f - c*J*w1) - L*g*(m/2 + mp + mh)*cos(th1) - L*h*mh*sin(th1 - th2)*w2^2
        b2: L*h*mh*sin(th1 - th2)*w1^2 - h*g*mh*cos(th2)
    ports: {jack: {kind: translation, position: s, force: f}}
    solver: &s {name: erk-5, rtol: 1e-11, atol: 1e-14}
  valve:
    ode:
      parameters: {q: 1.6249886877434308e-05, pp: 7.6e6, pt: 1e5, k0: 0.45434558959805127}
      states: {V1: 0 m3, V2: 0 m3}
      inputs: {p1: 3170846.153846154 Pa, p2: 4529153.846153846 Pa}
      equations: {V1: Q1, V2: Q2}
      outputs:
        kappa: "k0 + if(t < 0.1, 0, if(t < 0.101, -10*(t - 0.1), if(t < 0.3, -0.01, if(t < 0.302, -0.01 + 15*(t - 0.3), 0.02))))"
        Q1: {value: "q*(kappa*sqrt(max(pp - p1, 0)) - (1 - kappa)*sqrt(max(p1 - pt, 0)))", unit: m3/s}
        Q2: {value: "q*((1 - kappa)*sqrt(max(pp - p2, 0)) - kappa*sqrt(max(p2 - pt, 0)))", unit: m3/s}
    ports:
      rod: {kind: hydraulic, volume: V1, flow: Q1, pressure: p1}
      head: {kind: hydraulic, volume: V2, flow: Q2, pressure: p2}
    solver: *s
connections:
  rod: {law: cylinder, between: [boom.jack, valve.rod], side: rod, area: $area, volume: $chamber, pressure: 3170846.153846154 Pa,
    modulus: $modulus, model: quadratic-density, density-curvature: $curvature}
  head: {law: cylinder, between: [boom.jack, valve.head], side: head, area: $area, volume: $chamber, pressure: 4529153.846153846 Pa,
    modulus: $modulus, model: quadratic-density, density-curvature: $curvature}
record: {only: [boom.th1, boom.th2, boom.w1, boom.w2]}
)yaml";

std::vector<test_case> test_cases() {
    return {{"two-mass-1", two_mass(1), 20, 0.4},
            {"two-mass-100", two_mass(100), 20, 0.4},
            {"two-mass-1e4", two_mass(1e4), 20, 0.4},
            {"quarter-car", quarter_car, 2, 0.02},
            {"oscillator-chain", chain(), 2e-3, 8e-5},
            {"oscillator-pair", oscillator_pair, 10, 0.5},
            {"crane", crane, 0.5, 5e-3},
            {"stops", stops, 2, 0.02},
            {"sampled", sampled, 1, 0.04}};
}

/// A user's scenario: its own step is in the middle of those that are tried.
test_case case_of(const std::filesystem::path& file) {
    const scenario s = read_scenario(file);
    return {file.stem() == "scenario" ? std::filesystem::absolute(file).parent_path().filename().string()
                                      : file.stem().string(),
            file.string(), s.time.end - s.time.start, 8 * s.time.step, true};
}

struct variant {
    const char *method, *extrapolation;
    bool controlled;
    std::string name() const {
        return fmt::format("{}{}{}{}", method, *extrapolation == 0 ? "" : " ", extrapolation,
                           controlled ? ", controlled" : "");
    }
};

constexpr std::array variants{variant{"explicit", "", false},
                              variant{"explicit", "quad-2-4", false},
                              variant{"explicit", "poly-3", true},
                              variant{"semi-implicit", "poly-1", false},
                              variant{"semi-implicit", "poly-2", false},
                              variant{"semi-implicit", "poly-3", false},
                              variant{"semi-implicit", "poly-3", true},
                              variant{"one-pass", "", false},
                              variant{"one-pass", "poly-3", true},
                              variant{"iterated", "", false},
                              variant{"iterated", "poly-3", true}};

/// Keeps the last row and the range of every column.
class end_sink final : public result_sink {
   public:
    struct seen {
        std::vector<double> last, low, high;
    };
    explicit end_sink(seen& into) : into_(into) {}
    void write(std::span<const double> values, std::size_t length) override {
        for (std::size_t at = 0; at < values.size(); at += length) {
            const auto row = values.subspan(at, length);
            if (into_.last.empty()) into_.low = into_.high = into_.last = {row.begin(), row.end()};
            for (std::size_t k = 0; k < length; ++k) {
                into_.last[k] = row[k];
                into_.low[k] = std::min(into_.low[k], row[k]);
                into_.high[k] = std::max(into_.high[k], row[k]);
            }
        }
    }
    void flush() override {}

   private:
    seen& into_;
};

scenario scenario_of(const test_case& which, const variant& tried, double step, double rtol) {
    std::vector<scenario_override> changes{{"method", tried.method, "bench"}};
    if (*tried.extrapolation != 0) changes.push_back({"extrapolation", tried.extrapolation, "bench"});
    if (tried.controlled) {
        changes.push_back({"step-control.rtol", fmt::format("{}", rtol), "bench"});
        changes.push_back({"step-control.atol", fmt::format("{}", rtol), "bench"});
        changes.push_back({"step-control.atol-rate", fmt::format("{}", rtol * 10 / which.end), "bench"});
    }
    if (which.is_file) {
        changes.push_back({"time.step", fmt::format("{} s", step), "bench"});
        return read_scenario(which.text, changes);
    }
    return read_scenario_text(fmt::format("time: {{end: {}, step: {}}}\n{}", which.end, step, which.text), which.name,
                              {}, changes);
}

/// Runs it to its end; what is recorded at start and end goes to `seen`.
void run_recorded(simulation& all, end_sink::seen& seen, std::optional<double> every) {
    recorder rows(all.parts().columns, std::make_unique<end_sink>(seen));
    const time_spec& time = all.resolved().time;
    row_recorder recorded(rows, time_grid(time.start, time.end, time.step), every);
    all.add(recorded);
    all.initialise();
    all.advance_to(all.end());
    rows.finish();
}

end_sink::seen reference_of(const test_case& which) {
    simulation whole(scenario_of(which, {"explicit", "", false}, which.end / 1000, 0),
                     {.workers = 1, .monolithic = true});
    end_sink::seen seen;
    run_recorded(whole, seen, {});
    return seen;
}

/// Nothing where the run fails or leaves the range of the reference.
std::optional<method_result> run_once(const test_case& which, const variant& tried, double step, double rtol,
                                      const end_sink::seen& reference) {
    const scenario s = scenario_of(which, tried, step, rtol);
    std::optional<simulation> made;
    try {
        made.emplace(s, simulation_options{.workers = 1, .watch = false, .writable = false});
    } catch (const user_error&) {  // the method cannot do it
        return {};
    }
    simulation& all = *made;
    end_sink::seen seen;
    const auto begin = std::chrono::steady_clock::now();
    try {
        run_recorded(all, seen, s.time.end);
    } catch (const std::runtime_error&) {
        return {};
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    double sum = 0;
    for (std::size_t k = 1; k < reference.last.size(); ++k) {
        const double range = reference.high[k] - reference.low[k];
        if (!(range > 0)) continue;
        sum += std::pow((seen.last[k] - reference.last[k]) / range, 2);
    }
    const double error = std::sqrt(sum / static_cast<double>(reference.last.size() - 1));
    if (!(error < 1)) return {};
    return method_result{.system = which.name,
                         .variant = tried.name(),
                         .step = tried.controlled ? 0 : step,
                         .rtol = tried.controlled ? rtol : 0,
                         .macro_steps = all.steps(),
                         .integrations = all.parts().system.integrations,
                         .seconds = seconds,
                         .error = error};
}

/// Of constant steps with so many integrations, between measured ones along a power; nothing outside of them.
std::optional<double> error_between(const std::vector<method_result>& results, const std::string& name, double work) {
    const method_result *below = nullptr, *above = nullptr;
    for (const auto& r : results) {
        if (r.variant != name) continue;
        const auto its = static_cast<double>(r.integrations);
        if (its <= work && (below == nullptr || r.integrations > below->integrations)) below = &r;
        if (its >= work && (above == nullptr || r.integrations < above->integrations)) above = &r;
    }
    if (below == nullptr || above == nullptr) return {};
    if (below->integrations == above->integrations) return std::min(below->error, above->error);
    const double from = std::log(static_cast<double>(below->integrations));
    const double part = (std::log(work) - from) / (std::log(static_cast<double>(above->integrations)) - from);
    return std::exp((1 - part) * std::log(below->error) + part * std::log(above->error));
}

/// Of one system.
void compare_with_constant_steps(std::vector<method_result>& results) {
    for (const variant& tried : variants) {
        if (!tried.controlled) continue;
        for (auto& r : results) {
            if (r.variant != tried.name()) continue;
            std::optional<double> best;
            for (const variant& other : variants) {
                if (other.controlled || std::string_view(other.method) != tried.method) continue;
                const auto error = error_between(results, other.name(), static_cast<double>(r.integrations));
                if (error && (!best || *error < *best)) best = error;
            }
            if (best) r.over_constant = r.error / *best;
        }
    }
}

}  // namespace

std::vector<std::string> bench_systems() {
    std::vector<std::string> names;
    for (const auto& which : test_cases()) names.push_back(which.name);
    return names;
}

std::vector<method_result> bench_methods(const std::vector<std::string>& systems, const std::string& file,
                                         const std::function<void(const std::string&)>& told) {
    constexpr int sizes = 8;
    std::vector<method_result> results;
    for (const auto& which : file.empty() ? test_cases() : std::vector{case_of(file)}) {
        if (!systems.empty() && std::ranges::find(systems, which.name) == systems.end()) continue;
        const auto reference = reference_of(which);
        std::vector<method_result> of_system;
        for (const auto& tried : variants) {
            told(fmt::format("{}: {}", which.name, tried.name()));
            for (int k = 0; k < sizes; ++k) {
                const double step = tried.controlled ? which.largest_step / 64 : which.largest_step / std::pow(2, k);
                if (const auto one = run_once(which, tried, step, 1e-2 * std::pow(10, -0.75 * k), reference))
                    of_system.push_back(*one);
            }
        }
        compare_with_constant_steps(of_system);
        results.insert(results.end(), of_system.begin(), of_system.end());
    }
    return results;
}

std::string to_table(const std::vector<method_result>& results) {
    std::string out;
    const std::string* system = nullptr;
    for (const auto& r : results) {
        if (system == nullptr || *system != r.system) {
            out += fmt::format("{}{}\n  {:<34} {:>12} {:>12} {:>12} {:>12} {:>10} {:>13}\n",
                               system == nullptr ? "" : "\n", r.system, "method", "step [s]", "macro steps",
                               "integrations", "time [ms]", "error", "over constant");
            system = &r.system;
        }
        out += fmt::format("  {:<34} {:>12} {:>12} {:>12} {:>12.3f} {:>10.2e}{}\n", r.variant,
                           r.step > 0 ? fmt::format("{:.4g}", r.step) : fmt::format("rtol {:.1e}", r.rtol),
                           r.macro_steps, r.integrations, 1e3 * r.seconds, r.error,
                           r.over_constant > 0 ? fmt::format(" {:>13.2f}", r.over_constant) : "");
    }
    return out;
}

std::string to_json(const std::vector<method_result>& results) {
    auto all = json::array();
    for (const auto& r : results)
        all.push_back({{"system", r.system},
                       {"method", r.variant},
                       {"step", r.step},
                       {"rtol", r.rtol},
                       {"macro_steps", r.macro_steps},
                       {"integrations", r.integrations},
                       {"seconds", r.seconds},
                       {"error", r.error},
                       {"over_constant", r.over_constant > 0 ? json(r.over_constant) : json()}});
    return all.dump(2) + "\n";
}

void write_work_precision(const std::string& file, const std::vector<method_result>& results) {
    plot picture{.title = "Work and precision", .panels = {}, .columns = 2};
    std::vector<std::string> systems;
    for (const auto& r : results)
        if (systems.empty() || systems.back() != r.system) systems.push_back(r.system);
    for (const auto& name : systems)
        for (const bool time : {false, true}) {
            plot_panel panel{.title = name,
                             .x = {.label = time ? "wall time [ms]" : "integrations of all subsystems",
                                   .logarithmic = true,
                                   .low = {},
                                   .high = {}},
                             .y = {.label = "relative error at the end", .logarithmic = true, .low = 1e-9, .high = 1},
                             .curves = {},
                             .references = {}};
            int colours[2]{};
            for (const auto& tried : variants) {
                plot_curve curve{.name = tried.name(),
                                 .x = {},
                                 .y = {},
                                 .stroke = tried.controlled ? plot_stroke::dashed : plot_stroke::solid,
                                 .marker = tried.controlled ? plot_marker::square : plot_marker::circle,
                                 .colour = colours[tried.controlled]++};
                for (const auto& r : results) {
                    if (r.system != name || r.variant != tried.name()) continue;
                    curve.x.push_back(time ? 1e3 * r.seconds : static_cast<double>(r.integrations));
                    curve.y.push_back(r.error);
                }
                panel.curves.push_back(std::move(curve));
            }
            picture.panels.push_back(std::move(panel));
        }
    write_svg(file, picture);
}

}  // namespace mdpcosim
