// The method one-pass through the whole engine: where explicit couplings diverge, in several domains, with FMUs; what `check` says
// about mobilities, and mistakes in them.
#include <gmock/gmock.h>

#include <numbers>

#include "bad_input.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::filesystem::path examples = std::filesystem::path(MDPCOSIM_SOURCE_DIR) / "examples";

using settings = std::vector<std::pair<std::string, std::string>>;

scenario changed(const std::string& name, const settings& changes) {
    std::vector<scenario_override> overrides;
    for (const auto& [address, value] : changes) overrides.push_back({address, value, "--set " + address});
    return read_scenario(examples / name / "scenario.yaml", overrides);
}

run_summary run_into(const std::filesystem::path& out, const scenario& s, bool monolithic = false) {
    return run(s, {.out = out, .monolithic = monolithic});
}

/// The largest error of `variable` against the monolithic reference, relative to its range.
double error_of(const std::string& example, settings changes, const std::string& variable) {
    const temporary_folder folder;
    const scenario reference = changed(example, changes);
    changes.push_back({"method", "one-pass"});
    const run_summary summary = run_into(folder / "one-pass", changed(example, changes));
    EXPECT_EQ(summary.status, "done") << summary.message;
    EXPECT_EQ(run_into(folder / "reference", reference, true).status, "done");
    return compare_results(folder / "one-pass", folder / "reference", {variable}).errors.at(0).relative;
}

bool explicit_fails(const std::string& example, const settings& changes) {
    const temporary_folder folder;
    return run_into(folder / "explicit", changed(example, changes)).status == "failed";
}

TEST(one_pass_run, stiff_springs) {
    const settings stiff{
        {"spring.stiffness", "1e8 N/m"}, {"time.step", "10 ms"}, {"B.x0", "10 mm"}, {"B.mass", "3 kg"}};
    EXPECT_TRUE(explicit_fails("two-mass", stiff));
    EXPECT_LT(error_of("two-mass", stiff, "A.mass.position"), 1e-3);
    // Where the step resolves the spring, nothing is lost against the explicit method.
    EXPECT_LT(error_of("two-mass", {}, "A.mass.position"), 2e-4);
}

TEST(one_pass_run, heat_through_good_conductors) {
    const settings good{{"G", "2000 W/K"}, {"time.step", "2 s"}};
    EXPECT_TRUE(explicit_fails("thermal-bodies", good));
    EXPECT_LT(error_of("thermal-bodies", good, "C.body.temperature"), 0.06);
    EXPECT_LT(error_of("thermal-bodies", {}, "C.body.temperature"), 2e-3);
}

TEST(one_pass_run, fluid_in_a_small_volume) {
    const settings small{{"node.volume", "0.1 cm3"}, {"node.model", "constant"}, {"time.step", "200 us"}};
    EXPECT_TRUE(explicit_fails("hydraulic-node", small));
    EXPECT_LT(error_of("hydraulic-node", small, "wide.left.flow"), 0.01);
}

TEST(one_pass_run, current_through_a_good_conductor) {
    const settings good{{"resistor.conductance", "200 A/V"}, {"time.step", "20 us"}};
    EXPECT_TRUE(explicit_fails("electric-circuit", good));
    EXPECT_LT(error_of("electric-circuit", good, "left.u1"), 0.01);
}

TEST(one_pass_run, fmus_on_a_stiff_shaft) {
    const settings stiff{{"c", "1e9 N.m/rad"}, {"time.step", "5 ms"}};
    EXPECT_TRUE(explicit_fails("fmu-shaft", stiff));
    const temporary_folder folder;
    settings changes = stiff;
    changes.push_back({"method", "one-pass"});
    const run_summary summary = run_into(folder / "out", changed("fmu-shaft", changes));
    ASSERT_EQ(summary.status, "done") << summary.message;
    const result_table speeds =
        read_results(folder / "out", [](std::string_view name) { return name == "engine.w" || name == "load.w"; });
    ASSERT_EQ(speeds.columns(), 2u);
    // Both turn with the momentum of the one that was driven: 120 rpm 0.2/(0.2 + 0.5).
    for (const std::size_t column : {0, 1})
        EXPECT_NEAR(speeds.value(speeds.rows() - 1, column), 4 * std::numbers::pi * 0.2 / 0.7, 0.01);
}

const std::string head = R"(time: {end: 1 s, step: 1 ms}
method: one-pass
subsystems:
)",
                  tail = R"(
connections:
  k: {law: spring, between: [a.mass, b.mass], stiffness: 1e6 N/m}
)";

TEST(one_pass_check, says_where_mobilities_come_from) {
    const std::string text = check(read_scenario_text(head + R"(
  a: {model: mass-spring-damper, inertia: {mass: 1 kg}}
  b: {model: mass-spring-damper}
  c: {model: thermal-mass}
  d: {model: thermal-mass}
connections:
  k: {law: spring, between: [a.mass, b.mass], stiffness: 1e6 N/m}
  g: {law: conductor, between: [c.body, d.body], conductance: 1 W/K}
)",
                                                      "s.yaml"));
    EXPECT_THAT(text, AllOf(HasSubstr("sensitivity given (inertia)"),
                            HasSubstr("sensitivity from the accelerations that its ports give"),
                            HasSubstr("sensitivity by short trial steps")));
}

class bad_inertia : public testing::TestWithParam<bad_scenario> {};
TEST_P(bad_inertia, is_refused) { expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    entries, bad_inertia,
    testing::Values(
        bad_scenario{
            "unknown_port",
            head + "  a: {model: mass-spring-damper, inertia: {|>mas: 1 kg}}\n  b: {model: mass-spring-damper}" + tail,
            {"subsystem 'a': inertia: port 'mas' does not exist. Ports: mass.", "Did you mean 'mass'?"}},
        bad_scenario{
            "wrong_unit",
            head + "  a: {model: mass-spring-damper, inertia: {mass: |>1 N}}\n  b: {model: mass-spring-damper}" + tail,
            {"subsystem 'a': inertia: mass", "kg"}},
        bad_scenario{
            "not_positive",
            head + "  a: {model: mass-spring-damper, inertia: {mass: |>0 kg}}\n  b: {model: mass-spring-damper}" + tail,
            {"subsystem 'a': inertia: mass: '0 kg' must be one number greater than zero [kg], or 'inf'"}},
        bad_scenario{
            "negative",
            head + "  a: {model: mass-spring-damper}\n  b: {model: mass-spring-damper, inertia: {mass: |>-2 kg}}" +
                tail,
            {"subsystem 'b': inertia: mass: '-2 kg' must be one number greater than zero [kg], or 'inf' for a "
             "port that does not give way"}},
        bad_scenario{
            "no_number",
            head + "  a: {model: mass-spring-damper, inertia: {mass: |>.nan}}\n  b: {model: mass-spring-damper}" + tail,
            {"subsystem 'a': inertia: mass"}}),
    scenario_name);

}  // namespace
}  // namespace mdpcosim::test
