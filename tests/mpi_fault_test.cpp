// Ranks of one MPI (mpi_fault_long_test.cpp: of each) that are killed at random times: the loss is told, results are whole, nothing is left behind.
#include "mpi_fault_injection.hpp"

namespace mdpcosim::test {
namespace {

TEST_P(mpi_faults, a_lost_rank_ends_the_run) { kill_ranks(4, 15, false); }

INSTANTIATE_TEST_SUITE_P(one, mpi_faults, testing::Values("openmpi"), [](const auto& mpi) { return mpi.param; });

}  // namespace
}  // namespace mdpcosim::test
