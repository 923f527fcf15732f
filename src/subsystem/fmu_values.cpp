#include "subsystem/fmu_values.hpp"

#include <map>

namespace mdpcosim {

fmu_values::fmu_values(const fmi::instance& instance, std::span<const fmu_use> uses, std::span<const int> slots) {
    const auto& variables = instance.description().variables;
    std::map<fmi::base_type, std::vector<int>> by_type;
    for (const int slot : slots) {
        const fmu_use& use = uses[static_cast<std::size_t>(slot)];
        by_type[variables[static_cast<std::size_t>(use.variable)].type].push_back(slot);
    }
    for (auto& [type, members] : by_type) {
        group g;
        std::vector<int> unique;
        for (const int slot : members) {
            const fmu_use& use = uses[static_cast<std::size_t>(slot)];
            if (use.element == 0) unique.push_back(use.variable);
            g.factor.push_back(use.unit.factor);
            g.offset.push_back(use.unit.offset);
            g.plain = g.plain && use.unit.plain();
        }
        g.slots = std::move(members);
        g.block = instance.make_block(unique);
        g.buffer.resize(g.slots.size());
        g.in_row = true;
        for (std::size_t k = 1; k < g.slots.size(); ++k) g.in_row = g.in_row && g.slots[k] == g.slots[k - 1] + 1;
        groups_.push_back(std::move(g));
    }
}

fmi::status fmu_values::get(fmi::instance& instance, std::span<double> values) {
    fmi::status worst = fmi::status::ok;
    for (group& g : groups_) {
        const bool straight = g.plain && g.in_row;
        const std::span<double> place =
            straight ? values.subspan(static_cast<std::size_t>(g.slots.front()), g.slots.size()) : g.buffer;
        if (instance.get(g.block, place) != fmi::status::ok) worst = fmi::status::discard;
        if (!straight) scatter(g, values, false);
    }
    return worst;
}

void fmu_values::get_derivatives(fmi::instance& instance, std::span<double> values) {
    for (group& g : groups_) {
        instance.get_output_derivatives(g.block, 1, g.buffer);
        scatter(g, values, true);
    }
}

void fmu_values::to_fmu(group& g) {
    for (std::size_t k = 0; k < g.buffer.size(); ++k) g.buffer[k] = (g.buffer[k] - g.offset[k]) / g.factor[k];
}

void fmu_values::scatter(const group& g, std::span<double> values, bool rates) const {
    for (std::size_t k = 0; k < g.slots.size(); ++k)
        values[static_cast<std::size_t>(g.slots[k])] = g.factor[k] * g.buffer[k] + (rates ? 0 : g.offset[k]);
}

}  // namespace mdpcosim
