// The model valve-train: motion and energy, the Jacobian, the contract of subsystems, users' mistakes.
#include <fstream>
#include <random>

#include "subsystem/model.hpp"
#include "support/subsystem_contract.hpp"
#include "valve_train.hpp"

namespace mdpcosim::test {
namespace {

/// A valve that is opening.
const std::string adjusted =
    "      shaft: {kind: shaft, speed: 150}\n      oil: {kind: gallery, pressure: 4 bar}\n      in: {kind: cam, angle: "
    "30 deg}\n"
    "      rocker: {kind: follower, cam: in}\n      lash: {kind: adjuster, follower: rocker, ball-mass: 0.1 g}\n"
    "      valve: {kind: valve, follower: rocker}\n      spring: {kind: spring, valve: valve, masses: 2}\n";

subsystem_case contract_case(const std::string& name, const std::string& parts, const std::string& set,
                             const std::string& solver) {
    return {.name = name,
            .make = [=] { return make_subsystem(valve_train(parts, solver, set)); },
            .H = 2e-4,
            .tolerance = 1e-3};
}

INSTANTIATE_TEST_SUITE_P(
    valve_train, subsystem_contract,
    testing::Values(contract_case("explicit_solver", everything, "{}", "    solver: {name: erk-5, rtol: 1e-8}\n"),
                    contract_case("air", adjusted, "{air: 0.02}", "    solver: {name: dirk-4, rtol: 1e-7}\n")),
    case_name);

// ---------------------------------------------------------------------------------------------------------------------
// Motion.

const std::string without_losses =
    "      s: {kind: shaft, speed: 200, inertia: 2e-3, damping: 0}\n      cam: {kind: cam, angle: 70 deg, "
    "contact-damping: 0}\n"
    "      rocker: {kind: follower, cam: cam, damping: 0, contact-damping: 0}\n      valve: {kind: valve, follower: "
    "rocker, damping: 0, seat-damping: 0}\n"
    "      spring: {kind: spring, valve: valve, damping: 0, masses: 6}\n";

/// Without friction the energy goes to and fro between shaft, valve and spring, and stays; a torque adds its work.
TEST(valve_train, energy_is_kept) {
    for (const double torque : {0.0, 20.0}) {
        train a(without_losses);
        a.set("s.torque", torque);
        const double before = a["energy"];
        double slowest = 200, highest = 0;
        for (int k = 1; k <= 60; ++k) {
            a.to(k * 2.5e-4);
            slowest = std::min(slowest, a["s.speed"]);
            highest = std::max(highest, a["valve.lift"]);
            EXPECT_NEAR(a["energy"], before + torque * a["s.angle"], 2e-6 * before) << k << " " << torque;
        }
        EXPECT_GT(highest, 12e-3);
        if (torque == 0) {
            EXPECT_LT(slowest, 190);
        }
    }
}

/// Beyond the speed at which springs hold the valve on its cam contacts open; none ever pulls, and the valve falls onto its seat. Meanwhile the adjuster
/// comes out and fills: it holds the valve open afterwards.
TEST(valve_train, contacts_open_and_close) {
    train a(
        "      s: {kind: shaft, drive: prescribed, speed: 420}\n      oil: {kind: gallery}\n      cam: {kind: cam, "
        "angle: 70 deg}\n      rocker: {kind: follower, cam: cam}\n      cup: {kind: adjuster, follower: rocker}\n"
        "      valve: {kind: valve, follower: rocker}\n      spring: {kind: spring, valve: valve, travel: 15 mm}\n",
        "    solver: {name: erk-5, rtol: 1e-7}\n");
    int opened = 0, seated = 0;
    bool off = false;
    double least = INFINITY, most_seat = 0, clash = 0;
    for (int k = 1; k <= 1500; ++k) {
        a.to(k * 1e-5);
        for (const char* force : {"rocker.cam-force", "valve.tip-force", "valve.seat-force"})
            least = std::min(least, a[force]);
        const bool is_off = a["rocker.cam-force"] == 0 && a["valve.lift"] > 1e-3;
        opened += is_off && !off;
        off = is_off;
        seated += a["valve.seat-force"] > 0;
        most_seat = std::max(most_seat, a["valve.seat-force"]);
        clash = std::max(clash, a["spring.clash"]);
        EXPECT_GE(a["cup.pressure"], 1000);
    }
    EXPECT_EQ(least, 0);
    EXPECT_GE(opened, 1);
    EXPECT_GT(seated, 0);
    EXPECT_GT(most_seat, 2000);
    EXPECT_GT(clash, 0);
    EXPECT_GT(a["cup.extension"], 1e-5);
    EXPECT_GT(a["valve.lift"], 1e-5);
}

/// Torsion: an end that is held, one disc at the end of the section, at omega = sqrt(c/J).
TEST(valve_train, shafts_twist) {
    equations_at a(
        "      s: {kind: shaft, drive: prescribed, stiffness: 3e4, damping: 0}\n      cam: {kind: cam, angle: 180 deg, "
        "inertia: 5e-5}\n" +
        one_valve);
    const Eigen::MatrixXd J = a.jacobian();
    const int twist = a.index("position of cam 'cam' against the shaft's end");
    EXPECT_NEAR(J(twist + 1, twist), -3e4 / 5e-5, 1e-3);
    // Free: against the end, by both inertias.
    equations_at free(
        "      s: {kind: shaft, inertia: 2e-4, stiffness: 3e4, damping: 0}\n      cam: {kind: cam, angle: 180 deg, "
        "inertia: 5e-5}\n" +
        one_valve);
    const Eigen::MatrixXd Jf = free.jacobian();
    const int twist_f = free.index("position of cam 'cam' against the shaft's end");
    EXPECT_NEAR(Jf(twist_f + 1, twist_f), -3e4 * (1 / 5e-5 + 1 / 2e-4), 1e-3);
}

/// Beginning in the middle of a lift it goes on as if it had come from the base circle.
TEST(valve_train, begins_as_if_it_had_come_there) {
    const auto parts = [](const char* angle) {
        return fmt::format(
            "      s: {{kind: shaft, drive: prescribed, speed: 60}}\n      oil: {{kind: gallery}}\n      cam: {{kind: "
            "cam, angle: {}}}\n      rocker: {{kind: follower, cam: cam}}\n"
            "      cup: {{kind: adjuster, follower: rocker, gap: 4 um}}\n      valve: {{kind: valve, follower: "
            "rocker}}\n      spring: {{kind: spring, valve: valve, damping: 2}}\n",
            angle);
    };
    train lifted(parts("15 deg")), closed(parts("75 deg"));
    const double before = 60 * degree / 60;  // s, 60 deg at 60 rad/s
    for (const double t : {0.0, 2e-3, 6e-3}) {
        if (t > 0) lifted.to(t);
        closed.to(t + before);
        EXPECT_NEAR(lifted["valve.lift"], closed["valve.lift"], 1e-4) << t;  // oil that leaked on the way, and inertia
        EXPECT_NEAR(lifted["valve.velocity"], closed["valve.velocity"], 0.05);
        EXPECT_NEAR(lifted["rocker.cam-force"], closed["rocker.cam-force"], 60);
    }
}

// ---------------------------------------------------------------------------------------------------------------------

class valve_train_differences : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(valve_train, valve_train_differences, testing::Values("{}", "{air: 0.02}"));

/// At states around the start: every entry, and nothing outside the structures.
TEST_P(valve_train_differences, give_jacobian_and_structures) {
    const auto model = make_equations(valve_train(everything, "", GetParam()));
    const auto n = static_cast<std::size_t>(model->state_count());
    const auto& d = model->describe();
    const auto inputs = static_cast<std::size_t>(d.input_count()), outputs = static_cast<std::size_t>(d.output_count());
    std::mt19937 dice(5);
    std::uniform_real_distribution<double> any(-1, 1);
    const auto dense = [](const sparsity& s, std::size_t columns, std::size_t rows) {
        std::vector<bool> there(columns * rows);
        for (std::size_t j = 0; j < columns; ++j)
            for (int k = s.start[j]; k < s.start[j + 1]; ++k)
                there[static_cast<std::size_t>(s.rows[static_cast<std::size_t>(k)]) + j * rows] = true;
        return there;
    };
    const auto rates_on = dense(*model->structure(), n, n),
               rates_on_inputs = dense(*model->input_structure(), inputs, n),
               outputs_on = dense(*model->output_structure(), n, outputs);
    std::vector<double> start(n);
    model->initial_state(0, start.data());
    for (int trial = 0; trial < 12; ++trial) {
        std::vector<double> x = start, u(inputs), J(n * n), up(n), down(n), y_up(outputs), y_down(outputs);
        for (std::size_t i = 0; i < n; ++i) x[i] += 0.5 * model->nominal(static_cast<int>(i)) * any(dice);
        for (const auto& input : d.inputs)
            u[static_cast<std::size_t>(input.slot)] = input.start * (1 + 0.1 * any(dice));
        ASSERT_TRUE(model->jacobian(0, x.data(), u.data(), J.data()));
        const auto both = [&](std::vector<double>& moved, std::size_t j, double h) {
            const double before = moved[j];
            moved[j] = before + h;
            model->derivatives(0, x.data(), u.data(), up.data());
            model->outputs(0, x.data(), u.data(), y_up.data());
            moved[j] = before - h;
            model->derivatives(0, x.data(), u.data(), down.data());
            model->outputs(0, x.data(), u.data(), y_down.data());
            moved[j] = before;
        };
        for (std::size_t j = 0; j < n; ++j) {
            const double h = 1e-6 * model->nominal(static_cast<int>(j));
            both(x, j, h);
            for (std::size_t i = 0; i < n; ++i) {
                const double by_difference = (up[i] - down[i]) / (2 * h), rounding = 1e-15 * std::fabs(up[i]) / h;
                EXPECT_NEAR(J[i + j * n], by_difference, 1e-5 * std::fabs(by_difference) + 100 * rounding + 1e-30)
                    << model->state_name(static_cast<int>(i)) << " by " << model->state_name(static_cast<int>(j))
                    << " in trial " << trial;
                if (!rates_on[i + j * n]) {
                    EXPECT_EQ(up[i], down[i]);
                }
            }
            for (std::size_t i = 0; i < outputs; ++i)
                if (!outputs_on[i + j * outputs]) {
                    EXPECT_EQ(y_up[i], y_down[i]) << "output " << i << " by " << model->state_name(static_cast<int>(j));
                }
        }
        for (std::size_t j = 0; j < inputs; ++j) {
            both(u, j, 1e-3 * (1 + std::fabs(u[j])));
            for (std::size_t i = 0; i < n; ++i)
                if (!rates_on_inputs[i + j * n]) {
                    EXPECT_EQ(up[i], down[i]);
                }
            for (const auto& o : d.outputs)
                if (std::ranges::find(o.direct, static_cast<int>(j)) == o.direct.end()) {
                    EXPECT_EQ(y_up[static_cast<std::size_t>(o.slot)], y_down[static_cast<std::size_t>(o.slot)])
                        << o.name;
                }
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------

std::string refusal(const std::string& parts, const std::string& set = "{}") {
    try {
        make_subsystem(valve_train(parts, "", set));
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

TEST(valve_train, mistakes_have_their_place) {
    const std::string shaft = "      s: {kind: shaft}\n";
    const auto cam = [&](const std::string& what) {
        return refusal(shaft + "      cam: {kind: cam, " + what + "}\n" + one_valve);
    };
    EXPECT_EQ(cam("lift: 9 mm"), "accepted");
    EXPECT_THAT(refusal("      s: {kind: shaft, inertia: -1}\n      cam: {kind: cam}\n" + one_valve),
                AllOf(HasSubstr("s.yaml:7:"), HasSubstr("'inertia'")));
    EXPECT_THAT(cam("lift: 0 mm"), HasSubstr("'lift'"));
    // Tables.
    EXPECT_THAT(cam("angles: [-60 deg, -30 deg, 0 deg, 30 deg, 60 deg], lifts: [0 mm, 4 mm, 8 mm, 4 mm]"),
                AllOf(HasSubstr("s.yaml:8:7"), HasSubstr("'angles' has 5 values and 'lifts' has 4")));
    EXPECT_THAT(
        cam("angles: [-60 deg, -30 deg, -30 deg, 0 deg, 30 deg, 60 deg], lifts: [0 mm, 2 mm, 4 mm, 8 mm, 4 mm, 0 mm]"),
        HasSubstr(
            "its table jumps from 2 mm at -30 deg to 4 mm at -30 deg (values 2 and 3). Give every angle one lift."));
    EXPECT_THAT(
        cam("angles: [-60 deg, -30 deg, -40 deg, 0 deg, 30 deg, 60 deg], lifts: [0 mm, 2 mm, 4 mm, 8 mm, 4 mm, 0 mm]"),
        HasSubstr("'angles' must rise from value to value; value 3, -40 deg, follows -30 deg"));
    EXPECT_THAT(cam("angles: [-60 deg, -30 deg, 0 deg, 30 deg, 60 deg], lifts: [0.5 mm, 4 mm, 8 mm, 4 mm, 0 mm]"),
                HasSubstr("its table jumps where it begins, from 0 on the base circle to 0.5 mm at -60 deg"));
    EXPECT_THAT(cam("angles: [-60 deg, -45 deg, -30 deg, -15 deg, 0 deg, 15 deg, 30 deg, 60 deg], lifts: [0 mm, 0.3 "
                    "mm, 0.6 mm, 7 mm, 8 mm, 7 mm, 4 mm, 0 mm]"),
                HasSubstr("its table jumps from 0.6 mm at -30 deg to 7 mm at -15 deg (values 3 and 4): 0.4267 mm/deg, "
                          "beside 0.02 before and 0.06667 behind"));
    EXPECT_THAT(cam("angles: [-60 deg, -30 deg, 0 deg, 30 deg, 60 deg], lifts: [0 mm, -1 mm, 8 mm, 4 mm, 0 mm]"),
                HasSubstr("-1 mm at -30 deg"));
    EXPECT_THAT(cam("angles: [-190 deg, -30 deg, 0 deg, 30 deg, 190 deg], lifts: [0 mm, 4 mm, 8 mm, 4 mm, 0 mm]"),
                HasSubstr("more than a turn"));
    EXPECT_THAT(cam("lift: 8 mm, angles: [-60 deg, 0 deg, 60 deg], lifts: [0 mm, 8 mm, 0 mm]"),
                HasSubstr("'lift' is of a shape"));
    EXPECT_THAT(cam("duration: 30 deg, ramp: 16 deg, ramp-lift: 0.1 mm"),
                HasSubstr("two ramps of 16 deg and a dwell of 0 deg leave nothing of a duration of 30 deg"));
    EXPECT_THAT(cam("ramp: 10 deg"), HasSubstr("'ramp' and 'ramp-lift' are given together"));
    EXPECT_THAT(cam("ramp: 1 deg, ramp-lift: 1 mm"), HasSubstr("as steep as the flank"));
    EXPECT_THAT(cam("duration: 400 deg"), HasSubstr("'duration' is 400 deg, more than a turn"));
    // What belongs to what.
    const std::string both = shaft + "      cam: {kind: cam, angle: 180 deg}\n";
    EXPECT_THAT(refusal(both + one_valve + "      other: {kind: cam}\n"),
                AllOf(HasSubstr("s.yaml:12:7"), HasSubstr("nothing follows cam 'other'")));
    EXPECT_THAT(refusal(both + one_valve + "      other: {kind: follower, cam: cams}\n"),
                AllOf(HasSubstr("'cams'"), HasSubstr("'cam'")));
    EXPECT_THAT(refusal(both + one_valve + "      other: {kind: follower, cam: valve}\n"),
                HasSubstr("'valve' is a valve"));
    EXPECT_THAT(refusal(both + one_valve + "      other: {kind: follower, cam: cam}\n"),
                HasSubstr("follower 'other' opens no valve"));
    EXPECT_THAT(refusal(both + one_valve + "      other: {kind: valve, follower: rocker}\n"),
                HasSubstr("valve 'other' has no spring"));
    EXPECT_THAT(refusal(both + one_valve + "      t: {kind: shaft}\n"),
                HasSubstr("'shaft' is missing, which says to which of s, t it belongs"));
    EXPECT_THAT(refusal(one_valve + "      cam: {kind: cam}\n"), HasSubstr("there is no shaft for it"));
    EXPECT_THAT(refusal(shaft), HasSubstr("shaft 's' has no cam"));
    EXPECT_THAT(refusal(both + one_valve + "      oil: {kind: gallery}\n"),
                HasSubstr("gallery 'oil' feeds no adjuster"));
    EXPECT_THAT(refusal(both + one_valve + "      cup: {kind: adjuster, follower: rocker}\n"),
                HasSubstr("there is no gallery for it"));
    // Numbers that do not fit each other.
    const std::string oiled = both + one_valve + "      oil: {kind: gallery}\n";
    EXPECT_THAT(
        refusal(oiled + "      cup: {kind: adjuster, follower: rocker, volume: 0.05 cm3}\n"),
        AllOf(
            HasSubstr("s.yaml:13:7"),
            HasSubstr("its chamber of 0.05 cm3 ends before the plunger does, whose 1 mm inwards take 0.0950332 cm3")));
    EXPECT_THAT(refusal(oiled + "      cup: {kind: adjuster, follower: rocker, ball-stiffness: 0}\n"),
                HasSubstr("a ball without mass needs a 'ball-stiffness'"));
    EXPECT_THAT(refusal(oiled + "      cup: {kind: adjuster, follower: rocker, gap: -5 um}\n"), HasSubstr("'gap'"));
    EXPECT_THAT(
        refusal(oiled +
                "      cup: {kind: adjuster, follower: rocker}\n      can: {kind: adjuster, follower: rocker}\n"),
        HasSubstr("follower 'rocker' has the adjuster 'cup' already"));
    EXPECT_THAT(refusal(oiled + "      cup: {kind: adjuster, follower: rocker, preload: 300 N}\n"),
                HasSubstr("adjuster 'cup' opens its valve by itself: it pushes with 328.51 N at the pressure of "
                          "gallery 'oil', and springs close with 250 N"));
    const auto solid = [&](const char* angle, const char* lash) {
        return refusal(
            fmt::format("{}      cam: {{kind: cam, angle: {}, lift: 8 mm}}\n      rocker: {{kind: follower, cam: cam, "
                        "ratio: 1.5, lash: {}}}\n"
                        "      valve: {{kind: valve, follower: rocker}}\n      spring: {{kind: spring, valve: valve, "
                        "travel: 11 mm}}\n",
                        shaft, angle, lash));
    };
    EXPECT_THAT(solid("0 deg", "0 mm"),
                AllOf(HasSubstr("s.yaml:11:7"),
                      HasSubstr("spring 'spring' is pressed beyond solid at the start: valve 'valve' is lifted by 12 "
                                "mm there, and the coils touch at 11 mm ('travel')")));
    EXPECT_THAT(solid("180 deg", "0 mm"),
                HasSubstr("spring 'spring' would be pressed beyond solid: the largest lift of valve 'valve' is 12 mm"));
    EXPECT_EQ(solid("180 deg", "1.2 mm"), "accepted");
    EXPECT_THAT(refusal(both + "      rocker: {kind: follower, cam: cam, lash: 0.2 mm}\n      valve: {kind: valve, "
                               "follower: rocker}\n      spring: {kind: spring, valve: valve}\n      oil: {kind: "
                               "gallery}\n      cup: {kind: adjuster, follower: rocker}\n"),
                AllOf(HasSubstr("s.yaml:9:7"), HasSubstr("it has a 'lash' of 0.2 mm and the adjuster 'cup'")));
}

/// A run leaves its scenario with every default written out; shapes and tables of cams are read from it, too.
TEST(valve_train, defaults_may_be_written_out) {
    const subsystem_spec spec = valve_train(everything, "    solver: erk-5\n"), full = with_defaults(spec);
    EXPECT_GT(full.parts[2].values.size(), spec.parts[2].values.size());
    const auto a = make_equations(spec), b = make_equations(full);
    const auto n = static_cast<std::size_t>(a->state_count());
    std::vector<double> x(n), again(n);
    a->initial_state(0, x.data());
    b->initial_state(0, again.data());
    EXPECT_EQ(x, again);
}

/// As models_test.cpp demands it of a model's parameters.
TEST(valve_train, parts_are_described_by_the_readme) {
    std::ifstream file(std::string(MDPCOSIM_SOURCE_DIR) + "/models/valve-train/README.md");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (const part_info& kind : model_registry::instance().find("valve-train")->parts) {
        const std::size_t at = text.find(fmt::format("Parts of kind `{}`: {}\n", kind.kind, kind.summary));
        ASSERT_NE(at, std::string::npos) << kind.kind;
        const std::string own = text.substr(at, text.find("\nParts of kind", at + 1) - at);
        for (const auto& r : kind.references)
            EXPECT_THAT(own, HasSubstr(fmt::format("| `{}` | | {} | a {} | {} |\n", r.name,
                                                   r.required ? "needed" : "the only one", r.name, r.description)));
        for (const auto& p : kind.parameters) {
            EXPECT_THAT(own, HasSubstr(fmt::format("| `{}` | {} | ", p.name, p.unit.empty() ? "-" : p.unit)));
            EXPECT_THAT(own, HasSubstr(fmt::format(" | {} |\n", p.description)));
        }
    }
}

}  // namespace
}  // namespace mdpcosim::test
