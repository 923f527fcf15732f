#include "contact/time_stepper.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace mdpcosim {
namespace {

constexpr double g = 9.81;

/// Bodies on a vertical line above each other and a floor, of equal size.
class column final : public contact_system {
   public:
    column(std::vector<double> masses, double size, double restitution)
        : masses_(std::move(masses)), sizes_(masses_.size(), 1), size_(size), e_(restitution) {}

    std::span<const int> body_sizes() const override { return sizes_; }
    int contact_count() const override { return static_cast<int>(sizes_.size()); }
    int most_terms() const override { return 2 * contact_count(); }
    void inverse_mass(int body, std::span<const double>, std::span<double> into) const override {
        into[0] = 1 / masses_[static_cast<std::size_t>(body)];
    }
    void forces(double, std::span<const double>, std::span<const double>, std::span<double> f) const override {
        for (std::size_t b = 0; b < masses_.size(); ++b) f[b] = -g * masses_[b];
    }
    void close_contacts(double, std::span<const double> q, contact_problem& into) const override {
        for (int k = 0; k < contact_count(); ++k) {
            const double gap = k == 0 ? q[0] : q[k] - q[k - 1] - size_;
            const direction_term terms[]{{k, 1}, {k - 1, -1}};
            if (gap <= 0)
                into.add({.id = k, .restitution = e_, .normal = std::span(terms).first(k == 0 ? 1 : 2), .depth = -gap});
        }
    }
    double energy(const time_stepper& s) const {
        double sum = 0;
        for (std::size_t b = 0; b < masses_.size(); ++b)
            sum += masses_[b] * (s.velocities()[b] * s.velocities()[b] / 2 + g * s.positions()[b]);
        return sum;
    }

   private:
    std::vector<double> masses_;
    std::vector<int> sizes_;
    double size_, e_;
};

/// A ball from 1 m: impacts at t_1 (1 + 2 e + 2 e^2 + ...), at rest at t_1 (1 + e)/(1 - e).
TEST(time_stepper, ball_to_rest) {
    const double h = 1e-5, t_1 = std::sqrt(2 / g);
    for (const double e : {0.0, 0.2, 0.5, 0.8, 0.95}) {
        const column system({2}, 0, e);
        time_stepper stepper(system);
        stepper.start(std::vector{1.0}, std::vector{0.0});
        const double rest = t_1 * (1 + e) / (1 - e);
        std::vector<double> impacts;
        double last_moving = 0;
        for (int n = 0; n * h < 1.2 * rest; ++n) {
            const double before = stepper.velocities()[0];
            stepper.step(n * h, h);
            if (before < 0 && stepper.velocities()[0] >= 0) impacts.push_back((n + 1) * h);
            if (stepper.velocities()[0] != 0) last_moving = (n + 1) * h;
        }
        double expected = t_1, flight = 2 * t_1 * e;
        for (std::size_t k = 0; k < std::min<std::size_t>(impacts.size(), 8); ++k) {
            EXPECT_NEAR(impacts[k], expected, 2 * h * static_cast<double>(k + 1) / (1 - e)) << e << ", impact " << k;
            expected += flight;
            flight *= e;
        }
        EXPECT_EQ(stepper.velocities()[0], 0) << e;
        // The last ones are as fast as gravity makes in one step.
        EXPECT_NEAR(static_cast<double>(stepper.statistics().impacts),
                    std::max(1.0, static_cast<double>(impacts.size())), 1 + 1 / (1 - e));
        EXPECT_NEAR(last_moving, rest, 0.005 * rest) << e;
        EXPECT_NEAR(stepper.positions()[0], 0, 5 * h) << e;
        EXPECT_NEAR(stepper.impulses()[0] / h, 2 * g, 1e-9) << e;
    }
}

TEST(time_stepper, a_ball_without_loss_keeps_its_energy) {
    const column system({2}, 0, 1);
    time_stepper stepper(system);
    stepper.start(std::vector{1.0}, std::vector{0.0});
    const double energy = system.energy(stepper);
    double highest = 0;
    for (int n = 0; n < 100000; ++n) {
        stepper.step(n * 1e-4, 1e-4);
        if (n > 50000) highest = std::max(highest, stepper.positions()[0]);
        ASSERT_NEAR(system.energy(stepper), energy, 1e-9 * energy) << n;
    }
    EXPECT_NEAR(highest, 1, 1e-6);
}

TEST(time_stepper, errors_are_of_first_order) {
    const double e = 0.7, t_1 = std::sqrt(2 / g);
    double last = 0;
    for (const double h : {4e-3, 4e-4, 4e-5}) {
        const column system({1}, 0, e);
        time_stepper stepper(system);
        stepper.start(std::vector{1.0}, std::vector{0.0});
        double sum = 0;
        const int steps = static_cast<int>(std::lround(1.2 / h));
        for (int n = 0; n < steps; ++n) {
            stepper.step(n * h, h);
            const double t = (n + 1) * h;
            double begin = 0, v = 0, flight = t_1;  // of the parabola that t lies in
            double height = 1 - g * t * t / 2;
            for (begin = t_1, v = e * g * t_1; t > begin; begin += flight, v *= e) {
                flight = 2 * v / g;
                height = v * (t - begin) - g * (t - begin) * (t - begin) / 2;
            }
            sum += std::fabs(stepper.positions()[0] - height) * h;
        }
        if (last > 0) {
            EXPECT_LT(sum, last / 5) << h;
        }
        last = sum;
    }
}

TEST(time_stepper, stacked_blocks_stand) {
    for (const std::size_t blocks : {2U, 5U, 10U}) {
        const column system(std::vector<double>(blocks, 3.0), 0.1, 0.3);
        time_stepper stepper(system);
        std::vector<double> q(blocks), v(blocks, 0.0);
        for (std::size_t b = 0; b < blocks; ++b) q[b] = 0.1 * static_cast<double>(b);
        stepper.start(q, v);
        const double energy = system.energy(stepper);
        for (int n = 0; n < 2000; ++n) {
            stepper.step(n * 1e-4, 1e-4);
            ASSERT_LE(system.energy(stepper), energy + 1e-12) << blocks << " at " << n;
        }
        for (std::size_t b = 0; b < blocks; ++b) {
            EXPECT_NEAR(stepper.positions()[b], q[b], 1e-6) << b;
            EXPECT_NEAR(stepper.velocities()[b], 0, 1e-9) << b;
            EXPECT_NEAR(stepper.impulses()[3 * b] / 1e-4, 3 * g * static_cast<double>(blocks - b), 1e-4) << b;
        }
        EXPECT_EQ(stepper.statistics().not_converged, 0) << blocks;
    }
}

/// The same law with a little air between the balls: one impact after the other, so that the last one flies off alone.
TEST(time_stepper, newtons_cradle_needs_gaps) {
    class cradle final : public contact_system {
       public:
        std::span<const int> body_sizes() const override { return sizes_; }
        int contact_count() const override { return 4; }
        int most_terms() const override { return 8; }
        void inverse_mass(int, std::span<const double>, std::span<double> into) const override { into[0] = 10; }
        void forces(double, std::span<const double>, std::span<const double>, std::span<double> f) const override {
            std::ranges::fill(f, 0.0);
        }
        void close_contacts(double, std::span<const double> q, contact_problem& into) const override {
            for (int k = 0; k < 4; ++k) {
                const direction_term terms[]{{k, -1}, {k + 1, 1}};
                if (q[k + 1] - q[k] <= 0) into.add({.id = k, .restitution = 1, .normal = terms});
            }
        }

       private:
        std::vector<int> sizes_{1, 1, 1, 1, 1};
    } system;
    const auto after = [&](double air) {
        time_stepper stepper(system);
        stepper.start(std::vector{-0.01, 0.0, air, 2 * air, 3 * air}, std::vector{1.0, 0.0, 0.0, 0.0, 0.0});
        for (int n = 0; n < 1000; ++n) stepper.step(n * 1e-4, 1e-4);
        return std::vector(stepper.velocities().begin(), stepper.velocities().end());
    };
    const auto apart = after(1e-3), touching = after(0);
    for (std::size_t b = 0; b < 5; ++b) {
        EXPECT_NEAR(apart[b], b == 4 ? 1 : 0, 1e-12) << b;
        EXPECT_NEAR(touching[b], b == 0 ? -0.6 : 0.4, 1e-8)
            << b;  // momentum 1, energy 1/2, and no two closer than before
    }
}

/// A rod on a pivot, known by the direction it points in (two coordinates, one velocity), falls on a table that is too high at the start.
TEST(time_stepper, coordinates_may_be_others_than_velocities) {
    class rod final : public contact_system {
       public:
        std::span<const int> body_sizes() const override { return sizes_; }
        std::size_t coordinate_count() const override { return 2; }
        int contact_count() const override { return 1; }
        int most_terms() const override { return 1; }
        void inverse_mass(int, std::span<const double>, std::span<double> into) const override { into[0] = 3; }
        void forces(double, std::span<const double> q, std::span<const double>, std::span<double> f) const override {
            f[0] = -g / 2 * q[0];
        }
        void close_contacts(double, std::span<const double> q, contact_problem& into) const override {
            const direction_term turn{0, q[0]};  // the tip's height is q[1]
            if (q[1] <= 0.1) into.add({.normal = {&turn, 1}, .depth = 0.1 - q[1]});
        }
        void move(double h, std::span<const double> v, std::span<double> q) const override {
            const double c = std::cos(h * v[0]), s = std::sin(h * v[0]), x = q[0];
            q[0] = c * x - s * q[1];
            q[1] = s * x + c * q[1];
        }

       private:
        std::vector<int> sizes_{1};
    } system;
    for (const double from : {0.5, 0.0}) {
        time_stepper stepper(system, {.correction = 0.1});
        stepper.start(std::vector{std::cos(from), std::sin(from)}, std::vector{0.0});
        for (int n = 0; n < 5000; ++n) stepper.step(n * 1e-4, 1e-4);
        EXPECT_NEAR(std::hypot(stepper.positions()[0], stepper.positions()[1]), 1, 1e-12);
        EXPECT_NEAR(stepper.positions()[1], 0.1, 1e-9);
        EXPECT_NEAR(stepper.velocities()[0], 0, 1e-12);
        EXPECT_NEAR(stepper.impulses()[0] / 1e-4, g / 2, 1e-6);
    }
}

TEST(time_stepper, saved_state_goes_on_bit_for_bit) {
    const column system({1, 2, 0.5}, 0.1, 0.6);
    time_stepper one(system), other(system);
    one.start(std::vector{0.2, 0.4, 0.9}, std::vector{0.0, -1.0, 0.0});
    other.start(std::vector{0.0, 0.0, 0.0}, std::vector{0.0, 0.0, 0.0});
    int n = 0;
    for (; n < 5000; ++n) one.step(n * 1e-4, 1e-4);
    std::vector<double> state(one.state_size());
    one.save(state);
    other.restore(state);
    for (; n < 10000; ++n) {
        one.step(n * 1e-4, 1e-4);
        other.step(n * 1e-4, 1e-4);
    }
    for (std::size_t b = 0; b < 3; ++b) {
        EXPECT_EQ(one.positions()[b], other.positions()[b]);
        EXPECT_EQ(one.velocities()[b], other.velocities()[b]);
    }
}

}  // namespace
}  // namespace mdpcosim
