#include <gtest/gtest.h>

#include "master/step_control.hpp"
#include "master/test/small_systems.hpp"

namespace mdpcosim {
namespace {

/// x'' + x = F beside an elastic stop at x = -L: from x = 1 it swings freely until then, x = cos t, is thrown back with the velocity that it came with, and
/// stands at x = 1 again.
struct bouncing_oscillator {
    static constexpr double L = 0.97, k = 20;

    static double period() {
        const double meets = std::acos(-L), v = -std::sin(meets);
        const double w = std::sqrt(1 + k), rest = -k * L / (1 + k);  // of the oscillation in the stop
        return 2 * (meets + std::atan2(-v, -w * (-L - rest)) / w);
    }

    static coupled_system make(bool with_velocity) {
        const law_info* info = law_registry::instance().find("stop");
        parameter_values values(info->parameters);
        values.set("stiffness", {k});
        values.set("lower", {-L});
        std::vector<named_subsystem> parts;
        parts.push_back({"A", test::with_rk4(std::make_unique<test::oscillator>(1, 1,
                                                                                [](double) {
                                                                                    return std::array{1.0, 0.0};
                                                                                }),
                                             1e-3)});
        coupled_system system;
        system.subsystems = make_thread_transport(std::move(parts), 1);
        const auto channel = system.coupling.add_channel(
            "stop", info->make(values), {{output_slot(0), with_velocity ? output_slot(1) : output_slot(), 1}},
            make_extrapolation("poly-3"));
        system.coupling.add_delivery(input_slot(0), max_degree, {channel, -1});
        system.coupling.finish(std::vector<double>{0});
        system.at_start.push_back({subsystem_index(0), {channel}});
        system.finish();
        return system;
    }
};

/// Nothing but the stop bounds the steps, and its contacts begin and end within one.
TEST(corner_watch, contacts_within_a_step_are_found) {
    for (const bool with_velocity : {true, false})
        for (const char* name : {"explicit", "semi-implicit", "iterated"})
            for (const double first : {0.5, 0.6, 0.7})
                for (const double tolerance : {1e-3, 1e-4, 1e-5}) {
                    SCOPED_TRACE(::testing::Message() << (with_velocity ? "" : "without velocity, ") << name
                                                      << ", first step " << first << ", tolerance " << tolerance);
                    coupled_system system = bouncing_oscillator::make(with_velocity);
                    const auto chosen = method_registry::instance().find(name)->make();
                    system.initialise(0);
                    chosen->prepare(system);
                    const double end = 3 * bouncing_oscillator::period() + 1;
                    step_controller steps({.rtol = tolerance,
                                           .atol = tolerance,
                                           .atol_rate = tolerance,
                                           .whole_run = true,
                                           .first = first,
                                           .smallest = 1e-9,
                                           .largest = first},
                                          0, end);
                    steps.prepare(system, *chosen);
                    while (!steps.done()) steps.step(system, *chosen);
                    const auto y = system.subsystems->outputs();
                    // Step control answers for outputs that are read; the largest value of both is 1. Where nobody reads v, its errors become
                    // those of x unseen, which iterated, with its long steps, shows: with a contact that is missed it is off by 0.1.
                    const double of_x = std::abs(y[0] - std::cos(1)), of_v = std::abs(y[1] + std::sin(1));
                    const double times = !with_velocity && std::string_view(name) == "iterated" ? 30 : 3;
                    EXPECT_LT(with_velocity ? std::max(of_x, of_v) : of_x, times * 2 * tolerance)
                        << steps.counts().accepted << " steps, " << steps.counts().rejected << " rejected";
                }
}

}  // namespace
}  // namespace mdpcosim
