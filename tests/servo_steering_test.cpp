// examples/servo-steering: errors of the couplings against the model coupling. The numbers of its README, over the first second.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "monolithic_fixture.hpp"

namespace mdpcosim::test {
namespace {

class servo_steering : public monolithic {
   protected:
    void SetUp() override {
        if (!fs::exists(fs::path(MDPCOSIM_BINARY_DIR) / "mdpcosim-multibody.so"))
            GTEST_SKIP() << "Simbody is not installed";
    }
    result_table drive(const std::string& name, bool as_one, settings list) {
        list.insert(list.end(), {{"time.end", "0.9 s"},
                                 {"car.solver.rtol", "1e-8"},
                                 {"car.solver.atol", "1e-11"},
                                 {"steering.solver.rtol", "1e-8"},
                                 {"steering.solver.atol", "1e-11"},
                                 {"reference.solver", "{name: dirk-4, rtol: 1e-8, atol: 1e-11}"}});
        return run(name, examples / "servo-steering/scenario.yaml", as_one, list);
    }
};

TEST_F(servo_steering, converges_to_the_model_coupling_with_the_order_of_its_inputs) {
    const result_table model = drive("model", true, {});
    const auto error = [&](const std::string& rule, const std::string& step) {
        return shown(fmt::format("{}, H = {}", rule, step),
                     difference(drive("run", false, {{"rule", rule}, {"time.step", step}}), "car.rack.position", model,
                                "car.rack.position"));
    };
    double held = 0;
    int degree = 1;
    for (const char* rule : {"poly-1", "poly-2", "poly-3"}) {
        const double coarse = error(rule, "0.5 ms"), fine = error(rule, "0.25 ms");
        if (degree == 1) held = fine;
        EXPECT_NEAR(shown("  order", std::log2(coarse / fine)), degree, degree == 1 ? 0.3 : 0.15) << rule;
        ++degree;
    }
    // What solvers exchange at each of their steps is better than what is held for as long, and no better than linear inputs.
    const double coupled_solvers =
        shown("solver coupling",
              difference(drive("solvers", false,
                               {{"method", "{name: multirate, scheme: sequential, slow-order: 1, fast-order: 1}"},
                                {"car.step", "solver"}}),
                         "car.rack.position", model, "car.rack.position"));
    EXPECT_LT(coupled_solvers, held);
}

}  // namespace
}  // namespace mdpcosim::test
