// examples/robot-arm. The numbers of its README.
#include <gtest/gtest.h>

#include "linkage.hpp"

namespace mdpcosim::test {
namespace {

class multibody_examples : public monolithic {
   protected:
    void SetUp() override {
        if (!fs::exists(fs::path(MDPCOSIM_BINARY_DIR) / "mdpcosim-multibody.so"))
            GTEST_SKIP() << "Simbody is not installed";
    }
    /// The largest difference of the tool's coordinates.
    double distance(const result_table& cut, const result_table& whole) {
        double most = 0;
        EXPECT_EQ(cut.rows(), 101U);
        for (std::size_t row = 0; row < cut.rows(); ++row)
            for (const std::string k : {"[0]", "[1]", "[2]"})
                most = std::max(most, std::abs(cut.value(row, column(cut, "wrist.tool.position" + k)) -
                                               whole.value(row, column(whole, "arm.tool.position" + k))));
        return most;
    }
};

TEST_F(multibody_examples, robot_arm_that_is_cut_moves_as_the_whole_one) {
    const fs::path folder = examples / "robot-arm";
    const result_table whole = run("whole", folder / "undivided.yaml", false);
    const double fine = shown("robot arm, H = 1 ms [m]", distance(run("fine", folder / "scenario.yaml", false), whole));
    const settings twice{{"time.step", "2 ms"}, {"shoulder.solver.step", "0.5 ms"}, {"wrist.solver.step", "0.5 ms"}};
    const double coarse =
        shown("robot arm, H = 2 ms [m]", distance(run("coarse", folder / "scenario.yaml", false, twice), whole));
    EXPECT_LT(fine, 4e-9);
    EXPECT_GT(coarse / fine, 8);
    EXPECT_LT(shown("robot arm, reference [m]", distance(run("one", folder / "scenario.yaml", true), whole)), 1e-11);
}

}  // namespace
}  // namespace mdpcosim::test
