// Typed tests of the test FMUs, for FMI 2.0 and 3.0: TYPED_TEST_SUITE(name, versions, version_names).
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "bare.hpp"

namespace mdpcosim::test {

using versions = testing::Types<bare_fmi2, bare_fmi3>;

struct version_names {
    template <class Fmu>
    static std::string GetName(int) {
        return "fmi" + std::to_string(Fmu::version);
    }
};

template <class Fmu>
void enter_continuous_time(Fmu& fmu) {
    while (fmu.update().again) {
    }
    expect_ok("EnterContinuousTimeMode", fmu.call.EnterContinuousTimeMode(fmu.instance));
}

}  // namespace mdpcosim::test
