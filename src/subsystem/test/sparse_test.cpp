#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "subsystem/solvers/newton_matrix.hpp"
#include "support/allocation_counter.hpp"
#include "support/solver_test_models.hpp"

/// Structures, colouring, and sparse against dense Newton matrices.
namespace mdpcosim::test {
namespace {

sparsity random_structure(std::mt19937& random, int n, double share, bool diagonal = false) {
    std::uniform_real_distribution<double> uniform;
    sparsity s;
    s.start.push_back(0);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i)
            if (uniform(random) < share || (diagonal && i == j)) s.rows.push_back(i);
        s.start.push_back(static_cast<int>(s.rows.size()));
    }
    return s;
}

/// f_i = sum over the structure of a_ij sin(x_j) + a_ij^2 x_j - decay (i mod 3) x_i, whose Jacobian is known; the decay makes it
/// stiff and needs the diagonal in the structure.
struct random_model {
    explicit random_model(sparsity s, std::mt19937& random) : structure(std::move(s)) {
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (std::size_t k = 0; k < structure.entries(); ++k) a.push_back(uniform(random));
    }

    template <class Use>
    void each(Use use) const {
        for (std::size_t j = 0; j + 1 < structure.start.size(); ++j)
            for (auto k = static_cast<std::size_t>(structure.start[j]);
                 k < static_cast<std::size_t>(structure.start[j + 1]); ++k)
                use(static_cast<std::size_t>(structure.rows[k]), j, k);
    }

    std::unique_ptr<function_model> make(bool exact, double decay = 0) const {
        const std::size_t n = structure.start.size() - 1;
        auto model = std::make_unique<function_model>(
            std::vector<double>(n, 0.3), 0, [*this, n, decay](double, const double* x, const double*, double* f) {
                for (std::size_t i = 0; i < n; ++i) f[i] = -decay * x[i] * static_cast<double>(i % 3);
                each([&](std::size_t i, std::size_t j, std::size_t k) {
                    f[i] += a[k] * std::sin(x[j]) + a[k] * a[k] * x[j];
                });
            });
        model->pattern = structure;
        if (exact)
            model->sparse_function = [*this, decay](double, const double* x, double* values) {
                each([&](std::size_t i, std::size_t j, std::size_t k) {
                    values[k] = a[k] * std::cos(x[j]) + a[k] * a[k] - (i == j ? decay * static_cast<double>(i % 3) : 0);
                });
            };
        return model;
    }

    sparsity structure;
    std::vector<double> a;
};

TEST(sparse, columns_of_one_colour_share_no_row) {
    std::mt19937 random(7);
    for (const double share : {0.0, 0.02, 0.1, 0.5, 1.0}) {
        const int n = 60;
        const sparsity s = random_structure(random, n, share);
        const auto colour = column_colours(s);
        ASSERT_EQ(colour.size(), static_cast<std::size_t>(n));
        std::set<std::pair<int, int>> seen;  // row, colour
        int most_in_a_row = 0;
        std::vector<int> in_row(static_cast<std::size_t>(n), 0);
        for (std::size_t j = 0; j < colour.size(); ++j)
            for (int k = s.start[j]; k < s.start[j + 1]; ++k) {
                const int row = s.rows[static_cast<std::size_t>(k)];
                EXPECT_TRUE(seen.insert({row, colour[j]}).second) << share << ": row " << row;
                most_in_a_row = std::max(most_in_a_row, ++in_row[static_cast<std::size_t>(row)]);
            }
        EXPECT_GE(*std::ranges::max_element(colour) + 1, most_in_a_row);
    }
}

TEST(sparse, a_band_needs_as_many_colours_as_it_is_wide) {
    sparsity s;
    s.start.push_back(0);
    const int n = 1000;
    for (int j = 0; j < n; ++j) {
        for (int i = std::max(0, j - 2); i <= std::min(n - 1, j + 2); ++i) s.rows.push_back(i);
        s.start.push_back(static_cast<int>(s.rows.size()));
    }
    const auto colour = column_colours(s);
    EXPECT_EQ(*std::ranges::max_element(colour) + 1, 5);
}

TEST(sparse, coloured_differences_agree_with_the_exact_jacobian) {
    std::mt19937 random(11);
    for (const double share : {0.03, 0.2, 1.0}) {
        const random_model made(random_structure(random, 40, share), random);
        const auto exact = made.make(true), structure_only = made.make(false);
        std::vector<double> x(40), f(40);
        std::uniform_real_distribution<double> uniform(-2, 2);
        for (auto& value : x) value = uniform(random);
        exact->derivatives(0, x.data(), nullptr, f.data());
        std::vector<double> a(made.structure.entries()), b(made.structure.entries());
        sparse_jacobian_source first, second;
        first.prepare(*exact, 0, x.data(), nullptr);
        second.prepare(*structure_only, 0, x.data(), nullptr);
        EXPECT_TRUE(first.exact());
        EXPECT_FALSE(second.exact());
        EXPECT_EQ(first.evaluate(0, x.data(), nullptr, f.data(), 0, a.data()), 0);
        EXPECT_EQ(second.evaluate(0, x.data(), nullptr, f.data(), 0, b.data()), second.colours());
        for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-5);
    }
}

TEST(sparse, dense_jacobian_is_the_sparse_one_spread_out) {
    std::mt19937 random(13);
    for (const double share : {0.0, 0.1, 0.6, 1.0}) {
        const random_model made(random_structure(random, 17, share), random);
        const auto exact = made.make(true), structure_only = made.make(false);
        const std::vector<double> x(17, 0.7);
        std::vector<double> f(17), dense(17 * 17, NAN), differences(17 * 17, NAN), expected(17 * 17, 0.0);
        made.each([&](std::size_t i, std::size_t j, std::size_t k) {
            expected[i + 17 * j] = made.a[k] * std::cos(0.7) + made.a[k] * made.a[k];
        });
        ASSERT_TRUE(exact->jacobian(0, x.data(), nullptr, dense.data()));
        EXPECT_EQ(dense, expected);
        exact->derivatives(0, x.data(), nullptr, f.data());
        jacobian_source source;
        source.prepare(*structure_only, 0, x.data(), nullptr);
        source.evaluate(0, x.data(), nullptr, f.data(), 0, differences.data());
        for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(differences[k], expected[k], 1e-6);
    }
}

class sparse_solver : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(solvers, sparse_solver,
                         testing::Values("dirk-2", "dirk-3", "dirk-4", "dirk-5", "cvode-bdf", "ida"),
                         [](const auto& one) { return test_name(one.param); });

TEST_P(sparse_solver, agrees_with_dense) {
    std::mt19937 random(17);
    for (const double share : {0.03, 0.15}) {
        const random_model made(random_structure(random, 60, share, true), random);
        for (const bool exact : {true, false}) {
            const auto solution = [&](double linear) {
                solver_run run(made.make(exact, 1000),
                               make_solver(GetParam(), {{"rtol", 1e-6}, {"atol", 1e-6}, {"linear-solver", linear}}));
                run.to(0.1, 5);
                EXPECT_GT(run.integrator->statistics().newton_iterations, 0);
                EXPECT_GT(run.integrator->statistics().factorisations, 0);
                return run.x;
            };
            const auto dense = solution(1), sparse = solution(2);
            for (std::size_t i = 0; i < dense.size(); ++i)
                EXPECT_NEAR(sparse[i], dense[i], 1e-5 * (1 + std::fabs(dense[i])));
        }
    }
}

TEST_P(sparse_solver, integrates_without_allocating) {
    if (!allocations_are_counted()) GTEST_SKIP();
    std::mt19937 random(19);
    const random_model made(random_structure(random, 80, 0.04, true), random);
    solver_run run(made.make(false, 300), make_solver(GetParam(), {{"linear-solver", 2}}));
    const allocation_counter allocations;
    run.to(0.5, 50);
    EXPECT_EQ(allocations.count(), 0);
}

TEST(sparse, is_chosen_for_large_models_with_a_structure) {
    const auto chosen = [](int n, double share, bool with_structure) {
        std::mt19937 random(23);
        auto model = random_model(random_structure(random, n, share), random).make(false);
        if (!with_structure) model->pattern = {};
        std::vector<double> x(static_cast<std::size_t>(n));
        context_handle context;
        SUNContext made = nullptr;
        SUNContext_Create(nullptr, &made);
        context.reset(made);
        vector_handle like(N_VNew_Serial(n, made));
        return newton_matrix(*model, linear_solver_choice::automatic, like.get(), made, 0, x.data(), nullptr).sparse();
    };
    EXPECT_TRUE(chosen(100, 0.05, true));
    EXPECT_FALSE(chosen(100, 0.5, true));
    EXPECT_FALSE(chosen(10, 0.05, true));
    EXPECT_FALSE(chosen(100, 0.05, false));
}

TEST(sparse, without_a_structure_it_is_refused) {
    for (const char* name : {"dirk-4", "cvode-bdf", "ida"}) {
        const std::string reason = make_solver(name, {{"linear-solver", 2}})->why_not(*oscillator());
        EXPECT_NE(reason.find("tells the structure of its Jacobian"), std::string::npos) << name << reason;
    }
}

TEST(sparse, new_pivots_are_chosen_where_the_old_ones_vanish) {
    // 0 = cos(t) a + sin(t) b - 1, 0 = -sin(t) a + cos(t) b: a = cos t, b = sin t; the diagonal vanishes at pi/2.
    auto model = std::make_unique<function_model>(std::vector{0.0, 1.0, 0.0}, 0,
                                                  [](double t, const double* x, const double*, double* f) {
                                                      f[0] = x[1];
                                                      f[1] = std::cos(t) * x[1] + std::sin(t) * x[2] - 1;
                                                      f[2] = -std::sin(t) * x[1] + std::cos(t) * x[2];
                                                  });
    model->algebraic = {1, 2};
    model->pattern = {{0, 0, 3, 5}, {0, 1, 2, 1, 2}};
    solver_run run(std::move(model), make_solver("ida", {{"rtol", 1e-7}, {"atol", 1e-7}, {"linear-solver", 2}}));
    for (int k = 1; k <= 8; ++k) {
        run.to(k * std::acos(-1.0) / 4);
        EXPECT_NEAR(run.x[0], std::sin(run.t), 1e-5) << k;
        EXPECT_NEAR(run.x[1], std::cos(run.t), 1e-5) << k;
        EXPECT_NEAR(run.x[2], std::sin(run.t), 1e-5) << k;
    }
}

}  // namespace
}  // namespace mdpcosim::test
