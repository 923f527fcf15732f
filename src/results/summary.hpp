#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mdpcosim {

/// The `method` of a reference run, which has no macro steps.
inline constexpr const char* monolithic_method = "monolithic";

/// What is known about a run when it has ended, however it ended.
struct run_summary {
    struct subsystem {
        std::string name;
        std::string type;
        std::string solver;
        std::int64_t micro_steps = 0, evaluations = 0, rejected = 0, events = 0;
        double seconds_per_step = 0;
        int worker = 0;
        std::int64_t newton_iterations = 0, factorisations = 0;  ///< of implicit solvers
    };
    struct connection {
        std::string name;
        std::string law;
        std::string extrapolation;
        double u_min = 0, u_max = 0, u_end = 0;
        std::string unit;
        double jump_max = 0, jump_rms = 0;
        double energy_error = 0, energy = 0;  ///< J
    };

    std::string scenario;
    std::string folder;
    std::string status = "done";  ///< done, failed, interrupted
    std::string message;          ///< why it failed
    std::string method;
    std::string transport = "none";  ///< of the reference
    double start = 0, end = 0, step = 0;
    double reached = 0;  ///< simulated time
    std::int64_t steps = 0, parallel_steps = 0, rows = 0;
    int workers = 1;
    double wall_seconds = 0, setup_seconds = 0;
    std::vector<subsystem> subsystems;
    std::vector<connection> connections;
    std::vector<std::string> notes;
};

std::string to_json(const run_summary& s);

/// The short table at the end of a run.
std::string to_table(const run_summary& s);

}  // namespace mdpcosim
