#pragma once

#include <CLI/CLI.hpp>
#include <string>

/// What goes to standard output, and what comes in by options.
namespace mdpcosim {

/// A text on standard output. Names come from files of others: control characters among them do not reach the terminal. JSON has
/// escapes of its own.
void show(const std::string& text, bool is_json = false);

/// The end of the program: what stands in buffers goes out, and where that is not possible the program has failed.
int after_output(int status);

/// No option takes an empty text; a script's empty variable would otherwise choose a default.
void refuse_empty_values(CLI::App& app);

/// For options: a number above zero, or not below; `nan` is none.
std::string positive_value(const std::string& text);
std::string value_not_negative(const std::string& text);

}  // namespace mdpcosim
