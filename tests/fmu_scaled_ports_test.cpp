// Signs and factors in the `ports:` of an FMU.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/mdpcosim.hpp"
#include "coupled_run.hpp"

namespace mdpcosim {
namespace {

using testing::HasSubstr;

struct scaled_case {
    const char *version, *interface;
};
void PrintTo(const scaled_case& c, std::ostream* out) { *out << "fmi" << c.version << '_' << c.interface; }

class scaled_ports : public testing::TestWithParam<scaled_case> {
   protected:
    static std::string text(const std::string& variables, const std::string& x0) {
        return fmt::format(R"(
time: {{end: 0.5 s, step: 1 ms}}
subsystems:
  a: {{fmu: {}/fmus/oscillator-{}.fmu, interface: {}, set: {{m: 1.5 kg, c: 200 N/m, x0: {}}},{}
       ports: {{p: {{kind: translation, {}}}}}}}
  b: {{model: mass-spring-damper, set: {{mass: 2 kg, stiffness: 300 N/m, x0: 20 mm}}, solver: rk4}}
connections:
  s: {{law: spring-damper, between: [a.p, b.mass], stiffness: 1e4 N/m, damping: 10 N.s/m}}
)",
                           MDPCOSIM_BINARY_DIR, GetParam().version, GetParam().interface, x0,
                           std::string(GetParam().interface) == "model-exchange" ? " solver: rk4," : "", variables);
    }
    static std::vector<std::vector<double>> motion(const std::string& of) {
        test::coupled_run run(read_scenario_text(of, "s.yaml"));
        run.watch("a.p.position");
        run.watch("b.mass.position");
        run.watch("s.u");
        return run.rows();
    }
};

TEST_P(scaled_ports, move_as_those_of_the_scaled_model) {
    const auto plain = motion(text("position: position, velocity: velocity, force: force", "16 mm"));
    EXPECT_EQ(motion(text("position: -position, velocity: -velocity, force: -force", "-16 mm")), plain);
    EXPECT_EQ(motion(text("position: 2*position, velocity: 2 * velocity, force: 2*force", "8 mm")), plain);
    EXPECT_EQ(motion(text("position: -0.5*position, velocity: -0.5*velocity, force: -0.5*force", "-32 mm")), plain);
}

TEST_P(scaled_ports, find_velocities_that_the_fmu_knows) {
    const auto plain = motion(text("position: position, force: force", "16 mm"));
    EXPECT_EQ(motion(text("position: -position, force: -force", "-16 mm")), plain);
}

TEST_P(scaled_ports, of_unknown_variables_are_refused) {
    const auto refusal = [](const std::string& of) {
        try {
            check(read_scenario_text(of, "s.yaml"));
        } catch (const user_error& problem) {
            return std::string(problem.what());
        }
        return std::string("no mistake");
    };
    EXPECT_THAT(refusal(text("position: -positon, force: force", "1 mm")), HasSubstr("'-positon'"));
    EXPECT_THAT(refusal(text("position: 0*position, force: force", "1 mm")), HasSubstr("'0*position'"));
    EXPECT_THAT(refusal(text("position: x*position, force: force", "1 mm")), HasSubstr("'x*position'"));
    EXPECT_THAT(refusal(text("position: -velocity, force: force", "1 mm")), HasSubstr("needs a variable in 'm'"));
}

INSTANTIATE_TEST_SUITE_P(fmus, scaled_ports,
                         testing::Values(scaled_case{"2", "co-simulation"}, scaled_case{"3", "model-exchange"}));

}  // namespace
}  // namespace mdpcosim
