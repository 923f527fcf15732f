#include "master/rate_sensitivity.hpp"

#include <algorithm>
#include <cmath>

namespace mdpcosim {

rate_sensitivity::rate_sensitivity(const transport& t, const question& what) : rates_(what.outputs.size(), 0.0) {
    const auto& outputs = t.describe(what.subsystem).outputs;
    const std::size_t first = t.output_offset(what.subsystem), first_input = t.input_offset(what.subsystem);
    by_output_.resize(static_cast<std::size_t>(t.describe(what.subsystem).output_count()));
    const auto variable_at = [&outputs](int slot) -> const output_variable& {
        return *std::find_if(outputs.begin(), outputs.end(),
                             [&](const auto& v) { return slot >= v.slot && slot < v.slot + v.size; });
    };
    bool derivatives = t.offers(what.subsystem).rate_sensitivities;
    for (const std::size_t slot : what.outputs) {
        const int local = static_cast<int>(slot - first);
        const output_variable& v = variable_at(local);
        derivatives = derivatives && v.rate_sensitivities;
        if (v.rate_slot < 0) continue;
        const int rate = v.rate_slot + local - v.slot;
        const auto& direct = variable_at(rate).direct;
        const bool answers = std::any_of(what.inputs.begin(), what.inputs.end(), [&](std::size_t input) {
            return std::find(direct.begin(), direct.end(), static_cast<int>(input - first_input)) != direct.end();
        });
        if (answers) accelerations_.push_back(first + static_cast<std::size_t>(rate));
    }
    if (accelerations_.size() < what.outputs.size()) accelerations_.clear();
    way_ = derivatives ? way::derivatives : !accelerations_.empty() ? way::accelerations : way::none;
}

void rate_sensitivity::leave() {
    way_ = way_ == way::derivatives && !accelerations_.empty() ? way::accelerations : way::none;
    std::ranges::fill(rates_, 0.0);
}

bool rate_sensitivity::evaluate(coupled_system& system, const question& what, std::span<double> B) {
    for (; way_ != way::none; leave()) {
        if (way_ == way::derivatives)
            differentiate(system, what, B);
        else
            compare(system, what, B);
        if (std::ranges::all_of(B, [](double value) { return std::isfinite(value); })) return true;
    }
    return false;
}

void rate_sensitivity::differentiate(coupled_system& system, const question& what, std::span<double> B) {
    transport& t = *system.subsystems;
    const auto u = system.present_values(what.subsystem);
    if (!accelerations_.empty()) read_rates(system, what);
    const std::size_t first = t.output_offset(what.subsystem), first_input = t.input_offset(what.subsystem);
    for (std::size_t i = 0; i < what.inputs.size(); ++i) {
        t.rate_sensitivities(what.subsystem, u, static_cast<int>(what.inputs[i] - first_input), by_output_);
        for (std::size_t o = 0; o < what.outputs.size(); ++o)
            B[o * what.inputs.size() + i] = by_output_[what.outputs[o] - first];
    }
}

void rate_sensitivity::read_rates(coupled_system& system, const question& what) {
    system.evaluate_one(what.subsystem, false);
    const auto y = system.subsystems->outputs();
    for (std::size_t o = 0; o < what.outputs.size(); ++o) rates_[o] = y[accelerations_[o]];
}

void rate_sensitivity::compare(coupled_system& system, const question& what, std::span<double> B) {
    transport& t = *system.subsystems;
    const std::size_t first = t.input_offset(what.subsystem), inputs = what.inputs.size();
    const auto values = system.values_of(what.subsystem);
    const auto y = t.outputs();
    read_rates(system, what);
    for (std::size_t i = 0; i < inputs; ++i) {
        double& load = values[what.inputs[i] - first];
        const double u = load;
        double delta = std::max(1.0, std::abs(u));
        for (int k = 0; k < (what.insist ? 3 : 1); ++k, delta *= 1e6) {
            load = u + delta;
            t.evaluate(what.subsystem, values, true);
            bool clear = true;
            for (std::size_t o = 0; o < what.outputs.size(); ++o) {
                const double changed = y[accelerations_[o]] - rates_[o];
                B[o * inputs + i] = changed / delta;
                if (what.own[o * inputs + i]) clear = clear && std::abs(changed) > 1e-7 * std::abs(rates_[o]);
            }
            if (clear) break;
        }
        load = u;
    }
    system.evaluate_one(what.subsystem, false);
}

}  // namespace mdpcosim
