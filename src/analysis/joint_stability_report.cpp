#include "analysis/joint_stability_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/stability.hpp"
#include "core/json.hpp"
#include "core/text_table.hpp"

namespace mdpcosim {

namespace {

struct highest {
    double rho, real, imaginary;
};

highest highest_of(const joint_map& m) {
    const auto at = std::ranges::max_element(m.rho) - m.rho.begin();
    return {m.rho[static_cast<std::size_t>(at)], m.real(static_cast<int>(at) / m.points),
            m.imaginary(static_cast<int>(at) % m.points)};
}

}  // namespace

std::vector<joint_map> map_joints(const joint_test_parameters& system, double range, int points) {
    std::vector<joint_map> maps;
    for (const int degree : {2, 3}) {
        joint_test_parameters p = system;
        p.degree = degree;
        maps.push_back(map_joint(p, range, points));
    }
    return maps;
}

std::string to_table(const std::vector<joint_map>& maps) {
    const joint_map& m = maps.front();
    std::string text = fmt::format(
        "Stability of joints, method {}: two oscillators made one by a joint\n"
        "  Lambda_r H from {:g} to 0, Lambda_i H from 0 to {:g}, {} points each; mass ratio {:g}, damping ratio {:g}, "
        "frequency ratio {:g}\n",
        m.system.method, -m.range, m.range, m.points, m.system.mass_ratio, m.system.damping_ratio,
        m.system.frequency_ratio);
    text_table table({"degree", "stable points", "unstable", "largest radius", "at Lambda_r H", "at Lambda_i H"});
    for (const auto& map : maps) {
        const int unstable = map.unstable(stability_tolerance);
        const highest top = highest_of(map);
        table.add({fmt::format("{}", map.system.degree), fmt::format("{}", static_cast<int>(map.rho.size()) - unstable),
                   fmt::format("{}", unstable), fmt::format("{:.9g}", top.rho), fmt::format("{:.4g}", top.real),
                   fmt::format("{:.4g}", top.imaginary)});
    }
    return text + table.text();
}

std::string to_json(const std::vector<joint_map>& maps) {
    json out{
        {"title", "Stability of joints"}, {"method", maps.front().system.method}, {"tolerance", stability_tolerance}};
    for (const auto& m : maps) {
        const highest top = highest_of(m);
        json entry{{"degree", m.system.degree},
                   {"mass_ratio", m.system.mass_ratio},
                   {"damping_ratio", m.system.damping_ratio},
                   {"frequency_ratio", m.system.frequency_ratio},
                   {"unstable", m.unstable(stability_tolerance)},
                   {"largest_radius", top.rho}};
        for (int i = 0; i < m.points; ++i) {
            entry["real"].push_back(m.real(i));
            entry["imaginary"].push_back(m.imaginary(i));
        }
        entry["rho"] = m.rho;
        out["maps"].push_back(std::move(entry));
    }
    return out.dump(2) + "\n";
}

plot joint_plot(const std::vector<joint_map>& maps) {
    plot picture;
    const joint_test_parameters& s = maps.front().system;
    picture.title = fmt::format("Joints, method {}: masses 1:{:g}, damping 1:{:g}, frequencies 1:{:g}", s.method,
                                s.mass_ratio, s.damping_ratio, s.frequency_ratio);
    for (const auto& m : maps) {
        plot_panel panel;
        panel.title = m.system.degree == 2 ? "quadratic multipliers" : "cubic multipliers";
        panel.x = {.label = "Lambda_r H", .low = -m.range, .high = 0};
        panel.y = {.label = "Lambda_i H", .low = 0, .high = m.range};
        std::vector<double> real, imaginary;
        for (int i = 0; i < m.points; ++i) {
            real.push_back(m.real(i));
            imaginary.push_back(m.imaginary(i));
        }
        panel.curves = map_curves(real, imaginary, m.rho, 1 + stability_tolerance);
        picture.panels.push_back(std::move(panel));
    }
    picture.columns = static_cast<int>(picture.panels.size());
    return picture;
}

}  // namespace mdpcosim
