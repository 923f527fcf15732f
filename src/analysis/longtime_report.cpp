#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "analysis/longtime.hpp"
#include "core/json.hpp"
#include "core/text_table.hpp"

namespace mdpcosim {

namespace {

constexpr int shown_periods = 8;  // in phase diagrams

std::string name_of(coupling_variant variant) { return coupling_variant_names()[static_cast<std::size_t>(variant)]; }

std::string system_text(const test_system_parameters& p) {
    return fmt::format("F = {:.4g}, V = {:.4g}, omega_B/omega_A = {:.4g}, damping {:.4g}", p.F, p.V, p.frequency_ratio,
                       p.damping);
}

json complex_json(const std::complex<double>& z) { return {{"damping", -z.real()}, {"frequency", z.imag()}}; }

json case_json(const longtime_case& c) {
    json eigenvalues = json::array();
    for (const auto& mu : c.recurrence_eigenvalues) eigenvalues.push_back({mu.real(), mu.imag()});
    return {{"variant", name_of(c.variant)},
            {"extrapolation", c.rule.name},
            {"coupling_damping", c.coupling_damping},
            {"rho", c.rho},
            {"stable", c.stable()},
            {"exact", complex_json(c.exact)},
            {"modified", complex_json(c.modified)},
            {"frequency_error", c.frequency_error()},
            {"damping_error", c.damping_error()},
            {"amplitude_after_100_periods", c.amplitude_after(100)},
            {"recurrence_eigenvalues", eigenvalues}};
}

plot_panel panel_of(std::string title, std::string x, std::string y) {
    plot_panel panel;
    panel.title = std::move(title);
    panel.x.label = std::move(x);
    panel.y.label = std::move(y);
    return panel;
}

int colour(coupling_variant variant) { return static_cast<int>(variant); }

/// Every macro point of the first period, which shows the coupling's own oscillation, then about sixty per period.
plot_panel phase_panel(const longtime_result& result, const longtime_case& c, const longtime_run& run) {
    plot_panel panel = panel_of(fmt::format("{}, {}", name_of(c.variant), c.rule.name), "x_A [-]", "v_A / omega_A [-]");
    panel.equal_aspect = true;
    panel.x.low = panel.y.low = -1.2;
    panel.x.high = panel.y.high = 1.2;
    plot_curve curve{name_of(c.variant), {}, {}, plot_stroke::solid, plot_marker::none, colour(c.variant)};
    const double period = 2 * std::numbers::pi / (c.exact.imag() * result.H);  // in macro steps
    const auto coarse = static_cast<std::size_t>(std::max(1.0, period / 60));
    const auto last = std::min(run.x.size(), static_cast<std::size_t>(shown_periods * period));
    for (std::size_t n = 0; n < last; n += static_cast<double>(n) < period ? 1 : coarse) {
        curve.x.push_back(run.x[n]);
        curve.y.push_back(run.v[n]);
    }
    panel.curves.push_back(std::move(curve));
    // The rigidly joined bodies begin at the common centre of mass.
    const auto& p = result.settings.system;
    const double m_B = p.V / (p.frequency_ratio * p.frequency_ratio),
                 amplitude = (p.start[0] + m_B * p.start[2]) / (1 + m_B);
    plot_reference orbit{{}, {}, ""};
    for (int i = 0; i <= 120; ++i) {
        const double phase = 2 * std::numbers::pi * i / 120;
        orbit.x.push_back(amplitude * std::cos(phase));
        orbit.y.push_back(-amplitude * result.rigid_frequency * std::sin(phase));
    }
    panel.references.push_back(std::move(orbit));
    return panel;
}

plot_panel poincare_panel(const longtime_case& c, const longtime_run& run) {
    plot_panel panel = panel_of("Poincare section v_A = 0", "periods", "x_A [-]");
    panel.curves.push_back({"", run.period, run.turning, plot_stroke::none, plot_marker::dot, colour(c.variant)});
    return panel;
}

/// The same scale for all, so that what decays can be seen beside what stays.
void share_scale(std::vector<plot_panel>& panels) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto& panel : panels)
        for (const double x : panel.curves.front().y) {
            low = std::min(low, x);
            high = std::max(high, std::min(x, 2.0));
        }
    const double room = 0.05 * (high - low);
    if (!(room > 0)) return;
    for (auto& panel : panels) {
        panel.y.low = low - room;
        panel.y.high = high + room;
    }
}

plot_panel eigenvalue_panel(const longtime_result& result) {
    plot_panel panel = panel_of("eigenvalues of the recurrence", "real part", "imaginary part");
    panel.equal_aspect = true;
    for (const auto& c : result.cases) {
        plot_curve points{"", {}, {}, plot_stroke::none, plot_marker::circle, colour(c.variant)};
        if (c.variant != coupling_variant::force_force)
            points.marker =
                c.variant == coupling_variant::force_displacement ? plot_marker::square : plot_marker::cross;
        for (const auto& mu : c.recurrence_eigenvalues) {
            points.x.push_back(mu.real());
            points.y.push_back(mu.imag());
        }
        panel.curves.push_back(std::move(points));
    }
    plot_reference circle{{}, {}, ""};
    for (int i = 0; i <= 120; ++i) {
        circle.x.push_back(std::cos(2 * std::numbers::pi * i / 120));
        circle.y.push_back(std::sin(2 * std::numbers::pi * i / 120));
    }
    panel.references.push_back(std::move(circle));
    panel.x.low = panel.y.low = -1.1;
    panel.x.high = panel.y.high = 1.1;
    return panel;
}

/// The sizes of one error over V; what rounding leaves is drawn at its level.
plot_panel sweep_panel(const std::vector<longtime_sweep>& sweeps, const std::vector<double>& ratios, bool damping) {
    plot_panel panel =
        panel_of(damping ? "damping error over stiffness ratio" : "frequency error over stiffness ratio",
                 "V = c_B / c_A [-]", damping ? "|damping error| / omega [-]" : "|frequency error| / omega [-]");
    panel.x.logarithmic = panel.y.logarithmic = true;
    constexpr std::array<plot_stroke, 3> strokes{plot_stroke::solid, plot_stroke::dashed, plot_stroke::dotted};
    for (const auto& s : sweeps) {
        const auto place = std::find(ratios.begin(), ratios.end(), s.frequency_ratio) - ratios.begin();
        // In the legend colours stand for variants already; what strokes mean is said once.
        plot_curve curve{
            s.variant == sweeps.front().variant ? fmt::format("omega_B/omega_A = {:.3g}", s.frequency_ratio) : "",
            s.V,
            {},
            strokes[static_cast<std::size_t>(place) % strokes.size()],
            plot_marker::none,
            colour(s.variant)};
        for (const double e : damping ? s.damping_error : s.frequency_error)
            curve.y.push_back(std::isnan(e) ? e : std::max(std::abs(e), 1e-15));
        panel.curves.push_back(std::move(curve));
    }
    return panel;
}

}  // namespace

std::string to_table(const std::vector<longtime_result>& results) {
    std::string out = "long-time behaviour of the coupled test system, from the modified equation A = ln(P)/H\n";
    for (const auto& r : results) {
        text_table table({"variant", "extrapolation", "coupling damping", "rho - 1", "frequency error", "damping error",
                          "amplitude after 100 periods"});
        for (const auto& c : r.cases) {
            const bool found = !r.settings.coupling_damping && c.variant != coupling_variant::force_force;
            table.add({name_of(c.variant), c.rule.name,
                       fmt::format("{:.4g}{}", c.coupling_damping, found && c.stable() ? " (lowest)" : ""),
                       fmt::format("{:.2e}", c.rho - 1), fmt::format("{:.2e}", c.frequency_error()),
                       fmt::format("{:.2e}", c.damping_error()),
                       !c.stable()              ? "unstable"
                       : c.modified.imag() == 0 ? "no oscillation"
                                                : fmt::format("{:.4g}", c.amplitude_after(100))});
        }
        const auto& exact = r.cases.empty() ? std::complex<double>() : r.cases.front().exact;
        out += fmt::format(
            "\n{}\nomega_A H = {:.4g}, {}\nslow mode in units of omega_A: frequency {:.6g}, rigidly joined "
            "{:.6g}\n\n{}",
            system_text(r.settings.system), r.H, r.why_H, exact.imag(), r.rigid_frequency, table.text());
    }
    return out +
           "\nerrors of the slow mode against the system as one with the same spring and damper, in units of omega_A\n";
}

std::string to_json(const std::vector<longtime_result>& results) {
    json list = json::array();
    for (const auto& r : results) {
        json cases = json::array();
        for (const auto& c : r.cases) cases.push_back(case_json(c));
        const auto& p = r.settings.system;
        list.push_back({{"F", p.F},
                        {"V", p.V},
                        {"frequency_ratio", p.frequency_ratio},
                        {"damping", p.damping},
                        {"method", p.method},
                        {"input_degree", p.input_degree},
                        {"omega_H", r.H},
                        {"why_omega_H", r.why_H},
                        {"rigid_frequency", r.rigid_frequency},
                        {"variants", cases}});
    }
    return json{{"longtime", list}}.dump(2) + "\n";
}

plot longtime_plot(const std::vector<longtime_result>& results) {
    plot picture;
    picture.columns = 3;
    picture.panel_width = picture.panel_height = 300;
    for (const auto& r : results) {
        picture.title += (picture.title.empty() ? "Long-time behaviour: " : "; ") + system_text(r.settings.system) +
                         fmt::format(", omega_A H = {:.3g}", r.H);
        std::vector<plot_panel> sections;
        for (const auto& c : r.cases) {
            const longtime_run run =
                run_longtime(parameters_of(r, c), r.H, r.settings.periods * 2 * std::numbers::pi / c.exact.imag());
            picture.panels.push_back(phase_panel(r, c, run));
            sections.push_back(poincare_panel(c, run));
        }
        picture.columns = std::min(3, static_cast<int>(std::max<std::size_t>(1, r.cases.size())));
        share_scale(sections);
        for (auto& panel : sections) picture.panels.push_back(std::move(panel));
        const double given = r.settings.system.frequency_ratio;
        const std::vector<double> ratios = given == 1 ? std::vector<double>{1, 2, 0.5} : std::vector<double>{given};
        const auto sweeps = sweep_stiffness_ratio(r, ratios);
        picture.panels.push_back(sweep_panel(sweeps, ratios, false));
        picture.panels.push_back(sweep_panel(sweeps, ratios, true));
        picture.panels.push_back(eigenvalue_panel(r));
    }
    return picture;
}

}  // namespace mdpcosim
