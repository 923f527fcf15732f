// The benchmark of the transports, as a user starts it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "api/mdpcosim.hpp"
#include "process.hpp"
#include "results/result_table.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim::test {
namespace {

TEST(bench_command, every_transport_is_measured) {
    const auto outcome = process({MDPCOSIM_PROGRAM, "bench", "transport", "--runs", "1", "--json"}, {}).wait();
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    const auto found = nlohmann::json::parse(outcome.out);
    std::vector<std::string> names;
    for (const auto& t : found["transports"]) {
        names.push_back(t["transport"]);
        for (const char* step : {"large_step_seconds", "small_step_seconds"})
            EXPECT_GT(t[step][0].get<double>(), 0) << names.back();
        EXPECT_GT(t["large_step_seconds"][0].get<double>(), t["small_step_seconds"][0].get<double>()) << names.back();
        if (names.back() == "threads") continue;
        EXPECT_GT(t["bare_round_trip_seconds"].get<double>(), 0) << names.back();
    }
    EXPECT_THAT(transport_names(), testing::IsSupersetOf(names));
    ASSERT_EQ(found["chain"].size(), 6u);
    for (const auto& c : found["chain"]) {
        EXPECT_GT(c["step_seconds"], 0);
        EXPECT_GT(c["start_seconds"], 0);
    }
    EXPECT_THAT(names, testing::IsSupersetOf({"threads", "processes", "tcp"}));
}

TEST(bench_command, fmus_stand_beside_bare_loops) {
    const auto outcome = process({MDPCOSIM_PROGRAM, "bench", "fmu", "--repetitions", "1", "--fmus",
                                  MDPCOSIM_BINARY_DIR "/fmus", "--json"},
                                 {})
                             .wait();
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    const auto found = nlohmann::json::parse(outcome.out)["fmus"];
    EXPECT_GE(found.size(), 4u);
    for (const auto& t : found)
        for (const char* measured : {"bare_loop_seconds", "mdpcosim_seconds", "ratio"})
            EXPECT_GT(t[measured]["least"].get<double>(), 0) << t;
    const auto absent = process({MDPCOSIM_PROGRAM, "bench", "fmu", "--fmus", "/"}, {}).wait();
    EXPECT_EQ(absent.exit_status, 2);
    EXPECT_THAT(absent.err,
                testing::HasSubstr("bench fmu: the shipped FMUs (busy-oscillator-2.fmu ...) are not there"));
}

TEST(bench_command, every_method_gets_better_with_more_work) {
    const auto outcome =
        process({MDPCOSIM_PROGRAM, "bench", "methods", "--system", "quarter-car", "--json"}, {}).wait();
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    std::map<std::string, std::vector<double>> errors;
    for (const auto& r : nlohmann::json::parse(outcome.out)) {
        errors[r["method"]].push_back(r["error"]);
        EXPECT_GE(r["integrations"], r["macro_steps"]);
    }
    EXPECT_GE(errors.size(), 7u);
    for (const auto& [method, list] : errors) EXPECT_LT(list.back(), list.front() / 10) << method;
}

TEST(bench_command, largest_step_of_a_scenario) {
    const temporary_folder folder;
    const std::string figure = (folder.path() / "steps.svg").string();
    const std::string example = std::string(MDPCOSIM_SOURCE_DIR) + "/examples/two-mass/scenario.yaml";
    const auto outcome = process({MDPCOSIM_PROGRAM, "bench", "largest-step", example, "--end", "20 s", "--method",
                                  "explicit", "one-pass", "--json", "--svg", figure},
                                 {})
                             .wait();
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    const auto found = nlohmann::json::parse(outcome.out);
    ASSERT_EQ(found["results"].size(), 2U);
    for (const auto& r : found["results"]) {
        EXPECT_EQ(r["outcome"], "limit");
        EXPECT_LT(r["largest_stable_step"].get<double>(), r["unstable_step"].get<double>());
        EXPECT_LE(r["accurate"]["error"].get<double>(), 0.01);
    }
    EXPECT_GT(found["results"][1]["largest_stable_step"].get<double>(),
              2 * found["results"][0]["largest_stable_step"].get<double>());
    EXPECT_THAT(content(figure), testing::HasSubstr("one-pass"));
    const auto rows =
        process({MDPCOSIM_PROGRAM, "bench", "largest-step", example, "--end", "5 s", "--row", "method=one-pass",
                 "--row", "damped: extrapolation=poly-1; spring.law=spring-damper; spring.damping=10 N.s/m", "--json"},
                {})
            .wait();
    ASSERT_EQ(rows.exit_status, 0) << rows.err;
    const auto by_rows = nlohmann::json::parse(rows.out)["results"];
    ASSERT_EQ(by_rows.size(), 2U);
    EXPECT_EQ(by_rows[0]["method"], "one-pass");
    EXPECT_EQ(by_rows[1]["label"], "damped");
    EXPECT_EQ(by_rows[1]["changes"]["spring.damping"], "10 N.s/m");
    for (const char* no_row : {"one-pass", "=3", "method=one-pass; spring"}) {
        const auto refused = process({MDPCOSIM_PROGRAM, "bench", "largest-step", example, "--row", no_row}, {}).wait();
        EXPECT_EQ(refused.exit_status, 2);
        EXPECT_THAT(refused.err, testing::HasSubstr("is no change. Write object.parameter=value"));
    }
    const auto wrong = process({MDPCOSIM_PROGRAM, "bench", "largest-step", example, "--method", "onepass"}, {}).wait();
    EXPECT_EQ(wrong.exit_status, 2);
    EXPECT_THAT(wrong.err, testing::HasSubstr("Did you mean 'one-pass'?"));
}

TEST(bench_command, multirate_gives_errors_over_the_ratio_of_frequencies_and_costs) {
    const auto outcome =
        process({MDPCOSIM_PROGRAM, "bench", "multirate", "--frequency-ratio", "10", "39", "--json"}, {}).wait();
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    const auto found = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(found["results"].size(), 2u * 2 * 11);
    for (const auto& r : found["results"])
        if (r["scheme"] == "fastest-first" && r["slow_order"] == 4 && r["damping"] == 0) {
            const double error = r["position_error"];
            if (r["frequency_ratio"] == 39)
                EXPECT_GT(error, 0.1);
            else
                EXPECT_LT(error, 0.01);
        }
    const auto& costs = found["costs"];
    ASSERT_EQ(costs.size(), 5u);
    EXPECT_LT(costs[4]["cpu_seconds"].get<double>(), costs[0]["cpu_seconds"].get<double>() / 5);
    EXPECT_LT(costs[4]["difference"].get<double>(), 0.05);
}

TEST(bench_command, rates_tells_what_longer_steps_miss) {
    const std::string example = MDPCOSIM_SOURCE_DIR "/examples/multirate-two-mass/scenario.yaml";
    const test::temporary_folder folder;
    const std::string figure = (folder / "rates.svg").string();
    const auto outcome = process({MDPCOSIM_PROGRAM, "bench", "rates", example, "--slow", "slow", "--watch", "fast.x",
                                  "--ratio", "1", "20", "--json", "--svg", figure},
                                 {})
                             .wait();
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    const auto found = nlohmann::json::parse(outcome.out);
    ASSERT_EQ(found["costs"].size(), 2u);
    EXPECT_EQ(found["costs"][0]["difference"], 0);
    EXPECT_LT(found["costs"][1]["evaluations"], found["costs"][0]["evaluations"]);
    ASSERT_EQ(found["orders"].size(), 14u);
    // The same by hand.
    const auto position = [&](const char* step, const nlohmann::json& r) {
        const fs::path out = folder / "by-hand";
        const auto set = [](const std::string& what, const nlohmann::json& value) {
            return "method." + what + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
        };
        const auto done = process({MDPCOSIM_PROGRAM, "run", example, "--quiet", "--out", out.string(), "--set",
                                   std::string("slow.step=") + step, "--set", set("scheme", r["scheme"]), "--set",
                                   set("slow-order", r["slow_order"]), "--set", set("fast-order", r["fast_order"]),
                                   "--set", "record.every=0.01 s"},
                                  {})
                              .wait();
        EXPECT_THAT(done.exit_status, testing::AnyOf(0, 3)) << done.err;  // order 0 is wrong, as it says
        return read_results(out, [](std::string_view name) { return name == "fast.x"; }).values;
    };
    const auto reference = position("0.01 s", found["costs"][0]);
    const auto [low, high] = std::ranges::minmax(reference);
    EXPECT_DOUBLE_EQ(found["range"], high - low);
    for (const std::size_t k : {0u, 3u, 8u, 13u}) {
        const auto other = position("0.2 s", found["orders"][k]);
        ASSERT_EQ(other.size(), reference.size());
        double most = 0;
        for (std::size_t row = 0; row < other.size(); ++row)
            most = std::max(most, std::abs(other[row] - reference[row]));
        EXPECT_NEAR(found["orders"][k]["difference"].get<double>(), most, 1e-12 * most) << found["orders"][k];
    }
    EXPECT_THAT(test::content(figure), testing::HasSubstr("fastest-first"));
    const auto refused = [&](std::vector<std::string> more, const char* message) {
        std::vector<std::string> all{MDPCOSIM_PROGRAM, "bench", "rates"};
        all.insert(all.end(), more.begin(), more.end());
        const auto wrong = process(all, {}).wait();
        EXPECT_EQ(wrong.exit_status, 2);
        EXPECT_THAT(wrong.err, testing::HasSubstr(message));
    };
    refused({example, "--slow", "slwo", "--watch", "fast.x"}, "Did you mean 'slow'?");
    refused({example, "--slow", "slow", "--watch", "fast.y"}, "fast.y");
    refused({MDPCOSIM_SOURCE_DIR "/examples/two-mass/scenario.yaml", "--slow", "second", "--watch", "x"},
            "Steps of their own need 'method: multirate'");
}

TEST(bench_command, joints_of_a_chain_take_two_integrations_whatever_their_number) {
    const auto outcome = process({MDPCOSIM_PROGRAM, "bench", "joints", "--joints", "2", "8", "--json"}, {}).wait();
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    for (const auto& r : nlohmann::json::parse(outcome.out)) EXPECT_LT(r["integrations_per_step"], 4) << r;
}

TEST(bench_command, stiff_loops_need_more_than_fixed_points) {
    const auto outcome = process({MDPCOSIM_PROGRAM, "bench", "loops", "--json"}, {}).wait();
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    const auto results = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(results.size(), 48u);
    for (const auto& r : results) {
        const bool algebraic = r["system"] == "algebraic loop";
        const double gain = r["gain"];
        if (r["solver"] == "fixed-point") {
            // Macro steps without a solution are divided, which shows in the number of iterations.
            if (algebraic)
                EXPECT_EQ(r["converged"], gain < 1) << r;
            else
                EXPECT_EQ(r["converged"] && r["iterations_largest"] < 50, gain < 500) << r;
        }
        if (r["solver"] == "newton" || algebraic) {
            EXPECT_TRUE(r["converged"] || r["solver"] == "fixed-point") << r;
        }
        if (r["solver"] == "newton") {
            EXPECT_LT(r["iterations_mean"].get<double>(), 2.5) << r;
        }
    }
}

}  // namespace
}  // namespace mdpcosim::test
