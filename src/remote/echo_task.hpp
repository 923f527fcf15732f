#pragma once

#include <cstddef>

#include "core/mailbox.hpp"

/// The other side of the bare round trips that transports are measured against (transport/ping_pong.hpp).
namespace mdpcosim {

/// Of a round trip through shared memory.
struct echo_boxes {
    lone_mailbox there, back;
};

/// Bytes of a message over TCP: those of a macro step with one input and one output.
inline constexpr std::size_t echo_message = 88;

/// Sends or takes a whole message; false when the connection is lost. `look`: looks for it before it sleeps.
bool send_echo(int socket);
bool take_echo(int socket, bool look);

/// The tasks of the host program: words "file of the memory, mailbox::look", and "port of this machine, look".
inline constexpr const char *memory_echo_task = "echo in memory", *tcp_echo_task = "echo over tcp";

}  // namespace mdpcosim
