#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coupling/extrapolation.hpp"

/// The analyses, part of the facade. Each command has one function that computes and plain data that can be shown as table, JSON
/// document and picture.
namespace mdpcosim {

/// An extrapolation by name or, as in a scenario, own coefficients `{degree: 1, a: [...], b: [...]}`. Throws user_error with the
/// reason and a suggestion.
/// `F` is that of the system it is for, which rules ending in -opt-F need.
extrapolation_rule read_extrapolation(const std::string& text, std::optional<double> F = {});
std::vector<extrapolation_rule> read_extrapolations(const std::vector<std::string>& texts);

}  // namespace mdpcosim
