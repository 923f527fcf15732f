#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "scenario/read.hpp"

namespace mdpcosim {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// A folder of files that is gone after the test.
class include : public testing::Test {
   protected:
    include() : folder_(fs::temp_directory_path() / ("mdpcosim-include-" + std::to_string(::getpid()))) {
        fs::create_directories(folder_ / "parts");
    }
    ~include() override { fs::remove_all(folder_); }

    void file(const std::string& name, const std::string& content) const { std::ofstream(folder_ / name) << content; }
    scenario read(const std::vector<scenario_override>& overrides = {}) const {
        return read_scenario(folder_ / "main.yaml", overrides);
    }
    std::string refusal() const {
        try {
            read();
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "accepted";
    }
    std::string place(const std::string& name, const std::string& line_and_column) const {
        return (folder_ / name).string() + ":" + line_and_column + ": ";
    }

    const fs::path folder_;
    const std::string time_ = "time: {end: 1, step: 0.1}\n";
};

TEST_F(include, sections_are_put_together) {
    file("main.yaml",
         "include: [parts/engine.yaml, wheel.yaml]\n" + time_ +
             "let: {twice: $c}\nsubsystems: {own: {model: m, set: {k: $twice}}}\nsignals: [own.y -> wheel.u]\n");
    file("parts/engine.yaml",
         "mdpcosim: 1\nlet: {c: 2 N}\nsubsystems: {engine: {file: run.csv}}\nconnections: {k: {law: spring, between: "
         "[a.b, "
         "c.d]}}\nsignals: [engine.x -> own.u]\n");
    file("wheel.yaml", "subsystems: {wheel: {model: m}}\ninclude: parts/road.yaml\n");
    file("parts/road.yaml", "subsystems: {road: {file: road.csv}}\n");
    const scenario s = read();
    ASSERT_EQ(s.subsystems.size(), 4U);
    EXPECT_EQ(s.connections.size(), 1U);
    EXPECT_EQ(s.signals.size(), 2U);
    const auto called = [&](const std::string& name) {
        return *std::find_if(s.subsystems.begin(), s.subsystems.end(), [&](const auto& x) { return x.name == name; });
    };
    EXPECT_EQ(called("engine").file.path, folder_ / "parts/run.csv");
    EXPECT_EQ(called("road").file.path, folder_ / "parts/road.csv");
    EXPECT_EQ(called("own").set[0].values[0].value, "2 N");
    const std::string text = write_scenario(s);
    EXPECT_EQ(text.find("include:"), std::string::npos);
    EXPECT_EQ(write_scenario(read_scenario_text(text, "again.yaml")), text);
}

TEST_F(include, set_reaches_what_is_included) {
    file("main.yaml", "include: engine.yaml\n" + time_);
    file("engine.yaml", "let: {c: 1}\nsubsystems: {engine: {model: m, set: {J: $c}}}\n");
    file("other.yaml", "subsystems: {other: {model: m}}\n");
    EXPECT_EQ(read({{"engine.J", "3", "--set engine.J=3"}}).subsystems[0].set[0].values[0].value, "3");
    EXPECT_EQ(read({{"c", "4", "--set c=4"}}).subsystems[0].set[0].values[0].value, "4");
    EXPECT_EQ(read({{"include", "other.yaml", "--set include=other.yaml"}}).subsystems[0].name, "other");
}

TEST_F(include, entries_of_subsystems) {
    file("main.yaml", time_ + "subsystems:\n  a: {include: parts/e.yaml, set: {J: 5}, solver: rk4}\n");
    file("parts/e.yaml", "fmu: e.fmu\nset: {J: 1, d: 2}\nsolver: euler\nlimit: 3 s\n");
    const subsystem_spec a = read().subsystems[0];
    EXPECT_EQ(a.path, folder_ / "parts/e.fmu");
    ASSERT_EQ(a.set.size(), 2U);
    EXPECT_EQ(a.set[0].values[0].value, "5");
    EXPECT_EQ(a.set[1].values[0].value, "2");
    EXPECT_EQ(a.solver.name.value, "rk4");
    EXPECT_EQ(a.limit, 3);
    file("parts/other.yaml", "model: m\n");
    EXPECT_EQ(read({{"a.include", "parts/other.yaml", "--set a.include=parts/other.yaml"}}).subsystems[0].source.value,
              "m");
    file("parts/e.yaml", "fmu: e.fmu\nlimt: 3 s\n");
    EXPECT_THAT(refusal(), HasSubstr(place("parts/e.yaml", "2:1") + "subsystem 'a': key 'limt' is not known."));
}

TEST_F(include, mistakes_name_the_places) {
    file("main.yaml", "include: e.yaml\n" + time_ + "subsystems: {a: {model: m}}\n");
    EXPECT_THAT(refusal(), HasSubstr(place("main.yaml", "1:10") + "include: file '"));
    EXPECT_THAT(refusal(), HasSubstr("e.yaml' does not exist."));
    file("e.yaml", "subsystems: {a: {model: m}}\n");
    EXPECT_EQ(refusal(), place("main.yaml", "3:14") + "subsystems: 'a' stands twice; it is also at " +
                             (folder_ / "e.yaml").string() + ":1:14.");
    file("e.yaml", "subsystms: {b: {model: m}}\n");
    EXPECT_THAT(refusal(), HasSubstr(place("e.yaml", "1:1") + "key 'subsystms' cannot stand in an included file."));
    EXPECT_THAT(refusal(), HasSubstr("Did you mean 'subsystems'?"));
    file("e.yaml", "subsystems: {b: {modl: m}}\n");
    EXPECT_THAT(refusal(), HasSubstr(place("e.yaml", "1:18") + "subsystem 'b': key 'modl' is not known."));
    file("e.yaml", "include: f.yaml\n");
    file("f.yaml", "include: [e.yaml]\n");
    EXPECT_EQ(refusal(), place("f.yaml", "1:11") + "include: 'e.yaml' includes itself: e.yaml -> f.yaml -> e.yaml.");
    file("e.yaml", "include: main.yaml\n");
    EXPECT_THAT(refusal(), HasSubstr("includes itself: main.yaml -> e.yaml -> main.yaml."));
    file("e.yaml", "- a\n");
    EXPECT_THAT(refusal(),
                HasSubstr("an included file is a map with let, subsystems, connections, signals, bonds, not a list."));
    file("main.yaml", "include: {a: b}\n" + time_);
    EXPECT_THAT(refusal(), HasSubstr(place("main.yaml", "1:10") + "include: a file or a list of files is expected"));
    file("main.yaml", "include: ee.yaml\n" + time_);
    EXPECT_THAT(refusal(), HasSubstr("Did you mean 'e.yaml'?"));
}

}  // namespace
}  // namespace mdpcosim
