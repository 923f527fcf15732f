#include "remote/subsystem_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "remote/shared_areas.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

void write_all(int file, std::span<const char> bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t n = write(file, bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno != EINTR) return;  // the other side has gone
        if (n > 0) done += static_cast<std::size_t>(n);
    }
}

}  // namespace

subsystem_process::subsystem_process(const process_options& how, std::vector<subsystem_maker> make)
    : name_(how.name), spin_(how.spin), make_(std::move(make)) {
    set_limit(how.limit);
    memory_file_ = make_shared_file(name_);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw run_error(fmt::format("no pipe: {}", std::strerror(errno)));
    answer_ = file_handle(ends[0]);
    file_handle question(ends[1]);
    process_ = std::make_unique<child_process>([&] { live(question.get()); });
}

/// The life of the new process.
void subsystem_process::live(int answer) {
    wire_writer said;
    subsystem_host host(make_, said);
    exchange areas(host.members());
    if (host.made()) {
        try {
            areas.place(map_areas(memory_file_, areas.size()), true);
        } catch (const std::exception& problem) {
            said.clear();
            put_refusal(said, false, problem.what());
            write_all(answer, said.bytes());
            return;
        }
    }
    write_all(answer, said.bytes());
    ::close(answer);
    if (!host.made()) return;
    auto& top = areas.top();
    for (std::uint32_t round = 1;; ++round) {
        top.request_box.wait_for(round, top.first_look(spin_));
        host.carry_out(areas);
        const bool last = top.request.what == remote_command::quit;
        top.reply_box.post(round);
        if (last) return;
    }
}

subsystem_process::~subsystem_process() {
    if (memory_ != nullptr && !gone() && say_goodbye()) process_->finish(10);
    process_->finish(0);
    if (!gone()) process_->show_text(name_);
    if (memory_ != nullptr) munmap(memory_, areas_.size());
}

void subsystem_process::introduce() {
    std::vector<char> bytes;
    char part[4096];
    const auto begin = clock::now();
    for (;;) {
        pollfd ready{answer_.get(), POLLIN, 0};
        if (poll(&ready, 1, static_cast<int>(look_after.count())) > 0) {
            const ssize_t n = read(answer_.get(), part, sizeof part);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) break;
            bytes.insert(bytes.end(), part, part + n);
        } else {
            check_limit(begin, "at its start");
        }
    }
    if (bytes.empty()) {
        process_->finish(10);
        give_up(ended() + " at its start");
    }
    meet(get_introduction(bytes, make_.size()));
    memory_ = map_areas(memory_file_, areas_.size());
    areas_.place(memory_, false);
}

void subsystem_process::send() { areas_.top().request_box.post(++round_); }

bool subsystem_process::receive(std::chrono::milliseconds wait) {
    return areas_.top().reply_box.wait_for(round_, mailbox::fitting(spin_), wait);
}

std::string subsystem_process::ended() {
    const std::string how = process_->ended();
    return how.empty() ? how : "its process " + how;
}

}  // namespace mdpcosim
