#include "contact/contact_problem.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "core/error.hpp"

namespace mdpcosim {
namespace {

/// A generated problem, dense.
struct dense_problem {
    std::vector<int> sizes;
    std::vector<Eigen::MatrixXd> inverse_masses;
    Eigen::MatrixXd inverse_mass, G;
    Eigen::VectorXd before, free, speeds;
    double restitution = 0;
    std::vector<bool> without_rebound;

    contact_problem make(const contact_settings& settings) const {
        contact_problem made(sizes, static_cast<int>(G.rows()), settings);
        for (std::size_t b = 0; b < sizes.size(); ++b)
            made.set_inverse_mass(static_cast<int>(b),
                                  {inverse_masses[b].data(), static_cast<std::size_t>(inverse_masses[b].size())});
        for (int k = 0; k < G.rows(); ++k) {
            std::vector<direction_term> terms;
            for (int i = 0; i < G.cols(); ++i)
                if (G(k, i) != 0) terms.push_back({i, G(k, i)});
            made.add({.id = k, .restitution = restitution, .normal = terms, .normal_speed = speeds[k]});
        }
        return made;
    }
    Eigen::VectorXd bias() const {
        const Eigen::VectorXd was = G * before + speeds, now = G * free + speeds;
        Eigen::VectorXd b(was.size());
        for (int k = 0; k < b.size(); ++k) {
            const double rebound = without_rebound[k] ? 0 : restitution * std::max(0.0, -was[k]);
            b[k] = rebound > was[k] - now[k] ? -rebound : 0;
        }
        return b;
    }
};

dense_problem any_problem(std::mt19937& dice, bool rebounds) {
    std::normal_distribution<double> normal;
    const auto below = [&](int n) { return static_cast<int>(dice() % static_cast<unsigned>(n)); };
    dense_problem p;
    const int bodies = 2 + below(4);
    for (int b = 0; b < bodies; ++b) p.sizes.push_back(1 + below(3));
    int n = 0;
    for (const int size : p.sizes) n += size;
    p.inverse_mass = Eigen::MatrixXd::Zero(n, n);
    for (int b = 0, first = 0; b < bodies; first += p.sizes[static_cast<std::size_t>(b++)]) {
        const int size = p.sizes[static_cast<std::size_t>(b)];
        const Eigen::MatrixXd root = Eigen::MatrixXd::NullaryExpr(size, size, [&] { return normal(dice); });
        p.inverse_masses.push_back(root * root.transpose() + 0.3 * Eigen::MatrixXd::Identity(size, size));
        p.inverse_mass.block(first, first, size, size) = p.inverse_masses.back();
    }
    // With rebounds there need not be a solution where contacts hang together too closely.
    const int contacts = rebounds ? 1 + below(std::min(n, 4)) : 1 + below(8);
    p.G = Eigen::MatrixXd::Zero(contacts, n);
    for (int k = 0; k < contacts; ++k)
        for (int times = 0; times < 2; ++times) {
            const int b = below(bodies);
            for (int i = 0, at = 0; i < bodies; at += p.sizes[static_cast<std::size_t>(i++)])
                if (i == b)
                    for (int j = 0; j < p.sizes[static_cast<std::size_t>(i)]; ++j) p.G(k, at + j) = normal(dice);
        }
    p.before = Eigen::VectorXd::NullaryExpr(n, [&] { return normal(dice); });
    p.free = p.before + 0.1 * Eigen::VectorXd::NullaryExpr(n, [&] { return normal(dice); });
    p.speeds = Eigen::VectorXd::Zero(contacts);
    p.restitution = rebounds ? 0.5 : 0;
    p.without_rebound.resize(static_cast<std::size_t>(contacts));
    return p;
}

/// The complementarity problem by trying all sets of contacts that press: the first whose solution fits.
std::optional<Eigen::VectorXd> velocities_by_enumeration(const dense_problem& p) {
    const Eigen::MatrixXd response = p.inverse_mass * p.G.transpose(), W = p.G * response;
    const Eigen::VectorXd q = p.G * p.free + p.speeds + p.bias();
    const int m = static_cast<int>(q.size());
    for (unsigned set = 0; set < 1U << m; ++set) {
        std::vector<int> pressing;
        for (int k = 0; k < m; ++k)
            if (set >> k & 1U) pressing.push_back(k);
        Eigen::VectorXd lambda = Eigen::VectorXd::Zero(m);
        if (!pressing.empty()) {
            const Eigen::VectorXd part =
                W(pressing, pressing).completeOrthogonalDecomposition().solve(-q(pressing).eval());
            lambda(pressing) = part;
        }
        const Eigen::VectorXd w = W * lambda + q;
        const bool presses = pressing.empty() || lambda(pressing).minCoeff() >= -1e-10;
        const bool rests = pressing.empty() || w(pressing).cwiseAbs().maxCoeff() <= 1e-10;
        if (presses && rests && w.minCoeff() >= -1e-10) return p.free + response * lambda;
    }
    return std::nullopt;
}

/// Contacts that hang together, directly or through others, as bits.
std::vector<unsigned> islands_of(const dense_problem& p) {
    const Eigen::MatrixXd W = p.G * p.inverse_mass * p.G.transpose();
    std::vector<unsigned> islands;
    for (int k = 0; k < W.rows(); ++k) {
        unsigned joined = 1U << k;
        for (int l = 0; l < W.rows(); ++l)
            if (W(k, l) != 0) joined |= 1U << l;
        std::erase_if(islands, [&](unsigned one) { return (one & joined) != 0 && (joined |= one, true); });
        islands.push_back(joined);
    }
    return islands;
}

/// Of the solutions in which some islands keep their rebounds, not all, the one that is nearest.
double least_difference_without_rebound(dense_problem p, const Eigen::VectorXd& v) {
    const auto islands = islands_of(p);
    double least = HUGE_VAL;
    for (unsigned dropped = 1; dropped < 1U << islands.size(); ++dropped) {
        for (std::size_t k = 0; k < p.without_rebound.size(); ++k)
            for (std::size_t i = 0; i < islands.size(); ++i)
                if (islands[i] >> k & 1U) p.without_rebound[k] = (dropped >> i & 1U) != 0;
        if (const auto exact = velocities_by_enumeration(p))
            least = std::min(least, (v - *exact).lpNorm<Eigen::Infinity>());
    }
    return least;
}

TEST(contact_problem, agrees_with_a_direct_solver_on_a_thousand_problems) {
    std::mt19937 dice(24);
    int not_converged = 0, without_rebound = 0, compared = 0;
    double worst = 0;
    for (int n = 0; compared < 1000; ++n) {
        const dense_problem p = any_problem(dice, n % 3 == 0);
        contact_problem problem = p.make({.tolerance = 1e-11, .most_sweeps = 200000});
        Eigen::VectorXd v = p.free;
        const auto outcome = problem.solve({p.before.data(), static_cast<std::size_t>(p.before.size())},
                                           {v.data(), static_cast<std::size_t>(v.size())});
        if (!outcome.converged) {
            ++not_converged;
            EXPECT_FALSE(problem.unsolved().empty());
            continue;
        }
        double difference = 0;
        if (outcome.without_rebound) {
            ++without_rebound;
            EXPECT_GT(p.restitution, 0) << n;
            difference = least_difference_without_rebound(p, v);
        } else {
            const auto exact = velocities_by_enumeration(p);
            ASSERT_TRUE(exact) << n;
            difference = (v - *exact).lpNorm<Eigen::Infinity>();
        }
        ++compared;
        worst = std::max(worst, difference);
        EXPECT_LT(difference, 1e-8 * std::max(1.0, v.lpNorm<Eigen::Infinity>())) << n;
    }
    RecordProperty("compared", compared);
    RecordProperty("not_converged", not_converged);
    std::printf("%d compared, largest difference %.1e; %d did not converge, %d without rebound\n", compared, worst,
                not_converged, without_rebound);
    EXPECT_LE(not_converged, 10);
}

/// One body with two coupled coordinates on one plane with friction: open, sticking, or sliding either way, by trying them.
TEST(contact_problem, friction_on_independent_contacts) {
    std::mt19937 dice(5);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> share(0, 0.3);
    int sticking = 0, sliding = 0, open = 0;
    constexpr int bodies = 4;
    for (int n = 0; n < 1000; ++n) {
        const std::vector<int> sizes(bodies, 2);
        contact_problem problem(sizes, bodies, {.tolerance = 1e-12, .most_sweeps = 100000});
        Eigen::VectorXd v(2 * bodies), exact(2 * bodies);
        for (int b = 0; b < bodies; ++b) {
            const double xx = 1 + share(dice), yy = 1 + share(dice), xy = share(dice), mu = 3 * share(dice);
            const std::vector<double> mass{xx, xy, xy, yy};
            problem.set_inverse_mass(b, mass);
            const std::vector<direction_term> tangent{{2 * b, 1}}, up{{2 * b + 1, 1}};
            problem.add({.id = b, .friction = mu, .normal = up, .tangent = tangent});
            const Eigen::Vector2d free(normal(dice), normal(dice));
            v.segment<2>(2 * b) = free;
            Eigen::Matrix2d W;
            W << xx, xy, xy, yy;
            Eigen::Vector2d expected = free;
            if (free[1] < 0) {
                const Eigen::Vector2d stick = -W.inverse() * free;
                const double to_right = -free[1] / (yy - mu * xy), to_left = -free[1] / (yy + mu * xy);
                if (std::fabs(stick[0]) <= mu * stick[1]) {
                    expected.setZero();
                    ++sticking;
                } else if (free[0] - (mu * xx - xy) * to_right > 0) {
                    expected += W * Eigen::Vector2d(-mu * to_right, to_right);
                    ++sliding;
                } else {
                    expected += W * Eigen::Vector2d(mu * to_left, to_left);
                    ++sliding;
                }
            } else {
                ++open;
            }
            exact.segment<2>(2 * b) = expected;
        }
        const Eigen::VectorXd before = v;
        const auto outcome = problem.solve({before.data(), 2 * bodies}, {v.data(), 2 * bodies});
        EXPECT_TRUE(outcome.converged) << n;
        EXPECT_LT((v - exact).lpNorm<Eigen::Infinity>(), 1e-8) << n;
    }
    EXPECT_GT(sticking, 100);
    EXPECT_GT(sliding, 1000);
    EXPECT_GT(open, 1000);
}

/// Two tangents: friction acts against the sliding velocity, with mu times the normal impulse.
TEST(contact_problem, spatial_friction_is_a_disc) {
    const std::vector<int> sizes{1, 1, 1};
    contact_problem problem(sizes, 1);
    const std::vector<double> unit{1};
    for (int b = 0; b < 3; ++b) problem.set_inverse_mass(b, unit);
    const std::vector<direction_term> x{{0, 1}}, y{{1, 1}}, z{{2, 1}};
    problem.add({.friction = 0.5, .normal = z, .tangent = x, .second_tangent = y});
    std::vector<double> v{3, 4, -2}, before = v;
    problem.solve(before, v);
    EXPECT_NEAR(v[0], 3 * (1 - 1.0 / 5), 1e-9);
    EXPECT_NEAR(v[1], 4 * (1 - 1.0 / 5), 1e-9);
    EXPECT_NEAR(v[2], 0, 1e-12);
    EXPECT_NEAR(problem.impulses()[0], 2, 1e-9);
}

TEST(contact_problem, tells_what_did_not_converge) {
    // Twelve blocks on one another: one sweep tells the lowest of the next one only.
    constexpr int n = 12;
    const std::vector<int> sizes(n, 1);
    contact_problem problem(sizes, n, {.tolerance = 1e-10, .most_sweeps = 3});
    const std::vector<double> unit{1}, still(n, 0.0);
    for (int b = 0; b < n; ++b) problem.set_inverse_mass(b, unit);
    const auto stack = [&] {
        problem.clear();
        for (int k = 0; k < n; ++k) {
            std::vector<direction_term> terms{{k, 1}};
            if (k > 0) terms.push_back({k - 1, -1});
            problem.add({.id = k, .normal = terms});
        }
    };
    int solved = 0;
    for (int step = 0; step < 2000; ++step) {
        stack();
        std::vector<double> v(n, -1e-2);
        const auto outcome = problem.solve(still, v);
        if (step == 0) {
            EXPECT_FALSE(outcome.converged);
            EXPECT_EQ(outcome.sweeps, 3);
            EXPECT_FALSE(problem.unsolved().empty());
            EXPECT_GT(outcome.change, 0);
        }
        solved += outcome.converged;
    }
    // The next problem begins where the last one ended: in the end nothing is left to do.
    EXPECT_GT(solved, 100);
    EXPECT_NEAR(problem.impulses()[0], n * 1e-2, 1e-8);
}

/// A body between two walls that close is never solved; what hangs together with nothing of it is, and bounces.
TEST(contact_problem, what_is_not_solved_does_not_reach_the_rest) {
    const std::vector<int> sizes{1, 1, 1};
    contact_problem problem(sizes, 4, {.most_sweeps = 100});
    const std::vector<double> unit{1};
    for (int b = 0; b < 3; ++b) problem.set_inverse_mass(b, unit);
    const std::vector<direction_term> right{{0, 1}}, left{{0, -1}}, ball{{1, 1}}, other{{2, 1}};
    problem.add({.id = 3, .restitution = 0.5, .normal = ball});
    problem.add({.id = 1, .restitution = 0.5, .normal = right, .normal_speed = -1});
    problem.add({.id = 2, .normal = left, .normal_speed = -1});
    problem.add({.id = 0, .normal = other});
    std::vector<double> v{0, -2, -3}, before = v;
    const auto outcome = problem.solve(before, v);
    EXPECT_FALSE(outcome.converged);
    EXPECT_TRUE(outcome.without_rebound);  // of contact 1
    ASSERT_EQ(problem.unsolved().size(), 2U);
    EXPECT_EQ(problem.unsolved()[0] + problem.unsolved()[1], 3);
    EXPECT_EQ(v[1], 1);
    EXPECT_EQ(v[2], 0);
}

/// Sweeps get ahead slowly in a tall stack: an error that one problem leaves must not grow from problem to problem.
TEST(contact_problem, a_tall_stack_under_changing_load_is_solved_each_time) {
    constexpr int n = 40;
    constexpr double tolerance = 1e-8;
    const std::vector<int> sizes(n, 1);
    contact_problem problem(sizes, n, {.tolerance = tolerance, .most_sweeps = 100000});
    const std::vector<double> unit{1}, still(n, 0.0);
    for (int b = 0; b < n; ++b) problem.set_inverse_mass(b, unit);
    double worst = 0;
    for (int step = 0; step < 100; ++step) {
        problem.clear();
        for (int k = n - 1; k >= 0; --k) {
            const std::vector<direction_term> terms{{k, 1}, {k - 1, -1}};
            problem.add({.id = k, .normal = std::span(terms).first(k > 0 ? 2 : 1)});
        }
        std::vector<double> v(n);
        for (int b = 0; b < n; ++b) v[static_cast<std::size_t>(b)] = -1 - 1e-6 * std::sin(0.1 * step + b);
        EXPECT_TRUE(problem.solve(still, v).converged) << step;
        for (const double one : v) worst = std::max(worst, std::fabs(one));
    }
    std::printf("largest velocity in a stack at rest: %.2g\n", worst);
    EXPECT_LE(worst, 2 * tolerance);
}

/// Pairs come and go: what stays is found by its id, what went is forgotten, and a saved state holds it.
TEST(contact_problem, contacts_are_known_by_their_ids) {
    constexpr int bodies = 5;
    const std::vector<int> sizes(bodies, 1);
    contact_problem problem(sizes, 1000), other(sizes, 1000);
    const std::vector<double> unit{1};
    for (int b = 0; b < bodies; ++b) {
        problem.set_inverse_mass(b, unit);
        other.set_inverse_mass(b, unit);
    }
    const auto on_floor = [](contact_problem& in, int body, int id) {
        const std::vector<direction_term> up{{body, 1}};
        in.add({.id = id, .normal = up});
    };
    const std::vector<double> still(bodies, 0.0);
    std::vector<double> v(bodies, -1.0);
    for (const int b : {3, 0, 2}) on_floor(problem, b, 100 * b + 7);
    problem.solve(still, v);
    EXPECT_EQ(problem.impulses()[3 * 307], 1);
    v.assign(bodies, -1.0);
    problem.clear();
    for (const int b : {4, 3, 0}) on_floor(problem, b, 100 * b + 7);
    EXPECT_EQ(problem.solve(still, v).sweeps, 2);
    EXPECT_EQ(problem.impulses()[3 * 207], 0);
    std::vector<double> state(contact_problem::state_size(4));
    problem.save(state);
    other.restore(state);
    EXPECT_TRUE(std::ranges::equal(other.impulses(), problem.impulses()));
    v.assign(bodies, -1.0);
    for (const int b : {4, 3, 0}) on_floor(other, b, 100 * b + 7);
    EXPECT_EQ(other.solve(still, v).sweeps, 1);  // nothing was left to do
    std::vector<double> small(contact_problem::state_size(2));
    EXPECT_THROW(problem.save(small), std::logic_error);
    state[1] = 1000;
    EXPECT_THROW(other.restore(state), run_error);
}

/// Newton's law with one restitution for contacts that are closed at once: not the toy on the desk, but what the law says.
TEST(contact_problem, balls_that_touch_share_the_impact) {
    const std::vector<int> sizes{1, 1, 1};
    contact_problem problem(sizes, 2);
    const std::vector<double> unit{1};
    for (int b = 0; b < 3; ++b) problem.set_inverse_mass(b, unit);
    const std::vector<direction_term> first{{0, -1}, {1, 1}}, second{{1, -1}, {2, 1}};
    problem.add({.id = 0, .restitution = 1, .normal = first});
    problem.add({.id = 1, .restitution = 1, .normal = second});
    std::vector<double> v{1, 0, 0}, before = v;
    EXPECT_TRUE(problem.solve(before, v).converged);
    EXPECT_NEAR(v[0], -1.0 / 3, 1e-9);
    EXPECT_NEAR(v[1], 2.0 / 3, 1e-9);
    EXPECT_NEAR(v[2], 2.0 / 3, 1e-9);
}

}  // namespace
}  // namespace mdpcosim
