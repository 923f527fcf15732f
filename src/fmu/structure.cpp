#include "fmu/structure.hpp"

namespace mdpcosim {

fmu_structure::fmu_structure(const fmi::description& fmu) : fmu_(fmu) {
    for (std::size_t i = 0; i < fmu.variables.size(); ++i)
        if (const int state = fmu.variables[i].derivative_of; state >= 0)
            derivatives_.emplace(key(state), static_cast<int>(i));
    for (const auto* list : {&fmu.outputs, &fmu.derivatives})
        for (const fmi::unknown& u : *list)
            if (u.variable >= 0) unknowns_.emplace(key(u.variable), &u);
}

std::uint64_t fmu_structure::key(int variable) const {
    const fmi::variable& v = at(variable);
    return static_cast<std::uint64_t>(v.type) << 32 | v.reference;
}

int fmu_structure::derivative_of(int variable) const {
    const auto found = derivatives_.find(key(variable));
    return found == derivatives_.end() ? -1 : found->second;
}

const fmi::unknown* fmu_structure::unknown(int variable) const {
    const auto found = unknowns_.find(key(variable));
    return found == unknowns_.end() ? nullptr : found->second;
}

std::optional<std::vector<int>> fmu_structure::direct_inputs(int variable) const {
    const fmi::variable& v = at(variable);
    using fmi::causality;
    const bool fixed = v.variability == fmi::variability::constant || v.variability == fmi::variability::fixed ||
                       v.variability == fmi::variability::tunable || v.causality == causality::independent;
    if (fixed || is_state(variable)) return std::vector<int>{};
    const fmi::unknown* said = unknown(variable);
    if (said == nullptr || !said->dependencies) return std::nullopt;
    std::vector<int> inputs;
    for (const int d : *said->dependencies)
        if (d >= 0 && at(d).causality == causality::input) inputs.push_back(d);
    return inputs;
}

bool fmu_structure::rate_needs_input(int variable) const {
    const auto needs_none = [this](int v) {
        const auto inputs = direct_inputs(v);
        return inputs && inputs->empty();
    };
    if (is_state(variable)) return !needs_none(derivative_of(variable));
    if (!needs_none(variable)) return true;
    const fmi::unknown* said = unknown(variable);
    if (said == nullptr) return false;  // constant
    for (const int d : *said->dependencies)
        if (d >= 0 && is_state(d) && !needs_none(derivative_of(d))) return true;
    return false;
}

}  // namespace mdpcosim
