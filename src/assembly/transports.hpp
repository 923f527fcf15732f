#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "scenario/spec.hpp"
#include "transport/affinity.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

/// threads, processes, tcp, mpi
const std::vector<std::string>& transport_names();

/// Programs elsewhere that bring subsystems to a run over TCP.
struct remote_options {
    std::string listen;              ///< HOST:PORT or PORT; no host: this machine only; no port: any free one
    std::vector<std::string> names;  ///< subsystems that they bring
    std::string token_file;          ///< where the run's token is left for them; empty: `mdpcosim-PORT.token`
    double wait = 60;                ///< s for them to come
};

enum class transport_kind { threads, processes, tcp, mpi };

/// One of transport_names(); a user error with a suggestion.
transport_kind transport_named(const std::string& name);

struct transport_options {
    /// Threads: that many serve all subsystems, 0: one per core. Processes, tcp: that many processes, each with neighbours in the
    /// scenario's order, 0: one per subsystem. MPI, on rank 0: threads of each rank, 0: the cores shared fairly.
    int workers = 0;
    transport_kind kind = transport_kind::threads;
    bool pin = false;            ///< bind workers and processes, as the scenario says and where measured costs say so
    remote_options remote = {};  ///< of tcp
    const std::atomic<bool>* interrupt = nullptr;  ///< ends waiting for others
    bool writable = false;  ///< parameters, and inputs that nothing is connected to, may change between steps
};

/// Makes the scenario's subsystems and what reaches them.
std::unique_ptr<transport> make_transport(const scenario& s, const transport_options& options);

/// The entry for a process that is its own.
struct subsystem_text text_for_process(const subsystem_spec& spec, const scenario& s);

/// Which subsystems share a process or a rank, by number: what the scenario says, and of the rest `parties` lists of neighbours,
/// 0: none. `processes`: programs, and what has limits, are alone in theirs; beside a rank they have one in any case.
std::vector<std::vector<int>> groups_of(const scenario& s, int parties, bool processes = true);

/// `placement: cores`. A unit that does not exist is a user error. Nothing without options.pin.
binding binding_of(const scenario& s, const transport_options& options);

/// The subsystems of a rank, made as on threads; workers 0: its share of the cores.
std::unique_ptr<transport> make_rank_group(class mpi_ranks& ranks, scenario s, const std::vector<int>& members,
                                           transport_options options);
/// What rank 0 tells the others before they make their subsystems.
struct rank_briefing {
    std::uint64_t fingerprint;  ///< of the scenario
    bool tunable;               ///< its subsystems may change parameters
    std::string trace;          ///< where the calls of FMUs go

    rank_briefing(std::uint64_t of_scenario, bool tune, std::string trace_folder)
        : fingerprint(of_scenario), tunable(tune), trace(std::move(trace_folder)) {}
    explicit rank_briefing(const std::string& text);
    std::string text() const;
};
/// The groups of that many ranks. More ranks than subsystems, or another number than the scenario's groups allow, are a
/// user_error; `option` is what asked for them.
std::vector<std::vector<int>> groups_of_ranks(const scenario& s, int ranks, const std::string& option);

}  // namespace mdpcosim
