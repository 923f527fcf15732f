#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "core/units.hpp"
#include "support/fuzz.hpp"

namespace mdpcosim {
namespace {

/// What is taken has a coherent SI unit, to which it converts by finite numbers.
std::string try_unit(const std::string& unit) {
    try {
        const std::string si = si_unit(unit);
        const conversion to_si = find_conversion(unit, si);
        EXPECT_TRUE(std::isfinite(to_si.factor) && std::isfinite(to_si.offset)) << unit;
        EXPECT_EQ(si_unit(si), si);
        return "taken";
    } catch (const unit_error& problem) {
        return problem.message();
    }
}

TEST(fuzz, units) {
    test::fuzzer fuzz(
        "units",
        {"m", "kN.m/rad", "m3/s", "W/(m2.K)", "degC", "rpm", "1/min", "kg.m2.s-2", "N*m", "Hz", "dB", "1e3 m", "mm2"},
        {".", "/", "*",     "-1",          "^",     "2", "(",        ")",    "k", "m", "s",         "rad", "deg",
         " ", "@", "since", "lg(re 1 mW)", "1e308", "e", "\xc2\xb5", "\xff", "%", "-", "999999999", "'",   "\""});
    const long count = fuzz.run(try_unit);
    std::cout << count << " units, " << fuzz.outcomes() << " kinds of outcome\n";
    EXPECT_GT(count, 1000);
    EXPECT_GT(fuzz.outcomes(), 3u);
}

}  // namespace
}  // namespace mdpcosim
