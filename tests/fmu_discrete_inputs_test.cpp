// Real inputs that an FMU declares discrete: held, and extrapolated where the scenario says that they are continuous.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "api/mdpcosim.hpp"
#include "simulation/simulation.hpp"

namespace mdpcosim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string ramp_to(const std::string& input, const std::string& key) {
    return fmt::format(
        "time: {{end: 1 s, step: 0.1 s}}\nsubsystems:\n  ramp: {{ode: {{outputs: {{y: 2*t}}}}}}\n  thing: {{fmu: "
        "{}{}}}\n"
        "signals:\n  - {{connect: ramp.y -> thing.{}, extrapolation: hermite-1}}\n",
        (std::filesystem::path(MDPCOSIM_BINARY_DIR) / "fmus" / "feedthrough-3.fmu").string(), key, input);
}

std::string refusal(const std::string& text) {
    try {
        check(read_scenario_text(text, "s.yaml"));
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "no mistake";
}

TEST(discrete_inputs, are_refused_with_the_way_out) {
    EXPECT_THAT(refusal(ramp_to("float32_in", "")),
                AllOf(HasSubstr("declares its input discrete"), HasSubstr("'hermite-1'"),
                      HasSubstr("'continuous: [float32_in]' in subsystem 'thing'")));
    EXPECT_THAT(refusal(ramp_to("int32_in", "")), HasSubstr("no real number"));
    EXPECT_EQ(refusal(ramp_to("float32_in", ", continuous: [float32_in]")), "no mistake");
    EXPECT_THAT(refusal(ramp_to("float32_in", ", continuous: [float32_inn]")),
                AllOf(HasSubstr("'float32_inn' is no real input that the FMU declares discrete"),
                      HasSubstr("It has: float32_in"), HasSubstr("Did you mean 'float32_in'?")));
    EXPECT_THAT(refusal(ramp_to("u", ", continuous: [u]")), HasSubstr("'u' is no real input"));
    EXPECT_THAT(check(read_scenario_text(ramp_to("float32_in", ", continuous: float32_in"), "s.yaml")),
                AllOf(HasSubstr("hermite-1"), HasSubstr("input 'float32_in', which it declares discrete")));
}

class means final : public observer {
   public:
    bool wants_inputs() const override { return true; }
    void committed(const simulation& of, const macro_step& step) override {
        const auto [part, inputs] = of.inputs().at(subsystem_index(1), 0);
        for (const polynomial& p : inputs)
            if (p.c[0] != 0 && p.degree == 0) found = found || std::abs(p.c[0] - (step.begin + step.end)) < 1e-9;
    }
    bool found = false;
};

TEST(discrete_inputs, that_are_continuous_take_the_mean_over_a_step) {
    simulation of(read_scenario_text(ramp_to("float32_in", ", continuous: [float32_in]"), "s.yaml"), {.workers = 1});
    means seen;
    of.add(seen);
    of.initialise();
    while (!of.done()) of.step();
    EXPECT_TRUE(seen.found);
    EXPECT_NEAR(of.value("thing.float32_out"), 2, 0.2);
}

}  // namespace
}  // namespace mdpcosim
