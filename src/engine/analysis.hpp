#pragma once

#include <string>
#include <vector>

#include "analysis/order.hpp"
#include "coupling/extrapolation.hpp"

/// The analyses, part of the facade. Each command has one function that computes and plain data that can be shown as table, JSON
/// document and picture.
namespace mdpcosim {

/// Extrapolations by name or, as in a scenario, own coefficients `{degree: 1, a: [...], b: [...]}`. Throws user_error with the
/// reason and a suggestion.
std::vector<extrapolation_rule> read_extrapolations(const std::vector<std::string>& texts);

/// Throws user_error with the methods there are.
void check_method(const std::string& name);

/// Measured local and global orders, one result per extrapolation.
std::vector<order_result> order(const std::vector<std::string>& extrapolations, const std::string& method,
                                int input_degree);

}  // namespace mdpcosim
