// The method index-1 on oscillators in a row that joints make one: against the motion and the loads of that one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coupling/joint.hpp"
#include "master/test/small_systems.hpp"

namespace mdpcosim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct rigid_body {
    double m, c, x = 1, v = 0;
};

std::unique_ptr<method> index_1(const std::vector<std::pair<std::string, double>>& given) {
    const method_info* info = method_registry::instance().find("index-1");
    parameter_values options(info->options);
    for (const auto& [option, value] : given) options.set(option, {value});
    return info->make_with(options);
}
/// The option `degree` is the place of a choice.
std::pair<std::string, double> of_degree(int degree) { return {"degree", degree - 2}; }

/// m_i x'' + c_i x = lambda_(i-1) - lambda_i with rigid joints between neighbours: all move as x = cos(omega t), omega^2 = sum c / sum m.
struct joined_row {
    std::vector<rigid_body> bodies;
    coupled_system system;
    std::unique_ptr<method> chosen;
    double t = 0;
    std::int64_t n = 0;

    /// `joints`: pairs of bodies, called `0-1` and so on.
    joined_row(std::vector<rigid_body> which, const std::vector<std::array<std::size_t, 2>>& joints, double micro_step,
               const std::vector<std::pair<std::string, double>>& options = {})
        : bodies(std::move(which)), chosen(index_1(options)) {
        std::vector<named_subsystem> parts;
        for (const rigid_body& b : bodies)
            parts.push_back({"body" + std::to_string(parts.size()),
                             test::with_rk4(std::make_unique<test::oscillator>(b.m, b.c,
                                                                               [b](double) {
                                                                                   return std::array{b.x, b.v};
                                                                               }),
                                            micro_step)});
        system.subsystems = make_thread_transport(std::move(parts), 1);
        for (const auto& pair : joints) join(pair);
        system.coupling.finish(std::vector<double>(bodies.size(), 0.0));
        system.finish();
    }
    void join(const std::array<std::size_t, 2>& pair) {
        network& net = system.coupling;
        const joint_info& rigid = *joint_registry::instance().find("rigid");
        joint_connection j;
        j.name = std::to_string(pair[0]) + "-" + std::to_string(pair[1]);
        j.joint = rigid.make(parameter_values(rigid.parameters), port_kind::translation);
        j.multipliers = {net.add_imposed(j.name)};
        for (std::size_t e = 0; e < 2; ++e) {
            auto& end = j.ends[e];
            end.subsystem = subsystem_index(pair[e]);
            for (std::size_t k = 0; k < 3; ++k) end.motion.emplace_back(3 * pair[e] + k);
            end.input = {input_slot(pair[e])};
            end.load = {net.add_imposed(j.name)};
            net.add_delivery(end.input[0], max_degree, {end.load[0], 1});
        }
        system.joints.push_back(std::move(j));
    }
    void begin() {
        chosen->check(system);
        system.initialise(0);
        chosen->prepare(system);
    }
    macro_step next(double H) const { return {t, t + H, n}; }
    void step(double H) {
        chosen->step(system, next(H));
        t += H;
        ++n;
    }

    double omega() const {
        double c = 0, m = 0;
        for (const rigid_body& b : bodies) c += b.c, m += b.m;
        return std::sqrt(c / m);
    }
    double exact(double at) const { return std::cos(omega() * at); }
    /// Of the joint behind a body, per x.
    double exact_load(std::size_t joint) const {
        double sum = 0;
        for (std::size_t i = 0; i <= joint; ++i) sum += bodies[i].m * omega() * omega() - bodies[i].c;
        return sum;
    }
    double y(std::size_t body, std::size_t level) const { return system.subsystems->outputs()[3 * body + level]; }
    double multiplier(std::size_t joint) const { return system.u[system.joints[joint].multipliers[0].value()]; }
    /// Largest g, g' and g''.
    double residual() const {
        double most = 0;
        for (const auto& j : system.joints)
            for (std::size_t level = 0; level < 3; ++level)
                most = std::max(
                    most, std::abs(y(j.ends[0].subsystem.value(), level) - y(j.ends[1].subsystem.value(), level)));
        return most;
    }
    /// y and u.
    std::vector<double> values() const {
        std::vector<double> all(system.outputs().begin(), system.outputs().end());
        all.insert(all.end(), system.u.begin(), system.u.end());
        return all;
    }
};

const std::vector<rigid_body> three_bodies{{1, 5}, {2, 0.5}, {0.4, 9}};
const std::vector<std::array<std::size_t, 2>> in_a_row{{0, 1}, {1, 2}};

TEST(index_1_method, begins_with_the_loads_that_hold_the_joints) {
    joined_row row(three_bodies, in_a_row, 0.01);
    row.begin();
    for (const std::size_t joint : {0, 1}) EXPECT_NEAR(row.multiplier(joint), row.exact_load(joint), 1e-12);
    EXPECT_LT(row.residual(), 1e-12);
    EXPECT_NEAR(row.y(0, 2), -row.omega() * row.omega(), 1e-12);
}

TEST(index_1_method, holds_joints_in_position_velocity_and_acceleration_at_macro_points) {
    const std::vector<std::vector<std::pair<std::string, double>>> ways{
        {of_degree(2)}, {of_degree(3)}, {of_degree(3), {"jacobian", 1}}, {of_degree(2), {"tolerance", 1e-12}}};
    for (const auto& way : ways) {
        joined_row row(three_bodies, in_a_row, 0.1 / 8, way);
        row.begin();
        for (int k = 0; k < 100; ++k) {
            // Also behind steps of other lengths.
            row.step(k % 10 == 9 ? 0.05 : 0.1);
            ASSERT_LT(row.residual(), 1e-9) << way[0].second << " " << way.size() << ", step " << k;
            // Where all levels hold, the loads are those of the present position.
            for (const std::size_t joint : {0, 1})
                ASSERT_NEAR(row.multiplier(joint), row.exact_load(joint) * row.y(0, 0), 1e-8) << "step " << k;
        }
    }
}

struct index_1_errors {
    double multiplier = 0, within = 0;  ///< at macro points, and of the load between them
};

index_1_errors index_1_errors_of(int degree, double H, double end) {
    joined_row row(three_bodies, in_a_row, H / 48, {of_degree(degree)});
    row.begin();
    index_1_errors most;
    while (row.t < end - H / 2) {
        const double before = row.t;
        row.step(H);
        for (const std::size_t joint : {0, 1})
            most.multiplier =
                std::max(most.multiplier, std::abs(row.multiplier(joint) - row.exact_load(joint) * row.exact(row.t)));
        // The first body has one joint, whose load it takes with the other sign.
        const polynomial& load = row.system.subsystems->inputs()[0];
        for (int k = 0; k <= 20; ++k) {
            const double s = k * H / 20;
            most.within = std::max(most.within, std::abs(-load(s) - row.exact_load(0) * row.exact(before + s)));
        }
    }
    return most;
}

TEST(index_1_method, multipliers_are_of_order_five_and_six_at_macro_points_and_two_less_between) {
    for (const int degree : {2, 3}) {
        const auto coarse = index_1_errors_of(degree, 0.2, 4), fine = index_1_errors_of(degree, 0.1, 4);
        EXPECT_NEAR(std::log2(coarse.multiplier / fine.multiplier), degree + 3, 0.3) << coarse.multiplier;
        EXPECT_NEAR(std::log2(coarse.within / fine.within), degree + 1, 0.3) << coarse.within;
    }
}

/// What the lower degree costs is a load that moves no free body. Springs answer to it by H^6 in the velocity, which is the order that the
/// method says, and by H^7 in the position, where dampers would by H^6.
TEST(index_1_method, estimates_fall_as_their_orders_say) {
    for (const int degree : {2, 3}) {
        std::array<std::array<double, 2>, 2> largest{};
        for (const std::size_t fine : {0, 1}) {
            const double H = fine == 0 ? 0.2 : 0.1;
            joined_row row(three_bodies, in_a_row, H / 48, {of_degree(degree)});
            row.begin();
            row.chosen->prepare_estimates(row.system);
            std::vector<double> error(row.system.subsystems->outputs().size());
            while (row.t < 2) {
                const estimate_orders orders = row.chosen->attempt_and_estimate(row.system, row.next(H), error);
                EXPECT_EQ(orders.value, 6);
                EXPECT_EQ(orders.rate, 6);
                row.chosen->commit(row.system);
                row.t += H;
                ++row.n;
                for (const std::size_t level : {0, 1})
                    largest[fine][level] = std::max(largest[fine][level], std::abs(error[level]));
            }
        }
        for (const std::size_t level : {0, 1})
            EXPECT_NEAR(std::log2(largest[0][level] / largest[1][level]), level == 0 ? 7 : 6, 0.2) << degree;
    }
}

TEST(index_1_method, an_iteration_that_fails_names_its_joint_and_leaves_the_same_bits) {
    joined_row strict(three_bodies, in_a_row, 0.1 / 8, {{"tolerance", 1e-30}, {"limit", 1}});
    strict.begin();
    const auto before = strict.values();
    strict.chosen->keep(strict.system);
    try {
        strict.chosen->attempt(strict.system, strict.next(0.1));
        FAIL();
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), AllOf(HasSubstr("method 'index-1' at t = 0 s"), HasSubstr("after 1 iterations"),
                                          testing::AnyOf(HasSubstr("joint '0-1'"), HasSubstr("joint '1-2'"))));
    }
    strict.chosen->rollback(strict.system);
    EXPECT_EQ(strict.values(), before);
}

TEST(index_1_method, attempts_of_other_lengths_that_are_rolled_back_leave_the_same_bits) {
    joined_row plain(three_bodies, in_a_row, 0.1 / 8), other(three_bodies, in_a_row, 0.1 / 8);
    plain.begin();
    other.begin();
    for (int k = 0; k < 30; ++k) {
        const auto here = other.values();
        for (const double H : {0.3, 0.02}) {
            other.chosen->keep(other.system);
            other.chosen->attempt(other.system, other.next(H));
            EXPECT_NE(other.values(), here);
            other.chosen->rollback(other.system);
            ASSERT_EQ(other.values(), here) << "step " << k;
        }
        plain.step(0.1);
        other.step(0.1);
        ASSERT_EQ(other.values(), plain.values()) << "step " << k;
    }
}

/// The message with which a row is refused before its first step.
std::string refusal(joined_row& row) {
    try {
        row.begin();
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

TEST(index_1_method, joints_that_repeat_others_are_refused_by_name) {
    joined_row twice(three_bodies, {{0, 1}, {1, 2}, {1, 2}}, 0.01);
    EXPECT_THAT(refusal(twice),
                AllOf(HasSubstr("1 of 3 equations of joints repeat what others say already: joint '1-2'"),
                      testing::Not(HasSubstr("'0-1'"))));
    joined_row ring(three_bodies, {{0, 1}, {1, 2}, {0, 2}}, 0.01);
    EXPECT_THAT(refusal(ring), AllOf(HasSubstr("1 of 3 equations of joints repeat what others say already: joint '"),
                                     HasSubstr("Leave one of them out")));
}

TEST(index_1_method, a_start_that_violates_joints_is_refused_with_amounts) {
    joined_row apart({{1, 1}, {1, 1}, {1, 1, 1.25, -0.5}}, in_a_row, 0.01);
    EXPECT_THAT(refusal(apart), AllOf(HasSubstr("joint '1-2': position by -0.25 m"),
                                      HasSubstr("joint '1-2': velocity by 0.5 m/s"), testing::Not(HasSubstr("'0-1'"))));
}

TEST(index_1_method, what_cannot_hold_a_joint_is_refused_by_name) {
    constexpr double fixed = std::numeric_limits<double>::infinity();
    joined_row immobile({{1, 1}, {fixed, 1}, {fixed, 1}}, in_a_row, 0.01);
    EXPECT_THAT(refusal(immobile), HasSubstr("joint '1-2': a unit of its multiplier accelerates neither"));
    joined_row coarse(three_bodies, in_a_row, 0.01);
    coarse.system.joints[1].ends[1].degree = 2;
    EXPECT_THAT(refusal(coarse),
                AllOf(HasSubstr("joint '1-2'"), HasSubstr("subsystem 'body2' take polynomials of degree 2")));
    joined_row loose(three_bodies, {}, 0.01);
    EXPECT_THAT(refusal(loose), HasSubstr("this scenario has none"));
}

}  // namespace
}  // namespace mdpcosim
