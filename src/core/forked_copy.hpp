#pragma once

/// A copy of this process that foreign code has made by fork(), and that came back from there: it must not go on as if it were the run.
namespace mdpcosim {

/// Known once watch_crashes() was called (core/foreign_call.hpp).
bool is_forked_copy();

/// Ends the copy, without a word and without handlers.
void end_forked_copy();

}  // namespace mdpcosim
