#include "subsystem/file_curves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mdpcosim {

namespace {

/// Weighted harmonic mean of the neighbouring slopes d0, d1 over the lengths h0, h1; zero at a local extremum.
double inner_slope(double h0, double h1, double d0, double d1) {
    if (!(d0 * d1 > 0)) return 0;
    const double w0 = 2 * h1 + h0;
    const double w1 = h1 + 2 * h0;
    return (w0 + w1) / (w0 / d0 + w1 / d1);
}

/// The slope of the parabola through the three points at an end, cut where it would overshoot.
double end_slope(double h0, double h1, double d0, double d1) {
    const double m = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (!(m * d0 > 0)) return 0;
    if (!(d0 * d1 > 0) && std::abs(m) > 3 * std::abs(d0)) return 3 * d0;
    return m;
}

/// A grid time n*H may miss the time of a row by rounding; it must not fall on the wrong side of a jump.
double rounding_of(double t) { return 8 * std::numeric_limits<double>::epsilon() * std::abs(t); }

constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

sampled_curves::sampled_curves(csv_table table, interpolation between, outside beyond)
    : table_(std::move(table)), between_(between), beyond_(beyond) {
    if (between_ != interpolation::cubic) return;
    find_slopes();
    const auto& time = table_.time;
    const bool any_held = std::ranges::find(table_.held, true) != table_.held.end() || !table_.text_columns.empty();
    smooth_ = beyond_ == outside::hold && !any_held && std::adjacent_find(time.begin(), time.end()) == time.end();
}

void sampled_curves::evaluate(double t, double* values, double* rates) const {
    const auto& time = table_.time;
    const double rounding = rounding_of(t);
    if (beyond_ == outside::repeat) to_period(t);
    const std::size_t row = t + rounding < time.front() ? 0 : row_at(t + rounding);
    const bool inside = row + 1 < time.size() && t + rounding >= time.front();
    if (!inside || between_ == interpolation::hold) return copy_row(row, values, rates);

    const double h = time[row + 1] - time[row];
    const double s = std::clamp(t - time[row], 0.0, h);
    const std::size_t n = count();
    const double* left = table_.values.data() + row * n;
    const double* right = left + n;
    for (std::size_t i = 0; i < n; ++i) {
        if (!table_.held.empty() && table_.held[i]) {
            values[i] = left[i];
            rates[i] = 0;
            continue;
        }
        const double d = (right[i] - left[i]) / h;
        if (between_ == interpolation::linear) {
            values[i] = left[i] + s * d;
            rates[i] = d;
            continue;
        }
        const double m0 = slopes_[row * n + i];
        const double m1 = slopes_[(row + 1) * n + i];
        const double c2 = (3 * d - 2 * m0 - m1) / h;
        const double c3 = (m0 + m1 - 2 * d) / (h * h);
        values[i] = left[i] + s * (m0 + s * (c2 + s * c3));
        rates[i] = m0 + s * (2 * c2 + 3 * s * c3);
    }
}

std::size_t sampled_curves::row(double t) const {
    const double rounding = rounding_of(t);
    if (beyond_ == outside::repeat) to_period(t);
    return t + rounding < table_.time.front() ? 0 : row_at(t + rounding);
}

/// Brings t into the first period and returns the number of periods taken off.
double sampled_curves::to_period(double& t) const {
    const auto& time = table_.time;
    const double rounding = rounding_of(t);
    const double period = time.back() - time.front();
    double count = std::floor((t + rounding - time.front()) / period);
    t -= period * count;
    if (t + rounding >= time.back()) {
        t -= period;
        count += 1;
    }
    return count;
}

std::int64_t sampled_curves::place(double t) const {
    const double rounding = rounding_of(t);
    const double count = beyond_ == outside::repeat ? to_period(t) : 0;
    // A repeated t may lie before the first row by a rounding error of the subtraction; evaluate() takes the first row then.
    const auto row = t + rounding < table_.time.front() ? (beyond_ == outside::repeat ? 0 : -1)
                                                        : static_cast<std::int64_t>(row_at(t + rounding));
    return static_cast<std::int64_t>(count) * static_cast<std::int64_t>(table_.rows()) + row;
}

double sampled_curves::next_break(double t) const {
    const auto& time = table_.time;
    const auto rows = static_cast<std::int64_t>(table_.rows());
    const std::int64_t here = place(t);
    const std::int64_t next = here + 1;
    if (beyond_ == outside::hold && next == rows) return infinite;
    const std::int64_t count = next >= 0 ? next / rows : -1 - (-1 - next) / rows;
    const double row_time = time[static_cast<std::size_t>(next - count * rows)];
    const double shift = beyond_ == outside::repeat ? static_cast<double>(count) * (time.back() - time.front()) : 0;

    // evaluate() forgives rounding errors of t, so that it changes rows a little beside the row's time: search for where.
    double width = 32 * std::numeric_limits<double>::epsilon() * (std::abs(row_time) + std::abs(shift));
    double before = t, after = row_time + shift;
    for (; place(after) <= here; width *= 2)
        after = std::max(row_time + shift + width, std::nextafter(after, infinite));
    before = std::max(before, row_time + shift - width);
    if (place(before) > here) before = t;
    while (true) {
        const double middle = before + (after - before) / 2;
        if (!(middle > before && middle < after)) return after;
        (place(middle) > here ? after : before) = middle;
    }
}

double sampled_curves::break_between(double begin, double end) const {
    if (smooth_) return infinite;
    const std::int64_t here = place(end);
    if (here == place(begin)) return infinite;
    const auto rows = static_cast<std::int64_t>(table_.rows());
    const std::int64_t count = here >= 0 ? here / rows : -1 - (-1 - here) / rows;
    const double shift =
        beyond_ == outside::repeat ? static_cast<double>(count) * (table_.time.back() - table_.time.front()) : 0;
    return std::min(end, table_.time[static_cast<std::size_t>(here - count * rows)] + shift);
}

/// The last row whose time is not after t; it does not depend on the cursor, so that restored runs repeat bit by bit.
std::size_t sampled_curves::row_at(double t) const {
    const auto& time = table_.time;
    if (time[cursor_] > t) {
        cursor_ = static_cast<std::size_t>(std::upper_bound(time.begin(), time.begin() + cursor_, t) - time.begin());
        cursor_ -= cursor_ > 0 ? 1 : 0;
        return cursor_;
    }
    for (int i = 0; i < 8; ++i) {
        if (cursor_ + 1 == time.size() || time[cursor_ + 1] > t) return cursor_;
        ++cursor_;
    }
    cursor_ = static_cast<std::size_t>(std::upper_bound(time.begin() + cursor_, time.end(), t) - time.begin()) - 1;
    return cursor_;
}

void sampled_curves::copy_row(std::size_t row, double* values, double* rates) const {
    std::copy_n(table_.values.data() + row * count(), count(), values);
    std::fill_n(rates, count(), 0.0);
}

void sampled_curves::find_slopes() {
    slopes_.assign(table_.values.size(), 0.0);
    for (std::size_t begin = 0; begin < table_.rows();) {
        std::size_t end = begin + 1;
        while (end < table_.rows() && table_.time[end] > table_.time[end - 1]) ++end;
        for (std::size_t column = 0; column < count(); ++column) find_slopes(begin, end, column);
        begin = end;
    }
}

/// Slopes of one column over one smooth piece, rows begin to end - 1.
void sampled_curves::find_slopes(std::size_t begin, std::size_t end, std::size_t column) {
    const std::size_t rows = end - begin;
    if (rows < 2) return;
    const auto value = [&](std::size_t row) { return table_.values[row * count() + column]; };
    const auto h = [&](std::size_t row) { return table_.time[row + 1] - table_.time[row]; };
    const auto d = [&](std::size_t row) { return (value(row + 1) - value(row)) / h(row); };
    const auto slope = [&](std::size_t row) -> double& { return slopes_[row * count() + column]; };
    const std::size_t last = end - 1;
    if (rows == 2) {
        slope(begin) = slope(last) = d(begin);
        return;
    }
    for (std::size_t row = begin + 1; row < last; ++row)
        slope(row) = inner_slope(h(row - 1), h(row), d(row - 1), d(row));
    slope(begin) = end_slope(h(begin), h(begin + 1), d(begin), d(begin + 1));
    slope(last) = end_slope(h(last - 1), h(last - 2), d(last - 1), d(last - 2));
    const bool whole = rows == table_.rows();
    if (beyond_ == outside::repeat && whole && value(begin) == value(last))  // smooth across the period
        slope(begin) = slope(last) = inner_slope(h(last - 1), h(begin), d(last - 1), d(begin));
}

}  // namespace mdpcosim
