#include "subsystem/remote/frame_link.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

// As in core/mailbox.cpp: whoever sleeps answers late. Looking into a socket costs a system call, so there are fewer looks.
constexpr int spins = 100;
constexpr int yields = 2000;

class socket_link final : public frame_link {
   public:
    socket_link(file_handle socket, bool spin) : socket_(std::move(socket)), spin_(spin), in_(smallest_buffer) {}

    /// A last word may still be on its way out.
    ~socket_link() override {
        constexpr int patience = 1000;  // ms
        pollfd ready{socket_.get(), POLLOUT, 0};
        try {
            while (!out_.empty() && poll(&ready, 1, patience) > 0) push();
        } catch (const run_error&) {
        }
    }

    void send(std::span<const char> frame) override {
        auto length = static_cast<std::uint32_t>(frame.size());
        std::size_t done = 0;
        if (out_.empty()) {
            iovec parts[] = {{&length, sizeof length}, {const_cast<char*>(frame.data()), frame.size()}};
            msghdr message{};
            message.msg_iov = parts;
            message.msg_iovlen = 2;
            done = sent(sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT));
            if (done == sizeof length + frame.size()) return;
        }
        const auto* head = reinterpret_cast<const char*>(&length);
        if (done < sizeof length) out_.insert(out_.end(), head + done, head + sizeof length);
        out_.insert(out_.end(),
                    frame.begin() + static_cast<std::ptrdiff_t>(std::max(done, sizeof length) - sizeof length),
                    frame.end());
    }

    bool receive(std::vector<char>& frame, std::chrono::milliseconds wait, std::size_t most) override {
        if (take(frame, most) || look(frame, most)) return true;
        if (wait.count() == 0) return false;
        for (int looks = spin_ ? -spins : 0; looks < yields; ++looks) {
            if (look(frame, most)) return true;
            if (looks >= 0) std::this_thread::yield();
        }
        const auto begin = clock::now();
        for (;;) {
            const auto left = wait - std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin);
            const auto wanted = static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT);
            pollfd ready{socket_.get(), wanted, 0};
            const int n = poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
            if (n < 0 && errno != EINTR) lost(std::strerror(errno));
            if (n == 0) return false;
            if (look(frame, most)) return true;
        }
    }

   private:
    static constexpr std::size_t smallest_buffer = 65536;

    [[noreturn]] static void lost(const char* reason) {
        throw run_error(fmt::format("the connection was lost: {}", reason));
    }

    static std::size_t sent(ssize_t n) {
        if (n < 0 && errno != EINTR && errno != EAGAIN) lost(std::strerror(errno));
        return static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    }

    bool look(std::vector<char>& frame, std::size_t most) {
        if (!out_.empty()) push();
        return read_more() && take(frame, most);
    }

    void push() {
        const std::size_t done = sent(::send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
        out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(done));
    }

    /// The first whole frame of what has come.
    bool take(std::vector<char>& frame, std::size_t most) {
        std::uint32_t length;
        if (end_ - begin_ < sizeof length) return false;
        std::memcpy(&length, in_.data() + begin_, sizeof length);
        if (length > most)
            throw run_error(fmt::format("a message of {} bytes came where {} are the most", length, most));
        if (end_ - begin_ < sizeof length + length) return false;
        const char* body = in_.data() + begin_ + sizeof length;
        frame.assign(body, body + length);
        begin_ += sizeof length + length;
        if (begin_ == end_) begin_ = end_ = 0;
        return true;
    }

    /// False when nothing has come. The buffer grows with what comes, never with what is announced.
    bool read_more() {
        if (end_ == in_.size() && begin_ > 0) {
            std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
            end_ -= std::exchange(begin_, 0);
        }
        if (end_ == in_.size()) in_.resize(2 * in_.size());
        const ssize_t n = recv(socket_.get(), in_.data() + end_, in_.size() - end_, MSG_DONTWAIT);
        if (n == 0) lost("the other side closed it");
        if (n < 0 && errno != EINTR && errno != EAGAIN) lost(std::strerror(errno));
        end_ += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
        return n > 0;
    }

    file_handle socket_;
    bool spin_;
    std::vector<char> out_;  ///< what did not go out at once
    std::vector<char> in_;   ///< what has come and was not taken: from begin_ to end_
    std::size_t begin_ = 0, end_ = 0;
};

}  // namespace

std::unique_ptr<frame_link> make_socket_link(file_handle socket, bool spin) {
    return std::make_unique<socket_link>(std::move(socket), spin);
}

}  // namespace mdpcosim
