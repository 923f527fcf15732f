#pragma once

#include <span>
#include <string>
#include <vector>

#include "remote/exchange.hpp"
#include "remote/wire.hpp"

/// What travels as bytes between the two sides, one frame at a time. Readers take nothing on trust: a frame that does not fit
/// gives a run_error and changes nothing that matters.
///
/// Order on a connection: hello (from the side of the subsystems), welcome, introduction (from the side of the subsystems), then
/// requests and replies in turn. Where a process was started with its link in hand, hello and welcome are left out.
namespace mdpcosim {

/// Raised with every change of any frame; both sides must have the same.
inline constexpr std::uint32_t protocol_version = 6;

/// Who connects, and by what right.
struct remote_hello {
    std::string token;  ///< of the run
    std::string name;   ///< of the subsystem or group that it brings
    /// Of what its scenario says about it, which the run's must say, too; 0: it has no scenario.
    std::uint64_t fingerprint = 0;
};
void put(wire_writer& to, const remote_hello& hello);
/// Throws run_error for another protocol, another version or another order of bytes.
remote_hello get_hello(std::span<const char> frame);
/// A longer hello is none.
inline constexpr std::size_t longest_hello = 4096;

/// The answer to a hello; empty: welcome, else why the other side is refused.
void put_welcome(wire_writer& to, const std::string& refusal);
std::string get_welcome(std::span<const char> frame);

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
