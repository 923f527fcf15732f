#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/file_handle.hpp"
#include "core/messages.hpp"
#include "remote/frame_link.hpp"

/// How the sides of a run find each other over TCP: the master listens, who brings subsystems connects and says the name of what it
/// brings. Each side proves to the other that it knows the run's token, which is never sent (docs/decisions/0036).
namespace mdpcosim {

/// Environment of processes that the master starts: where to connect to, and the run's token.
inline constexpr const char* address_variable = "MDPCOSIM_CONNECT";
inline constexpr const char* token_variable = "MDPCOSIM_TOKEN";

/// 128 random bits as hexadecimal digits.
std::string random_token();
digest random_challenge();

/// Waits for those who are expected. Nobody else can stall it: whoever does not say a whole hello in time, says too much, or has
/// another version, token or name is refused, with a line on standard error.
class listener {
   public:
    struct options {
        std::string address;  ///< "HOST:PORT", "PORT"; no host: this machine only; no port or 0: any free one
        std::string token;    ///< empty: a random one
        bool spin = false;    ///< of the links, see make_socket_link()
    };
    /// Throws user_error where nobody can listen there.
    explicit listener(options given);
    ~listener();

    /// "127.0.0.1:41234", for those on this machine.
    const std::string& address() const { return address_; }
    int port() const { return port_; }
    const std::string& token() const { return options_.token; }

    /// From now on somebody may connect under this name, once. `fingerprint` as in remote_hello; 0: whatever it brings is right.
    void expect(std::string name, std::uint64_t fingerprint = 0);
    /// The same for a process that this one starts: it gets a token of its own, with which nobody else's place can be taken.
    void expect_own(std::string name);
    /// What who comes under this name has to know.
    const std::string& token_of(const std::string& name) const;
    /// Accepts connections and reads hellos until something happens, at most for that long.
    void work(std::chrono::milliseconds wait);
    /// The link of who came under this name; none: not yet.
    std::unique_ptr<frame_link> take(const std::string& name);
    std::vector<std::string> missing() const;
    /// Nobody can connect any more.
    void close();

   private:
    struct guest;
    struct expected {
        std::string name;
        std::uint64_t fingerprint = 0;
        std::string token = {};  ///< empty: the run's
        bool came = false;
        std::unique_ptr<frame_link> link;
    };

    void accept_all();
    bool hear(guest& from);
    bool challenge(guest& from);
    void greet(guest& from);
    void no_more_files(int reason);
    void refuse(const guest& whom, const std::string& reason);

    options options_;
    file_handle socket_;
    std::string address_;
    int port_ = 0;
    std::vector<expected> expected_;
    std::vector<std::unique_ptr<guest>> guests_;  ///< who has not proven yet who they are
    int refusals_ = 0;
    messages messages_;
};

/// Connects to a master at "HOST:PORT" and says hello; tries for `wait` seconds where nobody listens there yet. Throws user_error
/// with the reason where there is no answer or a refusal. The master says nothing more until it is told what has come.
file_handle greet_master(const std::string& address, const remote_hello& who, double wait = 0);
/// The same as a link.
std::unique_ptr<frame_link> connect_to_master(const std::string& address, const remote_hello& hello, bool spin = false,
                                              double wait = 0);

}  // namespace mdpcosim
