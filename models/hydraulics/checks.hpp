#pragma once

#include <fmt/format.h>

#include "core/suggest.hpp"
#include "nodes.hpp"

/// What parts must be to make a network.
namespace mdpcosim::hydraulics {

using nature = flow_nature::kind;

struct joint_at {
    const element* e;
    int terminal;
};

inline std::string names_of(const std::vector<joint_at>& joined) {
    std::vector<std::string> names;
    for (const auto& j : joined) names.push_back(fmt::format("{} ({})", j.e->name, j.e->kind));
    return name_list(names);
}

inline void check_ends(const element& e) {
    for (std::size_t i = 0; i < e.nodes_called.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (!e.nodes_called[i].empty() && e.nodes_called[i] == e.nodes_called[j])
                throw user_error(e.where, fmt::format("{} '{}' is joined twice to '{}'. Its ends need different nodes.",
                                                      e.kind, e.name, e.nodes_called[i]));
}

/// The volume of an elastic node, wherever pistons stand between their stops.
inline void check_volume(const node& n, const std::vector<joint_at>& joined, const compressible& f) {
    double least = n.volume, start = n.volume;
    std::vector<std::string> names;
    for (const auto& [e, terminal] : joined)
        for (const auto& s : e->swept()) {
            if (s.terminal != terminal) continue;
            std::array<double, most_variables> own{};
            e->start(own.data());
            start += s.area * own[static_cast<std::size_t>(s.state)];
            least += std::min(s.area * s.low, s.area * s.high);
            if (std::ranges::find(names, e->name) == names.end()) names.push_back(e->name);
        }
    if (names.empty()) return;
    if (!(start > 0) || (std::isfinite(least) && !(least > 0)))
        throw user_error(
            n.where,
            fmt::format("node '{}': its volume, {:.6g} m3 while {} stand at zero, is {:.6g} m3 at the start and {:.6g} "
                        "m3 where they end at their stops. It must stay above zero: raise 'volume', or move the stops.",
                        n.name, n.volume, name_list(names), start, least));
    if (f.strain_vapour <= -0.5)
        throw user_error(n.where,
                         fmt::format("node '{}' follows {}, and at the vapour pressure of {:.6g} Pa the air would fill "
                                     "{:.3g} times its volume. Lower 'air', or raise 'vapour-pressure'.",
                                     n.name, name_list(names), f.vapour, -f.strain_vapour));
}

/// Something must make the pressure of a node without compression.
inline void check_rigid(const node& n, const std::vector<joint_at>& joined) {
    bool resistive = false, all_inertial = true;
    double flow = 0;
    for (const auto& [e, terminal] : joined) {
        const flow_nature how = e->nature(terminal);
        resistive = resistive || how.what == nature::resistive;
        all_inertial = all_inertial && how.what == nature::inertial;
        std::array<double, most_variables> own{};
        e->start(own.data());
        if (how.what == nature::inertial) flow += how.factor * own[static_cast<std::size_t>(how.state)];
    }
    if (!resistive && !all_inertial)
        throw user_error(n.where,
                         fmt::format("rigid-node '{}' shuts in a volume that cannot be compressed: {} do not let its "
                                     "pressure decide over a flow at all times. Give it a volume (kind: node), or join "
                                     "an orifice, a gap or a pump with a leak.",
                                     n.name, names_of(joined)));
    if (!resistive && std::fabs(flow) > 1e-12)
        throw user_error(
            n.where,
            fmt::format("rigid-node '{}': {:.6g} m3/s more flow in than out at the start, by {}. Without compression "
                        "the sum must be zero: change their flows or speeds at the start, or give the node a volume.",
                        n.name, flow, names_of(joined)));
}

/// Rigid nodes that only join each other have no pressure of their own to begin with: each group needs a way out.
inline void check_ways_out(const std::vector<node>& nodes, const std::vector<std::vector<joint_at>>& joined) {
    std::vector<bool> out(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) out[i] = nodes[i].kind != node_kind::rigid;
    const auto resistive = [&](std::size_t i) {
        return std::ranges::any_of(joined[i],
                                   [](const auto& j) { return j.e->nature(j.terminal).what == nature::resistive; });
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (out[i]) continue;
            const nature leads = resistive(i) ? nature::resistive : nature::inertial;
            for (const auto& [e, terminal] : joined[i]) {
                if (e->nature(terminal).what != leads) continue;
                for (const int other : e->nodes)
                    if (out[static_cast<std::size_t>(other)]) out[i] = changed = true;
            }
        }
    }
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (!out[i])
            throw user_error(
                nodes[i].where,
                fmt::format("rigid-node '{}' shuts in a volume that cannot be compressed: by {} it reaches other rigid "
                            "nodes only, so that nothing makes its pressure. Give one of them a volume (kind: node).",
                            nodes[i].name, names_of(joined[i])));
}

inline void check_network(const std::vector<node>& nodes, const std::vector<std::unique_ptr<element>>& elements,
                          const compressible& f) {
    std::vector<std::vector<joint_at>> joined(nodes.size());
    for (const auto& e : elements) {
        check_ends(*e);
        for (int k = 0; k < e->terminals(); ++k)
            joined[static_cast<std::size_t>(e->nodes[static_cast<std::size_t>(k)])].push_back({e.get(), k});
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const node& n = nodes[i];
        if (n.name.empty()) continue;
        if (joined[i].empty())
            throw user_error(n.where, fmt::format("node '{}' is joined to nothing. Join a part to it, a line for "
                                                  "example, or leave it out.",
                                                  n.name));
        if (n.is_elastic()) check_volume(n, joined[i], f);
        if (n.kind == node_kind::rigid) check_rigid(n, joined[i]);
    }
    check_ways_out(nodes, joined);
}

}  // namespace mdpcosim::hydraulics
