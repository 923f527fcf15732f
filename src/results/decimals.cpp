// R. Giulietti: The Schubfach way to render doubles (2020). A double is c 2^q; all decimals that read back to it lie between its neighbours'
// middles. With 10^k of the size of that interval, one of two multiples of 10^(k+1), or else one of two multiples of 10^k, lies in it; products
// of c with 10^-k in 126 bits, rounded to odd, tell which.
#include "results/decimals.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace mdpcosim {

namespace {

__extension__ using wide = unsigned __int128;

constexpr int least_power = -292, greatest_power = 324;

struct bits_128 {
    std::uint64_t high, low;
};

/// An integer of many 32-bit digits, the least first.
using digits = std::vector<std::uint32_t>;

void multiply_by_ten(digits& n) {
    std::uint64_t carry = 0;
    for (auto& digit : n) {
        carry += std::uint64_t{10} * digit;
        digit = static_cast<std::uint32_t>(carry);
        carry >>= 32;
    }
    if (carry > 0) n.push_back(static_cast<std::uint32_t>(carry));
}

void divide_by_ten(digits& n) {
    std::uint64_t rest = 0;
    for (auto digit = n.rbegin(); digit != n.rend(); ++digit) {
        rest = rest << 32 | *digit;
        *digit = static_cast<std::uint32_t>(rest / 10);
        rest %= 10;
    }
    while (n.back() == 0) n.pop_back();
}

/// The first 128 bits of n, or of a number a little larger, rounded up.
bits_128 first_bits(const digits& n, bool exact) {
    wide first = 0;
    bool rest = !exact;
    int room = 128;
    for (auto digit = n.rbegin(); digit != n.rend(); ++digit) {
        const int length = digit == n.rbegin() ? static_cast<int>(std::bit_width(*digit)) : 32;
        const int taken = std::min(room, length);
        if (taken > 0) first = first << taken | *digit >> (length - taken);
        rest = rest || (taken < length && (*digit & ((std::uint64_t{1} << (length - taken)) - 1)) != 0);
        room -= taken;
    }
    first = (first << room) + (rest ? 1 : 0);
    return {static_cast<std::uint64_t>(first >> 64), static_cast<std::uint64_t>(first)};
}

/// 10^k as a number of 128 bits times a power of two, rounded up.
const std::array<bits_128, greatest_power - least_power + 1> powers = [] {
    std::array<bits_128, greatest_power - least_power + 1> all{};
    digits up{1}, down(40, 0);
    down.back() = 1;
    for (int k = 0; k <= greatest_power; ++k, multiply_by_ten(up))
        all[static_cast<std::size_t>(k - least_power)] = first_bits(up, true);
    for (int k = -1; k >= least_power; --k) {
        divide_by_ten(down);
        all[static_cast<std::size_t>(k - least_power)] = first_bits(down, false);
    }
    return all;
}();

struct decimal {
    std::uint64_t digits;
    int power;
};

/// g c / 2^128, odd where something is cut off.
std::uint64_t scaled(const bits_128& g, std::uint64_t c) {
    const wide low = wide{g.low} * c, high = wide{g.high} * c + static_cast<std::uint64_t>(low >> 64);
    return static_cast<std::uint64_t>(high >> 64) | (static_cast<std::uint64_t>(high) > 1 ? 1 : 0);
}

/// Of a finite number that is not zero.
decimal shortest(std::uint64_t fraction, int exponent) {
    const std::uint64_t c = exponent != 0 ? fraction | std::uint64_t{1} << 52 : fraction;
    const int q = (exponent != 0 ? exponent : 1) - 1075;
    const bool even = c % 2 == 0, closer_below = fraction == 0 && exponent > 1;
    const int k = (q * 1262611 - (closer_below ? 524031 : 0)) >> 22;  // floor(log10(2^q)), of 3/4 2^q
    const int h = q + ((-k * 1741647) >> 19) + 1;                     // floor(log2(10^-k))
    const bits_128& g = powers[static_cast<std::size_t>(-k - least_power)];
    const std::uint64_t below = scaled(g, (4 * c - (closer_below ? 1 : 2)) << h), at = scaled(g, (4 * c) << h),
                        above = scaled(g, (4 * c + 2) << h);
    const std::uint64_t lower = below + (even ? 0 : 1), upper = above - (even ? 0 : 1), s = at / 4;
    // What lies in the interval is as good as random: no branches, which would be guessed wrong half of the time.
    const std::uint64_t tenth = s / 10;
    const unsigned down_10 = lower <= 40 * tenth, up_10 = 40 * tenth + 40 <= upper,
                   fewer = (down_10 ^ up_10) & (s >= 10);
    const unsigned down = lower <= 4 * s, up = 4 * s + 4 <= upper;
    const std::uint64_t middle = 4 * s + 2;
    const unsigned nearer = (at > middle) | ((at == middle) & (s & 1));
    const std::uint64_t all = s + (down != up ? up : nearer);
    return {fewer ? tenth + up_10 : all, k + static_cast<int>(fewer)};
}

/// Eight digits with zeros in front, as characters in the order of memory: halves, quarters and single digits side by side.
std::uint64_t eight_digits(std::uint64_t n) {
    constexpr std::uint64_t hundredth = 5243, tenth = 103;  // of 2^19 and 2^10, exact for numbers below 10^4 and 100
    const std::uint64_t fours = n / 10000 | (n % 10000) << 32;
    const std::uint64_t high = (fours * hundredth >> 19) & 0x0000'007f'0000'007f, twos = high | (fours - 100 * high)
                                                                                                    << 16;
    const std::uint64_t tens = (twos * tenth >> 10) & 0x000f'000f'000f'000f;
    return (tens | (twos - 10 * tens) << 8) | 0x3030'3030'3030'3030;
}

/// Seventeen digits with zeros in front.
void write_seventeen(char* to, std::uint64_t n) {
    static_assert(std::endian::native == std::endian::little, "the first digit is the least byte");
    const std::uint64_t high = n / 100000000, first = high / 100000000;
    const std::uint64_t middle = eight_digits(high - 100000000 * first), last = eight_digits(n - 100000000 * high);
    to[0] = static_cast<char>('0' + first);
    std::memcpy(to + 1, &middle, 8);
    std::memcpy(to + 9, &last, 8);
}

int count_digits(std::uint64_t n) {
    static constexpr auto tens = [] {
        std::array<std::uint64_t, 20> all{};
        std::uint64_t ten = 1;
        for (auto& each : all) each = std::exchange(ten, ten * 10);
        return all;
    }();
    const auto guess = static_cast<std::size_t>((std::bit_width(n) * 1233) >> 12);
    return static_cast<int>(guess) + (n >= tens[guess] ? 1 : 0);
}

void drop_zeros(decimal& d) {
    if (d.digits % 10 != 0) return;
    if (d.digits % 100000000 == 0) d.digits /= 100000000, d.power += 8;
    if (d.digits % 10000 == 0) d.digits /= 10000, d.power += 4;
    while (d.digits % 10 == 0) d.digits /= 10, ++d.power;
}

char* write_power(char* to, int power) {
    *to++ = 'e';
    *to++ = power < 0 ? '-' : '+';
    const auto size = static_cast<std::uint32_t>(std::abs(power));
    if (size >= 100) *to++ = static_cast<char>('0' + size / 100);
    *to++ = static_cast<char>('0' + size / 10 % 10);
    *to++ = static_cast<char>('0' + size % 10);
    return to;
}

}  // namespace

char* write_decimal(char* to, double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
    // Zero, what is not finite, and whole numbers whose shortest decimals are not their own.
    constexpr int beyond_exact = 1075;
    if (exponent >= beyond_exact || (exponent == 0 && fraction == 0))
        return std::to_chars(to, to + decimal_room, value).ptr;
    *to = '-';
    to += bits >> 63;
    decimal d = shortest(fraction, exponent);
    drop_zeros(d);
    const int length = count_digits(d.digits);
    // Copies of fixed length, beyond what counts, cost less than those that fit.
    char text[17 + 17];
    write_seventeen(text, d.digits);
    const char* first = text + 17 - length;
    // The shorter way to write it, and with as many characters the one without a power.
    const int one = length == 1 ? 1 : 0;
    if (d.power < -(length + 3) + one || d.power > 5 - one) {
        to[0] = *first;
        to[1] = '.';
        std::memcpy(to + 2, first + 1, 16);
        return write_power(to + length + (1 - one), d.power + length - 1);
    }
    if (d.power >= 0) {
        std::memcpy(to, first, 17);
        std::memset(to + length, '0', 5);
        return to + length + d.power;
    }
    const int whole = length + d.power;
    if (whole > 0) {
        std::memcpy(to, first, 17);
        std::memcpy(to + whole + 1, first + whole, 17);
        to[whole] = '.';
        return to + length + 1;
    }
    std::memcpy(to, "0.00000", 8);
    std::memcpy(to + 2 - whole, first, 17);
    return to + 2 - whole + length;
}

}  // namespace mdpcosim
