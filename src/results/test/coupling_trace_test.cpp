#include "results/coupling_trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/json.hpp"

namespace mdpcosim {

namespace {

TEST(coupling_trace, loses_no_extreme_of_a_long_run) {
    coupling_trace trace(2);
    constexpr int steps = 100'000;
    for (int n = 0; n < steps; ++n) {
        if (n == 54'321) {
            trace.attempt(7, 3, false);
            trace.attempt(1, 0.75, true);
        }
        const double jumps[]{n == 12'345 ? -5.0 : 1e-3, 0};
        const double energies[]{1e-6 * n + (n >= 77'777 ? 2.0 : 0.0), 0};
        trace.step({1.0 * n, n + (n == 40'000 ? 0.5 : 1.0), n}, jumps, energies);
    }
    EXPECT_LE(trace.buckets(), 512u);
    EXPECT_GE(trace.buckets(), 255u);
    const auto j = json::parse(trace.to_json({"a", ""}));
    ASSERT_EQ(j["connections"].size(), 1u);
    const auto list = [](const json& from) { return from.get<std::vector<double>>(); };
    const auto largest = [](const std::vector<double>& v) { return std::max_element(v.begin(), v.end()) - v.begin(); };
    const auto time = list(j["time"]), jump = list(j["connections"][0]["jump"]),
               residual = list(j["connections"][0]["residual"]), H_min = list(j["H_min"]);
    const auto width = j["macro_steps_per_point"].get<double>();
    const auto near = [&](std::ptrdiff_t k, double t) {
        return time[static_cast<std::size_t>(k)] >= t && time[static_cast<std::size_t>(k)] < t + width + 1;
    };
    EXPECT_EQ(jump[static_cast<std::size_t>(largest(jump))], 5);
    EXPECT_TRUE(near(largest(jump), 12'345));
    EXPECT_NEAR(residual[static_cast<std::size_t>(largest(residual))], 2, 1e-5);
    EXPECT_TRUE(near(largest(residual), 77'777));
    EXPECT_TRUE(near(std::min_element(H_min.begin(), H_min.end()) - H_min.begin(), 40'000));
    EXPECT_EQ(*std::min_element(H_min.begin(), H_min.end()), 0.5);
    EXPECT_NEAR(list(j["connections"][0]["energy_error"]).back(), 2 + 1e-6 * (steps - 1), 1e-9);
    EXPECT_EQ(time.back(), steps);
    const auto rejected = list(j["rejected"]);
    EXPECT_EQ(std::accumulate(rejected.begin(), rejected.end(), 0.0), 1);
    EXPECT_EQ(list(j["H_rejected"])[static_cast<std::size_t>(largest(rejected))], 7);
    EXPECT_EQ(list(j["error"])[static_cast<std::size_t>(largest(rejected))], 0.75);
}

TEST(coupling_trace, follows_the_first_of_very_many_channels) {
    constexpr std::size_t channels = 2000;
    coupling_trace trace(channels);
    const std::vector<double> values(channels, 1.0);
    for (int n = 0; n < 100; ++n) trace.step({1.0 * n, n + 1.0, n}, values, values);
    EXPECT_EQ(json::parse(trace.to_json(std::vector<std::string>(channels, "x")))["connections"].size(), 512u);
}

/// Bonds have energies like connections; joined buckets keep the largest residual and the last sum.
TEST(coupling_trace, follows_bonds) {
    coupling_trace trace(1, 2);
    double sum = 0;
    for (int n = 0; n < 5000; ++n) {
        sum += n == 3210 ? 5.0 : -1e-3;
        const double jumps[]{0.0}, energies[]{0.5}, bonds[]{sum, -2.0};
        trace.step({1.0 * n, n + 1.0, n}, jumps, energies, bonds);
    }
    const auto j = json::parse(trace.to_json({""}, {"upper", "lower"}));
    EXPECT_EQ(j["connections"].size(), 0u);  // it has no name
    ASSERT_EQ(j["bonds"].size(), 2u);
    EXPECT_EQ(j["bonds"][1]["name"].get<std::string>(), "lower");
    double largest = 0, last = 0;
    for (const auto& r : j["bonds"][0]["residual"]) largest = std::max(largest, r.get<double>());
    for (const auto& e : j["bonds"][0]["energy_error"]) last = e.get<double>();
    EXPECT_NEAR(largest, 5, 1e-8);
    EXPECT_NEAR(last, sum, 1e-8);
}

TEST(coupling_trace, writes_what_is_no_number_as_null) {
    coupling_trace trace(1);
    const double jumps[]{std::nan("")}, energies[]{std::nan("")};
    trace.step({0, 1, 0}, jumps, energies);
    const auto j = json::parse(trace.to_json({"a"}));
    EXPECT_TRUE(j["connections"][0]["energy_error"][0].is_null());
}

}  // namespace

}  // namespace mdpcosim
