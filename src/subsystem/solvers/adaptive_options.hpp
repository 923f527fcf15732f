#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/parameter.hpp"

/// What all solvers with error control have in common: options, the remembered step, reasons for failing.
namespace mdpcosim {

struct adaptive_options {
    double rtol = 1e-6;
    double atol = 1e-9;
    std::int64_t max_steps = 100000;  ///< micro steps in one macro step
    double max_step = 0;              ///< s; 0: no limit
};

std::vector<parameter_info> adaptive_option_list();
adaptive_options read_adaptive_options(const parameter_values& values);

/// The micro step to try next, which outlives the macro step. A micro step cut by the end of its interval says little where its error
/// is negligible: then what was remembered before stays.
struct remembered_step {
    static constexpr double safety = 0.9, least_growth = 0.1, most_growth = 10;

    double size = 0;  ///< s; 0: nothing is known

    /// After a micro step h, accepted or not, that its error would let grow by `factor`.
    void learn(double h, double factor, double max_step) {
        const bool uninformative = h < 0.999 * size && factor >= most_growth;
        size = uninformative ? std::max(size, h * factor) : h * factor;
        if (max_step > 0) size = std::min(size, max_step);
    }
};

/// Reasons, and what to try; `explicit_method`: it has no Newton iteration.
std::string too_many_steps(const adaptive_options& options, bool explicit_method);
std::string tolerances_too_tight(const adaptive_options& options);
std::string error_test_fails(bool explicit_method);
/// Which derivative was not finite, and when.
std::string not_finite_right_hand_side(const std::string& state, double when);

}  // namespace mdpcosim
