#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/order.hpp"
#include "core/json.hpp"
#include "core/text_table.hpp"

namespace mdpcosim {

namespace {

int halvings(double H) { return static_cast<int>(std::lround(std::log2(H))); }

std::string band_text(const error_curve& curve, const order_band& band) {
    if (!band.clean()) return "no clean band";
    return fmt::format("2^{} .. 2^{}", halvings(curve.H[band.first + order_band::points - 1]),
                       halvings(curve.H[band.first]));
}

std::string order_text(const order_band& band, int less) {
    return band.clean() ? fmt::format("{:.2f}", band.mean() - less) : "-";
}

json band_json(const error_curve& curve, const order_band& band, int less) {
    if (!band.clean()) return {{"order", nullptr}};
    return {{"order", band.mean() - less},
            {"order_A", band.slope[0] - less},
            {"order_B", band.slope[1] - less},
            {"spread", band.spread},
            {"H_min", curve.H[band.first + order_band::points - 1]},
            {"H_max", curve.H[band.first]}};
}

json curve_json(const error_curve& curve, int less) {
    return {{"q", band_json(curve, curve.q_band, less)},
            {"v", band_json(curve, curve.v_band, less)},
            {"H", curve.H},
            {"error_x_A", curve.q[0]},
            {"error_v_A", curve.v[0]},
            {"error_x_B", curve.q[1]},
            {"error_v_B", curve.v[1]}};
}

/// Thin lines of the whole-numbered slopes that occur, each through the band of the first curve that has it.
void add_slopes(plot_panel& panel, const std::vector<const order_band*>& bands) {
    std::vector<int> seen;
    for (std::size_t i = 0; i < bands.size(); ++i) {
        const order_band& band = *bands[i];
        if (!band.clean()) continue;
        const int slope = static_cast<int>(std::lround(band.mean()));
        if (std::find(seen.begin(), seen.end(), slope) != seen.end()) continue;
        seen.push_back(slope);
        const plot_curve& curve = panel.curves[i];
        const double H = curve.x[band.first], error = 0.4 * curve.y[band.first];
        const auto at = [&](double h) { return error * std::pow(h / H, slope); };
        panel.references.push_back({{curve.x.front(), curve.x.back()},
                                    {at(curve.x.front()), at(curve.x.back())},
                                    fmt::format("slope {}", slope)});
    }
}

plot_panel empty_panel(std::string title, std::string y_label) {
    plot_panel panel;
    panel.title = std::move(title);
    panel.x = {"macro step H [s]", true, {}, {}};
    panel.y = {std::move(y_label), true, {}, {}};
    return panel;
}

plot_marker marker(std::size_t i) {
    constexpr std::array<plot_marker, 5> all{plot_marker::circle, plot_marker::square, plot_marker::triangle,
                                             plot_marker::diamond, plot_marker::cross};
    return all[i % all.size()];
}

std::vector<double> larger_of(const std::array<std::vector<double>, 2>& error) {
    std::vector<double> larger = error[0];
    for (std::size_t i = 0; i < larger.size(); ++i) larger[i] = std::max(larger[i], error[1][i]);
    return larger;
}

}  // namespace

std::string to_table(const std::vector<order_result>& results) {
    text_table table({"extrapolation", "N", "R", "local q", "v", "theory", "q at H [s]", "v at H [s]", "global q", "v",
                      "cold q", "v"});
    for (const auto& r : results) {
        const auto [q, v] = expected_local_order(r.rule, r.input_degree);
        table.add({r.rule.name, fmt::format("{}", std::min(r.rule.degree, r.input_degree)), fmt::format("{}", r.rule.R),
                   order_text(r.local.q_band, 1), order_text(r.local.v_band, 1),
                   r.method == default_method ? fmt::format("{} / {}", q, v) : "", band_text(r.local, r.local.q_band),
                   band_text(r.local, r.local.v_band), order_text(r.exact_history.q_band, 0),
                   order_text(r.exact_history.v_band, 0), order_text(r.cold_start.q_band, 0),
                   order_text(r.cold_start.v_band, 0)});
    }
    return fmt::format(
        "orders of position q and velocity v, method {}, two nonlinear oscillators joined by a spring\n\n{}\n"
        "local   P of one macro step from exact history, whose error behaves like H^(P+1); bands of H as shown\n"
        "global  over 2 s, begun with exact history\n"
        "cold    over 2 s, begun without history as every run is: the first steps count\n"
        "'-': no band of H in which the slopes are clean (--json and --svg show the errors)\n",
        results.empty() ? default_method : results.front().method, table.text());
}

std::string to_json(const std::vector<order_result>& results) {
    json list = json::array();
    for (const auto& r : results) {
        json entry{{"extrapolation", r.rule.name}, {"degree", r.rule.degree},       {"K", r.rule.K}, {"R", r.rule.R},
                   {"method", r.method},           {"input_degree", r.input_degree}};
        if (r.method == default_method) {
            const auto [q, v] = expected_local_order(r.rule, r.input_degree);
            entry["theory"] = {{"q", q}, {"v", v}};
        }
        entry["local"] = curve_json(r.local, 1);
        entry["global"] = curve_json(r.exact_history, 0);
        entry["global_cold_start"] = curve_json(r.cold_start, 0);
        list.push_back(std::move(entry));
    }
    return json{{"orders", list}}.dump(2) + "\n";
}

plot order_plot(const std::vector<order_result>& results) {
    plot picture;
    picture.title = "Errors of the coupling and their orders";
    picture.columns = 2;
    const std::array<const char*, 2> units{"position [m]", "velocity [m/s]"};
    for (std::size_t body = 0; body < 2; ++body)
        for (const bool velocity : {false, true}) {
            plot_panel panel = empty_panel(fmt::format("one step from exact history, {}", body == 0 ? "A" : "B"),
                                           fmt::format("error of {}", units[velocity ? 1 : 0]));
            std::vector<const order_band*> bands;
            for (std::size_t i = 0; i < results.size(); ++i) {
                const error_curve& c = results[i].local;
                panel.curves.push_back({results[i].rule.name, c.H, (velocity ? c.v : c.q)[body], plot_stroke::solid,
                                        marker(i), static_cast<int>(i)});
                bands.push_back(velocity ? &c.v_band : &c.q_band);
            }
            add_slopes(panel, bands);
            picture.panels.push_back(std::move(panel));
        }
    for (const bool velocity : {false, true}) {
        plot_panel panel = empty_panel("over 2 s from exact history; dotted: from a cold start",
                                       fmt::format("largest error of {}", units[velocity ? 1 : 0]));
        std::vector<const order_band*> bands;
        for (const bool cold : {false, true})
            for (std::size_t i = 0; i < results.size(); ++i) {
                const error_curve& c = cold ? results[i].cold_start : results[i].exact_history;
                panel.curves.push_back({cold ? "" : results[i].rule.name, c.H, larger_of(velocity ? c.v : c.q),
                                        cold ? plot_stroke::dotted : plot_stroke::solid,
                                        cold ? plot_marker::none : marker(i), static_cast<int>(i)});
                bands.push_back(velocity ? &c.v_band : &c.q_band);
            }
        add_slopes(panel, bands);
        picture.panels.push_back(std::move(panel));
    }
    return picture;
}

}  // namespace mdpcosim
