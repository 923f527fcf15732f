#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/mpi/ranks.hpp"
#include "transport/processes.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

/// On rank 0: one group per rank, the first here, each served by `workers` threads, 0: a fair share of its machine's cores.
/// `word` is given to the other ranks before they make their subsystems. Throws user_error where ranks and groups are not as many.
std::unique_ptr<transport> make_mpi_transport(mpi_ranks& ranks, std::vector<subsystem_recipe> subsystems,
                                              const std::vector<std::vector<int>>& groups, int workers,
                                              const std::string& word = {});

/// On the other ranks: waits for the word, makes this rank's group and serves it until rank 0 is done.
using group_maker = std::function<std::vector<subsystem_recipe>(const std::string& word)>;
void serve_mpi_rank(mpi_ranks& ranks, const group_maker& make, int workers);

}  // namespace mdpcosim
