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
        const auto& d = subsystems->describe(subsystem_index(i));
        for (const auto& input : d.inputs) std::fill_n(input_values.begin() + input.slot, input.size, input.start);
        const auto count = static_cast<std::size_t>(d.input_count());
        subsystems->evaluate(subsystem_index(i), std::span(input_values).first(count), true);
    }
    coupling.start(t0, subsystems->outputs());
    evaluate_in_order(t0, at_start, true);
    // Every input is known now: 1/u with the start value u = 0 was no failure, with the true value it is one.
    coupling.evaluate(t0, subsystems->outputs(), u, du);
    for (std::size_t i = 0; i < subsystems->size(); ++i) evaluate_one(subsystem_index(i), false);
    coupling.evaluate(t0, subsystems->outputs(), u, du);
}

void coupled_system::evaluate(double t, std::span<const evaluation> order) {
    evaluate_in_order(t, order, false);
    coupling.evaluate(t, subsystems->outputs(), u, du);
}

void coupled_system::evaluate_in_order(double t, std::span<const evaluation> order, bool provisional) {
    for (const auto& [subsystem, channels] : order) {
        for (const channel_index c : channels) u[c.value()] = coupling.evaluate_one(t, c, subsystems->outputs());
        evaluate_one(subsystem, provisional);
    }
}

void coupled_system::evaluate_one(subsystem_index subsystem, bool provisional) {
    const auto count = static_cast<std::size_t>(subsystems->describe(subsystem).input_count());
    const auto values = std::span(input_values).first(count);
    coupling.input_values(u, subsystems->input_offset(subsystem), values);
    subsystems->evaluate(subsystem, values, provisional);
}

}  // namespace mdpcosim
