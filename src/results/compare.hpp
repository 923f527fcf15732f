#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/result_table.hpp"

/// Errors of results A against results B, variable by variable.
///
/// Which times are compared, within the interval that both cover:
///   equal     A and B have the same times
///   common    one has all times of the other, and more: the times that both have
///   values of B are interpolated onto the times of A, where B has no row of that time, in all other cases
/// Interpolation: the cubic through the four nearest rows (error (9/384) h^4 |y''''| inside, for rows h apart); a straight line
/// where one of the three slopes between them is more than 8 times the sum of the other two, which is a jump, and where B has
/// fewer than four rows between two jumps (rows of equal time).
namespace mdpcosim {

/// The last part of a variable's name (position, u): variables of the same kind are compared with each other.
std::string_view kind_of(std::string_view name);

struct variable_error {
    std::string name;
    double max_error = 0;  ///< max |A - B|; infinite where one of them is not a number and the other is
    double time = 0;       ///< of the largest error
    double rms = 0;        ///< root of the mean square over the compared times
    double range = 0;      ///< max B - min B over the compared times
    /// max_error / range; for a constant B max_error / |B|. Rounding errors of what should be zero stay behind real ones: the divisor is at least
    /// 1e-12 of the largest number in B of the same last name (position, u), for a constant in all of B; infinite where all of B is zero.
    double relative = 0;
};

struct comparison {
    enum class grid { equal, common, interpolated };

    std::string a, b;
    grid times = grid::equal;
    std::size_t rows_a = 0, rows_b = 0;
    std::size_t compared = 0;            ///< number of times
    std::size_t interpolated = 0;        ///< of these, between rows of B
    double begin = 0, end = 0;           ///< first and last compared time
    std::vector<variable_error> errors;  ///< the largest relative error first
    std::vector<std::string> only_a, only_b;
    std::vector<std::string> notes;
};

/// By variable: its relative error, the range counting as at least 1e-6 of the largest one of its kind. A mass that hardly moves among others
/// that do is not wrong because its few picometres are.
std::vector<double> errors_among_their_kind(const comparison& c);

/// Both tables in memory. Throws user_error when they have no variable or no time in common.
comparison compare_tables(const result_table& a, const result_table& b);

/// The same from run folders or CSV files; `only` are patterns with `*`, everything when empty.
comparison compare_results(const std::filesystem::path& a, const std::filesystem::path& b,
                           const std::vector<std::string>& only = {});

/// A - B of every common variable at the compared times.
result_table difference(const result_table& a, const result_table& b);

std::string to_json(const comparison& c);
std::string to_table(const comparison& c);

}  // namespace mdpcosim
