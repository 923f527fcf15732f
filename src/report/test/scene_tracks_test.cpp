#include "report/scene_tracks.hpp"

#include <gtest/gtest.h>

#include <cmath>

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

TEST(scene_tracks, of_nothing_is_nothing) {
    EXPECT_TRUE(scene_tracks(json(), swinging()).is_null());
    EXPECT_TRUE(scene_tracks(json::array(), swinging()).is_null());
}

}  // namespace

}  // namespace mdpcosim
