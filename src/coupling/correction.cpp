#include "coupling/correction.hpp"

#include <array>

#include "core/polynomial.hpp"

namespace mdpcosim {

namespace {

struct product {
    std::array<double, max_degree + 2> c{1};
    int degree = 0;

    void times(double root) {
        for (int i = ++degree; i > 0; --i) c[i] = c[i - 1] - root * c[i];
        c[0] *= -root;
    }
    /// Integrals over the unit step of it, and of it times 1 - s.
    correction_constants act() const {
        correction_constants sum{0, 0};
        for (int i = 0; i <= degree; ++i) {
            sum.rate += c[i] / (i + 1);
            sum.value += c[i] / ((i + 1) * (i + 2));
        }
        return sum;
    }
};

correction_constants constants(std::span<const double> history, int n, double last_root) {
    product added;
    for (int k = 0; k < n; ++k) added.times(history[static_cast<std::size_t>(k)]);
    product left = added;
    left.times(last_root);
    const auto [value, rate] = left.act();
    const auto [value_added, rate_added] = added.act();
    const double height = 1 - history[static_cast<std::size_t>(n)];
    return {value / (height * value_added), rate / (height * rate_added)};
}

}  // namespace

correction_constants extrapolation_constants(std::span<const double> history, int n) {
    return constants(history, n, history[static_cast<std::size_t>(n)]);
}

correction_constants interpolation_constants(std::span<const double> history, int n) {
    return constants(history, n, 1);
}

}  // namespace mdpcosim
