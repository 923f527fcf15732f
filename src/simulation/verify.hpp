#pragma once

#include "results/result_table.hpp"
#include "simulation/run.hpp"

namespace mdpcosim {

/// Every communication step `factor` times as long; where steps follow tolerances, these are what changes.
scenario with_steps(scenario s, double factor);

/// run(), and at the same time the same scenario with half the macro step, then with twice, on threads, into `half-step` and `twice-step` inside
/// the run's folder. What they tell of the errors stands in the summary and in its verdict. Subsystems are made three times: none may wait for
/// a partner elsewhere.
run_summary run_verified(const scenario& s, run_options options);

/// A run whose rows, one at every macro point, stay in memory.
struct kept_run {
    result_table table;
    std::vector<std::string> coupled;  ///< columns that take part in couplings
    verdict judged;
    bool done = true;
    std::string message;           ///< why it is not
    double seconds = 0;            ///< wall clock of the macro steps
    std::int64_t evaluations = 0;  ///< of right-hand sides, as far as subsystems count them
};
kept_run run_in_memory(const scenario& s, bool monolithic = false, const std::atomic<bool>* interrupt = nullptr);

/// The errors of a run from the same scenario with half and with twice the step, in memory. Its rows are those of `of`.
verification verify_in_memory(const scenario& s, const result_table& of, const std::vector<std::string>& coupled,
                              const std::atomic<bool>* interrupt = nullptr);

/// For run_options::ended of a scenario without code of others: a run that took so little that three more are not noticed is verified
/// without being asked, all that is coupled, recorded or not.
void verify_small_run(const scenario& s, run_summary& summary, const std::atomic<bool>* interrupt);

}  // namespace mdpcosim
