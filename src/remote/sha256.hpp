#pragma once

#include <array>
#include <cstdint>
#include <span>

/// SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104), by which both sides of a connection prove that they know a secret without
/// saying it. Of our own since programs of others link it: their library stands on no other.
namespace mdpcosim {

using digest = std::array<std::uint8_t, 32>;

digest sha256(std::span<const std::uint8_t> message);
digest hmac_sha256(std::span<const std::uint8_t> key, std::span<const std::uint8_t> message);
/// Takes as long for what is nearly right as for anything else.
bool same_digest(const digest& a, const digest& b);

}  // namespace mdpcosim
