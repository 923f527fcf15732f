#pragma once

#include <cstddef>

namespace mdpcosim {

/// "-2.2250738585072014e-308"
inline constexpr std::size_t longest_decimal = 24, decimal_room = 48;

/// The shortest decimals that read back to the same double, the nearest of them: the characters that std::to_chars gives, faster. Any of the decimal_room characters from `to` on may be written; returns the end of those that count.
char* write_decimal(char* to, double value);

}  // namespace mdpcosim
