#include <gmock/gmock.h>

#include <bit>
#include <cmath>

#include "fmu/test/fmu_spec.hpp"
#include "remote/isolated_subsystem.hpp"
#include "subsystem/factory.hpp"
#include "support/allocation_counter.hpp"
#include "support/told_messages.hpp"

/// How the rates of FMUs' outputs answer to inputs, by directional derivatives, in both versions and interfaces.
namespace mdpcosim::test {
namespace {

using testing::HasSubstr;

struct fmu_case {
    std::string version, interface;
};

class rate_sensitivities : public testing::TestWithParam<fmu_case> {
   protected:
    static subsystem_spec spec(const std::string& name, const settings& set = {}) {
        subsystem_spec s = spec_of_fmu(name + "-" + GetParam().version, set);
        s.fmu.interface = {GetParam().interface, {}};
        s.ports = {
            port_of("mass", "translation", {{"position", "position"}, {"velocity", "velocity"}, {"force", "force"}})};
        return s;
    }

    static int slot(const subsystem& s, const std::string& name) {
        for (const auto& y : s.describe().outputs)
            if (y.name == name) return y.slot;
        ADD_FAILURE() << name;
        return 0;
    }

    static std::vector<double> derivatives(subsystem& s, double u, int input = 0) {
        std::vector<double> by_output(static_cast<std::size_t>(s.describe().output_count()), -1);
        s.rate_sensitivities(std::vector{u}, input, by_output);
        return by_output;
    }

    static double value(subsystem& s, const std::string& name, double u = 0.5) {
        return derivatives(s, u)[static_cast<std::size_t>(slot(s, name))];
    }
};

TEST_P(rate_sensitivities, are_the_inverse_mass) {
    const auto s = make_subsystem(spec("mover", {{"m", "0.3 kg"}}));
    EXPECT_TRUE(s->offers().rate_sensitivities);
    s->initialise(0);
    for (int n = 0; n < 3; ++n) {
        EXPECT_EQ(value(*s, "position"), 0);
        EXPECT_EQ(value(*s, "velocity"), 1 / 0.3);
        EXPECT_EQ(value(*s, "lever"), 3 * (1 / 0.3)) << "through the state";
        std::vector<double> y(static_cast<std::size_t>(s->describe().output_count()));
        s->advance({0.01 * n, 0.01 * (n + 1), n}, std::vector<polynomial>(1), y);
    }
    for (const char* known : {"position", "velocity", "lever"})
        EXPECT_TRUE(s->describe().outputs[static_cast<std::size_t>(slot(*s, known))].rate_sensitivities) << known;
}

TEST_P(rate_sensitivities, are_in_SI_units) {
    const auto s = make_subsystem(spec("mover-in-mm", {{"m", "0.3 kg"}}));
    s->initialise(0);
    EXPECT_NEAR(value(*s, "velocity"), 1 / 0.3, 1e-15);
    EXPECT_NEAR(value(*s, "lever"), 10, 1e-14);
}

TEST_P(rate_sensitivities, of_an_output_that_follows_an_input_are_not_known) {
    const auto s = make_subsystem(spec("oscillator", {{"m", "2 kg"}}));
    s->initialise(0);
    EXPECT_EQ(value(*s, "velocity"), 0.5);
    EXPECT_TRUE(std::isnan(value(*s, "acceleration")));
    EXPECT_FALSE(s->describe().outputs[static_cast<std::size_t>(slot(*s, "acceleration"))].rate_sensitivities);
}

TEST_P(rate_sensitivities, are_not_offered_where_the_fmu_has_none) {
    const auto s = make_subsystem(spec("plain-oscillator"));
    s->initialise(0);
    EXPECT_FALSE(s->offers().rate_sensitivities);
    EXPECT_TRUE(std::isnan(value(*s, "velocity")));
}

TEST_P(rate_sensitivities, change_nothing_and_allocate_nothing) {
    for (const char* fmu : {"mover", "oscillator"}) {
        const auto asked = make_subsystem(spec(fmu, {{"x0", "1 m"}})),
                   left_alone = make_subsystem(spec(fmu, {{"x0", "1 m"}}));
        asked->initialise(0);
        left_alone->initialise(0);
        std::vector<double> a(static_cast<std::size_t>(asked->describe().output_count())), b(a);
        std::vector<double> by_output(a.size());
        const std::vector<polynomial> inputs(1);
        const std::vector<double> zero{0}, other{7};
        asked->rate_sensitivities(zero, 0, by_output);  // ends the start
        for (int n = 0; n < 20; ++n) {
            asked->outputs(zero, a);
            left_alone->outputs(zero, b);
            EXPECT_EQ(a, b) << n;
            const allocation_counter allocations;
            asked->rate_sensitivities(other, 0, by_output);
            EXPECT_EQ(allocations_are_counted() ? allocations.count() : 0, 0);
            asked->outputs(other, a);
            left_alone->outputs(other, b);
            EXPECT_EQ(a, b) << n;
            asked->rate_sensitivities(zero, 0, by_output);
            asked->advance({0.01 * n, 0.01 * (n + 1), n}, inputs, a);
            left_alone->advance({0.01 * n, 0.01 * (n + 1), n}, inputs, b);
            EXPECT_EQ(a, b) << n;
        }
    }
}

TEST_P(rate_sensitivities, arrive_from_a_process_as_they_are) {
    const auto here = make_subsystem(spec("mover", {{"m", "0.7 kg"}}));
    const auto far = make_isolated_subsystem({.name = "far"}, text_of(spec("mover", {{"m", "0.7 kg"}})));
    EXPECT_TRUE(far->offers().rate_sensitivities);
    here->initialise(0);
    far->initialise(0);
    for (const char* output : {"position", "velocity", "lever"})
        EXPECT_EQ(std::bit_cast<std::uint64_t>(value(*far, output)),
                  std::bit_cast<std::uint64_t>(value(*here, output)));
}

TEST_P(rate_sensitivities, that_were_promised_only_are_told_once_and_the_fmu_goes_on) {
    const test::told_messages messages;
    const auto s = make_subsystem(spec("refusing-mover"));
    EXPECT_TRUE(s->offers().rate_sensitivities);
    s->initialise(0);
    for (int n = 0; n < 3; ++n) EXPECT_TRUE(std::isnan(value(*s, "velocity")));
    const std::string told = messages.text();
    const std::string reason = "Its directional derivatives, which its description promises, are not used.";
    EXPECT_THAT(told, HasSubstr("GetDirectionalDerivative returned error"));
    EXPECT_THAT(told, HasSubstr(reason));
    EXPECT_EQ(told.find(reason), told.rfind(reason));
    std::vector<double> y(static_cast<std::size_t>(s->describe().output_count()));
    polynomial force;
    force.c[0] = 1;
    s->advance({0, 0.01, 0}, std::vector{force}, y);
    EXPECT_NEAR(y[static_cast<std::size_t>(slot(*s, "velocity"))], std::sin(0.1) / 10, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(fmu, rate_sensitivities,
                         testing::Values(fmu_case{"2", "co-simulation"}, fmu_case{"3", "co-simulation"},
                                         fmu_case{"2", "model-exchange"}, fmu_case{"3", "model-exchange"}),
                         [](const auto& c) {
                             return (c.param.interface == "co-simulation" ? "steps_" : "equations_") + c.param.version;
                         });

}  // namespace
}  // namespace mdpcosim::test
