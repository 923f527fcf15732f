#pragma once

#include <span>

/// How much a measure follows a parameter, over samples. Pairs with a value that is no number are left out.
namespace mdpcosim {

/// Pearson's, from -1 to 1; no number with fewer than three samples or without any change.
double correlation(std::span<const double> x, std::span<const double> y);

/// The share of the variance of y that goes with x alone (Sobol's first-order index), from any independent samples: variance of the means in
/// slices of x with equally many samples, less what chance adds to it. No number with fewer than 50 samples.
double first_order_index(std::span<const double> x, std::span<const double> y);

}  // namespace mdpcosim
