// Larger contact problems against Lemke's method of Siconos, which finds the solution by pivoting; built where Siconos is (tools/setup oracle).
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "contact/contact_problem.hpp"
#include "siconos/numerics/LCP_Solvers.h"
#include "siconos/numerics/LinearComplementarityProblem.h"
#include "siconos/numerics/NumericsMatrix.h"
#include "siconos/numerics/SolverOptions.h"
#include "siconos/numerics/lcp_cst.h"

namespace mdpcosim {
namespace {

/// 0 <= lambda _|_ W lambda + q >= 0; false: no solution was found.
bool solve_by_lemke(const Eigen::MatrixXd& W, Eigen::VectorXd q, Eigen::VectorXd& lambda) {
    Eigen::MatrixXd entries = W;  // column-major, as theirs
    const int n = static_cast<int>(q.size());
    NumericsMatrix* const matrix = NM_create_from_data(NM_DENSE, n, n, entries.data());
    LinearComplementarityProblem problem{n, matrix, q.data()};
    SolverOptions* const options = solver_options_create(SICONOS_LCP_LEMKE);
    Eigen::VectorXd w = Eigen::VectorXd::Zero(n);
    lambda = w;
    int info = 1;
    lcp_lexicolemke(&problem, lambda.data(), w.data(), &info, options);
    solver_options_delete(options);
    std::free(options);
    matrix->matrix0 = nullptr;  // ours
    NM_clear(matrix);
    std::free(matrix);
    return info == 0;
}

TEST(contact_problem, agrees_with_lemke_on_a_thousand_piles) {
    std::mt19937 dice(11);
    std::normal_distribution<double> normal;
    const auto below = [&](int n) { return static_cast<int>(dice() % static_cast<unsigned>(n)); };
    int compared = 0, not_converged = 0, not_by_lemke = 0, most = 0;
    double worst = 0;
    for (int n = 0; n < 1000; ++n) {
        const int bodies = 5 + below(20), contacts = 1 + below(2 * bodies);
        most = std::max(most, contacts);
        contact_problem problem(std::vector<int>(static_cast<std::size_t>(bodies), 2), contacts,
                                {.tolerance = 1e-12, .most_sweeps = 100000});
        Eigen::MatrixXd G = Eigen::MatrixXd::Zero(contacts, 2 * bodies);
        Eigen::VectorXd inverse(2 * bodies), v(2 * bodies), speeds(contacts);
        for (int b = 0; b < bodies; ++b) {
            const double m = 0.2 + 2 * std::fabs(normal(dice));
            problem.set_inverse_mass(b, std::vector{1 / m, 0.0, 0.0, 1 / m});
            inverse.segment<2>(2 * b).setConstant(1 / m);
        }
        for (double& one : v) one = normal(dice);
        for (int k = 0; k < contacts; ++k) {
            const int of = below(bodies), on = below(bodies + 2);  // the ground, where there is none
            const double angle = 3 * normal(dice);
            std::vector<direction_term> terms;
            for (int j = 0; j < 2; ++j) {
                const double part = j == 0 ? std::cos(angle) : std::sin(angle);
                terms.push_back({2 * of + j, part});
                if (on < bodies && on != of) terms.push_back({2 * on + j, -part});
            }
            for (const auto& term : terms) G(k, term.coordinate) = term.factor;
            speeds[k] = std::fabs(normal(dice));  // surfaces that give way: there is a solution for any impulses
            problem.add({.id = k, .normal = terms, .normal_speed = speeds[k]});
        }
        const Eigen::VectorXd before = v;
        const Eigen::MatrixXd response = inverse.asDiagonal() * G.transpose();
        Eigen::VectorXd lambda;
        const bool found = solve_by_lemke(G * response, G * before + speeds, lambda);
        const auto size = static_cast<std::size_t>(v.size());
        const bool converged = problem.solve({before.data(), size}, {v.data(), size}).converged;
        not_converged += !converged;
        not_by_lemke += !found;
        if (!found || !converged) continue;
        ++compared;
        const double difference = (v - before - response * lambda).lpNorm<Eigen::Infinity>();
        worst = std::max(worst, difference);
        EXPECT_LT(difference, 1e-8 * std::max(1.0, v.lpNorm<Eigen::Infinity>())) << n << ", contacts " << contacts;
    }
    std::printf(
        "%d compared, up to %d contacts, largest difference %.1e; %d did not converge, Lemke found none in %d\n",
        compared, most, worst, not_converged, not_by_lemke);
    EXPECT_LE(not_converged, 10);
    EXPECT_LE(not_by_lemke, 10);
}

}  // namespace
}  // namespace mdpcosim
