#include "study/sampling.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

namespace mdpcosim {

namespace {

/// Distributions of the standard library differ between libraries; its generators do not.
class dice_of_study {
   public:
    explicit dice_of_study(std::uint64_t seed) : bits_(seed) {}
    std::uint64_t bits() { return bits_(); }
    /// In (0, 1).
    double number() { return (static_cast<double>(bits_() >> 12U) + 0.5) * 0x1p-52; }
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(number() * static_cast<double>(n)); }

   private:
    std::mt19937_64 bits_;
};

/// A primitive polynomial over GF(2) of this degree, its inner coefficients as bits, and the first direction numbers.
struct sobol_start {
    unsigned degree, inner;
    std::array<unsigned, 7> m;
};
constexpr std::array<sobol_start, most_sobol_dimensions - 1> sobol_starts = {{
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
}};

constexpr unsigned sobol_bits = 32;

std::array<std::uint32_t, sobol_bits> directions(std::size_t dimension) {
    std::array<std::uint32_t, sobol_bits> v{};
    if (dimension == 0) {
        for (unsigned k = 0; k < sobol_bits; ++k) v[k] = 1U << (31U - k);
        return v;
    }
    const sobol_start& s = sobol_starts.at(dimension - 1);
    for (unsigned k = 0; k < s.degree; ++k) v[k] = s.m[k] << (31U - k);
    for (unsigned k = s.degree; k < sobol_bits; ++k) {
        v[k] = v[k - s.degree] ^ (v[k - s.degree] >> s.degree);
        for (unsigned j = 1; j < s.degree; ++j)
            if ((s.inner >> (s.degree - 1 - j)) & 1U) v[k] ^= v[k - j];
    }
    return v;
}

}  // namespace

std::vector<double> sample_points(const std::string& by, std::size_t count, std::size_t dimensions,
                                  std::uint64_t seed) {
    std::vector<double> points(count * dimensions);
    dice_of_study dice(seed);
    if (by == "random") {
        for (double& x : points) x = dice.number();
    } else if (by == "latin-hypercube") {
        std::vector<std::size_t> slice(count);
        for (std::size_t d = 0; d < dimensions; ++d) {
            std::iota(slice.begin(), slice.end(), std::size_t{0});
            for (std::size_t i = count; i > 1; --i) std::swap(slice[i - 1], slice[dice.below(i)]);
            for (std::size_t i = 0; i < count; ++i)
                points[i * dimensions + d] =
                    (static_cast<double>(slice[i]) + dice.number()) / static_cast<double>(count);
        }
    } else if (by == "sobol") {
        if (dimensions > most_sobol_dimensions) throw std::logic_error("too many dimensions of Sobol's sequence");
        for (std::size_t d = 0; d < dimensions; ++d) {
            const auto v = directions(d);
            const auto shift = static_cast<std::uint32_t>(dice.bits() >> 32U);
            std::uint32_t x = 0;
            for (std::size_t i = 0; i < count; ++i) {
                points[i * dimensions + d] = (static_cast<double>(x ^ shift) + 0.5) * 0x1p-32;
                x ^= v[static_cast<std::size_t>(std::countr_one(i))];
            }
        }
    } else {
        throw std::logic_error("unknown sampling " + by);
    }
    return points;
}

double normal_quantile(double p) {
    const double tail = std::min(p, 1 - p);
    // Abramowitz and Stegun, 26.2.23, to 4.5e-4; then Halley's steps on the distribution itself.
    const double t = std::sqrt(-2 * std::log(tail));
    double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int n = 0; n < 3; ++n) {
        const double excess = 0.5 * std::erfc(z / std::numbers::sqrt2) - tail;
        const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
        const double newton = excess / density;
        z += newton / (1 + 0.5 * z * -newton);
    }
    return p < 0.5 ? -z : z;
}

}  // namespace mdpcosim
