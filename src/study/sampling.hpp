#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Points of the unit cube, the same for the same seed on every machine.
namespace mdpcosim {

/// Of Sobol's sequence: so many dimensions have direction numbers here.
inline constexpr std::size_t most_sobol_dimensions = 21;

/// `count` points of `dimensions` numbers in (0, 1), point after point. `by`:
///   random            independent ones
///   latin-hypercube   each of `count` equal slices of every dimension has one point
///   sobol             Sobol's sequence with the direction numbers of Joe and Kuo (SIAM J. Sci. Comput. 30, 2008), shifted digitally by
///                     the seed: every dyadic slice has its share, also of pairs of dimensions
std::vector<double> sample_points(const std::string& by, std::size_t count, std::size_t dimensions, std::uint64_t seed);

/// The number below which a standard normal one lies with probability p, 0 < p < 1.
double normal_quantile(double p);

}  // namespace mdpcosim
