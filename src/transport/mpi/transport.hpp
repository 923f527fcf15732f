#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/mpi/ranks.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

/// On rank 0: one group per rank, by number, the first here, made by `make_own`. `word` is given to the other ranks before they
/// make theirs.
std::unique_ptr<transport> make_mpi_transport(mpi_ranks& ranks, std::vector<std::string> names,
                                              const std::vector<std::vector<int>>& groups,
                                              const std::function<std::unique_ptr<transport>()>& make_own,
                                              const std::string& word = {});

/// On the other ranks: waits for the word, makes this rank's group and serves it until rank 0 is done.
void serve_mpi_rank(mpi_ranks& ranks,
                    const std::function<std::unique_ptr<transport>(const std::string& word)>& make_own);

}  // namespace mdpcosim
