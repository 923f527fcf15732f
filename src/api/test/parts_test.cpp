// Parts of a model, from the scenario to the model's factory, with a model that these tests register.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/list.hpp"
#include "api/schema.hpp"
#include "core/json.hpp"
#include "report/reduce.hpp"
#include "report/run_report.hpp"
#include "results/result_table.hpp"
#include "scenario/read.hpp"
#include "simulation/run.hpp"
#include "subsystem/description_parts.hpp"
#include "subsystem/factory.hpp"
#include "subsystem/model.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using testing::HasSubstr;

std::vector<part> received;

/// Four pins on a circle, at the angle of the time; keeps what it was made of.
class belt final : public equations {
   public:
    explicit belt(const std::vector<part>& parts) { received = parts; }

    const subsystem_description& describe() const noexcept override {
        static const subsystem_description shared = [] {
            subsystem_description d;
            d.type = "model test-belt";
            add_output(d, "x", "", "the time");
            add_output(d, "pins.x", "m", "pins, to the right", 4);
            add_output(d, "pins.y", "m", "pins, upwards", 4);
            return d;
        }();
        return shared;
    }
    int state_count() const override { return 1; }
    void initial_state(double /*t0*/, double* x) const override { x[0] = 0; }
    void derivatives(double /*t*/, const double* /*x*/, const double* /*u*/, double* dx) const override { dx[0] = 1; }
    void outputs(double /*t*/, const double* x, const double* /*u*/, double* y) const override {
        y[0] = x[0];
        for (int k = 0; k < 4; ++k) {
            y[1 + k] = std::cos(x[0] + 1.5708 * k);
            y[5 + k] = std::sin(x[0] + 1.5708 * k);
        }
    }
};

/// A wheel for every sprocket, as large as its part says, and the belt.
model_scene belt_scene(const parameter_values&, const std::vector<part>& parts) {
    model_scene made;
    for (const part& p : parts) {
        if (p.kind != "sprocket") continue;
        const std::string r = fmt::format("{}", p.values["radius"]);
        made.shapes.push_back({.kind = "outline",
                               .points = {{r, "0"}, {"0", r}, {"-" + r, "0"}},
                               .rotation = {"x"},
                               .place = {fmt::format("{}", p.values["teeth"]), "0"}});
    }
    made.shapes.push_back({.kind = "chain", .size = {"0.01"}, .vectors = {"pins.x", "pins.y"}});
    return made;
}

using range = parameter_info::range;

const part_info bearing{
    "bearing", "what a wheel turns on", {{"friction", "N.m.s/rad", "friction", 0.5, range::not_negative}}};

const model_registration registered_belt{{
    .name = "test-belt",
    .summary = "belt over wheels",
    .parameters = {{"length", "m", "length of the belt", 1, range::positive}},
    .parts = {{.kind = "sprocket",
               .summary = "a toothed wheel",
               .parameters = {{"teeth", "1", "number of teeth", 0, range::whole, true},
                              {"radius", "m", "radius", 0.1, range::positive}},
               .parts = {bearing}},
              {.kind = "strand",
               .summary = "the belt between two wheels",
               .parameters = {{"stiffness", "N/m", "stiffness", 1000, range::positive}},
               .references = {{"from", "the wheel where it begins", {"sprocket"}},
                              {"to", "the wheel where it ends", {"sprocket"}},
                              {"beside", "another strand", {}, false}}}},
    .make_of_parts = [](const parameter_values&, const std::vector<part>& parts) -> std::unique_ptr<equations> {
        return std::make_unique<belt>(parts);
    },
    .scene_of_parts = belt_scene,
}};

const std::string head =
    "time: {end: 1, step: 0.1}\nsubsystems:\n  a:\n    model: test-belt\n    solver: rk4\n    parts:\n";
const std::string good =
    "      wheel: {kind: sprocket, teeth: 19, radius: 40 mm, parts: {hub: {kind: bearing, friction: 2}}}\n"
    "      idler: {kind: sprocket, teeth: 12}\n"
    "      upper: {kind: strand, from: wheel, to: idler, stiffness: 2 kN/m}\n";

scenario read(const std::string& parts, const std::vector<scenario_override>& overrides = {}) {
    return read_scenario_text(head + parts, "s.yaml", {}, overrides);
}

std::string refusal(const std::string& parts) {
    try {
        make_equations(read(parts).subsystems[0]);
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

TEST(parts, reach_the_factory_as_typed_data) {
    make_equations(read(good).subsystems[0]);
    ASSERT_EQ(received.size(), 3U);
    EXPECT_EQ(received[0].name, "wheel");
    EXPECT_EQ(received[0].kind, "sprocket");
    EXPECT_EQ(to_string(received[0].where), "s.yaml:7:7");
    EXPECT_EQ(received[0].values["teeth"], 19);
    EXPECT_EQ(received[0].values["radius"], 0.04);
    EXPECT_EQ(received[1].values["radius"], 0.1);
    ASSERT_EQ(received[0].parts.size(), 1U);
    EXPECT_EQ(received[0].parts[0].values["friction"], 2);
    EXPECT_EQ(received[2].refers_to("from"), "wheel");
    EXPECT_EQ(received[2].refers_to("beside"), "");
    EXPECT_EQ(received[2].values["stiffness"], 2000);
    EXPECT_EQ(find_part(received, "wheel.hub"), &received[0].parts[0]);
}

/// From the parts to the page's data: what is drawn follows the parts of this instance, all of it at the same times.
TEST(parts, make_the_scene_of_reports) {
    const test::temporary_folder folder;
    run(read(good), {.out = folder.path()});
    const json report = json::parse(run_report_json({folder.path(), {}}));
    const json& scene = report["scene"];
    const json& shapes = scene["subsystems"][0]["shapes"];
    ASSERT_EQ(shapes.size(), 3U);
    EXPECT_EQ(shapes[0]["kind"], "outline");
    EXPECT_EQ(shapes[0]["points"][1], json::array({0.0, 0.04}));
    EXPECT_EQ(shapes[0]["place"], json::array({19.0, 0.0}));
    EXPECT_EQ(shapes[1]["points"][1], json::array({0.0, 0.1}));
    EXPECT_EQ(shapes[2]["chain"]["count"], 4);
    const result_table table = read_results(folder.path(), [](std::string_view) { return true; });
    std::vector<double> angles;
    for (std::size_t row = 0; row < table.rows(); ++row) angles.push_back(table.value(row, 0));
    EXPECT_EQ(scene["time"], encode(table.time));
    EXPECT_EQ(shapes[0]["rotation"][0], encode(angles, true));
    EXPECT_EQ(scene["subsystems"][0]["missing"], json::array());
}

TEST(parts, a_chain_needs_vectors_of_one_length) {
    const auto message = [](const std::string& shape) -> std::string {
        const test::temporary_folder folder;
        try {
            run(read(good + "    scene: [" + shape + "]\n"), {.out = folder.path()});
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "accepted";
    };
    EXPECT_EQ(message("{chain: [pins.x, pins.y]}"), "accepted");
    EXPECT_EQ(message("{chain: pins.y, closed: no}"), "accepted");
    EXPECT_EQ(
        message("{chain: [pins.x, pin.y]}"),
        "s.yaml:10:30: subsystem 'a': shape 1 of the scene: vector output 'pin.y' does not exist. The subsystem has: "
        "pins.x, pins.y. Did you mean 'pins.y'?");
    EXPECT_THAT(message("{chain: x}"), HasSubstr("vector output 'x' does not exist"));
}

TEST(parts, are_written_with_their_defaults_and_read_back) {
    scenario s = read(good);
    s.subsystems[0] = with_defaults(s.subsystems[0]);
    const std::string text = write_scenario(s);
    EXPECT_THAT(text, HasSubstr("idler: {kind: sprocket, teeth: 12, radius: 0.1 m}"));
    EXPECT_EQ(write_scenario(read_scenario_text(text, "again.yaml")), text);
}

TEST(parts, are_reached_by_set) {
    const auto with = [](const std::string& address, const std::string& value) {
        make_equations(read(good, {{address, value, "--set " + address + "=" + value}}).subsystems[0]);
    };
    with("a.parts.wheel.teeth", "21");
    EXPECT_EQ(received[0].values["teeth"], 21);
    with("a.parts.wheel.parts.hub.friction", "3");
    EXPECT_EQ(received[0].parts[0].values["friction"], 3);
    with("a.parts.third", "{kind: sprocket, teeth: 5}");
    EXPECT_EQ(received.size(), 4U);
}

TEST(parts, mistakes_have_their_place) {
    const std::string owner = "subsystem 'a' (model test-belt): ";
    EXPECT_EQ(refusal("      w: {kind: sproket, teeth: 1}\n"),
              "s.yaml:7:17: " + owner +
                  "part 'w': kind 'sproket' does not exist. Kinds: sprocket, strand. Did you mean "
                  "'sprocket'?");
    EXPECT_THAT(refusal("      w: {teeth: 1}\n"),
                HasSubstr("s.yaml:7:10: subsystem 'a': part 'w': key 'kind' is missing."));
    EXPECT_EQ(refusal("      w: {kind: sprocket, tooth: 1}\n"),
              "s.yaml:7:27: " + owner +
                  "part 'w' (sprocket): key 'tooth' does not exist. It has: teeth, radius. Did you mean 'teeth'?");
    EXPECT_EQ(refusal("      w: {kind: sprocket}\n"),
              "s.yaml:7:7: " + owner + "part 'w' (sprocket): parameter 'teeth' (number of teeth) is missing.");
    EXPECT_THAT(
        refusal("      w: {kind: sprocket, teeth: 3, radius: 1 kg}\n"),
        HasSubstr("s.yaml:7:45: " + owner + "part 'w' (sprocket): parameter 'radius': in '1 kg' the unit 'kg'"));
    EXPECT_THAT(refusal(good + "      s: {kind: strand, from: weel, to: idler}\n"),
                HasSubstr("s.yaml:10:31: " + owner +
                          "part 's' (strand): 'from': part 'weel' does not exist. The model "
                          "has: wheel, wheel.hub, idler, upper, s. Did you mean 'wheel'?"));
    EXPECT_THAT(refusal(good + "      s: {kind: strand, from: upper, to: idler}\n"),
                HasSubstr("'from' needs a part of kind sprocket, but 'upper' is a strand."));
    EXPECT_THAT(
        refusal(good + "      s: {kind: strand, to: idler}\n"),
        HasSubstr("s.yaml:10:7: " + owner + "part 's' (strand): 'from' (the wheel where it begins) is missing."));
    EXPECT_THAT(refusal(good + "      s: {kind: strand, from: wheel, to: idler, parts: {x: {kind: bearing}}}\n"),
                HasSubstr("a strand holds no parts."));
    EXPECT_THAT(refusal("      w: {kind: sprocket, teeth: 1, parts: {x: {kind: sprocket}}}\n"),
                HasSubstr("part 'w.x': kind 'sprocket' does not exist. Kinds: bearing."));
    const std::string other = "time: {end: 1, step: 0.1}\nsubsystems: {a: {model: lag-1, parts: {x: {kind: y}}}}\n";
    try {
        make_equations(read_scenario_text(other, "s.yaml").subsystems[0]);
        ADD_FAILURE() << "accepted";
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("s.yaml:2:40: subsystem 'a' (model lag-1): the model has no parts."));
    }
}

TEST(parts, stand_in_lists_and_schema) {
    EXPECT_THAT(list_text("models"), HasSubstr("part sprocket: a toothed wheel"));
    const auto schema = json::parse(scenario_schema());
    bool found = false;
    for (const auto& condition : schema["definitions"]["subsystem"]["allOf"]) {
        if (condition["if"]["properties"]["model"]["const"] != "test-belt") continue;
        found = true;
        const auto& part = condition["then"]["properties"]["parts"]["additionalProperties"];
        EXPECT_EQ(part["allOf"][0]["if"]["properties"]["kind"]["const"], "sprocket");
        const auto& sprocket = part["allOf"][0]["then"];
        EXPECT_TRUE(sprocket["properties"].contains("teeth"));
        EXPECT_TRUE(sprocket["properties"]["parts"]["additionalProperties"].contains("allOf"));
        EXPECT_EQ(sprocket["additionalProperties"], false);
        EXPECT_TRUE(part["allOf"][1]["then"]["properties"].contains("from"));
    }
    EXPECT_TRUE(found);
}

}  // namespace
}  // namespace mdpcosim
