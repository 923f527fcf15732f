#include "remote/frame_link.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

// Whoever sleeps answers late where a core is free, whoever looks all the time answers late where none is: the kernel lets a woken
// process run before others. So: some hundred microseconds of looking as long as it nearly always pays, else now and then.
constexpr int most_looks = 500;
constexpr int most_credit = 16, price_of_a_miss = 8;
constexpr int try_again = 1000;

class socket_link final : public frame_link {
   public:
    socket_link(file_handle socket, bool spin) : socket_(std::move(socket)), spin_(spin), in_(smallest_buffer) {
        fcntl(socket_.get(), F_SETFL, 0);  // what shall not wait says so
    }

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
        if (take(frame, most)) return true;
        if (wait.count() == 0) return look(frame, most);
        if (spin_ && (credit_ >= 0 || ++sleeps_ % try_again == 0)) {
            for (int looks = 0; looks < most_looks; ++looks)
                if (look(frame, most)) {
                    credit_ = std::min(credit_ + 1, most_credit);
                    return true;
                }
            credit_ = std::max(credit_ - price_of_a_miss, -1);
        }
        return sleep(frame, wait, most);
    }

   private:
    static constexpr std::size_t smallest_buffer = 65536;

    [[noreturn]] static void lost(const char* reason) {
        throw connection_lost(fmt::format("the connection was lost: {}", reason));
    }

    static std::size_t sent(ssize_t n) {
        if (n < 0 && errno != EINTR && errno != EAGAIN) lost(std::strerror(errno));
        return static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    }

    bool look(std::vector<char>& frame, std::size_t most) {
        if (!out_.empty()) push();
        return read_more(MSG_DONTWAIT) && take(frame, most);
    }

    /// In the system call that reads, which costs least; the clock is looked at only where a frame comes in pieces.
    bool sleep(std::vector<char>& frame, std::chrono::milliseconds wait, std::size_t most) {
        set_patience(out_.empty() ? wait : std::chrono::milliseconds(1));
        clock::time_point begin{};
        for (;;) {
            if (!out_.empty()) push();
            const bool more = read_more(0);
            if (more && take(frame, most)) return true;
            if (!more && out_.empty()) return false;
            if (begin == clock::time_point{}) begin = clock::now();
            if (clock::now() - begin >= wait) return false;
        }
    }

    void set_patience(std::chrono::milliseconds wait) {
        if (wait == patience_) return;
        patience_ = wait;
        const timeval limit{wait.count() / 1000, static_cast<suseconds_t>(wait.count() % 1000) * 1000};
        setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
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
    bool read_more(int flags) {
        if (end_ == in_.size() && begin_ > 0) {
            std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
            end_ -= std::exchange(begin_, 0);
        }
        if (end_ == in_.size()) in_.resize(2 * in_.size());
        const ssize_t n = recv(socket_.get(), in_.data() + end_, in_.size() - end_, flags);
        if (n == 0) lost("the other side closed it");
        if (n < 0 && errno != EINTR && errno != EAGAIN) lost(std::strerror(errno));
        end_ += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
        return n > 0;
    }

    file_handle socket_;
    bool spin_;
    int credit_ = 0;  ///< below zero: looking does not pay
    std::uint32_t sleeps_ = 0;
    std::chrono::milliseconds patience_{-1};  ///< of a call that sleeps
    std::vector<char> out_;                   ///< what did not go out at once
    std::vector<char> in_;                    ///< what has come and was not taken: from begin_ to end_
    std::size_t begin_ = 0, end_ = 0;
};

}  // namespace

std::unique_ptr<frame_link> make_socket_link(file_handle socket, bool spin) {
    return std::make_unique<socket_link>(std::move(socket), spin);
}

}  // namespace mdpcosim
