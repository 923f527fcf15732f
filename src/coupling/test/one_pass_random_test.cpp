#include <cmath>
#include <random>

#include "coupling/test/oscillators.hpp"

namespace mdpcosim {
namespace {

using test::oscillators, test::radius;

TEST(one_pass, random_systems_are_stable_at_ten_times_the_explicit_limit) {
    // lin-2-3-opt: (highest frequency) H = 1.9 (docs/methods/stability.md). Trees of bodies with further couplings, 0.1 % damping.
    std::mt19937 random(7);
    const auto log_uniform = [&random](double low, double high) {
        return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
    };
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    constexpr int systems = 5;
#else
    constexpr int systems = 50;
#endif
    for (int i = 0; i < systems; ++i) {
        const std::size_t n = std::uniform_int_distribution<std::size_t>(2, 20)(random);
        std::vector<oscillators::body> bodies;
        for (std::size_t b = 0; b < n; ++b) bodies.push_back({log_uniform(0.3, 3), log_uniform(0.58, 1.73)});
        std::vector<oscillators::coupling> couplings;
        const auto couple = [&](std::size_t a, std::size_t b) {
            const auto own = [](const oscillators::body& x) { return x.m * x.omega * x.omega; };
            couplings.push_back({a, b, log_uniform(1e3, 1e6) * std::max(own(bodies[a]), own(bodies[b]))});
        };
        for (std::size_t b = 1; b < n; ++b) couple(std::uniform_int_distribution<std::size_t>(0, b - 1)(random), b);
        for (std::size_t b = 2; b < n; b += 3) couple(b - 2, b);
        const auto size = static_cast<Eigen::Index>(n);
        Eigen::MatrixXd K = Eigen::MatrixXd::Zero(size, size);
        for (Eigen::Index b = 0; b < size; ++b) K(b, b) = std::pow(bodies[static_cast<std::size_t>(b)].omega, 2);
        for (const auto& [a, b, c, d] : couplings) {
            const auto p = static_cast<Eigen::Index>(a), q = static_cast<Eigen::Index>(b);
            const double between = c / std::sqrt(bodies[a].m * bodies[b].m);
            K(p, p) += c / bodies[a].m;
            K(q, q) += c / bodies[b].m;
            K(p, q) -= between;
            K(q, p) -= between;
        }
        const double highest = std::sqrt(K.selfadjointView<Eigen::Lower>().eigenvalues().maxCoeff());
        EXPECT_LT(radius(oscillators(bodies, couplings, 1, 1e-3).recurrence(10 * 1.9 / highest)), 1 + 1e-6) << i;
    }
}

}  // namespace
}  // namespace mdpcosim
