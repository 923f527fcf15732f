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
    for (const auto& [type, members] : by_type) {
        group g;
        std::vector<int> unique;
        std::map<int, std::size_t> first;  // place of a variable's first element
        std::size_t elements = 0;
        for (const int slot : members) {
            const int& variable = uses[static_cast<std::size_t>(slot)].variable;
            if (!first.emplace(variable, elements).second) continue;
            unique.push_back(variable);
            const bool scalar = variables[static_cast<std::size_t>(variable)].dimensions.empty();
            elements += scalar ? 1 : instance.make_block({&variable, 1}).elements;
        }
        g.block = instance.make_block(unique);
        g.slots.assign(g.block.elements, -1);
        g.factor.assign(g.block.elements, 1);
        g.offset.assign(g.block.elements, 0);
        for (const int slot : members) {
            const fmu_use& use = uses[static_cast<std::size_t>(slot)];
            const std::size_t at = first[use.variable] + static_cast<std::size_t>(use.element);
            g.slots[at] = slot;
            g.factor[at] = use.unit.factor;
            g.offset[at] = use.unit.offset;
            g.plain = g.plain && use.unit.plain();
        }
        g.si.resize(g.block.elements);
        g.buffer.resize(g.block.elements);
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
        for (std::size_t k = 0; k < g.slots.size(); ++k)
            if (g.slots[k] >= 0) values[static_cast<std::size_t>(g.slots[k])] = g.si[k];
}

void fmu_values::get_derivatives(fmi::instance& instance, std::span<double> values) {
    for (group& g : groups_) {
        instance.get_output_derivatives(g.block, 1, g.buffer);
        for (std::size_t k = 0; k < g.slots.size(); ++k)
            if (g.slots[k] >= 0) values[static_cast<std::size_t>(g.slots[k])] = g.factor[k] * g.buffer[k];
    }
}

void fmu_values::to_fmu(group& g) {
    for (std::size_t k = 0; k < g.buffer.size(); ++k) g.buffer[k] = (g.si[k] - g.offset[k]) / g.factor[k];
}

}  // namespace mdpcosim
