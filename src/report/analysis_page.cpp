#include "report/analysis_page.hpp"

#include <cmath>

#include "core/json.hpp"
#include "report/page.hpp"
#include "report/reduce.hpp"

namespace mdpcosim {

namespace {

json axis_json(const plot_axis& axis) {
    json out{{"label", axis.label}, {"log", axis.logarithmic}};
    if (axis.low) out["low"] = *axis.low;
    if (axis.high) out["high"] = *axis.high;
    return out;
}

const char* name_of(plot_stroke stroke) {
    constexpr const char* names[]{"none", "solid", "dashed", "dotted"};
    return names[static_cast<std::size_t>(stroke)];
}

const char* name_of(plot_marker marker) {
    constexpr const char* names[]{"none", "circle", "square", "triangle", "diamond", "cross", "dot"};
    return names[static_cast<std::size_t>(marker)];
}

json panel_json(const plot_panel& panel) {
    json curves = json::array();
    for (std::size_t i = 0; i < panel.curves.size(); ++i) {
        const plot_curve& c = panel.curves[i];
        curves.push_back({{"name", c.name},
                          {"x", encode(c.x)},
                          {"y", encode(c.y)},
                          {"stroke", name_of(c.stroke)},
                          {"marker", name_of(c.marker)},
                          {"colour", c.colour.value_or(static_cast<int>(i))}});
    }
    json references = json::array();
    for (const auto& r : panel.references)
        references.push_back({{"x", encode(r.x)}, {"y", encode(r.y)}, {"label", r.label}});
    return {{"title", panel.title},
            {"x", axis_json(panel.x)},
            {"y", axis_json(panel.y)},
            {"curves", std::move(curves)},
            {"references", std::move(references)},
            {"equal", panel.equal_aspect}};
}

void write(const std::string& path, const char* analysis, const std::string& text, const std::string& results,
           const plot& picture, json maps = json::array()) {
    json panels = json::array();
    for (const auto& panel : picture.panels) panels.push_back(panel_json(panel));
    const json document{{"kind", "analysis"},
                        {"what", analysis},
                        {"title", picture.title},
                        {"text", text},
                        {"results", json::parse(results)},
                        {"panels", std::move(panels)},
                        {"columns", picture.columns},
                        {"maps", std::move(maps)}};
    write_page(path, page_with(picture.title, document.dump()));
}

}  // namespace

void write_html(const std::string& path, const stability_report& report, const std::vector<stability_map>& maps) {
    json list = json::array();
    for (const auto& map : maps)
        list.push_back({{"title", map.extrapolation},
                        {"x", encode(map.F)},
                        {"y", encode(map.omega)},
                        {"rho", encode(map.rho, false)}});
    write(path, "stability", to_table(report), to_json(report), stability_plot(report), std::move(list));
}

void write_html(const std::string& path, const std::vector<order_result>& results) {
    write(path, "order", to_table(results), to_json(results), order_plot(results));
}

void write_html(const std::string& path, const std::vector<longtime_result>& results) {
    write(path, "longtime", to_table(results), to_json(results), longtime_plot(results));
}

}  // namespace mdpcosim
