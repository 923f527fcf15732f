#include "master/multirate_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mdpcosim {

namespace {

/// Rows of a sparse table: for each subsystem those it is joined with.
struct neighbours {
    std::vector<std::size_t> first, list;

    neighbours(std::size_t n, const std::vector<coupling_edge>& edges, bool reversed) : first(n + 1, 0) {
        for (const auto& e : edges) ++first[(reversed ? e.to : e.from) + 1];
        std::partial_sum(first.begin(), first.end(), first.begin());
        list.resize(edges.size());
        std::vector<std::size_t> at(first.begin(), first.end() - 1);
        for (const auto& e : edges) list[at[reversed ? e.to : e.from]++] = reversed ? e.from : e.to;
    }
};

/// Depth first from i, without recursion: `left` hears every subsystem after all that are reached from it.
template <class Left>
void visit_from(std::size_t i, const neighbours& next, std::vector<bool>& seen, const Left& left) {
    if (seen[i]) return;
    std::vector<std::pair<std::size_t, std::size_t>> path{{i, next.first[i]}};
    seen[i] = true;
    while (!path.empty()) {
        auto& [node, at] = path.back();
        if (at == next.first[node + 1]) {
            left(node);
            path.pop_back();
        } else if (const std::size_t to = next.list[at++]; !seen[to]) {
            seen[to] = true;
            path.emplace_back(to, next.first[to]);
        }
    }
}

/// The number of the loop of couplings that each subsystem belongs to, causes before effects (Kosaraju's algorithm).
std::vector<std::size_t> coupled_loops(std::size_t n, const std::vector<coupling_edge>& edges) {
    const neighbours forward(n, edges, false), backward(n, edges, true);
    std::vector<std::size_t> finished, loop(n);
    std::vector<bool> seen(n, false);
    for (std::size_t i = n; i-- > 0;) visit_from(i, forward, seen, [&](std::size_t k) { finished.push_back(k); });
    seen.assign(n, false);
    std::size_t number = 0;
    for (auto i = finished.rbegin(); i != finished.rend(); ++i, ++number)
        visit_from(*i, backward, seen, [&](std::size_t k) { loop[k] = number; });
    return loop;
}

std::vector<std::size_t> coupled_parts(std::size_t n, std::vector<coupling_edge> edges) {
    const std::size_t count = edges.size();
    for (std::size_t k = 0; k < count; ++k) edges.push_back({edges[k].to, edges[k].from});
    const neighbours joined(n, edges, false);
    std::vector<std::size_t> part(n);
    std::vector<bool> seen(n, false);
    std::size_t number = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (seen[i]) continue;
        visit_from(i, joined, seen, [&](std::size_t k) { part[k] = number; });
        ++number;
    }
    return part;
}

bool same_step(double a, double b) { return a > 0 && b > 0 && std::abs(a - b) <= 1e-9 * a; }

}  // namespace

std::vector<multirate_sequence> find_sequences(const multirate_plan& plan, multirate_scheme scheme,
                                               std::vector<coupling_edge> edges) {
    const std::size_t n = plan.steps.size();
    std::ranges::sort(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    std::erase_if(edges, [](const coupling_edge& e) { return e.from == e.to; });
    const auto part = coupled_parts(n, edges), loop = coupled_loops(n, edges);
    std::vector<std::size_t> ranked(n), listed(n);
    std::iota(ranked.begin(), ranked.end(), 0);
    std::iota(listed.begin(), listed.end(), 0);
    for (std::size_t k = 0; k < plan.order.size(); ++k) listed[plan.order[k].value()] = k;
    const bool given = !plan.order.empty();
    std::ranges::stable_sort(ranked, [&](std::size_t a, std::size_t b) {
        if (part[a] != part[b]) return part[a] < part[b];
        if (!given && loop[a] != loop[b]) return loop[a] < loop[b];
        // Steps that an integrator chooses (0) count as the shortest.
        if (scheme == multirate_scheme::sequential || plan.steps[a] == plan.steps[b] ||
            same_step(plan.steps[a], plan.steps[b]))
            return listed[a] < listed[b];
        return (scheme == multirate_scheme::slowest_first) == (plan.steps[a] > plan.steps[b]);
    });

    const neighbours to(n, edges, false), from(n, edges, true);
    std::vector<int> in_loop(n, 0);  // how many; loops stay together
    for (const std::size_t l : loop) ++in_loop[l];
    std::vector<std::size_t> group_of(n, 0);  // 0: in none yet
    std::vector<multirate_sequence> sequences;
    std::size_t group = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const std::size_t i = ranked[k];
        const bool new_part = k == 0 || part[ranked[k - 1]] != part[i];
        if (new_part) sequences.emplace_back();
        const auto joins = [&] {
            const std::size_t last = ranked[k - 1];
            if (!same_step(plan.steps[last], plan.steps[i])) return false;
            if (loop[last] != loop[i] && in_loop[loop[last]] + in_loop[loop[i]] > 2) return false;
            for (const auto* side : {&to, &from})
                for (std::size_t at = side->first[i]; at < side->first[i + 1]; ++at) {
                    const std::size_t other = side->list[at];
                    const bool by_step = scheme != multirate_scheme::sequential && loop[other] == loop[i];
                    if (group_of[other] == group && !by_step) return false;
                }
            return true;
        };
        if (new_part || !joins()) {
            ++group;
            sequences.back().emplace_back();
        }
        sequences.back().back().push_back(i);
        group_of[i] = group;
    }
    return sequences;
}

}  // namespace mdpcosim
