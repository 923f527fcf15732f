#pragma once

#include <memory>
#include <optional>

#include "remote/frame_link.hpp"
#include "remote/program_interview.hpp"
#include "remote/shared_areas.hpp"
#include "scenario/spec.hpp"

namespace mdpcosim {

/// The program of the scenario's entry, ready to be started: its file, its folder, where modules of mdpcosim for interpreters are. A file
/// that is missing or cannot be executed is a user error with suggestions.
child_process::program program_to_start(const subsystem_spec& spec, bool spin);

class listener;

/// A program that brings a subsystem, by the ways in which it can be reached.
class program_launcher {
   public:
    /// s of wall time until a program must have introduced itself, where its limit is not longer.
    static constexpr double start_limit = 60;

    explicit program_launcher(const subsystem_spec& spec) : spec_(spec) {}

    /// Starts it; shared memory carries requests and replies.
    std::unique_ptr<remote_group> begin(bool spin) const;
    /// Starts it; it will connect to `door` under the name `key`.
    std::unique_ptr<child_process> start(const listener& door, const std::string& key, bool spin) const;
    /// It has connected. `process` is there where this one started it.
    std::unique_ptr<remote_group> meet(std::unique_ptr<frame_link> link, std::unique_ptr<child_process> process) const;
    /// It has not introduced itself.
    [[noreturn]] void refuse(const std::string& reason) const;

   private:
    std::unique_ptr<child_process> launch(const child_process::program& started) const;
    friend class program_group;

    subsystem_spec spec_;
};

/// The subsystem that another program brings. Until it has introduced itself all failures are user errors.
class program_group final : public linked_group {
   public:
    /// Starts the program; requests and replies go through shared memory.
    program_group(const subsystem_spec& spec, bool spin);
    /// Requests and replies go over `link`, whose other end has said hello; `process` is there, where this one started it.
    program_group(const subsystem_spec& spec, std::unique_ptr<frame_link> link, std::unique_ptr<child_process> process);
    ~program_group() override;

    void introduce() override;
    bool takes_plans() const override { return false; }

   private:
    struct start;
    program_group(const subsystem_spec& spec, bool spin, start started);
    void converse();
    void send() override;
    bool receive(std::chrono::milliseconds wait) override;

    program_launcher launcher_;
    program_interview interview_;
    bool spin_ = false;
    bool needs_hello_ = false;
    std::optional<shared_areas> shared_;  ///< none: frames carry all
};

}  // namespace mdpcosim
