#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "transport/mpi/hosts.hpp"

/// mpiexec, started and watched by a process that is no rank itself.
namespace mdpcosim {

struct mpi_launch {
    std::vector<std::string> command;  ///< what every rank does
    std::vector<mpi_host> hosts;       ///< none: this machine
    std::vector<std::string> groups;   ///< of every rank, the names of its subsystems
};

/// Runs it to its end and gives the exit status: that of rank 0; 1 where a rank was lost, which is told; 130 where it was
/// interrupted. What ranks and mpiexec write on standard error goes line by line to the message sink. `interrupts` counts the signals that ask for an end: the first one asks rank 0 to end in
/// order, the second one all ranks to end at once. Throws user_error where there is no MPI.
int launch_ranks(const mpi_launch& launch, const std::atomic<int>& interrupts);

/// The command line of mpiexec that starts `command` as ranks that do not use MPI themselves. Throws user_error where there is no MPI.
std::vector<std::string> mpiexec_command(const std::vector<mpi_host>& hosts, int ranks,
                                         const std::vector<std::string>& command);

/// How a rank ended.
struct rank_end {
    int how = 0;        ///< as waitpid() says
    bool told = false;  ///< it was asked to
    double waited = 0;  ///< s after which it was killed, since it did not end when it was asked to; else 0
};

/// In a rank: goes on in a process of its own, whose end the first one watches. Should it be killed, the launching process is told, if it is
/// launch_ranks(): mpiexec would tell it late, and kill rank 0 before it can close its results. To be called before there are threads. `ended` is
/// called in the watching process; false: not in order. The two share last words. A rank that has not ended `patience` seconds after it was asked
/// to is killed.
void watch_rank(int rank, double patience, const std::function<bool(const rank_end&)>& ended);
/// A rank hears signals from now on: the launching process passes none on before all do, as mpiexec would lose them.
void greet_launcher();
/// Of rank 0: its exit status.
void tell_launcher(int status);

}  // namespace mdpcosim
