#include "analysis/plot_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mdpcosim {

namespace {

constexpr double margin = 0.04;
constexpr double far_outside = 1e6;  // pixels
constexpr double pixels_per_tick = 55;

}  // namespace

plot_scale::plot_scale(const plot_axis& axis, const std::vector<const std::vector<double>*>& values)
    : logarithmic_(axis.logarithmic) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto* list : values)
        for (const double value : *list) {
            const double v = logarithmic_ ? std::log10(value) : value;  // NaN and infinite for what has no place
            if (!std::isfinite(v)) continue;
            low = std::min(low, v);
            high = std::max(high, v);
        }
    if (!(low <= high)) low = high = 0;
    if (high - low <= 1e-12 * std::max(std::abs(low), std::abs(high)) || high == low) {
        const double around = logarithmic_ ? 0.5 : low == 0 ? 1 : 0.1 * std::abs(low);
        low -= around;
        high += around;
    } else {
        const double room = margin * (high - low);
        low -= room;
        high += room;
    }
    const auto given = [&](double value) { return logarithmic_ ? std::log10(value) : value; };
    low_ = axis.low ? given(*axis.low) : low;
    high_ = axis.high ? given(*axis.high) : high;
}

void plot_scale::place(double low_pixel, double high_pixel) {
    low_pixel_ = low_pixel;
    high_pixel_ = high_pixel;
}

double plot_scale::units_per_pixel() const { return (high_ - low_) / std::abs(high_pixel_ - low_pixel_); }

void plot_scale::widen_to(double units) {
    const double middle = (low_ + high_) / 2, half = units * std::abs(high_pixel_ - low_pixel_) / 2;
    low_ = middle - half;
    high_ = middle + half;
}

double plot_scale::at(double value) const {
    if (std::isnan(value) || (logarithmic_ && value <= 0 && !std::isinf(value)))
        return std::numeric_limits<double>::quiet_NaN();
    const double v = logarithmic_ && !std::isinf(value) ? std::log10(value) : value;
    return std::clamp(low_pixel_ + (v - low_) / (high_ - low_) * (high_pixel_ - low_pixel_), -far_outside, far_outside);
}

double plot_scale::tick_step() const {
    const double wanted = (high_ - low_) / std::max(2.0, std::abs(high_pixel_ - low_pixel_) / pixels_per_tick);
    const double power = std::pow(10, std::floor(std::log10(wanted)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= wanted) return factor * power;
    return 10 * power;
}

int plot_scale::common_exponent() const {
    if (logarithmic_) return 0;
    const double largest = std::max(std::abs(low_), std::abs(high_));
    const int exponent = static_cast<int>(std::floor(std::log10(largest)));
    return exponent >= 5 || exponent <= -3 ? exponent : 0;
}

std::vector<plot_tick> plot_scale::linear_ticks() const {
    const double step = tick_step(), unit = std::pow(10, common_exponent());
    const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step / unit) + 1e-9)));
    std::vector<plot_tick> all;
    for (double k = std::ceil(low_ / step - 1e-9); k * step <= high_ + 1e-9 * step; ++k)
        all.push_back({k * step, fmt::format("{:.{}f}", k == 0 ? 0.0 : k * step / unit, decimals)});
    return all;
}

std::vector<plot_tick> plot_scale::decade_ticks() const {
    const double decades = high_ - low_;
    const double fitting = std::max(2.0, std::abs(high_pixel_ - low_pixel_) / pixels_per_tick);
    std::vector<plot_tick> all;
    const int every = std::max(1, static_cast<int>(std::ceil(decades / fitting)));
    for (int n = static_cast<int>(std::ceil(low_ - 1e-9)); n <= high_ + 1e-9; ++n) {
        if (n % every == 0) all.push_back({std::pow(10, n), fmt::format("{}", n), true});
    }
    if (decades > 2) return all;
    // Within two decades, numbers that say themselves, as many as have room.
    all.clear();
    for (int n = static_cast<int>(std::floor(low_)); n <= high_ + 1e-9; ++n)
        for (const int factor : {1, 2, 3, 5, 7}) {
            if ((factor == 3 || factor == 7) && decades > 0.8) continue;
            const double value = factor * std::pow(10, n), v = std::log10(value);
            if (v >= low_ - 1e-9 && v <= high_ + 1e-9) all.push_back({value, fmt::format("{:.3g}", value)});
        }
    return all;
}

std::vector<plot_tick> plot_scale::ticks() const { return logarithmic_ ? decade_ticks() : linear_ticks(); }

std::vector<double> plot_scale::minor_ticks() const {
    std::vector<double> all;
    if (!logarithmic_ || high_ - low_ > 12) return all;
    for (int n = static_cast<int>(std::floor(low_)); n <= high_; ++n)
        for (int factor = 1; factor <= 9; ++factor) {
            if (high_ - low_ > 5 && factor > 1) break;
            const double value = factor * std::pow(10, n), v = std::log10(value);
            if (v >= low_ && v <= high_) all.push_back(value);
        }
    return all;
}

}  // namespace mdpcosim
