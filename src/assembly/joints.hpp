#pragma once

#include "assembly/assembly.hpp"
#include "assembly/feed_through.hpp"

namespace mdpcosim {

/// Adds the joint of a `joint:` connection to the system: its equations, and channels for multipliers and loads. `read`: the outputs it reads.
void add_joint(const connection_spec& c, const scenario& s, const address_book& book, coupling_graph& graph,
               assembly& into, std::vector<output_slot>& read);

/// Those of the kind of ports that it joins.
std::vector<parameter_info> joint_parameters(const connection_spec& c, const address_book& book);

/// What joints ask of method and solvers: a method that holds them, and enough micro steps; throws user_error.
void check_joints(const scenario& s, const method& chosen, const coupled_system& system);

}  // namespace mdpcosim
