// How ports answer to loads, by every source: against inverse masses, and short steps against the matrix exponential.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "master/test/plain_bodies.hpp"

namespace mdpcosim {
namespace {

using test::plain_body;
using test::row_of_bodies;
using test::two_mass;
using known_derivatives = plain_body::properties::derivatives;
using dense_matrix = std::vector<std::vector<double>>;

/// As the one-pass method asks for them: under the loads of the laws.
struct asked_system {
    coupled_system& system;
    port_sensitivities answers;

    explicit asked_system(coupled_system& asked, const given_sensitivities& given = {})
        : system(asked), answers(system, coupled_channels(system), given) {
        system.initialise(0);
        answers.prepare(system);
    }
    double find(double begin, double H) {
        network& net = system.coupling;
        net.accept(begin, system.subsystems->outputs(), system.u, system.du);
        net.extrapolate(begin + H);
        for (const auto& [channel, first_order] : coupled_channels(system))
            net.impose(channel, H, system.u[channel.value()], 0);
        return answers.find(system, {begin, begin + H, 0});
    }
    dense_matrix Q() const {
        dense_matrix sum(answers.rates().size(), std::vector<double>(answers.rates().size(), 0.0));
        for (const matrix_entry& e : answers.Q()) sum[e.row][e.column] += e.value;
        return sum;
    }
};

/// Bodies of 1, 0.3, 2 and 0.7 kg in a row, at rest unless `x` says so.
std::vector<plain_body::properties> four_bodies(plain_body::properties common) {
    std::vector<plain_body::properties> all(4, common);
    const std::array<double, 4> m{1, 0.3, 2, 0.7};
    for (std::size_t i = 0; i < 4; ++i) all[i].m = m[i];
    all[1].ports = all[2].ports = 2;
    return all;
}

/// Relative to Q = G M^-1 G' of that row, G the differences of neighbours: 1/m + 1/m of both sides, -1/m of the body between.
double error_of_Q(const asked_system& asked) {
    const auto bodies = four_bodies({});
    const dense_matrix found = asked.Q();
    double most = found.size() == 3 ? 0 : 1;
    for (std::size_t i = 0; i < found.size(); ++i)
        for (std::size_t k = 0; k < found.size(); ++k) {
            const double exact = i == k                                 ? 1 / bodies[i].m + 1 / bodies[i + 1].m
                                 : std::max(i, k) == std::min(i, k) + 1 ? -1 / bodies[std::max(i, k)].m
                                                                        : 0;
            most = std::max(most, exact == 0 ? std::abs(found[i][k]) : std::abs(found[i][k] / exact - 1));
        }
    return most;
}

TEST(port_sensitivities, given_and_exact_ones_are_inverse_masses) {
    for (const bool saves : {false, true}) {
        row_of_bodies told(four_bodies({.saves = saves, .known = known_derivatives::exact}), 1e4);
        asked_system by_derivatives(told.system);
        EXPECT_EQ(by_derivatives.find(0, 0.1), 0);
        EXPECT_LT(error_of_Q(by_derivatives), 1e-15);
        EXPECT_FALSE(by_derivatives.answers.advances());
        EXPECT_EQ(told.bodies[0]->steps(), 0);

        // Of a rigid body each port answers to the loads of both.
        row_of_bodies plain(four_bodies({.saves = saves}), 1e4);
        const transport& t = *plain.system.subsystems;
        given_sensitivities given;
        for (const subsystem_index body :
             {subsystem_index(0), subsystem_index(1), subsystem_index(2), subsystem_index(3)}) {
            const auto p = four_bodies({})[body.value()];
            for (std::size_t k = 0; k < static_cast<std::size_t>(p.ports * p.ports); ++k)
                given.push_back({input_slot(t.input_offset(body) + k / 2),
                                 output_slot(t.output_offset(body) + 2 * (k % 2) + 1), 1 / p.m});
        }
        asked_system by_scenario(plain.system, given);
        EXPECT_EQ(by_scenario.find(0, 0.1), 0);
        EXPECT_LT(error_of_Q(by_scenario), 1e-15);
        EXPECT_EQ(plain.bodies[0]->steps(), 0);
        for (int n = 0; n < 3000; ++n) by_scenario.answers.step_done();
        EXPECT_FALSE(by_scenario.answers.is_due()) << "what is given does not change";
    }
}

TEST(port_sensitivities, accelerations_give_inverse_masses_and_rates) {
    coupled_system system = two_mass::make(make_extrapolation("poly-2"), 1e-3);
    asked_system asked(system);
    EXPECT_EQ(asked.find(0, 0.01), 0);
    EXPECT_NEAR(asked.Q()[0][0], 2 / two_mass::m, 1e-12);
    EXPECT_NEAR(asked.answers.rates()[0], -9, 1e-9) << "x_A - x_B = cos 3t";
}

/// What the short steps of port_sensitivities.hpp find at a body that rests, with two sizes of loads: exp of
/// (x, v, F)' = (v, F/m - omega^2 x - 2e-3 omega v, 0) over h as its series.
double found_by_exponential(const plain_body::properties& p, double h) {
    const std::array<std::array<double, 3>, 3> A{{{0, 1, 0}, {-p.omega * p.omega, -2e-3 * p.omega, 1 / p.m}, {}}};
    const auto moved = [&](std::array<double, 3> z) {
        std::array<double, 3> term = z;
        for (int n = 1; n < 30; ++n) {
            std::array<double, 3> next{};
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t k = 0; k < 3; ++k) next[i] += A[i][k] * term[k] * h / n;
            term = next;
            for (std::size_t i = 0; i < 3; ++i) z[i] += term[i];
        }
        return z;
    };
    std::array<double, 3> z{};
    double B = 0;
    for (const double delta : {1.0, 100.0}) {
        std::array<double, 3> a{};
        for (std::size_t stage = 0; stage < 3; ++stage) {
            const double v = z[1];
            z[2] = std::array{0.0, delta, -delta}[stage];
            z = moved(z);
            a[stage] = (z[1] - v) / h;
        }
        B = (2 * a[1] - a[0] - a[2]) / (3 * delta);
    }
    return B;
}

TEST(port_sensitivities, short_steps_find_what_the_matrix_exponential_says) {
    for (const bool saves : {false, true})
        for (const double H : {0.1, 10.0, 200.0}) {
            const std::vector<plain_body::properties> which{{.m = 3, .omega = 1, .x = 0, .saves = saves},
                                                            {.m = 0.2, .omega = 2, .x = 0, .saves = saves}};
            row_of_bodies two(which, 10);
            asked_system asked(two.system);
            EXPECT_EQ(asked.answers.advances(), !saves);
            const double h = H / 1024, reached = asked.find(1, H);
            const double exact = found_by_exponential(which[0], h) + found_by_exponential(which[1], h);
            EXPECT_NEAR(asked.Q()[0][0] / exact, 1, saves ? 1e-10 : 1e-5) << H;
            // As free masses answer, but for some 1.6 (omega h)^2 that their springs do within short steps.
            EXPECT_NEAR(exact / (1 / 3.0 + 5), 1, 1.6 * 4 * h * h) << H;
            EXPECT_NEAR(reached, saves ? 1 : 1 + 6 * h, 1e-12) << H;
            EXPECT_EQ(two.bodies[0]->steps(), saves ? 0 : 6) << H;
        }
}

TEST(port_sensitivities, short_steps_at_two_ports_find_both_answers) {
    for (const bool saves : {false, true}) {
        row_of_bodies row(four_bodies({.x = 0, .saves = saves}), 1e4);
        asked_system asked(row.system);
        asked.find(0, 1e-2);
        EXPECT_LT(error_of_Q(asked), saves ? 1e-8 : 1e-3);
        const auto steps = row.bodies[0]->steps();
        EXPECT_TRUE(saves ? steps == 0 : steps % 3 == 0 && steps >= 12) << "rounds of three at either port: " << steps;
    }
}

TEST(port_sensitivities, trial_steps_leave_the_same_bits) {
    row_of_bodies row(four_bodies({.x = 0.3, .saves = true}), 1e4);
    asked_system asked(row.system);
    const auto all = [&] {
        const auto y = row.system.subsystems->outputs();
        std::vector<double> values(y.begin(), y.end());
        values.insert(values.end(), row.system.u.begin(), row.system.u.end());
        values.insert(values.end(), row.system.du.begin(), row.system.du.end());
        return values;
    };
    row.system.coupling.deliver(0.1, row.system.subsystems->inputs());
    row.system.advance({0, 0.1, 0});
    const auto before = all();
    EXPECT_EQ(asked.find(0.1, 0.1), 0.1);
    EXPECT_EQ(all(), before);
    EXPECT_EQ(row.bodies[0]->steps(), 1);
}

/// How many macro steps later they are asked for, time after time; `H` long.
std::vector<int> waits(asked_system& asked, double H, int times) {
    std::vector<int> found;
    double t = 0;
    EXPECT_TRUE(asked.answers.is_due());
    for (int k = 0; k < times; ++k) {
        t = std::max(t, asked.find(t, H));
        int n = 0;
        for (; !asked.answers.is_due(); ++n) {
            asked.system.coupling.deliver(H, asked.system.subsystems->inputs());
            asked.system.advance({t, t + H, n});
            t += H;
            asked.answers.step_done();
        }
        found.push_back(n);
    }
    return found;
}

TEST(port_sensitivities, are_asked_for_ever_less_while_they_stay) {
    using testing::ElementsAre;
    const auto both = [](plain_body::properties p) { return std::vector<plain_body::properties>{p, p}; };
    for (const bool saves : {false, true}) {
        row_of_bodies constant(both({.x = 0, .saves = saves}), 1);
        asked_system asked(constant.system);
        if (saves)
            EXPECT_THAT(waits(asked, 1e-2, 6), ElementsAre(16, 32, 64, 128, 128, 128));
        else
            EXPECT_THAT(waits(asked, 1e-2, 9), ElementsAre(16, 32, 64, 128, 256, 512, 1024, 1024, 1024));
    }
    // 1 % per step: 16 % between the first two times, then less than 5 % only from step to step.
    row_of_bodies growing(both({.x = 0, .growth = 1, .known = known_derivatives::exact}), 1);
    asked_system asked(growing.system);
    EXPECT_THAT(waits(asked, 1e-2, 3), ElementsAre(16, 8, 4));
}

TEST(port_sensitivities, a_port_without_inertia_among_others_is_named) {
    row_of_bodies row(four_bodies({}), 1e4);
    const given_sensitivities first_port_only{{input_slot(1), output_slot(3), 1 / 0.3}};
    try {
        port_sensitivities(row.system, coupled_channels(row.system), first_port_only);
        FAIL();
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(), testing::AllOf(testing::HasSubstr("subsystem 'body1'"),
                                                   testing::HasSubstr("port 'body1.p1' has none")));
    }
}

TEST(port_sensitivities, a_connection_that_moves_its_ports_the_wrong_way_is_named) {
    row_of_bodies two({{.m = 1}, {.m = 1}}, 1e4);
    asked_system asked(two.system, {{input_slot(0), output_slot(1), -2}, {input_slot(1), output_slot(3), 1}});
    try {
        asked.find(0, 0.1);
        FAIL();
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), testing::AllOf(testing::HasSubstr("connection 'spring0'"),
                                                   testing::HasSubstr("by -1 per unit and second")));
    }
}

}  // namespace
}  // namespace mdpcosim
