#pragma once

#include <cstdint>
#include <string>

#include "scenario/spec.hpp"

/// What the sides of a run compare, so that none works with another scenario than the others: a number made of all that counts, with
/// what --set and the other options have changed. Folders do not count, since machines differ in them, nor does what is in the files.
namespace mdpcosim {

/// The text that counts.
std::string comparable_text(scenario s);
std::uint64_t fingerprint(const scenario& s);
/// Of one subsystem and the macro step.
std::uint64_t fingerprint(const scenario& s, const subsystem_spec& of);

}  // namespace mdpcosim
