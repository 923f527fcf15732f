// A native model that integrates itself: a body that falls onto the ground and stays there, by time stepping, which no differential equation says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "subsystem/factory.hpp"
#include "subsystem/model.hpp"
#include "support/subsystem_contract.hpp"

namespace mdpcosim::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class falling_body final : public subsystem {
   public:
    explicit falling_body(double mass) : mass_(mass) {
        description_.type = "model falling-body";
        input_variable force;
        force.name = "force";
        force.max_degree = 0;
        description_.inputs.push_back(force);
        for (const char* name : {"height", "velocity"}) {
            output_variable y;
            y.name = name;
            y.slot = static_cast<int>(description_.outputs.size());
            description_.outputs.push_back(y);
        }
        description_.outputs[0].rate_slot = 1;
    }

    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override {
        capabilities offered;
        offered.save_restore = offered.starts_again = true;
        return offered;
    }
    void initialise(double) override { now_ = {}; }
    void reset() override {}
    void outputs(std::span<const double>, std::span<double> y) override { y[0] = now_.height, y[1] = now_.velocity; }
    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        const int n = std::max(1, static_cast<int>(std::lround((step.end - step.begin) / 1e-3)));
        const double h = (step.end - step.begin) / n, g = inputs[0].c[0] / mass_ - 9.81;
        for (int i = 0; i < n; ++i) {
            now_.velocity += h * g;
            if (now_.height + h * now_.velocity < 0) {  // an impact without restitution
                now_.velocity = -now_.height / h;
                if (now_.height > 0) tell_event(step.begin + (i + 1) * h);
            }
            now_.height += h * now_.velocity;
        }
        steps_ += n;
        outputs({}, y);
    }

    std::unique_ptr<snapshot> make_snapshot() const override { return std::make_unique<body_state>(); }
    void save(snapshot& into) override { static_cast<body_state&>(into).saved = now_; }
    void restore(const snapshot& from) override { now_ = static_cast<const body_state&>(from).saved; }
    subsystem_statistics statistics() const override { return {.micro_steps = steps_}; }

   private:
    struct motion {
        double height = 1, velocity = 0;
    };
    struct body_state final : snapshot {
        motion saved;
        void state(state_bytes& bytes) override { bytes(saved); }
    };

    double mass_;
    subsystem_description description_;
    motion now_;
    std::int64_t steps_ = 0;
};

const model_registration registered{{.name = "falling-body",
                                     .summary = "a body that falls onto the ground",
                                     .parameters = {{.name = "mass",
                                                     .unit = "kg",
                                                     .description = "",
                                                     .default_value = 1,
                                                     .allowed = parameter_info::range::positive}},
                                     .make_with_solver = [](const parameter_values& p, const std::vector<part>&) {
                                         return std::make_unique<falling_body>(p["mass"]);
                                     }}};

subsystem_spec entry() {
    subsystem_spec spec;
    spec.name = "body";
    spec.source.value = "falling-body";
    return spec;
}

INSTANTIATE_TEST_SUITE_P(own_solver, subsystem_contract,
                         testing::Values(subsystem_case{.name = "falling_body",
                                                        .make = [] { return make_subsystem(entry()); },
                                                        .tolerance = 2e-2}),
                         case_name);

TEST(model_with_a_solver, comes_to_rest_and_tells_when) {
    const auto body = make_subsystem(entry());
    body->initialise(0);
    const std::vector<polynomial> inputs(1);
    std::vector<double> y(2);
    double landed = 0;
    for (int n = 0; n < 100; ++n) {
        body->advance({0.01 * n, 0.01 * (n + 1), n}, inputs, y);
        if (body->has_notice()) landed = body->take_notice().first_event;
    }
    EXPECT_NEAR(landed, std::sqrt(2 / 9.81), 2e-3);
    EXPECT_NEAR(y[0], 0, 1e-12);
    EXPECT_NEAR(y[1], 0, 1e-12);
}

TEST(model_with_a_solver, has_no_solver_of_the_scenario_and_no_equations) {
    const auto mistake = [](const subsystem_spec& spec, const auto& make) {
        try {
            make(spec);
        } catch (const user_error& problem) {
            return std::string(problem.what());
        }
        return std::string("no mistake");
    };
    subsystem_spec with_solver = entry();
    with_solver.solver.name.value = "rk4";
    EXPECT_THAT(mistake(with_solver, [](const auto& s) { make_subsystem(s); }),
                AllOf(HasSubstr("subsystem 'body'"), HasSubstr("integrates itself"), HasSubstr("Leave 'solver' out")));
    EXPECT_THAT(mistake(entry(), [](const auto& s) { make_equations(s); }), HasSubstr("shows no equations"));
    EXPECT_TRUE(with_defaults(entry()).solver.name.empty());
}

}  // namespace
}  // namespace mdpcosim::test
