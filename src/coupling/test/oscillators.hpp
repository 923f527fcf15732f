#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include "coupling/eigenvalues.hpp"

#include "coupling/one_pass.hpp"

namespace mdpcosim::test {

/// Masses on springs of their own, exact over a step with a constant force, coupled by spring-dampers through one_pass alone, all
/// couplings implicit.
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

    oscillators(std::vector<body> bodies, std::vector<coupling> couplings, double wrong = 1, double damping = 0)
        : bodies_(std::move(bodies)), couplings_(std::move(couplings)), damping_(damping) {
        std::vector<matrix_entry> Q;
        for (std::uint32_t i = 0; i < couplings_.size(); ++i)
            for (std::uint32_t j = 0; j < couplings_.size(); ++j)
                for (std::size_t b = 0; b < bodies_.size(); ++b) {
                    const double value = sign(i, b) * sign(j, b) / bodies_[b].m * wrong;
                    if (value != 0) Q.push_back({i, j, value});
                }
        solver_ = one_pass(couplings_.size(), Q, {-1, 0});
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
            solver_.accept(last_, v);
        } else {
            // Without a trial step: as if nothing but u changed the rates.
            solver_.begin(u, std::vector<double>(u.size(), 0.0));
        }
        started_ = true;
        last_ = H;
        solver_.weigh(H, slopes);
        ASSERT_FALSE(solver_.solve(u, v, u).has_value());
        for (std::size_t b = 0; b < bodies_.size(); ++b) {
            double force = 0;
            for (std::size_t i = 0; i < couplings_.size(); ++i) force -= sign(i, b) * solver_.u()[i];
            auto& [m, omega, x, rate] = bodies_[b];
            const double rest = force / (m * omega * omega), decay = damping_ * omega;
            const double swing = omega * std::sqrt(1 - damping_ * damping_), E = std::exp(-decay * H);
            const double C = std::cos(swing * H), S = std::sin(swing * H) / swing;
            const double next = rest + E * ((x - rest) * (C + decay * S) + rate * S);
            rate = E * (rate * (C - decay * S) - (x - rest) * omega * omega * S);
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
            solver_.set_memory(H, memory);
            last_ = H;
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
    double damping_;
    one_pass solver_;
    bool started_ = false;
    double last_ = 0;
};

inline double radius(const Eigen::MatrixXd& P) { return P.eigenvalues().cwiseAbs().maxCoeff(); }

}  // namespace mdpcosim::test
