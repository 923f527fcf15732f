#include "fmu/sensitivities.hpp"

#include <algorithm>
#include <limits>

#include "fmu/structure.hpp"

namespace mdpcosim {

namespace {

std::size_t elements(const fmi::description& fmu, int variable) {
    return fmu.variables[static_cast<std::size_t>(variable)].element_count();
}

bool is_float64(const fmi::description& fmu, int variable) {
    return fmu.variables[static_cast<std::size_t>(variable)].type == fmi::base_type::float64;
}

/// The states that an output is a function of, if it depends on nothing else but the time.
std::vector<int> states_behind(const fmi::description& fmu, const fmu_structure& structure, int variable) {
    const fmi::unknown* said = structure.unknown(variable);
    if (said == nullptr || !said->dependencies) return {};
    std::vector<int> states;
    for (const int d : *said->dependencies) {
        if (d < 0) return {};
        if (fmu.variables[static_cast<std::size_t>(d)].causality == fmi::causality::independent) continue;
        const int rate = structure.derivative_of(d);
        if (rate < 0 || structure.unknown(rate) == nullptr || !is_float64(fmu, d) || !is_float64(fmu, rate)) return {};
        if (elements(fmu, rate) != elements(fmu, d)) return {};
        states.push_back(d);
    }
    return states;
}

}  // namespace

fmu_sensitivities::fmu_sensitivities(const fmi::description& fmu, const fmi::interface_description& offers,
                                     const fmu_layout& layout) {
    if (!offers.directional_derivatives) return;
    const fmu_structure structure(fmu);
    std::vector<way> ways(layout.outputs.size());
    const auto usable = [&](int variable) {
        return variable >= 0 && is_float64(fmu, variable) && structure.unknown(variable) != nullptr;
    };
    for (std::size_t slot = 0; slot < ways.size(); ++slot) {
        const fmu_use& y = layout.outputs[slot];
        if (y.derivative || !is_float64(fmu, y.variable) || layout.description.outputs[slot].sampled) continue;
        const int rate = structure.derivative_of(y.variable);
        const int rate_slot = layout.description.outputs[slot].rate_slot;
        if (usable(rate) && elements(fmu, rate) == elements(fmu, y.variable)) {
            ways[slot] = {rate, y.unit.factor, {}};
        } else if (const fmu_use* a = rate_slot < 0 ? nullptr : &layout.outputs[static_cast<std::size_t>(rate_slot)];
                   a != nullptr && !a->derivative && usable(a->variable)) {
            ways[slot] = {a->variable, a->unit.factor, {}};
        } else if (std::vector<int> states = states_behind(fmu, structure, y.variable); !states.empty()) {
            ways[slot] = {y.variable, y.unit.factor, std::move(states)};
        }
    }
    if (std::ranges::any_of(ways, &way::known)) ways_ = std::move(ways);
}

std::size_t fmu_sensitivities::group::add(const fmi::description& fmu, int variable) {
    const auto found = std::ranges::find(variables, variable);
    if (found != variables.end()) return first[static_cast<std::size_t>(found - variables.begin())];
    first.push_back(values.size());
    variables.push_back(variable);
    values.resize(values.size() + elements(fmu, variable));
    return first.back();
}

void fmu_sensitivities::group::finish(const fmi::instance& instance) { block = instance.make_block(variables); }

void fmu_sensitivities::assign(const fmi::instance& instance, const fmu_layout& layout,
                               const std::vector<bool>& needed) {
    if (ways_.empty()) return;
    const fmi::description& fmu = instance.description();
    const fmu_structure structure(fmu);
    rates_ = outputs_ = states_ = {};
    by_rate_.clear(), by_states_.clear(), seeds_.clear(), inputs_.clear(), blocks_.clear();
    for (std::size_t slot = 0; slot < ways_.size(); ++slot) {
        const way& w = ways_[slot];
        if (!w.known() || (!needed.empty() && !needed[slot])) continue;
        for (const int state : w.states) {
            const std::size_t states = states_.variables.size(), rate = rates_.add(fmu, structure.derivative_of(state));
            states_.add(fmu, state);
            if (states_.variables.size() > states) seeds_.push_back({rate, elements(fmu, state)});
        }
        const auto element = static_cast<std::size_t>(layout.outputs[slot].element);
        group& asked = w.states.empty() ? rates_ : outputs_;
        (w.states.empty() ? by_rate_ : by_states_)
            .push_back({static_cast<int>(slot), asked.add(fmu, w.unknown) + element, w.factor});
    }
    for (group* g : {&rates_, &outputs_, &states_}) g->finish(instance);
    for (const fmu_use& u : layout.inputs) {
        input& known = inputs_.emplace_back();
        if (!is_float64(fmu, u.variable)) continue;
        if (u.element == 0) blocks_.push_back(instance.make_block({&u.variable, 1}));
        seed_.resize(std::max(seed_.size(), blocks_.back().elements));
        known = {blocks_.size() - 1, static_cast<std::size_t>(u.element), 1 / u.unit.factor};
    }
}

std::string fmu_sensitivities::get(fmi::instance& instance, int which, std::span<double> by_output) {
    std::ranges::fill(by_output, std::numeric_limits<double>::quiet_NaN());
    if (inputs_.empty() || failed_ || rates_.variables.empty()) return {};
    const input& u = inputs_[static_cast<std::size_t>(which)];
    if (u.factor == 0) return {};
    const fmi::value_block& known = blocks_[u.block];
    seed_[u.element] = 1;
    try {
        instance.directional_derivative(rates_.block, known, std::span(seed_).first(known.elements), rates_.values);
        seed_[u.element] = 0;
        if (!by_states_.empty()) {
            auto seed = states_.values.begin();
            for (const copy& c : seeds_)
                seed = std::copy_n(rates_.values.begin() + static_cast<std::ptrdiff_t>(c.from),
                                   static_cast<std::ptrdiff_t>(c.count), seed);
            instance.directional_derivative(outputs_.block, states_.block, states_.values, outputs_.values);
        }
    } catch (const fmi::fmu_failure& problem) {
        if (problem.fatal()) throw;
        failed_ = true;
        return problem.what();
    }
    for (const entry& e : by_rate_)
        by_output[static_cast<std::size_t>(e.slot)] = e.factor * rates_.values[e.at] * u.factor;
    for (const entry& e : by_states_)
        by_output[static_cast<std::size_t>(e.slot)] = e.factor * outputs_.values[e.at] * u.factor;
    return {};
}

}  // namespace mdpcosim
