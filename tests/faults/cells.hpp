#pragma once

#include <string>
#include <vector>

/// What can go wrong, where, and in which kind of subsystem: the table of the fault campaign.
namespace mdpcosim::faults {

enum class kind {
    segv,  ///< crashes by signals
    bus,
    fpe,
    ill,
    abort,
    exit,       ///< exit(0)
    bare_exit,  ///< _exit(0)
    status,     ///< exit(5)
    hang,
    not_a_number,
    error,  ///< says that it cannot go on
    exception,
    killed,     ///< kill -9 of its process
    lost_rank,  ///< kill -9 of a rank
    terminate,  ///< SIGTERM, SIGINT, SIGHUP to the run
    interrupt,
    hang_up,
    garbage,  ///< random bytes in the shared memory, or on the connection
    disconnect,
    flood,   ///< output without end
    memory,  ///< more than its limits allow
    cpu
};
inline constexpr int kinds = static_cast<int>(kind::cpu) + 1;

enum class place { threads, processes, tcp, mpi };
inline constexpr int places = 4;

/// The last one is an FMU that mdpcosim has exported, with the FMU that fails inside.
enum class source { native, ode, plugin, fmu, program, exported };
inline constexpr int sources = 6;

const char* name_of(kind k);
const char* name_of(place p);
const char* name_of(source s);

struct cell {
    kind what;
    place where;
    source who;

    /// The subsystem has a process, by its transport or by a limit; else a fault of its code is one of the run itself.
    bool isolated() const;
    /// `limit` in the scenario, which gives it a process on every transport.
    bool limited() const;
    /// Only a parent that watches the run can tell of this one.
    bool needs_supervisor() const;
    /// Why it cannot be; empty: it can.
    std::string impossible() const;
};

std::vector<cell> all_cells();

}  // namespace mdpcosim::faults
