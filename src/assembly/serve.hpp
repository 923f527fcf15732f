#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "assembly/transports.hpp"
#include "core/last_words.hpp"

/// The two ends of a run whose subsystems are partly elsewhere: what the master tells, and who brings them.
namespace mdpcosim {

class listener;

/// The scenario's entry; a user_error with a suggestion.
const subsystem_spec& subsystem_named(const std::string& name, const scenario& s);

/// What MDPCOSIM_TOKEN holds; empty: nothing.
std::string given_token();

/// A file that only this user can read, removed in the end.
class token_file {
   public:
    token_file(std::filesystem::path path, const std::string& token);
    token_file(const token_file&) = delete;
    token_file& operator=(const token_file&) = delete;
    ~token_file();

   private:
    std::filesystem::path path_;
    std::optional<file_in_work> watched_;
};

/// Leaves the token, unless everybody knows it, and tells what to start elsewhere.
std::unique_ptr<token_file> announce(const scenario& s, const remote_options& remote, const listener& door);

struct serve_options {
    std::vector<std::string> names;  ///< of the subsystems
    std::string connect;             ///< HOST:PORT of the master
    std::string token_file;          ///< that the run has left; empty: the token is in MDPCOSIM_TOKEN
    double wait = 60;                ///< s for the master to listen
};

/// Makes subsystems of a scenario, each in a process of its own, for a run elsewhere (remote_options) until it is done with them.
/// A master that does not answer or refuses is a user_error, a lost one a run_error.
void serve_subsystems(const scenario& given, const serve_options& options);

}  // namespace mdpcosim
