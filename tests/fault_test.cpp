// A few random faults of every kind on every transport that has processes: the run ends in order and leaves nothing behind.
#include "fault_injection.hpp"

namespace mdpcosim {
namespace {

class faults : public testing::TestWithParam<test::fault_case> {};

TEST_P(faults, end_the_run_in_order) {
    const bool waits =
        GetParam().kind == test::injection::hangs || GetParam().kind == test::injection::loses_the_connection;
    test::inject(GetParam(), waits ? 5 : 20, 20261115, false);
}

INSTANTIATE_TEST_SUITE_P(all, faults, testing::ValuesIn(test::fault_cases()),
                         [](const auto& c) { return test::name_of(c.param); });

}  // namespace
}  // namespace mdpcosim
