#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/index.hpp"
#include "coupling/algebraic_loop.hpp"
#include "coupling/joint.hpp"
#include "coupling/network.hpp"

namespace mdpcosim {

/// A joint between two ports, and what stands for it in the network: channels that the network leaves alone, since whoever holds the joint
/// finds their values.
struct joint_connection {
    struct end {
        subsystem_index subsystem;
        std::vector<output_slot> motion;
        std::vector<input_slot> input;    ///< by component of the load
        std::vector<channel_index> load;  ///< the same, delivered to the input
        int degree = max_degree;          ///< the highest that all its inputs take
    };
    std::string name;
    std::unique_ptr<mdpcosim::joint> joint;
    std::array<end, 2> ends;
    std::vector<channel_index> multipliers;  ///< by equation; delivered to nobody
};

/// What couples subsystems, which it knows by index only: the same for the master, which integrates each of them by itself (coupled_system), and
/// for the reference, which integrates them as one (composite_parts).
///
/// Outputs with feed-through depend on inputs of the same time: their subsystems are evaluated again once these are known,
/// in an order in which every cause comes before its effect. Where there is no such order, in an algebraic loop, they are evaluated again and again
/// until nothing changes any more.
struct coupling_structure {
    struct evaluation {
        subsystem_index subsystem;
        std::vector<channel_index> channels;  ///< delivered to its inputs, but for those torn in its loop
        int loop = -1;                        ///< the evaluations of a loop follow each other
    };

    network coupling;
    std::vector<joint_connection> joints;
    std::vector<evaluation> at_each_step;  ///< for outputs that other subsystems' inputs depend on, and sampled ones
    std::vector<algebraic_loop> loops;
};

}  // namespace mdpcosim
