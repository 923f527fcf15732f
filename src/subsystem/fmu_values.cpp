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
        g.numbers.assign(2 * g.block.elements, 0.0);
        g.units.resize(g.block.elements);
        for (const int slot : members) {
            const fmu_use& use = uses[static_cast<std::size_t>(slot)];
            const std::size_t at = first[use.variable] + static_cast<std::size_t>(use.element);
            g.slots[at] = slot;
            g.units[at] = {use.unit.factor, use.unit.offset};
            g.plain = g.plain && use.unit.plain();
        }
        groups_.push_back(std::move(g));
    }
}

void fmu_values::get_derivatives(group& g, fmi::instance& instance, std::span<double> values) {
    const std::span<double> rates = g.in_fmu_unit();
    instance.get_output_derivatives(g.block, 1, rates);
    for (std::size_t k = 0; k < rates.size(); ++k)
        if (g.slots[k] >= 0) values[static_cast<std::size_t>(g.slots[k])] = g.units[k].factor * rates[k];
}

void fmu_values::to_fmu(group& g) {
    for (std::size_t k = 0; k < g.slots.size(); ++k)
        g.in_fmu_unit()[k] = (g.si()[k] - g.units[k].offset) / g.units[k].factor;
}

void fmu_values::from_fmu(group& g) {
    for (std::size_t k = 0; k < g.slots.size(); ++k)
        g.si()[k] = g.units[k].factor * g.in_fmu_unit()[k] + g.units[k].offset;
}

}  // namespace mdpcosim
