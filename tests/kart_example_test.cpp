// examples/kart: what its README says of the rates, over the first gear change; kart_long_test.cpp has the whole manoeuvre.
#include <gtest/gtest.h>

#include "monolithic_fixture.hpp"

namespace mdpcosim::test {
namespace {

class kart_example : public monolithic {
   protected:
    void SetUp() override {
        if (!fs::exists(fs::path(MDPCOSIM_BINARY_DIR) / "mdpcosim-multibody.so"))
            GTEST_SKIP() << "Simbody is not installed";
    }
    result_table drive(const std::string& name, settings list) {
        list.insert(list.end(), {{"time.end", "3.6 s"}});
        return run(name, examples / "kart/scenario.yaml", false, list);
    }
};

TEST_F(kart_example, long_steps_of_the_kart_keep_its_pitch) {
    const result_table fine = drive("fine", {{"kart.step", "2 ms"}});
    const auto off = [&](const char* name, const char* scheme, const char* order) {
        return shown(name, difference(drive(name, {{"method.scheme", scheme}, {"method.slow-order", order}}),
                                      "kart.attitude.pitch", fine, "kart.attitude.pitch"));
    };
    const double constant = off("slowest-first, constant", "slowest-first", "0");
    const double linear = off("fastest-first, linear", "fastest-first", "1");
    EXPECT_LT(constant, 0.02);
    EXPECT_LT(linear, 0.005);
    EXPECT_GT(constant, 3 * linear);

    // It speeds up by what the wheels transmit, noses up, and changes gear.
    const std::size_t last = fine.rows() - 1;
    const auto value = [&](std::size_t row, const char* name) { return fine.value(row, column(fine, name)); };
    EXPECT_EQ(value(last, "engine.gear"), 2);
    EXPECT_NEAR(value(last, "kart.chassis.velocity[0]"), 13.3, 0.2);
    EXPECT_NEAR(value(160, "kart.attitude.pitch"), -0.033, 0.001);
    EXPECT_NEAR(0.1334 * value(last, "kart.axle_shaft.speed") / value(last, "kart.chassis.velocity[0]"), 1, 0.03);
}

/// Torque on the axle against what the chassis gains: the work of the engine's side less drag ends as motion, but for slip and springs.
TEST_F(kart_example, work_on_the_axle_becomes_motion) {
    const result_table t =
        drive("all", {{"record.only", "[\"kart.energy\", \"kart.axle_shaft.speed\", \"engine.drive\"]"}});
    double work = 0;
    const auto power = [&](std::size_t row) {
        return t.value(row, column(t, "engine.drive")) * t.value(row, column(t, "kart.axle_shaft.speed"));
    };
    for (std::size_t row = 1; row < t.rows(); ++row) work += 0.005 * (power(row - 1) + power(row));
    const double gained = t.value(t.rows() - 1, column(t, "kart.energy")) - t.value(0, column(t, "kart.energy"));
    EXPECT_LT(shown("kinetic energy over work of the axle", gained / work), 1);
    EXPECT_GT(gained / work, 0.93);
}

}  // namespace
}  // namespace mdpcosim::test
