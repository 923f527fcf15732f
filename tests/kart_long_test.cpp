// examples/kart over the whole manoeuvre with the kart's steps from 0.1 to 10 ms: the tables of its README.
#include <gtest/gtest.h>

#include "benchmark/rates.hpp"
#include "monolithic_fixture.hpp"

namespace mdpcosim::test {
namespace {

class kart_campaign : public monolithic {};

TEST_F(kart_campaign, tables_of_the_readme) {
    if (!fs::exists(fs::path(MDPCOSIM_BINARY_DIR) / "mdpcosim-multibody.so"))
        GTEST_SKIP() << "Simbody is not installed";
    rates_request request;
    request.load = [&](const settings& changes) {
        return read_scenario(examples / "kart/scenario.yaml", overrides(changes));
    };
    request.slow = "kart";
    request.watch = {"kart.attitude.pitch"};
    const rates_figures found = bench_rates(request);
    std::printf("%s", to_table(found).c_str());
    ASSERT_EQ(found.costs.size(), 5U);
    for (std::size_t k = 2; k < found.costs.size(); ++k) {
        EXPECT_LT(found.costs[k].seconds, found.costs[k - 1].seconds);
        EXPECT_GT(found.costs[k].difference, found.costs[k - 1].difference);
    }
    EXPECT_LT(found.costs.back().difference, 0.02 * found.range);
    const auto of = [&](const char* scheme, int order) {
        for (const auto& o : found.orders)
            if (o.scheme == scheme && o.slow_order == order && o.fast_order == 0) return o.difference;
        return HUGE_VAL;
    };
    EXPECT_LT(of("fastest-first", 1), 0.25 * of("slowest-first", 0));
    EXPECT_GT(found.b / (found.a + found.b), 0.9);
}

}  // namespace
}  // namespace mdpcosim::test
