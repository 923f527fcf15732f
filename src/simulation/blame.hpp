#pragma once

#include "assembly/assembly.hpp"
#include "core/error.hpp"
#include "master/coupling_watch.hpp"

/// Who gave the numbers that nobody can compute with.
namespace mdpcosim {

/// "signal to 'sink.u' is inf at t = 1 s, made of 'a.y' = 1e+308, rate 0; ...": of a channel whose value, rate or polynomial is no number, or
/// too large to be squared, with the outputs that it is made of as they were last. Otherwise empty.
std::string unusable_values(const assembly& a, channel_index channel, double t);

/// What failed, after the last macro point `t`, and who is to blame for it where that is not the subsystem itself: what drives it, or a coupling
/// that had begun to diverge.
std::string explained(const assembly& a, const coupling_watch* watch, const run_error& problem, double t);

}  // namespace mdpcosim
