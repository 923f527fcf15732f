#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transport/mpi/module.h"

/// Which MPI there is, and which one is wanted.
namespace mdpcosim {

struct mpi_implementation {
    std::string name;      ///< as in the module's file name and in MDPCOSIM_MPI
    std::string title;     ///< as people call it
    std::string packages;  ///< Debian's, that bring it
};
/// In the order of preference.
const std::vector<mpi_implementation>& mpi_implementations();
/// Named by MDPCOSIM_MPI, if it is set; an unknown name is a user_error.
const mpi_implementation* wanted_mpi();

/// What a launcher (mpiexec, srun) has told this process by its environment.
struct mpi_launch_facts {
    const mpi_implementation* implementation = nullptr;
    int rank = 0, size = 0;  ///< size 0: the launcher does not tell
};
/// Nothing where no launcher of MPI has started this process.
std::optional<mpi_launch_facts> told_by_launcher();

/// The file of the module, beside the program or in ../lib/mdpcosim; empty where there is none.
std::string mpi_module_file(const mpi_implementation& which);
/// Throws user_error with what to install.
const mdpcosim_mpi& load_mpi(const mpi_implementation& which);

}  // namespace mdpcosim
