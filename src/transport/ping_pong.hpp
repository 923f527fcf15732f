#pragma once

#include <functional>

/// The bare round trips of the media, which no transport can beat.
namespace mdpcosim {

/// Does so many of them.
using rounds = std::function<void(int)>;

/// Of a cache line between two processes.
rounds memory_ping_pong();
/// Of a small message between two processes over TCP on this machine. `look`: both look for it before they sleep.
rounds tcp_ping_pong(bool look);

}  // namespace mdpcosim
