#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/verdict.hpp"
#include "results/verification.hpp"

namespace mdpcosim {

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
        double energy_error = 0, energy = 0;              ///< J
        double energy_peak = 0;                           ///< J, stored or passed on at most
        double unresolved = 0, phase = 0, amplitude = 0;  ///< coupling_quality
        std::int64_t contacts = 0;
    };

    /// A pair of signals that exchange power.
    struct bond {
        std::string name;
        std::string flow, effort;  ///< the signals
        bool corrected = false;
        double energy_error = 0, energy = 0, energy_peak = 0;  ///< J
    };

    /// Where the time went, from sampled macro steps. Work is what subsystems do; the master's part between is serial.
    struct parallel {
        double cpu_seconds = 0;       ///< of all processes during the macro steps
        double work_per_step = 0;     ///< s, sum over the subsystems
        double advance_per_step = 0;  ///< s of wall time until all subsystems were done
        double master_per_step = 0;   ///< s of wall time between
        double idle_share = 0;        ///< of the workers' time during advance
        double critical_path = 0;     ///< s per step that no number of workers takes away: master and longest subsystem
        std::string critical_subsystem;
        double speed_up = 1;  ///< reached, against one worker without waiting
        double perfect_balance =
            1;  ///< speed-up with the same workers and nothing but the longest subsystem in the way
        double amdahl = 1, gustafson = 1;
        double on_4 = 1, on_8 = 1;  ///< expected with as many cores, longest first
    };

    /// What was found by iteration: an algebraic loop, or the macro steps themselves.
    struct iteration {
        std::string subject;  ///< "macro steps", or the loop from output to input
        std::string solver;
        std::vector<std::string> variables;
        std::int64_t solutions = 0, iterations = 0, evaluations = 0;
        int largest = 0;
        double residual = 0;  ///< of the last solution
        double mean() const {
            return solutions > 0 ? static_cast<double>(iterations) / static_cast<double>(solutions) : 0;
        }
    };

    /// All outputs at the start, consistent with each other.
    struct initialisation_phase {
        double seconds = 0;
        std::int64_t evaluations = 0;  ///< of the outputs of a subsystem
        std::vector<iteration> loops;
    };

    /// Of macro steps whose length followed the error.
    struct step_control {
        std::string estimate;
        double rtol = 0, atol = 0;
        std::int64_t rejected = 0;
        double smallest = 0, largest = 0;  ///< accepted, s
        // Steps that could not be undone:
        std::int64_t above = 0;               ///< with an error above the tolerance
        double most_above = 0, above_at = 0;  ///< the largest, as a multiple of it, and when, s
    };

    std::string scenario;
    std::string folder;
    std::string status = "done";  ///< done, failed, interrupted
    std::string message;          ///< why it failed
    std::string method;
    bool reference = false;          ///< integrated as one system, without macro steps
    std::string transport = "none";  ///< of the reference
    double start = 0, end = 0, step = 0;
    double reached = 0;  ///< simulated time
    std::int64_t steps = 0, parallel_steps = 0, rows = 0;
    std::int64_t integrations = 0;  ///< of all subsystems over a macro step, trials included
    int workers = 1;
    double wall_seconds = 0, setup_seconds = 0;
    std::optional<initialisation_phase> initialisation;  ///< absent for the reference
    std::vector<iteration> iterations;                   ///< after it
    std::optional<step_control> control;
    std::optional<parallel> work;  ///< absent for the reference and where no step was sampled
    std::vector<subsystem> subsystems;
    std::vector<connection> connections;
    std::vector<connection> signals;
    std::vector<bond> bonds;
    std::optional<verdict> judged;  ///< absent where nothing was watched: a reference, a run that was interrupted
    std::optional<verification> verified;
    std::vector<std::string> grown;    ///< ports of connections whose variable was largest by far at the end
    std::string unmeasured;            ///< a coupling of which nothing is recorded; empty: there is none
    std::vector<std::string> coupled;  ///< recorded columns that take part in couplings
    std::vector<std::string> notes;
};

std::string to_json(const run_summary& s);

/// The short table at the end of a run.
std::string to_table(const run_summary& s);

}  // namespace mdpcosim
