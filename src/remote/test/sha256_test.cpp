// SHA-256 and HMAC against the published examples.
#include "remote/sha256.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace mdpcosim {
namespace {

std::span<const std::uint8_t> bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string hexadecimal(const digest& d) {
    std::string text;
    for (const unsigned byte : d) text += fmt::format("{:02x}", byte);
    return text;
}

/// FIPS 180-4, examples of NIST.
TEST(sha256, examples_of_the_standard) {
    EXPECT_EQ(hexadecimal(sha256(bytes_of("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hexadecimal(sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hexadecimal(sha256(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hexadecimal(sha256(bytes_of(std::string(1000000, 'a')))),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/// RFC 4231, test cases 1, 2 and 6.
TEST(hmac_sha256, examples_of_the_standard) {
    const auto hmac = [](const std::string& key, const std::string& message) {
        return hexadecimal(hmac_sha256(bytes_of(key), bytes_of(message)));
    };
    EXPECT_EQ(hmac(std::string(20, '\x0b'), "Hi There"),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hmac("Jefe", "what do ya want for nothing?"),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

}  // namespace
}  // namespace mdpcosim
