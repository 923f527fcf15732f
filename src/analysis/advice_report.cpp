#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "analysis/advice.hpp"
#include "core/json.hpp"

namespace mdpcosim {

namespace {

std::string choice_name(const advised_choice& one) {
    std::string name = one.method.empty() ? one.choice.method : one.method;
    const std::string& rule = one.extrapolation.empty() ? one.choice.extrapolation : one.extrapolation;
    return rule.empty() ? name : name + " " + rule;
}

std::string limit_text(const advised_choice& one) {
    if (one.refused) return "-";
    const char* sign = one.limit.outcome == step_limit::kind::limit  ? ""
                       : one.limit.outcome == step_limit::kind::none ? "< "
                                                                     : "> ";
    return fmt::format("{}{:.4g}", sign, one.limit.largest);
}

const char* word_of(const advised_choice& one) {
    if (one.refused) return "refused";
    switch (one.limit.outcome) {
        case step_limit::kind::limit:
            return "limit";
        case step_limit::kind::unbounded:
            return "unbounded";
        case step_limit::kind::none:
            return "none";
    }
    return "";
}

double error_at_step(const advised_choice& one, double step) {
    for (const step_error& e : one.errors)
        if (std::fabs(e.step / step - 1) < 1e-9) return e.error;
    return HUGE_VAL;
}

std::string error_text(double error) { return std::isfinite(error) ? fmt::format("{:.2g}", error) : "-"; }

std::string mode_text(const advised_choice& one) {
    std::vector<std::string> parts;
    for (std::size_t k = 0; k < std::min<std::size_t>(4, one.mode->subsystems.size()); ++k)
        parts.push_back(
            fmt::format("{} ({:.0f} %)", one.mode->subsystems[k].first, 100 * one.mode->subsystems[k].second));
    std::string text = one.mode->alternates ? "a motion that changes its sign in every step"
                                            : fmt::format("a motion of {:.4g} Hz", one.mode->frequency);
    text += fmt::format(" of {}", fmt::join(parts, ", "));
    if (!one.connections.empty()) {
        const std::size_t shown = std::min<std::size_t>(4, one.connections.size());
        text += fmt::format(
            ", through {}",
            fmt::join(one.connections.begin(), one.connections.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    }
    return text;
}

std::string confirmed_text(const advised_choice& one) {
    const confirmation& c = *one.confirmed;
    std::string text = c.stable ? fmt::format("with {:.4g} s the scenario itself is stable", c.tried)
                                : fmt::format("with {:.4g} s the scenario itself is NOT stable: {}", c.tried, c.why);
    if (c.stable && c.lowered > 0)
        text +=
            fmt::format(", not so with {}; take no more than that", c.lowered == 1 ? "a larger step" : "larger steps");
    if (c.step > 0)
        text += fmt::format("; with {:.4g} s its error is {:.2g}, predicted {:.2g} (against {})", c.step, c.measured,
                            c.predicted, c.against);
    return text;
}

json json_of(const identified_subsystem& one) {
    return json{{"name", one.name},         {"way", word_for(one.how)},
                {"why", one.why},           {"states", static_cast<std::int64_t>(one.states())},
                {"misfit", one.misfit},     {"instances", one.instances},
                {"advances", one.advances}, {"kinks", one.kinks}};
}

json json_of(const advised_choice& one) {
    auto errors = json::array();
    for (const step_error& e : one.errors)
        errors.push_back(json{{"step", e.step}, {"error", std::isfinite(e.error) ? json(e.error) : json()}});
    json mode;
    if (one.mode) {
        auto parts = json::object();
        for (const auto& [name, part] : one.mode->subsystems) parts[name] = part;
        mode = json{{"frequency", one.mode->frequency},
                    {"alternates", one.mode->alternates},
                    {"subsystems", parts},
                    {"connections", one.connections}};
    }
    json confirmed;
    if (one.confirmed) {
        const confirmation& c = *one.confirmed;
        confirmed = json{{"tried", c.tried},
                         {"lowered", c.lowered},
                         {"stable", c.stable},
                         {"why", c.why},
                         {"step", c.step},
                         {"predicted_error", std::isfinite(c.predicted) ? json(c.predicted) : json()},
                         {"measured_error", c.measured},
                         {"against", c.against}};
    }
    return json{{"method", one.method},
                {"extrapolation", one.extrapolation},
                {"outcome", word_of(one)},
                {"why", one.why},
                {"largest_stable_step", one.refused ? json() : json(one.limit.largest)},
                {"at_steepest_slopes", one.steep ? json(*one.steep) : json()},
                {"limiting_mode", mode},
                {"integrations_per_step", one.integrations},
                {"errors", errors},
                {"accurate_step", one.accurate > 0 ? json(one.accurate) : json()},
                {"integrations_per_second", one.accurate > 0 ? json(one.cost()) : json()},
                {"confirmed", confirmed}};
}

}  // namespace

std::string to_table(const advice& found) {
    std::string out = "subsystems\n";
    for (const auto& one : found.system.subsystems) {
        out += fmt::format("  {:<20} {:<10} {:>4} states", one.name, word_for(one.how), one.states());
        if (one.instances > 0) out += fmt::format(", {} instances, {} advances", one.instances, one.advances);
        out += "\n";
    }
    if (std::abs(found.fastest) > 0)
        out += fmt::format("fastest motion of the coupled system: {:.4g} 1/s ({:.4g} Hz)\n", std::abs(found.fastest),
                           std::fabs(found.fastest.imag()) / (2 * M_PI));
    const bool steep =
        std::ranges::any_of(found.found, [](const advised_choice& one) { return one.steep.has_value(); });
    const bool errors = std::ranges::any_of(found.found, [](const advised_choice& one) { return !one.errors.empty(); });
    out += fmt::format("\n  {:<28} {:>13}", "method", "stable to [s]");
    if (steep) out += fmt::format(" {:>13}", "steepest [s]");
    out += fmt::format(" {:>12}", "integr./step");
    if (errors)
        out += fmt::format(" {:>16} {:>16} {:>13}", fmt::format("error {:.3g} s", found.step),
                           fmt::format("error {:.3g} [s]", found.error), "integr./s");
    out += "\n";
    for (std::size_t k = 0; k < found.found.size(); ++k) {
        const advised_choice& one = found.found[k];
        out += fmt::format("  {:<28} {:>13}", choice_name(one), limit_text(one));
        if (one.refused) {
            out += "\n";
            continue;
        }
        if (steep) out += fmt::format(" {:>13}", one.steep ? fmt::format("{:.4g}", *one.steep) : "");
        out += fmt::format(" {:>12.4g}", one.integrations);
        if (errors)
            out += fmt::format(" {:>16} {:>16} {:>13}", error_text(error_at_step(one, found.step)),
                               one.accurate > 0 ? fmt::format("{:.4g}", one.accurate) : "-",
                               one.accurate > 0 ? fmt::format("{:.4g}", one.cost()) : "-");
        if (found.recommended == k) out += "  recommended";
        out += "\n";
    }
    out += "\n";
    for (const advised_choice& one : found.found) {
        if (one.refused) out += fmt::format("{}: {}\n", choice_name(one), one.why);
        if (one.mode) out += fmt::format("{}: the limit is that of {}\n", choice_name(one), mode_text(one));
    }
    for (const std::string& w : found.warnings) out += fmt::format("note: {}\n", w);
    if (found.system.moving_slopes)
        out += fmt::format(
            "note: laws become steeper than they are at the start (seen until {:.4g} s); with the steepest slopes the "
            "limits are those beside\n",
            found.system.seen_until);
    if (errors && found.error_span < found.span)
        out += fmt::format("note: errors are those of the first {:.4g} s of {:.4g} s\n", found.error_span, found.span);
    if (!found.recommended) return out + fmt::format("no recommendation: {}\n", found.reason);
    const advised_choice& best = found.found[*found.recommended];
    out += fmt::format("recommended: {}, macro step {:.4g} s: {}\n", choice_name(best), best.step(), found.reason);
    for (const advised_choice& one : found.found)
        if (one.confirmed) out += fmt::format("confirmed {}: {}\n", choice_name(one), confirmed_text(one));
    return out;
}

std::string to_json(const advice& found) {
    auto subsystems = json::array(), choices = json::array();
    for (const auto& one : found.system.subsystems) subsystems.push_back(json_of(one));
    for (const auto& one : found.found) choices.push_back(json_of(one));
    return json{{"step", found.step},
                {"wanted_error", found.error},
                {"error_span", found.error_span},
                {"fastest", std::abs(found.fastest)},
                {"growth", found.growth},
                {"subsystems", std::move(subsystems)},
                {"instances", found.instances},
                {"advances", found.advances},
                {"choices", std::move(choices)},
                {"recommended", found.recommended ? json(static_cast<std::int64_t>(*found.recommended)) : json()},
                {"reason", found.reason},
                {"warnings", found.warnings}}
        .dump(2);
}

plot advice_plot(const advice& found) {
    plot_panel limits, errors;
    limits.title = "Largest stable macro step";
    limits.x = {.label = "method, in the order of the table", .logarithmic = false, .low = 0.0, .high = {}};
    limits.y = {.label = "macro step [s]", .logarithmic = true, .low = {}, .high = {}};
    errors.title = "Predicted error";
    errors.x = {.label = "macro step [s]", .logarithmic = true, .low = {}, .high = {}};
    errors.y = {.label = "largest relative error", .logarithmic = true, .low = {}, .high = {}};
    for (std::size_t k = 0; k < found.found.size(); ++k) {
        const advised_choice& one = found.found[k];
        if (one.refused) continue;
        plot_curve limit, curve;
        limit.name = choice_name(one);
        limit.x = {static_cast<double>(k + 1)};
        limit.y = {one.stable_step()};
        limit.stroke = plot_stroke::none;
        limit.marker = plot_marker::circle;
        limit.colour = curve.colour = static_cast<int>(k);
        limits.curves.push_back(std::move(limit));
        curve.marker = plot_marker::circle;
        for (const step_error& e : one.errors) {
            if (!std::isfinite(e.error)) continue;
            curve.x.push_back(e.step);
            curve.y.push_back(e.error);
        }
        if (!curve.x.empty()) errors.curves.push_back(std::move(curve));
    }
    limits.references.push_back(level_line(found.step, "scenario"));
    errors.references.push_back(level_line(found.error, "wanted"));
    return {.title = "Advice", .panels = {std::move(limits), std::move(errors)}, .columns = 2};
}

}  // namespace mdpcosim
