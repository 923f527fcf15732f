#include "report/scene_tracks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "core/json.hpp"
#include "report/reduce.hpp"

namespace mdpcosim {

namespace {

result_table swinging() {
    result_table table;
    table.names = {"p.phi", "p.crank.x[2]", "q.phi"};
    for (int i = 0; i < 3; ++i) {
        table.time.push_back(0.5 * i);
        for (const double v : {0.1 * i, 2.0 * i, 100.0}) table.values.push_back(v);
    }
    return table;
}

json scene_of(const json& shapes) {
    return json::array({{{"subsystem", "p"}, {"row", false}, {"constants", {{"L", 2.0}}}, {"shapes", shapes}}});
}

json shape(const json& point) {
    return {{"kind", "ball"},
            {"points", json::array({point})},
            {"size", json::array({"L/10"})},
            {"rotation", json::array()},
            {"ports", json::array({"shaft"})}};
}

TEST(scene_tracks, evaluates_expressions_of_outputs_parameters_and_time) {
    const json scenes = scene_of(json::array({shape(json::array({"L*sin(phi)", "crank_x_2 + t", "3"}))}));
    const json out = scene_tracks(scenes, swinging());
    EXPECT_EQ(out["time"], encode(std::vector<double>{0, 0.5, 1}));
    const json& made = out["subsystems"][0]["shapes"][0];
    EXPECT_EQ(made["points"][0][0], encode(std::vector<double>{0, 2 * std::sin(0.1), 2 * std::sin(0.2)}, true));
    EXPECT_EQ(made["points"][0][1], encode(std::vector<double>{0, 2.5, 5}, true));
    EXPECT_EQ(made["points"][0][2], 3.0);
    EXPECT_EQ(made["size"], json::array({0.2}));
    EXPECT_EQ(made["ports"], json::array({"shaft"}));
}

TEST(scene_tracks, leaves_out_what_was_not_recorded_and_says_so) {
    const json scenes = scene_of(json::array({shape(json::array({"phi", "w"})), shape(json::array({"phi", "0"}))}));
    const json out = scene_tracks(scenes, swinging());
    EXPECT_EQ(out["subsystems"][0]["shapes"].size(), 1u);
    EXPECT_EQ(out["subsystems"][0]["missing"], json::array({"w"}));
}

TEST(scene_tracks, takes_some_of_many_rows_the_last_one_too) {
    result_table table;
    table.names = {"p.phi"};
    for (int i = 0; i <= 10'000; ++i) {
        table.time.push_back(i);
        table.values.push_back(2.0 * i);
    }
    const json out = scene_tracks(scene_of(json::array({shape(json::array({"phi", "0"}))})), table);
    std::vector<double> times;
    for (std::size_t i = 0; i < 600; ++i) times.push_back(static_cast<double>(i * 10'000 / 599));
    EXPECT_EQ(out["time"], encode(times));
    EXPECT_EQ(times.back(), 10'000);
}

/// Two chains of 1000 pins and a ball that follows one of them: fewer frames, the same ones for everything, each a row.
TEST(scene_tracks, chains_take_vectors_at_the_times_of_everything_else) {
    constexpr int pins = 1000, rows = 1001;
    result_table table;
    for (const char* name : {"p.pins.x", "p.pins.y", "p.both"})
        for (int k = 0; k < pins; ++k) table.names.push_back(name + ("[" + std::to_string(k) + "]"));
    const auto x = [](int row, int pin) { return std::sin(0.01 * row) + pin; };
    for (int row = 0; row < rows; ++row) {
        table.time.push_back(1e-3 * row);
        for (int k = 0; k < pins; ++k) table.values.push_back(x(row, k));
        for (int k = 0; k < pins; ++k) table.values.push_back(k == 7 && row == 0 ? std::nan("") : 0.5 * row);
        for (int k = 0; k < pins; ++k) table.values.push_back(k % 2 == 0 ? k : -row);
    }
    json chain = shape(json::array()), both = shape(json::array()), lost = shape(json::array());
    for (json* one : {&chain, &both, &lost}) {
        (*one)["kind"] = "chain";
        (*one)["points"] = json::array();
    }
    chain["vectors"] = json::array({"pins.x", "pins.y"});
    both["vectors"] = json::array({"both"});
    lost["vectors"] = json::array({"pins.x", "pins.z"});
    const json out =
        scene_tracks(scene_of(json::array({chain, both, lost, shape(json::array({"pins_x_3", "t"}))})), table);
    const json& shapes = out["subsystems"][0]["shapes"];
    ASSERT_EQ(shapes.size(), 3u);
    EXPECT_EQ(out["subsystems"][0]["missing"], json::array({"pins.z"}));
    const std::size_t frames = 100;  // 5000 numbers each
    std::vector<double> times, ball;
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < frames; ++i) {
        at.push_back(i * (rows - 1) / (frames - 1));
        times.push_back(table.time[at.back()]);
        ball.push_back(x(static_cast<int>(at.back()), 3));
    }
    EXPECT_EQ(out["time"], encode(times));
    EXPECT_EQ(shapes[2]["points"][0][0], encode(ball, true));
    const json& made = shapes[0]["chain"];
    EXPECT_EQ(made["count"], pins);
    const auto low = made["coordinates"][0]["low"].get<double>(), step = made["coordinates"][0]["step"].get<double>();
    std::vector<std::uint8_t> bytes;
    for (const std::size_t row : at)
        for (int k = 0; k < pins; ++k) {
            const auto n = static_cast<unsigned>(std::lround((x(static_cast<int>(row), k) - low) / step));
            bytes.push_back(static_cast<std::uint8_t>(n & 0xff));
            bytes.push_back(static_cast<std::uint8_t>(n >> 8));
        }
    EXPECT_EQ(made["coordinates"][0]["data"], encode(bytes));
    EXPECT_NEAR(step * 65534, 1001, 1.1);
    EXPECT_EQ(shapes[1]["chain"]["count"], pins / 2);
}

TEST(scene_tracks, of_nothing_is_nothing) {
    EXPECT_TRUE(scene_tracks(json(), swinging()).is_null());
    EXPECT_TRUE(scene_tracks(json::array(), swinging()).is_null());
}

}  // namespace

}  // namespace mdpcosim
