#include "master/macro_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "master/test/small_systems.hpp"

namespace mdpcosim {
namespace {

using test::algebraic;
using testing::ElementsAre;

/// Keeps the rows.
class row_list final : public result_sink {
   public:
    explicit row_list(std::vector<std::vector<double>>& to) : rows_(to) {}
    void write(std::span<const double> values, std::size_t length) override {
        for (std::size_t at = 0; at < values.size(); at += length)
            rows_.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(at),
                               values.begin() + static_cast<std::ptrdiff_t>(at + length));
    }
    void flush() override {}

   private:
    std::vector<std::vector<double>>& rows_;
};

/// y = t: a subsystem that tells the time, and does what a test asks for in a step.
struct clock_system {
    explicit clock_system(std::function<void(const macro_step&)> on_advance = {}) {
        auto model = std::make_unique<algebraic>(0, false, [](double t, auto) { return t; });
        model->on_advance = std::move(on_advance);
        std::vector<named_subsystem> parts;
        parts.push_back({"clock", std::move(model)});
        system.subsystems = make_thread_transport(std::move(parts), 1);
        system.coupling.add_channel("u", nullptr, {{output_slot(0), output_slot(), -2}}, make_extrapolation("poly-1"));
        system.coupling.finish({});
        system.finish();
    }

    /// Runs with a recorder of y and u; what leaves the loop leaves here too.
    void run(const time_grid& grid, std::optional<double> every, const std::atomic<bool>* interrupt = nullptr) {
        recorder rows({{"y", "", recorded_column::source::output, 0}, {"u", "", recorded_column::source::coupling, 0}},
                      std::make_unique<row_list>(written));
        coupling_monitor monitor({conjugate::none});
        coupling_watch watch(monitor, {"u"}, coupling_watch::on_divergence::stop);
        system.initialise(grid.start());
        const auto how = method_registry::instance().find("explicit")->make();
        try {
            run_macro_loop(system, *how, grid, {&rows, every, nullptr, &watch, interrupt}, result);
        } catch (...) {
            rows.flush();
            throw;
        }
        rows.flush();
        low = monitor.quality(0).u_min;
        high = monitor.quality(0).u_max;
    }

    std::vector<double> times() const {
        std::vector<double> t;
        for (const auto& row : written) t.push_back(row[0]);
        return t;
    }

    coupled_system system;
    loop_result result;
    std::vector<std::vector<double>> written;
    double low = 0, high = 0;
};

TEST(macro_loop, times_are_made_once_and_the_last_step_is_shorter) {
    std::vector<macro_step> steps;
    clock_system s([&](const macro_step& step) { steps.push_back(step); });
    s.run(time_grid(0.5, 1.75, 0.5), {});
    ASSERT_EQ(steps.size(), 3u);
    EXPECT_EQ(steps[0].begin, 0.5);
    for (std::size_t n = 0; n < 3; ++n) {
        EXPECT_EQ(steps[n].counter, static_cast<std::int64_t>(n));
        EXPECT_EQ(steps[n].end, n == 2 ? 1.75 : 0.5 + 0.5 * static_cast<double>(n + 1));
        if (n > 0) {
            EXPECT_EQ(steps[n].begin, steps[n - 1].end);
        }
    }
    EXPECT_THAT(s.times(), ElementsAre(0.5, 1, 1.5, 1.75));
    EXPECT_EQ(s.result.reached, 1.75);
    EXPECT_EQ(s.result.steps, 3);
    EXPECT_FALSE(s.result.interrupted);
}

TEST(macro_loop, a_single_step_longer_than_the_run) {
    clock_system s;
    s.run(time_grid(0, 0.25, 1), {});
    EXPECT_THAT(s.times(), ElementsAre(0, 0.25));
    EXPECT_EQ(s.result.steps, 1);
}

/// No sum of steps: after a million of them the time is still n*H, and the end is the end.
TEST(macro_loop, time_does_not_drift) {
    double worst = 0;
    clock_system s([&](const macro_step& step) {
        worst = std::max(worst, std::abs(step.begin - static_cast<double>(step.counter) * 1e-3));
    });
    s.run(time_grid(0, 1000, 1e-3), 1000.0);
    EXPECT_EQ(worst, 0);
    EXPECT_EQ(s.result.steps, 1000000);
    EXPECT_THAT(s.times(), ElementsAre(0, 1000));
}

TEST(macro_loop, rows_hold_outputs_and_coupling_variables_of_their_time) {
    clock_system s;
    s.run(time_grid(0, 1, 0.25), {});
    ASSERT_EQ(s.written.size(), 5u);
    for (const auto& row : s.written) EXPECT_THAT(row, ElementsAre(row[0], row[0], -2 * row[0]));
    EXPECT_EQ(s.low, -2);
    EXPECT_EQ(s.high, 0);
}

TEST(macro_loop, record_grid_on_multiples) {
    clock_system s;
    s.run(time_grid(0, 2, 0.25), 0.5);
    EXPECT_THAT(s.times(), ElementsAre(0, 0.5, 1, 1.5, 2));
}

/// 0.3 = 3 * 0.1 does not hold in binary: no row is lost or doubled over 30000 of them.
TEST(macro_loop, record_grid_withstands_rounding) {
    clock_system s;
    s.run(time_grid(0, 9000, 0.1), 0.3);
    const auto t = s.times();
    ASSERT_EQ(t.size(), 30001u);
    for (std::size_t k = 0; k < t.size(); ++k) ASSERT_NEAR(t[k], 0.3 * static_cast<double>(k), 1e-9);
}

TEST(macro_loop, record_grid_between_the_steps_takes_the_next_macro_point) {
    clock_system s;
    s.run(time_grid(0, 2, 0.25), 0.6);
    EXPECT_THAT(s.times(), ElementsAre(0, 0.75, 1.25, 2));
}

TEST(macro_loop, record_grid_counts_from_the_start) {
    clock_system s;
    s.run(time_grid(0.125, 1.125, 0.25), 0.5);
    EXPECT_THAT(s.times(), ElementsAre(0.125, 0.625, 1.125));
}

TEST(macro_loop, record_grid_finer_than_the_steps_records_every_step_once) {
    clock_system s;
    s.run(time_grid(0, 1, 0.25), 0.1);
    EXPECT_THAT(s.times(), ElementsAre(0, 0.25, 0.5, 0.75, 1));
}

TEST(macro_loop, record_grid_longer_than_the_run_records_start_and_end) {
    clock_system s;
    s.run(time_grid(0, 1, 0.25), 5.0);
    EXPECT_THAT(s.times(), ElementsAre(0, 1));
}

TEST(macro_loop, the_end_is_recorded_once_even_beside_the_grid) {
    clock_system s;
    s.run(time_grid(0, 1.1, 0.25), 0.5);
    EXPECT_THAT(s.times(), ElementsAre(0, 0.5, 1, 1.1));
}

TEST(macro_loop, an_interrupt_ends_the_run_after_the_present_step) {
    std::atomic<bool> interrupt{false};
    clock_system s([&](const macro_step& step) {
        if (step.counter == 3) interrupt = true;
    });
    s.run(time_grid(0, 4, 0.25), 0.75, &interrupt);
    EXPECT_TRUE(s.result.interrupted);
    EXPECT_EQ(s.result.steps, 4);
    EXPECT_EQ(s.result.reached, 1);
    EXPECT_THAT(s.times(), ElementsAre(0, 0.75, 1));  // how far it came is recorded, on the grid or not
}

TEST(macro_loop, an_interrupt_in_the_last_step_comes_too_late) {
    std::atomic<bool> interrupt{false};
    clock_system s([&](const macro_step& step) {
        if (step.counter == 3) interrupt = true;
    });
    s.run(time_grid(0, 1, 0.25), {}, &interrupt);
    EXPECT_FALSE(s.result.interrupted);
    EXPECT_EQ(s.result.steps, 4);
}

TEST(macro_loop, an_interrupt_before_the_run_lets_one_step_pass) {
    const std::atomic<bool> interrupt{true};
    clock_system s;
    s.run(time_grid(0, 1, 0.25), {}, &interrupt);
    EXPECT_TRUE(s.result.interrupted);
    EXPECT_EQ(s.result.steps, 1);
    EXPECT_THAT(s.times(), ElementsAre(0, 0.25));
}

TEST(macro_loop, a_failure_leaves_the_result_up_to_date) {
    clock_system s([](const macro_step& step) {
        if (step.counter == 5) throw run_error("enough");
    });
    try {
        s.run(time_grid(0, 4, 0.25), {});
        FAIL() << "no failure";
    } catch (const subsystem_failure& problem) {
        EXPECT_EQ(problem.time(), 1.25);
        EXPECT_STREQ(problem.what(),
                     "subsystem 'clock' failed at t = 1.25 s: enough (macro step 5 from 1.25 s to 1.5 s)");
    }
    EXPECT_EQ(s.result.steps, 5);
    EXPECT_EQ(s.result.reached, 1.25);
    EXPECT_FALSE(s.result.interrupted);
    EXPECT_THAT(s.times(), ElementsAre(0, 0.25, 0.5, 0.75, 1, 1.25));
}

TEST(macro_loop, works_without_observers) {
    clock_system s;
    s.system.initialise(0);
    loop_result result;
    run_macro_loop(s.system, *method_registry::instance().find("explicit")->make(), time_grid(0, 1, 0.25), {}, result);
    EXPECT_EQ(result.steps, 4);
}

// ---- feed-through ---------------------------------------------------------------------------------------------------

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
    const auto how = method_registry::instance().find("explicit")->make();
    const time_grid grid(0, 2, 0.125);
    for (std::int64_t n = 0; n < grid.steps(); ++n) {
        how->step(chain.system, grid.step(n));
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
    const auto how = method_registry::instance().find("explicit")->make();
    for (std::int64_t n = 0; n < 10; ++n)
        how->step(chain.system, {0.1 * static_cast<double>(n), 0.1 * static_cast<double>(n + 1), n});
    std::vector<int> counts;
    for (const auto* model : chain.models) counts.push_back(model->evaluations);
    EXPECT_THAT(counts, ElementsAre(0, 10, 10, 10, 0));
}

}  // namespace
}  // namespace mdpcosim
