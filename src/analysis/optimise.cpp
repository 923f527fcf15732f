#include "analysis/optimise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>

namespace mdpcosim {

namespace {

using point = std::vector<double>;

constexpr double coarse = 0.05, fine = 0.02, dense = 0.001;
constexpr double reach = 1.5;  // free coefficients are searched within +-reach

/// The simplex method of Nelder and Mead, upwards; returns the best point.
template <class Function>
std::pair<point, double> climb(const Function& f, const point& start, double size, int evaluations) {
    const std::size_t n = start.size();
    struct vertex {
        point x;
        double value;
    };
    std::vector<vertex> simplex{{start, f(start)}};
    for (std::size_t i = 0; i < n; ++i) {
        point x = start;
        x[i] += size;
        simplex.push_back({x, f(x)});
    }
    const auto along = [n](const point& from, const point& to, double s) {
        point x(n);
        for (std::size_t i = 0; i < n; ++i) x[i] = from[i] + s * (to[i] - from[i]);
        return x;
    };
    for (int used = 0; used < evaluations;) {
        std::sort(simplex.begin(), simplex.end(), [](const vertex& a, const vertex& b) { return a.value > b.value; });
        point centre(n, 0.0);
        for (std::size_t v = 0; v < n; ++v)
            for (std::size_t i = 0; i < n; ++i) centre[i] += simplex[v].x[i] / static_cast<double>(n);
        double extent = 0;
        for (std::size_t i = 0; i < n; ++i) extent = std::max(extent, std::abs(simplex[n].x[i] - simplex[0].x[i]));
        if (extent < 1e-8) break;
        vertex& worst = simplex[n];
        const auto attempt = [&](double s) {
            point x = along(centre, worst.x, s);
            const double value = f(x);
            ++used;
            return vertex{std::move(x), value};
        };
        const vertex reflected = attempt(-1);
        if (reflected.value > simplex[0].value) {
            vertex expanded = attempt(-2);
            worst = expanded.value > reflected.value ? std::move(expanded) : reflected;
        } else if (reflected.value > simplex[n - 1].value) {
            worst = reflected;
        } else {
            vertex contracted = attempt(reflected.value > worst.value ? -0.5 : 0.5);
            if (contracted.value > std::max(worst.value, reflected.value)) {
                worst = std::move(contracted);
            } else {
                for (std::size_t v = 1; v <= n; ++v) {
                    simplex[v].x = along(simplex[0].x, simplex[v].x, 0.5);
                    simplex[v].value = f(simplex[v].x);
                    ++used;
                }
            }
        }
    }
    const auto best = std::max_element(simplex.begin(), simplex.end(),
                                       [](const vertex& a, const vertex& b) { return a.value < b.value; });
    return {best->x, best->value};
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
        if (task_.F.size() > 1) x = global(task_.F, best, optima).first;
        found.free = x;
        found.rule = rule_with_free(task_.degree, task_.K, task_.R, x);
        for (std::size_t i = 0; i < task_.F.size(); ++i) {
            found.omega_max.push_back(omega_max(x, task_.F[i], dense));
            found.relative = std::min(found.relative, found.omega_max[i] / best[i]);
        }
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
        return limit.what == stability_limit::kind::none ? 0 : limit.omega_max;
    }

    /// Smallest omega_max relative to `best`; below `enough` the rest is not looked at.
    double value(const point& x, const std::vector<double>& F, const std::vector<double>& best, double resolution,
                 double enough = 0) {
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
        const int starts = 150 * (1 << free_);
        for (int i = 0; i < starts; ++i) {
            point x(free_);
            for (auto& c : x) c = anywhere(random);
            add(std::move(x));
            report(0.4 * i / starts, best_so_far(candidates));
        }
        std::sort(candidates.begin(), candidates.end(),
                  [](const candidate& a, const candidate& b) { return a.value > b.value; });
        const std::size_t improved = std::min<std::size_t>(candidates.size(), 12 + 4 * free_);
        candidates.resize(improved);
        const auto f = [&](const point& x) { return value(x, F, best, fine); };
        for (std::size_t i = 0; i < improved; ++i) {
            double size = 0.1;
            for (int round = 0; round < 4; ++round, size /= 5) {
                auto [x, v] = climb(f, candidates[i].x, size, 80 * static_cast<int>(free_));
                if (v > candidates[i].value || round == 0) candidates[i] = {std::move(x), v};
            }
            report(0.4 + 0.5 * static_cast<double>(i + 1) / static_cast<double>(improved), best_so_far(candidates));
        }
        // The one that keeps most under the check; a candidate beside a pocket is moved away from it step by step.
        candidate winner{candidates[0].x, -1};
        const auto strict = [&](const point& x) { return checked(x, F, best, 0); };
        for (auto& c : candidates) {
            if (c.value <= winner.value) continue;
            const double v = checked(c.x, F, best, winner.value);
            if (v > winner.value) winner = {c.x, v};
        }
        auto [x, v] = climb(strict, winner.x, 20 * task_.margin, 30 * static_cast<int>(free_));
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
    return search(task).run();
}

}  // namespace mdpcosim
