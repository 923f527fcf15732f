#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "api/mdpcosim.hpp"
#include "support/temporary_folder.hpp"

/// Runs as one system and as co-simulations, and their results as tables.
namespace mdpcosim::test {

namespace fs = std::filesystem;
using settings = std::vector<std::pair<std::string, std::string>>;

inline const fs::path examples = fs::path(MDPCOSIM_SOURCE_DIR) / "examples";

class monolithic : public testing::Test {
   protected:
    static std::vector<scenario_override> overrides(const settings& list) {
        std::vector<scenario_override> all;
        for (const auto& [address, value] : list) all.push_back({address, value, "--set " + address + "=" + value});
        return all;
    }

    run_summary run_into(const std::string& name, scenario s, bool as_one) {
        run_options options;
        options.out = folder / name;
        options.monolithic = as_one;
        return mdpcosim::run(std::move(s), options);
    }

    result_table run(const std::string& name, const fs::path& file, bool as_one, const settings& list = {}) {
        const run_summary summary = run_into(name, read_scenario(file, overrides(list)), as_one);
        EXPECT_EQ(summary.status, "done") << summary.message;
        return read_results(folder / name, [](std::string_view) { return true; });
    }

    result_table run_text(const std::string& name, const std::string& text, bool as_one) {
        const run_summary summary = run_into(name, read_scenario_text(text, name + ".yaml"), as_one);
        EXPECT_EQ(summary.status, "done") << summary.message;
        return read_results(folder / name, [](std::string_view) { return true; });
    }

    temporary_folder folder;
};

inline std::size_t column(const result_table& t, const std::string& name) {
    const auto found = std::find(t.names.begin(), t.names.end(), name);
    if (found == t.names.end()) throw std::runtime_error("no column " + name);
    return static_cast<std::size_t>(found - t.names.begin());
}

/// Largest difference of two columns over equal times, as a part of the range of the second.
inline double difference(const result_table& a, const std::string& in_a, const result_table& b,
                         const std::string& in_b) {
    const std::size_t i = column(a, in_a), j = column(b, in_b);
    EXPECT_EQ(a.rows(), b.rows());
    double largest = 0, low = INFINITY, high = -INFINITY;
    for (std::size_t row = 0; row < std::min(a.rows(), b.rows()); ++row) {
        EXPECT_NEAR(a.time[row], b.time[row], 1e-12);
        largest = std::max(largest, std::abs(a.value(row, i) - b.value(row, j)));
        low = std::min(low, b.value(row, j));
        high = std::max(high, b.value(row, j));
    }
    return largest / (high - low);
}

inline double shown(const std::string& what, double value) {
    std::printf("%-50s %.2e\n", what.c_str(), value);
    return value;
}

}  // namespace mdpcosim::test
