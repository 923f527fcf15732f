#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

/// What goes to standard output, and what comes in by options.
namespace mdpcosim {

/// On standard output; the reason of the first that cannot be written is kept for finish_output().
void print_output(const std::string& text);
void flush_output();

/// From now on standard output is for say() alone: what FMUs and plugins print goes to standard error.
void keep_output();

/// To standard output, and to standard error. What cannot be written ends nothing: finish_output() tells.
template <class... Arguments>
void say(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    print_output(fmt::format(text, std::forward<Arguments>(arguments)...));
}
template <class... Arguments>
void tell(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    const std::string all = fmt::format(text, std::forward<Arguments>(arguments)...);
    std::fwrite(all.data(), 1, all.size(), stderr);
    std::fflush(stderr);
}

/// A text with names from files of others: control characters among them do not reach the terminal. JSON has escapes of its own.
void show(const std::string& text, bool is_json = false);

/// The exit status, which is not 0 where standard output could not be written; last of all calls.
int finish_output(int status);

/// No option takes an empty text; a script's empty variable would otherwise choose a default.
void refuse_empty_values(CLI::App& app);

}  // namespace mdpcosim
