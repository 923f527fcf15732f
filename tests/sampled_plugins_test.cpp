// `sample:` of plugins and programs: they work at sample times only.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "api/mdpcosim.hpp"
#include "simulation/simulation.hpp"

namespace mdpcosim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::filesystem::path built = MDPCOSIM_BINARY_DIR;

std::string plugin(const std::string& name) { return "plugin: " + (built / "tests/plugins" / (name + ".so")).string(); }
std::string program(const std::string& name) { return "program: " + (built / "tests/programs" / name).string(); }

/// x' = -2 x + u, u = t.
std::string sampled(const std::string& source, const std::string& sample) {
    return fmt::format(
        "time: {{end: 0.2 s, step: 1 ms}}\nsubsystems:\n  thing: {{{}, sample: {}}}\n  ramp: {{ode: {{outputs: {{y: "
        "t}}}}}}\n"
        "  after: {{model: lag-1, set: {{time-constant: 20 ms}}}}\nsignals:\n  - ramp.y -> thing.u\n  - thing.x -> "
        "after.u\n",
        source, sample);
}

/// What is seen at t.
double expected(double t, double T, double offset, double delay) {
    double x = 1;
    for (int k = 0;; ++k) {
        const double at = offset + k * T;
        if (offset + (k + 1) * T + delay > t + 1e-9) return x;
        const double rest = at / 2;
        x = rest + (x - rest) * std::exp(-2 * T);
    }
}

TEST(sampled_plugins, equal_their_difference_equations) {
    struct sample {
        double T, offset, delay;
    };
    for (const std::string& source : {plugin("tunable_decay"), program("tunable_decay")})
        for (const auto& [T, offset, delay] :
             {sample{0.02, 0, 0}, {0.02, 0.01, 0}, {0.01, 0.005, 0.003}, {0.01, 0, 0.025}})
            for (const auto kind : {transport_kind::threads, transport_kind::processes, transport_kind::tcp}) {
                const scenario s = read_scenario_text(
                    sampled(source, fmt::format("{{time: {} s, offset: {} s, delay: {} s}}", T, offset, delay)),
                    "s.yaml");
                simulation of(s, {.workers = 1, .transport = kind});
                of.initialise();
                while (!of.done()) {
                    of.step();
                    EXPECT_NEAR(of.value("thing.x"), expected(of.time(), T, offset, delay), 1e-12)
                        << source << ' ' << of.time() << ' ' << T << ' ' << offset << ' ' << delay;
                }
            }
}

TEST(sampled_plugins, go_on_from_a_saved_state_with_the_same_bits) {
    for (const std::string& source : {plugin("tunable_decay"), program("tunable_decay")}) {
        const scenario s = read_scenario_text(sampled(source, "{time: 10 ms, delay: 3 ms}"), "s.yaml");
        simulation one(s, {.workers = 1}), other(s, {.workers = 1});
        one.initialise();
        one.advance_to(0.0855);
        std::stringstream bytes;
        one.save(bytes);
        other.initialise();
        other.load(bytes);
        while (!one.done()) one.step();
        while (!other.done()) other.step();
        EXPECT_EQ(one.value("after.y"), other.value("after.y"));
        EXPECT_EQ(one.value("thing.x"), other.value("thing.x"));
    }
}

TEST(sampled_plugins, refusals) {
    const auto message = [](const std::string& text, bool monolithic = false) -> std::string {
        try {
            simulation(read_scenario_text(text, "s.yaml"), {.workers = 1, .monolithic = monolithic});
        } catch (const user_error& problem) {
            return problem.what();
        }
        return "no mistake";
    };
    EXPECT_EQ(message(sampled(plugin("tunable_decay"), "10 ms")), "no mistake");
    EXPECT_THAT(message(sampled(plugin("tunable_decay"), "1.5 ms")),
                AllOf(HasSubstr("subsystem 'thing': sample time"), HasSubstr("no whole multiple")));
    EXPECT_THAT(message(sampled(plugin("tunable_decay"), "10 ms"), true), HasSubstr("--monolithic"));
    EXPECT_THAT(message(sampled(plugin("tunable_decay") + ", input-degree: 1", "10 ms")), HasSubstr("input-degree"));
    const std::string with_ports =
        "time: {end: 1 s, step: 1 ms}\nsubsystems:\n  thing: {plugin: " + (built / "plugins/oscillator_c.so").string() +
        ", sample: 10 ms}\n";
    EXPECT_THAT(message(with_ports), AllOf(HasSubstr("it has ports"), HasSubstr("signals only")));
    EXPECT_THAT(
        message("time: {end: 1 s, step: 1 ms}\nsubsystems:\n  thing: {ode: {outputs: {y: t}}, sample: 10 ms}\n"),
        HasSubstr("'sample' belongs to a sampled 'model', a 'plugin' or a 'program'"));
}

}  // namespace
}  // namespace mdpcosim
