#include "engine/feed_through.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mdpcosim {

namespace {

/// Depth-first search from outputs back to what they depend on: output <- own inputs (direct) <- channels <- outputs.
class level_search {
   public:
    level_search(const transport& subsystems, const address_book& book, const coupling_graph& graph)
        : book_(book), graph_(graph) {
        std::size_t outputs = 0;
        for (std::size_t i = 0; i < subsystems.size(); ++i) {
            const subsystem_index s(i);
            const auto& d = subsystems.describe(s);
            outputs += static_cast<std::size_t>(d.output_count());
            for (const auto& y : d.outputs) {
                if (y.direct.empty()) continue;
                for (int k = 0; k < y.size; ++k)
                    direct_.push_back({s, book.global_output(s, y.slot + k), y.direct, y.sampled});
            }
        }
        direct_of_.assign(outputs, -1);
        level_.assign(outputs, 0);
        for (std::size_t i = 0; i < direct_.size(); ++i) direct_of_[direct_[i].output.value()] = static_cast<int>(i);
        state_.assign(direct_.size(), state::fresh);
    }

    void run() {
        for (std::size_t i = 0; i < direct_.size(); ++i) visit(static_cast<int>(i));
    }

    struct direct_output {
        subsystem_index subsystem;
        output_slot output;
        std::vector<int> inputs;
        bool sampled;
    };

    const std::vector<direct_output>& outputs() const { return direct_; }
    int level(output_slot slot) const { return level_[slot.value()]; }

   private:
    enum class state : std::uint8_t { fresh, open, done };

    int visit(int i) {
        const auto at = static_cast<std::size_t>(i);
        if (state_[at] == state::done) return level(direct_[at].output);
        if (state_[at] == state::open) loop(i);
        state_[at] = state::open;
        int deepest = 0;
        for (const int local : direct_[at].inputs) {
            const input_slot input = book_.global_input(direct_[at].subsystem, local);
            for (const channel_index channel : graph_.input_channels[input.value()]) {
                for (const output_slot source : graph_.channel_sources[channel.value()]) {
                    path_.push_back({i, input, channel});
                    const int next = direct_of_[source.value()];
                    if (next >= 0) deepest = std::max(deepest, visit(next));
                    path_.pop_back();
                }
            }
        }
        state_[at] = state::done;
        level_[direct_[at].output.value()] = deepest + 1;
        return deepest + 1;
    }

    struct hop {
        int output;
        input_slot input;
        channel_index channel;
    };

    [[noreturn]] void loop(int first) const {
        auto begin = std::find_if(path_.begin(), path_.end(), [&](const hop& h) { return h.output == first; });
        std::vector<std::string> names{book_.output_address(direct_[static_cast<std::size_t>(first)].output)};
        // The path leads from an output back to its causes; the message follows the signals forward.
        for (auto h = path_.rbegin(); h != std::make_reverse_iterator(begin); ++h) {
            names.push_back(book_.input_address(h->input));
            names.push_back(book_.output_address(direct_[static_cast<std::size_t>(h->output)].output));
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
    std::vector<direct_output> direct_;
    std::vector<int> direct_of_;
    std::vector<int> level_;
    std::vector<state> state_;
    std::vector<hop> path_;
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

void find_evaluation_order(const transport& subsystems, const address_book& book, const coupling_graph& graph,
                           coupled_system& system) {
    level_search search(subsystems, book, graph);
    search.run();
    std::vector<bool> used(subsystems.outputs().size(), false);
    for (const auto& sources : graph.channel_sources)
        for (const output_slot source : sources) used[source.value()] = true;
    std::vector<std::pair<int, subsystem_index>> all, needed;
    for (const auto& y : search.outputs()) {
        all.emplace_back(search.level(y.output), y.subsystem);
        const bool driven = std::any_of(y.inputs.begin(), y.inputs.end(), [&](int local) {
            return !graph.input_channels[book.global_input(y.subsystem, local).value()].empty();
        });
        if (!driven) continue;
        // A sample is taken with the inputs of its time: its outputs are shown with these, not with extrapolated ones.
        if (used[y.output.value()] || y.sampled) needed.push_back(all.back());
    }
    system.at_start = in_order(subsystems, graph, std::move(all));
    system.at_each_step = in_order(subsystems, graph, std::move(needed));
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
