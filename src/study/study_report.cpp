#include "study/study_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "analysis/plot.hpp"
#include "study/search.hpp"
#include "study/sensitivity.hpp"
#include "study/table.hpp"

namespace mdpcosim {

namespace {

constexpr std::size_t most_points = 4000;  ///< of one picture, spread over all
constexpr std::size_t most_listed = 50;    ///< rows of a table

std::string html(const std::string& s) {
    std::string out;
    for (const char c : s)
        out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
    return out;
}

std::string labelled(const std::string& name, const std::string& unit) {
    return unit.empty() || unit == "1" ? name : fmt::format("{} [{}]", name, unit);
}

/// A colour from dark blue over green to yellow.
std::string shade(double share) {
    static constexpr double stops[][3] = {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
    const double at = std::clamp(share, 0.0, 1.0) * 4;
    const auto k = std::min<std::size_t>(3, static_cast<std::size_t>(at));
    const double f = at - static_cast<double>(k);
    const auto mix = [&](int c) {
        return static_cast<int>(std::lround(stops[k][c] + f * (stops[k + 1][c] - stops[k][c])));
    };
    return fmt::format("rgb({},{},{})", mix(0), mix(1), mix(2));
}

class study_pictures {
   public:
    study_pictures(const study_spec& study, const variant_plan& plan, const std::vector<measure_spec>& measures,
                   const std::vector<std::string>& units, const study_rows& rows)
        : study_(study), plan_(plan), measures_(measures), units_(units) {
        const std::size_t count = rows.rows.size(), every = std::max<std::size_t>(1, count / most_points);
        columns_.resize(plan.parameters().size() + measures.size());
        std::size_t n = 0;
        for (const auto& [number, row] : rows.rows) {
            if (!row.done || row.parameters.size() != plan.parameters().size()) continue;
            numbers_.push_back(static_cast<double>(number));
            shown_.push_back(n++ % every == 0);
            for (std::size_t k = 0; k < plan.parameters().size(); ++k) columns_[k].push_back(row.parameters[k]);
            for (std::size_t k = 0; k < measures.size(); ++k)
                columns_[plan.parameters().size() + k].push_back(row.values[k]);
        }
    }

    std::string all() const {
        if (numbers_.empty() || measures_.empty()) return {};
        switch (study_.how) {
            case study_spec::way::sample:
                return sensitivities() + histograms() + scatter();
            case study_spec::way::optimise:
            case study_spec::way::fit:
                return history();
            default:
                break;
        }
        std::vector<std::size_t> varied;
        for (std::size_t k = 0; k < plan_.parameters().size(); ++k)
            if (plan_.parameters()[k].count() > 1) varied.push_back(k);
        if (varied.size() == 2 && study_.how == study_spec::way::grid) return heat_maps(varied[0], varied[1]);
        return scatter();
    }

   private:
    const std::vector<double>& parameter(std::size_t k) const { return columns_[k]; }
    const std::vector<double>& measure(std::size_t k) const { return columns_[plan_.parameters().size() + k]; }
    std::string measure_label(std::size_t k) const { return labelled(measures_[k].name, units_[k]); }
    std::string parameter_label(std::size_t k) const {
        return labelled(plan_.parameters()[k].address, plan_.parameters()[k].unit);
    }

    bool logarithmic(std::size_t k) const {
        const auto& p = plan_.parameters()[k];
        if (!p.words.empty() || p.logarithmic) return p.logarithmic;
        const auto [low, high] = std::ranges::minmax(parameter(k));
        return low > 0 && high > 30 * low;
    }

    /// Every measure over every parameter.
    std::string scatter() const {
        plot picture;
        picture.columns = static_cast<int>(std::min<std::size_t>(3, plan_.parameters().size()));
        picture.panel_width = 300, picture.panel_height = 220;
        for (std::size_t m = 0; m < measures_.size(); ++m)
            for (std::size_t p = 0; p < plan_.parameters().size(); ++p) {
                const bool line = plan_.parameters().size() == 1 && study_.how != study_spec::way::sample;
                plot_curve curve{.name = {},
                                 .x = {},
                                 .y = {},
                                 .stroke = line ? plot_stroke::solid : plot_stroke::none,
                                 .marker = line ? plot_marker::circle : plot_marker::dot};
                for (std::size_t i = 0; i < numbers_.size(); ++i)
                    if (shown_[i]) curve.x.push_back(parameter(p)[i]), curve.y.push_back(measure(m)[i]);
                plot_panel panel{.title = {},
                                 .x = {parameter_label(p), logarithmic(p)},
                                 .y = {measure_label(m)},
                                 .curves = {curve},
                                 .references = {}};
                picture.panels.push_back(std::move(panel));
            }
        return "<h2>Measures over parameters</h2>" + to_svg(picture);
    }

    std::string histograms() const {
        plot picture;
        picture.columns = 3;
        picture.panel_width = 300, picture.panel_height = 180;
        for (std::size_t m = 0; m < measures_.size(); ++m) {
            std::vector<double> values;
            for (const double x : measure(m))
                if (std::isfinite(x)) values.push_back(x);
            if (values.size() < 2) continue;
            const auto [low, high] = std::ranges::minmax(values);
            if (!(high > low)) continue;
            const std::size_t bins =
                std::clamp<std::size_t>(static_cast<std::size_t>(std::sqrt(static_cast<double>(values.size()))), 5, 60);
            std::vector<double> counts(bins);
            for (const double x : values)
                ++counts[std::min(bins - 1,
                                  static_cast<std::size_t>((x - low) / (high - low) * static_cast<double>(bins)))];
            plot_curve outline{.name = {}, .x = {low}, .y = {0}};
            for (std::size_t b = 0; b < bins; ++b)
                for (const std::size_t edge : {b, b + 1}) {
                    outline.x.push_back(low + (high - low) * static_cast<double>(edge) / static_cast<double>(bins));
                    outline.y.push_back(counts[b]);
                }
            outline.x.push_back(high), outline.y.push_back(0);
            picture.panels.push_back(
                {.title = {}, .x = {measure_label(m)}, .y = {"variants"}, .curves = {outline}, .references = {}});
        }
        return picture.panels.empty() ? std::string() : "<h2>Distributions</h2>" + to_svg(picture);
    }

    std::string sensitivities() const {
        std::string page =
            "<h2>Sensitivities</h2><p>Correlation, and in brackets the share of the variance that goes with this "
            "parameter alone (first-order index of Sobol), where there are at least 50 "
            "samples.</p><table><tr><th></th>";
        for (const auto& p : plan_.parameters()) page += "<th>" + html(p.address) + "</th>";
        page += "</tr>";
        const auto number = [](double x) { return std::isnan(x) ? std::string("–") : fmt::format("{:.2f}", x); };
        for (std::size_t m = 0; m < measures_.size(); ++m) {
            page += "<tr><th>" + html(measures_[m].name) + "</th>";
            for (std::size_t p = 0; p < plan_.parameters().size(); ++p)
                page += fmt::format("<td>{} ({})</td>", number(correlation(parameter(p), measure(m))),
                                    number(first_order_index(parameter(p), measure(m))));
            page += "</tr>";
        }
        return page + "</table>";
    }

    /// The objective, and the best so far, over the evaluations; then the parameters.
    std::string history() const {
        const std::string goal = study_.how == study_spec::way::fit ? "residual" : study_.goal.measure.value;
        plot picture;
        picture.columns = 2;
        picture.panel_width = 380, picture.panel_height = 220;
        for (std::size_t m = 0; m < measures_.size(); ++m) {
            if (measures_[m].name != goal) continue;
            plot_curve each{.name = "evaluation",
                            .x = numbers_,
                            .y = measure(m),
                            .stroke = plot_stroke::none,
                            .marker = plot_marker::dot};
            plot_curve best{.name = "best so far", .x = numbers_, .y = {}};
            double so_far = std::numeric_limits<double>::quiet_NaN();
            for (const double y : measure(m)) {
                const bool better = std::isnan(so_far) || (study_.goal.maximise ? y > so_far : y < so_far);
                best.y.push_back(so_far = better && std::isfinite(y) ? y : so_far);
            }
            picture.panels.push_back(
                {.title = {}, .x = {"evaluation"}, .y = {measure_label(m)}, .curves = {each, best}, .references = {}});
        }
        for (std::size_t p = 0; p < plan_.parameters().size(); ++p)
            picture.panels.push_back({.title = {},
                                      .x = {"evaluation"},
                                      .y = {parameter_label(p)},
                                      .curves = {{.name = {}, .x = numbers_, .y = parameter(p)}},
                                      .references = {}});
        return "<h2>The search</h2>" + to_svg(picture);
    }

    /// A rectangle for every variant, of the colour of the measure.
    std::string heat_maps(std::size_t a, std::size_t b) const {
        std::string page = "<h2>Measures over both parameters</h2>";
        for (std::size_t m = 0; m < measures_.size(); ++m) page += heat_map(a, b, m);
        return page + scatter();
    }

    std::string heat_map(std::size_t a, std::size_t b, std::size_t m) const {
        const auto& pa = plan_.parameters()[a];
        const auto& pb = plan_.parameters()[b];
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (const double x : measure(m))
            if (std::isfinite(x)) low = std::min(low, x), high = std::max(high, x);
        if (!(low <= high)) return {};
        const double width = 420, height = 300, left = 110, top = 30, bottom = 60;
        const auto nb = static_cast<double>(pb.count()), na = static_cast<double>(pa.count());
        std::string svg = fmt::format(
            "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} {1}' font-size='11' "
            "font-family='sans-serif'><rect width='100%' height='100%' fill='white'/><text x='{2}' y='18' "
            "font-size='13'>{3}</text>",
            left + width + 120, top + height + bottom, left, html(measure_label(m)));
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            const auto variant = static_cast<std::size_t>(numbers_[i]);
            const std::size_t kb = variant_index(variant, b), ka = variant_index(variant, a);
            const double y = measure(m)[i];
            svg += fmt::format(
                "<rect x='{:.2f}' y='{:.2f}' width='{:.2f}' height='{:.2f}' fill='{}'><title>{} = {}, {} = {}: "
                "{:.6g}</title></rect>",
                left + width * static_cast<double>(ka) / na, top + height - height * (static_cast<double>(kb) + 1) / nb,
                width / na + 0.3, height / nb + 0.3,
                std::isfinite(y) ? shade(high > low ? (y - low) / (high - low) : 0.5) : "white", html(pa.address),
                html(plan_.text(a, parameter(a)[i])), html(pb.address), html(plan_.text(b, parameter(b)[i])), y);
        }
        const auto text_of = [&](std::size_t p, std::size_t k) {
            return plan_.text(
                p, plan_.parameters()[p].words.empty() ? plan_.parameters()[p].values[k] : static_cast<double>(k));
        };
        const auto tick = [](std::string s) { return html(s.size() > 16 ? s.substr(0, 16) : s); };
        for (const std::size_t k : {std::size_t{0}, pa.count() - 1})
            svg +=
                fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>{}</text>",
                            left + width * (static_cast<double>(k) + 0.5) / na, top + height + 16, tick(text_of(a, k)));
        for (const std::size_t k : {std::size_t{0}, pb.count() - 1})
            svg += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='end'>{}</text>", left - 6,
                               top + height - height * (static_cast<double>(k) + 0.5) / nb + 4, tick(text_of(b, k)));
        svg += fmt::format(
            "<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>{}</text><text x='14' y='{:.1f}' "
            "transform='rotate(-90 14 {:.1f})' text-anchor='middle'>{}</text>",
            left + width / 2, top + height + 40, html(pa.address), top + height / 2, top + height / 2,
            html(pb.address));
        for (int k = 0; k <= 20; ++k)
            svg += fmt::format("<rect x='{:.1f}' y='{:.2f}' width='16' height='{:.2f}' fill='{}'/>", left + width + 16,
                               top + height - height * (k + 1) / 21.0, height / 21 + 0.3, shade(k / 20.0));
        svg += fmt::format(
            "<text x='{0:.1f}' y='{1:.1f}'>{2:.4g}</text><text x='{0:.1f}' y='{3:.1f}'>{4:.4g}</text></svg>",
            left + width + 36, top + 10, high, top + height, low);
        return svg;
    }

    /// Which of its values a parameter of a grid has.
    std::size_t variant_index(std::size_t variant, std::size_t parameter) const {
        for (std::size_t k = plan_.parameters().size(); k-- > parameter + 1;) variant /= plan_.parameters()[k].count();
        return variant % plan_.parameters()[parameter].count();
    }

    const study_spec& study_;
    const variant_plan& plan_;
    const std::vector<measure_spec>& measures_;
    const std::vector<std::string>& units_;
    std::vector<double> numbers_;
    std::vector<bool> shown_;
    std::vector<std::vector<double>> columns_;
};

std::string row_list(const char* title, const std::vector<const study_row*>& rows, std::size_t of,
                     const variant_plan& plan, const std::vector<measure_spec>& measures) {
    if (rows.empty()) return {};
    std::string page = fmt::format("<h2>{}</h2>", title);
    if (of > rows.size()) page += fmt::format("<p>The first {} of {}; all are in table.csv.</p>", rows.size(), of);
    page += "<table><tr><th>variant</th>";
    for (const auto& p : plan.parameters()) page += "<th>" + html(p.address) + "</th>";
    for (const auto& m : measures) page += "<th>" + html(m.name) + "</th>";
    page += "<th>verdict</th><th>reason</th></tr>";
    for (const study_row* row : rows) {
        page += fmt::format("<tr><td>{}</td>", row->variant);
        for (std::size_t k = 0; k < plan.parameters().size(); ++k) {
            const bool known = k < row->parameters.size() && !std::isnan(row->parameters[k]);
            page += "<td>" + (known ? html(plan.text(k, row->parameters[k])) : std::string("–")) + "</td>";
        }
        for (std::size_t k = 0; k < measures.size(); ++k) {
            const bool known = k < row->values.size() && !std::isnan(row->values[k]);
            page += "<td>" + (known ? fmt::format("{:.6g}", row->values[k]) : std::string("–")) + "</td>";
        }
        page += fmt::format("<td>{}</td><td>{}</td></tr>", row->done ? verdict_of(*row) : "failed", html(row->reason));
    }
    return page + "</table>";
}

}  // namespace

std::string study_page(const study_spec& study, const variant_plan& plan, const std::vector<measure_spec>& measures,
                       const std::vector<std::string>& units, const study_rows& rows, const study_summary& summary) {
    std::string page = fmt::format(
        "<!DOCTYPE html><html lang='en'><head><meta "
        "charset='utf-8'><title>{0}</title><style>body{{font-family:sans-serif;"
        "max-width:1150px;margin:2em auto;padding:0 1em;color:#222}}table{{border-collapse:collapse;font-size:13px}}"
        "td,th{{border:1px solid #ccc;padding:3px "
        "8px;text-align:right}}th{{background:#f3f3f3}}svg{{max-width:100%;height:auto}}"
        "</style></head><body><h1>{0}</h1>",
        html(study.path.string()));
    page += fmt::format("<p>Scenario {}. {}: {} of {} {}; verdicts: {} good, {} doubtful, {} wrong; {} failed.</p>",
                        html(study.scenario.string()), summary.status, summary.done + summary.failed, summary.variants,
                        study.goal.given ? "evaluations at most" : "variants", summary.good, summary.doubtful,
                        summary.wrong, summary.failed);
    std::vector<const study_row*> bad, best;
    std::size_t bad_count = 0;
    for (const auto& [number, row] : rows.rows) {
        if (number == summary.best) best.push_back(&row);
        if (row.done && row.verdict < 1) continue;
        if (++bad_count <= most_listed) bad.push_back(&row);
    }
    page += row_list("The best", best, best.size(), plan, measures);
    page += study_pictures(study, plan, measures, units, rows).all();
    page += row_list("Not good", bad, bad_count, plan, measures);
    return page + "</body></html>\n";
}

}  // namespace mdpcosim
