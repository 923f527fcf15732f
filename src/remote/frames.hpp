#pragma once

#include <span>
#include <string>
#include <vector>

#include "remote/exchange.hpp"
#include "remote/sha256.hpp"
#include "remote/wire.hpp"

/// What travels as bytes between the two sides, one frame at a time. Readers take nothing on trust: a frame that does not fit
/// gives a run_error and changes nothing that matters.
///
/// Order on a connection: hello (from the side of the subsystems), challenge, proof (from the side of the subsystems), welcome,
/// introduction (from the side of the subsystems), then requests and replies in turn. Where a process was started with its link in
/// hand, all before the introduction is left out.
namespace mdpcosim {

/// Raised with every change of any frame; both sides must have the same.
inline constexpr std::uint32_t protocol_version = 9;

/// Who connects, and by what right.
struct remote_hello {
    std::string token;  ///< of the run; proven, never said
    std::string name;   ///< of the subsystem or group that it brings
    /// Of what its scenario says about it, which the run's must say, too; 0: it has no scenario.
    std::uint64_t fingerprint = 0;
    digest challenge{};  ///< random bytes for this connection
};
void put(wire_writer& to, const remote_hello& hello);
/// Throws run_error for another protocol, another version or another order of bytes. Without the token.
remote_hello get_hello(std::span<const char> frame);
/// A longer hello is none.
inline constexpr std::size_t longest_hello = 4096;

/// What a master says before the introduction.
struct master_word {
    std::string refusal = {};  ///< why it does not go on; empty: it does
    bool welcome = false;      ///< else a challenge
    digest value{};            ///< random bytes of a challenge, or the proof that the master knows the token
};
void put(wire_writer& to, const master_word& word);
master_word get_master_word(std::span<const char> frame);

/// What only who knows the token can say, of this connection alone: a recorded one is of no use.
enum class prover { subsystem, master };
digest proof_of(prover who, const std::string& token, const remote_hello& hello, const digest& masters_challenge);
void put_proof(wire_writer& to, const digest& proof);
digest get_proof(std::span<const char> frame);

/// The members, or why there are none.
void put_introduction(wire_writer& to, std::span<const remote_member> members);
void put_refusal(wire_writer& to, bool user_mistake, const std::string& reason);
/// Throws the user_error or run_error that the other side tells.
std::vector<remote_member> get_introduction(std::span<const char> frame, std::size_t count);

/// Requests and replies between two exchanges.
void put_request(wire_writer& to, const exchange& from);
void get_request(std::span<const char> frame, exchange& to);
void put_reply(wire_writer& to, const exchange& from);
void get_reply(std::span<const char> frame, exchange& to);
/// What every reply must be, however it came. Throws run_error.
void check_reply(const exchange& of);
/// Throws the run_error of "a reply that does not fit".
[[noreturn]] void misfit(const char* kind);

}  // namespace mdpcosim
