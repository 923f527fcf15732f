// Scenarios made from FMUs and systems of SSP: they are read, put together and run as they are; what belongs together is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/mdpcosim.hpp"
#include "simulation/simulation.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const fs::path given = fs::path(MDPCOSIM_BINARY_DIR) / "fmus";

class new_scenarios : public testing::Test {
   protected:
    /// Written, read back, built and run for some steps; the outputs that a user asks for are there.
    double end_value(const new_scenario& made, const std::string& output, int steps) {
        const scenario s = load_scenario(written(made));
        simulation run(s, {.workers = 1});
        run.initialise();
        for (int n = 0; n < steps; ++n) run.step();
        return run.value(output);
    }
    fs::path written(const new_scenario& made) {
        fs::create_directories(folder_ / "new");
        test::write_file(folder_ / "new/scenario.yaml", made.text);
        return folder_ / "new/scenario.yaml";
    }
    std::string refusal(const std::vector<fs::path>& from) {
        try {
            make_new_scenario(from, folder_ / "new");
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "accepted";
    }
    test::temporary_folder folder_;
};

TEST_F(new_scenarios, of_fmus_have_ports_parameters_and_proposals) {
    const auto made = make_new_scenario({given / "oscillator-2.fmu", given / "oscillator-3.fmu"}, folder_ / "new");
    EXPECT_EQ(made.subsystems, 2);
    EXPECT_EQ(made.ports, 2);
    EXPECT_THAT(made.text,
                AllOf(HasSubstr("      translation: {kind: translation, position: position, velocity: velocity"),
                      HasSubstr("    #   c: 100 N/m   stiffness\n"), HasSubstr("law: spring-damper")));
    const scenario s = load_scenario(written(made));
    ASSERT_EQ(s.subsystems.size(), 2u);
    EXPECT_NE(s.subsystems[0].name, s.subsystems[1].name);
    // The proposal counts once its '#' is gone, and couples the two: the second one moves, too.
    std::string text = made.text;
    for (const auto& proposal : std::vector<std::string>{"# connections:", "#   " + s.subsystems[0].name + "-"}) {
        const std::size_t at = text.find(proposal);
        ASSERT_NE(at, std::string::npos) << text;
        text.replace(at, 1, proposal == "# connections:" ? "" : " ");
    }
    text.replace(text.find(" connections:"), 1, "");
    const std::size_t first = text.find("    fmu: ");
    text.insert(first, "    set: {x0: 10 mm}\n");
    new_scenario coupled{text, 0, 0, 0, 0, {}};
    EXPECT_NE(end_value(coupled, s.subsystems[1].name + ".position", 20), 0);
    EXPECT_EQ(end_value(made, s.subsystems[1].name + ".position", 20), 0);
}

TEST_F(new_scenarios, of_fmus_join_what_has_one_name) {
    // An ode out of which two FMUs are made: 'speed' of the one is what the other one takes.
    test::write_file(folder_ / "s.yaml", R"(time: {end: 1 s, step: 1 ms}
subsystems:
  giver: {ode: {states: {x: 1}, inputs: {knob: 0}, equations: {x: -x}, outputs: {level: {value: x, unit: K}, other: {value: 2*x, unit: V}}}}
  taker: {ode: {states: {z: 0}, inputs: {level: 0 K, odd: 0 V, loose: 0 A}, equations: {z: level}}}
)");
    const scenario s = load_scenario(folder_ / "s.yaml");
    std::vector<fs::path> files;
    for (const char* name : {"giver", "taker"}) {
        files.push_back(folder_ / (std::string(name) + ".fmu"));
        export_fmu(s, files.back(), fmi::version::v2, name);
    }
    const auto made = make_new_scenario(files, folder_ / "new");
    EXPECT_EQ(made.signals, 1);
    EXPECT_EQ(made.free_inputs, 3);
    EXPECT_THAT(made.text,
                AllOf(HasSubstr("fmu: \"../giver.fmu\""), HasSubstr("\n  - \"giver.level -> taker.level\"\n"),
                      HasSubstr("\n#  - \"giver.other -> taker.odd\"\n"), HasSubstr("#   taker.loose   0 A"),
                      HasSubstr("end: 1 s, step: 0.001 s")));
    // z' = x, x = exp(-t).
    EXPECT_NEAR(end_value(made, "taker.z", 1000), 1 - std::exp(-1), 1e-4);
}

TEST_F(new_scenarios, of_a_system_run_as_it_does) {
    test::write_file(
        folder_ / "s.ssd",
        R"(<ssd:SystemStructureDescription version="1.0" name="t" xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription" xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon">
<ssd:System name="s"><ssd:Elements>
<ssd:Component name="a" source=")" +
            (given / "oscillator-2.fmu").string() +
            R"("><ssd:Connectors><ssd:Connector name="position" kind="output"><ssc:Real/></ssd:Connector></ssd:Connectors></ssd:Component>
<ssd:Component name="b" source=")" +
            (given / "oscillator-3.fmu").string() +
            R"("><ssd:Connectors><ssd:Connector name="force" kind="input"><ssc:Real/></ssd:Connector></ssd:Connectors></ssd:Component>
</ssd:Elements><ssd:Connections><ssd:Connection startElement="a" startConnector="position" endElement="b" endConnector="force" suppressUnitConversion="true"/></ssd:Connections></ssd:System>
<ssd:DefaultExperiment stopTime="1"/></ssd:SystemStructureDescription>)");
    const auto made = make_new_scenario({folder_ / "s.ssd"}, folder_ / "new");
    EXPECT_EQ(made.subsystems, 2);
    EXPECT_EQ(made.signals, 1);
    simulation direct(load_scenario(folder_ / "s.ssd"), {.workers = 1});
    direct.set("a.x0", 0.01);
    direct.initialise();
    simulation copy(load_scenario(written(made)), {.workers = 1});
    copy.set("a.x0", 0.01);
    copy.initialise();
    for (int n = 0; n < 50; ++n) {
        direct.step();
        copy.step();
        ASSERT_EQ(copy.value("b.position"), direct.value("b.position")) << n;
    }
    EXPECT_NE(copy.value("b.position"), 0);
}

TEST_F(new_scenarios, of_nothing_are_two_masses) {
    const auto made = make_new_scenario({}, folder_ / "new");
    EXPECT_NE(end_value(made, "right.mass.position", 100), 0);
}

TEST_F(new_scenarios, of_other_files_are_refused) {
    EXPECT_THAT(refusal({folder_ / "x.csv"}),
                AllOf(HasSubstr("x.csv"), HasSubstr("from FMUs (.fmu) or from one system")));
    EXPECT_THAT(refusal({folder_ / "x.ssp", given / "decay-2.fmu"}), HasSubstr("a system stands alone"));
    EXPECT_THAT(refusal({folder_ / "x.fmu"}), HasSubstr("does not exist"));
}

}  // namespace
}  // namespace mdpcosim
