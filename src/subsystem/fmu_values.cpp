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
        g.si.resize(g.slots.size());
        g.buffer.resize(g.slots.size());
        groups_.push_back(std::move(g));
    }
}

fmi::status fmu_values::get(fmi::instance& instance, std::span<double> values) {
    fmi::status worst = fmi::status::ok;
    for (group& g : groups_) {
        if (instance.get(g.block, g.plain ? g.si : g.buffer) != fmi::status::ok) worst = fmi::status::discard;
        if (!g.plain)
            for (std::size_t k = 0; k < g.slots.size(); ++k) g.si[k] = g.factor[k] * g.buffer[k] + g.offset[k];
    }
    get_again(values);
    return worst;
}

void fmu_values::get_again(std::span<double> values) const {
    for (const group& g : groups_)
        for (std::size_t k = 0; k < g.slots.size(); ++k) values[static_cast<std::size_t>(g.slots[k])] = g.si[k];
}

void fmu_values::get_derivatives(fmi::instance& instance, std::span<double> values) {
    for (group& g : groups_) {
        instance.get_output_derivatives(g.block, 1, g.buffer);
        for (std::size_t k = 0; k < g.slots.size(); ++k)
            values[static_cast<std::size_t>(g.slots[k])] = g.factor[k] * g.buffer[k];
    }
}

void fmu_values::to_fmu(group& g) {
    for (std::size_t k = 0; k < g.buffer.size(); ++k) g.buffer[k] = (g.si[k] - g.offset[k]) / g.factor[k];
}

}  // namespace mdpcosim
