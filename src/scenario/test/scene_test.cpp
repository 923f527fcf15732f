#include <gtest/gtest.h>

#include "scenario/read.hpp"
#include "scenario/yaml.hpp"

namespace mdpcosim {

namespace {

const std::string begin = "time: {end: 1 s, step: 0.1 s}\nlet: {d: 0.2}\nsubsystems:\n  a:\n    model: m\n    scene:\n";

TEST(scene, is_read_and_written) {
    const std::string text = begin +
                             "      - {rod: [[0, 0], [L*sin(phi), -L*cos(phi), 1]], size: $d, port: p}\n"
                             "      - {box: [x, y, z], size: [1, 2, 3], quaternion: [q0, q1, q2, q3]}\n"
                             "      - {disc: [0, 0], angle: phi}\n"
                             "      - {outline: [[0, 0], [1, 0], [0, 1]], at: [x, y], angle: phi, closed: no}\n"
                             "      - {chain: [pins.x, pins.y]}\n"
                             "      - {chain: pins, closed: no}\n";
    const auto check = [](const std::vector<scene_shape_spec>& scene) {
        ASSERT_EQ(scene.size(), 6u);
        EXPECT_EQ(scene[3].points.size(), 3u);
        EXPECT_EQ(scene[3].place[1].value, "y");
        EXPECT_FALSE(scene[3].closed);
        EXPECT_EQ(scene[4].vectors[1].value, "pins.y");
        EXPECT_TRUE(scene[4].closed);
        EXPECT_EQ(scene[5].vectors.size(), 1u);
        EXPECT_EQ(scene[0].kind.value, "rod");
        EXPECT_EQ(scene[0].points[1][1].value, "-L*cos(phi)");
        EXPECT_EQ(scene[0].points[1].size(), 3u);
        EXPECT_EQ(scene[0].size[0].value, "0.2");
        EXPECT_EQ(scene[0].port.value, "p");
        EXPECT_EQ(scene[1].size.size(), 3u);
        EXPECT_EQ(scene[1].rotation.size(), 4u);
        EXPECT_EQ(scene[2].rotation.size(), 1u);
    };
    const scenario first = read_scenario_text(text, "s.yaml");
    check(first.subsystems[0].scene);
    check(read_scenario_text(write_scenario(first), "s.yaml").subsystems[0].scene);
}

TEST(scene, mistakes_have_their_place) {
    const auto message = [](const std::string& shape) -> std::string {
        try {
            read_scenario_text(begin + "      - " + shape + "\n", "s.yaml");
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "nothing";
    };
    const std::string object = "subsystem 'a': shape 1 of the scene: ";
    EXPECT_EQ(message("{rod: [[0, 0]]}"),
              "s.yaml:7:15: " + object + "rod: at least two points are expected, [[x, y], [x, y]].");
    EXPECT_EQ(message("{ball: [1]}"),
              "s.yaml:7:16: " + object + "ball: a list of 2 to 3 numbers or expressions is expected.");
    EXPECT_EQ(message("{outline: [[0, 0], [1, 0]]}"),
              "s.yaml:7:19: " + object + "outline: at least three points are expected, [[x, y], [x, y], ...].");
    EXPECT_NE(message("{ball: [0, 0], disc: [0, 0]}").find("it is a ball and a disc"), std::string::npos);
    EXPECT_NE(message("{size: 2}").find("one of the keys ball, box"), std::string::npos);
    EXPECT_NE(message("{bal: [0, 0]}").find("Did you mean 'ball'?"), std::string::npos);
}

}  // namespace

}  // namespace mdpcosim
