#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace mdpcosim {

struct memory_range {
    const void* first = nullptr;
    std::size_t bytes = 0;
};

/// A subsystem that tells where memory lies that its steps need, so that whoever advances many of them can fetch it while others work. A
/// hint, asked for after initialise().
class tells_touched {
   public:
    static constexpr std::size_t most_ranges = 5;
    /// How many were put into `ranges`.
    virtual std::size_t touched(std::span<memory_range, most_ranges> ranges) const = 0;

   protected:
    ~tells_touched() = default;
};

}  // namespace mdpcosim
