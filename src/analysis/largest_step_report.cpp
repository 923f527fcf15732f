#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/largest_step.hpp"
#include "analysis/plot.hpp"
#include "core/json.hpp"

namespace mdpcosim {

namespace {

std::string name_of(const step_choice& choice) {
    if (!choice.label.empty()) return choice.label;
    std::string name = choice.method;
    const auto add = [&](const std::string& more) { name += (name.empty() || more.empty() ? "" : " ") + more; };
    add(choice.extrapolation);
    for (const auto& [address, value] : choice.changes) add(address + "=" + value);
    return name.empty() ? "as the scenario has it" : name;
}

const char* word_for(largest_step::kind outcome) {
    switch (outcome) {
        case largest_step::kind::limit:
            return "limit";
        case largest_step::kind::unbounded:
            return "unbounded";
        case largest_step::kind::ended:
            return "ended";
        case largest_step::kind::none:
            return "none";
        case largest_step::kind::refused:
            return "refused";
    }
    return "";
}

std::string step_of(const largest_step& one) {
    switch (one.outcome) {
        case largest_step::kind::limit:
            return fmt::format("{:.4g}", one.largest);
        case largest_step::kind::unbounded:
        case largest_step::kind::ended:
            return fmt::format("> {:.4g}", one.largest);
        case largest_step::kind::none:
            return fmt::format("< {:.4g}", one.unstable);
        case largest_step::kind::refused:
            return "-";
    }
    return "";
}

const step_run* run_of(const largest_step& one, double step) {
    const auto found = std::ranges::find(one.runs, step, &step_run::step);
    return found == one.runs.end() ? nullptr : &*found;
}

const step_run* least_error(const largest_step& one) {
    const step_run* best = nullptr;
    for (const step_run& r : one.runs)
        if (r.stable && (best == nullptr || r.error < best->error)) best = &r;
    return best;
}

}  // namespace

std::string to_table(const largest_steps& found) {
    std::string out = fmt::format("errors against {}\n", found.reference);
    if (std::ranges::any_of(found.found, [](const largest_step& one) { return !one.choice.changes.empty(); }))
        out += "where a line changes the scenario, against the scenario with these changes\n";
    if (found.grows_by_itself())
        out += fmt::format(
            "the system grows by itself, to {:.3g} times in the reference's last quarter against its first: that is no "
            "instability of a step\n",
            found.growth);
    if (!found.own_extrapolation.empty())
        out += fmt::format("with the extrapolation that the scenario gives them, whatever a line says: {}\n",
                           fmt::join(found.own_extrapolation, ", "));
    out += fmt::format("\n  {:<30} {:>14} {:>12} {:>16} {:>10} {:>14} {:>12} {:>12} {:>12}\n", "method",
                       "stable to [s]", "time [ms]", fmt::format("error {:.3g} [s]", found.error), "error",
                       "fastest [s]", "macro steps", "evaluations", "time [ms]");
    for (const auto& one : found.found) {
        const std::string name = name_of(one.choice);
        if (name.size() > 30) out += fmt::format("  {}\n", name);
        out += fmt::format("  {:<30} {:>14}", name.size() > 30 ? "" : name, step_of(one));
        if (const step_run* limit = run_of(one, one.largest)) out += fmt::format(" {:>12.4g}", 1e3 * limit->seconds);
        if (one.accurate.step > 0)
            out += fmt::format(" {:>16.4g} {:>10.2g} {:>14.4g} {:>12} {:>12} {:>12.4g}{}", one.accurate.step,
                               one.accurate.error, one.fastest.step, one.fastest.macro_steps, one.fastest.evaluations,
                               1e3 * one.fastest.seconds, one.best ? "  fastest" : "");
        else if (one.outcome != largest_step::kind::refused)
            out += fmt::format(" {:>16}", "-");
        out += "\n";
    }
    out += "\n";
    for (const auto& one : found.found) {
        const std::string name = name_of(one.choice);
        const bool refused = one.outcome == largest_step::kind::refused;
        const bool ended = one.outcome == largest_step::kind::ended;
        if (!one.why.empty())
            out += fmt::format("{}: {}{}\n", name,
                               refused ? std::string()
                               : ended ? std::string("larger steps were not run: ")
                                       : fmt::format("not stable with {:.4g} s, ", one.unstable),
                               one.why);
        if (const auto pockets = one.pockets(); !pockets.empty())
            out += fmt::format("{}: NOT STABLE with smaller steps of {:.4g} s; larger ones being stable is chance\n",
                               name, fmt::join(pockets, ", "));
        if (one.out_of_time && !ended)
            out += fmt::format("{}: the time for the search is over; longer (--seconds) it finds more exact steps\n",
                               name);
        if (!refused && one.accurate.step == 0)
            if (const step_run* best = least_error(one))
                out += fmt::format("{}: no step that was run keeps the error; the least is {:.2g}, with {:.4g} s{}\n",
                                   name, best->error, best->step,
                                   best->wrong ? ", and the verdict on that run is wrong" : "");
    }
    return out;
}

std::string to_json(const largest_steps& found) {
    auto list = json::array();
    const auto run = [](const step_run& r) {
        return json{{"step", r.step},
                    {"stable", r.stable},
                    {"why", r.why},
                    {"error", r.error},
                    {"wrong", r.wrong},
                    {"macro_steps", r.macro_steps},
                    {"evaluations", r.evaluations},
                    {"seconds", r.seconds}};
    };
    for (const auto& one : found.found) {
        auto runs = json::array();
        for (const auto& r : one.runs) runs.push_back(run(r));
        auto changes = json::object();
        for (const auto& [address, value] : one.choice.changes) changes[address] = value;
        list.push_back({{"label", one.choice.label},
                        {"method", one.choice.method},
                        {"extrapolation", one.choice.extrapolation},
                        {"changes", std::move(changes)},
                        {"outcome", word_for(one.outcome)},
                        {"largest_stable_step", one.largest > 0 ? json(one.largest) : json()},
                        {"unstable_step", one.unstable > 0 ? json(one.unstable) : json()},
                        {"why", one.why},
                        {"unstable_below", one.pockets()},
                        {"out_of_time", one.out_of_time},
                        {"accurate", one.accurate.step > 0 ? run(one.accurate) : json()},
                        {"fastest", one.fastest.step > 0 ? run(one.fastest) : json()},
                        {"best", one.best},
                        {"runs", std::move(runs)}});
    }
    return json{{"reference", found.reference},
                {"reference_growth", found.growth},
                {"own_extrapolation", found.own_extrapolation},
                {"error", found.error},
                {"results", std::move(list)}}
        .dump(2);
}

void write_largest_steps(const std::string& file, const largest_steps& found) {
    plot_panel panel;
    panel.title = "Error of stable runs";
    panel.x = {.label = "macro step [s]", .logarithmic = true, .low = {}, .high = {}};
    panel.y = {.label = "largest relative error", .logarithmic = true, .low = {}, .high = {}};
    for (const auto& one : found.found) {
        plot_curve curve;
        curve.name = name_of(one.choice);
        curve.marker = plot_marker::circle;
        for (const auto& r : one.runs) {
            if (!r.stable) continue;
            curve.x.push_back(r.step);
            curve.y.push_back(r.error);
        }
        if (!curve.x.empty()) panel.curves.push_back(std::move(curve));
    }
    panel.references.push_back(level_line(found.error, "wanted"));
    write_svg(file, {.title = "Largest macro steps", .panels = {std::move(panel)}});
}

}  // namespace mdpcosim
