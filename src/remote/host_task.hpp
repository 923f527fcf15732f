#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/registry.hpp"
#include "remote/child_process.hpp"
#include "remote/host.hpp"
#include "remote/wire.hpp"
#include "scenario/spec.hpp"

/// What processes do that are started for subsystems. They run the host program (`mdpcosim-host`), which reads from a file that it
/// inherits the name of a task and the words for it. Any program that links this room can be its own host, which tests use: it hands
/// its arguments to live_as_host() first of all.
namespace mdpcosim {

struct host_task {
    std::string name;
    std::function<void(wire_reader& words)> run;  ///< what it throws is told on standard error, with status 1
};
using host_task_registration = registration<host_task>;

/// Starts the host program with a task. `files` stay open in it under the same numbers, which belong into the words. A host program
/// that is missing is a user_error that says where it was looked for.
std::unique_ptr<child_process> start_host(const std::string& task, const wire_writer& words, std::vector<int> files,
                                          const process_limits& limits = {});

/// Does the task and ends the process where these arguments are those of a host; else returns.
void live_as_host(int count, char** arguments);

/// A subsystem that is made in another process: who makes it there, and the text for that.
struct subsystem_text {
    std::string maker;
    std::string text;
    process_limits limits = {};  ///< of a process that it shares with nobody
};

struct maker_info {
    std::string name;
    std::function<std::unique_ptr<subsystem>(const std::string& text)> make;
};
using maker_registration = registration<maker_info>;

/// A scenario's entry, which has its process then: neither isolation nor limit are wanted there.
subsystem_text text_of(const subsystem_spec& spec);

/// Those of the process that these members get.
process_limits limits_of(const std::vector<subsystem_text>& members);
void put(wire_writer& to, const std::vector<subsystem_text>& members);
std::vector<subsystem_maker> get_makers(wire_reader& from);

/// Starts a process with these subsystems that connects to `door` under the name `key`.
std::unique_ptr<child_process> start_connecting(const class listener& door, const std::string& key,
                                                const std::vector<subsystem_text>& members, bool spin);

/// Starts a process with these subsystems at the other end of `link`, an open socket. `spin`: both sides have a core of their own.
std::unique_ptr<child_process> start_linked(int link, const std::vector<subsystem_text>& members, bool spin);

}  // namespace mdpcosim
