#include "report/run_report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "core/error.hpp"
#include "core/json.hpp"

namespace mdpcosim {

namespace {

class run_report : public testing::Test {
   protected:
    void SetUp() override {
        folder =
            std::filesystem::temp_directory_path() / ("mdpcosim-report-" + std::to_string(::getpid()) + "-" +
                                                      testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::create_directories(folder);
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    void write(const std::string& name, const std::string& text) const { std::ofstream(folder / name) << text; }

    std::filesystem::path folder;
};

TEST_F(run_report, tells_what_a_killed_run_left) {
    write("results.csv", "time,a.x,\"b,\"\"y\"\n0,1,2\n1,2,3\n2,3");
    const json report = json::parse(run_report_json({folder, {}}));
    EXPECT_TRUE(report["summary"].is_null());
    EXPECT_TRUE(report["system"].is_null());
    EXPECT_TRUE(report["cut"].get<bool>());
    EXPECT_EQ(report["series"]["rows"], 2);
    EXPECT_EQ(report["series"]["columns"][1]["name"], "b,\"y");
}

TEST_F(run_report, gives_units_and_packs_the_trace) {
    write("results.csv", "time,a.x\n0,1\n1,2\n");
    write("system.json", R"({"columns": [{"name": "a.x", "unit": "m"}], "subsystems": []})");
    write("coupling.json", R"({"time": [1], "H_min": [1], "H_max": [1], "rejected": [0], "H_rejected": [0],
        "connections": [{"name": "c", "jump": [1], "residual": [null], "energy_error": [1]}]})");
    const json report = json::parse(run_report_json({folder, {}}));
    EXPECT_EQ(report["series"]["columns"][0]["unit"], "m");
    EXPECT_EQ(report["coupling"]["time"], "AAAAAAAA8D8=");
    EXPECT_EQ(report["coupling"]["connections"][0]["jump"], "AACAPw==");
}

TEST_F(run_report, overlays_a_second_run_with_its_error) {
    write("results.csv", "time,a.x,only.a\n0,1,0\n1,3,0\n");
    write("other.csv", "time,a.x\n0,1\n1,2\n");
    const json report = json::parse(run_report_json({folder, folder / "other.csv"}));
    const json& with = report["with"];
    EXPECT_EQ(with["errors"][0]["max"], 1);
    EXPECT_EQ(with["only_a"], json::array({"only.a"}));
    ASSERT_EQ(with["error_series"]["columns"].size(), 1u);
    EXPECT_EQ(with["error_series"]["columns"][0]["y"], "AAAAAAAAAAAAAAAAAADwPw==");  // 0, 1
}

TEST_F(run_report, of_a_million_values_is_small) {
    std::string text = "time";
    for (int k = 0; k < 10; ++k) text += ",s.x" + std::to_string(k);
    for (int i = 0; i < 100'000; ++i) {
        text += "\n" + std::to_string(i);
        for (int k = 0; k < 10; ++k) text += "," + std::to_string((i * 37 + k) % 1000);
    }
    write("results.csv", text + "\n");
    EXPECT_LT(run_report_json({folder, {}}).size(), 2'300'000u);
}

TEST_F(run_report, shows_some_macro_steps_of_a_long_profile) {
    write("results.csv", "time,a.x\n0,1\n");
    std::string events;
    for (int step = 0; step < 5000; ++step)
        for (const char* name : {"macro step", "a", "b"})
            events += std::string(events.empty() ? "" : ",") + R"({"ph": "X", "name": ")" + name +
                      R"(", "pid": 1, "tid": 0, "ts": 1.5, "dur": 2, "args": {"step": )" + std::to_string(step) + "}}";
    write("profile.json", R"({"traceEvents": [{"ph": "M", "name": "thread_name", "tid": 0},)" + events + "]}");
    const json profile = json::parse(run_report_json({folder, {}}))["profile"];
    EXPECT_EQ(profile["names"], json::array({"a", "b"}));
    EXPECT_EQ(profile["steps"], 5000);
    EXPECT_LE(profile["events"].size(), 6000u);
    EXPECT_EQ(profile["events"].size() % 3, 0u);  // steps are shown whole or not at all
    EXPECT_EQ(profile["events"][0], json::array({-1, 0, 0, 1.5, 2}));
}

TEST_F(run_report, wants_the_folder_of_a_run) {
    for (const auto& [path, words] : std::initializer_list<std::pair<std::filesystem::path, const char*>>{
             {folder / "nowhere", "there is no such folder"}, {folder, "has no results.csv"}}) {
        try {
            run_report_json({path, {}});
            FAIL();
        } catch (const user_error& problem) {
            EXPECT_NE(std::string(problem.what()).find(words), std::string::npos) << problem.what();
        }
    }
}

}  // namespace

}  // namespace mdpcosim
