#include "transport/transport.hpp"

#include <algorithm>
#include <limits>

namespace mdpcosim {

void transport::rate_sensitivities(subsystem_index, std::span<const double>, int, std::span<double> by_output) {
    std::ranges::fill(by_output, std::numeric_limits<double>::quiet_NaN());
}

void transport::evaluate_all(std::span<const double> u, bool provisional) {
    for (std::size_t i = 0; i < size(); ++i) {
        const subsystem_index s(i);
        evaluate(s, u.subspan(input_offset(s), static_cast<std::size_t>(describe(s).input_count())), provisional);
    }
}

void transport::evaluate_plan(double t, step_plan& plan, bool provisional) {
    for (const auto& item : plan.items) {
        if (!item.evaluate) continue;
        plan.find_values(item, t, outputs().data());
        const auto count = static_cast<std::size_t>(describe(item.subsystem).input_count());
        evaluate(item.subsystem, std::span(plan.values).subspan(input_offset(item.subsystem), count), provisional);
    }
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
