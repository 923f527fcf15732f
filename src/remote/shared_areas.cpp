#include "remote/shared_areas.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "remote/frames.hpp"

namespace mdpcosim {

namespace {

void* map_shared(int file, std::size_t size) {
    void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        throw run_error(fmt::format("no shared memory of {} bytes: {}", size, std::strerror(errno)));
    return mapped;
}

/// Whoever could shrink it would have the master killed (SIGBUS) at its next look.
void seal(int file, std::size_t size) {
    constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    struct stat seen {};
    if (ftruncate(file, static_cast<off_t>(size)) != 0 || fcntl(file, F_ADD_SEALS, seals) != 0 ||
        fstat(file, &seen) != 0)
        throw run_error(fmt::format("no shared memory of {} bytes: {}", size, std::strerror(errno)));
    if (seen.st_size != static_cast<off_t>(size) || (fcntl(file, F_GET_SEALS) & seals) != seals)
        throw run_error("its process has changed the size of the shared memory");
}

/// What is written and what is checked afterwards must be the same: nothing shared is read a second time.
void read_once() { std::atomic_signal_fence(std::memory_order_seq_cst); }

template <class T>
void fetch(T& own, const T& shared) {
    std::memcpy(&own, &shared, sizeof own);
}
/// A bool of other bits would not be one.
void fetch(bool& own, const bool& shared) {
    unsigned char bits;
    std::memcpy(&bits, &shared, 1);
    own = bits != 0;
}

void fetch_all(std::span<double> own, std::span<const double> shared) {
    if (!own.empty()) std::memcpy(own.data(), shared.data(), own.size_bytes());
}

void fetch_message(const exchange::head& shared, exchange::head& own) {
    own.message = shared.message;
    read_once();
    own.message.back() = '\0';
}

void fetch_piece(const state_piece& shared, state_piece& own) {
    fetch(own.total, shared.total);
    fetch(own.size, shared.size);
    read_once();
    if (own.size > state_piece::largest) misfit("piece of a state or text");
    std::memcpy(own.bytes.data(), shared.bytes.data(), own.size);
}

}  // namespace

void* map_areas(const file_handle& file, std::size_t size) {
    if (ftruncate(file.get(), static_cast<off_t>(size)) != 0)
        throw run_error(fmt::format("no shared memory of {} bytes: {}", size, std::strerror(errno)));
    return map_shared(file.get(), size);
}

file_handle make_shared_file(const std::string& subsystem) {
    file_handle file =
        above_standard(file_handle(memfd_create("mdpcosim-subsystems", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
    if (file.get() < 0)
        throw user_error(fmt::format(
            "subsystem '{}': no memory that a process can share with it: {}. Allow the system call memfd_create "
            "(a container or sandbox may forbid it), or take --transport tcp.",
            subsystem, std::strerror(errno)));
    return file;
}

shared_areas::shared_areas(shared_areas&& other) noexcept
    : file_(std::move(other.file_)),
      theirs_(std::move(other.theirs_)),
      memory_(std::exchange(other.memory_, nullptr)),
      round_(other.round_) {}

shared_areas::~shared_areas() {
    if (memory_ != nullptr) munmap(memory_, theirs_.size());
}

void shared_areas::map(std::span<const remote_member> members, bool fresh) {
    theirs_ = exchange(members);
    seal(file_.get(), theirs_.size());
    memory_ = map_shared(file_.get(), theirs_.size());
    theirs_.place(memory_, fresh);
}

void shared_areas::post(const exchange& own) {
    copy_request(own, theirs_);
    theirs_.top().request_box.post(++round_);
}

bool shared_areas::take(exchange& own, mailbox::look first, std::chrono::milliseconds wait) {
    if (!theirs_.top().reply_box.wait_for(round_, first, habit_, wait)) return false;
    if (theirs_.top().reply_box.round() != round_) misfit("reply");  // to a request that nobody made
    copy_reply(theirs_, own);
    return true;
}

void copy_request(const exchange& own, exchange& shared) {
    const auto& from = own.top();
    auto& to = shared.top();
    to.request = from.request;
    to.next_at_once.store(from.next_at_once.load(std::memory_order_relaxed), std::memory_order_relaxed);
    const remote_command command = from.request.command;
    const bool advances = own.advances();
    if (wants_piece(command)) to.piece.at = from.piece.at;
    if (brings_piece(command)) to.piece = from.piece;
    for (auto [i, end] = own.addressed(); i < end; ++i) {
        if (advances) std::ranges::copy(own.polynomials(i), shared.polynomials(i).begin());
        if (command == remote_command::outputs || command == remote_command::rate_sensitivities)
            std::ranges::copy(own.inputs(i), shared.inputs(i).begin());
        if (command != remote_command::expect) continue;
        std::ranges::copy(own.needed(i), shared.needed(i).begin());
        std::ranges::copy(own.driven(i), shared.driven(i).begin());
        shared.expected(i) = own.expected(i);
    }
    for (const group_plan::item& e : own.evaluated()) {
        const auto i = static_cast<std::size_t>(e.member);
        if (e.given) std::ranges::copy(own.inputs(i), shared.inputs(i).begin());
    }
}

void copy_reply(const exchange& shared, exchange& own) {
    const auto& from = shared.top();
    auto& to = own.top();
    const remote_request& r = to.request;  // the master's own
    fetch(to.failed, from.failed);
    fetch(to.noticed, from.noticed);
    fetch(to.in_evaluation, from.in_evaluation);
    read_once();
    if (to.failed >= 0) fetch_message(from, to);
    if (wants_piece(r.command)) fetch_piece(from.piece, to.piece);
    const bool advances = own.advances(), moves = own.moves();
    for (auto [i, end] = own.addressed(); i < end; ++i) {
        remote_report& told = own.report(i);
        const remote_report& said = shared.report(i);
        if (r.command == remote_command::outputs || advances) fetch_all(own.outputs(i), shared.outputs(i));
        if (r.command == remote_command::rate_sensitivities) fetch_all(own.derivatives(i), shared.derivatives(i));
        if (advances && to.noticed) {
            fetch(told.notice.first_event, said.notice.first_event);
            fetch(told.notice.ask_to_end, said.notice.ask_to_end);
        }
        if (moves && own.expected(i).next_event) fetch(told.next_event, said.next_event);
        if (r.command == remote_command::statistics) {
            fetch(told.statistics, said.statistics);
            fetch(told.cpu_seconds, said.cpu_seconds);
            fetch(told.next_step, said.next_step);
        }
        if (!r.timed) continue;
        fetch(told.begin, said.begin);
        fetch(told.end, said.end);
    }
    if (!advances)
        for (const group_plan::item& e : own.evaluated()) {
            const auto i = static_cast<std::size_t>(e.member);
            fetch_all(own.outputs(i), shared.outputs(i));
        }
    read_once();
    check_reply(own);
}

}  // namespace mdpcosim
