#pragma once

#include <cstdint>

/// Counts heap allocations of this thread (malloc and all that is built on it, also inside shared libraries).
namespace mdpcosim::test {

/// False under sanitizers, which have an allocator of their own.
bool allocations_are_counted();

class allocation_counter {
   public:
    allocation_counter() : start_(total()) {}
    std::int64_t count() const { return total() - start_; }

   private:
    static std::int64_t total();
    std::int64_t start_;
};

}  // namespace mdpcosim::test
