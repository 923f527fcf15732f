// What a run leaves for its report.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "api/mdpcosim.hpp"
#include "core/json.hpp"
#include "report/report.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {

namespace {

namespace fs = std::filesystem;

class system_report : public testing::Test {
   protected:
    void SetUp() override {
        folder = fs::temp_directory_path() / ("mdpcosim-report-" + std::to_string(::getpid()));
        fs::create_directories(folder);
    }
    void TearDown() override { fs::remove_all(folder); }

    json system_of(const std::string& text) const {
        run(read_scenario_text(text, "s.yaml"), {.out = folder / "out"});
        return json::parse(test::content(folder / "out/system.json"));
    }
    static std::string mistake(const std::string& text) {
        try {
            run(read_scenario_text(text, "s.yaml"), {.out = fs::temp_directory_path() / "mdpcosim-never"});
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "nothing";
    }

    fs::path folder;
};

const std::string pendulum = R"(
time: {end: 0.1 s, step: 10 ms}
subsystems:
  p:
    ode:
      parameters: {L: 2 m}
      states: {phi: 0 rad, w: 1 rad/s}
      inputs: {T: 0 N.m}
      equations: {phi: w, w: -9.81/L*sin(phi) + T}
    ports: {shaft: {kind: rotation, angle: phi, speed: w, torque: T}}
    scene: [{ball: [L*sin(phi), 0], port: shaft}]
  m: {model: mass-spring-damper, set: {stiffness: 10 N/m}}
  w: {model: inertia}
connections:
  c: {law: spring, between: [p.shaft, w.shaft], stiffness: 1 N.m/rad}
signals:
  - 2 N.m/rad*p.phi -> w.torque
)";

TEST_F(system_report, a_run_leaves_its_system) {
    const json system = system_of(pendulum);
    ASSERT_EQ(system["subsystems"].size(), 3u);
    EXPECT_EQ(system["subsystems"][0]["ports"][0],
              (json{{"name", "shaft"}, {"kind", "rotation"}, {"takes", "torque"}}));
    EXPECT_EQ(system["connections"][0]["ends"][0]["address"], "p.shaft");
    EXPECT_EQ(system["connections"][0]["ends"][0]["factor"], -1);
    EXPECT_EQ(system["connections"][1]["signal"], true);
    EXPECT_EQ(system["connections"][1]["from"], json::array({"p.phi"}));
    ASSERT_EQ(system["scenes"].size(), 3u);
    EXPECT_EQ(system["scenes"][0]["constants"], (json{{"L", 2.0}}));
    EXPECT_EQ(system["scenes"][1]["shapes"].size(), 3u);  // ground, spring, block
    EXPECT_EQ(system["scenes"][1]["shapes"][2]["points"], json::parse(R"([["mass_position"]])"));
    const json coupling = json::parse(test::content(folder / "out/coupling.json"));
    EXPECT_EQ(coupling["time"].size(), 10u);
    EXPECT_EQ(coupling["connections"].size(), 1u);
    const fs::path page = write_report(folder / "out");
    EXPECT_EQ(page, folder / "out/report.html");
    EXPECT_GT(fs::file_size(page), 100'000u);
}

TEST_F(system_report, mistakes_in_a_scene_are_told_before_the_run) {
    const auto with = [](const std::string& shape) {
        std::string text = pendulum;
        const std::string old = "{ball: [L*sin(phi), 0], port: shaft}";
        return mistake(text.replace(text.find(old), old.size(), shape));
    };
    const std::string object = "subsystem 'p': shape 1 of the scene: ";
    EXPECT_NE(with("{ball: [L*sin(phy), 0]}").find("s.yaml:11:"), std::string::npos);
    EXPECT_NE(with("{ball: [L*sin(phy), 0]}").find(object + "'L*sin(phy)': "), std::string::npos);
    EXPECT_NE(with("{ball: [L*sin(phy), 0]}").find("'phi'"), std::string::npos) << with("{ball: [L*sin(phy), 0]}");
    EXPECT_NE(with("{ball: [0, 0], port: shft}").find("Did you mean 'shaft'?"), std::string::npos)
        << with("{ball: [0, 0], port: shft}");
}

}  // namespace

}  // namespace mdpcosim
