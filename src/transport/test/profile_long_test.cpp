#include <gtest/gtest.h>

#include "transport/test/test_subsystem.hpp"

namespace mdpcosim {
namespace {

/// One sampled step alone fills the profile; thousands of steps later it is still that step, and nothing has overflowed.
TEST(profile, one_step_may_fill_it) {
    const auto t = make_thread_transport(
        test::make_subsystems(std::vector<test::test_traits>(21000, {.inputs = 0, .outputs = 1})), 1);
    t->initialise(0);
    for (std::int64_t n = 0; n < 12000; ++n) t->advance({static_cast<double>(n), static_cast<double>(n + 1), n});
    ASSERT_EQ(t->profile().size(), 1u);
    const auto& events = t->profile()[0].events();
    EXPECT_EQ(events.size(), 20000u);
    EXPECT_EQ(events.front().sample, 0);
    EXPECT_EQ(events.back().sample, 0);
}

}  // namespace
}  // namespace mdpcosim
