#include "analysis/optimise.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

namespace mdpcosim {

namespace {

using point = std::vector<double>;

constexpr double coarse = 0.05, fine = 0.02, dense = 0.001;
constexpr double reach =
    1.5;  // free coefficients stay within +-reach: large ones of both signs would magnify every error of u

/// Evolution strategy with covariance matrix adaptation (N. Hansen), upwards: samples follow narrow ridges in any direction.
/// Returns the best point seen.
template <class Function>
std::pair<point, double> climb(const Function& f, const point& start, double sigma, int evaluations,
                               std::mt19937& random) {
    using vector = Eigen::VectorXd;
    const auto n = static_cast<Eigen::Index>(start.size());
    const double N = static_cast<double>(n);
    const int samples = 6 + 2 * static_cast<int>(n), parents = samples / 2;
    vector weights(parents);
    for (int i = 0; i < parents; ++i) weights[i] = std::log((samples + 1) / 2.0) - std::log(i + 1.0);
    weights /= weights.sum();
    const double mu = 1 / weights.squaredNorm();
    const double c_path = (4 + mu / N) / (N + 4 + 2 * mu / N), c_sigma = (mu + 2) / (N + mu + 5);
    const double c_one = 2 / ((N + 1.3) * (N + 1.3) + mu);
    const double c_mu = std::min(1 - c_one, 2 * (mu - 2 + 1 / mu) / ((N + 2) * (N + 2) + mu));
    const double damping = 1 + 2 * std::max(0.0, std::sqrt((mu - 1) / (N + 1)) - 1) + c_sigma;
    const double expected = std::sqrt(N) * (1 - 1 / (4 * N) + 1 / (21 * N * N));

    struct sample {
        vector step;
        double value;
    };
    std::normal_distribution<double> normal;
    vector mean = Eigen::Map<const vector>(start.data(), n), path = vector::Zero(n), path_sigma = vector::Zero(n);
    Eigen::MatrixXd C = Eigen::MatrixXd::Identity(n, n);
    point best = start;
    double best_value = f(start);
    for (int used = 1; used < evaluations;) {
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> axes(C);
        const vector lengths = axes.eigenvalues().cwiseMax(0).cwiseSqrt();
        if (sigma * lengths.maxCoeff() < 1e-9) break;
        std::vector<sample> drawn;
        for (int i = 0; i < samples; ++i, ++used) {
            const vector z = vector::NullaryExpr(n, [&](Eigen::Index) { return normal(random); });
            const vector step = axes.eigenvectors() * lengths.cwiseProduct(z);
            const vector x = mean + sigma * step;
            const point at(x.begin(), x.end());
            drawn.push_back({step, f(at)});
            if (drawn.back().value > best_value) {
                best = at;
                best_value = drawn.back().value;
            }
        }
        std::sort(drawn.begin(), drawn.end(), [](const sample& a, const sample& b) { return a.value > b.value; });
        vector step = vector::Zero(n);
        for (int i = 0; i < parents; ++i) step += weights[i] * drawn[static_cast<std::size_t>(i)].step;
        mean += sigma * step;
        const vector whitened =
            axes.eigenvectors() * (axes.eigenvectors().transpose() * step).cwiseQuotient(lengths.cwiseMax(1e-300));
        path_sigma = (1 - c_sigma) * path_sigma + std::sqrt(c_sigma * (2 - c_sigma) * mu) * whitened;
        path = (1 - c_path) * path + std::sqrt(c_path * (2 - c_path) * mu) * step;
        C = (1 - c_one - c_mu) * C + c_one * path * path.transpose();
        for (int i = 0; i < parents; ++i) {
            const vector& each = drawn[static_cast<std::size_t>(i)].step;
            C += c_mu * weights[i] * each * each.transpose();
        }
        sigma *= std::exp(c_sigma / damping * (path_sigma.norm() / expected - 1));
    }
    return {best, best_value};
}

class search {
   public:
    explicit search(const optimisation_task& task)
        : task_(task),
          free_(static_cast<std::size_t>(2 * task.K - task.R)),
          parts_(static_cast<double>(task.F.size())) {
        if (task.F.size() > 1) ++parts_;
    }

    optimum run() {
        std::vector<point> optima;
        std::vector<double> best;
        for (const double F : task_.F) {
            const auto [x, value] = global({F}, {1}, {});
            optima.push_back(x);
            best.push_back(value);
            done_ += 1;
        }
        optimum found;
        found.best = best;
        point x = optima[0];
        for (std::size_t i = 0; i < task_.weights.size(); ++i) best[i] *= task_.weights[i];
        if (task_.F.size() > 1) x = global(task_.F, best, optima).first;
        found.free = x;
        found.rule = rule_with_free(task_.degree, task_.K, task_.R, x);
        for (const double F : task_.F) found.omega_max.push_back(omega_max(x, F, dense));
        found.relative = value(x, task_.F, best, dense);
        found.evaluations = evaluations_;
        return found;
    }

   private:
    double omega_max(const point& x, double F, double resolution) {
        ++evaluations_;
        test_system_parameters p = task_.system;
        p.rule = rule_with_free(task_.degree, task_.K, task_.R, x);
        p.F = F;
        const stability_limit limit = stability_scan(p).limit(stability_tolerance, resolution);
        return limit.outcome == stability_limit::kind::none ? 0 : limit.omega_max;
    }

    /// Smallest omega_max relative to `best`; below `enough` the rest is not looked at.
    double value(const point& x, const std::vector<double>& F, const std::vector<double>& best, double resolution,
                 double enough = 0) {
        for (const double c : x)
            if (std::abs(c) > reach) return 0;
        double smallest = 1e9;
        for (std::size_t i = F.size(); i-- > 0 && smallest > enough;)
            smallest = std::min(smallest, omega_max(x, F[i], resolution) / best[i]);
        return smallest;
    }

    /// What is left on a dense grid, also when every coefficient is off by the margin.
    double checked(const point& x, const std::vector<double>& F, const std::vector<double>& best, double enough) {
        double smallest = value(x, F, best, dense, enough);
        for (std::size_t i = 0; i < x.size(); ++i)
            for (const double sign : {-1.0, 1.0}) {
                if (smallest <= enough) return smallest;
                point off = x;
                off[i] += sign * task_.margin;
                smallest = std::min(smallest, value(off, F, best, fine, enough));
            }
        return smallest;
    }

    std::pair<point, double> global(const std::vector<double>& F, const std::vector<double>& best,
                                    const std::vector<point>& guesses) {
        struct candidate {
            point x;
            double value;
        };
        std::vector<candidate> candidates;
        const auto add = [&](point x) {
            const double v = value(x, F, best, coarse);
            candidates.push_back({std::move(x), v});
        };
        for (const auto& x : guesses) add(x);
        for (std::size_t i = 1; i < guesses.size(); ++i)  // and between neighbours
            for (const double s : {0.25, 0.5, 0.75}) {
                point x = guesses[i];
                for (std::size_t k = 0; k < x.size(); ++k) x[k] += s * (guesses[i - 1][k] - x[k]);
                add(std::move(x));
            }
        std::mt19937 random(task_.seed);
        std::uniform_real_distribution<double> anywhere(-reach, reach);
        const int starts = static_cast<int>(task_.effort * 150) * (1 << free_);
        for (int i = 0; i < starts; ++i) {
            point x(free_);
            for (auto& c : x) c = anywhere(random);
            add(std::move(x));
            report(0.4 * i / starts, best_so_far(candidates));
        }
        std::sort(candidates.begin(), candidates.end(),
                  [](const candidate& a, const candidate& b) { return a.value > b.value; });
        // Starts that lie close together lead to the same place.
        std::vector<candidate> spread;
        for (auto& c : candidates) {
            const auto near = [&](const candidate& other) {
                double distance = 0;
                for (std::size_t k = 0; k < free_; ++k) distance = std::max(distance, std::abs(c.x[k] - other.x[k]));
                return distance < 0.1;
            };
            if (std::none_of(spread.begin(), spread.end(), near)) spread.push_back(std::move(c));
            if (spread.size() == 2 + 2 * free_) break;
        }
        const auto f = [&](const point& x) { return value(x, F, best, coarse); };
        const int effort = static_cast<int>(task_.effort * (200 + 300 * static_cast<double>(free_)));
        for (std::size_t i = 0; i < spread.size(); ++i) {
            auto [x, v] = climb(f, spread[i].x, 0.05, effort, random);
            spread[i] = {std::move(x), v};
            report(0.4 + 0.4 * static_cast<double>(i + 1) / static_cast<double>(spread.size()), best_so_far(spread));
        }
        std::sort(spread.begin(), spread.end(),
                  [](const candidate& a, const candidate& b) { return a.value > b.value; });
        candidate winner{spread[0].x, -1};
        for (const auto& c : spread) {
            if (c.value <= winner.value) break;
            const double v = checked(c.x, F, best, winner.value);
            if (v > winner.value) winner = {c.x, v};
        }
        // Beside a pocket the check leaves less: from there on only what passes it counts.
        const auto strict = [&](const point& x) {
            const double v = value(x, F, best, fine, winner.value);
            return v > winner.value ? checked(x, F, best, winner.value) : v;
        };
        auto [x, v] = climb(strict, winner.x, 0.01, effort, random);
        if (v > winner.value) winner = {std::move(x), v};
        report(1, winner.value);
        return {winner.x, winner.value};
    }

    template <class Candidates>
    static double best_so_far(const Candidates& all) {
        double best = 0;
        for (const auto& c : all) best = std::max(best, c.value);
        return best;
    }

    void report(double part, double best) {
        if (task_.progress) task_.progress((done_ + part) / parts_, best);
    }

    const optimisation_task& task_;
    std::size_t free_;
    double parts_;
    double done_ = 0;
    std::int64_t evaluations_ = 0;
};

}  // namespace

extrapolation_rule rule_with_free(int degree, int K, int R, const std::vector<double>& free) {
    std::vector<double> a(static_cast<std::size_t>(K), 0.0), b(a), tau(a);
    for (std::size_t i = 0; i < free.size(); ++i) {
        const std::size_t at = static_cast<std::size_t>(R) + i;
        (at < a.size() ? a[at] : b[at - a.size()]) = free[i];
    }
    for (std::size_t k = 0; k < tau.size(); ++k) tau[k] = -static_cast<double>(k);
    solve_order_conditions(tau, R, false, a, b);
    return make_extrapolation(degree, a, b, false);
}

optimum optimise(const optimisation_task& task) {
    if (task.degree < 0 || task.degree > 1)
        throw std::invalid_argument("the optimiser knows const-K-R and lin-K-R only");
    if (task.K < 1 || task.K > 3 || task.R < 1 || task.R >= 2 * task.K)
        throw std::invalid_argument(fmt::format(
            "K = {} and R = {}: K is 1 to 3, and R from 1 to 2K - 1 leaves 2K - R coefficients free", task.K, task.R));
    if (task.F.empty()) throw std::invalid_argument("the optimiser needs at least one F");
    if (!task.weights.empty() && task.weights.size() != task.F.size())
        throw std::invalid_argument(fmt::format("there are {} values of F and {} weights; each F takes one",
                                                task.F.size(), task.weights.size()));
    return search(task).run();
}

}  // namespace mdpcosim
