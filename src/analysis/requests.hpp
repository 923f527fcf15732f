#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/longtime.hpp"
#include "analysis/order.hpp"
#include "coupling/extrapolation.hpp"

/// The analyses, part of the facade. Each command has one function that computes and plain data that can be shown as table, JSON
/// document and picture.
namespace mdpcosim {

/// An extrapolation by name or, as in a scenario, own coefficients `{degree: 1, a: [...], b: [...]}`. Throws user_error with the
/// reason and a suggestion.
/// `F` is that of the system it is for, which rules ending in -opt-F need.
extrapolation_rule read_extrapolation(const std::string& written, std::optional<double> F = {},
                                      const std::string& option = "--extrapolation");

/// Throws user_error with the methods there are.
void check_method(const std::string& name);

/// Measured local and global orders, one result per extrapolation.
std::vector<order_result> order(const std::vector<std::string>& extrapolations, const std::string& method,
                                int input_degree);

/// What `longtime` is asked for; extrapolations, variants and the method by name.
struct longtime_request {
    std::vector<std::string> extrapolations;
    std::vector<std::string> variants;                      ///< empty: all
    std::optional<std::string> displacement_extrapolation;  ///< absent: poly-K of the same degree
    std::string method = default_method;
    int input_degree = max_degree;
    std::vector<double> F;
    double V = 1, frequency_ratio = 1, damping = 0;
    std::optional<double> step, coupling_damping;
    int periods = 50;
};

/// One result per F and extrapolation.
std::vector<longtime_result> longtime(const longtime_request& request);

}  // namespace mdpcosim
