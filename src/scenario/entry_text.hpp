#pragma once

#include <string>

#include "scenario/spec.hpp"

/// One entry of a scenario as text, for another process of this machine that makes the subsystem.
namespace mdpcosim {

/// A scenario with nothing but this entry, as write_scenario() has it, after what that text does not keep: the places of all values in
/// the user's file, for messages; paths and the source as written; the numbers of `let`; the file for the calls of FMUs. Before each part
/// stands a line with its name and its length in bytes, so that anything may be in it.
std::string write_entry(const subsystem_spec& spec);

/// The same entry, to the last bit of every number. A text that write_entry() has not written is a run_error.
subsystem_spec read_entry(const std::string& text);

}  // namespace mdpcosim
