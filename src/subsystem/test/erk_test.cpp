// The pairs of explicit Runge-Kutta methods against their order conditions, and events of one-step solvers at the ends of macro steps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "subsystem/solvers/erk_pairs.hpp"
#include "support/solver_test_models.hpp"

namespace mdpcosim::test {
namespace {

/// A rooted tree, as the list of what hangs on its root.
struct tree {
    std::vector<tree> branches;

    int order() const {
        int sum = 1;
        for (const auto& branch : branches) sum += branch.order();
        return sum;
    }
    double density() const {
        double product = order();
        for (const auto& branch : branches) product *= branch.density();
        return product;
    }
};

/// Every tree of `order` nodes (Hairer, Norsett, Wanner I, II.2): branches in descending order of their number.
class forest {
   public:
    const std::vector<tree>& of_order(int order) {
        while (static_cast<int>(trees_.size()) < order) {
            std::vector<tree> made;
            tree root;
            grow(static_cast<int>(trees_.size()), trees_.size(), std::numeric_limits<std::size_t>::max(), root, made);
            trees_.push_back(std::move(made));
        }
        return trees_[static_cast<std::size_t>(order) - 1];
    }

   private:
    /// Branches of `rest` nodes together, none later in the list than the tree `at` of order `most`.
    void grow(int rest, std::size_t most, std::size_t at, tree& root, std::vector<tree>& made) {
        if (rest == 0) return made.push_back(root);
        for (std::size_t order = std::min<std::size_t>(most, static_cast<std::size_t>(rest)); order > 0; --order) {
            const auto& list = trees_[order - 1];
            for (std::size_t i = order == most ? std::min(at, list.size() - 1) + 1 : list.size(); i-- > 0;) {
                root.branches.push_back(list[i]);
                grow(rest - static_cast<int>(order), order, i, root, made);
                root.branches.pop_back();
            }
        }
    }

    std::vector<std::vector<tree>> trees_;
};

template <class Pair>
std::vector<double> stage_weights(const Pair& pair, const tree& t) {
    std::vector<double> product(Pair::stages, 1);
    for (const auto& branch : t.branches) {
        const auto inner = stage_weights(pair, branch);
        for (std::size_t i = 0; i < Pair::stages; ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < i; ++j) sum += pair.a[i][j] * inner[j];
            product[i] *= sum;
        }
    }
    return product;
}

/// Largest residual of the conditions of this order, sum_i b_i Phi_i(t) = 1/gamma(t).
template <class Pair>
double residual(const Pair& pair, const typename Pair::row& b, int order, forest& trees) {
    double most = 0;
    for (const auto& t : trees.of_order(order)) {
        const auto phi = stage_weights(pair, t);
        double sum = -1 / t.density();
        for (std::size_t i = 0; i < Pair::stages; ++i) sum += b[i] * phi[i];
        most = std::max(most, std::fabs(sum));
    }
    return most;
}

template <class Pair>
void check_pair(const Pair& pair) {
    static forest trees;
    const auto order_of = [&](const typename Pair::row& b) {
        int order = 0;
        while (residual(pair, b, order + 1, trees) < 1e-11) ++order;  // the doubles of erk-8 are as large as 123
        return order;
    };
    EXPECT_EQ(order_of(pair.b), pair.order) << pair.name;
    EXPECT_EQ(order_of(pair.b_star), pair.embedded) << pair.name;
    for (std::size_t i = 0; i < Pair::stages; ++i) {
        double sum = 0;
        for (const double a : pair.a[i]) sum += a;
        EXPECT_NEAR(sum, pair.c[i], 3e-14) << pair.name << ", stage " << i;
        EXPECT_GE(pair.c[i], 0);
        EXPECT_LE(pair.c[i], 1);
        for (std::size_t j = i; j < Pair::stages; ++j) EXPECT_EQ(pair.a[i][j], 0) << pair.name;
    }
}

TEST(erk_pairs, number_of_trees) {
    // Sloane's A000081.
    forest trees;
    int order = 0;
    for (const std::size_t n : {1, 1, 2, 4, 9, 20, 48, 115, 286}) EXPECT_EQ(trees.of_order(++order).size(), n);
}

TEST(erk_pairs, order_conditions) {
    check_pair(heun_euler);
    check_pair(bogacki_shampine);
    check_pair(zonneveld);
    check_pair(dormand_prince);
    check_pair(verner_6);
    check_pair(verner_8);
}

/// A NaN in a stage that counts has to reach the error estimate: it counts there itself or through a later stage.
template <class Pair>
void check_reach(const Pair& pair) {
    std::array<bool, Pair::stages> seen{};
    for (std::size_t i = Pair::stages; i-- > 0;) {
        seen[i] = pair.error(i) != 0;
        for (std::size_t j = i + 1; j < Pair::stages; ++j) seen[i] = seen[i] || (pair.a[j][i] != 0 && seen[j]);
        EXPECT_TRUE(seen[i] || pair.b[i] == 0) << pair.name << ", stage " << i;
        EXPECT_TRUE(pair.b[i] == 0 || pair.error(i) != 0) << pair.name << ", stage " << i;
    }
}

TEST(erk_pairs, the_estimate_sees_every_stage) {
    check_reach(heun_euler);
    check_reach(bogacki_shampine);
    check_reach(zonneveld);
    check_reach(dormand_prince);
    check_reach(verner_6);
    check_reach(verner_8);
}

const std::vector<std::string> one_step_solvers{"euler", "rk4",   "trapezoidal", "erk-2", "erk-3",
                                                "erk-4", "erk-5", "erk-6",       "erk-8"};
class one_step : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(solvers, one_step, testing::ValuesIn(one_step_solvers),
                         [](const auto& tested) { return test_name(tested.param); });

/// x' = v, v' = 0, from `at` below a wall at 0; every crossing, in either direction, turns the velocity round. It starts with v = 1.
struct wall {
    std::vector<double> times;
    std::unique_ptr<function_model> model(double at) {
        auto made = std::make_unique<function_model>(std::vector{-at, 1.0}, 0,
                                                     [](double, const double* x, const double*, double* dx) {
                                                         dx[0] = x[1];
                                                         dx[1] = 0;
                                                     });
        made->events = 1;
        made->indicators = [](double, const double* x, const double*, double* z) { z[0] = x[0]; };
        made->on_event = [this](int, bool, double t, double* x, const double*) {
            times.push_back(t);
            x[1] = -x[1];
            return true;
        };
        return made;
    }
};

double ulps(double t, int n) {
    for (; n > 0; --n) t = std::nextafter(t, 10);
    for (; n < 0; ++n) t = std::nextafter(t, -10);
    return t;
}

/// The wall is met at the end of the second macro step, or some units of the last place beside it.
TEST_P(one_step, an_event_at_a_macro_point_comes_once) {
    for (const double H : {0.1, 0.25, 1.0 / 3})
        for (int n = -40; n <= 40; ++n) {
            wall seen;
            const double met = ulps(2 * H, n);
            solver_run run(seen.model(met), make_solver(GetParam()));
            for (int k = 1; k <= 5; ++k) run.to(k * H);
            ASSERT_EQ(seen.times.size(), 1u) << "H = " << H << ", " << n << " ulps";
            EXPECT_NEAR(seen.times[0], met, 1e-12);
            EXPECT_NEAR(run.x[0], -(5 * H - met), 1e-12);
        }
}

/// The same at the begin: a start on the wall is no event.
TEST_P(one_step, an_event_at_the_begin) {
    for (int n = -3; n <= 3; ++n) {
        wall seen;
        const double met = n * std::numeric_limits<double>::denorm_min();
        solver_run run(seen.model(met), make_solver(GetParam()));
        run.to(0.5, 5);
        ASSERT_EQ(seen.times.size(), n > 0 ? 1u : 0u) << n;
        EXPECT_NEAR(run.x[0], n > 0 ? -0.5 : 0.5, 1e-12) << n;
    }
}

/// Between two walls a distance of 0.1 apart, in macro steps of 0.1 and of 1.
TEST_P(one_step, many_events_at_macro_points) {
    for (const int steps : {100, 10, 7}) {
        int count = 0;
        auto model = std::make_unique<function_model>(std::vector{0.05, 1.0}, 0,
                                                      [](double, const double* x, const double*, double* dx) {
                                                          dx[0] = x[1];
                                                          dx[1] = 0;
                                                      });
        model->events = 2;
        model->indicators = [](double, const double* x, const double*, double* z) {
            z[0] = x[0];
            z[1] = 0.1 - x[0];
        };
        model->on_event = [&](int, bool, double, double* x, const double*) {
            ++count;
            x[1] = -x[1];
            return true;
        };
        solver_run run(std::move(model),
                       make_solver(GetParam(), is_fixed(GetParam()) ? std::vector<option>{{"step", 0.02}}
                                                                    : std::vector<option>{{"max-step", 0.02}}));
        run.to(0.05);
        run.to(10.05, steps);
        EXPECT_GE(count, 100) << steps;
        EXPECT_LE(count, 101) << steps;
        EXPECT_NEAR(run.x[0], 0.1, 1e-9) << steps;
    }
}

/// Saved right behind an event at the macro point, restored in another instance: the same bits.
TEST_P(one_step, a_guessed_side_is_saved) {
    const auto run_from = [&](bool restored) {
        wall seen, other;
        auto run = std::make_unique<solver_run>(seen.model(0.2), make_solver(GetParam()));
        run->to(0.2, 2);
        if (restored) {
            auto again = std::make_unique<solver_run>(other.model(0.2), make_solver(GetParam()));
            std::vector<double> memory(run->integrator->memory_size());
            run->integrator->memory(memory);
            again->x = run->x;
            again->t = 0.2;
            again->integrator->reset(0.2, again->x);
            again->integrator->set_memory(memory);
            run = std::move(again);
        }
        run->to(0.5, 3);
        return std::pair(run->x, seen.times.size() + other.times.size());
    };
    EXPECT_EQ(run_from(true), run_from(false));
    EXPECT_EQ(run_from(true).second, 1u);
}

/// Few states and many take the same way: 1, 2, 3, 4 and 5 copies of an oscillator's states have the same bits.
TEST(erk, the_number_of_states_does_not_matter) {
    for (const char* name : {"erk-2", "erk-3", "erk-4", "erk-5", "erk-6", "erk-8"}) {
        double first = 0;
        for (std::size_t n = 1; n <= 9; ++n) {
            auto model = std::make_unique<function_model>(std::vector<double>(n, 1.0), 0,
                                                          [n](double t, const double* x, const double*, double* dx) {
                                                              for (std::size_t i = 0; i < n; ++i)
                                                                  dx[i] = -x[i] + std::sin(t);
                                                          });
            solver_run run(std::move(model), make_solver(name));
            run.to(3, 7);
            for (const double x : run.x) EXPECT_EQ(x, run.x[0]) << name << ", " << n;
            if (n == 1) first = run.x[0];
            EXPECT_NEAR(run.x[0], first, 1e-12) << name << ", " << n;
        }
    }
}

/// k_1 is asked for at the begin of every macro step; within it, where the last stage serves, not again.
TEST(erk, evaluations) {
    const auto evaluations = [](const char* name, int macro_steps, double max_step) {
        solver_run run(oscillator(), make_solver(name, {{"rtol", 1}, {"atol", 1}, {"max-step", max_step}}));
        run.integrator->set_memory(std::vector{max_step});
        run.to(1, macro_steps);
        EXPECT_EQ(run.integrator->statistics().micro_steps, 8) << name;
        return run.integrator->statistics().evaluations;
    };
    EXPECT_EQ(evaluations("erk-2", 1, 0.125), 8 * 2);
    EXPECT_EQ(evaluations("erk-3", 1, 0.125), 8 * 3 + 1);
    EXPECT_EQ(evaluations("erk-4", 1, 0.125), 8 * 5);
    EXPECT_EQ(evaluations("erk-5", 1, 0.125), 8 * 6 + 1);
    EXPECT_EQ(evaluations("erk-6", 1, 0.125), 8 * 8 + 1);
    EXPECT_EQ(evaluations("erk-8", 1, 0.125), 8 * 13);
    EXPECT_EQ(evaluations("erk-5", 8, 0.125), 8 * 7);
    EXPECT_EQ(evaluations("erk-5", 8, 1), 8 * 7);
}

std::string reason(solver_run& run, double end) {
    try {
        run.to(end);
    } catch (const run_error& e) {
        return e.what();
    }
    return "no failure";
}

TEST(erk, reasons_for_failing) {
    const auto contains = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    solver_run precise(oscillator(), make_solver("erk-5", {{"rtol", 1e-18}, {"atol", 1e-20}}));
    const std::string tight = reason(precise, 1);
    EXPECT_TRUE(contains(tight, "ask for more than double precision gives")) << tight;

    for (const char* solver : {"erk-2", "erk-5", "erk-8"}) {  // a state at zero has its atol only
        auto from_zero = std::make_unique<function_model>(
            std::vector{0.0}, 0, [](double t, const double*, const double*, double* dx) { dx[0] = t * t * t; });
        solver_run nearly_exact(std::move(from_zero), make_solver(solver, {{"atol", 1e-300}}));
        const std::string nothing_allowed = reason(nearly_exact, 1);
        EXPECT_TRUE(contains(nothing_allowed, "ask for more than double precision gives")) << nothing_allowed;
    }

    auto pole = std::make_unique<function_model>(
        std::vector{1.0}, 0, [](double, const double* x, const double*, double* dx) { dx[0] = x[0] * x[0]; });
    solver_run towards_pole(std::move(pole), make_solver("erk-5"));
    const std::string blows_up = reason(towards_pole, 2);
    EXPECT_TRUE(contains(blows_up, "erk-5 at t = 1") && contains(blows_up, "the error test fails")) << blows_up;

    auto stiff = std::make_unique<function_model>(
        std::vector{1.0}, 0,
        [](double t, const double* x, const double*, double* dx) { dx[0] = 1e7 * (std::cos(t) - x[0]); });
    solver_run slow(std::move(stiff), make_solver("erk-5", {{"max-steps", 1000}}));
    const std::string advice = reason(slow, 2);
    EXPECT_TRUE(contains(advice, "more than 1000 micro steps in one macro step")) << advice;
    EXPECT_TRUE(contains(advice, "'solver: cvode-bdf' or 'solver: dirk-4'")) << advice;
}

/// Input polynomials of any degree: x' = u(t) is integrated exactly up to degree order - 1.
TEST(erk, input_polynomials) {
    for (const auto& [name, order] : std::vector<std::pair<std::string, int>>{
             {"erk-2", 2}, {"erk-3", 3}, {"erk-4", 4}, {"erk-5", 5}, {"erk-6", 6}, {"erk-8", 8}}) {
        auto model = std::make_unique<function_model>(
            std::vector{0.0}, 1, [](double, const double*, const double* u, double* dx) { dx[0] = u[0]; });
        solver_run run(std::move(model), make_solver(name, {{"rtol", 10}, {"atol", 10}}));
        const int degree = std::min(order - 1, max_degree);
        for (int i = 0; i <= degree; ++i) run.inputs[0].c[static_cast<std::size_t>(i)] = i + 1;
        run.inputs[0].degree = degree;
        run.to(0.75);
        double exact = 0;
        for (int i = 0; i <= degree; ++i) exact += std::pow(0.75, i + 1);
        EXPECT_NEAR(run.x[0], exact, 1e-12) << name;
    }
}

}  // namespace
}  // namespace mdpcosim::test
