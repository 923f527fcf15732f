#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

/// Numbers of the command line: decimal, finite, without units, of a size that makes sense. Numbers with units belong to the scenario.
namespace mdpcosim {

/// For options: a whole number in these bounds; its text reaches the option without leading zeros, which would make it octal there.
CLI::Validator whole_number(std::int64_t low, std::int64_t high);

inline constexpr double longest_wait = 1e6;  ///< s, of --wait

/// For options: a number above zero, or not below, that is not greater than `high`.
CLI::Validator positive_value(double high);
CLI::Validator value_not_negative(double high);

/// A number as the analyses' options take it: `0.1`, `1/3`, `10^1/2`. Throws user_error that begins with the option.
double positive_number(const std::string& option, const std::string& text);
double number_not_negative(const std::string& option, const std::string& text);
int whole_number(const std::string& option, const std::string& text, int low, int high);

}  // namespace mdpcosim
