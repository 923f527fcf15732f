// Ranks of each MPI that are killed at random times: the loss is told, results are whole, nothing is left behind.
#include "mpi_fault_injection.hpp"

namespace mdpcosim::test {
namespace {

TEST_P(mpi_faults, a_lost_rank_ends_the_run) { kill_ranks(10, 15, false); }

INSTANTIATE_TEST_SUITE_P(both, mpi_faults, testing::Values("openmpi", "mpich"),
                         [](const auto& mpi) { return mpi.param; });

}  // namespace
}  // namespace mdpcosim::test
