#include "remote/listener.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "remote/tcp.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::seconds longest_greeting{5};
constexpr std::size_t most_guests = 64;
constexpr int most_refusals_told = 100;

/// Names come from anywhere: what a terminal would obey is left out.
std::string printable(std::string text) {
    text.resize(std::min<std::size_t>(text.size(), 80));
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return text;
}

/// The few bytes of a greeting fit into any socket's memory.
bool say_now(int socket, std::span<const char> frame) {
    const auto length = static_cast<std::uint32_t>(frame.size());
    std::vector<char> all(sizeof length);
    std::memcpy(all.data(), &length, sizeof length);
    all.insert(all.end(), frame.begin(), frame.end());
    return send(socket, all.data(), all.size(), MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(all.size());
}

}  // namespace

std::string random_token() {
    std::array<unsigned char, 16> bits{};
    if (getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size()))
        throw run_error(fmt::format("no random numbers: {}", std::strerror(errno)));
    std::string text;
    for (const unsigned char b : bits) text += fmt::format("{:02x}", b);
    return text;
}

digest random_challenge() {
    digest bits{};
    if (getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size()))
        throw run_error(fmt::format("no random numbers: {}", std::strerror(errno)));
    return bits;
}

struct listener::guest {
    file_handle socket;
    std::string from;
    clock::time_point since;
    remote_hello hello = {};
    std::optional<digest> asked = {};  ///< the challenge, once it has said hello
    std::array<char, sizeof(std::uint32_t) + longest_hello> bytes{};
    std::size_t size = 0;

    std::uint32_t length() const {
        std::uint32_t n;
        std::memcpy(&n, bytes.data(), sizeof n);
        return n;
    }
    std::span<const char> frame() const { return std::span(bytes).subspan(sizeof(std::uint32_t), length()); }
};

listener::listener(options given) : options_(std::move(given)) {
    try {
        tcp_address address = parse_tcp_address(options_.address);
        if (address.host.empty()) address.host = "127.0.0.1";
        if (address.port.empty()) address.port = "0";
        socket_ = listen_at(address);
    } catch (const user_error& problem) {
        throw user_error(fmt::format("--listen: {}", problem.what()));
    }
    if (options_.token.empty()) options_.token = random_token();
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    port_ = port_of(bound);
    address_ = to_string(bound);
    if (address_.starts_with("0.0.0.0:")) address_ = fmt::format("127.0.0.1:{}", port_);
    if (address_.starts_with("[::]:")) address_ = fmt::format("[::1]:{}", port_);
}

listener::~listener() = default;

void listener::expect(std::string name, std::uint64_t fingerprint) {
    expected_.push_back({std::move(name), fingerprint, {}, false, nullptr});
}

void listener::expect_own(std::string name) {
    expected_.push_back({std::move(name), 0, random_token(), false, nullptr});
}

const std::string& listener::token_of(const std::string& name) const {
    const auto found = std::ranges::find(expected_, name, &expected::name);
    return found == expected_.end() || found->token.empty() ? options_.token : found->token;
}

std::unique_ptr<frame_link> listener::take(const std::string& name) {
    for (auto& e : expected_)
        if (e.name == name) return std::move(e.link);
    return nullptr;
}

std::vector<std::string> listener::missing() const {
    std::vector<std::string> names;
    for (const auto& e : expected_)
        if (!e.came) names.push_back(e.name);
    return names;
}

void listener::close() {
    socket_.close();
    guests_.clear();
}

void listener::work(std::chrono::milliseconds wait) {
    std::vector<pollfd> files{{socket_.get(), POLLIN, 0}};
    for (const auto& g : guests_) files.push_back({g->socket.get(), POLLIN, 0});
    if (poll(files.data(), files.size(), static_cast<int>(wait.count())) < 0 && errno != EINTR)
        throw run_error(fmt::format("listening failed: {}", std::strerror(errno)));
    const auto now = clock::now();
    std::size_t k = 0;
    std::erase_if(guests_, [&](const std::unique_ptr<guest>& g) {
        if (files[++k].revents != 0 && hear(*g)) return true;
        if (now - g->since <= longest_greeting) return false;
        refuse(*g, fmt::format("it did not say who it is within {} s", longest_greeting.count()));
        return true;
    });
    if (files[0].revents != 0) accept_all();
}

void listener::accept_all() {
    for (;;) {
        sockaddr_storage from{};
        socklen_t size = sizeof from;
        file_handle connection(accept4(socket_.get(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC));
        if (connection.get() < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
            return no_more_files(errno);
        if (connection.get() < 0) return;  // no more, or gone already
        prepare_connection(connection.get());
        auto who = std::make_unique<guest>();
        who->socket = std::move(connection);
        who->from = to_string(from);
        who->since = clock::now();
        if (hear(*who)) continue;
        if (guests_.size() == most_guests) {
            refuse(*guests_.front(), "too many others wait, too");
            guests_.erase(guests_.begin());
        }
        guests_.push_back(std::move(who));
    }
}

/// Strangers must not use up what those who are expected need; where there are none, waiting would not help.
void listener::no_more_files(int reason) {
    if (guests_.empty())
        throw run_error(fmt::format("no connection can be accepted from subsystem {}: {}{}", name_list(missing()),
                                    std::strerror(reason), remedy_of(reason)));
    refuse(*guests_.front(), "there is no room for it");
    guests_.erase(guests_.begin());
}

/// True when nothing more is to be read: the guest was greeted or refused. Reads no byte beyond what it may say now.
bool listener::hear(guest& from) {
    for (;;) {
        constexpr std::size_t head = sizeof(std::uint32_t);
        const std::size_t whole = from.size < head ? head : head + from.length();
        if (whole > from.bytes.size()) {
            refuse(from, "it does not speak mdpcosim's protocol");
            return true;
        }
        if (from.size >= head && from.size == whole) {
            if (!from.asked) {
                if (challenge(from)) return true;
                continue;
            }
            greet(from);
            return true;
        }
        const ssize_t n = recv(from.socket.get(), from.bytes.data() + from.size, whole - from.size, MSG_DONTWAIT);
        if (n > 0) {
            from.size += static_cast<std::size_t>(n);
        } else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            return false;
        } else {
            refuse(from, n == 0 ? "it left without a word" : std::strerror(errno));
            return true;
        }
    }
}

/// The answer to a hello. True where it was refused.
bool listener::challenge(guest& from) {
    master_word word;
    try {
        from.hello = get_hello(from.frame());
        from.size = 0;
        from.asked = word.value = random_challenge();
    } catch (const run_error& problem) {
        word.refusal = problem.what();
        refuse(from, word.refusal);
    }
    wire_writer said;
    put(said, word);
    return !say_now(from.socket.get(), said.bytes()) || !word.refusal.empty();
}

void listener::greet(guest& from) {
    const remote_hello& hello = from.hello;
    const std::string& token = token_of(hello.name);
    master_word word{.welcome = true};
    expected* place = nullptr;
    try {
        const auto found = std::ranges::find(expected_, hello.name, &expected::name);
        if (!same_digest(get_proof(from.frame()), proof_of(prover::subsystem, token, hello, *from.asked)))
            word.refusal = "its token is not this run's";
        else if (found == expected_.end())
            word.refusal = fmt::format("subsystem '{}' is not expected. Missing: {}.", printable(hello.name),
                                       name_list(missing()));
        else if (found->came)
            word.refusal = fmt::format("subsystem '{}' is here already", hello.name);
        else if (hello.fingerprint != 0 && found->fingerprint != 0 && hello.fingerprint != found->fingerprint)
            word.refusal = fmt::format(
                "its scenario says something else about subsystem '{}' or the macro step than the run's. Both sides "
                "need the same file, --set and --step",
                hello.name);
        else
            place = &*found;
    } catch (const run_error& problem) {
        word.refusal = problem.what();
    }
    if (place == nullptr)
        refuse(from, word.refusal);
    else
        word.value = proof_of(prover::master, token, hello, *from.asked);
    wire_writer answer;
    put(answer, word);
    auto link = make_socket_link(std::move(from.socket), options_.spin);
    try {
        link->send(answer.bytes());
    } catch (const run_error&) {  // whoever receives from it is told
    }
    if (place == nullptr) return;
    place->came = true;
    place->link = std::move(link);
}

void listener::refuse(const guest& whom, const std::string& reason) {
    if (++refusals_ > most_refusals_told) return;
    messages_.send(fmt::format("a connection from {} was refused: {}{}", whom.from, reason,
                               refusals_ == most_refusals_told ? " (further ones are not shown)" : ""));
}

namespace {

/// Says hello, proves who it is, and has the master prove the same. Throws run_error with the reason where one of them does not.
void prove_both(frame_link& link, const remote_hello& hello) {
    constexpr std::chrono::seconds longest_wait{60};  // the master may be busy with starting others
    wire_writer said;
    put(said, hello);
    link.send(said.bytes());
    std::vector<char> answer;
    const auto hear_master = [&] {
        if (!link.receive(answer, longest_wait, longest_hello))
            throw run_error(fmt::format("no answer within {} s", longest_wait.count()));
        master_word word = get_master_word(answer);
        if (!word.refusal.empty()) throw run_error(word.refusal);
        return word;
    };
    const master_word asked = hear_master();
    if (asked.welcome) throw run_error("it does not speak mdpcosim's protocol");
    said.clear();
    put_proof(said, proof_of(prover::subsystem, hello.token, hello, asked.value));
    link.send(said.bytes());
    const master_word welcome = hear_master();
    if (!welcome.welcome || !same_digest(welcome.value, proof_of(prover::master, hello.token, hello, asked.value)))
        throw run_error("it does not know the run's token itself: another program listens there");
}

}  // namespace

file_handle greet_master(const std::string& address, const remote_hello& who, double wait) {
    file_handle socket = above_standard(connect_to(parse_tcp_address(address), wait));
    remote_hello hello = who;
    try {
        file_handle copy(fcntl(socket.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
        if (copy.get() < 0)
            throw run_error(
                fmt::format("no second file for the connection: {}{}", std::strerror(errno), remedy_of(errno)));
        hello.challenge = random_challenge();
        prove_both(*make_socket_link(std::move(copy)), hello);
    } catch (const run_error& problem) {
        throw user_error(fmt::format("the master at {} does not take '{}': {}", address, hello.name, problem.what()));
    }
    return socket;
}

std::unique_ptr<frame_link> connect_to_master(const std::string& address, const remote_hello& hello, bool spin,
                                              double wait) {
    return make_socket_link(greet_master(address, hello, wait), spin);
}

}  // namespace mdpcosim
