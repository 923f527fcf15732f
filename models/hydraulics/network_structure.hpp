#pragma once

#include <map>
#include <set>

#include "network.hpp"

/// The structure of the network's Jacobian and its entries.
namespace mdpcosim::hydraulics {

namespace detail {

/// Compressed columns of entries (row, column); each entry's place among them in `place`.
inline sparsity compressed(std::size_t columns, const std::set<std::pair<int, int>>& by_column,
                           std::map<std::pair<int, int>, int>* place = nullptr) {
    sparsity s;
    s.start.assign(columns + 1, 0);
    for (const auto& entry : by_column) {
        if (place) (*place)[entry] = static_cast<int>(s.rows.size());
        s.rows.push_back(entry.second);
        ++s.start[static_cast<std::size_t>(entry.first) + 1];
    }
    for (std::size_t j = 0; j < columns; ++j) s.start[j + 1] += s.start[j];
    return s;
}

}  // namespace detail

inline void network::add_dependents() {
    dependents_.push_back(0);
    for (const auto& n : nodes_) {
        const bool by_own = n.is_elastic() || n.kind == node_kind::accumulator || n.kind == node_kind::rigid;
        if (by_own) by_state_.push_back({n.state, true, 0});
        if (n.is_elastic())
            for (const auto& s : n.swept) by_state_.push_back({s.state, false, s.area});
        dependents_.push_back(static_cast<int>(by_state_.size()));
    }
    by_dependent_.resize(by_state_.size());
}

inline std::vector<network::destination> network::destinations(const element& e, int result) const {
    const int terminals = e.terminals();
    if (result < terminals) {
        const int i = e.nodes[static_cast<std::size_t>(result)];
        if (is_algebraic(i) && balances_rates(i)) return {};
        return {{i, 1}};
    }
    std::vector<destination> found{{e.state + result - terminals, 1}};
    for (int k = 0; k < terminals; ++k) {
        const int i = e.nodes[static_cast<std::size_t>(k)];
        const flow_nature flow = e.nature(k);
        if (is_algebraic(i) && balances_rates(i) && flow.state == result - terminals) found.push_back({i, flow.factor});
    }
    return found;
}

inline void network::make_structure() {
    struct wanted {
        int entry, pressure;
        std::pair<int, int> at;  ///< column, row
        double weight;
    };
    std::vector<wanted> all;
    std::set<std::pair<int, int>> entries;
    std::vector<std::size_t> first{0};
    for (const auto& e : elements_) {
        const auto depends = e->structure();
        const int n = e->variables(), terminals = e->terminals();
        for (int r = 0; r < n; ++r)
            for (const auto& [row, weight] : destinations(*e, r))
                for (int c = 0; c < n; ++c) {
                    if ((depends[static_cast<std::size_t>(r)].on >> c & 1U) == 0) continue;
                    if (c >= terminals) {
                        all.push_back({r + c * n, -1, {e->state + c - terminals, row}, weight});
                        continue;
                    }
                    const auto i = static_cast<std::size_t>(e->nodes[static_cast<std::size_t>(c)]);
                    for (int k = dependents_[i]; k < dependents_[i + 1]; ++k)
                        all.push_back({r + c * n, k, {by_state_[static_cast<std::size_t>(k)].state, row}, weight});
                }
        first.push_back(all.size());
    }
    for (const auto& one : all) entries.insert(one.at);
    std::map<std::pair<int, int>, int> place;
    structure_ = detail::compressed(static_cast<std::size_t>(states_), entries, &place);
    for (const auto& one : all) terms_.push_back({one.entry, one.pressure, place.at(one.at), one.weight});
    first_ = std::move(first);
}

inline bool network::sparse_jacobian(double t, const double* x, const double* u, double* values) const {
    pressures(t, x, u);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const double V = nodes_[i].is_elastic() ? nodes_[i].volume_at(x) : 1;
        for (int k = dependents_[i]; k < dependents_[i + 1]; ++k) {
            const auto& d = by_state_[static_cast<std::size_t>(k)];
            by_dependent_[static_cast<std::size_t>(k)] = p_[i].slope * (d.own ? 1 / V : -x[i] / (V * V) * d.area);
        }
    }
    std::fill_n(values, structure_.entries(), 0.0);
    std::array<double, most_variables> z{};
    std::array<double, most_variables * most_variables> by_z{};
    for (std::size_t k = 0; k < elements_.size(); ++k) {
        const element& e = *elements_[k];
        gather(e, x, z.data());
        e.differentiate(z.data(), u + e.input, by_z.data());
        for (std::size_t m = first_[k]; m < first_[k + 1]; ++m) {
            const term& one = terms_[m];
            const double own = one.weight * by_z[static_cast<std::size_t>(one.entry)];
            values[one.slot] += one.pressure < 0 ? own : own * by_dependent_[static_cast<std::size_t>(one.pressure)];
        }
    }
    return true;
}

/// States that variables and inputs with these bits depend on.
inline std::vector<int> network::states_behind(const element& e, std::uint32_t mask) const {
    std::vector<int> found;
    for (int c = 0; c < e.variables(); ++c) {
        if ((mask >> c & 1U) == 0) continue;
        if (c >= e.terminals()) {
            found.push_back(e.state + c - e.terminals());
            continue;
        }
        const auto i = static_cast<std::size_t>(e.nodes[static_cast<std::size_t>(c)]);
        for (int k = dependents_[i]; k < dependents_[i + 1]; ++k)
            found.push_back(by_state_[static_cast<std::size_t>(k)].state);
    }
    return found;
}

inline std::vector<int> network::inputs_behind(const element& e, std::uint32_t mask) const {
    std::vector<int> found;
    for (int c = 0; c < e.terminals(); ++c) {
        const node& n = node_at(e.nodes[static_cast<std::size_t>(c)]);
        if ((mask >> c & 1U) != 0 && n.has_input()) found.push_back(n.input);
    }
    for (int k = 0; k < e.inputs; ++k)
        if ((mask >> (e.variables() + k) & 1U) != 0) found.push_back(e.input + k);
    return found;
}

/// Of rates and outputs on inputs, and of outputs on states.
inline void network::find_port_values() {
    std::vector<bool> of_port(static_cast<std::size_t>(description_.output_count()));
    for (const port& p : description_.ports)
        for (const int slot : {p.motion[0], p.motion[1]})
            if (slot >= 0) of_port[static_cast<std::size_t>(slot)] = true;
    for (std::size_t k = 0; k < elements_.size(); ++k)
        for (const auto& one : shown_[k]) {
            if (!of_port[static_cast<std::size_t>(one.slot)]) continue;
            port_values_.push_back({one.slot, {}});
            for (const auto& [i, factor] : one.terms) {
                const int own = i - elements_[k]->terminals();
                if (own < 0 || own >= elements_[k]->states) ports_are_states_ = false;
                port_values_.back().states.emplace_back(elements_[k]->state + own, factor);
            }
        }
    for (int i = 0; i < node_count(); ++i) {
        if (node_at(i).kind != node_kind::port) continue;
        const int volume = node_outputs_[static_cast<std::size_t>(i)];
        port_values_.push_back({volume, {{i, 1}}});
        port_value flow{volume + 1, {}};
        bool follows = false;  // the pressure at once: nobody asks for it here
        for (const auto& e : elements_)
            for (int k = 0; k < e->terminals(); ++k) {
                if (e->nodes[static_cast<std::size_t>(k)] != i) continue;
                const flow_nature nature = e->nature(k);
                if (nature.what == flow_nature::kind::given) ports_are_states_ = false;
                follows |= nature.what != flow_nature::kind::inertial;
                flow.states.emplace_back(e->state + nature.state, nature.factor);
            }
        if (!follows) port_values_.push_back(std::move(flow));
    }
}

inline void network::add_input_dependence() {
    std::set<std::pair<int, int>> rates, shown_by;
    std::vector<std::set<int>> direct(static_cast<std::size_t>(description_.output_count()));
    const auto add_states = [&](int output, const std::vector<int>& states) {
        for (const int j : states) shown_by.insert({j, output});
    };
    for (std::size_t k = 0; k < elements_.size(); ++k) {
        const element& e = *elements_[k];
        const auto depends = e.structure();
        for (int r = 0; r < e.variables(); ++r) {
            const std::uint32_t mask = depends[static_cast<std::size_t>(r)].on;
            const auto inputs = inputs_behind(e, mask);
            for (const auto& [row, weight] : destinations(e, r))
                for (const int input : inputs) rates.insert({input, row});
            if (r >= e.terminals()) continue;
            const int i = e.nodes[static_cast<std::size_t>(r)];
            if (node_at(i).kind != node_kind::port) continue;
            const int flow = node_outputs_[static_cast<std::size_t>(i)] + 1;
            direct[static_cast<std::size_t>(flow)].insert(inputs.begin(), inputs.end());
            add_states(flow, states_behind(e, mask));
        }
        for (const auto& one : shown_[k]) {
            std::uint32_t mask = 0;
            for (const auto& [i, factor] : one.terms)
                mask |=
                    i < e.variables() ? std::uint32_t{1} << i : depends[static_cast<std::size_t>(i - e.variables())].on;
            const auto inputs = inputs_behind(e, mask);
            direct[static_cast<std::size_t>(one.slot)].insert(inputs.begin(), inputs.end());
            add_states(one.slot, states_behind(e, mask));
        }
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const node& n = nodes_[i];
        const int own = node_outputs_[i];
        if (own < 0) continue;
        if (n.kind == node_kind::source) direct[static_cast<std::size_t>(own)].insert(n.input);
        for (int k = dependents_[i]; k < dependents_[i + 1]; ++k)
            for (int slot = own; slot < own + (n.is_elastic() ? 3 : 1); ++slot)
                shown_by.insert({by_state_[static_cast<std::size_t>(k)].state, slot});
        if (n.kind != node_kind::elastic && n.kind != node_kind::rigid)
            shown_by.insert({n.state, n.kind == node_kind::port ? own : own + 1});
    }
    for (auto& o : description_.outputs) {
        const auto& by = direct[static_cast<std::size_t>(o.slot)];
        o.direct.assign(by.begin(), by.end());
    }
    for (const auto& p : description_.ports)
        if (p.kind == port_kind::hydraulic && !direct[static_cast<std::size_t>(p.motion[1])].empty())
            for (auto& o : description_.outputs)
                if (o.slot == p.motion[0]) o.rate_needs_input = true;
    input_structure_ = detail::compressed(static_cast<std::size_t>(description_.input_count()), rates);
    output_structure_ = detail::compressed(static_cast<std::size_t>(states_), shown_by);
}

}  // namespace mdpcosim::hydraulics
