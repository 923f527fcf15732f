#include "coupling/sparse_lu.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <random>

namespace mdpcosim {
namespace {

/// Row-scaled symmetric positive definite: 1 + l_i (G G^T)_ij over the edges of a graph, as one-pass couplings have it.
std::vector<matrix_entry> coupled(std::size_t nodes, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges,
                                  std::mt19937& random) {
    std::uniform_real_distribution<double> exponent(-3, 6);
    std::vector<std::vector<std::pair<std::uint32_t, double>>> at(nodes);
    std::vector<matrix_entry> entries;
    for (std::uint32_t i = 0; i < edges.size(); ++i) {
        at[edges[i].first].emplace_back(i, 1);
        at[edges[i].second].emplace_back(i, -1);
        entries.push_back({i, i, 1});
    }
    std::vector<double> l(edges.size());
    for (auto& value : l) value = std::pow(10, exponent(random));
    for (const auto& node : at)
        for (const auto& [i, si] : node)
            for (const auto& [j, sj] : node) entries.push_back({i, j, l[i] * si * sj});
    return entries;
}

double largest_residual(sparse_lu& lu, std::size_t n, const std::vector<matrix_entry>& entries, std::mt19937& random) {
    const auto size = static_cast<Eigen::Index>(n);
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(size, size);
    for (const auto& e : entries) A(e.row, e.column) += e.value;
    std::normal_distribution<double> normal;
    Eigen::VectorXd x(size);
    for (auto& value : x) value = normal(random);
    Eigen::VectorXd b = A * x;
    const Eigen::VectorXd scale = A.cwiseAbs() * x.cwiseAbs();
    Eigen::VectorXd solved = b;
    EXPECT_FALSE(lu.factorise(entries).has_value());
    lu.solve({solved.data(), n});
    return (A * solved - b).cwiseQuotient(scale).cwiseAbs().maxCoeff();
}

TEST(sparse_lu, solves_couplings_of_random_graphs) {
    std::mt19937 random(4);
    for (std::uint32_t nodes = 2; nodes < 40; ++nodes) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
        for (std::uint32_t i = 1; i < nodes; ++i)
            edges.emplace_back(std::uniform_int_distribution<std::uint32_t>(0, i - 1)(random), i);
        for (std::uint32_t i = 0; i < nodes / 2; ++i) {
            std::uniform_int_distribution<std::uint32_t> any(0, nodes - 1);
            const auto a = any(random), b = any(random);
            if (a != b) edges.emplace_back(a, b);
        }
        const auto entries = coupled(nodes, edges, random);
        sparse_lu lu(edges.size(), entries);
        EXPECT_LT(largest_residual(lu, edges.size(), entries, random), 1e-13) << nodes;
        EXPECT_LT(largest_residual(lu, edges.size(), coupled(nodes, edges, random), random), 1e-13) << "again";
    }
}

TEST(sparse_lu, chains_and_rings_have_little_fill) {
    std::mt19937 random(4);
    for (const std::uint32_t n : {10u, 1000u}) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
        for (std::uint32_t i = 0; i < n; ++i) edges.emplace_back(i, i + 1);
        EXPECT_LE(sparse_lu(n, coupled(n + 1, edges, random)).entries(), 5 * n);
        edges.back().second = 0;
        EXPECT_LE(sparse_lu(n, coupled(n, edges, random)).entries(), 5 * n);
    }
}

TEST(sparse_lu, names_the_row_where_a_singular_matrix_ends) {
    // Row 2 is the sum of rows 0 and 1.
    const std::vector<matrix_entry> entries{{0, 0, 2}, {0, 2, 1}, {1, 1, 3}, {1, 2, -1}, {2, 0, 2}, {2, 1, 3}};
    sparse_lu lu(3, entries);
    EXPECT_TRUE(lu.factorise(entries).has_value());
    const std::vector<matrix_entry> regular{{0, 0, 2}, {0, 2, 1}, {1, 1, 3}, {1, 2, -1},
                                            {2, 0, 2}, {2, 1, 3}, {2, 2, 4}};
    EXPECT_FALSE(lu.factorise(regular).has_value());
    std::vector<double> b{3, 2, 9};
    lu.solve(b);
    for (const double x : b) EXPECT_NEAR(x, 1, 1e-15);
}

}  // namespace
}  // namespace mdpcosim
