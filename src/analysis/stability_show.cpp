#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/stability_report.hpp"
#include "core/json.hpp"
#include "core/text_table.hpp"

namespace mdpcosim {

namespace {

using kind = stability_limit::kind;

constexpr std::size_t most_columns = 7;

std::string reason(const stability_row& row) {
    if (row.limit.outcome == kind::unbounded)
        return fmt::format("stable up to omega H = {:.4g}, where the search ends", row.limit.omega_max);
    return fmt::format(
        "no meaningful limit: rho - 1 grows like (omega H)^{:.1f} from the smallest step on, so that the border "
        "shrinks with the "
        "tolerance: {:.3g} at 1e-5, {:.3g} at 1e-6, {:.3g} at 1e-7",
        row.limit.growth, row.crossings[0], row.crossings[1], row.crossings[2]);
}

std::string cell(const stability_row& row) {
    switch (row.limit.outcome) {
        case kind::none:
            return "none";
        case kind::unbounded:
            return fmt::format("> {:.4g}", row.limit.omega_max);
        case kind::limit:
            break;
    }
    return fmt::format("{:.5g}", row.limit.omega_max);
}

json system_json(const test_system_parameters& s) {
    return {{"method", s.method},
            {"variant", coupling_variant_names()[static_cast<std::size_t>(s.variant)]},
            {"V", s.V},
            {"frequency_ratio", s.frequency_ratio},
            {"mass_ratio", s.V / (s.frequency_ratio * s.frequency_ratio)},
            {"damping", s.damping},
            {"coupling_damping", s.coupling_damping},
            {"input_degree", s.input_degree},
            {"tolerance", stability_tolerance}};
}

json row_json(const stability_row& row) {
    json out{{"extrapolation", row.extrapolation}, {"F", row.F}};
    if (!row.a.empty()) {
        out["a"] = row.a;
        out["b"] = row.b;
    }
    out["omega_max"] = row.limit.outcome == kind::limit ? json(row.limit.omega_max) : json(nullptr);
    out["rho_max_below"] = row.limit.rho_max_below;
    out["order"] = row.order;
    if (row.printed) out["printed"] = *row.printed;
    if (row.limit.outcome != kind::limit) out["reason"] = reason(row);
    if (row.limit.outcome == kind::unbounded) out["stable_up_to"] = row.limit.omega_max;
    if (row.limit.outcome == kind::none)
        out["crossings"] = {{"1e-5", row.crossings[0]}, {"1e-6", row.crossings[1]}, {"1e-7", row.crossings[2]}};
    return out;
}

/// Rows that belong together: one extrapolation over F. Reports hold them one after the other.
std::vector<std::pair<std::size_t, std::size_t>> groups(const std::vector<stability_row>& rows) {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t i = 0, first = 0; i < rows.size(); ++i)
        if (i + 1 == rows.size() || rows[i + 1].extrapolation != rows[first].extrapolation ||
            rows[i + 1].F == rows[first].F) {
            found.emplace_back(first, i + 1);
            first = i + 1;
        }
    return found;
}

/// omega_max, coefficients and printed values, one row per F.
std::string long_table(const stability_report& report) {
    text_table table({"extrapolation", "F", "omega_max", "printed", "order", "a_0, a_1", "b_0, b_1"});
    const auto numbers = [](const std::vector<double>& list) { return fmt::format("{:.6g}", fmt::join(list, ", ")); };
    for (const auto& row : report.rows)
        table.add({row.extrapolation, fmt::format("{:.4g}", row.F), cell(row), fmt::format("{:.5g}", *row.printed),
                   fmt::format("{}", row.order), numbers(row.a), numbers(row.b)});
    return table.text();
}

/// One row per extrapolation; of many F only some are shown.
std::string wide_table(const stability_report& report) {
    const auto all = groups(report.rows);
    const std::size_t count = all[0].second - all[0].first;
    std::vector<std::size_t> columns;
    for (std::size_t k = 0; k < std::min(count, most_columns); ++k)
        columns.push_back(count <= most_columns
                              ? k
                              : static_cast<std::size_t>(std::lround(
                                    static_cast<double>(k) * static_cast<double>(count - 1) / (most_columns - 1))));
    std::vector<std::string> head{"extrapolation", "order"};
    for (const std::size_t k : columns) head.push_back(fmt::format("F = {:.4g}", report.rows[all[0].first + k].F));
    text_table table(head);
    std::string notes;
    for (const auto& [first, last] : all) {
        std::vector<std::string> line{report.rows[first].extrapolation, fmt::format("{}", report.rows[first].order)};
        for (const std::size_t k : columns) line.push_back(cell(report.rows[first + k]));
        table.add(std::move(line));
        for (std::size_t i = first; i < last; ++i)
            if (report.rows[i].limit.outcome != kind::limit)
                notes += fmt::format("  {}, F = {:.4g}: {}\n", report.rows[i].extrapolation, report.rows[i].F,
                                     reason(report.rows[i]));
    }
    if (columns.size() < count)
        notes += fmt::format("  {} of {} values of F are shown; --json has all.\n", columns.size(), count);
    return table.text() + notes;
}

}  // namespace

std::string to_table(const stability_report& report) {
    const auto& s = report.system;
    std::string text = fmt::format("{}: omega_A H of the two-mass test system, {}, method {}\n", report.title,
                                   coupling_variant_names()[static_cast<std::size_t>(s.variant)], s.method);
    text += fmt::format("  V = {:g}, omega_B/omega_A = {:g}, damping {:g}, coupling damping {:g}", s.V,
                        s.frequency_ratio, s.damping, s.coupling_damping);
    text += s.input_degree < max_degree ? fmt::format(", inputs take degree {}\n", s.input_degree) : "\n";
    if (report.rows.empty()) return text;
    return text + (report.rows[0].printed ? long_table(report) : wide_table(report));
}

std::string to_json(const stability_report& report) {
    json out{{"title", report.title}, {"system", system_json(report.system)}};
    if (report.rows.size() == 1) out.update(row_json(report.rows[0]));  // the one result stands at the top, too
    for (const auto& row : report.rows) out["results"].push_back(row_json(row));
    return out.dump(2) + "\n";
}

plot stability_plot(const stability_report& report) {
    plot_panel panel;
    panel.x = {.label = "F = c/c_A", .logarithmic = true, .low = {}, .high = {}};
    panel.y = {.label = "largest stable omega H", .logarithmic = true, .low = {}, .high = {}};
    constexpr std::array strokes{plot_stroke::solid, plot_stroke::dashed, plot_stroke::dotted};
    constexpr std::array markers{plot_marker::circle, plot_marker::square, plot_marker::triangle, plot_marker::diamond};
    double low = INFINITY, high = 0;
    for (const auto& [first, last] : groups(report.rows)) {
        plot_curve curve;
        curve.name = report.rows[first].extrapolation;
        const std::size_t n = panel.curves.size();
        curve.stroke = strokes[n / 8 % strokes.size()];
        if (last - first <= most_columns) curve.marker = markers[n % markers.size()];
        for (std::size_t i = first; i < last; ++i) {
            const bool shown = report.rows[i].limit.outcome == kind::limit;
            curve.x.push_back(report.rows[i].F);
            curve.y.push_back(shown ? report.rows[i].limit.omega_max : NAN);
            low = std::min(low, report.rows[i].F);
            high = std::max(high, report.rows[i].F);
        }
        panel.curves.push_back(std::move(curve));
    }
    for (const double level : {0.25, 0.5, 1.0, 1.5, 2.0, 2.5}) {  // omega H = L / sqrt(2F + 1)
        plot_reference line;
        line.label = fmt::format("L = {:g}", level);
        for (int i = 0; i <= 60; ++i) {
            const double F = low * std::pow(high / low, i / 60.0);
            line.x.push_back(F);
            line.y.push_back(level / std::sqrt(2 * F + 1));
        }
        panel.references.push_back(std::move(line));
    }
    plot picture;
    picture.title = report.title;
    picture.panels = {std::move(panel)};
    picture.panel_width = 620;
    picture.panel_height = 480;
    return picture;
}

plot map_plot(const std::vector<stability_map>& maps, const test_system_parameters& system) {
    plot picture;
    picture.title = fmt::format("Method {}: V = {:g}, omega_B/omega_A = {:g}, damping {:g}", system.method, system.V,
                                system.frequency_ratio, system.damping);
    for (const auto& map : maps) {
        plot_panel& panel = picture.panels.emplace_back();
        panel.title = map.extrapolation;
        panel.x = {.label = "F = c/c_A", .logarithmic = true, .low = map.F.front(), .high = map.F.back()};
        panel.y = {.label = "omega_A H", .logarithmic = true, .low = map.omega.front(), .high = map.omega.back()};
        panel.curves = map_curves(map.F, map.omega, map.rho, 1 + stability_tolerance);
    }
    picture.columns = std::min(2, static_cast<int>(maps.size()));
    return picture;
}

std::string to_table(const optimum& found, const std::vector<double>& F) {
    const auto numbers = [](const std::vector<double>& list) { return fmt::format("[{:.7g}]", fmt::join(list, ", ")); };
    std::string text = fmt::format("Best coefficients found ({} stability limits computed):\n  a = {}\n  b = {}\n",
                                   found.evaluations, numbers(found.rule.a), numbers(found.rule.b));
    text += fmt::format("  in a scenario: {{degree: {}, a: {}, b: {}}}\n", found.rule.degree, numbers(found.rule.a),
                        numbers(found.rule.b));
    text_table table({"F", "omega_max", "best for this F alone", "share"});
    for (std::size_t i = 0; i < F.size(); ++i)
        table.add({fmt::format("{:.4g}", F[i]), fmt::format("{:.5g}", found.omega_max[i]),
                   fmt::format("{:.5g}", found.best[i]), fmt::format("{:.4f}", found.omega_max[i] / found.best[i])});
    return text + table.text();
}

std::string to_json(const optimum& found, const std::vector<double>& F) {
    json out{{"degree", found.rule.degree},
             {"K", found.rule.K},
             {"R", found.rule.R},
             {"a", found.rule.a},
             {"b", found.rule.b},
             {"relative", found.relative},
             {"evaluations", found.evaluations}};
    for (std::size_t i = 0; i < F.size(); ++i)
        out["results"].push_back({{"F", F[i]}, {"omega_max", found.omega_max[i]}, {"best", found.best[i]}});
    return out.dump(2) + "\n";
}

}  // namespace mdpcosim
