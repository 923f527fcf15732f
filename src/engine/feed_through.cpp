#include "engine/feed_through.hpp"

#include <fmt/format.h>

#include <algorithm>

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
        marks_.resize(nodes_.size());
    }

    /// Outputs with one dependence; those of a subsystem that are silent are one node.
    struct node {
        subsystem_index subsystem;
        std::vector<output_slot> outputs;
        std::vector<int> inputs;
        bool sampled;
        bool assumed;  ///< nobody says so
        int level = 0;
    };

    /// Silent outputs in loops are taken to follow no input.
    std::vector<subsystem_index> cut_assumed_loops() {
        std::vector<subsystem_index> cut;
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (marks_[i].number < 0) find_loops(static_cast<int>(i));
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (!nodes_[i].assumed || !marks_[i].in_loop) continue;
            cut.push_back(nodes_[i].subsystem);
            nodes_[i].inputs.clear();
        }
        std::sort(cut.begin(), cut.end());
        return cut;
    }

    void find_levels() {
        for (std::size_t i = 0; i < nodes_.size(); ++i) visit(static_cast<int>(i));
    }

    const std::vector<node>& nodes() const { return nodes_; }

   private:
    enum class state : std::uint8_t { fresh, open, done };
    struct mark {
        state now = state::fresh;
        int number = -1, lowest = 0;  ///< of the search for loops
        bool waits = false, in_loop = false;
    };

    void add(node n) {
        for (const output_slot y : n.outputs) node_of_[y.value()] = static_cast<int>(nodes_.size());
        nodes_.push_back(std::move(n));
    }

    /// next(node, input, channel) for every node that this one depends on.
    template <class Function>
    void for_each_cause(int i, const Function& next) const {
        const node& n = nodes_[static_cast<std::size_t>(i)];
        for (const int local : n.inputs) {
            const input_slot input = book_.global_input(n.subsystem, local);
            for (const channel_index channel : graph_.input_channels[input.value()])
                if (graph_.delayed[channel.value()] == 0)
                    for (const output_slot source : graph_.channel_sources[channel.value()])
                        if (const int cause = node_of_[source.value()]; cause >= 0) next(cause, input, channel);
        }
    }

    /// Strongly connected components (Tarjan): what they hold stands in a loop, unless it is one node without an edge to itself.
    void find_loops(int i) {
        mark& own = marks_[static_cast<std::size_t>(i)];
        own.number = own.lowest = counter_++;
        own.waits = true;
        waiting_.push_back(i);
        for_each_cause(i, [&](int cause, input_slot, channel_index) {
            mark& other = marks_[static_cast<std::size_t>(cause)];
            if (cause == i) own.in_loop = true;
            if (other.number < 0) find_loops(cause);
            if (other.waits) own.lowest = std::min(own.lowest, other.lowest);
        });
        if (own.lowest != own.number) return;
        const auto first = std::find(waiting_.begin(), waiting_.end(), i);
        const bool several = waiting_.end() - first > 1;
        for (auto member = first; member != waiting_.end(); ++member) {
            mark& m = marks_[static_cast<std::size_t>(*member)];
            m.waits = false;
            m.in_loop |= several;
        }
        waiting_.erase(first, waiting_.end());
    }

    int visit(int i) {
        const auto at = static_cast<std::size_t>(i);
        if (marks_[at].now == state::done) return nodes_[at].level;
        if (marks_[at].now == state::open) loop(i);
        marks_[at].now = state::open;
        int deepest = 0;
        for_each_cause(i, [&](int cause, input_slot input, channel_index channel) {
            path_.push_back({i, input, channel});
            deepest = std::max(deepest, visit(cause));
            path_.pop_back();
        });
        marks_[at].now = state::done;
        return nodes_[at].level = deepest + 1;
    }

    struct hop {
        int output;
        input_slot input;
        channel_index channel;
    };

    std::string address(int i) const {
        return book_.output_address(nodes_[static_cast<std::size_t>(i)].outputs.front());
    }

    [[noreturn]] void loop(int first) const {
        auto begin = std::find_if(path_.begin(), path_.end(), [&](const hop& h) { return h.output == first; });
        std::vector<std::string> names{address(first)};
        // The path leads from an output back to its causes; the message follows the signals forward.
        for (auto h = path_.rbegin(); h != std::make_reverse_iterator(begin); ++h) {
            names.push_back(book_.input_address(h->input));
            names.push_back(address(h->output));
        }
        const channel_index channel = path_.back().channel;
        throw user_error(
            graph_.channel_places[channel.value()],
            fmt::format("{}: algebraic loop {}. Every output in it depends on its input without a state between. "
                        "Put a state into the loop, for example a lag-1 subsystem.",
                        graph_.channel_names[channel.value()], fmt::join(names, " -> ")));
    }

    const address_book& book_;
    const coupling_graph& graph_;
    std::vector<node> nodes_;
    std::vector<int> node_of_;  ///< by output; -1: none
    std::vector<mark> marks_;
    std::vector<hop> path_;
    std::vector<int> waiting_;
    int counter_ = 0;
};

/// Subsystems by rising level, each once per level, with the channels that reach its inputs.
std::vector<coupled_system::evaluation> in_order(const transport& subsystems, const coupling_graph& graph,
                                                 std::vector<std::pair<int, subsystem_index>> wanted) {
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    std::vector<coupled_system::evaluation> order;
    for (const auto& [level, s] : wanted) {
        coupled_system::evaluation e{s, {}};
        const std::size_t first = subsystems.input_offset(s);
        for (int k = 0; k < subsystems.describe(s).input_count(); ++k)
            for (const channel_index c : graph.input_channels[first + static_cast<std::size_t>(k)])
                e.channels.push_back(c);
        order.push_back(std::move(e));
    }
    return order;
}

}  // namespace

std::vector<subsystem_index> find_evaluation_order(const transport& subsystems, const address_book& book,
                                                   const coupling_graph& graph, const std::vector<bool>& silent,
                                                   coupled_system& system) {
    level_search search(subsystems, book, graph, silent);
    std::vector<subsystem_index> cut = search.cut_assumed_loops();
    search.find_levels();
    std::vector<bool> used(subsystems.outputs().size(), false);
    for (const auto& sources : graph.channel_sources)
        for (const output_slot source : sources) used[source.value()] = true;
    std::vector<std::pair<int, subsystem_index>> all, needed;
    for (const auto& n : search.nodes()) {
        if (n.inputs.empty()) continue;
        all.emplace_back(n.level, n.subsystem);
        const bool driven = std::any_of(n.inputs.begin(), n.inputs.end(), [&](int local) {
            return !graph.input_channels[book.global_input(n.subsystem, local).value()].empty();
        });
        if (!driven) continue;
        // A sample is taken with the inputs of its time: its outputs are shown with these, not with extrapolated ones.
        const bool is_used =
            std::any_of(n.outputs.begin(), n.outputs.end(), [&](output_slot y) { return used[y.value()]; });
        if (is_used || n.sampled) needed.push_back(all.back());
    }
    system.at_start = in_order(subsystems, graph, std::move(all));
    system.at_each_step = in_order(subsystems, graph, std::move(needed));
    return cut;
}

std::vector<subsystem_index> evaluated_before_read(const transport& subsystems, const coupling_graph& graph,
                                                   std::span<const coupled_system::evaluation> order) {
    std::vector<subsystem_index> owner;  // by output
    for (std::size_t i = 0; i < subsystems.size(); ++i)
        owner.resize(owner.size() + static_cast<std::size_t>(subsystems.describe(subsystem_index(i)).output_count()),
                     subsystem_index(i));
    std::vector<bool> read(subsystems.size(), false), evaluated(subsystems.size(), false);
    std::vector<subsystem_index> found;
    for (const auto& [s, channels] : order) {
        for (const channel_index c : channels)
            for (const output_slot y : graph.channel_sources[c.value()])
                if (!evaluated[owner[y.value()].value()]) read[owner[y.value()].value()] = true;
        if (!read[s.value()] && !evaluated[s.value()]) found.push_back(s);
        evaluated[s.value()] = true;
    }
    return found;
}

}  // namespace mdpcosim
