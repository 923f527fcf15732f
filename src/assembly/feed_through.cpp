#include "assembly/feed_through.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace mdpcosim {

namespace {

/// Depth-first search from outputs back to what they depend on: output <- own inputs (direct) <- channels <- outputs.
class level_search {
   public:
    level_search(const transport& subsystems, const address_book& book, const coupling_graph& graph,
                 const std::vector<bool>& silent)
        : book_(book), graph_(graph), node_of_(subsystems.outputs().size(), -1) {
        for (std::size_t i = 0; i < subsystems.size(); ++i) {
            const subsystem_index s(i);
            node unsaid{s, {}, {}, false, true};
            for (const auto& y : subsystems.describe(s).outputs) {
                for (int k = 0; k < y.size; ++k) {
                    const output_slot output = book.global_output(s, y.slot + k);
                    if (silent[output.value()])
                        unsaid.outputs.push_back(output);
                    else if (!y.direct.empty())
                        add({s, {output}, y.direct, y.sampled, false});
                }
            }
            if (unsaid.outputs.empty()) continue;
            for (const auto& u : subsystems.describe(s).inputs)
                for (int k = 0; k < u.size; ++k) unsaid.inputs.push_back(u.slot + k);
            add(std::move(unsaid));
        }
    }

    /// Outputs with one dependence; those of a subsystem that are silent are one node.
    struct node {
        subsystem_index subsystem;
        std::vector<output_slot> outputs;
        std::vector<int> inputs;
        bool sampled;
        bool assumed;  ///< nobody says so
        int level = 0;
        int loop = -1;   ///< that it belongs to
        int within = 0;  ///< level in its loop
    };
    struct loop {
        std::vector<int> members;
        std::vector<channel_index> torn;
    };

    /// Silent outputs in loops are taken to follow no input.
    std::vector<subsystem_index> cut_assumed_loops() {
        std::vector<subsystem_index> cut;
        search();
        for (node& n : nodes_) {
            if (!n.assumed || n.loop < 0) continue;
            cut.push_back(n.subsystem);
            n.inputs.clear();
        }
        std::sort(cut.begin(), cut.end());
        return cut;
    }

    /// Loops, each with channels that are taken out of it so that the rest has an order.
    void tear_loops() {
        search();
        for (loop& l : loops_) tear(l);
    }
    void refuse_loops() {
        search();
        if (!loops_.empty()) refuse(loops_.front());
    }

    void find_levels() {
        for (std::size_t i = 0; i < nodes_.size(); ++i) level(static_cast<int>(i));
        for (const loop& l : loops_)
            for (const int i : l.members) level_within(i);
    }

    const std::vector<node>& nodes() const { return nodes_; }
    const std::vector<loop>& loops() const { return loops_; }

    /// `a.y -> b.u -> b.y -> a.u -> a.y`, and the channel that closes it.
    std::pair<std::string, channel_index> path(const loop& l) const {
        std::vector<hop> way;
        int now = l.members.front();
        auto first = way.end();
        while (first == way.end()) {
            hop next{};
            bool found = false;
            for_each_cause(now, [&](int cause, input_slot input, channel_index channel) {
                if (found || node_at(cause).loop != node_at(now).loop) return;
                next = {now, cause, input, channel};
                found = true;
            });
            way.push_back(next);
            now = next.cause;
            first = std::find_if(way.begin(), way.end(), [&](const hop& h) { return h.node == now; });
        }
        // The way leads from an output back to its causes; the message follows the signals forward.
        std::vector<std::string> names{address(now)};
        for (auto h = way.rbegin(); h != std::make_reverse_iterator(first); ++h) {
            names.push_back(book_.input_address(h->input));
            names.push_back(address(h->node));
        }
        return {fmt::format("{}", fmt::join(names, " -> ")), way.back().channel};
    }

   private:
    struct mark {
        int number = -1, lowest = 0;
        bool waits = false, reads_itself = false;
    };
    struct hop {
        int node, cause;
        input_slot input;
        channel_index channel;
    };

    node& node_at(int i) { return nodes_[static_cast<std::size_t>(i)]; }
    const node& node_at(int i) const { return nodes_[static_cast<std::size_t>(i)]; }

    void add(node n) {
        for (const output_slot y : n.outputs) node_of_[y.value()] = static_cast<int>(nodes_.size());
        nodes_.push_back(std::move(n));
    }

    /// next(node, input, channel) for every node that this one depends on.
    template <class Function>
    void for_each_cause(int i, const Function& next) const {
        const node& n = node_at(i);
        for (const int local : n.inputs) {
            const input_slot input = book_.global_input(n.subsystem, local);
            for (const channel_index channel : graph_.input_channels[input.value()])
                if (graph_.delayed[channel.value()] == 0)
                    for (const output_slot source : graph_.channel_sources[channel.value()])
                        if (const int cause = node_of_[source.value()]; cause >= 0) next(cause, input, channel);
        }
    }

    void search() {
        marks_.assign(nodes_.size(), {});
        loops_.clear();
        for (node& n : nodes_) n.loop = -1;
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (marks_[i].number < 0) find_loops(static_cast<int>(i));
    }

    /// Strongly connected components (Tarjan): what they hold stands in a loop, unless it is one node without an edge to itself.
    void find_loops(int i) {
        mark& own = marks_[static_cast<std::size_t>(i)];
        own.number = own.lowest = counter_++;
        own.waits = true;
        waiting_.push_back(i);
        for_each_cause(i, [&](int cause, input_slot, channel_index) {
            mark& other = marks_[static_cast<std::size_t>(cause)];
            if (cause == i) own.reads_itself = true;
            if (other.number < 0) find_loops(cause);
            if (other.waits) own.lowest = std::min(own.lowest, other.lowest);
        });
        if (own.lowest != own.number) return;
        const auto first = std::find(waiting_.begin(), waiting_.end(), i);
        loop found{{first, waiting_.end()}, {}};
        waiting_.erase(first, waiting_.end());
        for (const int member : found.members) marks_[static_cast<std::size_t>(member)].waits = false;
        if (found.members.size() == 1 && !own.reads_itself) return;
        std::sort(found.members.begin(), found.members.end());
        for (const int member : found.members) node_at(member).loop = static_cast<int>(loops_.size());
        loops_.push_back(std::move(found));
    }

    /// Takes out one channel after the other: the one that leaves the fewest members in loops.
    void tear(loop& l) const {
        std::vector<edge> edges;
        std::vector<channel_index> channels;
        for (const int i : l.members)
            for_each_cause(i, [&](int cause, input_slot, channel_index channel) {
                if (node_at(cause).loop != node_at(i).loop) return;
                edges.push_back({cause, i, channel});
                if (std::find(channels.begin(), channels.end(), channel) == channels.end()) channels.push_back(channel);
            });
        while (!edges.empty()) {
            std::vector<edge> fewest;
            channel_index best;
            for (const channel_index c : channels) {
                std::vector<edge> rest = in_loops(edges, c);
                if (best.valid() && rest.size() >= fewest.size()) continue;
                fewest = std::move(rest);
                best = c;
                if (fewest.empty()) break;
            }
            l.torn.push_back(best);
            std::erase(channels, best);
            edges = std::move(fewest);
        }
    }

    struct edge {
        int from, to;
        channel_index channel;
    };
    /// The edges without those of a channel, of nodes that have both a cause and an effect among what is left.
    std::vector<edge> in_loops(std::vector<edge> edges, channel_index without) const {
        std::erase_if(edges, [&](const edge& e) { return e.channel == without; });
        std::vector<bool> has_cause, has_effect;
        for (std::size_t before = edges.size() + 1; edges.size() < before;) {
            before = edges.size();
            has_cause.assign(nodes_.size(), false);
            has_effect.assign(nodes_.size(), false);
            for (const edge& e : edges) {
                has_cause[static_cast<std::size_t>(e.to)] = true;
                has_effect[static_cast<std::size_t>(e.from)] = true;
            }
            std::erase_if(edges, [&](const edge& e) {
                return !has_cause[static_cast<std::size_t>(e.from)] || !has_effect[static_cast<std::size_t>(e.to)];
            });
        }
        return edges;
    }

    /// The members of a loop have one level.
    int level(int i) {
        node& n = node_at(i);
        if (n.level > 0) return n.level;
        const std::vector<int> alone{i};
        const std::vector<int>& members = n.loop < 0 ? alone : loops_[static_cast<std::size_t>(n.loop)].members;
        int deepest = 0;
        for (const int member : members)
            for_each_cause(member, [&](int cause, input_slot, channel_index) {
                if (n.loop < 0 || node_at(cause).loop != n.loop) deepest = std::max(deepest, level(cause));
            });
        for (const int member : members) node_at(member).level = deepest + 1;
        return deepest + 1;
    }

    int level_within(int i) {
        node& n = node_at(i);
        if (n.within > 0) return n.within;
        const auto& torn = loops_[static_cast<std::size_t>(n.loop)].torn;
        int deepest = 0;
        for_each_cause(i, [&](int cause, input_slot, channel_index channel) {
            if (node_at(cause).loop == n.loop && std::find(torn.begin(), torn.end(), channel) == torn.end())
                deepest = std::max(deepest, level_within(cause));
        });
        return n.within = deepest + 1;
    }

    std::string address(int i) const { return book_.output_address(node_at(i).outputs.front()); }

    [[noreturn]] void refuse(const loop& l) const {
        const auto [names, channel] = path(l);
        throw user_error(
            graph_.channel_places[channel.value()],
            fmt::format("{}: algebraic loop {}. Every output in it depends on its input without a state between. "
                        "Put a state into the loop, for example a lag-1 subsystem, or have it solved at every macro "
                        "point: 'iteration: newton'.",
                        graph_.channel_names[channel.value()], names));
    }

    const address_book& book_;
    const coupling_graph& graph_;
    std::vector<node> nodes_;
    std::vector<int> node_of_;  ///< by output; -1: none
    std::vector<mark> marks_;
    std::vector<loop> loops_;
    std::vector<int> waiting_;
    int counter_ = 0;
};

/// Level, loop, level in the loop, subsystem.
using evaluation_key = std::tuple<int, int, int, subsystem_index>;

/// Subsystems by rising level, each once per level, with the channels that reach its inputs.
std::vector<coupling_structure::evaluation> in_order(const transport& subsystems, const coupling_graph& graph,
                                                     const std::vector<level_search::loop>& loops,
                                                     std::vector<evaluation_key> wanted) {
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    std::vector<coupling_structure::evaluation> order;
    for (const auto& [level, loop, within, s] : wanted) {
        coupling_structure::evaluation e{s, {}, loop};
        const std::size_t first = subsystems.input_offset(s);
        const auto is_torn = [&, of = loop](channel_index c) {
            return of >= 0 && std::ranges::count(loops[static_cast<std::size_t>(of)].torn, c) > 0;
        };
        for (int k = 0; k < subsystems.describe(s).input_count(); ++k)
            for (const channel_index c : graph.input_channels[first + static_cast<std::size_t>(k)])
                if (!is_torn(c)) e.channels.push_back(c);
        order.push_back(std::move(e));
    }
    return order;
}

}  // namespace

std::vector<subsystem_index> find_evaluation_order(const transport& subsystems, const address_book& book,
                                                   const coupling_graph& graph, const std::vector<bool>& silent,
                                                   const std::optional<fixed_point_options>& iteration,
                                                   coupled_system& system) {
    level_search search(subsystems, book, graph, silent);
    std::vector<subsystem_index> cut;
    if (iteration) {
        search.tear_loops();
    } else {
        cut = search.cut_assumed_loops();
        search.refuse_loops();
    }
    search.find_levels();
    std::vector<bool> used(subsystems.outputs().size(), false);
    for (const auto& sources : graph.channel_sources)
        for (const output_slot source : sources) used[source.value()] = true;
    std::vector<evaluation_key> all, needed;
    for (const auto& n : search.nodes()) {
        if (n.inputs.empty()) continue;
        all.emplace_back(n.level, n.loop, n.within, n.subsystem);
        const bool driven = std::any_of(n.inputs.begin(), n.inputs.end(), [&](int local) {
            return !graph.input_channels[book.global_input(n.subsystem, local).value()].empty();
        });
        if (!driven) continue;
        // A sample is taken with the inputs of its time: its outputs are shown with these, not with extrapolated ones.
        const bool is_used =
            std::any_of(n.outputs.begin(), n.outputs.end(), [&](output_slot y) { return used[y.value()]; });
        if (is_used || n.sampled) needed.push_back(all.back());
    }
    system.at_start = in_order(subsystems, graph, search.loops(), std::move(all));
    system.at_each_step = in_order(subsystems, graph, search.loops(), std::move(needed));
    for (const auto& l : search.loops()) system.loops.emplace_back(l.torn, search.path(l).first, *iteration);
    return cut;
}

std::vector<subsystem_index> evaluated_before_read(const transport& subsystems, const coupling_graph& graph,
                                                   std::span<const coupling_structure::evaluation> order) {
    std::vector<subsystem_index> owner;  // by output
    for (std::size_t i = 0; i < subsystems.size(); ++i)
        owner.resize(owner.size() + static_cast<std::size_t>(subsystems.describe(subsystem_index(i)).output_count()),
                     subsystem_index(i));
    std::vector<bool> read(subsystems.size(), false), evaluated(subsystems.size(), false);
    std::vector<subsystem_index> found;
    for (const auto& [s, channels, loop] : order) {
        for (const channel_index c : channels)
            for (const output_slot y : graph.channel_sources[c.value()])
                if (!evaluated[owner[y.value()].value()]) read[owner[y.value()].value()] = true;
        if (!read[s.value()] && !evaluated[s.value()]) found.push_back(s);
        evaluated[s.value()] = true;
    }
    return found;
}

}  // namespace mdpcosim
