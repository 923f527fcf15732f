#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "scenario/spec.hpp"

/// The largest macro steps of a scenario, found by running it: the largest that is stable, and the largest that keeps an error.
///
/// A run is stable when it ends and no coupled variable leaves the range that it has in the reference by more than that range. It keeps an error when its
/// errors are within it and its verdict is not wrong; a stable run may well be wrong (an undamped oscillation that is out of step). The reference is the
/// scenario as one system; where that cannot be, a run with an eighth of the scenario's step, itself compared with one of a sixteenth.
/// A system that grows by itself is told by its reference and judged against it.
///
/// The search begins at the scenario's own step, goes up by quarters (or down by halves, to the first stable one), and halves the interval
/// to the wanted precision: the limit is the first crossing that steps of a quarter see. Three steps below it, by quarters, are looked at, too: a step that
/// is not stable although a larger one is, is told. So are three steps below the largest accurate one: the fastest is found among them. An instability that grows by less than what the run lets be seen counts as stable: longer runs
/// see more. Where samples leave only some steps, the search takes those.
namespace mdpcosim {

struct step_choice {
    std::string method, extrapolation;  ///< empty: as the scenario has it
    /// Of the scenario besides, as --set takes them. Choices with the same changes share a reference, the scenario with these.
    std::vector<std::pair<std::string, std::string>> changes = {};
    std::string label = {};  ///< in tables; empty: made of the others
};

struct largest_step_request {
    std::function<scenario(const step_choice&)> load;  ///< user_error: that choice is not possible
    std::vector<step_choice> choices;
    double error = 0.01;        ///< largest relative error of a coupled variable (results/compare.hpp); at most this
    double precision = 0.005;   ///< of the largest stable step
    double most_seconds = 600;  ///< for one choice; no run is begun that would take longer, by the time of those before
    std::function<void(const std::string&)> told = {};  ///< hears of every run
};

struct step_run {
    double step = 0;
    bool stable = false;
    std::string why;     ///< it is not
    double error = 0;    ///< against the reference, where it is stable
    bool wrong = false;  ///< its verdict is
    std::int64_t macro_steps = 0, evaluations = 0;
    double seconds =
        0;  ///< wall clock of the macro steps, one worker; of those that may be the fastest the least of three runs
};

struct largest_step {
    enum class kind {
        limit,      ///< `largest` is stable, `unstable` is not
        unbounded,  ///< stable up to `largest`, a sixteenth of the time span
        ended,      ///< stable up to `largest`; larger ones were not run: `why`
        none,       ///< no step down to `unstable` is stable
        refused     ///< the scenario cannot be run so: `why`
    };
    step_choice choice;
    kind outcome = kind::refused;
    double largest = 0, unstable = 0;
    std::string why;    ///< `unstable` is not stable, or nothing was run
    step_run accurate;  ///< with the largest step that keeps the error; step 0: none did
    step_run fastest;   ///< that with the least time, which may have a smaller step: near the limit solvers work more
    bool best = false;  ///< its time is the least of all choices
    bool out_of_time = false;    ///< most_seconds ended the search
    std::vector<step_run> runs;  ///< by step

    /// Steps below `largest` that are not stable.
    std::vector<double> pockets() const;
};

struct largest_steps {
    std::string reference;                       ///< what the runs are compared with, in words
    double growth = 0;                           ///< of the reference: its last quarter by its first
    std::vector<std::string> own_extrapolation;  ///< connections and signals that keep theirs in every choice
    double error = 0;
    std::vector<largest_step> found;  ///< in the order of the choices

    bool grows_by_itself() const { return growth > 5; }
};

/// A scenario that no choice can run leaves as user_error, one without a reference as run_error.
largest_steps find_largest_steps(const largest_step_request& request);

std::string to_table(const largest_steps& found);
std::string to_json(const largest_steps& found);
/// Error over step; throws user_error where the file cannot be written.
void write_largest_steps(const std::string& file, const largest_steps& found);

}  // namespace mdpcosim
