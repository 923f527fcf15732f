#pragma once

#include <optional>
#include <vector>

#include "assembly/address_book.hpp"
#include "master/coupled_system.hpp"

namespace mdpcosim {

/// Which outputs reach which channels, and which channels reach which inputs, for finding feed-through.
struct coupling_graph {
    std::vector<std::vector<output_slot>> channel_sources;   ///< outputs that u depends on, by channel
    std::vector<std::vector<channel_index>> input_channels;  ///< channels delivered to an input, by input slot
    std::vector<char> delayed;                               ///< by channel: it reads what was, and closes no loop
    std::vector<std::string> channel_names;                  ///< "connection 'c'", "signal 'a.y -> b.u'"
    std::vector<location> channel_places;
};

/// The order in which subsystems with feed-through are evaluated (see coupling_structure). An algebraic loop is solved by `iteration`, without which it is
/// a user error that names it port by port. Of `silent` outputs (by slot) nobody says what they depend on: on all inputs of their subsystem, unless
/// that makes a loop that nobody solves; the subsystems where it did are returned.
std::vector<subsystem_index> find_evaluation_order(const transport& subsystems, const address_book& book,
                                                   const coupling_graph& graph, const std::vector<bool>& silent,
                                                   const std::optional<fixed_point_options>& iteration,
                                                   coupled_system& system);

/// The subsystems that an evaluation in this order comes to before any other reads one of their outputs.
std::vector<subsystem_index> evaluated_before_read(const transport& subsystems, const coupling_graph& graph,
                                                   std::span<const coupling_structure::evaluation> order);

}  // namespace mdpcosim
