#pragma once

#include <string>
#include <vector>

#include "analysis/plot.hpp"

/// From values to pixels along one axis, and its ticks.
namespace mdpcosim {

struct plot_tick {
    double value;
    std::string text;  ///< "0.5", or of a power of ten the exponent
    bool power = false;
};

class plot_scale {
   public:
    /// Ends as given, otherwise those of the values with a margin.
    plot_scale(const plot_axis& axis, const std::vector<const std::vector<double>*>& values);

    /// Puts the ends at these pixels; afterwards at() and ticks() hold.
    void place(double low_pixel, double high_pixel);
    /// Widens the range around its middle until `units` of it fit one pixel.
    void widen_to(double units_per_pixel);
    double units_per_pixel() const;

    /// Not a number where the value has no place; infinite values land far outside.
    double at(double value) const;

    std::vector<plot_tick> ticks() const;
    std::vector<double> minor_ticks() const;
    /// The power of ten that all texts of ticks() leave out.
    int common_exponent() const;

   private:
    std::vector<plot_tick> linear_ticks() const;
    std::vector<plot_tick> decade_ticks() const;
    double tick_step() const;

    bool logarithmic_;
    double low_ = 0, high_ = 1;  ///< of the values, or of their decimal logarithms
    double low_pixel_ = 0, high_pixel_ = 1;
};

}  // namespace mdpcosim
