#include "benchmark/advise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/advice.hpp"
#include "benchmark/dice.hpp"
#include "benchmark/trust_systems.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "scenario/read.hpp"

namespace mdpcosim {

namespace {

constexpr double run_steps = 1500;   // of the predicted limit: long enough to see what grows by a part in a thousand
constexpr double run_turns = 4000;   // of 1/(fastest motion), where there is no limit
constexpr double first_step = 0.25;  // of the predicted limit: where runs begin to go up
constexpr double any_error = 1e9;
constexpr double most_seconds_of_runs = 60;

/// Each mass has one more inside it, on a spring that is up to ten times as stiff as its own.
std::string make_inner_modes(dice& roll, std::string& about) {
    const int n = roll.pick({2, 3, 5, 8});
    std::string text = "subsystems:\n", connections = "connections:\n";
    for (int i = 0; i < n; ++i) {
        const double m = roll.power(-0.5, 1), inside = m * roll.power(-1.5, 0), c = roll.power(1, 3),
                     k = c * roll.power(0, 1);
        const double zeta = roll.pick({0.0, 0.01, 0.1});
        text += fmt::format(
            "  s{}: {{ode: {{states: {{x: {}, v: 0, xi: 0, vi: 0}}, inputs: {{F: 0}}, equations: {{x: v, v: (F - {}*x "
            "- {}*v - {}*(x - xi) - {}*(v - vi))/{}, xi: vi, "
            "vi: ({}*(x - xi) + {}*(v - vi))/{}}}}}, ports: {{mass: {{kind: translation, position: x, velocity: v, "
            "force: F}}}}}}\n",
            i, roll.uniform(-0.1, 0.1), c, 2 * zeta * std::sqrt(c * m), k, 2 * zeta * std::sqrt(k * inside), m, k,
            2 * zeta * std::sqrt(k * inside), inside);
        if (i > 0)
            connections += fmt::format("  c{}: {{law: spring, between: [s{}.mass, s{}.mass], stiffness: {}}}\n", i,
                                       i - 1, i, roll.power(1, 4));
    }
    about = fmt::format("{} masses with inner ones", n);
    return text + connections;
}

std::string make_heat(dice& roll, std::string& about) {
    const int n = roll.pick({2, 3, 5, 10});
    std::string text = "subsystems:\n", connections = "connections:\n";
    for (int i = 0; i < n; ++i) {
        text += fmt::format("  s{}: {{model: thermal-mass, set: {{heat-capacity: {} J/K, temperature0: {} K}}}}\n", i,
                            roll.power(1, 3), roll.uniform(280, 400));
        if (i > 0)
            connections +=
                fmt::format("  c{}: {{law: conductor, between: [s{}.body, s{}.body], conductance: {} W/K}}\n", i, i - 1,
                            i, roll.power(0, 2));
    }
    about = fmt::format("{} bodies that conduct heat", n);
    return text + connections;
}

/// Plants of one to three lags, each with a PI controller whose proportional part feeds through.
std::string make_controllers(dice& roll, std::string& about) {
    const int n = roll.pick({1, 2, 4});
    std::string text = "subsystems:\n", signals = "signals:\n";
    for (int i = 0; i < n; ++i) {
        const int lags = roll.pick({1, 2, 3});
        const double T = roll.power(-2, 0);
        std::string states, equations;
        for (int k = 0; k < lags; ++k) {
            states += fmt::format("{}x{}: {}", k > 0 ? ", " : "", k, k == 0 ? 1.0 : 0.5);
            equations += fmt::format("{}x{}: ({} - x{})/{}", k > 0 ? ", " : "", k,
                                     k == 0 ? "u" : fmt::format("x{}", k - 1), k, T * roll.power(-0.5, 0.5));
        }
        text += fmt::format(
            "  p{}: {{ode: {{states: {{{}}}, inputs: {{u: 0}}, outputs: {{y: x{}}}, equations: {{{}}}}}}}\n", i, states,
            lags - 1, equations);
        const double gain = roll.power(-1, lags == 1 ? 1 : 0.3);
        text += fmt::format(
            "  k{0}: {{ode: {{states: {{z: 0}}, inputs: {{e: 0}}, outputs: {{u: {1}*(1 - e) + z}}, equations: {{z: "
            "{1}*(1 - e)/{2}}}}}}}\n",
            i, gain, T * roll.power(0, 1));
        signals += fmt::format("  - p{0}.y -> k{0}.e\n  - k{0}.u{1} -> p{0}.u\n", i,
                               i > 0 ? fmt::format(" + {}*p{}.y", roll.uniform(-0.3, 0.3), i - 1) : "");
    }
    about = fmt::format("{} plants with controllers", n);
    return text + signals;
}

struct made_system {
    std::string kind, about, text;
};

made_system make_advised_system(const std::string& kind, unsigned seed, const std::filesystem::path& fmus) {
    made_system made{kind, {}, {}};
    unsigned mixed = seed;
    for (const char letter : kind) mixed = mixed * 31 + static_cast<unsigned char>(letter);
    dice roll(mixed);
    const std::string head = "time: {end: 1 s, step: 1 ms}\n";
    if (kind == "inner-modes")
        made.text = head + make_inner_modes(roll, made.about);
    else if (kind == "heat")
        made.text = head + make_heat(roll, made.about);
    else if (kind == "controllers")
        made.text = head + make_controllers(roll, made.about);
    else {
        const trust_system system = make_trust_system(kind, seed, fmus);
        made.text = system.scenario;
        made.about = system.about.substr(0, system.about.find(','));
    }
    made.about = fmt::format("{} {}: {}", kind, seed, made.about);
    return made;
}

class comparison_with_runs {
   public:
    comparison_with_runs(const made_system& system, step_choice choice) : system_(system), choice_(std::move(choice)) {
        result_.kind = system.kind;
        result_.about = system.about;
        result_.choice = choice_.method + (choice_.extrapolation.empty() ? "" : " " + choice_.extrapolation);
    }

    advise_bench_result compare() {
        try {
            look();
        } catch (const std::exception& problem) {
            result_.failure = problem.what();
        }
        return result_;
    }

   private:
    scenario load(const step_choice& choice) const {
        std::vector<scenario_override> changes{
            {"method", choice.method.empty() ? "explicit" : choice.method, "bench advise"}};
        if (!choice.extrapolation.empty()) changes.push_back({"extrapolation", choice.extrapolation, "bench advise"});
        scenario s = read_scenario_text(system_.text, "system.yaml", {}, changes);
        if (end_ > 0) s.time.end = end_;
        if (step_ > 0) s.time.step = step_;
        return s;
    }

    void look() {
        // How fast it is tells how long runs must be: the first look needs no more than that.
        advice_request request;
        request.load = [this](const step_choice& choice) { return load(choice); };
        request.choices = {choice_};
        request.errors = request.confirm = false;
        const advice first = find_advice(request);
        if (first.found[0].refused) throw user_error(first.found[0].why);
        const double fastest = std::abs(first.fastest);
        end_ = fastest > 0 ? run_turns / fastest : load(choice_).time.end;
        if (first.found[0].limit.outcome == step_limit::kind::limit) end_ = run_steps * first.found[0].limit.largest;
        step_ = end_ / run_steps * first_step;
        request.errors = request.confirm_all = true;
        const advice found = find_advice(request);
        const advised_choice& one = found.found[0];
        if (one.refused) throw user_error(one.why);
        result_.predicted = one.stable_step();
        result_.unbounded = one.limit.outcome == step_limit::kind::unbounded && !one.steep;
        for (const auto& s : found.system.subsystems) result_.excluded |= s.how == identified_subsystem::way::excluded;
        result_.confirmed = result_.predicted;
        if (one.confirmed) {
            if (one.confirmed->lowered > 0) result_.confirmed = one.confirmed->tried;
            result_.error_predicted = one.confirmed->predicted;
            result_.error_measured = one.confirmed->measured;
        }
        find_truth();
    }

    void find_truth() {
        step_ = std::min(first_step * result_.predicted, end_ / 20);
        largest_step_request request;
        request.load = [this](const step_choice& choice) { return load(choice); };
        request.choices = {choice_};
        request.error = any_error;
        request.precision = 0.01;
        request.most_seconds = most_seconds_of_runs;
        const largest_step found = find_largest_steps(request).found[0];
        if (found.outcome == largest_step::kind::refused || found.outcome == largest_step::kind::none) return;
        result_.truth = found.largest;
        result_.truth_unbounded = found.outcome != largest_step::kind::limit;
    }

    const made_system& system_;
    step_choice choice_;
    advise_bench_result result_;
    double end_ = 0, step_ = 0;
};

bool compared(const advise_bench_result& r) { return r.failure.empty() && !r.excluded && r.ratio(r.predicted) > 0; }

}  // namespace

double advise_bench_result::ratio(double limit) const {
    if (!(truth > 0)) return 0;
    if (truth_unbounded && limit >= truth * 0.95) return 1;
    if (unbounded && limit <= truth) return 1;  // it says no more than that
    return limit / truth;
}

std::vector<std::string> advise_bench_kinds() {
    return {"chain", "inner-modes", "gears", "nodes", "heat", "signals", "controllers", "fmus"};
}

std::vector<advise_bench_result> bench_advise(const advise_bench_request& request,
                                              const std::function<void(const std::string&)>& told) {
    const std::vector<step_choice> choices{
        {"explicit", "poly-1"},   {"explicit", "const-2-3-opt"}, {"explicit", "lin-2-3-opt"},
        {"explicit", "quad-2-4"}, {"explicit", "poly-3"},        {"explicit", "lin-3-3-b0"},
        {"one-pass", ""},         {"semi-implicit", ""},         {"iterated", ""}};
    std::vector<std::string> kinds = request.kinds.empty() ? advise_bench_kinds() : request.kinds;
    if (request.fmus.empty()) std::erase(kinds, "fmus");
    std::vector<advise_bench_result> all;
    for (int n = 0; n < request.systems; ++n) {
        const unsigned number = request.seed * 100000 + static_cast<unsigned>(n);
        const made_system system =
            make_advised_system(kinds[static_cast<std::size_t>(n) % kinds.size()], number, request.fmus);
        dice roll(number);
        for (int k = 0; k < 2; ++k) {
            // The second one is drawn among the methods that solve, so that every method is met often enough.
            const auto place = static_cast<std::size_t>(k == 0 ? roll.uniform(0, 5.999) : roll.uniform(6, 8.999));
            all.push_back(comparison_with_runs(system, choices[place]).compare());
            if (told) {
                const advise_bench_result& r = all.back();
                told(r.failure.empty()
                         ? fmt::format("{}, {}: {}{:.4g} s, by runs {}{:.4g} s", r.about, r.choice,
                                       r.unbounded ? "> " : "", r.predicted, r.truth_unbounded ? "> " : "", r.truth)
                         : fmt::format("{}, {}: {}", r.about, r.choice, r.failure));
            }
        }
    }
    return all;
}

advise_bench_counts count(const std::vector<advise_bench_result>& results) {
    advise_bench_counts all;
    for (const advise_bench_result& r : results) {
        all.failed += r.excluded ? 1 : 0;
        if (!compared(r)) continue;
        const double before = r.ratio(r.predicted), after = r.ratio(r.confirmed);
        ++all.limits;
        all.within_5 += std::fabs(before - 1) <= 0.05 ? 1 : 0;
        all.below_80 += before < 0.8 ? 1 : 0;
        all.above_110 += before > 1.1 ? 1 : 0;
        all.above_110_confirmed += after > 1.1 ? 1 : 0;
        if (!(r.error_predicted > 0 && r.error_measured > 0)) continue;
        ++all.errors;
        const double off = r.error_predicted / r.error_measured;
        all.errors_within_3 += off <= 3 && off >= 1.0 / 3 ? 1 : 0;
    }
    return all;
}

std::string to_table(const std::vector<advise_bench_result>& results) {
    std::string out = fmt::format("{:<16} {:>8} {:>10} {:>10} {:>10} {:>12} {:>10} {:>12}\n", "", "limits", "within 5%",
                                  "below 80%", "above 110%", "confirmed", "errors", "factor 3");
    const auto line = [&](const std::string& name, const std::vector<advise_bench_result>& some) {
        const advise_bench_counts c = count(some);
        out += fmt::format("{:<16} {:>8} {:>10} {:>10} {:>10} {:>12} {:>10} {:>12}\n", name, c.limits, c.within_5,
                           c.below_80, c.above_110, c.above_110_confirmed, c.errors, c.errors_within_3);
    };
    std::map<std::string, std::vector<advise_bench_result>> by_kind, by_choice;
    for (const auto& r : results) by_kind[r.kind].push_back(r), by_choice[r.choice].push_back(r);
    for (const auto& [name, some] : by_kind) line(name, some);
    out += "\n";
    for (const auto& [name, some] : by_choice) line(name, some);
    out += "\n";
    line("all", results);
    const auto refused = std::ranges::count_if(results, [](const auto& r) { return !r.failure.empty(); });
    const auto without =
        std::ranges::count_if(results, [](const auto& r) { return r.failure.empty() && !(r.truth > 0); });
    out += fmt::format(
        "\n{} choices were not possible, of {} no limit was found by runs, of {} a subsystem was excluded\n", refused,
        without, count(results).failed);
    return out;
}

std::string to_json(const std::vector<advise_bench_result>& results) {
    auto list = json::array();
    for (const auto& r : results)
        list.push_back(json{{"kind", r.kind},
                            {"system", r.about},
                            {"choice", r.choice},
                            {"failure", r.failure},
                            {"predicted", r.predicted},
                            {"unbounded", r.unbounded},
                            {"confirmed", r.confirmed},
                            {"by_runs", r.truth},
                            {"by_runs_unbounded", r.truth_unbounded},
                            {"excluded", r.excluded},
                            {"error_predicted", std::isfinite(r.error_predicted) ? json(r.error_predicted) : json()},
                            {"error_measured", r.error_measured}});
    return list.dump(2);
}

}  // namespace mdpcosim
