#pragma once

#include <string>
#include <vector>

namespace mdpcosim {

/// A machine and how many ranks it gets.
struct mpi_host {
    std::string name;
    int ranks = 1;
};

/// "a,b:4": a gets one rank, b four. Throws user_error.
std::vector<mpi_host> parse_hosts(const std::string& text);

bool is_this_machine(const mpi_host& host);

/// Every machine but this one must let itself be reached by ssh, as mpiexec does it. Throws user_error after some seconds.
void check_hosts(const std::vector<mpi_host>& hosts);

}  // namespace mdpcosim
