#pragma once

#include <sys/socket.h>

#include <string>

#include "core/file_handle.hpp"

/// Sockets of TCP, made and named.
namespace mdpcosim {

struct tcp_address {
    std::string host, port;
};
/// "HOST:PORT", "[::1]:PORT", ":PORT" or "PORT"; a part that is not there stays empty. Throws user_error for anything else.
tcp_address parse_tcp_address(const std::string& text);

/// "10.0.0.1:5000"
std::string to_string(const sockaddr_storage& address);
int port_of(const sockaddr_storage& address);

/// Throws user_error with the reason and what to do.
file_handle listen_at(const tcp_address& address);
/// Tries for `wait` seconds where nobody listens yet. Throws user_error.
file_handle connect_to(const tcp_address& address, double wait);

/// What to do where the system gives no file or no memory for one, after the system's reason; else nothing.
std::string remedy_of(int reason);

/// What every connection of a run wants: small messages at once.
void prepare_connection(int socket);

}  // namespace mdpcosim
