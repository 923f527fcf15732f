#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Rows made few enough for a page, so that nothing that can be seen is lost.
///
/// `stride` rows become one bucket, and of each bucket every column keeps its smallest and its largest value, in their order and
/// with their own times (to 1/255 of the bucket); the first and the last row are kept as well. With stride 1 every row is kept as it is.
namespace mdpcosim {

/// A column of one bucket after the other; values that are not finite count only where a bucket has no others.
struct reduced_column {
    std::vector<double> values;    ///< first row, two per bucket, last row; with stride 1 the rows
    std::vector<std::uint8_t> at;  ///< two per bucket: place between the bucket's times; empty with stride 1
};

reduced_column reduce_column(std::span<const double> time, std::span<const double> values, std::size_t stride);

/// Times at which the buckets begin, and the last time; with stride 1 all times.
std::vector<double> bucket_times(std::span<const double> time, std::size_t stride);

/// How to write a table so that it takes at most `budget` bytes: every row with full precision where that fits, then every row in
/// single precision, then the least stride.
struct reduction {
    std::size_t stride = 1;
    bool single = false;
};
reduction choose_reduction(std::size_t rows, std::size_t columns, std::size_t budget);

/// Little-endian numbers as base64.
std::string encode(std::span<const double> values, bool single = false);
std::string encode(std::span<const std::uint8_t> bytes);

}  // namespace mdpcosim
