// Which evaluations share a round trip.
#include "transport/plan_levels.hpp"

#include <gmock/gmock.h>

namespace mdpcosim {
namespace {

using testing::ElementsAre;

/// Subsystems with one input and one output each, which depends on it.
struct coupled final : step_plan {
    coupled(std::vector<int> groups, bool with_step) {
        grounds.group = std::move(groups);
        const std::size_t n = grounds.group.size();
        grounds.evaluates.assign(n, true);
        for (std::uint32_t i = 0; i < n; ++i) grounds.owner.push_back(i);
        grounds.direct.assign(n, true);
        grounds.inputs.assign(n, 1);
        for (std::size_t i = 0; i < n && with_step; ++i) {
            items.push_back({.subsystem = subsystem_index(i)});
            sources.emplace_back();
        }
    }

    void signal(std::uint32_t from, std::uint32_t to) {
        signals.push_back({from, to, 1, 1});
        const auto last = static_cast<std::uint32_t>(signals.size());
        add(from, to, true, last - 1, last);
    }
    void law(std::uint32_t from, std::uint32_t to) { add(from, to, false, 0, 0); }

    /// By evaluation.
    std::vector<int> levels() const {
        std::vector<int> all;
        for (const auto& place : find_levels(*this, grounds).of)
            if (place.level >= 0) all.push_back(place.level);
        return all;
    }
    std::vector<bool> given() const {
        std::vector<bool> all;
        for (const auto& place : find_levels(*this, grounds).of)
            if (place.level >= 0) all.push_back(place.given);
        return all;
    }

    plan_grounds grounds;

   private:
    void add(std::uint32_t from, std::uint32_t to, bool plain, std::uint32_t first, std::uint32_t last) {
        items.push_back({subsystem_index(to), false, true, plain, first, last});
        sources.push_back({from});
    }
    void find_values_by_laws(const item&, double) override {}
};

TEST(plan_levels, a_chain_takes_one_level_per_group) {
    for (const bool with_step : {false, true}) {
        coupled c({0, 0, 0, 1, 1, 1}, with_step);
        for (std::uint32_t i = 1; i < 6; ++i) c.signal(i - 1, i);
        EXPECT_THAT(c.levels(), ElementsAre(0, 0, 1, 1, 1));
        EXPECT_THAT(c.given(), ElementsAre(false, false, true, false, false));
        EXPECT_THAT(find_levels(c, c.grounds).items.back().size(), 3u);
    }
}

TEST(plan_levels, a_chain_that_goes_to_and_fro_takes_one_per_member) {
    coupled c({0, 1, 0, 1}, true);
    for (std::uint32_t i = 1; i < 4; ++i) c.signal(i - 1, i);
    EXPECT_THAT(c.levels(), ElementsAre(1, 2, 3));
}

/// What others gave before a start is known; what they give in a step is known after it.
TEST(plan_levels, outputs_that_are_not_evaluated_are_known_at_once_or_after_the_step) {
    coupled start({0, 1}, false), step({0, 1}, true);
    start.signal(0, 1);
    step.signal(0, 1);
    EXPECT_THAT(start.levels(), ElementsAre(0));
    EXPECT_THAT(step.levels(), ElementsAre(1));
}

TEST(plan_levels, values_by_laws_come_from_the_master) {
    coupled c({0, 0, 0}, true);
    c.law(0, 1);
    c.signal(1, 2);
    EXPECT_THAT(c.levels(), ElementsAre(1, 1));
    EXPECT_THAT(c.given(), ElementsAre(true, false));
    c.law(2, 0);
    EXPECT_THAT(c.levels(), ElementsAre(1, 1, 2));
}

TEST(plan_levels, who_carries_out_no_plans_is_asked_after_the_step) {
    coupled c({0, 1}, true);
    c.grounds.evaluates[1] = false;
    c.signal(0, 1);
    EXPECT_THAT(c.levels(), ElementsAre(1));
    coupled alone({0, 0}, true);
    alone.grounds.evaluates[0] = false;
    alone.signal(0, 1);
    EXPECT_THAT(alone.levels(), ElementsAre(1));
    EXPECT_THAT(alone.given(), ElementsAre(true));
}

TEST(plan_levels, inputs_that_nobody_drives_are_given) {
    coupled c({0, 0}, true);
    c.grounds.inputs[1] = 2;
    c.signal(0, 1);
    EXPECT_THAT(c.given(), ElementsAre(true));
    EXPECT_THAT(c.levels(), ElementsAre(0));
}

/// Each level reads outputs that stand; otherwise the master could not find the same values.
TEST(plan_levels, a_second_evaluation_waits_for_the_readers_of_the_first) {
    coupled c({0, 0, 0}, true);
    c.signal(0, 1);
    c.signal(1, 2);
    c.signal(2, 1);
    EXPECT_THAT(c.levels(), ElementsAre(0, 0, 1));
    coupled read_before({0, 0}, true);
    read_before.signal(0, 1);  // reads the step's output of 0
    read_before.signal(1, 0);
    EXPECT_THAT(read_before.levels(), ElementsAre(0, 1));
    read_before.grounds.direct[0] = false;  // which no evaluation changes
    EXPECT_THAT(read_before.levels(), ElementsAre(0, 0));
}

}  // namespace
}  // namespace mdpcosim
