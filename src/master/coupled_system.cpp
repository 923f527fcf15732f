#include "master/coupled_system.hpp"

#include <algorithm>

namespace mdpcosim {

void coupled_system::finish() {
    u.assign(coupling.channels(), 0.0);
    du.assign(coupling.channels(), 0.0);
    std::size_t most = 0;
    for (std::size_t i = 0; i < subsystems->size(); ++i)
        most = std::max(most, static_cast<std::size_t>(subsystems->describe(subsystem_index(i)).input_count()));
    input_values.assign(most, 0.0);
}

void coupled_system::initialise(double t0) {
    subsystems->initialise(t0);
    for (std::size_t i = 0; i < subsystems->size(); ++i) {
        const auto& inputs = subsystems->describe(subsystem_index(i)).inputs;
        for (const auto& input : inputs)
            std::fill_n(input_values.begin() + input.slot, input.size, input.start);
        const auto count = static_cast<std::size_t>(subsystems->describe(subsystem_index(i)).input_count());
        subsystems->evaluate(subsystem_index(i), std::span(input_values).first(count));
    }
    coupling.start(t0, subsystems->outputs());
    evaluate(t0, at_start);
}

void coupled_system::evaluate(double t, std::span<const evaluation> order) {
    for (const auto& [subsystem, channels] : order) {
        for (const channel_index c : channels) u[c.value()] = coupling.evaluate_one(t, c, subsystems->outputs());
        const auto count = static_cast<std::size_t>(subsystems->describe(subsystem).input_count());
        const auto values = std::span(input_values).first(count);
        coupling.input_values(u, subsystems->input_offset(subsystem), values);
        subsystems->evaluate(subsystem, values);
    }
    coupling.evaluate(t, subsystems->outputs(), u, du);
}

}  // namespace mdpcosim
