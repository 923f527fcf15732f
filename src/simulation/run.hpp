#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "assembly/transports.hpp"
#include "results/progress.hpp"
#include "results/summary.hpp"

namespace mdpcosim {

struct run_options {
    std::filesystem::path out;  ///< empty: `<scenario>.out`, of a reference `<scenario>.reference.out`
    int workers = 0;            ///< threads (of each MPI rank), 0: one per core; or processes, 0: one per subsystem
    const std::atomic<bool>* interrupt = nullptr;  ///< set by Ctrl-C: the run ends after the present macro step
    bool monolithic = false;                       ///< the reference: the scenario as one system, no co-simulation
    std::string transport = "threads";             ///< one of transport_names()
    bool fmi_log = false;                          ///< every call of every FMU goes into fmi.log
    bool pin = true;                               ///< bind workers and processes to processing units
    remote_options remote = {};                    ///< of the transport tcp
    progress* shown = nullptr;                     ///< told how far the run is
    std::function<void()> started = {};            ///< called after the initialisation, before the first macro step
    std::function<void(run_summary&)> ended = {};  ///< called when the results are on disk, before summary.json is
};

/// Runs a scenario and writes results.csv, summary.json and scenario.yaml into the run's folder. A user's mistake leaves as
/// user_error before anything is written (but fmi.log, which tells of an FMU that refuses, too); a failing subsystem or an interrupt ends the run with what was recorded on
/// disk, told by status and message of the summary.
run_summary run(scenario s, const run_options& options);

/// Rows of a run on a constant grid, at most.
std::int64_t most_rows(const time_spec& time, const record_spec& record);

/// Where results go unless `out` says so.
std::filesystem::path default_folder(const scenario& s, bool monolithic);

}  // namespace mdpcosim
