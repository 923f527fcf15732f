#pragma once

#include "analysis/advice.hpp"
#include "results/result_table.hpp"

/// Runs that advice is made of: of the stand-in, and of the scenario itself.
namespace mdpcosim {

/// The scenario's coupled system of identified subsystems over its time span: columns of what is coupled, a row at every macro point.
/// `integrations` receives how many a macro step took. Throws run_error where it fails.
result_table run_stand_in(scenario s, const identified_system& known, const std::vector<std::string>& columns,
                          double* integrations = nullptr);

/// The largest error of a column, relative to its range.
double largest_error(const result_table& run, const result_table& reference);

/// Runs the scenario with nearly its limit; where that is not stable with less. `sample`: steps are whole parts of it, 0: any.
void confirm_limit(const scenario& s, double limit, double sample, confirmation& into);
/// Measures the error with a step.
void confirm_error(const scenario& s, double step, double predicted, double span, confirmation& into);

}  // namespace mdpcosim
