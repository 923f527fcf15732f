// What the model valve-train is made of, in closed form: lifts, springs and seats, adjusters.
#include "valve_train.hpp"

namespace mdpcosim::test {
namespace {

const std::string slowly = "    solver: {name: dirk-4, rtol: 1e-8}\n";

// ---------------------------------------------------------------------------------------------------------------------
// Lifts.

/// The lift, its slope and its curvature over the angle, from the cam's contact: torque = -force slope.
TEST(valve_train, lift_is_the_polynomial) {
    equations_at a(
        "      s: {kind: shaft}\n      cam: {kind: cam, angle: 30 deg, lift: 8 mm, duration: 100 deg, dwell: 10 "
        "deg}\n" +
        one_valve);
    a["position of follower 'rocker'"] = -1e-6;
    a["position of cam 'cam' against the shaft's end"] = 0;
    const auto law = [](double own) {  // 10 s^3 - 15 s^4 + 6 s^5 on a flank of 45 deg
        const double s = std::clamp((50 * degree - std::fabs(own)) / (45 * degree), 0.0, 1.0);
        const double slope = 30 * s * s * (1 - s) * (1 - s) / (45 * degree);
        return std::pair{8e-3 * s * s * s * (10 + s * (6 * s - 15)), own < 0 ? 8e-3 * slope : -8e-3 * slope};
    };
    for (double phi = -720; phi < 720; phi += 3.7) {
        a["position of shaft 's'"] = phi * degree;
        const double own = std::remainder(phi - 30, 360) * degree;
        EXPECT_NEAR(a.output("rocker.cam-lift"), law(own).first, 1e-14) << phi;
        EXPECT_NEAR(a.output("rocker.cam-torque"), -a.output("rocker.cam-force") * law(own).second,
                    1e-9 * a.output("rocker.cam-force"))
            << phi;
    }
}

/// Two continuous derivatives: the second differences of the lift change by no more than the third derivative allows.
double largest_jump_of_curvature(equations_at& a, double step) {
    double jump = 0;
    std::vector<double> h;
    for (double phi = -pi; phi < pi; phi += step) {
        a["position of shaft 's'"] = phi;
        h.push_back(a.output("rocker.cam-lift"));
    }
    const auto bend = [&](std::size_t i) { return (h[i + 1] - 2 * h[i] + h[i - 1]) / (step * step); };
    for (std::size_t i = 1; i + 2 < h.size(); ++i) jump = std::max(jump, std::fabs(bend(i + 1) - bend(i)));
    return jump;
}

TEST(valve_train, lifts_have_two_continuous_derivatives) {
    const std::string shapes[] = {"lift: 9 mm, duration: 150 deg, ramp-lift: 0.3 mm, ramp: 20 deg, dwell: 6 deg",
                                  "angles: [-60 deg, -50 deg, -40 deg, -20 deg, 0 deg, 25 deg, 40 deg, 60 deg, 75 "
                                  "deg], lifts: [0 mm, 0.3 mm, 1.3 mm, 6 mm, 8 mm, 5.5 mm, 2.5 mm, 0.3 mm, 0 mm]"};
    for (const auto& shape : shapes) {
        equations_at a("      s: {kind: shaft}\n      cam: {kind: cam, " + shape + "}\n" + one_valve);
        const double coarse = largest_jump_of_curvature(a, 2e-3), fine = largest_jump_of_curvature(a, 5e-4);
        EXPECT_LT(coarse, 0.01) << shape;             // of curvatures of some 0.05 m
        EXPECT_NEAR(coarse / fine, 4, 0.4) << shape;  // as the step: there is a bounded third derivative
    }
}

TEST(valve_train, table_is_met_and_of_fourth_order) {
    const auto error = [](int points) {
        std::string angles, lifts;
        const auto law = [](double own) { return 4e-3 * std::pow(std::cos(own * 1.5), 4); };  // +-60 deg
        for (int i = 0; i <= points; ++i) {
            const double own = (-60 + 120.0 * i / points) * degree;
            angles += fmt::format("{}{:.17g}", i ? ", " : "", own);
            lifts += fmt::format("{}{:.17g}", i ? ", " : "", i == 0 || i == points ? 0.0 : law(own));
        }
        equations_at a(
            fmt::format("      s: {{kind: shaft}}\n      cam: {{kind: cam, angle: 0.2, angles: [{}], lifts: [{}]}}\n",
                        angles, lifts) +
            one_valve);
        a["position of cam 'cam' against the shaft's end"] = 0;
        double worst = 0;
        for (int k = 1; k < 6 * points; ++k) {
            const double own = (-60 + 120.0 * k / (6 * points)) * degree;
            a["position of shaft 's'"] = own + 0.2;
            const double off = std::fabs(a.output("rocker.cam-lift") - law(own));
            worst = std::max(worst, off);
            if (k % 6 == 0) {
                EXPECT_LT(off, 1e-15);
            }
        }
        return worst;
    };
    const double coarse = error(24), fine = error(48);
    EXPECT_LT(coarse, 2e-6);
    EXPECT_GT(coarse / fine, 12);
}

/// Turned slowly, every contact carries what the spring asks for: x = i (h - F_c/c_c) - F_t/c_t, F_c = i F_t, F_t = F_0 + c x; the shaft takes
/// F_c dh/dphi.
TEST(valve_train, slow_valve_follows_the_law) {
    train a(
        "      s: {kind: shaft, drive: prescribed, speed: 0.5, stiffness: 1e8, damping: 0}\n      cam: {kind: cam, "
        "angle: 60 deg, lift: 8 mm, duration: 120 deg}\n"
        "      rocker: {kind: follower, cam: cam, ratio: 1.4, mass: 1 g, damping: 0}\n      valve: {kind: valve, "
        "follower: rocker, mass: 1 g, damping: 0}\n"
        "      spring: {kind: spring, valve: valve, preload: 200 N, stiffness: 3e4, mass: 1 g, masses: 1, damping: "
        "10}\n",
        "    solver: {name: dirk-4, rtol: 1e-8}\n");
    for (const double t : {0.5, 1.0, 1.6, 2.0, 2.9, 3.4}) {
        a.to(t);
        const double own = a["s.angle"] + a["s.twist"] - 60 * degree, s = 1 - std::fabs(own) / (60 * degree);
        const double h = 8e-3 * s * s * s * (10 + s * (6 * s - 15)),
                     slope = 8e-3 * 30 * s * s * (1 - s) * (1 - s) / (60 * degree) * (own < 0 ? 1 : -1);
        // h, x and F_t are linear in each other.
        const double give = 1.4 * 1.4 / 1e8 + 1 / 1e8, x = (1.4 * h - give * 200) / (1 + give * 3e4),
                     tip = 200 + 3e4 * x;
        EXPECT_NEAR(a["rocker.cam-lift"], h, 1e-12);
        EXPECT_NEAR(a["valve.lift"], x, 2e-8);
        EXPECT_NEAR(a["rocker.cam-force"], 1.4 * tip, 0.5);
        EXPECT_NEAR(a["rocker.cam-torque"], -1.4 * tip * slope, 0.01);
        EXPECT_NEAR(a["s.drive-torque"], 1.4 * tip * slope, 0.02);
        EXPECT_NEAR(a["s.torque-in-shaft"], a["s.drive-torque"], 1e-9);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Springs and seats.

/// Masses between two ends that do not move: omega_k = 2 sqrt(c/m) (n + 1) sin(k pi/(2 (n + 1))); of many masses those of the rod, k pi sqrt(c/m).
TEST(valve_train, springs_surge_as_chains_and_rods) {
    for (const int masses : {5, 9, 60}) {
        equations_at a(
            fmt::format("      s: {{kind: shaft}}\n      cam: {{kind: cam, angle: 180 deg}}\n      rocker: {{kind: "
                        "follower, cam: cam, lash: 1 mm}}\n"
                        "      valve: {{kind: valve, follower: rocker, mass: 1e9}}\n      spring: {{kind: spring, "
                        "valve: valve, masses: {}, stiffness: 3e4, mass: 60 g, damping: 0}}\n",
                        masses));
        const Eigen::MatrixXd J = a.jacobian();
        const int first = a.index("position of mass 1 of spring 'spring'");
        Eigen::MatrixXd K(masses, masses);
        for (int i = 0; i < masses; ++i)
            for (int j = 0; j < masses; ++j) K(i, j) = -J(first + 2 * i + 1, first + 2 * j);
        const Eigen::VectorXd squares = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(K).eigenvalues();
        for (int k = 1; k <= 3; ++k) {
            const double chain = 2 * std::sqrt(3e4 / 0.06) * (masses + 1) * std::sin(k * pi / (2 * (masses + 1))),
                         rod = k * pi * std::sqrt(3e4 / 0.06), found = std::sqrt(squares(k - 1));
            EXPECT_NEAR(found, chain, 1e-9 * chain);
            if (masses == 60) {
                EXPECT_NEAR(found, rod, 1.1e-3 * rod);
            }
        }
    }
}

/// A valve closes and leaves its spring ringing: in the difference of the forces at its ends stand the odd modes, the first above all.
TEST(valve_train, a_spring_rings_after_closing) {
    train a(
        "      s: {kind: shaft, drive: prescribed, speed: 150}\n      cam: {kind: cam, angle: 65 deg}\n      rocker: "
        "{kind: follower, cam: cam}\n"
        "      valve: {kind: valve, follower: rocker}\n      spring: {kind: spring, valve: valve, masses: 9, "
        "stiffness: 4e4, mass: 50 g, damping: 0}\n",
        "    solver: {name: erk-5, rtol: 1e-7}\n");
    a.to(18e-3);
    std::vector<double> ring;
    constexpr int samples = 2000;
    constexpr double step = 1e-5;
    for (int k = 1; k <= samples; ++k) {
        a.to(18e-3 + k * step);
        const double window = 0.5 - 0.5 * std::cos(2 * pi * k / samples);
        ring.push_back(window * (a["spring.force"] - a["spring.head-force"]));
    }
    const double expected = 2 * std::sqrt(4e4 / 0.05) * 10 * std::sin(pi / 20);
    double found = 0, strongest = 0;
    for (double omega = 0.5 * expected; omega < 2 * expected; omega += 1e-3 * expected) {
        double c = 0, s = 0;
        for (int k = 0; k < samples; ++k) {
            c += ring[static_cast<std::size_t>(k)] * std::cos(omega * k * step);
            s += ring[static_cast<std::size_t>(k)] * std::sin(omega * k * step);
        }
        if (std::hypot(c, s) > strongest) {
            strongest = std::hypot(c, s);
            found = omega;
        }
    }
    EXPECT_NEAR(found, expected, 5e-3 * expected);
}

/// Coils that touch: each of the n + 1 parts closes by 1/(n + 1) of the travel and takes k_c of what is beyond.
TEST(valve_train, coils_clash) {
    equations_at a(
        "      s: {kind: shaft}\n      cam: {kind: cam, angle: 180 deg}\n" +
        std::string("      rocker: {kind: follower, cam: cam}\n      valve: {kind: valve, follower: rocker}\n"
                    "      spring: {kind: spring, valve: valve, masses: 3, travel: 14 mm, preload: 250 N, stiffness: "
                    "4e4, contact-stiffness: 1e7}\n"));
    for (const double x : {13.9e-3, 14.2e-3}) {
        a["position of valve 'valve'"] = x;
        for (int j = 1; j <= 3; ++j) a[fmt::format("position of mass {} of spring 'spring'", j)] = x * (4 - j) / 4;
        const double clash = 1e7 * std::max(0.0, x - 14e-3) / 4;
        EXPECT_NEAR(a.output("spring.force"), 250 + 4e4 * x + clash, 1e-6);
        EXPECT_NEAR(a.output("spring.head-force"), 250 + 4e4 * x + clash, 1e-6);
        EXPECT_NEAR(a.output("spring.clash"), 4 * clash, 1e-6);
    }
    // Ends lie on plates: what would pull does nothing.
    a["position of valve 'valve'"] = -10e-3;
    for (int j = 1; j <= 3; ++j) a[fmt::format("position of mass {} of spring 'spring'", j)] = 0;
    EXPECT_EQ(a.output("spring.force"), 0);
}

TEST(valve_train, closed_valves_rest_on_their_seats) {
    const std::string head =
        "      s: {kind: shaft}\n      oil: {kind: gallery, pressure: 5 bar}\n      cam: {kind: cam, angle: 180 deg}\n "
        "     rocker: {kind: follower, cam: cam, ratio: 1.3}\n";
    const std::string tail =
        "      valve: {kind: valve, follower: rocker, load: 30 N}\n      spring: {kind: spring, valve: valve, preload: "
        "300 N}\n      inner: {kind: spring, valve: valve, preload: 80 N, stiffness: 1e4}\n";
    for (const char* initial : {"", "    initial: equilibrium\n"}) {
        train lashed(
            "      s: {kind: shaft}\n      cam: {kind: cam, angle: 180 deg}\n      rocker: {kind: follower, cam: cam, "
            "lash: 0.1 mm}\n" +
                tail,
            exactly + initial);
        // The seat gives way by 410 N/5e8 N/m, and the springs expand by that.
        const double x = -410 / (5e8 + 5e4);
        EXPECT_NEAR(lashed["valve.lift"], x, 1e-12);
        EXPECT_NEAR(lashed["valve.seat-force"], 410 + 5e4 * x, 1e-3);
        EXPECT_EQ(lashed["valve.tip-force"], 0);
        EXPECT_EQ(lashed["rocker.cam-force"], 0);

        train filled(
            head + "      cup: {kind: adjuster, follower: rocker, diameter: 12 mm, preload: 15 N, stiffness: 2000}\n" +
                tail,
            exactly + initial);
        const double area = pi / 4 * 144e-6, p = filled["cup.pressure"], tip = filled["valve.tip-force"];
        EXPECT_NEAR(tip, area * (p - 1e5) + 15 - 2000 * filled["cup.extension"], 1e-4);
        EXPECT_NEAR(filled["rocker.cam-force"], 1.3 * tip, 1e-4);
        EXPECT_NEAR(filled["valve.seat-force"], 410 + 5e4 * filled["valve.lift"] - tip, 1e-4);
        // Through the gap flows what comes in past the ball, whose spring keeps a part of the pressure: d_s 3 mm, 0.1 N.
        const double leak = pi * 12e-3 * std::pow(8e-6, 3) / (12 * 0.01 * 0.01) * (p - 1e5);
        EXPECT_NEAR(filled["cup.leak"], leak, 1e-6 * leak);
        EXPECT_NEAR(filled["cup.inflow"], leak, 1e-3 * leak);
        EXPECT_NEAR(p, 5e5 - 0.1 / (pi / 4 * 9e-6), 1e-3 * 5e5);
        const double before = filled["valve.seat-force"];
        filled.to(0.02);
        EXPECT_NEAR(filled["valve.seat-force"], before, 1e-3);
        EXPECT_NEAR(filled["oil.volume"], -leak * 0.02, 1e-3 * leak * 0.02);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Adjusters.

const std::string held_open =
    "      s: {kind: shaft, drive: prescribed}\n      oil: {kind: gallery, pressure: 3 bar}\n      cam: {kind: cam, "
    "lift: 6 mm, duration: 120 deg, dwell: 5 deg}\n      rocker: {kind: follower, cam: cam, ratio: 1.5}\n";

/// A plunger under a steady force: s' = -G (p - p_amb)/(A (1 + e/V)), p - p_amb = (F - F_s)/A, e/V = (p - p_amb)/E.
TEST(valve_train, adjusters_leak_down) {
    train a(
        held_open +
            "      cup: {kind: adjuster, follower: rocker, diameter: 12 mm, gap: 30 um, gap-length: 8 mm, preload: 20 "
            "N, stiffness: 0 N/m}\n"
            "      valve: {kind: valve, follower: rocker, damping: 0}\n      spring: {kind: spring, valve: valve, "
            "preload: 600 N, "
            "stiffness: 1 N/m}\n",
        slowly);
    const double area = pi / 4 * 144e-6, G = pi * 12e-3 * std::pow(30e-6, 3) / (12 * 0.01 * 8e-3),
                 dp = (600 + 9e-3 - 20) / area;
    EXPECT_NEAR(a["cup.pressure"], 1e5 + dp, 1e-4 * dp);
    a.to(0.001);  // it sinks from rest: some microseconds pass until valve and rocker move along
    const double before = a["cup.extension"];
    a.to(0.015);
    EXPECT_NEAR(a["cup.pressure"], 1e5 + dp, 1e-4 * dp);
    EXPECT_NEAR(a["cup.leak"], G * dp, 1e-4 * G * dp);
    const double sunk = G * dp / (area * (1 + dp / 1.4e9)) * 0.014;
    EXPECT_GT(sunk, 0.4e-3);
    EXPECT_NEAR(before - a["cup.extension"], sunk, 1e-4 * sunk);
}

/// Against springs the force falls with the way: A^2/G s' = -(F(0) + (c + c_s) (s - s(0))), an exponential; contacts are springs behind c.
TEST(valve_train, adjusters_leak_down_against_springs) {
    train a(held_open +
                "      cup: {kind: adjuster, follower: rocker, diameter: 12 mm, volume: 1 cm3, inwards: 5 mm, gap: 30 "
                "um, gap-length: 8 mm, preload: 20 N, stiffness: 5000 N/m}\n"
                "      valve: {kind: valve, follower: rocker, damping: 0}\n      spring: {kind: spring, valve: valve, "
                "preload: 300 N, stiffness: 1e5 N/m, damping: 3}\n",
            slowly, "{modulus: 1e12}");
    const double area = pi / 4 * 144e-6, G = pi * 12e-3 * std::pow(30e-6, 3) / (12 * 0.01 * 8e-3);
    const double give = (1 + 1.5 * 1.5) / 1e8, c = 1 / (1 / 1e5 + give) + 5000, before = a["cup.extension"],
                 force = (a["cup.pressure"] - 1e5) * area;
    EXPECT_NEAR(force, 300 + 1e5 * 9e-3 - 20, 5);
    a.to(0.4 * area * area / (G * c));
    const double sunk = force / c * (1 - std::exp(-0.4));
    EXPECT_GT(sunk, 3e-3);
    EXPECT_NEAR(before - a["cup.extension"], sunk, 1e-3 * sunk);
    // At rest it stands on the stop, and the valve is lower by that.
    train rests(held_open +
                    "      cup: {kind: adjuster, follower: rocker, inwards: 1 mm}\n      valve: {kind: valve, "
                    "follower: rocker}\n      spring: {kind: spring, valve: valve}\n",
                exactly + "    initial: equilibrium\n");
    EXPECT_NEAR(rests["cup.extension"], -1e-3, 1e-5);
    EXPECT_NEAR(rests["valve.lift"], 8e-3, 3e-5);
    EXPECT_NEAR(rests["cup.leak"], rests["cup.inflow"], 1e-12);
}

}  // namespace
}  // namespace mdpcosim::test
