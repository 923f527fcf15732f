#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "results/progress.hpp"
#include "study/study_spec.hpp"

/// Many variants of one scenario. Who works shares nothing but the study's folder: workers take variants from a queue there and add a line for each to
/// files of their own, whether they are processes of this machine, ranks of `mpiexec` or tasks of a cluster's job. So a study goes on after any end.
namespace mdpcosim {

enum class study_place : std::uint8_t { local, mpi, slurm };

struct study_options {
    std::filesystem::path out;  ///< empty: `<study>.study`
    study_place on = study_place::local;
    int workers = 0;           ///< processes; 0: one per core
    bool resume = false;       ///< go on with what is in the folder
    bool many = false;         ///< more than a million variants are meant
    std::string program = {};  ///< this one, for the workers
    std::string hosts = {};    ///< of mpiexec
    const std::atomic<bool>* interrupt = nullptr;
    progress::style shown = progress::style::none;
    progress::writer show = {};
};

struct study_summary {
    std::filesystem::path folder;
    std::string status = "done";                                  ///< done, interrupted
    std::int64_t variants = 0, done = 0, failed = 0, before = 0;  ///< `before`: were there already
    std::int64_t good = 0, doubtful = 0, wrong = 0;
    double seconds = 0, run_seconds = 0;  ///< wall time; that of all variants together
    int workers = 0;
    std::int64_t best = -1;                                        ///< of an optimisation or a fit
    std::vector<std::pair<std::string, std::string>> best_values;  ///< parameters, measures
    std::string first_failure;
    bool resets = false;
};

study_summary run_study(const study_spec& study, const study_options& options);

/// Work of one process in the folder of a study until nothing is left; 0: done, 2: the study has a mistake, 130: interrupted.
int serve_study(const std::filesystem::path& folder, const std::atomic<bool>& interrupt);

std::string to_json(const study_summary& s);
std::string to_table(const study_summary& s);

}  // namespace mdpcosim
