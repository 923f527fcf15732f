#include "fmu/values.hpp"

#include <algorithm>
#include <map>
#include <memory>

namespace mdpcosim {

void fmu_values::assign(const fmi::instance& instance, std::span<const fmu_use> uses, std::span<const int> slots) {
    first_ = last_ = nullptr;
    parts_.clear();
    const auto& variables = instance.description().variables;
    std::map<fmi::base_type, std::vector<int>> by_type;
    for (const int slot : slots) {
        const fmu_use& use = uses[static_cast<std::size_t>(slot)];
        by_type[variables[static_cast<std::size_t>(use.variable)].type].push_back(slot);
    }
    // By group: place of a variable's first element. One that ports scale stands there for each scale.
    const auto key = [](const fmu_use& use) { return std::pair(use.variable, use.scale); };
    std::vector<std::map<std::pair<int, double>, std::size_t>> first(by_type.size());
    for (auto places = first.begin(); const auto& [type, members] : by_type) {
        std::vector<int> unique;
        std::size_t elements = 0;
        for (const int slot : members) {
            const int& variable = uses[static_cast<std::size_t>(slot)].variable;
            if (!places->emplace(key(uses[static_cast<std::size_t>(slot)]), elements).second) continue;
            unique.push_back(variable);
            const bool scalar = variables[static_cast<std::size_t>(variable)].dimensions.empty();
            elements += scalar ? 1 : instance.make_block({&variable, 1}).elements;
        }
        parts_.push_back({instance.make_block(unique), std::vector<unit>(elements)});
        ++places;
    }
    lay_out();
    group* g = first_;
    for (auto places = first.begin(); const auto& [type, members] : by_type) {
        for (const int slot : members) {
            const fmu_use& use = uses[static_cast<std::size_t>(slot)];
            const std::size_t at = (*places)[key(use)] + static_cast<std::size_t>(use.element);
            g->slots[at] = slot;
            part(g).units[at] = {use.unit.factor, use.unit.offset};
            g->plain = g->plain && use.unit.plain();
        }
        g->direct = type == fmi::base_type::float64 && instance.has_direct_calls();
        ++g, ++places;
    }
}

void fmu_values::lay_out() {
    std::size_t bytes = parts_.size() * sizeof(group);
    for (const auto& p : parts_)
        bytes += p.block.elements * (2 * sizeof(double) + sizeof(int)) +
                 p.block.references.size() * sizeof(fmi::value_reference);
    large_.resize(bytes <= sizeof(cache_line) ? 0 : (bytes + sizeof(cache_line) - 1) / sizeof(cache_line));
    std::byte* next = large_.empty() ? small_.bytes : large_.front().bytes;
    const auto take = [&]<class Value>(std::size_t count, Value first) {
        Value* const values = reinterpret_cast<Value*>(next);
        next += count * sizeof(Value);
        std::uninitialized_fill_n(values, count, first);
        return values;
    };
    first_ = take(parts_.size(), group{});
    last_ = first_ + parts_.size();
    // By falling alignment.
    for (group* g = first_; g != last_; ++g) {
        g->count = static_cast<std::uint32_t>(part(g).block.elements);
        g->variable_count = static_cast<std::uint32_t>(part(g).block.references.size());
        g->numbers = take(2 * part(g).block.elements, 0.0);
    }
    for (group* g = first_; g != last_; ++g) {
        g->variables = take(g->variable_count, fmi::value_reference{});
        std::copy(part(g).block.references.begin(), part(g).block.references.end(), g->variables);
        g->slots = take(g->count, -1);
    }
}

void fmu_values::get_derivatives(group& g, fmi::instance& instance, std::span<double> values) {
    const std::span<double> rates = g.in_fmu_unit();
    instance.get_output_derivatives(part(&g).block, 1, rates);
    for (std::size_t k = 0; k < rates.size(); ++k)
        if (g.slots[k] >= 0) values[static_cast<std::size_t>(g.slots[k])] = part(&g).units[k].factor * rates[k];
}

void fmu_values::to_fmu(group& g) {
    for (std::size_t k = 0; k < g.count; ++k) {
        const unit& u = part(&g).units[k];
        g.in_fmu_unit()[k] = (g.si()[k] - u.offset) / u.factor;
    }
}

void fmu_values::from_fmu(group& g) {
    for (std::size_t k = 0; k < g.count; ++k) {
        const unit& u = part(&g).units[k];
        g.si()[k] = u.factor * g.in_fmu_unit()[k] + u.offset;
    }
}

}  // namespace mdpcosim
