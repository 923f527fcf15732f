#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// What the transports cost on this machine: the two-mass system with a large and a small macro step, on one and on two CPUs,
/// beside the bare round trip of each medium (Friedrich 2011, Tables 4.1 and 4.2).
namespace mdpcosim {

/// Seconds; what does not exist here is absent.
struct transport_timing {
    std::string transport;
    std::optional<double> bare = {};                     ///< one round trip, two CPUs
    std::optional<double> large[2] = {}, small[2] = {};  ///< one macro step, on one and on two CPUs
};

/// A chain of 100 subsystems whose outputs follow their inputs at once, served by so many workers; and what starting it takes.
struct chain_timing {
    std::string transport;
    int workers = 1;
    double step = 0, start = 0;
};
struct transport_timings {
    std::vector<transport_timing> two_masses;
    std::vector<chain_timing> chain;
};

/// `program`: this program's file, which is started for every run; the best of `runs` counts. `told` hears what comes next.
transport_timings bench_transports(const std::string& program, int runs,
                                   const std::function<void(const std::string&)>& told);

std::string to_table(const transport_timings& timings);
std::string to_json(const transport_timings& timings);

/// A rank of the bare round trip over MPI, as bench_transports() starts it: rank 0 writes the seconds into `file`.
int mpi_ping_pong(const std::string& file);

}  // namespace mdpcosim
