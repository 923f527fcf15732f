#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "master/method.hpp"
#include "master/test/small_systems.hpp"

namespace mdpcosim {
namespace {

using test::algebraic;
using testing::ElementsAre;

/// y_0 = 1 + t^3 and a chain of gains 2, 3, 5, 7 against the order of the subsystems: 4 <- 3 <- 2 <- 1 <- 0 stand as
/// subsystems 4, 3, 2, 1, 0 of the transport, so that no evaluation in the order of numbers could be right.
struct gain_chain {
    static constexpr std::array<double, 5> product{1, 2, 6, 30, 210};
    static double source(double t) { return 1 + t * t * t; }

    gain_chain() {
        const std::array<double, 4> gains{2, 3, 5, 7};
        std::vector<named_subsystem> parts;
        for (std::size_t link = 5; link-- > 0;) {
            std::unique_ptr<algebraic> model;
            if (link == 0)
                model = std::make_unique<algebraic>(0, false, [](double t, auto) { return source(t); });
            else
                model =
                    std::make_unique<algebraic>(1, true, [g = gains[link - 1]](double, auto u) { return g * u[0]; });
            models[link] = model.get();
            parts.push_back({"link" + std::to_string(link), std::move(model)});
        }
        system.subsystems = make_thread_transport(std::move(parts), 1);
        // Outputs: link 4, 3, 2, 1, 0 in slots 0 .. 4; inputs: links 4, 3, 2, 1 in slots 0 .. 3.
        for (std::size_t link = 1; link <= 4; ++link) {
            const auto channel =
                system.coupling.add_channel("to" + std::to_string(link), nullptr,
                                            {{output_slot(5 - link), output_slot(), 1}}, make_extrapolation("poly-2"));
            system.coupling.add_delivery(input_slot(4 - link), max_degree, {channel, 1});
            system.at_start.push_back({subsystem_index(4 - link), {channel}});
            if (link < 4) system.at_each_step.push_back({subsystem_index(4 - link), {channel}});
        }
        system.coupling.finish(std::vector<double>(4, 0.0));
        system.finish();
    }

    double y(std::size_t link) const { return system.subsystems->outputs()[4 - link]; }

    coupled_system system;
    std::array<algebraic*, 5> models{};
};

TEST(feed_through, outputs_agree_with_each_other_at_the_start) {
    gain_chain chain;
    chain.system.initialise(0.5);
    for (std::size_t link = 0; link < 5; ++link)
        EXPECT_EQ(chain.y(link), gain_chain::product[link] * gain_chain::source(0.5)) << "link " << link;
    for (std::size_t link = 1; link < 5; ++link) EXPECT_EQ(chain.system.u[link - 1], chain.y(link - 1));
}

/// Every output that another subsystem takes is the exact product at every macro point; the last one, which nobody takes,
/// follows from the extrapolated input.
TEST(feed_through, outputs_that_others_take_are_exact_at_every_macro_point) {
    gain_chain chain;
    chain.system.initialise(0);
    const auto chosen = method_registry::instance().find("explicit")->make();
    const time_grid grid(0, 2, 0.125);
    for (std::int64_t n = 0; n < grid.steps(); ++n) {
        chosen->step(chain.system, grid.step(n));
        const double t = grid.time(n + 1);
        for (std::size_t link = 0; link < 4; ++link)
            ASSERT_EQ(chain.y(link), gain_chain::product[link] * gain_chain::source(t))
                << "link " << link << " at " << t;
        for (std::size_t link = 1; link < 5; ++link) ASSERT_EQ(chain.system.u[link - 1], chain.y(link - 1));
        const double extrapolated = chain.system.subsystems->inputs()[0](t - grid.time(n));
        ASSERT_EQ(chain.y(4), 7 * extrapolated);
        ASSERT_NE(extrapolated, chain.y(3));
    }
}

/// Only what depends on inputs of the same time is evaluated again, once per step.
TEST(feed_through, nothing_is_evaluated_needlessly) {
    gain_chain chain;
    chain.system.initialise(0);
    for (auto* model : chain.models) model->evaluations = 0;
    const auto chosen = method_registry::instance().find("explicit")->make();
    for (std::int64_t n = 0; n < 10; ++n)
        chosen->step(chain.system, {0.1 * static_cast<double>(n), 0.1 * static_cast<double>(n + 1), n});
    std::vector<int> counts;
    for (const auto* model : chain.models) counts.push_back(model->evaluations);
    EXPECT_THAT(counts, ElementsAre(0, 10, 10, 10, 0));
}

}  // namespace
}  // namespace mdpcosim
