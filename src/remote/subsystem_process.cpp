#include "remote/subsystem_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "core/error.hpp"
#include "core/forked_copy.hpp"
#include "remote/frame_link.hpp"
#include "remote/tcp.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

constexpr double time_to_end = 10;  ///< s, of a process that has nothing more to do

void write_all(int file, std::span<const char> bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t n = write(file, bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno != EINTR) return;  // the other side has gone
        if (n > 0) done += static_cast<std::size_t>(n);
    }
}

/// The life of the new process.
void share_memory(wire_reader& words) {
    const file_handle memory(words.get<int>());
    file_handle answer(words.get<int>());
    for (const int file : {memory.get(), answer.get()}) fcntl(file, F_SETFD, FD_CLOEXEC);
    const bool spin = words.get<bool>();
    wire_writer said;
    subsystem_host host(get_makers(words), said);
    exchange areas(host.members());
    if (host.made()) {
        try {
            areas.place(map_areas(memory, areas.size()), true);
        } catch (const std::exception& problem) {
            said.clear();
            put_refusal(said, false, problem.what());
            return write_all(answer.get(), said.bytes());
        }
    }
    write_all(answer.get(), said.bytes());
    answer.close();
    if (!host.made()) return;
    auto& top = areas.top();
    const pid_t master = getppid();
    waiting_habit habit;
    for (std::uint32_t round = 1;; ++round) {
        while (!top.request_box.wait_for(round, top.first_look(spin), habit, std::chrono::seconds(1)))
            if (getppid() != master) return;  // it has gone, but a copy of it may hold our lifeline
        host.carry_out(areas);
        if (is_forked_copy()) end_forked_copy();
        const bool last = top.request.command == remote_command::quit;
        top.reply_box.post(round);
        if (last) return;
    }
}

const host_task_registration sharing_task{{"sharing", share_memory}};

}  // namespace

subsystem_process::subsystem_process(const process_options& options, const std::vector<subsystem_text>& members)
    : name_(options.name), spin_(options.spin), count_(members.size()), shared_(options.name) {
    set_limit(options.limit);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw run_error(fmt::format("no pipe: {}{}", std::strerror(errno), remedy_of(errno)));
    answer_ = file_handle(ends[0]);
    const file_handle question = above_standard(file_handle(ends[1]));
    wire_writer words;
    words.put(shared_.file());
    words.put(question.get());
    words.put(spin_);
    put(words, members);
    process_ = start_host("sharing", words, {shared_.file(), question.get()}, limits_of(members));
    set_title_of(name_);
}

subsystem_process::~subsystem_process() {
    if (shared_.mapped() && !gone() && say_goodbye()) process_->finish(time_to_end);
    process_->finish(0);
    if (!gone()) process_->show_text(name_);
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
            if (bytes.size() > longest_introduction) spoilt("its introduction is too long", "at its start");
        } else {
            process_->collect();
            check_limit(begin, "at its start");
        }
    }
    if (bytes.empty()) {
        process_->finish(time_to_end);
        give_up(ended() + " at its start");
    }
    try {
        const auto members = get_introduction(bytes, count_);
        meet(members);
        shared_.map(members, false);
        areas_.place();
    } catch (const std::bad_alloc&) {
        spoilt("there is no memory for what it announced", "at its start");
    }
}

void subsystem_process::send() { shared_.post(areas_); }

bool subsystem_process::receive(std::chrono::milliseconds wait) {
    try {
        return shared_.take(areas_, mailbox::fitting(spin_), wait);
    } catch (const run_error& problem) {
        spoilt(problem.what(), fmt::format("in {}", name_of(areas_.top().request.command)));
    }
}

void subsystem_process::spoilt(const std::string& reason, const std::string& during) {
    stop();
    give_up(fmt::format("{} {}", reason, during));
}

std::string subsystem_process::end_of_finished() {
    const bool by_itself = !process_->ended(time_to_end).empty();
    process_->finish(0);
    if (!by_itself) return fmt::format("its process did not end within {:g} s", time_to_end);
    return process_->succeeded() ? std::string() : ended();
}

std::string subsystem_process::ended() {
    const std::string ending = process_->ended();
    return ending.empty() ? ending : "its process " + ending;
}

}  // namespace mdpcosim
