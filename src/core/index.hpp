#pragma once

#include <compare>
#include <cstdint>

namespace mdpcosim {

/// An index that cannot be mistaken for another: subsystem_index and channel_index do not mix.
template <class Tag>
class typed_index {
   public:
    constexpr typed_index() = default;
    constexpr explicit typed_index(std::size_t value) : value_(static_cast<std::int32_t>(value)) {}
    constexpr std::size_t value() const { return static_cast<std::size_t>(value_); }
    constexpr bool valid() const { return value_ >= 0; }
    constexpr auto operator<=>(const typed_index&) const = default;

   private:
    std::int32_t value_ = -1;
};

using subsystem_index = typed_index<struct subsystem_tag>;
/// A place in the vector of all real outputs, subsystem after subsystem.
using output_slot = typed_index<struct output_tag>;
/// A place in the vector of all real inputs, subsystem after subsystem.
using input_slot = typed_index<struct input_tag>;
/// A coupling variable: one per connection or signal.
using channel_index = typed_index<struct channel_tag>;

}  // namespace mdpcosim
