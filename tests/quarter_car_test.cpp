// examples/quarter-car: methods and controlled steps against the monolithic reference. The numbers of its README.
#include <fstream>

#include "monolithic_fixture.hpp"

namespace mdpcosim::test {
namespace {

const fs::path quarter_car = examples / "quarter-car/scenario.yaml";

class quarter_car_example : public monolithic {
   protected:
    double error(const settings& list) {
        const result_table cosimulated = run("run", quarter_car, false, list), whole = run("whole", quarter_car, true);
        return difference(cosimulated, "body.mass.position", whole, "body.mass.position");
    }
};

TEST_F(quarter_car_example, errors_of_equal_steps) {
    const double semi = shown("semi-implicit, 1 ms", error({}));
    const double finer = shown("semi-implicit, 0.5 ms", error({{"time.step", "0.5 ms"}}));
    const double held =
        shown("semi-implicit, poly-1, 10 ms", error({{"time.step", "10 ms"}, {"extrapolation", "poly-1"}}));
    const double outer = shown("explicit, 1 ms", error({{"method", "explicit"}}));
    EXPECT_NEAR(std::log2(semi / finer), 2, 0.1);
    EXPECT_LT(semi, 4e-4);
    EXPECT_LT(outer, 1.2e-3);
    EXPECT_LT(held, 0.15);
}

TEST_F(quarter_car_example, controlled_steps) {
    for (const char* method : {"explicit", "semi-implicit"}) {
        scenario s = read_scenario(quarter_car, overrides({{"method", method}, {"step-control.rtol", "1e-4"}}));
        const run_summary summary = run_into("controlled", std::move(s), false);
        ASSERT_EQ(summary.status, "done") << summary.message;
        ASSERT_TRUE(summary.control);
        const result_table whole = run("whole", quarter_car, true),
                           controlled = read_results(folder / "controlled", [](std::string_view) { return true; });
        const std::size_t i = column(controlled, "body.mass.position");
        const double end = controlled.value(controlled.rows() - 1, i), should = whole.value(whole.rows() - 1, i);
        std::printf("%s: %lld macro steps, %lld rejected, %.3g integrations per step, end %.6g against %.6g\n", method,
                    static_cast<long long>(summary.steps), static_cast<long long>(summary.control->rejected),
                    static_cast<double>(summary.integrations) / static_cast<double>(summary.steps), end, should);
        EXPECT_NEAR(end, should, 2e-6);
        EXPECT_LT(summary.control->smallest, 1e-4);
        EXPECT_GT(summary.control->largest, 1e-3);
        // Every attempt has a line.
        std::ifstream file(folder / "controlled" / "steps.csv");
        std::int64_t lines = -1;
        for (std::string line; std::getline(file, line);) ++lines;
        EXPECT_EQ(lines, summary.steps + summary.control->rejected);
    }
}

}  // namespace
}  // namespace mdpcosim::test
