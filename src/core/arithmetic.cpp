#include "core/arithmetic.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <vector>

namespace mdpcosim {

std::string unusual_arithmetic() {
    std::vector<const char*> found;
    switch (std::fegetround()) {
        case FE_TONEAREST:
            break;
        case FE_UPWARD:
            found.push_back("numbers are rounded upwards");
            break;
        case FE_DOWNWARD:
            found.push_back("numbers are rounded downwards");
            break;
        default:
            found.push_back("numbers are rounded towards zero");
    }
    const volatile double smallest = std::numeric_limits<double>::min(), half = 0.5;
    if (::fegetexcept() > 0)
        found.push_back("floating-point exceptions end the program");
    else if (const volatile double below = smallest * half; below / half != smallest)
        found.push_back("numbers below 2e-308 are taken for zero (as after -ffast-math)");
    if (found.empty()) found.push_back("the precision of the x87 unit");
    return fmt::format("{}", fmt::join(found, ", "));
}

}  // namespace mdpcosim
