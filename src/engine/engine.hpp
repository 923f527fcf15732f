#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "results/compare.hpp"
#include "results/summary.hpp"
#include "scenario/read.hpp"

/// The public facade: what the command line, and later the C API and bindings, call.
namespace mdpcosim {

struct run_options {
    std::filesystem::path out;  ///< empty: `<scenario>.out`, of a reference `<scenario>.reference.out`
    int workers = 0;            ///< threads, 0: one per core; or processes, 0: one per subsystem
    bool quiet = false;         ///< no progress
    const std::atomic<bool>* interrupt = nullptr;  ///< set by Ctrl-C: the run ends after the present macro step
    bool monolithic = false;                       ///< the reference: the scenario as one system, no co-simulation
    std::string transport = "threads";             ///< one of transport_names()
};

/// threads, processes
const std::vector<std::string>& transport_names();

/// Runs a scenario and writes results.csv, summary.json and scenario.yaml into the run's folder. A user's mistake leaves as
/// user_error before anything is written; a failing subsystem or an interrupt ends the run with what was recorded on
/// disk, told by status and message of the summary.
run_summary run(scenario s, const run_options& options);

/// The coupled system as text: subsystems, ports with kind, causality, units and signs, connections, effective degrees,
/// what will be recorded. Throws user_error as run() would.
std::string check(const scenario& s);

/// Errors of results A against results B, each the folder of a run or a CSV file; `only` are patterns with `*`. Throws
/// user_error where a file is missing or unreadable or nothing is common.
comparison compare(const std::filesystem::path& a, const std::filesystem::path& b,
                   const std::vector<std::string>& only = {});

/// What exists, for `mdpcosim list`: models, laws, joints, extrapolations, methods, solvers.
std::vector<std::string> list_topics();
std::string list_text(const std::string& topic);
std::string list_json(const std::string& topic);

}  // namespace mdpcosim
