// Foreign code that changes how the processor computes, or the locale: the results of all others stay the same to the last bit, and the user is told who
// it was.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/test/plugins/faulty.hpp"
#include "process.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::content;
using test::process;
using testing::AllOf;
using testing::HasSubstr;

const std::string build = MDPCOSIM_BINARY_DIR;

class foreign_arithmetic : public testing::Test {
   protected:
    /// A stiff and a plain subsystem behind one that does what the environment says, from 0.1 s on.
    process::outcome run(const std::string& entry, const std::string& deed, const std::string& out,
                         const std::vector<std::string>& more = {}) const {
        test::write_file(
            folder_ / "s.yaml",
            "time: {end: 0.2 s, step: 1 ms}\nsubsystems:\n  bad: {" + entry +
                "}\n"
                "  a: {model: mass-spring-damper, set: {stiffness: 1 kN/m, damping: 3 N.s/m, x0: 1 m}, solver: rk4}\n"
                "  b: {ode: {states: {x: 1}, equations: {x: -x/3 + sin(7*t)}, outputs: {x: x}}, solver: cvode-bdf}\n"
                "  tiny: {ode: {states: {x: 4e-308}, equations: {x: -30*x}, outputs: {x: x}}, solver: rk4}\n"
                "record: {only: [a.*, b.*, tiny.*]}\n");
        fs::remove_all(folder_ / out);
        std::vector<std::string> words{"/usr/bin/env",
                                       "MDPCOSIM_TEST_FAULT=" + deed,
                                       MDPCOSIM_PROGRAM,
                                       "run",
                                       (folder_ / "s.yaml").string(),
                                       "--quiet",
                                       "--no-verify",
                                       "--workers",
                                       "1",
                                       "--out",
                                       (folder_ / out).string()};
        words.insert(words.end(), more.begin(), more.end());
        return process(words, {}).wait();
    }

    std::string results(const std::string& out) const { return content(folder_ / (out + "/results.csv")); }

    void expect_right_and_told(const std::string& entry, const std::string& who,
                               const std::vector<std::string>& more = {}) const {
        ASSERT_EQ(run(entry, "none", "good").exit_status, 0);
        for (const auto& [deed, told] : std::vector<std::pair<std::string, std::string>>{
                 {"round-up", "numbers are rounded upwards"},
                 {"trap", "floating-point exceptions end the program"},
                 {"no-subnormals", "numbers below 2e-308 are taken for zero"}}) {
            const auto seen = run(entry, deed, "out", more);
            if (deed == "trap" && seen.exit_status == 1) {  // it has met its own trap
                EXPECT_THAT(seen.err, AllOf(HasSubstr("'bad'"), HasSubstr("SIGFPE")));
                EXPECT_THAT(results("good"), testing::StartsWith(results("out")));
                continue;
            }
            EXPECT_EQ(seen.exit_status, 0) << deed << seen.err;
            EXPECT_EQ(results("out"), results("good")) << deed;
            EXPECT_THAT(seen.err, HasSubstr(who)) << deed;
            EXPECT_THAT(seen.err, HasSubstr("it has changed how the processor computes")) << deed;
            EXPECT_THAT(seen.err, HasSubstr(told)) << deed;
        }
    }

    static std::string plugin(const char* file, test::fault_place where) {
        return fmt::format("plugin: {}/tests/plugins/{}.so, set: {{where: {}, how: {}, when: 0.1 s, needed: 1 m}}",
                           build, file, static_cast<int>(where), static_cast<int>(test::fault::as_told));
    }
    static std::string fmu(const std::string& version) {
        return fmt::format("fmu: {}/fmus/misbehave-{}.fmu, set: {{where: step, how: as-told, when: 0.1 s}}", build,
                           version);
    }

    const test::temporary_folder folder_;
};

TEST_F(foreign_arithmetic, of_a_plugin_is_put_right_and_told) {
    expect_right_and_told(plugin("faulty_solver", test::fault_place::advance),
                          "subsystem 'bad' (plugin faulty_solver.so)");
}

TEST_F(foreign_arithmetic, of_an_fmu_is_put_right_and_told) {
    for (const char* version : {"2", "3"})
        expect_right_and_told(fmu(version) + ", isolate: false",
                              fmt::format("subsystem 'bad' (fmu misbehave-{}.fmu)", version));
}

TEST_F(foreign_arithmetic, of_an_isolated_fmu_is_told) {
    expect_right_and_told(fmu("2") + ", isolate: true", "subsystem 'bad' (fmu misbehave-2.fmu)");
}

}  // namespace
}  // namespace mdpcosim
