#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/largest_step.hpp"
#include "analysis/plot.hpp"
#include "analysis/step_growth.hpp"

/// Which macro step, which method, before the run (docs/advise.md). Every subsystem is identified near the initial state, and the coupled system of
/// these linear subsystems is stepped by the scenario's own network with every method and rule that is asked for:
///   largest stable step   from the growth in one macro step (step_growth.hpp)
///   error                 of runs from the initial state, laws as they are, against one with much smaller steps
///   cost                  integrations of a subsystem over a macro step, trials included, for each simulated second
/// What is recommended is confirmed by runs of the scenario itself.
namespace mdpcosim {

struct advice_request {
    std::function<scenario(const step_choice&)> load;  ///< user_error: that choice is not possible
    std::vector<step_choice> choices;                  ///< the first is the scenario's own
    double error = 0.01;  ///< wanted: the largest of a coupled variable, relative to its range (results/compare.hpp)
    bool errors = true;   ///< predict them; without, what is stable is all
    bool quick = false;   ///< only what takes a part of a second: others are excluded, or refused
    bool confirm = true;  ///< what is recommended,
    bool confirm_all = false;  ///< or everything
    std::function<void(const std::string&)> told = {};
};

struct step_error {
    double step = 0, error = 0;
};

/// Runs of the scenario itself.
struct confirmation {
    double tried = 0;                              ///< 0.95 of the limit, or less where that was not stable
    int lowered = 0;                               ///< how often
    bool stable = false;                           ///< with `tried`, the last one
    std::string why;                               ///< it is not
    double step = 0, predicted = 0, measured = 0;  ///< errors with the recommended step; step 0: not measured
    std::string against;                           ///< what the error is measured against
};

struct advised_choice {
    step_choice choice;
    std::string method, extrapolation;  ///< as they are used; of several rules the first, with a mark
    bool refused = false;
    std::string why;  ///< it is refused
    step_limit limit;
    std::optional<double> steep;  ///< the limit at the steepest slopes seen, where they are others
    std::optional<limiting_mode> mode;
    std::vector<std::string> connections;  ///< between subsystems of the limiting mode
    double integrations = 0;               ///< of a subsystem for a macro step
    std::vector<step_error> errors;        ///< predicted, by step; the scenario's own step among them
    double accurate = 0;                   ///< the step for the wanted error; 0: none of those tried
    double safe = 0;                       ///< 0.95 of the limit, or the next smaller step that samples leave
    std::optional<confirmation> confirmed;

    /// What the run may rely on.
    double stable_step() const { return steep ? std::min(*steep, limit.largest) : limit.largest; }
    double cost() const { return accurate > 0 ? integrations / accurate : 0; }
    /// What is recommended with it.
    double step() const { return accurate > 0 ? accurate : safe; }
};

struct advice {
    double step = 0, span = 0, error_span = 0;  ///< the scenario's; what errors are predicted for
    double error = 0;                           ///< wanted
    identified_system system;
    double growth = 0;                      ///< of the coupled system itself, 1/s
    std::complex<double> fastest, growing;  ///< eigenvalues of the coupled system
    std::vector<advised_choice> found;
    std::optional<std::size_t> recommended;
    std::string reason;
    std::vector<std::string> warnings;
    std::int64_t instances = 0, advances = 0;
};

/// user_error where nothing is coupled or nothing can be run.
advice find_advice(const advice_request& request);

/// The text of a scenario with the recommended step, method and extrapolation in it, and a comment that says so. user_error where it cannot be put in.
std::string with_advice(const std::string& text, const std::filesystem::path& path, const advice& found);

std::string to_table(const advice& found);
std::string to_json(const advice& found);
/// Limits over methods, error over step.
plot advice_plot(const advice& found);

}  // namespace mdpcosim
