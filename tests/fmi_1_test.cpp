// FMUs of FMI 1.0 through the whole program: the values of the same models in 2.0, alone, driven, coupled and in processes of
// their own; what info, check and validate say of them; what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "fmi/test/descriptions.hpp"
#include "support/archives.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

std::string fmu(const std::string& name) { return (fs::path(MDPCOSIM_BINARY_DIR) / "fmus" / (name + ".fmu")).string(); }

class fmi_1 : public testing::Test {
   protected:
    fs::path path(const std::string& name) const { return folder_.path() / name; }
    std::string content(const std::string& name) const { return test::content(path(name)); }

    /// Standard output and error together; `status` is what is expected.
    std::string run(const std::string& arguments, int status = 0) {
        const std::string command =
            "cd '" + folder_.path().string() + "' && '" MDPCOSIM_PROGRAM "' " + arguments + " >told.txt 2>&1";
        const int result = std::system(command.c_str());
        EXPECT_EQ(WIFEXITED(result) ? WEXITSTATUS(result) : -1, status) << arguments << "\n" << content("told.txt");
        return content("told.txt");
    }

    std::vector<std::vector<std::string>> rows(const std::string& folder) const {
        std::vector<std::vector<std::string>> table(1);
        for (const char c : content(folder + "/results.csv")) {
            if (c == '\n') {
                table.emplace_back();
                continue;
            }
            if (table.back().empty() || c == ',') table.back().emplace_back();
            if (c != ',') table.back().back() += c;
        }
        table.pop_back();
        return table;
    }

    /// The columns of results.csv that the first has, row for row.
    void expect_equal_results(const std::string& a, const std::string& b) {
        const auto left = rows(a), right = rows(b);
        ASSERT_EQ(left.size(), right.size());
        ASSERT_GT(left.size(), 10u);
        std::size_t common = 0;
        for (std::size_t i = 0; i < left[0].size(); ++i) {
            const auto found = std::find(right[0].begin(), right[0].end(), left[0][i]);
            ASSERT_NE(found, right[0].end()) << left[0][i];
            const auto k = static_cast<std::size_t>(found - right[0].begin());
            for (std::size_t n = 0; n < left.size(); ++n)
                ASSERT_EQ(left[n][i], right[n][k]) << left[0][i] << " row " << n;
            ++common;
        }
        EXPECT_GE(common, 2u);
    }

    test::temporary_folder folder_;
};

TEST_F(fmi_1, runs_give_the_values_of_2) {
    for (const char* name : {"oscillator", "plain-oscillator", "decay", "bouncing-ball", "stairs", "sawtooth"})
        for (const bool exchange : {false, true}) {
            SCOPED_TRACE(std::string(name) + (exchange ? ", model exchange" : ", co-simulation"));
            const std::string set = std::string(name).ends_with("oscillator") ? " --set x0=0.3 --set d=2" : "";
            const std::string options = " --quiet --end 0.9 --step 0.01" + set;
            run("run '" + fmu(std::string(name) + (exchange ? "-1-me" : "-1-cs")) + "' --out one" + options);
            run("run '" + fmu(std::string(name) + "-2") +
                "' --out two --set interface=" + (exchange ? "model-exchange" : "co-simulation") + options);
            expect_equal_results("one", "two");
        }
}

TEST_F(fmi_1, who_says_nothing_about_events_at_the_start_is_asked) {
    run("run '" + fmu("silent-stairs-1-me") + "' --quiet --end 0.9 --step 0.05 --fmi-log --out silent");
    run("run '" + fmu("stairs-1-me") + "' --quiet --end 0.9 --step 0.05 --out one");
    const auto silent = rows("silent"), one = rows("one");
    ASSERT_EQ(silent.size(), one.size());
    for (std::size_t n = 1; n < one.size(); ++n) EXPECT_EQ(silent[n], one[n]);
    EXPECT_EQ(silent.back()[1], "9");  // an event every 0.1 s
    const std::string log = content("silent/fmi.log");
    EXPECT_THAT(log, AllOf(HasSubstr("fmiInitialize(tolerance 0) gives (nothing) -> ok"),
                           HasSubstr("\n0 silent_stairs (silent-stairs-1-me.fmu): fmiEventUpdate() gives (converged 1, "
                                     "terminate 0, next event 0.1) -> ok")));
}

TEST_F(fmi_1, the_one_initialisation_has_the_inputs_that_others_give) {
    test::write_file(path("in.csv"), "time,force\n0,5\n1,7\n");
    for (const bool steps : {true, false}) {
        const std::string initialise = steps ? "fmiInitializeSlave" : "fmiInitialize(";
        run("run '" + fmu(steps ? "plain-oscillator-1-cs" : "plain-oscillator-1-me") +
            "' --input in.csv --fmi-log --quiet --end 0.5 --step 0.1 --out one");
        run("run '" + fmu("plain-oscillator-2") + "' --input in.csv --quiet --end 0.5 --step 0.1 --out two" +
            (steps ? "" : " --set interface=model-exchange"));
        EXPECT_EQ(content("one/results.csv"), content("two/results.csv"));
        const std::string log = content("one/fmi.log");
        const std::size_t set = log.find("fmiSetReal([1], [5]) -> ok"), start = log.find(initialise);
        ASSERT_NE(set, std::string::npos) << log;
        ASSERT_NE(start, std::string::npos) << log;
        EXPECT_LT(set, start);
        EXPECT_EQ(log.find(initialise, start + 1), std::string::npos);
        EXPECT_GT(log.find("fmiGetReal"), start);
        EXPECT_THAT(log, AllOf(HasSubstr(steps ? "fmiTerminateSlave() -> ok" : "fmiTerminate() -> ok"),
                               HasSubstr(steps ? "fmiFreeSlaveInstance" : "fmiFreeModelInstance")));
    }
}

TEST_F(fmi_1, a_boolean_is_a_number_in_the_trace) {
    run("run '" + fmu("feedthrough-1-cs") + "' --set boolean_in=true --fmi-log --quiet --end 0.1 --step 0.1 --out one");
    const std::string log = content("one/fmi.log");
    EXPECT_THAT(log,
                AllOf(HasSubstr("fmiSetBoolean([7], [1]) -> ok"), HasSubstr("fmiGetBoolean([8]) gives ([1]) -> ok")));
    EXPECT_TRUE(std::ranges::all_of(log, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

std::string two_masses(const std::string& version, const std::string& more) {
    const auto mass = [&](const char* x0) {
        return "{fmu: '" + fmu(version) + "', set: {m: 1 kg, c: 0 N/m, x0: " + x0 +
               "}, ports: {mass: {kind: translation, position: position, velocity: velocity, force: force}}" + more +
               "}\n";
    };
    return "time: {end: 0.1 s, step: 1 ms}\nsubsystems:\n  A: " + mass("10 mm") + "  B: " + mass("0 m") +
           "connections:\n  spring: {law: spring, between: [A.mass, B.mass], stiffness: 200 N/m}\n";
}

TEST_F(fmi_1, coupled_fmus_give_the_values_of_2_wherever_they_run) {
    for (const std::string name : {"oscillator", "plain-oscillator"}) {
        test::write_file(path("two.yaml"), two_masses(name + "-2", ""));
        test::write_file(path("one.yaml"), two_masses(name + "-1-cs", ""));
        test::write_file(path("apart.yaml"), two_masses(name + "-1-cs", ", isolate: true"));
        // What they offer is not the same: 2.0 has rates of positions, so the extrapolation is given.
        const std::string rule = " --quiet --extrapolation poly-1";
        run("run two.yaml --out two" + rule);
        run("run one.yaml --out one" + rule);
        run("run one.yaml --out far --transport processes" + rule);
        run("run apart.yaml --out apart" + rule);
        expect_equal_results("one", "two");
        expect_equal_results("far", "two");
        expect_equal_results("apart", "two");
    }
    EXPECT_THAT(run("check one.yaml"), AllOf(HasSubstr("(FMI 1.0 co-simulation)"), HasSubstr("A.mass")));
}

TEST_F(fmi_1, one_pass_takes_them_as_it_takes_plain_fmus) {
    // Two free masses of 1 kg on a spring of 200 N/m: x = 5 mm (1 + cos(20/s t)). 2.0 says which output is the derivative of
    // which, 1.0 does not, so the values are not the same bits; the error is.
    for (const char* name : {"plain-oscillator-1-cs", "plain-oscillator-2"}) {
        test::write_file(path("one.yaml"), two_masses(name, ""));
        run("run one.yaml --quiet --method one-pass --out one");
        const auto table = rows("one");
        ASSERT_EQ(table[0][1], "A.position");
        ASSERT_GT(table.size(), 100u);
        for (std::size_t n = 1; n < table.size(); ++n)
            ASSERT_NEAR(std::stod(table[n][1]), 0.005 * (1 + std::cos(20 * std::stod(table[n][0]))), 2e-7) << name;
    }
    test::write_file(path("one.yaml"), two_masses("plain-oscillator-1-cs", ""));
    const std::string refused = run("run one.yaml --quiet --method iterated --out no", 2);
    EXPECT_THAT(refused, HasSubstr("FMI 1.0, which has no way to get and set its state"));
}

TEST_F(fmi_1, equations_are_integrated_as_one_system) {
    test::write_file(path("one.yaml"), two_masses("oscillator-1-me", ""));
    test::write_file(path("two.yaml"), two_masses("oscillator-2", ", interface: model-exchange"));
    run("run one.yaml --quiet --monolithic --out one");
    run("run two.yaml --quiet --monolithic --out two");
    expect_equal_results("one", "two");
}

TEST_F(fmi_1, info_and_validate) {
    EXPECT_THAT(run("fmu info '" + fmu("oscillator-1-me") + "'"),
                AllOf(HasSubstr("FMI 1.0, model 'oscillator'"), HasSubstr("interface model-exchange"),
                      HasSubstr("2 states, 0 event indicators"), HasSubstr("linux64")));
    EXPECT_THAT(run("fmu info '" + fmu("plain-oscillator-1-cs") + "'"),
                AllOf(HasSubstr("all as held values (degree 0)"), HasSubstr("save/restore        no")));
    for (const char* name : {"oscillator", "bouncing-ball", "feedthrough", "stairs"})
        for (const char* kind : {"-1-cs", "-1-me"})
            EXPECT_THAT(run("fmu validate '" + fmu(std::string(name) + kind) + "'"), HasSubstr(": valid\n"));
    EXPECT_THAT(run("fmu validate '" + fmu("missing-function-1-cs") + "'", 1), HasSubstr("missing_function_fmiDoStep"));
}

TEST_F(fmi_1, an_fmu_that_is_coupled_to_a_tool_is_refused_with_the_way_out) {
    std::string xml = fmi::good_1;
    const std::size_t from = xml.find("<CoSimulation_StandAlone>"), to = xml.find("  </Implementation>");
    xml.replace(from, to - from, "<CoSimulation_Tool><Model entryPoint=\"a.sh\" type=\"x/y\"/></CoSimulation_Tool>\n");
    test::write_file(path("tool.fmu"), fmi::zip_bytes({{"modelDescription.xml", xml}}));
    test::write_file(path("s.yaml"), "time: {end: 1 s, step: 10 ms}\nsubsystems:\n  pump: {fmu: tool.fmu}\n");
    const auto told = AllOf(HasSubstr("tool.fmu': modelDescription.xml, line 33: it needs the tool that made it"),
                            HasSubstr("Export it as stand-alone co-simulation"));
    for (const char* command : {"run tool.fmu --end 1", "check tool.fmu --end 1", "fmu info tool.fmu"})
        EXPECT_THAT(run(command, 2), told) << command;
    EXPECT_THAT(run("run s.yaml", 2), AllOf(HasSubstr("s.yaml:3:"), told));
}

TEST_F(fmi_1, the_other_interface_is_not_there) {
    EXPECT_THAT(run("run '" + fmu("decay-1-cs") + "' --set interface=model-exchange", 2),
                HasSubstr("does not offer model-exchange. It offers: co-simulation"));
}

TEST_F(fmi_1, a_failing_call_is_named) {
    const std::string told = run("run '" + fmu("misbehave-1-cs") +
                                     "' --quiet --end 1 --step 0.1 --set where=step --set how=error --set when=0.3",
                                 1);
    EXPECT_THAT(told, AllOf(HasSubstr("fmiDoStep returned error. The FMU says: 'as commanded'"), HasSubstr("t = 0.3")));
}

}  // namespace
}  // namespace mdpcosim
