#include "transport/transport.hpp"

#include <algorithm>
#include <limits>

namespace mdpcosim {

void transport::rate_sensitivities(subsystem_index, std::span<const double>, int, std::span<double> by_output) {
    std::ranges::fill(by_output, std::numeric_limits<double>::quiet_NaN());
}

void transport::advance_trials(const macro_step& step, std::span<trial_step> trials, state_id begin) {
    for (trial_step& trial : trials) {
        if (&trial != trials.data()) restore(begin);
        std::ranges::copy(trial.inputs, inputs().begin());
        advance(step);
        std::ranges::copy(outputs(), trial.outputs.begin());
    }
}

}  // namespace mdpcosim
