#include "coupling/one_pass.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <complex>

namespace mdpcosim {
namespace {

/// Masses on springs of their own, exact over a step with a constant force, coupled by spring-dampers through one_pass alone.
class oscillators {
   public:
    struct body {
        double m, omega;
        double x = 0, v = 0;
    };
    struct coupling {
        std::size_t first, second;
        double c, d = 0;
    };

    oscillators(std::vector<body> bodies, std::vector<coupling> couplings, double wrong = 1)
        : bodies_(std::move(bodies)), couplings_(std::move(couplings)) {
        std::vector<matrix_entry> Q;
        for (std::uint32_t i = 0; i < couplings_.size(); ++i)
            for (std::uint32_t j = 0; j < couplings_.size(); ++j)
                for (std::size_t b = 0; b < bodies_.size(); ++b) {
                    const double value = sign(i, b) * sign(j, b) / bodies_[b].m * wrong;
                    if (value != 0) Q.push_back({i, j, value});
                }
        solver_ = one_pass(couplings_.size(), Q);
    }

    void step(double H) {
        std::vector<double> u, v;
        std::vector<one_pass::slope> slopes;
        for (std::size_t i = 0; i < couplings_.size(); ++i) {
            const auto& [a, b, c, d] = couplings_[i];
            const double rate = bodies_[a].v - bodies_[b].v;
            u.push_back(c * (bodies_[a].x - bodies_[b].x) + d * rate);
            v.push_back(rate);
            slopes.push_back({c, d});
        }
        if (started_) {
            solver_.accept(H, v);
        } else {
            // Without a trial step: as if nothing but u changed the rates.
            solver_.begin(u, std::vector<double>(u.size(), 0.0));
        }
        started_ = true;
        ASSERT_FALSE(solver_.solve(H, u, v, slopes).has_value());
        for (std::size_t b = 0; b < bodies_.size(); ++b) {
            double force = 0;
            for (std::size_t i = 0; i < couplings_.size(); ++i) force -= sign(i, b) * solver_.u()[i];
            auto& [m, omega, x, rate] = bodies_[b];
            const double rest = force / (m * omega * omega), C = std::cos(omega * H), S = std::sin(omega * H);
            const double next = rest + (x - rest) * C + rate / omega * S;
            rate = rate * C - (x - rest) * omega * S;
            x = next;
        }
    }

    /// From r to r one step later; r: x, v of all bodies, then the solver's memory.
    Eigen::MatrixXd recurrence(double H) {
        const std::size_t n = 2 * bodies_.size(), size = n + solver_.memory_size();
        Eigen::MatrixXd P(size, size);
        std::vector<double> memory(solver_.memory_size());
        started_ = true;
        for (std::size_t column = 0; column < size; ++column) {
            std::fill(memory.begin(), memory.end(), 0.0);
            for (auto& b : bodies_) b.x = b.v = 0;
            if (column < n) {
                (column % 2 == 0 ? bodies_[column / 2].x : bodies_[column / 2].v) = 1;
            } else {
                memory[column - n] = 1;
            }
            solver_.set_memory(memory);
            step(H);
            P.col(static_cast<Eigen::Index>(column)) = state();
        }
        return P;
    }

    Eigen::VectorXd state() const {
        Eigen::VectorXd r(2 * bodies_.size() + solver_.memory_size());
        auto* out = r.data();
        for (const auto& b : bodies_) {
            *out++ = b.x;
            *out++ = b.v;
        }
        solver_.memory({out, solver_.memory_size()});
        return r;
    }
    const std::vector<body>& bodies() const { return bodies_; }

   private:
    double sign(std::size_t i, std::size_t b) const {
        return (couplings_[i].first == b ? 1.0 : 0.0) - (couplings_[i].second == b ? 1.0 : 0.0);
    }

    std::vector<body> bodies_;
    std::vector<coupling> couplings_;
    one_pass solver_;
    bool started_ = false;
};

double radius(const Eigen::MatrixXd& P) { return P.eigenvalues().cwiseAbs().maxCoeff(); }

/// Two bodies, m_A = omega_A = 1; forces are scaled so that the eigenvalues keep their digits.
oscillators pair(double F, double V, double ratio, double wrong = 1) {
    return oscillators({{1, 1}, {V / (ratio * ratio), ratio}}, {{0, 1, F}}, wrong);
}

TEST(one_pass, no_stiffness_of_the_coupling_limits_the_step_of_equal_bodies) {
    for (const double wrong : {0.8, 1.0, 1.2})
        for (double F = 0.1; F < 2e6; F *= std::sqrt(10.0)) {
            auto two = pair(F, 1, 1, wrong);
            for (double H = 0.02; H <= 0.7; H += 0.04)
                EXPECT_LT(radius(two.recurrence(H)), 1 + 1e-6) << F << ' ' << H << ' ' << wrong;
        }
}

TEST(one_pass, slow_motion_of_unequal_bodies_keeps_its_energy) {
    // omega H = 0.05 of the faster body; the rate of growth is that of the eigenvalue next to the coupled system's lowest.
    for (const double ratio : {1.0 / 3, 0.5, 2.0, 3.0})
        for (const double V : {0.1, 1.0, 10.0})
            for (const double F : {1e2, 1e4}) {
                const double H = 0.05 / std::max(1.0, ratio), m = V / (ratio * ratio);
                Eigen::Matrix2d K{{1 + F, -F}, {-F / m, (V + F) / m}};
                const double slow = std::sqrt(K.eigenvalues().real().minCoeff());
                const std::complex<double> exact = std::polar(1.0, slow * H);
                const Eigen::VectorXcd found = pair(F, V, ratio).recurrence(H).eigenvalues();
                std::complex<double> nearest = 0;
                for (const auto& value : found)
                    if (std::abs(value - exact) < std::abs(nearest - exact)) nearest = value;
                EXPECT_LT(std::abs(std::log(std::abs(nearest))) / H, 1e-7) << ratio << ' ' << V << ' ' << F;
                EXPECT_LT(std::abs(nearest - exact) / H, 5e-5) << ratio << ' ' << V << ' ' << F;
            }
}

TEST(one_pass, is_of_second_order_from_rest_on) {
    // x_A = 1, x_B = 0 swings with omega = 1 in phase and sqrt(1 + 2F) against each other; a damper in a second run.
    const auto error = [](int n) {
        constexpr double F = 10, end = 2;
        oscillators two({{1, 1, 1, 0}, {1, 1, 0, 0}}, {{0, 1, F}});
        for (int i = 0; i < n; ++i) two.step(end / n);
        const double common = std::cos(end), against = std::cos(std::sqrt(1 + 2 * F) * end);
        return std::abs(two.bodies()[0].x - (common + against) / 2);
    };
    EXPECT_NEAR(std::log2(error(2000) / error(4000)), 2, 0.05);
    const auto damped = [](int n) {
        constexpr double d = 0.5, end = 2;
        oscillators two({{1, 1, 1, 0}, {1, 1, -1, 0}}, {{0, 1, 0, d}});
        for (int i = 0; i < n; ++i) two.step(end / n);
        const double omega = std::sqrt(1 - d * d);
        return std::abs(two.bodies()[0].x -
                        std::exp(-d * end) * (std::cos(omega * end) + d / omega * std::sin(omega * end)));
    };
    EXPECT_NEAR(std::log2(damped(2000) / damped(4000)), 2, 0.05);
}

TEST(one_pass, a_start_in_equilibrium_under_load_stays_there) {
    // Both springs pull against the coupling: omega^2 x_A m = -c (x_A - x_B).
    oscillators two({{1, 1, 1, 0}, {1, 1, 1, 0}}, {{0, 1, 1e5}});
    for (int i = 0; i < 200; ++i) two.step(0.3);
    EXPECT_NEAR(two.bodies()[0].x, two.bodies()[1].x, 1e-12);
    EXPECT_NEAR(two.bodies()[0].x, std::cos(200 * 0.3), 1e-9);
}

TEST(one_pass, a_run_follows_the_recurrence) {
    const double H = 0.2;
    const Eigen::MatrixXd P = pair(300, 2, 1.5).recurrence(H);
    oscillators two({{1, 1, 1, 0.3}, {2 / 2.25, 1.5, -0.5, 0.1}}, {{0, 1, 300}});
    for (int i = 0; i < 4; ++i) two.step(H);
    Eigen::VectorXd r = two.state();
    for (int i = 0; i < 500; ++i) {
        two.step(H);
        r = P * r;
        ASSERT_LT((two.state() - r).cwiseAbs().maxCoeff(), 1e-10 * two.state().cwiseAbs().maxCoeff()) << i;
    }
}

}  // namespace
}  // namespace mdpcosim
