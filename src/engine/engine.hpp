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

/// Programs elsewhere that bring subsystems to a run over TCP.
struct remote_options {
    std::string listen;              ///< HOST:PORT or PORT; no host: this machine only; no port: any free one
    std::vector<std::string> names;  ///< subsystems that they bring
    std::string token_file;          ///< where the run's token is left for them; empty: `mdpcosim-PORT.token`
    double wait = 60;                ///< s for them to come
};

struct run_options {
    std::filesystem::path out;  ///< empty: `<scenario>.out`, of a reference `<scenario>.reference.out`
    int workers = 0;            ///< threads (of each MPI rank), 0: one per core; or processes, 0: one per subsystem
    bool quiet = false;         ///< no progress
    const std::atomic<bool>* interrupt = nullptr;  ///< set by Ctrl-C: the run ends after the present macro step
    bool monolithic = false;                       ///< the reference: the scenario as one system, no co-simulation
    std::string transport = "threads";             ///< one of transport_names()
    bool fmi_log = false;                          ///< every call of every FMU goes into fmi.log
    bool pin = true;                               ///< bind workers and processes to processing units
    remote_options remote = {};                    ///< of the transport tcp
};

/// threads, processes, tcp, mpi
const std::vector<std::string>& transport_names();

/// A scenario file, or a single FMU (`.fmu`) with its default experiment, whose inputs `input`, a CSV file, may drive.
scenario load_scenario(const std::filesystem::path& path, const std::vector<scenario_override>& overrides = {},
                       const std::filesystem::path& input = {});

/// Runs a scenario and writes results.csv, summary.json and scenario.yaml into the run's folder. A user's mistake leaves as
/// user_error before anything is written (but fmi.log, which tells of an FMU that refuses, too); a failing subsystem or an interrupt ends the run with what was recorded on
/// disk, told by status and message of the summary.
run_summary run(scenario s, const run_options& options);

struct serve_options {
    std::vector<std::string> names;  ///< of the subsystems
    std::string connect;             ///< HOST:PORT of the master
    std::string token_file;          ///< that the run has left; empty: the token is in MDPCOSIM_TOKEN
    double wait = 60;                ///< s for the master to listen
};
/// Makes subsystems of a scenario, each in a process of its own, for a run elsewhere (remote_options) until it is done with them.
/// A master that does not answer or refuses is a user_error, a lost one a run_error.
void serve_subsystems(const scenario& s, const serve_options& how);

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

/// What is in an FMU and what mdpcosim makes of it; long lists are cut unless `all` is set. Nothing of the FMU is run.
std::string fmu_info_text(const std::filesystem::path& fmu, bool all);
std::string fmu_info_json(const std::filesystem::path& fmu);

/// Checks of an FMU: archive, description, binaries, a short run with each interface in a process of its own.
struct fmu_verdict {
    struct violation {
        std::string place;  ///< `modelDescription.xml:12`, `archive`, `co-simulation`
        std::string what;
    };
    std::string fmu;
    std::vector<std::string> passed;   ///< what was checked and found right
    std::vector<std::string> skipped;  ///< what could not be checked, and why
    std::vector<violation> violations;
};
/// Throws user_error where there is no file or no archive.
fmu_verdict fmu_validate(const std::filesystem::path& fmu);
std::string to_text(const fmu_verdict& verdict);
std::string to_json(const fmu_verdict& verdict);

}  // namespace mdpcosim
