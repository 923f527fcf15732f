#include <algorithm>
#include <map>
#include <set>

#include "equations_of_train.hpp"

// The structure of the train's Jacobian, what inputs and outputs depend on, and the entries.

namespace mdpcosim::valve_train {

namespace {

using entry = std::pair<int, int>;  // column, row

sparsity compressed(std::size_t columns, const std::set<entry>& by_column, std::map<entry, int>* slots = nullptr) {
    sparsity s;
    s.start.assign(columns + 1, 0);
    for (const auto& one : by_column) {
        if (slots) (*slots)[one] = static_cast<int>(s.rows.size());
        s.rows.push_back(one.second);
        ++s.start[static_cast<std::size_t>(one.first) + 1];
    }
    for (std::size_t j = 0; j < columns; ++j) s.start[j + 1] += s.start[j];
    return s;
}

}  // namespace

void train::make_structures() {
    std::multimap<int, const destination*> by_result;
    for (const auto& d : destinations_) by_result.emplace(d.result, &d);

    // What results depend on; where their derivatives go.
    std::vector<std::vector<int>> states_of(results_.size()), inputs_of(results_.size());
    std::set<entry> entries, by_inputs, by_states;
    for (const auto& [q, v] : motions_) entries.insert({v, q});
    struct wanted {
        term_group* group;
        jacobian_entry made;
        entry at;
    };
    std::vector<wanted> all;
    for (term_group* g : groups_) {
        g->first.push_back(0);
        std::size_t count = 0;
        for (const auto& term : g->structure()) {
            for (std::size_t r = 0; r < term.results.size(); ++r) {
                const int number = term.first_result + static_cast<int>(r);
                const auto depends = [&](std::size_t i) { return (term.results[r].on >> i & 1U) != 0; };
                const std::size_t n = term.states.size();
                for (std::size_t i = 0; i < n; ++i)
                    if (term.states[i] >= 0 && depends(i))
                        states_of[static_cast<std::size_t>(number)].push_back(term.states[i]);
                for (std::size_t i = 0; i < term.inputs.size(); ++i)
                    if (depends(n + i)) inputs_of[static_cast<std::size_t>(number)].push_back(term.inputs[i]);
                const auto [begin, end] = by_result.equal_range(number);
                for (auto d = begin; d != end; ++d) {
                    for (const int input : inputs_of[static_cast<std::size_t>(number)])
                        by_inputs.insert({input, d->second->row});
                    for (std::size_t i = 0; i < n; ++i) {
                        if (term.states[i] < 0 || !depends(i)) continue;
                        all.push_back({g, {r, i, 0, d->second->weight}, {term.states[i], d->second->row}});
                        entries.insert(all.back().at);
                        ++count;
                    }
                }
            }
            g->first.push_back(count);
        }
    }
    std::map<entry, int> slots;
    structure_ = compressed(states_.size(), entries, &slots);
    for (auto& one : all) {
        one.made.slot = slots.at(one.at);
        one.group->entries.push_back(one.made);
    }
    for (const auto& [q, v] : motions_) ones_.push_back(slots.at({v, q}));

    // Outputs.
    std::vector<std::vector<int>> results_to(states_.size());
    for (const auto& d : destinations_) results_to[static_cast<std::size_t>(d.row)].push_back(d.result);
    for (const shown& s : shown_) {
        std::set<int> direct;
        const auto add_result = [&](int r) {
            for (const int i : states_of[static_cast<std::size_t>(r)]) by_states.insert({i, s.slot});
            direct.insert(inputs_of[static_cast<std::size_t>(r)].begin(), inputs_of[static_cast<std::size_t>(r)].end());
        };
        for (const auto& [i, factor] : s.states) by_states.insert({i, s.slot});
        for (const auto& [r, factor] : s.results) add_result(r);
        for (const auto& [row, factor] : s.rates)
            for (const int r : results_to[static_cast<std::size_t>(row)]) add_result(r);
        for (auto& o : description_.outputs)
            if (o.slot <= s.slot && s.slot < o.slot + o.size) o.direct.assign(direct.begin(), direct.end());
    }
    for (int i = 0; i < state_count(); ++i) by_states.insert({i, energy_slot_});
    input_structure_ = compressed(static_cast<std::size_t>(description_.input_count()), by_inputs);
    output_structure_ = compressed(states_.size(), by_states);
}

bool train::sparse_jacobian(double /*t*/, const double* x, const double* u, double* values) const {
    std::fill_n(values, structure_.entries(), 0.0);
    for (const int slot : ones_) values[slot] = 1;
    for (const term_group* g : groups_) g->add_jacobian(x, u, values);
    return true;
}

}  // namespace mdpcosim::valve_train
