#include "coupling/output_history.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace mdpcosim {

output_history::output_history(std::size_t outputs, std::size_t points)
    : outputs_(outputs), times_(std::max<std::size_t>(points, weights::most)), values_(times_.size() * outputs) {}

void output_history::add(double t, std::span<const double> y) {
    assert(count_ == 0 || t > newest());
    if (count_ == times_.size())
        first_ = place(1);
    else
        ++count_;
    times_[place(count_ - 1)] = t;
    replace(y);
}

void output_history::replace(std::span<const double> y) {
    std::ranges::copy(y, values_.begin() + static_cast<std::ptrdiff_t>(place(count_ - 1) * outputs_));
}

/// A time that differs by rounding is the same time.
std::size_t output_history::first_at_or_after(double t) const {
    if (count_ > 1) t -= 1e-9 * (newest() - time(count_ - 2));
    std::size_t low = 0, high = count_;
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (time(middle) < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

output_history::weights output_history::window(double t, int points) const {
    weights w;
    w.count = static_cast<int>(std::min(count_, static_cast<std::size_t>(points)));
    const std::size_t last = std::min(first_at_or_after(t), count_ - 1);
    const auto before = static_cast<std::size_t>(w.count - 1);
    w.first = last > before ? last - before : 0;
    return w;
}

output_history::weights output_history::interpolate(double t, int order) const {
    if (t <= time(0)) return {.first = 0, .count = 1, .of = {1}};
    weights w = window(t, order + 1);
    for (int i = 0; i < w.count; ++i) {
        const double own = time(w.first + static_cast<std::size_t>(i));
        double product = 1;
        for (int k = 0; k < w.count; ++k) {
            const double other = time(w.first + static_cast<std::size_t>(k));
            if (k != i) product *= (t - other) / (own - other);
        }
        w.of[static_cast<std::size_t>(i)] = product;
    }
    return w;
}

/// By polynomials that are orthogonal over the points, made one from the other (Forsythe 1957): the weights of the values are
/// sum_k p_k(t) p_k(t_i) / sum_j p_k(t_j)^2.
output_history::weights output_history::fit(double t, int order) const {
    if (t <= time(0)) return {.first = 0, .count = 1, .of = {1}};
    weights w = window(t, 2 * (order + 1));
    const auto n = static_cast<std::size_t>(w.count);
    const double centre = time(w.first + n - 1);
    const double scale = n > 1 ? centre - time(w.first) : 1;
    using row = std::array<double, weights::most>;
    row x{}, before{}, now{};
    for (std::size_t i = 0; i < n; ++i) {
        x[i] = (time(w.first + i) - centre) / scale;
        now[i] = 1;
    }
    const double at = (t - centre) / scale;
    double before_at = 0, now_at = 1, norm_before = 1;
    for (int k = 0; k <= std::min(order, w.count - 1); ++k) {
        double norm = 0, shift = 0;
        for (std::size_t i = 0; i < n; ++i) {
            norm += now[i] * now[i];
            shift += x[i] * now[i] * now[i];
        }
        for (std::size_t i = 0; i < n; ++i) w.of[i] += now_at * now[i] / norm;
        const double alpha = shift / norm, beta = k == 0 ? 0 : norm / norm_before;
        for (std::size_t i = 0; i < n; ++i) {
            const double next = (x[i] - alpha) * now[i] - beta * before[i];
            before[i] = now[i];
            now[i] = next;
        }
        const double next_at = (at - alpha) * now_at - beta * before_at;
        before_at = now_at;
        now_at = next_at;
        norm_before = norm;
    }
    return w;
}

output_history::weights output_history::hold(double t) const {
    // Rounding: a point just after t is one at t.
    const double late = count_ > 1 ? 1e-9 * (newest() - time(count_ - 2)) : 0;
    std::size_t last = std::min(first_at_or_after(t), count_ - 1);
    if (last > 0 && time(last) > t + late) --last;
    return {.first = last, .count = 1, .of = {1}};
}

double output_history::value(const weights& w, std::size_t output) const {
    double sum = 0;
    for (int i = 0; i < w.count; ++i)
        sum += w.of[static_cast<std::size_t>(i)] * row(w.first + static_cast<std::size_t>(i))[output];
    return sum;
}

double output_history::mean(double begin, double end, std::size_t output) const {
    const weights at_begin = interpolate(begin, 1), at_end = interpolate(end, 1);
    double t = begin, y = value(at_begin, output), area = 0;
    for (std::size_t k = first_at_or_after(begin); k < count_ && time(k) < end; ++k) {
        area += (time(k) - t) * (y + row(k)[output]) / 2;
        t = time(k);
        y = row(k)[output];
    }
    area += (end - t) * (y + value(at_end, output)) / 2;
    return area / (end - begin);
}

}  // namespace mdpcosim
