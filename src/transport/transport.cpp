#include "transport/transport.hpp"

#include <algorithm>

namespace mdpcosim {

void transport::advance_trials(const macro_step& step, std::span<trial_step> trials) {
    save();
    for (trial_step& trial : trials) {
        if (&trial != trials.data()) restore();
        std::ranges::copy(trial.inputs, inputs().begin());
        advance(step);
        std::ranges::copy(outputs(), trial.outputs.begin());
    }
}

}  // namespace mdpcosim
