#include "remote/program_group.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "remote/listener.hpp"
#include "remote/program_environment.hpp"

namespace mdpcosim {

std::unique_ptr<child_process> program_launcher::launch(const child_process::program& started) const {
    try {
        return std::make_unique<child_process>(started);
    } catch (const user_error& problem) {
        throw user_error(spec_.source.where, fmt::format("subsystem '{}': {}", spec_.name, problem.what()));
    }
}

std::unique_ptr<remote_group> program_launcher::begin(bool spin) const {
    return std::make_unique<program_group>(spec_, spin);
}

std::unique_ptr<child_process> program_launcher::start(const listener& door, const std::string& key, bool spin) const {
    if (spec_.limits.compute_only)
        throw user_error(
            spec_.source.where,
            fmt::format("subsystem '{}': a program with 'limits: {{system-calls: compute}}' cannot connect "
                        "over tcp. Take another transport, or leave 'system-calls' out.",
                        spec_.name));
    child_process::program started = program_to_start(spec_, spin);
    started.environment.push_back(fmt::format("{}={}", address_variable, door.address()));
    started.environment.push_back(fmt::format("{}={}", token_variable, door.token_of(key)));
    started.environment.push_back(fmt::format("{}={}", program_key_variable, key));
    return launch(started);
}

std::unique_ptr<remote_group> program_launcher::meet(std::unique_ptr<frame_link> link,
                                                     std::unique_ptr<child_process> process) const {
    return std::make_unique<program_group>(spec_, std::move(link), std::move(process));
}

void program_launcher::refuse(const std::string& reason) const {
    throw user_error(spec_.source.where,
                     fmt::format("{}: {}. A program introduces itself by mdpcosim_subsystem_open() and what follows; "
                                 "see docs/programs.md.",
                                 program_interview(spec_).owner(), reason));
}

/// The program and this side of the ways to it.
struct program_group::start {
    std::unique_ptr<frame_link> link;
    std::unique_ptr<child_process> process;
    shared_areas shared;

    start(const program_launcher& launcher, bool spin) : shared(launcher.spec_.name) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            throw run_error(fmt::format("no pair of sockets: {}", std::strerror(errno)));
        link = make_socket_link(file_handle(ends[0]));
        const file_handle other = above_standard(file_handle(ends[1]));
        child_process::program started = program_to_start(launcher.spec_, spin);
        started.environment.push_back(fmt::format("{}={} {}", program_files_variable, other.get(), shared.file()));
        started.files = {other.get(), shared.file()};
        process = launcher.launch(started);
    }
};

program_group::program_group(const subsystem_spec& spec, bool spin)
    : program_group(spec, spin, start(program_launcher(spec), spin)) {}

program_group::program_group(const subsystem_spec& spec, bool spin, start started)
    : linked_group({.name = spec.name, .limit = spec.limit}, std::move(started.link), std::move(started.process)),
      launcher_(spec),
      interview_(spec),
      spin_(spin),
      needs_hello_(true),
      shared_(std::move(started.shared)) {}

program_group::program_group(const subsystem_spec& spec, std::unique_ptr<frame_link> link,
                             std::unique_ptr<child_process> process)
    : linked_group({.name = spec.name, .limit = spec.limit}, std::move(link), std::move(process)),
      launcher_(spec),
      interview_(spec) {}

program_group::~program_group() { leave(); }

void program_group::introduce() {
    set_limit(std::max(options_.limit, program_launcher::start_limit));
    try {
        converse();
    } catch (const run_error& problem) {
        launcher_.refuse(problem.what());
    }
    set_limit(options_.limit);
}

void program_group::converse() {
    if (needs_hello_) {
        receive_introduction();
        get_hello(frame_);
    }
    for (;;) {
        receive_introduction();
        // mdpcosim itself has brought it (`mdpcosim serve`), and knows what the scenario sets.
        if (!shared_ && !frame_.empty() && frame_.front() < first_program_message) {
            meet(get_introduction(frame_, 1));
            return areas_.place();
        }
        const auto said = get_program_message(frame_);
        if (const auto* declared = std::get_if<program_declaration>(&said)) {
            const std::vector<remote_member> members{interview_.meet(*declared)};
            meet(members);
            areas_.place();
            if (shared_) shared_->map(members, true);
            break;
        }
        if (const auto* refusal = std::get_if<program_refusal>(&said)) interview_.refuse(refusal->reason);
        said_.clear();
        put(said_, interview_.answer(std::get<program_question>(said)));
        link_->send(said_.bytes());
    }
    said_.clear();
    put(said_, program_answer{{static_cast<double>(areas_.size())}, {}});
    link_->send(said_.bytes());
}

void program_group::send() {
    if (!shared_) return linked_group::send();
    shared_->post(areas_);
}

bool program_group::receive(std::chrono::milliseconds wait) {
    if (!shared_) return linked_group::receive(wait);
    try {
        return shared_->take(areas_, mailbox::fitting(spin_), wait);
    } catch (const run_error& problem) {
        lost(problem, fmt::format("in {}", name_of(areas_.top().request.command)));
    }
}

}  // namespace mdpcosim
