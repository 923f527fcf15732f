#include "transport/ping_pong.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <memory>
#include <new>

#include "core/error.hpp"
#include "remote/echo_task.hpp"
#include "remote/host_task.hpp"
#include "remote/shared_areas.hpp"
#include "remote/tcp.hpp"
#include "transport/affinity.hpp"

namespace mdpcosim {

rounds memory_ping_pong() {
    const file_handle file = make_shared_file("ping-pong");
    auto* boxes = new (map_areas(file, sizeof(echo_boxes))) echo_boxes;
    const mailbox::look look = mailbox::fitting(available_cores() > 1);
    wire_writer words;
    words.put(file.get());
    words.put(look);
    auto other = std::shared_ptr<child_process>(start_host(memory_echo_task, words, {file.get()}));
    return [=, n = std::uint32_t{0}, habit = waiting_habit()](int count) mutable {
        static_cast<void>(other);
        for (int i = 0; i < count; ++i) {
            boxes->there.post(++n);
            boxes->back.wait_for(n, look, habit);
        }
    };
}

rounds tcp_ping_pong(bool look) {
    const file_handle door = listen_at({"127.0.0.1", "0"});
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    getsockname(door.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    wire_writer words;
    words.put(std::to_string(port_of(bound)));
    words.put(look);
    auto other = std::shared_ptr<child_process>(start_host(tcp_echo_task, words, {}));
    pollfd ready{door.get(), POLLIN, 0};
    poll(&ready, 1, 10000);
    auto socket = std::make_shared<file_handle>(accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC));
    prepare_connection(socket->get());
    return [=](int count) {
        static_cast<void>(other);
        for (int i = 0; i < count; ++i)
            if (!send_echo(socket->get()) || !take_echo(socket->get(), look))
                throw run_error("the connection of a ping-pong was lost");
    };
}

}  // namespace mdpcosim
