#include "subsystem/remote/program_group.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "subsystem/remote/program_environment.hpp"
#include "subsystem/remote/shared_areas.hpp"

namespace mdpcosim {

namespace {

/// s of wall time until a program must have introduced itself, where its limit is not longer.
constexpr double start_limit = 60;

constexpr const char* remedy =
    "A program introduces itself by mdpcosim_subsystem_open() and what follows (docs/programs.md)";

}  // namespace

struct program_group::start {
    std::unique_ptr<frame_link> link;
    std::unique_ptr<child_process> process;
    file_handle memory;

    start(const subsystem_spec& spec, bool spin) : memory(make_shared_file()) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            throw run_error(fmt::format("no pair of sockets: {}", std::strerror(errno)));
        link = make_socket_link(file_handle(ends[0]));
        const file_handle other(ends[1]);
        child_process::program what = program_to_start(spec);
        what.environment.push_back(
            fmt::format("{}={} {} {}", program_files_variable, other.get(), memory.get(), spin ? 1 : 0));
        what.files = {other.get(), memory.get()};
        try {
            process = std::make_unique<child_process>(what);
        } catch (const user_error& problem) {
            throw user_error(spec.source.where, fmt::format("subsystem '{}': {}", spec.name, problem.what()));
        }
    }
};

program_group::program_group(const subsystem_spec& spec, bool spin) : program_group(spec, spin, start(spec, spin)) {}

program_group::program_group(const subsystem_spec& spec, bool spin, start started)
    : linked_group({.name = spec.name, .limit = spec.limit}, std::move(started.link), std::move(started.process)),
      where_(spec.source.where),
      interview_(spec),
      spin_(spin),
      needs_hello_(true),
      memory_file_(std::move(started.memory)) {}

program_group::program_group(const subsystem_spec& spec, std::unique_ptr<frame_link> link,
                             std::unique_ptr<child_process> process)
    : linked_group({.name = spec.name, .limit = spec.limit}, std::move(link), std::move(process)),
      where_(spec.source.where),
      interview_(spec) {}

program_group::~program_group() {
    leave();
    if (memory_ != nullptr) munmap(memory_, areas_.size());
}

void program_group::introduce() {
    set_limit(std::max(how_.limit, start_limit));
    try {
        converse();
    } catch (const run_error& problem) {
        throw user_error(where_, fmt::format("{}: {}. {}.", interview_.owner(), problem.what(), remedy));
    }
    set_limit(how_.limit);
}

void program_group::converse() {
    if (needs_hello_) {
        receive_introduction();
        get_hello(frame_);
    }
    for (;;) {
        receive_introduction();
        std::variant<program_question, program_declaration> said;
        try {
            said = get_program_message(frame_);
        } catch (const user_error& problem) {  // its own words
            throw user_error(where_, fmt::format("{}: {}", interview_.owner(), problem.what()));
        }
        if (const auto* question = std::get_if<program_question>(&said)) {
            said_.clear();
            put(said_, interview_.answer(*question));
            link_->send(said_.bytes());
            continue;
        }
        meet({interview_.meet(std::get<program_declaration>(said))});
        break;
    }
    if (memory_file_.get() >= 0) {
        memory_ = map_areas(memory_file_, areas_.size());
        areas_.place(memory_, true);
    } else {
        areas_.place();
    }
    said_.clear();
    put(said_, program_answer{static_cast<double>(areas_.size()), {}});
    link_->send(said_.bytes());
}

void program_group::send() {
    if (memory_ == nullptr) return linked_group::send();
    areas_.top().request_box.post(++round_);
}

bool program_group::receive() {
    if (memory_ == nullptr) return linked_group::receive();
    return areas_.top().reply_box.wait_for(round_, spin_, look_after);
}

}  // namespace mdpcosim
