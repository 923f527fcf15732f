#include "benchmark/extrapolations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "benchmark/dice.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "results/compare.hpp"
#include "scenario/read.hpp"
#include "simulation/simulation.hpp"
#include "simulation/verify.hpp"

namespace mdpcosim {

namespace {

constexpr std::size_t error_count = wanted_errors.size();

constexpr double reference_rows = 2000;

constexpr const char* candidates[] = {"",          "poly-1",     "poly-2",      "poly-3",        "poly-4",
                                      "hermite-1", "hermite-2",  "hermite-3",   "const-2-3-opt", "const-3-3-b0",
                                      "lin-2-4",   "lin-3-3-b0", "lin-2-3-opt", "lin-2-2-opt",   "lin-4-4-b0",
                                      "quad-2-4"};

struct coupled_text {
    std::string subsystems, connections, signals;
    double omega = 0;  ///< of the fastest coupled motion
};

constexpr const char* precise = "solver: {name: erk-5, rtol: 1e-10, atol: 1e-13}";

/// Bodies on springs against the ground, each joined to the next; F is the stiffness of the coupling over that of the body.
struct bodies {
    std::vector<double> m, c, d, k, x, v;
    double omega = 0;

    explicit bodies(dice& roll) {
        const int n = roll.pick({2, 2, 3});
        const double F = roll.power(-1, 2.5);
        for (int i = 0; i < n; ++i) {
            m.push_back(roll.power(-0.5, 0.5));
            c.push_back(roll.power(1, 2));
            d.push_back(0.02 * std::sqrt(m.back() * c.back()));
            k.push_back(i + 1 < n ? F * c.back() : 0);
            x.push_back(roll.uniform(-0.1, 0.1));
            v.push_back(roll.uniform(-1, 1));
        }
        for (std::size_t i = 0; i < m.size(); ++i)
            omega = std::max(omega, std::sqrt((c[i] + 2 * k[i] + (i > 0 ? 2 * k[i - 1] : 0)) / m[i]));
    }
};

coupled_text couple_masses(dice& roll, double stiff, double damped, const std::string& fmu = {}) {
    coupled_text made;
    const bodies b(roll);
    const double zeta = damped * roll.pick({0.05, 0.2, 0.5});
    for (std::size_t i = 0; i < b.m.size(); ++i) {
        if (fmu.empty())
            made.subsystems += fmt::format(
                "  s{}: {{model: mass-spring-damper, {}, set: {{mass: {}, stiffness: {}, damping: {}, x0: {}, v0: "
                "{}}}}}\n",
                i, precise, b.m[i], b.c[i], b.d[i], b.x[i], b.v[i]);
        else
            made.subsystems += fmt::format(
                "  s{}: {{fmu: {}, set: {{m: {}, c: {}, d: {}, x0: {}, v0: {}}}, ports: {{mass: {{kind: translation, "
                "position: position, velocity: velocity, force: force}}}}}}\n",
                i, fmu, b.m[i], b.c[i], b.d[i], b.x[i], b.v[i]);
        if (i > 0)
            made.connections += fmt::format(
                "  c{}: {{between: [s{}.mass, s{}.mass], {}, stiffness: {}{}}}\n", i, i - 1, i,
                damped > 0 ? "law: spring-damper" : "law: spring", stiff * b.k[i - 1],
                damped > 0
                    ? fmt::format(", damping: {}", 2 * zeta * std::sqrt(b.k[i - 1] * std::min(b.m[i], b.m[i - 1])))
                    : "");
    }
    made.omega = b.omega;
    return made;
}

coupled_text couple_by_gears(dice& roll) {
    coupled_text made;
    const bodies b(roll);
    const double ratio = roll.pick({-1, 1}) * roll.power(-0.3, 0.3);
    for (std::size_t i = 0; i < b.m.size(); ++i) {
        made.subsystems += fmt::format(
            "  s{}: {{ode: {{states: {{phi: {}, w: {}}}, inputs: {{T: 0}}, equations: {{phi: w, w: (T - {}*phi - "
            "{}*w)/{}}}}}, {}, ports: {{shaft: {{kind: rotation, angle: phi, speed: w, torque: T}}}}}}\n",
            i, b.x[i], b.v[i], b.c[i], b.d[i], b.m[i], precise);
        if (i > 0)
            made.connections += fmt::format(
                "  c{}: {{between: [s{}.shaft, s{}.shaft], law: gear, ratio: {}, stiffness: {}, damping: {}}}\n", i,
                i - 1, i, ratio, b.k[i - 1], 0.2 * std::sqrt(b.k[i - 1] * std::min(b.m[i], b.m[i - 1])));
    }
    made.omega = b.omega * std::max(1.0, std::abs(ratio));
    return made;
}

/// Branches with inductances meet at a capacitor.
coupled_text couple_at_a_node(dice& roll) {
    coupled_text made;
    const int n = roll.pick({2, 3});
    const double C = roll.power(-5, -4);
    double inverse = 0;
    std::string ends;
    for (int i = 0; i < n; ++i) {
        const double L = roll.power(-3, -2);
        inverse += 1 / L;
        made.subsystems += fmt::format(
            "  s{0}: {{ode: {{states: {{i: 0}}, inputs: {{u: 0}}, equations: {{i: ({1} - u - {2}*i)/{3}}}}}, {4}, "
            "ports: {{pin: {{kind: electric, causality: takes-motion, current: i, potential: u}}}}}}\n",
            i, i == 0 ? "10" : "0", roll.power(-0.5, 0.7), L, precise);
        ends += fmt::format("{}s{}.pin", i > 0 ? ", " : "", i);
    }
    made.connections = fmt::format("  c1: {{between: [{}], law: capacitance, capacitance: {}}}\n", ends, C);
    made.omega = std::sqrt(inverse / C);
    return made;
}

/// Bodies with a heat capacity, one of them heated.
coupled_text couple_by_heat(dice& roll) {
    coupled_text made;
    const int n = roll.pick({2, 3});
    std::vector<double> C, G;
    for (int i = 0; i < n; ++i) {
        C.push_back(roll.power(1, 3));
        G.push_back(roll.power(0, 2));
        made.subsystems += fmt::format(
            "  s{0}: {{ode: {{states: {{T: {1}}}, inputs: {{Q: 0}}, equations: {{T: (Q + {2})/{3}}}}}, {4}, ports: "
            "{{wall: {{kind: thermal, temperature: T, heat-flow: Q}}}}}}\n",
            i, roll.uniform(280, 400), i == 0 ? fmt::format("{0}*sin({1}*t)", 10 * G[0], G[0] / C[0]) : "0", C.back(),
            precise);
        if (i > 0)
            made.connections +=
                fmt::format("  c{}: {{between: [s{}.wall, s{}.wall], law: conductor, conductance: {}}}\n", i, i - 1, i,
                            G[static_cast<std::size_t>(i) - 1]);
    }
    for (std::size_t i = 0; i < C.size(); ++i)
        made.omega = std::max(made.omega, ((i + 1 < C.size() ? G[i] : 0) + (i > 0 ? G[i - 1] : 0)) / C[i]);
    return made;
}

/// The right neighbour has the spring and tells its force.
coupled_text couple_by_signals(dice& roll) {
    coupled_text made;
    const bodies b(roll);
    for (std::size_t i = 0; i < b.m.size(); ++i) {
        const std::string left = i > 0 ? fmt::format("{}*(x - xl)", b.k[i - 1]) : "0";
        made.subsystems += fmt::format(
            "  s{}: {{ode: {{states: {{x: {}, v: {}}}, inputs: {{{}fr: 0}}, outputs: {{fl: {}}}, equations: {{x: v, v: "
            "(fr - {}*x - {}*v - {})/{}}}}}, {}}}\n",
            i, b.x[i], b.v[i], i > 0 ? "xl: 0, " : "", left, b.c[i], b.d[i], left, b.m[i], precise);
        if (i > 0) made.signals += fmt::format("  - s{0}.x -> s{1}.xl\n  - s{1}.fl -> s{0}.fr\n", i - 1, i);
    }
    made.omega = b.omega;
    return made;
}

/// Neighbours tell each other their positions, whose rates are known, and each has the force of the spring between them; a known motion drives
/// the first one.
coupled_text couple_by_positions(dice& roll) {
    coupled_text made;
    const bodies b(roll);
    for (std::size_t i = 0; i < b.m.size(); ++i) {
        const bool first = i == 0, last = i + 1 == b.m.size();
        const double to_left = first ? b.c[0] : b.k[i - 1], to_right = last ? 0 : b.k[i];
        made.subsystems += fmt::format(
            "  s{}: {{ode: {{states: {{x: {}, v: {}}}, inputs: {{xl: 0, xr: 0}}, equations: {{x: v, v: ({}*(xl - x) + "
            "{}*(xr - x) - {}*x - {}*v)/{}}}}}, {}}}\n",
            i, b.x[i], b.v[i], to_left, to_right, first ? 0 : b.c[i], b.d[i], b.m[i], precise);
        if (!first) made.signals += fmt::format("  - s{0}.x -> s{1}.xl\n  - s{1}.x -> s{0}.xr\n", i - 1, i);
    }
    made.subsystems += fmt::format("  ground: {{model: source, set: {{kind: sine, amplitude: 0.1, frequency: {}}}}}\n",
                                   roll.power(-1, 0) * std::sqrt(b.c[0] / b.m[0]) / 6.3);
    made.signals += "  - ground.y -> s0.xl\n";
    made.omega = b.omega;
    return made;
}

coupled_text make_system(const std::string& kind, dice& roll, const std::filesystem::path& fmus) {
    if (kind == "springs") return couple_masses(roll, 1, 0);
    if (kind == "spring-dampers") return couple_masses(roll, 1, 1);
    if (kind == "dampers") return couple_masses(roll, 1e-9, 1);
    if (kind == "gears") return couple_by_gears(roll);
    if (kind == "nodes") return couple_at_a_node(roll);
    if (kind == "heat") return couple_by_heat(roll);
    if (kind == "signals") return couple_by_signals(roll);
    if (kind == "signals with rates") return couple_by_positions(roll);
    return couple_masses(roll, 1, kind == "springs of FMUs" ? 0 : 1, (fmus / "plain-oscillator-2.fmu").string());
}

std::string text_of(const coupled_text& c, const extrapolation_request& request, const std::string& candidate, double H,
                    double end) {
    std::string text =
        fmt::format("time: {{end: {} s, step: {} s}}\nmethod: {}\nmonitor: {{divergence: note}}\nsubsystems:\n{}", end,
                    H, request.method, c.subsystems);
    if (!c.connections.empty()) text += "connections:\n" + c.connections;
    if (!c.signals.empty()) {
        std::string signals = c.signals;
        if (!candidate.empty()) {
            // The general choice is for connections: signals have their own.
            signals.clear();
            for (std::size_t at = 0, end_of = 0; (end_of = c.signals.find('\n', at)) != std::string::npos;
                 at = end_of + 1) {
                const std::string line = c.signals.substr(at + 4, end_of - at - 4);
                signals += fmt::format("  - {{connect: {}, extrapolation: {}}}\n", line, candidate);
            }
        }
        text += "signals:\n" + signals;
    } else if (!candidate.empty()) {
        text += fmt::format("extrapolation: {}\n", candidate);
    }
    return text;
}

double largest_error(const kept_run& run, const result_table& reference) {
    if (!run.done) return HUGE_VAL;
    const std::set<std::string> counts(run.coupled.begin(), run.coupled.end());
    double worst = 0;
    for (const auto& e : compare_tables(run.table, reference).errors)
        if (counts.contains(e.name)) worst = std::max(worst, e.relative);
    return worst;
}

/// What a run has grown to over its last quarter against its first.
bool is_stable(const kept_run& run) {
    constexpr double most_growth = 5;
    if (!run.done) return false;
    const result_table& t = run.table;
    for (std::size_t c = 0; c < t.columns(); ++c) {
        if (std::ranges::find(run.coupled, t.names[c]) == run.coupled.end()) continue;
        double begin = 0, end = 0;
        for (std::size_t r = 0; r < t.rows(); ++r) {
            double& part = r < t.rows() / 4 ? begin : end;
            if (!std::isfinite(t.value(r, c))) return false;
            if (r < t.rows() / 4 || r >= 3 * t.rows() / 4) part = std::max(part, std::abs(t.value(r, c)));
        }
        if (end > most_growth * begin) return false;
    }
    return true;
}

struct tried {
    bool usable = true;
    std::array<double, error_count> step{};
    double limit = 0;
};

/// The candidate as it is named in the resolved scenario: a general choice gives way where it cannot be used, which is no measurement of it.
bool is_usable(const coupled_text& c, const extrapolation_request& request, const std::string& candidate) {
    if (candidate.empty()) return true;
    try {
        const scenario s = read_scenario_text(text_of(c, request, candidate, 0.1 / c.omega, 1 / c.omega), "system");
        simulation all(s, {.workers = 1, .writable = false});
        for (const auto& channel : all.parts().channels)
            if (!channel.internal && channel.extrapolation != candidate) return false;
        return true;
    } catch (const user_error&) {
        return false;
    }
}

tried try_candidate(const coupled_text& c, const extrapolation_request& request, const std::string& candidate,
                    const result_table& reference, double end) {
    tried out;
    out.usable = is_usable(c, request, candidate);
    if (!out.usable) return out;
    const auto run = [&](double omega_H, double until) {
        return run_in_memory(read_scenario_text(text_of(c, request, candidate, omega_H / c.omega, until), "system"));
    };
    // The largest omega H below `high` that `fits`, to 3 %; smaller ones are taken to fit, too.
    const auto largest = [](double high, const auto& fits) {
        double low = 0.004;
        if (fits(high)) return high;
        while (high / low > 1.03) {
            const double middle = std::sqrt(low * high);
            (fits(middle) ? low : high) = middle;
        }
        return low;
    };
    constexpr double steps = 400;
    out.limit = largest(4, [&](double x) { return is_stable(run(x, steps * x / c.omega)); });
    double below = out.limit;
    for (std::size_t k = 0; k < error_count; ++k)
        below = out.step[k] =
            largest(below, [&](double x) { return largest_error(run(x, end), reference) <= wanted_errors[k]; });
    return out;
}

}  // namespace

std::vector<extrapolation_result> bench_extrapolations(const extrapolation_request& request,
                                                       const std::function<void(const std::string&)>& told) {
    std::vector<std::string> kinds{"springs", "spring-dampers", "dampers", "gears",
                                   "nodes",   "heat",           "signals", "signals with rates"};
    if (!request.fmus.empty()) kinds.insert(kinds.end(), {"springs of FMUs", "spring-dampers of FMUs"});
    std::vector<extrapolation_result> results;
    for (const std::string& kind : kinds) {
        told(fmt::format("{} {}", request.each, kind));
        unsigned mixed = request.seed;
        for (const char letter : kind) mixed = mixed * 31 + static_cast<unsigned char>(letter);
        dice roll(mixed);
        std::map<std::string, std::vector<tried>> all;
        for (int i = 0; i < request.each; ++i) {
            dice same = roll;
            const coupled_text c = make_system(kind, roll, request.fmus);
            const double end = 24 / c.omega;
            // FMUs have no equations to integrate as one: the same bodies do.
            const coupled_text equations =
                kind.ends_with("FMUs") ? couple_masses(same, 1, kind == "springs of FMUs" ? 0 : 1) : c;
            const scenario whole =
                read_scenario_text(text_of(equations, request, "", end / reference_rows, end) +
                                       "reference: {solver: {name: erk-6, rtol: 1e-12, atol: 1e-14}}\n",
                                   "system");
            const kept_run reference = run_in_memory(whole, true);
            for (const char* candidate : candidates)
                all[candidate].push_back(try_candidate(c, request, candidate, reference.table, end));
        }
        for (const char* candidate : candidates) {
            extrapolation_result r;
            r.kind = kind;
            r.candidate = candidate;
            r.is_default = *candidate == 0;
            for (const tried& t : all[candidate]) {
                if (!t.usable) continue;
                ++r.systems;
                r.limit += std::log(t.limit);
                for (std::size_t k = 0; k < error_count; ++k) r.step[k] += std::log(t.step[k]);
            }
            if (r.systems == 0) continue;
            for (double* sum : {&r.limit, &r.step[0], &r.step[1], &r.step[2]}) *sum = std::exp(*sum / r.systems);
            results.push_back(std::move(r));
        }
    }
    return results;
}

std::string to_table(const std::vector<extrapolation_result>& results) {
    std::string out, kind;
    for (const auto& r : results) {
        if (r.kind != kind) {
            out += fmt::format("{}{}\n  {:<16} {:>8}", kind.empty() ? "" : "\n", r.kind, "largest omega H", "systems");
            for (const double error : wanted_errors) out += fmt::format(" {:>10}", fmt::format("{:g} %", 100 * error));
            out += fmt::format(" {:>10}\n", "limit");
            kind = r.kind;
        }
        out += fmt::format("  {:<16} {:>8}", r.is_default ? "default" : r.candidate, r.systems);
        for (const double step : r.step) out += fmt::format(" {:>10.3g}", step);
        out += fmt::format(" {:>10.3g}\n", r.limit);
    }
    return out;
}

std::string to_json(const std::vector<extrapolation_result>& results) {
    json list = json::array();
    for (const auto& r : results)
        list.push_back({{"kind", r.kind},
                        {"extrapolation", r.is_default ? "default" : r.candidate},
                        {"systems", r.systems},
                        {"omega_h_for_error", r.step},
                        {"limit", r.limit}});
    return list.dump(2) + "\n";
}

}  // namespace mdpcosim
