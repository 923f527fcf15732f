#pragma once

#include <random>
#include <string>
#include <vector>

#include "faults/cells.hpp"

namespace mdpcosim::faults {

struct verdict {
    std::vector<std::string> problems;  ///< none: all is as it must be
    double seconds = -1;  ///< from the fault, or the end of its limit, to the end of the program; below 0: not measured
};

/// The real program with a subsystem that goes wrong in this way at a random time, in a random place among its fellows; and what must
/// be left, and not left, after it.
verdict run_fault(const cell& what, std::mt19937& random, bool supervised);

}  // namespace mdpcosim::faults
