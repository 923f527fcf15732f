// 1500 hostile inputs, or MDPCOSIM_HOSTILE_COUNT, from the seed MDPCOSIM_HOSTILE_SEED.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "hostile_inputs.hpp"

namespace mdpcosim {
namespace {

std::uint64_t given(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(hostile_inputs, all_of_them) {
    test::hostile_campaign all(given("MDPCOSIM_HOSTILE_SEED", 2));
    all.run(static_cast<int>(given("MDPCOSIM_HOSTILE_COUNT", 1500)));
    std::cout << all.figures();
}

}  // namespace
}  // namespace mdpcosim
