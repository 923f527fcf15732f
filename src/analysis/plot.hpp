#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Charts as SVG: one picture of several panels, each with curves, reference lines and two axes.
///
/// Values that are not finite, and those at or below zero on a logarithmic axis, interrupt a curve. Axes without given ends
/// cover all curves. Reference lines are thin and do not widen the axes. The picture brings its own white background, and its
/// colours (after Okabe and Ito) can be told apart by colour-blind readers. Names may hold any characters.
namespace mdpcosim {

struct plot_axis {
    std::string label;  ///< with its unit
    bool logarithmic = false;
    std::optional<double> low = {}, high = {};
};

enum class plot_stroke { none, solid, dashed, dotted };
enum class plot_marker { none, circle, square, triangle, diamond, cross, dot };

struct plot_curve {
    std::string name;  ///< in the legend, once per picture; empty: not there
    std::vector<double> x, y;
    plot_stroke stroke = plot_stroke::solid;
    plot_marker marker = plot_marker::none;
    std::optional<int> colour = {};  ///< 0, 1, ... as the palette repeats; absent: the place among the panel's curves
};

/// A slope, a level line, an exact orbit. Infinite coordinates reach to the panel's frame.
struct plot_reference {
    std::vector<double> x, y;
    std::string label;  ///< at the end of what is visible of it
};

/// y = level over the whole panel.
plot_reference level_line(double level, std::string label);

/// A map of the points x[i], y[k]: dots where rho[i * y.size() + k] is at most `limit`, crosses elsewhere.
std::vector<plot_curve> map_curves(std::span<const double> x, std::span<const double> y, std::span<const double> rho,
                                   double limit);

struct plot_panel {
    std::string title;
    plot_axis x, y;
    std::vector<plot_curve> curves;
    std::vector<plot_reference> references;
    bool equal_aspect = false;  ///< one unit is as long on both axes (linear axes only)
};

struct plot {
    std::string title;
    std::vector<plot_panel> panels;  ///< row by row
    int columns = 1;
    double panel_width = 420, panel_height = 320;  ///< of the frames, in pixels
};

std::string to_svg(const plot& picture);

/// Throws user_error where the file cannot be written.
void write_svg(const std::string& path, const plot& picture);

}  // namespace mdpcosim
