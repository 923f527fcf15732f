#include "master/rate_sensitivity.hpp"

#include <algorithm>
#include <cmath>

namespace mdpcosim {

rate_sensitivity::rate_sensitivity(const transport& t, const question& asked) : rates_(asked.outputs.size(), 0.0) {
    const auto& outputs = t.describe(asked.subsystem).outputs;
    const std::size_t first = t.output_offset(asked.subsystem), first_input = t.input_offset(asked.subsystem);
    by_output_.resize(static_cast<std::size_t>(t.describe(asked.subsystem).output_count()));
    const auto variable_at = [&outputs](int slot) -> const output_variable& {
        return *std::find_if(outputs.begin(), outputs.end(),
                             [&](const auto& v) { return slot >= v.slot && slot < v.slot + v.size; });
    };
    bool derivatives = t.offers(asked.subsystem).rate_sensitivities;
    for (const std::size_t slot : asked.outputs) {
        const int local = static_cast<int>(slot - first);
        const output_variable& v = variable_at(local);
        derivatives = derivatives && v.rate_sensitivities;
        if (v.rate_slot < 0) continue;
        const int rate = v.rate_slot + local - v.slot;
        const auto& direct = variable_at(rate).direct;
        const bool answers = std::any_of(asked.inputs.begin(), asked.inputs.end(), [&](std::size_t input) {
            return std::find(direct.begin(), direct.end(), static_cast<int>(input - first_input)) != direct.end();
        });
        if (answers) accelerations_.push_back(first + static_cast<std::size_t>(rate));
    }
    if (accelerations_.size() < asked.outputs.size()) accelerations_.clear();
    way_ = derivatives ? way::derivatives : !accelerations_.empty() ? way::accelerations : way::none;
}

void rate_sensitivity::leave() {
    way_ = way_ == way::derivatives && !accelerations_.empty() ? way::accelerations : way::none;
    std::ranges::fill(rates_, 0.0);
}

bool rate_sensitivity::evaluate(coupled_system& system, const question& asked, std::span<double> B) {
    for (; way_ != way::none; leave()) {
        if (way_ == way::derivatives)
            differentiate(system, asked, B);
        else
            compare(system, asked, B);
        if (std::ranges::all_of(B, [](double value) { return std::isfinite(value); })) return true;
    }
    return false;
}

void rate_sensitivity::differentiate(coupled_system& system, const question& asked, std::span<double> B) {
    transport& t = *system.subsystems;
    const auto u = system.present_values(asked.subsystem);
    if (!accelerations_.empty()) read_rates(system, asked);
    const std::size_t first = t.output_offset(asked.subsystem), first_input = t.input_offset(asked.subsystem);
    for (std::size_t i = 0; i < asked.inputs.size(); ++i) {
        t.rate_sensitivities(asked.subsystem, u, static_cast<int>(asked.inputs[i] - first_input), by_output_);
        for (std::size_t o = 0; o < asked.outputs.size(); ++o)
            B[o * asked.inputs.size() + i] = by_output_[asked.outputs[o] - first];
    }
}

void rate_sensitivity::read_rates(coupled_system& system, const question& asked) {
    system.evaluate_one(asked.subsystem, false);
    const auto y = system.subsystems->outputs();
    for (std::size_t o = 0; o < asked.outputs.size(); ++o) rates_[o] = y[accelerations_[o]];
}

void rate_sensitivity::compare(coupled_system& system, const question& asked, std::span<double> B) {
    transport& t = *system.subsystems;
    const std::size_t first = t.input_offset(asked.subsystem), inputs = asked.inputs.size();
    const auto values = system.values_of(asked.subsystem);
    const auto y = t.outputs();
    read_rates(system, asked);
    for (std::size_t i = 0; i < inputs; ++i) {
        double& load = values[asked.inputs[i] - first];
        const double u = load;
        double delta = std::max(1.0, std::abs(u));
        for (int k = 0; k < (asked.insist ? 3 : 1); ++k, delta *= 1e6) {
            load = u + delta;
            t.evaluate(asked.subsystem, values, true);
            bool clear = true;
            for (std::size_t o = 0; o < asked.outputs.size(); ++o) {
                const double changed = y[accelerations_[o]] - rates_[o];
                B[o * inputs + i] = changed / delta;
                if (asked.own[o * inputs + i]) clear = clear && std::abs(changed) > 1e-7 * std::abs(rates_[o]);
            }
            if (clear) break;
        }
        load = u;
    }
    system.evaluate_one(asked.subsystem, false);
}

}  // namespace mdpcosim
