#include "transport/ping_pong.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <new>

#include "core/error.hpp"
#include "core/mailbox.hpp"
#include "remote/child_process.hpp"
#include "remote/tcp.hpp"
#include "transport/affinity.hpp"

namespace mdpcosim {

namespace {

struct two_boxes {
    lone_mailbox there, back;
};

/// Whole messages of the size that a macro step with one input and one output has; `wait` decides how a side waits.
constexpr std::size_t message = 88;

template <class Wait>
bool take(int socket, const Wait& wait) {
    char bytes[message];
    for (std::size_t n = 0; n < message;) {
        const ssize_t more = wait(socket, bytes + n, message - n);
        if (more <= 0) return false;
        n += static_cast<std::size_t>(more);
    }
    return true;
}

ssize_t sleeping(int socket, char* to, std::size_t size) { return recv(socket, to, size, 0); }

/// Sleeps only when it is not this medium's turn.
ssize_t looking(int socket, char* to, std::size_t size) {
    for (int looks = 0; looks < 500; ++looks) {
        const ssize_t n = recv(socket, to, size, MSG_DONTWAIT);
        if (n >= 0 || errno != EAGAIN) return n;
    }
    return sleeping(socket, to, size);
}

template <class Wait>
rounds over_tcp(const Wait& wait) {
    const file_handle door = listen_at({"127.0.0.1", "0"});
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    getsockname(door.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    const std::string port = std::to_string(port_of(bound));
    auto other = std::make_shared<child_process>([&] {
        const file_handle socket = connect_to({"127.0.0.1", port}, 10);
        fcntl(socket.get(), F_SETFL, 0);
        const char bytes[message] = {};
        while (take(socket.get(), wait)) send(socket.get(), bytes, message, MSG_NOSIGNAL);
    });
    pollfd ready{door.get(), POLLIN, 0};
    poll(&ready, 1, 10000);
    auto socket = std::make_shared<file_handle>(accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC));
    prepare_connection(socket->get());
    return [=](int count) {
        static_cast<void>(other);
        const char bytes[message] = {};
        for (int i = 0; i < count; ++i)
            if (send(socket->get(), bytes, message, MSG_NOSIGNAL) < 0 || !take(socket->get(), wait))
                throw run_error("the connection of a ping-pong was lost");
    };
}

}  // namespace

rounds memory_ping_pong() {
    void* memory = mmap(nullptr, sizeof(two_boxes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw run_error("no memory to share with another process");
    auto* boxes = new (memory) two_boxes;
    const mailbox::look look = mailbox::fitting(available_cores() > 1);
    auto other = std::make_shared<child_process>([=] {
        for (std::uint32_t n = 1;; ++n) {
            boxes->there.wait_for(n, look);
            boxes->back.post(n);
        }
    });
    return [=, n = std::uint32_t{0}](int count) mutable {
        static_cast<void>(other);
        for (int i = 0; i < count; ++i) {
            boxes->there.post(++n);
            boxes->back.wait_for(n, look);
        }
    };
}

rounds tcp_ping_pong(bool look) { return look ? over_tcp(looking) : over_tcp(sleeping); }

}  // namespace mdpcosim
