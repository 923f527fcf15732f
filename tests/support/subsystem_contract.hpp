#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "subsystem/subsystem.hpp"

/// The contract of subsystem.hpp as tests (subsystem_contract.cpp). An implementation instantiates them in its own
/// file:
///     INSTANTIATE_TEST_SUITE_P(fmu, subsystem_contract, testing::Values(subsystem_case{"bouncing_ball", make}),
///     case_name);
namespace mdpcosim::test {

struct subsystem_case {
    std::string name;
    std::function<std::unique_ptr<subsystem>()> make;
    double H = 0.02;                 ///< macro step, s
    double tolerance = 1e-5;         ///< between runs that should agree but for the solver's error, relative to 1 + |y|
    double input_scale = 1;          ///< size of the inputs the tests apply
    bool counts_allocations = true;  ///< false where advance() reaches code of others that allocates
};

inline void PrintTo(const subsystem_case& c, std::ostream* out) { *out << c.name; }

class subsystem_contract : public testing::TestWithParam<subsystem_case> {};

inline std::string case_name(const testing::TestParamInfo<subsystem_case>& info) { return info.param.name; }

}  // namespace mdpcosim::test
