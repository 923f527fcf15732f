// examples/spatial-linkage over a hundred thousand macro steps.
#include "linkage.hpp"

namespace mdpcosim::test {
namespace {

class joint_drift : public monolithic {};

TEST_F(joint_drift, stays_bounded_over_a_hundred_thousand_steps) {
    const result_table r = run("long", linkage_file, false,
                               {{"time.end", "100 s"}, {"record.every", "100 ms"}, {"method.jacobian", "fresh"}});
    ASSERT_EQ(r.rows(), 1001U);
    double early = 0, late = 0, change = 0;
    for (std::size_t row = 0; row < r.rows(); ++row) {
        double& worst = row < 100 ? early : late;
        worst = std::max(worst, violation(r, row));
        change = std::max(change, std::abs(energy(r, row) - energy(r, 0)));
    }
    EXPECT_LT(shown("largest violation in the first 10 s", early), 1e-10);
    EXPECT_LT(shown("largest violation in the next 90 s", late), 1e-10);
    EXPECT_LT(shown("largest change of the energy [J]", change), 1e-5);
}

}  // namespace
}  // namespace mdpcosim::test
