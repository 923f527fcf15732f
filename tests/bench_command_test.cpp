// The benchmark of the transports, as a user starts it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "engine/engine.hpp"
#include "process.hpp"

namespace mdpcosim::test {
namespace {

TEST(bench_command, every_transport_is_measured) {
    const auto outcome = process({MDPCOSIM_PROGRAM, "bench", "transport", "--json"}, {}).wait();
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
    EXPECT_THAT(names, testing::IsSupersetOf({"threads", "processes", "tcp"}));
}

}  // namespace
}  // namespace mdpcosim::test
