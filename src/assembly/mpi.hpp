#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "scenario/spec.hpp"
#include "transport/mpi/launch.hpp"

/// Runs on MPI, as the command line starts them: one process launches mpiexec and watches it, or this process is a rank that
/// mpiexec (ours or any) or Slurm has started.
namespace mdpcosim {

/// The MPIs that this mdpcosim has a module for.
std::vector<std::string> mpi_modules();

/// A launcher of MPI has started this process.
bool is_mpi_rank();
/// Which one it is; to be asked of a rank only.
int mpi_rank_number();

/// A rank goes on in another process, so that its end is noticed: first of all calls. See watch_rank().
void watch_mpi_rank(double patience, const std::function<bool(const rank_end&)>& ended);
/// A rank can end in order from now on.
void greet_mpi_launcher();
/// Of rank 0: its exit status, for the process that has launched it.
void tell_mpi_launcher(int status);

/// This process as a rank, from its begin to its end.
class mpi_rank {
   public:
    /// `hurry`: set when the launcher is going to kill this process. Throws user_error where MPI is missing.
    explicit mpi_rank(const std::atomic<bool>& hurry);
    /// Leaves the others in order; ends them where one was lost.
    ~mpi_rank();

    /// Of the ranks but 0: makes its subsystems and serves them until rank 0 is done. Rank 0 tells every mistake.
    void serve(const std::function<scenario()>& load, int workers, bool pin);

   private:
    std::unique_ptr<class mpi_ranks> ranks_;
};

/// Starts `command`, which runs this scenario, under mpiexec: `hosts` as in "a,b:4", or one rank per core of this machine; never
/// more ranks than subsystems. Gives the exit status; `interrupts` counts the signals that ask for an end.
int launch_mpi(const scenario& s, const std::string& hosts, const std::vector<std::string>& command,
               const std::atomic<int>& interrupts);

}  // namespace mdpcosim
