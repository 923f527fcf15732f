#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "subsystem/subsystem.hpp"

/// What a subsystem says about itself as bytes, in this machine's order; the other side has the same (see get_hello()).
namespace mdpcosim {

class wire_writer {
   public:
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void put(const T& value) { put_bytes(&value, sizeof value); }
    void put_bytes(const void* from, std::size_t size) {
        if (bytes_.size() - used_ < size) grow(size);
        if (size > 0) std::memcpy(bytes_.data() + used_, from, size);
        used_ += size;
    }
    void put(const std::string& text);
    void put(const std::vector<int>& values);

    std::span<const char> bytes() const { return std::span(bytes_).first(used_); }
    void reserve(std::size_t size) { bytes_.resize(std::max(size, bytes_.size())); }
    /// Keeps the memory, so that the next frame of the same size allocates nothing.
    void clear() { used_ = 0; }

   private:
    void grow(std::size_t size);

    std::vector<char> bytes_;
    std::size_t used_ = 0;
};

/// Throws run_error where the bytes end too early.
class wire_reader {
   public:
    explicit wire_reader(std::span<const char> bytes) : rest_(bytes) {}

    template <class T>
    requires std::is_trivially_copyable_v<T> T get() {
        if constexpr (std::is_same_v<T, bool>) return get<char>() != 0;  // a bool of other bits would not be one
        T value;
        take(&value, sizeof value);
        return value;
    }
    std::string get_text();
    std::vector<int> get_numbers();
    /// A count of elements that each take at least so many bytes of the rest.
    std::size_t get_count(std::size_t least_bytes);
    void take(void* to, std::size_t size) {
        if (rest_.size() < size) cut_short();
        if (size > 0) std::memcpy(to, rest_.data(), size);
        rest_ = rest_.subspan(size);
    }
    bool empty() const { return rest_.empty(); }

   private:
    [[noreturn]] static void cut_short();

    std::span<const char> rest_;
};

void put(wire_writer& to, const subsystem_description& d);
void put(wire_writer& to, const capabilities& c);
subsystem_description get_description(wire_reader& from);
capabilities get_capabilities(wire_reader& from);

}  // namespace mdpcosim
