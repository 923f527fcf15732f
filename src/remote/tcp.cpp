#include "remote/tcp.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;
using found_addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

std::string shown(const tcp_address& a) {
    const bool six = a.host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", six ? "[" : "", a.host, six ? "]" : "", a.port);
}

found_addresses look_up(const tcp_address& address) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICSERV;
    addrinfo* found = nullptr;
    if (const int status = getaddrinfo(address.host.c_str(), address.port.c_str(), &wanted, &found); status != 0)
        throw user_error(fmt::format("host '{}' is not known: {}. Allowed are names and numeric addresses of machines.",
                                     address.host, gai_strerror(status)));
    return {found, freeaddrinfo};
}

file_handle make_socket(const addrinfo& a) {
    file_handle made(socket(a.ai_family, a.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a.ai_protocol));
    if (made.get() < 0) throw run_error(fmt::format("no socket: {}{}", std::strerror(errno), remedy_of(errno)));
    return made;
}

/// 0 when it stands, else the reason.
int try_to_connect(int socket, const addrinfo& a, std::chrono::milliseconds wait) {
    if (connect(socket, a.ai_addr, a.ai_addrlen) == 0) return 0;
    if (errno != EINPROGRESS) return errno;
    pollfd ready{socket, POLLOUT, 0};
    if (poll(&ready, 1, static_cast<int>(wait.count())) <= 0) return ETIMEDOUT;
    int problem = 0;
    socklen_t size = sizeof problem;
    getsockopt(socket, SOL_SOCKET, SO_ERROR, &problem, &size);
    return problem;
}

}  // namespace

tcp_address parse_tcp_address(const std::string& text) {
    tcp_address a;
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) {
        a.port = text;
    } else {
        a.host = text.substr(0, colon);
        a.port = text.substr(colon + 1);
    }
    const bool bracketed = a.host.size() > 2 && a.host.front() == '[' && a.host.back() == ']';
    if (bracketed) a.host = a.host.substr(1, a.host.size() - 2);
    std::uint16_t port = 0;
    const auto [end, status] = std::from_chars(a.port.data(), a.port.data() + a.port.size(), port);
    const bool number = a.port.empty() || (status == std::errc{} && end == a.port.data() + a.port.size());
    if (!number || (!bracketed && a.host.find(':') != std::string::npos))
        throw user_error(fmt::format(
            "'{}' is no address. Allowed are HOST:PORT, [IPv6]:PORT and PORT, with a port from 0 to 65535.", text));
    return a;
}

std::string to_string(const sockaddr_storage& address) {
    char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";
    getnameinfo(reinterpret_cast<const sockaddr*>(&address), sizeof address, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    return shown({host, port});
}

int port_of(const sockaddr_storage& address) {
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                               : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

file_handle listen_at(const tcp_address& address) {
    const auto found = look_up(address);
    file_handle made = make_socket(*found);
    const int yes = 1;
    setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(made.get(), found->ai_addr, found->ai_addrlen) == 0 && listen(made.get(), SOMAXCONN) == 0) return made;
    const int problem = errno;
    const char* remedy = problem == EADDRINUSE ? "Another program listens there: choose another port, or 0 for any."
                         : problem == EADDRNOTAVAIL ? "The host must be an address of this machine."
                         : problem == EACCES        ? "Choose a port from 1024 on."
                                                    : "Choose another address.";
    throw user_error(fmt::format("cannot listen at {}: {}. {}", shown(address), std::strerror(problem), remedy));
}

file_handle connect_to(const tcp_address& address, double wait) {
    if (address.host.empty() || address.port.empty() || address.port == "0")
        throw user_error(fmt::format("'{}' names no master. Allowed is HOST:PORT.", shown(address)));
    const auto found = look_up(address);
    constexpr std::chrono::seconds longest_silence{10};
    const auto end = clock::now() + std::chrono::duration<double>(wait);
    for (;;) {
        int problem = 0;
        for (const addrinfo* a = found.get(); a != nullptr; a = a->ai_next) {
            file_handle made = make_socket(*a);
            problem = try_to_connect(made.get(), *a, longest_silence);
            if (problem != 0) continue;
            prepare_connection(made.get());
            return made;
        }
        if (problem != ECONNREFUSED || clock::now() >= end)
            throw user_error(
                fmt::format("no master answers at {}: {}. Has the run been started, and does it listen at an address "
                            "that this machine reaches?",
                            shown(address), std::strerror(problem)));
        poll(nullptr, 0, 100);
    }
}

std::string remedy_of(int reason) {
    rlimit most{};
    if (reason == EMFILE && getrlimit(RLIMIT_NOFILE, &most) == 0)
        return fmt::format(". This process may have {} open files at a time; 'ulimit -n' raises that", most.rlim_cur);
    return reason == ENFILE ? ". The system has no more open files for anybody" : "";
}

void prepare_connection(int socket) {
    const int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    // A machine that has gone without a word is found out after half a minute; by itself the system would take hours.
    const int idle = 10, between = 5, questions = 4, unanswered = 30000;
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &questions, sizeof questions);
    setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered, sizeof unanswered);
}

}  // namespace mdpcosim
