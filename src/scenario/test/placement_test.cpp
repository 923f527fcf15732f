#include <gmock/gmock.h>

#include "scenario/read.hpp"

namespace mdpcosim {
namespace {

using testing::HasSubstr;

scenario with(const std::string& placement) {
    return read_scenario_text(
        "time: {end: 1 s, step: 1 ms}\nsubsystems:\n  a: {model: m}\n  b: {model: m}\n  c: {model: m}\n" + placement,
        "s.yaml", ".");
}

std::string mistake(const std::string& placement) {
    try {
        with(placement);
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "none";
}

TEST(placement, is_read_and_written) {
    const std::string text = "placement:\n  groups: [[a, c], [b]]\n  cores: {a: 1, master: 0}\n";
    const scenario s = with(text);
    ASSERT_EQ(s.placement.groups.size(), 2u);
    EXPECT_EQ(s.placement.groups[0][1].value, "c");
    ASSERT_EQ(s.placement.cores.size(), 2u);
    EXPECT_EQ(s.placement.cores[1].name, "master");
    EXPECT_THAT(write_scenario(s), HasSubstr(text));
}

TEST(placement, mistakes_are_told_with_their_place) {
    EXPECT_THAT(mistake("placement: {groups: [[a, d]]}"), testing::AllOf(HasSubstr("s.yaml:6"), HasSubstr("'d'")));
    EXPECT_THAT(mistake("placement: {groups: [[a], [a]]}"), HasSubstr("named twice"));
    EXPECT_THAT(mistake("placement: {groups: [a, b]}"), HasSubstr("a group is a list"));
    EXPECT_THAT(mistake("placement: {cores: {a: -1}}"), HasSubstr("number of one processing unit"));
    EXPECT_THAT(mistake("placement: {cores: {a: [0, 1]}}"), HasSubstr("number of one processing unit"));
    EXPECT_THAT(mistake("placement: {cores: {mster: 0}}"), HasSubstr("master"));
    EXPECT_THAT(mistake("placement: {core: {a: 0}}"), HasSubstr("cores"));
}

}  // namespace
}  // namespace mdpcosim
