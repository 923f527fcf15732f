// `mdpcosim bench trust` on seeds that no limit of the verdict was drawn from, all kinds of systems.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "benchmark/trust.hpp"

namespace mdpcosim {
namespace {

TEST(trust_long, verdicts_are_right_on_other_seeds) {
    std::vector<trust_result> all;
    for (const unsigned seed : {8U, 10U, 12U}) {
        trust_request request;
        request.seed = seed;
        request.fmus = std::filesystem::path(MDPCOSIM_BINARY_DIR) / "fmus";
        const auto some = bench_trust(request, [](const std::string&) {});
        all.insert(all.end(), some.begin(), some.end());
    }
    fmt::print("{}\n{}", to_table(all, false), to_table(all, true));
    const trust_counts alone = count(all, false), verified = count(all, true);
    EXPECT_EQ(verified.good_above_5, 0);
    EXPECT_LE(verified.wrong_below_1, verified.below_1 / 100);
    EXPECT_GE(verified.good_below_1, 0.9 * verified.below_1);
    EXPECT_GE(verified.caught_above_50, 0.95 * verified.above_50);
    EXPECT_EQ(verified.diverged_passed, 0);
    EXPECT_EQ(alone.diverged_passed, 0);
    EXPECT_LE(alone.good_above_5, alone.systems / 50);
    EXPECT_LE(alone.wrong_below_1, alone.below_1 / 100);
}

}  // namespace
}  // namespace mdpcosim
