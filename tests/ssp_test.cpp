// Systems of SSP through the whole program: they run as the scenario that says the same, bit by bit; units, transformations and parameters arrive;
// what does not fit the FMUs is refused with its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "api/mdpcosim.hpp"
#include "archive/zip_reader.hpp"
#include "support/archives.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* head =
    R"(<ssd:SystemStructureDescription version="1.0" name="test" xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription" xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues">
<ssd:System name="s">
)";
constexpr const char* units = R"(<ssd:Units>
<ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit><ssc:Unit name="N"><ssc:BaseUnit kg="1" m="1" s="-2"/></ssc:Unit>
<ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit><ssc:Unit name="kN"><ssc:BaseUnit kg="1" m="1" s="-2" factor="1000"/></ssc:Unit>
</ssd:Units>
)";

std::string connector(const std::string& name, const std::string& kind, const std::string& type = "Real",
                      const std::string& unit = {}) {
    return "<ssd:Connector name=\"" + name + "\" kind=\"" + kind + "\"><ssc:" + type +
           (unit.empty() ? "" : " unit=\"" + unit + "\"") + "/></ssd:Connector>";
}
std::string component(const std::string& name, const std::string& fmu, const std::string& connectors,
                      const std::string& more = {}, const std::string& attributes = {}) {
    return "<ssd:Component name=\"" + name + "\" source=\"resources/" + fmu + ".fmu\" " + attributes +
           "><ssd:Connectors>" + connectors + "</ssd:Connectors>" + more + "</ssd:Component>\n";
}
std::string parameters(const std::string& all, const std::string& set_units = {}) {
    return "<ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues><ssv:ParameterSet version=\"1.0\" "
           "name=\"p\"><ssv:Parameters>" +
           all + "</ssv:Parameters>" + set_units +
           "</ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>";
}
std::string connection(const std::string& from, const std::string& to, const std::string& more = {},
                       const std::string& attributes = {}) {
    const auto split = [](const std::string& address) {
        return std::pair{address.substr(0, address.find('.')), address.substr(address.find('.') + 1)};
    };
    const auto [a, y] = split(from);
    const auto [b, u] = split(to);
    return "<ssd:Connection startElement=\"" + a + "\" startConnector=\"" + y + "\" endElement=\"" + b +
           "\" endConnector=\"" + u + "\" " + attributes + ">" + more + "</ssd:Connection>\n";
}

class ssp_system : public testing::Test {
   protected:
    static std::string fmu_bytes(const std::string& name) {
        return test::content(fs::path(MDPCOSIM_BINARY_DIR) / "fmus" / (name + ".fmu"));
    }

    /// s.ssp with the FMUs that the text names.
    fs::path pack(const std::string& elements, const std::string& connections,
                  const std::string& tail = "<ssd:DefaultExperiment startTime=\"0\" stopTime=\"1\"/>") {
        const std::string text =
            head + std::string("<ssd:Elements>\n") + elements + "</ssd:Elements>\n<ssd:Connections>\n" + connections +
            "</ssd:Connections>\n</ssd:System>\n" + units + tail + "</ssd:SystemStructureDescription>\n";
        std::vector<fmi::test_entry> entries{{"SystemStructure.ssd", text}};
        for (const auto& each : fs::directory_iterator(fs::path(MDPCOSIM_BINARY_DIR) / "fmus"))
            if (const std::string name = each.path().filename().string();
                name.ends_with(".fmu") && text.find("resources/" + name + "\"") != std::string::npos)
                entries.push_back({"resources/" + name, test::content(each.path())});
        test::write_file(folder_ / "s.ssp", fmi::zip_bytes(entries));
        return folder_ / "s.ssp";
    }

    static scenario load(const fs::path& path, const std::string& step = "10 ms") {
        return load_scenario(path, {{"time.step", step, "--step " + step}});
    }
    /// The signals as a scenario would write them.
    static std::vector<std::string> signals(const fs::path& path) {
        std::vector<std::string> all;
        std::istringstream lines(write_scenario(load(path)));
        for (std::string line; std::getline(lines, line);)
            if (line.find("->") != std::string::npos) all.push_back(line);
        return all;
    }
    static std::string problem(const fs::path& path) {
        try {
            check(load(path));
        } catch (const user_error& e) {
            return e.what();
        }
        return "nothing is wrong";
    }
    int run(const std::string& arguments) {
        const std::string command =
            "cd '" + folder_.path().string() + "' && '" + MDPCOSIM_PROGRAM "' " + arguments + " >out.txt 2>err.txt";
        const int status = std::system(command.c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    std::string text(const std::string& name) const { return test::content(folder_ / name); }

    test::temporary_folder folder_;
};

const std::string oscillator = connector("force", "input", "Real", "N") + connector("position", "output", "Real", "m");
const std::string decaying = connector("x", "output");

TEST_F(ssp_system, runs_as_the_scenario_that_says_the_same) {
    pack(component("first", "oscillator-2", oscillator,
                   parameters(R"(<ssv:Parameter name="m"><ssv:Real value="2"/></ssv:Parameter>)")) +
             component("second", "oscillator-2", oscillator, {}, "implementation=\"ModelExchange\""),
         connection("first.position", "second.force", "<ssc:LinearTransformation factor=\"-30\" offset=\"2\"/>",
                    "suppressUnitConversion=\"true\"") +
             connection("second.position", "first.force", {}, "suppressUnitConversion=\"true\""));
    const fs::path fmus = fs::path(MDPCOSIM_BINARY_DIR) / "fmus";
    test::write_file(
        folder_ / "same.yaml",
        "time: {end: 1, step: 10 ms}\nsubsystems:\n  first: {fmu: " + (fmus / "oscillator-2.fmu").string() +
            ", set: {m: 2}}\n  second: {fmu: " + (fmus / "oscillator-2.fmu").string() +
            ", interface: model-exchange}\nsignals:\n  - -30*first.position + 2 -> second.force\n"
            "  - 1 N/m*second.position -> first.force\n");
    ASSERT_EQ(run("run s.ssp --step '10 ms' --out a"), 0) << text("err.txt");
    ASSERT_EQ(run("run same.yaml --out b"), 0) << text("err.txt");
    EXPECT_EQ(text("a/results.csv"), text("b/results.csv"));
    EXPECT_GT(text("a/results.csv").size(), 5000u);
    // The run's own scenario names what is in the archive, and runs again.
    ASSERT_EQ(run("run a/scenario.yaml --out c"), 0) << text("err.txt");
    EXPECT_EQ(text("c/results.csv"), text("a/results.csv"));
    EXPECT_THAT(text("a/scenario.yaml"), HasSubstr("s.ssp/resources/oscillator-2.fmu"));
    // The same in processes of their own, and with --set.
    ASSERT_EQ(run("run s.ssp --step '10 ms' --transport processes --out d"), 0) << text("err.txt");
    EXPECT_EQ(text("d/results.csv"), text("a/results.csv"));
    ASSERT_EQ(run("run s.ssp --step '10 ms' --set first.m=3 --out e"), 0) << text("err.txt");
    EXPECT_NE(text("e/results.csv"), text("a/results.csv"));
}

TEST_F(ssp_system, check_shows_what_was_understood) {
    pack("<ssd:System name=\"in\"><ssd:Elements>" + component("mass", "oscillator-2", oscillator) +
             "</ssd:Elements></ssd:System>\n",
         "");
    ASSERT_EQ(run("check s.ssp --step 0.01"), 0) << text("err.txt");
    EXPECT_THAT(text("out.txt"),
                AllOf(HasSubstr("s.ssp: 0 s to 1 s"), HasSubstr("in_mass"),
                      HasSubstr("components and the names of their subsystems: 'in.mass' is 'in_mass'."),
                      HasSubstr("assumed, since s.ssp does not say it: method 'explicit'")));
}

TEST_F(ssp_system, units_and_transformations_arrive) {
    const auto with = [&](const std::string& from, const std::string& to, const std::string& more,
                          const std::string& attributes = {}) {
        const std::string between = "<ssd:SignalDictionaryReference name=\"bus\" dictionary=\"d\"><ssd:Connectors>" +
                                    connector("x", "inout", "Real", from) + connector("F", "inout", "Real", to) +
                                    "</ssd:Connectors></ssd:SignalDictionaryReference>\n";
        pack(component("a", "oscillator-2", oscillator) + component("b", "oscillator-2", oscillator) + between,
             connection("a.position", "bus.x") + connection("bus.x", "b.force", more, attributes));
        return folder_ / "s.ssp";
    };
    // The dictionary is missing from these: the place is told.
    EXPECT_THAT(problem(with("mm", "N", {})), HasSubstr("signal dictionary 'd' does not exist"));

    const auto plain = [&](const std::string& more, const std::string& attributes) {
        return signals(pack(
            component("a", "oscillator-2", oscillator) + component("b", "oscillator-2", connector("force", "input")),
            connection("a.position", "b.force", more, attributes)));
    };
    EXPECT_THAT(problem(pack(component("a", "oscillator-2", oscillator) + component("b", "oscillator-2", oscillator),
                             connection("a.position", "b.force"))),
                AllOf(HasSubstr("s.ssp/SystemStructure.ssd:8:"),
                      HasSubstr("connection of 'a.position' to 'b.force': 'm' does not fit 'N'"),
                      HasSubstr("suppressUnitConversion")));
    EXPECT_THAT(plain("<ssc:LinearTransformation factor=\"3\" offset=\"-1.5\"/>", "suppressUnitConversion=\"true\""),
                Contains(HasSubstr("3*a.position + -1.5 -> b.force")));
    // A system's connector in mm and kN: the number is that of mm when it becomes one of kN.
    const std::string inner =
        "<ssd:System name=\"in\"><ssd:Connectors>" + connector("x", "input", "Real", "mm") +
        "</ssd:Connectors><ssd:Elements>" + component("b", "oscillator-2", oscillator) +
        "</ssd:Elements><ssd:Connections><ssd:Connection startConnector=\"x\" endElement=\"b\" endConnector=\"force\" "
        "suppressUnitConversion=\"true\"/></ssd:Connections></ssd:System>\n";
    EXPECT_THAT(signals(pack(component("a", "oscillator-2", oscillator) + inner, connection("a.position", "in.x"))),
                Contains(HasSubstr("1000*a.position -> in_b.force")));
    EXPECT_THAT(
        signals(pack(component("a", "oscillator-2", oscillator) + inner,
                     connection("a.position", "in.x", "<ssc:LinearTransformation factor=\"2\" offset=\"5\"/>"))),
        Contains(HasSubstr("2000*a.position + 5 -> in_b.force")));
}

TEST_F(ssp_system, booleans_are_mapped) {
    const std::string both =
        connector("boolean_in", "input", "Boolean") + connector("boolean_out", "output", "Boolean");
    const auto mapped = [&](const std::string& entries) {
        return signals(
            pack(component("a", "feedthrough-2", both) + component("b", "feedthrough-2", both),
                 connection("a.boolean_out", "b.boolean_in",
                            "<ssc:BooleanMappingTransformation>" + entries + "</ssc:BooleanMappingTransformation>")));
    };
    EXPECT_THAT(mapped(R"(<ssc:MapEntry source="true" target="false"/><ssc:MapEntry source="false" target="true"/>)"),
                Contains(HasSubstr("-1*a.boolean_out + 1 -> b.boolean_in")));
}

TEST_F(ssp_system, parameters_arrive_in_the_units_of_the_fmu) {
    const std::string set =
        R"(<ssv:Parameter name="m"><ssv:Real value="2500" unit="g"/></ssv:Parameter><ssv:Parameter name="c"><ssv:Real value="80"/></ssv:Parameter>)";
    const std::string gram =
        R"(<ssv:Units><ssc:Unit name="g"><ssc:BaseUnit kg="1" factor="0.001"/></ssc:Unit></ssv:Units>)";
    pack(component("a", "oscillator-2", oscillator, parameters(set, gram)), "");
    ASSERT_EQ(run("check s.ssp --step 0.01"), 0) << text("err.txt");
    EXPECT_THAT(text("out.txt"), AllOf(HasSubstr("2.5"), HasSubstr("80")));
    const std::string wrong =
        R"(<ssv:Units><ssc:Unit name="g"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit></ssv:Units>)";
    EXPECT_THAT(
        problem(pack(component("a", "oscillator-2", oscillator, parameters(set, wrong)), "")),
        AllOf(HasSubstr("SystemStructure.ssd:4:"), HasSubstr("component 'a': parameter 'm': 'm' does not fit 'kg'")));
    EXPECT_THAT(
        problem(pack(component("a", "oscillator-2", oscillator,
                               parameters(R"(<ssv:Parameter name="m"><ssv:String value="x"/></ssv:Parameter>)")),
                     "")),
        HasSubstr("a String is given, but the variable of the FMU oscillator-2.fmu is a Float64"));
    EXPECT_THAT(problem(pack(component("a", "oscillator-2", oscillator,
                                       parameters(R"(<ssv:Parameter name="mm"><ssv:Real value="1"/></ssv:Parameter>)")),
                             "")),
                HasSubstr("parameter 'mm' does not exist"));
}

TEST_F(ssp_system, an_annotation_says_how_it_is_run) {
    const std::string said =
        R"(<ssd:DefaultExperiment stopTime="1"/><ssd:Annotations><ssc:Annotation type="org.other"><x/></ssc:Annotation>
<ssc:Annotation type="org.mdpcosim"><mdpcosim>
time: {step: 5 ms}
method: explicit
subsystems:
  b: {input-degree: 0}
connections:
  spring: {law: spring, between: [a.body, b.body], stiffness: 100 N/m}
</mdpcosim></ssc:Annotation></ssd:Annotations>)";
    const std::string port =
        "<ssd:Annotations><ssc:Annotation type=\"org.mdpcosim\">ports: {body: {kind: translation, position: position, "
        "velocity: velocity, force: force}}</ssc:Annotation></ssd:Annotations>";
    const scenario s = load_scenario(pack(
        component("a", "oscillator-2", oscillator, port) + component("b", "oscillator-2", oscillator, port), "", said));
    EXPECT_EQ(s.time.step, 0.005);
    ASSERT_EQ(s.connections.size(), 1u);
    EXPECT_EQ(s.subsystems[1].input_degree, 0);
    EXPECT_THAT(s.notes, testing::IsEmpty());
    ASSERT_EQ(run("run s.ssp"), 0) << text("err.txt");

    std::string wrong = said;
    wrong.replace(wrong.find("stiffness"), 9, "stifness");
    pack(component("a", "oscillator-2", oscillator, port) + component("b", "oscillator-2", oscillator, port), "",
         wrong);
    EXPECT_EQ(run("run s.ssp"), 2);
    EXPECT_THAT(text("err.txt"), AllOf(HasSubstr("s.ssp/SystemStructure.ssd:21:52:"), HasSubstr("stifness"),
                                       HasSubstr("Did you mean 'stiffness'?")));
}

TEST_F(ssp_system, an_annotation_starts_no_code_of_this_machine) {
    for (const std::string key : {"program", "plugin", "include"}) {
        pack(component("a", "oscillator-2", oscillator), "",
             "<ssd:DefaultExperiment stopTime=\"1\"/><ssd:Annotations><ssc:Annotation "
             "type=\"org.mdpcosim\">\nsubsystems:\n  other: {" +
                 key + ": ../other}\n</ssc:Annotation></ssd:Annotations>");
        EXPECT_EQ(run("check s.ssp --step 0.01"), 2);
        EXPECT_THAT(text("err.txt"), HasSubstr("subsystem 'other': '" + key + "' cannot stand here."));
    }
}

TEST_F(ssp_system, what_nobody_says_is_asked_for) {
    const std::string one = component("a", "only-equations-2", decaying);
    pack(one, "", "");
    EXPECT_EQ(run("run s.ssp --step 0.1"), 2);
    EXPECT_THAT(text("err.txt"), HasSubstr("it says no stop time in its default experiment. Give one: --end 10."));
    EXPECT_EQ(run("check s.ssp --end 1"), 0) << text("err.txt");
    EXPECT_THAT(
        text("out.txt"),
        HasSubstr(
            "macro step 0.1 s, the shortest one that a default experiment of its FMUs names (only-equations-2.fmu)"));
    test::write_file(
        folder_ / "only.ssd",
        std::string(head) +
            R"(<ssd:Elements><ssd:Component name="in" source="in.csv"/></ssd:Elements></ssd:System></ssd:SystemStructureDescription>)");
    test::write_file(folder_ / "in.csv", "time,x\n0,1\n1,2\n");
    EXPECT_EQ(run("run only.ssd --end 1"), 2);
    EXPECT_THAT(text("err.txt"),
                HasSubstr("it says no macro step, and no default experiment of its FMUs does. Give one: --step 0.01."));
}

TEST_F(ssp_system, what_does_not_fit_the_fmus) {
    const auto a = [&](const std::string& connectors, const std::string& attributes = {},
                       const std::string& fmu = "oscillator-2") {
        return problem(pack(component("a", fmu, connectors, {}, attributes), ""));
    };
    EXPECT_THAT(a(connector("postion", "output")),
                AllOf(HasSubstr("SystemStructure.ssd:4:"),
                      HasSubstr("component 'a': variable 'postion' does not exist. FMU oscillator-2.fmu has:"),
                      HasSubstr("Did you mean 'position'?")));
    EXPECT_THAT(a(connector("position", "output", "Boolean")),
                HasSubstr("connector 'position' is of type Boolean, but the variable"));
    EXPECT_THAT(a(connector("position", "output", "Real", "mm")),
                HasSubstr("has the unit 'mm', but the variable of the FMU oscillator-2.fmu is in 'm'"));
    EXPECT_THAT(a(connector("position", "input")),
                HasSubstr("connector 'position' is an input here, but an output of the FMU"));
    EXPECT_THAT(a(oscillator, "implementation=\"ScheduledExecution\""),
                HasSubstr("scheduled execution is not supported"));
    EXPECT_THAT(a(decaying, "implementation=\"CoSimulation\"", "only-equations-2"), HasSubstr("co-simulation"));
    EXPECT_THAT(a(oscillator, "type=\"text/x-modelica\""), HasSubstr("the type 'text/x-modelica' cannot be simulated"));
    EXPECT_THAT(a(oscillator, {}, "none"), AllOf(HasSubstr("SystemStructure.ssd:4:"), HasSubstr("component 'a'"),
                                                 HasSubstr("it has no file 'resources/none.fmu'")));
    EXPECT_THAT(problem(pack("<ssd:Component name=\"a\"/>", "")), HasSubstr("component 'a': it has no source"));
    EXPECT_THAT(problem(pack("", "")), HasSubstr("the system has no components"));
}

TEST_F(ssp_system, a_description_by_itself_with_its_files_beside_it) {
    fs::create_directory(folder_ / "resources");
    fs::copy_file(fs::path(MDPCOSIM_BINARY_DIR) / "fmus/oscillator-2.fmu", folder_ / "resources/oscillator-2.fmu");
    test::write_file(folder_ / "resources/drive.csv", "time,push\n0,1\n1,3\n");
    const std::string table =
        "<ssd:Component name=\"in\" type=\"text/csv\" source=\"resources/drive.csv\"><ssd:Connectors>" +
        connector("push", "output") + "</ssd:Connectors></ssd:Component>\n";
    test::write_file(folder_ / "s.ssd", head + std::string("<ssd:Elements>\n") +
                                            component("a", "oscillator-2", oscillator) + table +
                                            "</ssd:Elements>\n<ssd:Connections>" + connection("in.push", "a.force") +
                                            "</ssd:Connections></ssd:System>\n" + units +
                                            "<ssd:DefaultExperiment stopTime=\"1\"/></ssd:SystemStructureDescription>");
    ASSERT_EQ(run("run s.ssd --step 0.01"), 0) << text("err.txt");
    EXPECT_THAT(text("s.out/results.csv"), HasSubstr("a.position"));
    EXPECT_EQ(signals(folder_ / "s.ssd").size(), 1u);
}

// Out

class ssp_export : public ssp_system {
   protected:
    static std::string fmu(const std::string& name) {
        return (fs::path(MDPCOSIM_BINARY_DIR) / "fmus" / (name + ".fmu")).string();
    }

    /// The scenario, and what is read back from its SSP, give the same results; gives the SSD.
    std::string there_and_back(const std::string& yaml, const std::string& options = {}) {
        test::write_file(folder_ / "a.yaml", yaml);
        EXPECT_EQ(run("export ssp a.yaml --out a.ssp " + options), 0) << text("err.txt");
        told_ = text("out.txt");
        EXPECT_EQ(run("run a.yaml --out before"), 0) << text("err.txt");
        EXPECT_EQ(run("run a.ssp --out after"), 0) << text("err.txt");
        EXPECT_GT(text("before/results.csv").size(), 1000u);
        EXPECT_EQ(text("after/results.csv"), text("before/results.csv"));
        // In, out, in again.
        EXPECT_EQ(run("export ssp a.ssp --out b.ssp " + options), 0) << text("err.txt");
        EXPECT_EQ(run("run b.ssp --out again"), 0) << text("err.txt");
        EXPECT_EQ(text("again/results.csv"), text("before/results.csv"));
        return archive::zip_reader(folder_ / "a.ssp", {}).text(0, 1 << 20);
    }
    std::string refusal(const std::string& yaml, const std::string& options = {}) {
        test::write_file(folder_ / "a.yaml", yaml);
        EXPECT_EQ(run("export ssp a.yaml --out refused.ssp " + options), 2);
        EXPECT_FALSE(fs::exists(folder_ / "refused.ssp"));
        return text("err.txt");
    }

    std::string told_;  // what the export said
};

TEST_F(ssp_export, signals_parameters_and_recorded_data) {
    test::write_file(folder_ / "drive.csv", "time,push [kN],plain\n0,0.001,1\n0.5,0.003,2\n1,0.002,1\n");
    const std::string text = there_and_back(
        "time: {end: 1 s, step: 10 ms}\nmethod: explicit\nsubsystems:\n  first: {fmu: '" + fmu("oscillator-2") +
        "', set: {m: 2300 g, c: 81 N/m}, input-degree: 0}\n  drive: {file: drive.csv}\n  second: {fmu: '" +
        fmu("oscillator-2") + "', interface: model-exchange, solver: {name: erk-5, rtol: 1e-7}}\n  third: {fmu: '" +
        fmu("mover-in-mm-3") +
        "'}\nsignals:\n  - drive.push -> first.force\n  - {connect: 0.1*drive.plain + 0.3 -> second.force, "
        "extrapolation: poly-1}\n"
        "  - 3 N/m*first.position -> third.force\nrecord: {every: 20 ms}\n");
    EXPECT_THAT(
        text,
        AllOf(
            HasSubstr("<ssd:Component name=\"first\" type=\"application/x-fmu-sharedlibrary\" "
                      "source=\"resources/oscillator-2.fmu\" "
                      "implementation=\"CoSimulation\">"),
            HasSubstr("<ssv:Parameter name=\"m\">"), HasSubstr("value=\"2.3\" unit=\"kg\""),
            HasSubstr("type=\"text/csv\" source=\"resources/drive.csv\""),
            HasSubstr("startElement=\"first\" startConnector=\"position\" endElement=\"third\" endConnector=\"force\""),
            HasSubstr("<ssd:DefaultExperiment startTime=\"0\" stopTime=\"1\" />"), HasSubstr("step: 0.01 s")));
    EXPECT_THAT(text, Not(HasSubstr("drive.push ->")));
}

TEST_F(ssp_export, values_of_every_type) {
    const std::string text = there_and_back(
        "time: {end: 1 s, step: 10 ms}\nsubsystems:\n  a: {fmu: '" + fmu("feedthrough-2") +
        "', set: {boolean_in: true, int32_in: 7, enumeration_in: high, text: 'x & \"y\" <z>'}}\n  b: {fmu: '" +
        fmu("feedthrough-2") + "'}\nsignals: [a.boolean_out -> b.boolean_in]\n");
    EXPECT_THAT(text, AllOf(HasSubstr("<ssv:Boolean value=\"true\""), HasSubstr("<ssv:Integer value=\"7\""),
                            HasSubstr("<ssv:Enumeration value=\"high\"")));
}

TEST_F(ssp_export, what_others_would_not_see_needs_a_word) {
    const std::string yaml =
        "time: {end: 1 s, step: 1 ms}\nsubsystems:\n  a: {fmu: '" + fmu("oscillator-2") +
        "', ports: {body: {kind: translation, position: position, velocity: velocity, force: force}}}\n"
        "  b: {model: mass-spring-damper, set: {mass: 1, stiffness: 50, damping: 1}}\n"
        "connections:\n  link: {law: spring, between: [a.body, b.mass], stiffness: 40 N/m}\n";
    EXPECT_THAT(refusal(yaml), AllOf(HasSubstr("model 'mass-spring-damper' (subsystem 'b')"),
                                     HasSubstr("law 'spring' (connection 'link')"), HasSubstr("--annotated")));
    const std::string text = there_and_back(yaml, "--annotated");
    EXPECT_THAT(text,
                AllOf(HasSubstr("version=\"2.0\""), HasSubstr("<ssd:Component name=\"b\">"), HasSubstr("law: spring")));
    EXPECT_THAT(told_, HasSubstr("note: other tools do not see model 'mass-spring-damper'"));
    EXPECT_THAT(
        refusal("time: {end: 1 s, step: 1 ms}\nsubsystems:\n  p: {program: ./none}\n", "--annotated"),
        AllOf(HasSubstr("a.yaml:3:"), HasSubstr("subsystem 'p': a program of this machine cannot go into an SSP")));
}

TEST_F(ssp_export, signals_keep_their_places) {
    const std::string one = "{fmu: '" + fmu("oscillator-2") + "'}\n";
    there_and_back("time: {end: 1 s, step: 10 ms}\nsubsystems:\n  a: " + one + "  b: " + one + "  c: " + one +
                       "signals:\n  - 2*a.position + 3*b.position + 1 -> c.force\n  - {connect: 5*c.position -> "
                       "a.force, name: back}\n  - 2 -> b.force\n",
                   "--annotated");
    const scenario back = load_scenario(folder_ / "b.ssp");
    ASSERT_EQ(back.signals.size(), 3u);
    EXPECT_EQ(back.signals[0].terms.size(), 2u);
    EXPECT_EQ(back.signals[1].name, "back");
}

TEST_F(ssp_export, nothing_is_overwritten) {
    test::write_file(folder_ / "a.yaml",
                     "time: {end: 1 s, step: 10 ms}\nsubsystems: {a: {fmu: '" + fmu("oscillator-2") + "'}}\n");
    EXPECT_EQ(run("export ssp a.yaml --out a.yaml"), 2);
    EXPECT_THAT(text("err.txt"), HasSubstr("the name of an SSP ends with .ssp"));
    test::write_file(folder_ / "note.ssp", "my notes");
    EXPECT_EQ(run("export ssp a.yaml --out note.ssp"), 2);
    EXPECT_EQ(text("note.ssp"), "my notes");
    ASSERT_EQ(run("export ssp a.yaml"), 0) << text("err.txt");
    const std::string first = text("a.ssp");
    ASSERT_EQ(run("export ssp a.yaml"), 0) << text("err.txt");
    EXPECT_EQ(text("a.ssp"), first);
    EXPECT_EQ(run("export ssp a.ssp"), 2);
    EXPECT_THAT(text("err.txt"), HasSubstr("a.ssp: this is a file of the scenario"));
    EXPECT_EQ(text("a.ssp"), first);
    EXPECT_EQ(run("export ssp a.yaml --out none/a.ssp"), 1);
}

}  // namespace
}  // namespace mdpcosim
