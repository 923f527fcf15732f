#include <gtest/gtest.h>

#include "scenario/resolve.hpp"

namespace mdpcosim {
namespace {

const std::vector<parameter_info> infos{
    {"inertia", "kg.m2", "moment of inertia", 1, parameter_info::range::positive, false, false, {}, "J"}};

setting written(const std::string& name, const std::string& value) { return {name, {}, {{value, {}}}, false}; }

TEST(symbol, is_a_second_name) {
    const std::vector<setting> given{written("J", "4000 g.cm2")};
    const parameter_values values = resolve_parameters(infos, given, {}, "subsystem 'a'");
    EXPECT_DOUBLE_EQ(values["inertia"], 4e-4);
    EXPECT_TRUE(values.given("inertia"));
}

TEST(symbol, both_names_at_once_are_refused) {
    const std::vector<setting> given{written("J", "1"), written("inertia", "2")};
    try {
        resolve_parameters(infos, given, {}, "subsystem 'a'");
        FAIL();
    } catch (const user_error& problem) {
        EXPECT_STREQ(problem.what(),
                     "subsystem 'a': parameter 'inertia': it is given already; 'inertia' and 'J' are the same.");
    }
}

}  // namespace
}  // namespace mdpcosim
