// Which extrapolation the method semi-implicit takes unless told: error at equal numbers of integrations, over systems of several kinds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "api/mdpcosim.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using test::temporary_folder;

constexpr const char* solver = "solver: {name: erk-8, rtol: 1e-11, atol: 1e-13}";

struct measured_system {
    std::string name, kind;
    double end;
    int steps;  ///< of the explicit method
    std::string text;
};

std::string mass(const std::string& name, const std::string& set) {
    return fmt::format("  {}: {{model: mass-spring-damper, {}, set: {{{}}}}}\n", name, solver, set);
}
std::string pair(double c, double d, double own = 100, double damping = 0.2) {
    return "subsystems:\n" +
           mass("a", fmt::format("mass: 1, stiffness: {}, damping: {}, x0: 0.1, v0: 0.3", own, damping)) +
           mass("b", fmt::format("mass: 2, stiffness: {}, damping: {}", own / 2, damping)) + "connections:\n" +
           (d == 0 ? fmt::format("  k: {{law: spring, between: [a.mass, b.mass], stiffness: {}}}\n", c)
                   : fmt::format("  k: {{law: spring-damper, between: [a.mass, b.mass], stiffness: {}, damping: {}}}\n",
                                 c, d));
}

const std::vector<measured_system>& systems() {
    static const std::vector<measured_system> all{
        {"soft spring", "rates", 2, 400, pair(20, 0)},
        {"spring", "rates", 2, 400, pair(200, 0)},
        {"undamped spring", "rates", 2, 400, pair(200, 0, 100, 0)},
        {"stiff spring", "rates", 1, 400, pair(5e3, 0)},
        {"very stiff spring", "rates", 0.3, 400, pair(1e5, 0)},
        {"chain of springs", "rates", 1, 400,
         "subsystems:\n" + mass("a", "mass: 1, stiffness: 100, x0: 0.1") + mass("b", "mass: 0.5, damping: 0.1") +
             mass("c", "mass: 2, stiffness: 50") +
             "connections:\n  k: {law: spring, between: [a.mass, b.mass], stiffness: 300}\n  l: {law: spring, between: "
             "[b.mass, c.mass], stiffness: 800}\n"},
        {"gear", "rates", 1, 400,
         fmt::format(
             "subsystems:\n  a: {{model: inertia, {0}, set: {{inertia: 0.1, w0: 20}}}}\n  b: {{model: inertia, {0}, "
             "set: "
             "{{inertia: 1, damping: 0.5}}}}\nconnections:\n  k: {{law: gear, between: [a.shaft, b.shaft], ratio: "
             "3, stiffness: 60}}\n",
             solver)},
        {"soft spring, damped", "no rates", 2, 400, pair(20, 0.5)},
        {"spring-damper", "no rates", 2, 400, pair(200, 4)},
        {"stiff spring-damper", "no rates", 1, 400, pair(5e3, 20)},
        {"damper", "no rates", 2, 400, pair(1, 8)},
        {"quarter car", "no rates", 2, 400,
         "subsystems:\n" + mass("a", "mass: 40, stiffness: 2e5") + mass("b", "mass: 400, x0: 0.02") +
             "connections:\n  k: {law: spring-damper, between: [a.mass, b.mass], stiffness: 2e4, damping: 1500}\n"},
        {"gear with a damper", "no rates", 1, 400,
         fmt::format(
             "subsystems:\n  a: {{model: inertia, {0}, set: {{inertia: 0.1, w0: 20}}}}\n  b: {{model: inertia, {0}, "
             "set: "
             "{{inertia: 1, damping: 0.5}}}}\nconnections:\n  k: {{law: gear, between: [a.shaft, b.shaft], ratio: "
             "3, stiffness: 60, damping: 0.2}}\n",
             solver)},
        {"cubic spring-damper", "no rates", 2, 400,
         "subsystems:\n" + mass("a", "mass: 1, stiffness: 100, x0: 0.1, v0: 0.3") +
             mass("b", "mass: 2, stiffness: 50") +
             "connections:\n  k: {law: cubic-spring-damper, between: [a.mass, b.mass], stiffness: 100, "
             "cubic-stiffness: "
             "4e3, damping: 2}\n"},
        {"conductor", "no rates", 300, 300,
         fmt::format(
             "subsystems:\n  a: {{model: thermal-mass, {0}, set: {{heat-capacity: 500 J/K, temperature0: 400 K}}}}\n  "
             "b: "
             "{{model: thermal-mass, {0}, set: {{heat-capacity: 300 J/K, temperature0: 300 K}}}}\nconnections:\n  k: "
             "{{law: conductor, between: [a.body, b.body], conductance: 5 W/K}}\n",
             solver)},
        {"hydraulic node", "no rates", 0.02, 1000,
         fmt::format(
             "subsystems:\n  pump: {{model: source, set: {{kind: sine, offset: 20e5, amplitude: 10e5, frequency: "
             "100}}}}\n"
             "  a: {{model: hydraulic-line, {0}, set: {{length: 1 m, area: 1 cm2, linear-loss: 2e9 Pa.s/m3}}}}\n"
             "  b: {{model: hydraulic-line, {0}, set: {{length: 2 m, area: 2 cm2, linear-loss: 2e9 Pa.s/m3}}}}\n"
             "connections:\n  k: {{law: node, between: [a.right, b.left], volume: 200 cm3, pressure: 1 bar, modulus: "
             "821 "
             "N/mm2}}\nsignals:\n  - pump.y -> a.left.pressure\n  - 1 bar -> b.right.pressure\n",
             "solver: {name: erk-8, rtol: 1e-11, atol: 1e-16}")},
        {"spring and signals", "rates", 2, 400,
         pair(200, 0) + fmt::format("signals:\n  - 5 N.s/m*a.mass.velocity -> b.mass.force\n")},
    };
    return all;
}

/// The largest error of any output over its range, at the recorded times.
class measurement {
   public:
    explicit measurement(const measured_system& s) : system_(s) { run_with("explicit", "", s.steps, true); }

    double error(const std::string& method, const std::string& rule, int steps) {
        if (!run_with(method, rule, steps, false)) return 1e3;
        double largest = 1e-16;
        for (const auto& e : compare_results(folder_ / "run", folder_ / "reference").errors)
            if (!e.name.ends_with(".u") && !e.name.ends_with("acceleration") && !e.name.starts_with("pump"))
                largest = std::max(largest, std::min(1e3, e.relative));
        return largest;
    }

   private:
    bool run_with(const std::string& method, const std::string& rule, int steps, bool monolithic) {
        const measured_system& s = system_;
        const scenario made = read_scenario_text(
            fmt::format("time: {{end: {} s, step: {} s}}\nrecord: {{every: {} s}}\nmethod: {}\n{}{}", s.end,
                        s.end / steps, s.end / 25, method, rule.empty() ? "" : "extrapolation: " + rule + "\n", s.text),
            "s.yaml");
        try {
            run(made, {.out = folder_ / (monolithic ? "reference" : "run"), .workers = 1, .monolithic = monolithic});
        } catch (const run_error&) {
            return false;
        }
        return true;
    }

    const measured_system& system_;
    temporary_folder folder_;
};

/// Errors as multiples of those of the explicit method with its defaults and half the step: as many integrations.
TEST(semi_implicit_defaults, are_the_most_accurate_for_their_cost) {
    for (const auto& [kind, rules] :
         {std::pair{"rates",
                    std::vector<std::string>{"", "poly-2", "poly-3", "poly-4", "lin-2-3-opt", "hermite-2", "quad-2-4"}},
          {"no rates", {"", "poly-2", "poly-3", "poly-4", "lin-3-3-b0"}}}) {
        std::map<std::string, double> mean;
        int count = 0;
        for (const measured_system& s : systems()) {
            if (s.kind != kind) continue;
            ++count;
            measurement of(s);
            const double there = of.error("explicit", "", s.steps);
            std::string line = fmt::format("{} | explicit {:.2g}", s.name, there);
            for (const std::string& rule : rules) {
                const double here = of.error("semi-implicit", rule, s.steps / 2);
                line += fmt::format(" | {} {:.2g}", rule.empty() ? "default" : rule, here);
                mean[rule] += std::log(here / there);
            }
            fmt::print("{}\n", line);
        }
        for (auto& [rule, sum] : mean) {
            sum = std::exp(sum / count);
            fmt::print("{} | {} | {:.3g}\n", kind, rule.empty() ? "default" : rule, sum);
        }
        for (const auto& [rule, value] : mean) EXPECT_LT(mean[""], 1.01 * value) << kind << ' ' << rule;
        EXPECT_LT(mean[""], std::string(kind) == "rates" ? 1 : 2.5);
    }
}

}  // namespace
}  // namespace mdpcosim
