#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace mdpcosim {

/// A place in a user's file. `line` 0 means the text does not come from a file (a command-line option, for example).
struct location {
    std::string_view file;  ///< from intern(), so that a location stays small
    int line = 0;
    int column = 0;
};

/// The same characters for the rest of the program's life; equal texts share one copy.
std::string_view intern(std::string_view text);

/// "file:line:column" or "file" where no line is known.
std::string to_string(const location& where);

/// For terminals: control characters and what is no UTF-8 as \xNN.
std::string escaped(std::string_view text);

/// A message: the same, and of a text that is too long its two ends.
std::string presentable(std::string text);

/// The user's input is wrong: the program ends with status 2 and the message.
class user_error : public std::runtime_error {
   public:
    user_error(const location& where, const std::string& message);
    explicit user_error(const std::string& message) : std::runtime_error(presentable(message)) {}
};

/// The run failed (a solver, a file, a subsystem): results so far are kept and the program ends with status 1.
class run_error : public std::runtime_error {
   public:
    explicit run_error(const std::string& message) : std::runtime_error(presentable(message)) {}
};

}  // namespace mdpcosim
