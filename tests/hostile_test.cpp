// A sample of hostile inputs; hostile_long_test.cpp tries more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "hostile_inputs.hpp"

namespace mdpcosim {
namespace {

TEST(hostile_inputs, a_sample) {
    test::hostile_campaign all(1);
    all.run(99);
    std::cout << all.figures();
}

}  // namespace
}  // namespace mdpcosim
