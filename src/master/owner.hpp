#pragma once

#include <cstddef>

#include "core/index.hpp"

namespace mdpcosim {

/// The subsystem whose slots, which begin at offset(s), hold `slot`.
std::size_t owner(std::size_t slot, std::size_t subsystems, auto&& offset) {
    std::size_t first = 0, last = subsystems;
    while (last - first > 1) {
        const std::size_t middle = (first + last) / 2;
        (offset(subsystem_index(middle)) <= slot ? first : last) = middle;
    }
    return first;
}

}  // namespace mdpcosim
