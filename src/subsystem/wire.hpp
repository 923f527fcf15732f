#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "subsystem/subsystem.hpp"

/// What a subsystem says about itself as bytes, for a subsystem that lives in another process of the same machine and build.
namespace mdpcosim {

class wire_writer {
   public:
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void put(const T& value) {
        const auto* bytes = reinterpret_cast<const char*>(&value);
        bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
    }
    void put(const std::string& text);
    void put(const std::vector<int>& values);

    const std::vector<char>& bytes() const { return bytes_; }

   private:
    std::vector<char> bytes_;
};

/// Throws run_error where the bytes end too early.
class wire_reader {
   public:
    explicit wire_reader(std::span<const char> bytes) : rest_(bytes) {}

    template <class T>
    requires std::is_trivially_copyable_v<T> T get() {
        T value;
        take(&value, sizeof value);
        return value;
    }
    std::string get_text();
    std::vector<int> get_numbers();
    /// A count of elements that each take at least one byte of the rest.
    std::size_t get_count();

   private:
    void take(void* to, std::size_t size);

    std::span<const char> rest_;
};

void put(wire_writer& to, const subsystem_description& d);
void put(wire_writer& to, const capabilities& c);
subsystem_description get_description(wire_reader& from);
capabilities get_capabilities(wire_reader& from);

}  // namespace mdpcosim
