// Many random faults of every kind on every transport that has processes: the run ends in order and leaves nothing behind.
#include "fault_injection.hpp"

namespace mdpcosim {
namespace {

class faults : public testing::TestWithParam<test::fault_case> {};

TEST_P(faults, end_the_run_in_order) { test::inject(GetParam(), 200, 6, true); }

INSTANTIATE_TEST_SUITE_P(all, faults, testing::ValuesIn(test::fault_cases()),
                         [](const auto& c) { return test::name_of(c.param); });

}  // namespace
}  // namespace mdpcosim
