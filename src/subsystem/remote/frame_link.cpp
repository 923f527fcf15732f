#include "subsystem/remote/frame_link.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

class socket_link final : public frame_link {
   public:
    explicit socket_link(file_handle socket) : socket_(std::move(socket)) {}

    void send(std::span<const char> frame) override {
        const auto length = static_cast<std::uint32_t>(frame.size());
        out_.clear();
        out_.put(length);
        out_.put_bytes(frame.data(), frame.size());
        const auto& bytes = out_.bytes();
        for (std::size_t done = 0; done < bytes.size();) {
            const ssize_t n = ::send(socket_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
            if (n >= 0)
                done += static_cast<std::size_t>(n);
            else if (errno != EINTR)
                lost(std::strerror(errno));
        }
    }

    bool receive(std::vector<char>& frame, std::chrono::milliseconds wait, std::size_t most) override {
        const auto begin = clock::now();
        for (;;) {
            if (take(frame, most)) return true;
            const auto left = wait - std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin);
            pollfd ready{socket_.get(), POLLIN, 0};
            const int n = poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
            if (n < 0 && errno != EINTR) lost(std::strerror(errno));
            if (n == 0) return false;
            if (n > 0) read_more();
        }
    }

   private:
    [[noreturn]] static void lost(const char* reason) {
        throw run_error(fmt::format("the connection was lost: {}", reason));
    }

    /// The first whole frame of what has come.
    bool take(std::vector<char>& frame, std::size_t most) {
        std::uint32_t length;
        if (in_.size() < sizeof length) return false;
        std::memcpy(&length, in_.data(), sizeof length);
        if (length > most)
            throw run_error(fmt::format("a message of {} bytes came where {} are the most", length, most));
        if (in_.size() < sizeof length + length) return false;
        const auto body = in_.begin() + sizeof length;
        frame.assign(body, body + length);
        in_.erase(in_.begin(), body + length);
        return true;
    }

    void read_more() {
        char part[65536];
        const ssize_t n = recv(socket_.get(), part, sizeof part, MSG_DONTWAIT);
        if (n > 0)
            in_.insert(in_.end(), part, part + n);
        else if (n == 0)
            lost("the other side closed it");
        else if (errno != EINTR && errno != EAGAIN)
            lost(std::strerror(errno));
    }

    file_handle socket_;
    wire_writer out_;
    std::vector<char> in_;
};

}  // namespace

std::unique_ptr<frame_link> make_socket_link(file_handle socket) {
    return std::make_unique<socket_link>(std::move(socket));
}

linked_group::linked_group(options how, std::unique_ptr<frame_link> link, std::unique_ptr<child_process> process)
    : how_(std::move(how)), link_(std::move(link)), process_(std::move(process)) {
    set_limit(how_.limit);
}

linked_group::~linked_group() {
    if (size() > 0 && !gone()) {
        try {
            call({.what = remote_command::quit});
            if (process_) process_->finish(10);
        } catch (const std::exception&) {
        }
    }
    link_.reset();
    if (!process_) return;
    process_->kill();
    process_->finish(0);
    if (!gone()) process_->show_text(how_.name);
}

void linked_group::introduce() {
    const auto begin = clock::now();
    try {
        while (!link_->receive(frame_, look_after, longest_introduction)) check_limit(begin, "at its start");
    } catch (const run_error& problem) {
        if (gone()) throw;
        lost(problem.what(), "at its start");
    }
    meet(get_introduction(frame_, how_.members));
    areas_.place();
}

/// A process that has gone says more than the connection that it took along.
void linked_group::lost(const std::string& reason, const std::string& where) {
    if (process_) process_->ended(0.2);
    const std::string how = ended();
    stop();
    give_up(fmt::format("{} {}", how.empty() ? reason : how, where));
}

void linked_group::send() {
    said_.clear();
    put_request(said_, areas_);
    try {
        link_->send(said_.bytes());
    } catch (const run_error&) {  // receive() tells
    }
}

bool linked_group::receive() {
    try {
        if (!link_->receive(frame_, look_after, areas_.size())) return false;
        get_reply(frame_, areas_);
    } catch (const run_error& problem) {
        lost(problem.what(), fmt::format("in {}", name_of(areas_.top().request.what)));
    }
    return true;
}

std::string linked_group::ended() {
    const std::string how = process_ ? process_->ended() : std::string();
    return how.empty() ? how : "its process " + how;
}

void linked_group::stop() noexcept {
    if (process_) process_->kill();
}

void serve(frame_link& link, subsystem_host& host, const wire_writer& introduction) {
    link.send(introduction.bytes());
    if (!host.made()) return;
    exchange areas(host.members());
    areas.place();
    std::vector<char> frame;
    wire_writer said;
    for (bool last = false; !last;) {
        while (!link.receive(frame, std::chrono::minutes(1), 2 * areas.size())) continue;
        get_request(frame, areas);
        host.carry_out(areas);
        last = areas.top().request.what == remote_command::quit;
        said.clear();
        put_reply(said, areas);
        link.send(said.bytes());
    }
}

}  // namespace mdpcosim
