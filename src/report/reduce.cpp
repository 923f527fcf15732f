#include "report/reduce.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace mdpcosim {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as the page reads them");

/// Rows of the smallest and the largest finite value in [first, last), in the order of their times.
std::pair<std::size_t, std::size_t> extremes(std::span<const double> values, std::size_t first, std::size_t last) {
    std::size_t low = last, high = last;
    for (std::size_t i = first; i < last; ++i) {
        if (!std::isfinite(values[i])) continue;
        if (low == last || values[i] < values[low]) low = i;
        if (high == last || values[i] > values[high]) high = i;
    }
    if (low == last) return {first, first};
    return std::minmax(low, high);
}

}  // namespace

reduced_column reduce_column(std::span<const double> time, std::span<const double> values, std::size_t stride) {
    reduced_column out;
    if (stride <= 1) {
        out.values.assign(values.begin(), values.end());
        return out;
    }
    const std::size_t rows = values.size();
    out.values.push_back(values.front());
    for (std::size_t first = 0; first < rows; first += stride) {
        const std::size_t last = std::min(first + stride, rows);
        const double begin = time[first], length = time[last < rows ? last : rows - 1] - begin;
        const auto [one, two] = extremes(values, first, last);
        for (const std::size_t row : {one, two}) {
            out.values.push_back(values[row]);
            out.at.push_back(length > 0 ? static_cast<std::uint8_t>(std::lround(255 * (time[row] - begin) / length))
                                        : std::uint8_t{0});
        }
    }
    out.values.push_back(values.back());
    return out;
}

std::vector<double> bucket_times(std::span<const double> time, std::size_t stride) {
    if (stride <= 1) return {time.begin(), time.end()};
    std::vector<double> out;
    for (std::size_t first = 0; first < time.size(); first += stride) out.push_back(time[first]);
    out.push_back(time.back());
    return out;
}

reduction choose_reduction(std::size_t rows, std::size_t columns, std::size_t budget) {
    constexpr std::size_t full = sizeof(double), half = sizeof(float);
    if (rows * (columns + 1) * full <= budget) return {1, false};
    if (rows * (full + columns * half) <= budget) return {1, true};
    const std::size_t per_bucket = full + 2 * columns * (half + 1);
    const std::size_t buckets = std::max<std::size_t>(1, budget / per_bucket);
    return {(rows + buckets - 1) / buckets, true};
}

namespace {

std::string base64(const unsigned char* bytes, std::size_t count) {
    static constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out((count + 2) / 3 * 4, '=');
    for (std::size_t i = 0, k = 0; i < count; i += 3, k += 4) {
        const std::size_t left = count - i;
        const unsigned one = bytes[i], two = left > 1 ? bytes[i + 1] : 0u, three = left > 2 ? bytes[i + 2] : 0u;
        const unsigned word = one << 16 | two << 8 | three;
        out[k] = letters[word >> 18];
        out[k + 1] = letters[word >> 12 & 63];
        if (left > 1) out[k + 2] = letters[word >> 6 & 63];
        if (left > 2) out[k + 3] = letters[word & 63];
    }
    return out;
}

}  // namespace

std::string encode(std::span<const double> values, bool single) {
    if (!single) return base64(reinterpret_cast<const unsigned char*>(values.data()), values.size_bytes());
    std::vector<float> small(values.size());
    std::transform(values.begin(), values.end(), small.begin(), [](double v) {
        constexpr double most = std::numeric_limits<float>::max();
        return static_cast<float>(std::isfinite(v) ? std::clamp(v, -most, most) : v);
    });
    return base64(reinterpret_cast<const unsigned char*>(small.data()), small.size() * sizeof(float));
}

std::string encode(std::span<const std::uint8_t> bytes) { return base64(bytes.data(), bytes.size()); }

}  // namespace mdpcosim
