#pragma once

#include <cstddef>
#include <cstdint>

namespace mdpcosim {

/// FNV-1a, 64 bits: tells whether bytes have changed by accident, not whether somebody meant them to look unchanged.
class check_sum {
   public:
    void add(const void* data, std::size_t size) {
        const auto* bytes = static_cast<const unsigned char*>(data);
        for (std::size_t i = 0; i < size; ++i) sum_ = (sum_ ^ bytes[i]) * 0x100000001b3;
    }
    std::uint64_t value() const { return sum_; }

   private:
    std::uint64_t sum_ = 0xcbf29ce484222325;
};

}  // namespace mdpcosim
