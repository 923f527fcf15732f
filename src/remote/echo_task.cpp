#include "remote/echo_task.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>

#include "remote/host_task.hpp"
#include "remote/shared_areas.hpp"
#include "remote/tcp.hpp"

namespace mdpcosim {

namespace {

/// Sleeps only when it is not this medium's turn.
ssize_t receive_some(int socket, char* to, std::size_t size, bool look) {
    for (int looks = 0; look && looks < 500; ++looks) {
        const ssize_t n = recv(socket, to, size, MSG_DONTWAIT);
        if (n >= 0 || errno != EAGAIN) return n;
    }
    return recv(socket, to, size, 0);
}

void echo_in_memory(wire_reader& words) {
    const file_handle memory(words.get<int>());
    const auto look = words.get<mailbox::look>();
    auto* boxes = static_cast<echo_boxes*>(map_areas(memory, sizeof(echo_boxes)));
    waiting_habit habit;
    for (std::uint32_t n = 1;; ++n) {
        boxes->there.wait_for(n, look, habit);
        boxes->back.post(n);
    }
}

void echo_over_tcp(wire_reader& words) {
    const std::string port = words.get_text();
    const bool look = words.get<bool>();
    const file_handle socket = connect_to({"127.0.0.1", port}, 10);
    fcntl(socket.get(), F_SETFL, 0);
    while (take_echo(socket.get(), look) && send_echo(socket.get())) continue;
}

const host_task_registration memory_echo{{memory_echo_task, echo_in_memory}};
const host_task_registration tcp_echo{{tcp_echo_task, echo_over_tcp}};

}  // namespace

bool send_echo(int socket) {
    const char bytes[echo_message] = {};
    return send(socket, bytes, echo_message, MSG_NOSIGNAL) == static_cast<ssize_t>(echo_message);
}

bool take_echo(int socket, bool look) {
    char bytes[echo_message];
    for (std::size_t n = 0; n < echo_message;) {
        const ssize_t more = receive_some(socket, bytes + n, echo_message - n, look);
        if (more <= 0) return false;
        n += static_cast<std::size_t>(more);
    }
    return true;
}

}  // namespace mdpcosim
