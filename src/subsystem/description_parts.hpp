#pragma once

#include <functional>
#include <string>

#include "subsystem/subsystem.hpp"

/// Parts that descriptions of models are put together from; every function appends and returns the (first) slot.
namespace mdpcosim {

int add_input(subsystem_description& to, std::string name, std::string unit, std::string description, int size = 1);

int add_output(subsystem_description& to, std::string name, std::string unit, std::string description, int size = 1);

/// The output of that name; it must exist.
output_variable& output_named(subsystem_description& in, std::string_view name);

/// A translation or rotation port that takes the load: outputs value, rate and acceleration in this order, one input.
/// The acceleration depends on the port's own load; a model in which other inputs act on it too adds them to `direct`.
int add_mechanical_port(subsystem_description& to, const std::string& name, port_kind kind, std::string description);

/// A frame port: outputs in the order of frame_motion, inputs force and torque. Accelerations depend on the port's own load; a
/// model in which other inputs act on them too adds them to `direct`.
int add_frame_port(subsystem_description& to, const std::string& name, std::string description);

/// The description of all models of one structure: made by `fill` for the first of them, kept for the program's life. `key`
/// names the structure: the type and whatever parameters it depends on.
const subsystem_description& shared_description(const std::string& key,
                                                const std::function<void(subsystem_description&)>& fill);

/// A hydraulic port: outputs volume and flow into the node, one input, the pressure.
int add_hydraulic_port(subsystem_description& to, const std::string& name, std::string description);

/// A thermal, electric or magnetic port that takes the load: one output, the temperature or potential, and one input.
int add_potential_port(subsystem_description& to, const std::string& name, port_kind kind, std::string description);

/// An electric port that takes the potential: outputs charge and current into the node, one input.
int add_branch_port(subsystem_description& to, const std::string& name, std::string description);

}  // namespace mdpcosim
