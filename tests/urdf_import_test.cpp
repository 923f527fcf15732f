// Robots from URDF, through the whole program: they move as the same parts written by hand; what is no robot is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/mdpcosim.hpp"
#include "process.hpp"
#include "results/result_table.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

/// A double pendulum whose frames are turned, with a tool that is fixed to its second link.
const std::string robot = R"x(<?xml version="1.0"?>
<robot name="turned">
  <link name="base"><inertial><mass value="9"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/>
    <origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/>
  </joint>
  <link name="upper">
    <inertial><origin xyz="0.5 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://none/upper.stl"/></geometry></visual>
  </link>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="lower"/>
    <origin xyz="1 0 0" rpy="0 0 0.5"/><axis xyz="0 1 0"/><dynamics damping="0.1"/>
  </joint>
  <link name="lower"><inertial><origin xyz="0.3 0 0" rpy="0.1 0.2 0.3"/><mass value="1"/><inertia ixx="0.05" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/><origin xyz="0.6 0 0" rpy="1 0 0"/></joint>
  <link name="tool"><inertial><mass value="0.5"/><inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="end" type="fixed"><parent link="tool"/><child link="tip"/></joint>
  <link name="tip"/>
</robot>
)x";

class urdf_import : public testing::Test {
   protected:
    process::outcome import(const std::string& text, const std::vector<std::string>& more = {}) {
        write_file(folder / "robot.urdf", text);
        fs::remove(folder / "robot.yaml");
        std::vector<std::string> all{MDPCOSIM_PROGRAM, "import",
                                     "urdf",           (folder / "robot.urdf").string(),
                                     "--out",          (folder / "robot.yaml").string()};
        all.insert(all.end(), more.begin(), more.end());
        return process(all, {}).wait();
    }
    std::string refusal(const std::string& text) {
        const auto done = import(text);
        EXPECT_EQ(done.exit_status, 2) << done.out;
        EXPECT_FALSE(fs::exists(folder / "robot.yaml"));
        return done.err;
    }
    /// The robot with one text in place of another.
    static std::string with(const std::string& old, const std::string& now) {
        std::string text = robot;
        const auto at = text.find(old);
        EXPECT_NE(at, std::string::npos) << old;
        return text.replace(at, old.size(), now);
    }
    temporary_folder folder;
};

TEST_F(urdf_import, moves_as_the_parts_that_it_stands_for) {
    const auto done = import(robot);
    ASSERT_EQ(done.exit_status, 0) << done.err;
    EXPECT_THAT(done.out,
                AllOf(HasSubstr("2 bodies, 3.5 kg"), HasSubstr("limits of joints"), HasSubstr("meshes are not read")));
    if (!fs::exists(fs::path(MDPCOSIM_BINARY_DIR) / "mdpcosim-multibody.so"))
        GTEST_SKIP() << "Simbody is not installed";
    std::string text = content(folder / "robot.yaml");
    const std::string pin = "kind: pin, child: upper";
    ASSERT_NE(text.find(pin), std::string::npos) << text;
    write_file(folder / "robot.yaml", text.replace(text.find(pin), pin.size(), pin + ", start: 0.7"));
    // By hand, in axes of the root: the lower link points along e = (0, s, -c), its pin about (0, c, s). Tool and link are one body: their centre is
    // 0.4 m along e, and 0.01 + 0.5 0.04 = 0.03 kg.m2 come to the moments across it.
    const double s = std::sin(0.5), c = std::cos(0.5);
    write_file(
        folder / "s.yaml",
        fmt::format("time: {{end: 2 s, step: 10 ms}}\nsubsystems:\n"
                    "  a: {{include: robot.yaml, solver: {{name: erk-8, rtol: 1e-11, atol: 1e-12}}}}\n"
                    "  b:\n    model: multibody\n    solver: {{name: erk-8, rtol: 1e-11, atol: 1e-12}}\n    parts:\n"
                    "      upper: {{kind: body, mass: 2, inertia: [0.2, 0.2, 0.01], centre: [0, 0, -0.5]}}\n"
                    "      lower: {{kind: body, mass: 1.5, inertia: [{}, {}, {}, 0, 0, {}], centre: [0, {}, {}]}}\n"
                    "      shoulder: {{kind: pin, child: upper, at: [0, 0, 1], axis: [0, 1, 0], start: 0.7}}\n"
                    "      elbow: {{kind: pin, child: lower, parent: upper, at: [0, 0, -1], axis: [0, {}, {}]}}\n"
                    "      rub: {{kind: joint-spring, joint: elbow, damping: 0.1}}\n",
                    0.081, 0.051 + 0.03 * (1 - s * s), 0.051 + 0.03 * (1 - c * c), 0.03 * s * c, 0.4 * s, -0.4 * c, c,
                    s));
    const auto ran =
        process({MDPCOSIM_PROGRAM, "run", (folder / "s.yaml").string(), "--quiet", "--out", (folder / "out").string()},
                {})
            .wait();
    ASSERT_EQ(ran.exit_status, 0) << ran.err;
    const result_table t = read_results(folder / "out", [](std::string_view) { return true; });
    int compared = 0;
    for (std::size_t k = 0; k < t.columns(); ++k) {
        if (!t.names[k].starts_with("a.")) continue;
        const auto other = std::ranges::find(t.names, "b" + t.names[k].substr(1)) - t.names.begin();
        ASSERT_LT(static_cast<std::size_t>(other), t.columns()) << t.names[k];
        for (std::size_t row = 0; row < t.rows(); ++row)
            ASSERT_NEAR(t.value(row, k), t.value(row, static_cast<std::size_t>(other)), 1e-8)
                << t.names[k] << " row " << row;
        ++compared;
    }
    EXPECT_GT(compared, 20);
}

TEST_F(urdf_import, free_bases_and_other_joints) {
    const auto floating = import(robot, {"--free"});
    ASSERT_EQ(floating.exit_status, 0) << floating.err;
    EXPECT_THAT(floating.out, HasSubstr("3 bodies, 12.5 kg"));
    EXPECT_THAT(content(folder / "robot.yaml"), AllOf(HasSubstr("kind: free, child: base"), HasSubstr("parent: base")));
    ASSERT_EQ(import(with("type=\"revolute\"", "type=\"prismatic\"")).exit_status, 0);
    EXPECT_THAT(content(folder / "robot.yaml"),
                HasSubstr("shoulder: {kind: slider, child: upper, at: [0, 0, 1], axis: [0, 1, 0]}"));
    ASSERT_EQ(import(with("<axis xyz=\"0 1 0\"/><dynamics", "<mimic joint=\"shoulder\"/><dynamics")).exit_status, 0);
}

TEST_F(urdf_import, what_is_no_robot_is_refused) {
    EXPECT_THAT(refusal(with("<child link=\"lower\"/>", "<child link=\"lover\"/>")),
                AllOf(HasSubstr("robot.urdf:12:"),
                      HasSubstr("joint 'elbow': its child is the link 'lover', which does not exist"),
                      HasSubstr("Did you mean 'lower'?")));
    EXPECT_THAT(refusal(with("type=\"continuous\"", "type=\"hinge\"")),
                AllOf(HasSubstr("type 'hinge' does not exist"), HasSubstr("prismatic, revolute")));
    EXPECT_THAT(refusal(with("<mass value=\"2\"/>", "<mass value=\"0\"/>")),
                AllOf(HasSubstr("link 'upper' moves and has no mass"), HasSubstr("make joint 'shoulder' fixed")));
    EXPECT_THAT(refusal(with("<mass value=\"2\"/>", "<mass value=\"-2\"/>")), HasSubstr("has the mass -2 kg"));
    EXPECT_THAT(refusal(with("<mass value=\"2\"/>", "")), HasSubstr("its <inertial> needs a number for 'value'"));
    EXPECT_THAT(refusal(with("xyz=\"0.5 0 0\"", "xyz=\"0.5 0\"")), HasSubstr("three numbers are needed"));
    EXPECT_THAT(refusal(with("<parent link=\"base\"/>", "<parent link=\"lower\"/>")),
                HasSubstr("hangs on itself, over joint"));
    EXPECT_THAT(refusal(with("<link name=\"tip\"/>", "<link name=\"tip\"/><link name=\"lonely\"/>")),
                HasSubstr("2 links hang on no joint: base, lonely"));
    EXPECT_THAT(refusal(with("<child link=\"tip\"/>", "<child link=\"upper\"/>")),
                HasSubstr("link 'upper' is the child of two joints, 'shoulder' and 'end'"));
    EXPECT_THAT(refusal("<robot xmlns:xacro=\"x\"><xacro:include filename=\"a\"/></robot>"),
                HasSubstr("belongs to xacro"));
    EXPECT_THAT(refusal("<sdf/>"), HasSubstr("the root element is <sdf>, not <robot>"));
    EXPECT_THAT(refusal("nonsense"), HasSubstr("robot.urdf"));
    EXPECT_EQ(process({MDPCOSIM_PROGRAM, "import", "urdf", "/nowhere.urdf"}, {}).wait().exit_status, 2);
    // A file that was not made so is left alone.
    write_file(folder / "mine.yaml", "mine");
    EXPECT_EQ(process({MDPCOSIM_PROGRAM, "import", "urdf", (folder / "robot.urdf").string(), "--out",
                       (folder / "mine.yaml").string()},
                      {})
                  .wait()
                  .exit_status,
              2);
    EXPECT_EQ(content(folder / "mine.yaml"), "mine");
}

}  // namespace
}  // namespace mdpcosim::test
