// What a user is told about an FMU: missing binaries, event mode that it refuses, ports that move against their load, stiffness; and its display
// units in results.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "fmi/archive.hpp"
#include "scenario/read.hpp"
#include "simulation/check.hpp"
#include "simulation/simulation.hpp"
#include "support/archives.hpp"
#include "support/row_list.hpp"
#include "support/temporary_folder.hpp"
#include "support/told_messages.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const fs::path fmus = fs::path(MDPCOSIM_BINARY_DIR) / "fmus";

class fmu_advice : public testing::Test {
   protected:
    int run(const std::string& arguments) {
        const std::string command =
            "cd '" + folder_.path().string() + "' && '" + MDPCOSIM_PROGRAM "' " + arguments + " >out.txt 2>err.txt";
        const int status = std::system(command.c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    std::string content(const std::string& name) const { return test::content(folder_ / name); }
    void write(const std::string& name, const std::string& text) { test::write_file(folder_ / name, text); }

    /// The description of `decay` in an archive with other files.
    void write_archive(const std::string& version, std::vector<fmi::test_entry> entries) {
        entries.insert(entries.begin(),
                       {"modelDescription.xml", test::content(fmus / ("decay-" + version) / "modelDescription.xml")});
        write("x.fmu", fmi::zip_bytes(entries));
    }

    test::temporary_folder folder_;
};

TEST_F(fmu_advice, an_fmu_for_other_platforms_names_them_and_its_sources) {
    for (const std::string version : {"2", "3"}) {
        const std::string own = fmi::platform_name(version == "2" ? fmi::version::v2 : fmi::version::v3);
        write_archive(version, {{"binaries/win64/decay.dll", "MZ"}, {"binaries/darwin64/decay.dylib", "?"}});
        EXPECT_EQ(run("run x.fmu"), 2);
        EXPECT_THAT(content("err.txt"), AllOf(HasSubstr("has no library for this platform, " + own),
                                              HasSubstr("It has: darwin64, win64."), Not(HasSubstr("sources"))));
        write_archive(version, {{"binaries/win64/decay.dll", "MZ"}, {"sources/decay.c", "int x;"}});
        EXPECT_EQ(run("run x.fmu"), 2);
        EXPECT_THAT(content("err.txt"), AllOf(HasSubstr("It has: win64."), HasSubstr("Or build its sources"),
                                              HasSubstr("binaries/" + own + "/decay.so")));
        write_archive(version, {{"sources/decay.c", "int x;"}});
        EXPECT_EQ(run("run x.fmu"), 2);
        EXPECT_THAT(content("err.txt"), AllOf(HasSubstr("has no binaries, only sources"),
                                              HasSubstr("library for " + own), HasSubstr("Or build its sources")));
    }
}

TEST_F(fmu_advice, event_mode_that_is_refused_is_done_without) {
    const test::told_messages told;
    simulation s(read_scenario_text(fmt::format("time: {{end: 1 s, step: 0.05 s}}\nsubsystems:\n  f: {{fmu: {}}}\n",
                                                (fmus / "refusing-stairs-3.fmu").string()),
                                    "s.yaml"),
                 {.workers = 1});
    EXPECT_THAT(told.text(), AllOf(HasSubstr("subsystem 'f' (fmu refusing-stairs-3.fmu): it offers an event mode"),
                                   HasSubstr("gives no instance")));
    s.initialise();
    s.advance_to(0.95);
    EXPECT_EQ(s.value("f.count"), 9);
}

TEST_F(fmu_advice, ports_that_move_against_their_load_are_told_before_the_run) {
    const auto write_coupled = [&](const std::string& mass, const std::string& force) {
        write("s.yaml",
              fmt::format(
                  "time: {{end: 0.1 s, step: 1 ms}}\nsubsystems:\n  a: {{fmu: {}, set: {{m: {}}}, ports: {{p: {{kind: "
                  "translation, position: position, velocity: velocity,\n      force: {}}}}}}}\n"
                  "  b: {{model: mass-spring-damper}}\nconnections:\n"
                  "  c: {{law: spring, between: [a.p, b.mass], stiffness: 10 N/m}}\n",
                  (fmus / "oscillator-2.fmu").string(), mass, force));
    };
    write_coupled("-1 kg", "force");
    EXPECT_THAT(run("run s.yaml --no-verify"), testing::AnyOf(0, 3));
    EXPECT_THAT(content("err.txt"),
                testing::AllOf(HasSubstr("port 'a.p' moves against its load"), HasSubstr("('force: -F'), s.yaml:3:")));
    for (const auto& [mass, force] : {std::pair("1 kg", "force"), std::pair("-1 kg", "-force")}) {
        write_coupled(mass, force);
        EXPECT_THAT(run("run s.yaml --no-verify"), testing::AnyOf(0, 3));
        EXPECT_THAT(content("err.txt"), Not(HasSubstr("moves against its load"))) << mass << force;
    }
    // A sign that the scenario itself has wrong.
    for (const char* command : {"run s.yaml", "check s.yaml"}) {
        write_coupled("1 kg", "-2*force");
        EXPECT_EQ(run(command), 2);
        EXPECT_THAT(content("err.txt"), AllOf(HasSubstr("s.yaml:4:14: port 'a.p' moves against its load"),
                                              HasSubstr("'force: -2*force' says: leave the minus out")));
    }
}

TEST_F(fmu_advice, stiff_fmus_are_led_to_an_implicit_solver) {
    for (const char* name : {"decay-2", "decay-3"}) {
        const auto with = [&](const char* rate, const char* solver) {
            return read_scenario_text(
                fmt::format("time: {{end: 1 s, step: 0.5 s}}\nsubsystems:\n  f: {{fmu: {}, interface: model-exchange, "
                            "set: {{k: {}}}{}}}\n",
                            (fmus / (std::string(name) + ".fmu")).string(), rate, solver),
                "s.yaml");
        };
        simulation fails(with("1e7", ""), {.workers = 1});
        fails.initialise();
        std::string why;
        try {
            fails.advance_to(1);
        } catch (const run_error& problem) {
            why = problem.what();
        }
        EXPECT_THAT(
            why, AllOf(HasSubstr("too many steps"), HasSubstr("'solver: cvode-bdf'"), HasSubstr("'solver: dirk-4'")));
        simulation slow(with("1e5", ""), {.workers = 1});
        slow.initialise();
        slow.advance_to(1);
        EXPECT_THAT(slow.finish().notes, testing::Contains(AllOf(HasSubstr("subsystem 'f': solver erk-5 took"),
                                                                 HasSubstr("'solver: cvode-bdf'"))));
        simulation quick(with("1e7", ", solver: cvode-bdf"), {.workers = 1});
        quick.initialise();
        quick.advance_to(1);
        EXPECT_NEAR(quick.value("f.x"), 0, 1e-6);
        EXPECT_THAT(quick.finish().notes, Not(testing::Contains(HasSubstr("stiff"))));
    }
}

TEST_F(fmu_advice, display_units_are_those_of_the_results_when_asked_for) {
    const auto scenario = [&](const std::string& units) {
        return fmt::format(
            "time: {{end: 0.1 s, step: 10 ms}}\nsubsystems:\n  rotor: {{fmu: {}, set: {{w0: 3}}}}\n"
            "record: {{units: {}}}\n",
            (fmus / "inertia-2.fmu").string(), units);
    };
    for (const std::string units : {"none", "header", "display"}) {
        write(units + ".yaml", scenario(units));
        ASSERT_EQ(run("run " + units + ".yaml --quiet --out " + units), 0) << content("err.txt");
    }
    const auto head = [&](const std::string& units) {
        const std::string all = content(units + "/results.csv");
        return all.substr(0, all.find('\n'));
    };
    EXPECT_THAT(head("none"), Not(HasSubstr("[")));
    EXPECT_THAT(head("header"), AllOf(HasSubstr("rotor.phi [rad]"), HasSubstr("rotor.w [rad/s]")));
    EXPECT_THAT(head("display"), AllOf(HasSubstr("rotor.phi [deg]"), HasSubstr("rotor.w [rpm]")));
    const auto last = [&](const std::string& units, const std::string& column) {
        std::istringstream names(head(units));
        const std::string all = content(units + "/results.csv");
        std::istringstream values(all.substr(all.rfind('\n', all.size() - 2) + 1));
        for (std::string name, value; std::getline(names, name, ',') && std::getline(values, value, ',');)
            if (name == column) return std::stod(value);
        return std::nan("");
    };
    EXPECT_NEAR(last("display", "rotor.phi [deg]"), last("none", "rotor.phi") * 180 / M_PI, 1e-9);
    EXPECT_NEAR(last("display", "rotor.w [rpm]"), 3 * 30 / M_PI, 1e-9);
    // A reader sees SI again.
    EXPECT_EQ(run("compare none display"), 0);
    EXPECT_EQ(run("compare none display --json"), 0);
    EXPECT_THAT(content("out.txt"), Not(HasSubstr("57.2")));
    write("other.csv", "time,rotor.phi [m]\n0,0\n0.1,1\n");
    EXPECT_EQ(run("compare display other.csv"), 2);
    EXPECT_THAT(content("err.txt"), AllOf(HasSubstr("variable 'rotor.phi' is in 'rad'"), HasSubstr("but in 'm'")));
    // A file that is expected is read the same way.
    for (const auto& [file, status] : {std::pair("display/results.csv", 0), std::pair("other.csv", 2)}) {
        write("expecting.yaml", scenario("display") + fmt::format("expect: [{{file: {}, within: 1e-9}}]\n", file));
        EXPECT_EQ(run("run expecting.yaml --quiet --out e"), status) << content("err.txt");
    }
    EXPECT_THAT(content("err.txt"), AllOf(HasSubstr("expecting.yaml:5:"), HasSubstr("other.csv"),
                                          HasSubstr("'rotor.phi'"), HasSubstr("'rad'"), HasSubstr("'m'")));
}

}  // namespace
}  // namespace mdpcosim
