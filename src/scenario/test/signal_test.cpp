#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/read.hpp"

namespace mdpcosim {
namespace {

using testing::HasSubstr;

signal_spec read(const std::string& signal) {
    return read_scenario_text(
               "let: {k: 3 kN/m, two: 2}\ntime: {end: 1, step: 1}\nsubsystems: {a: {model: m}}\nsignals:\n  - " +
                   signal + "\n",
               "f.yaml")
        .signals.at(0);
}

std::string refusal(const std::string& signal) {
    try {
        read(signal);
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

TEST(signal, one_output_to_one_input) {
    const signal_spec s = read("a.y -> b.u");
    ASSERT_EQ(s.terms.size(), 1U);
    EXPECT_EQ(s.terms[0].address.value, "a.y");
    EXPECT_EQ(s.terms[0].gain, 1);
    EXPECT_FALSE(s.terms[0].has_gain);
    EXPECT_EQ(s.target.value, "b.u");
    EXPECT_EQ(s.name, "b.u");
    EXPECT_EQ(to_string(s.where), "f.yaml:5:5");
}

TEST(signal, sums_with_gains_and_offsets) {
    const signal_spec s = read("2*a.y - b.y + 0.5*c.port.speed - 3 + 1 -> d.v[2]");
    ASSERT_EQ(s.terms.size(), 3U);
    EXPECT_EQ(s.terms[0].gain, 2);
    EXPECT_EQ(s.terms[1].gain, -1);
    EXPECT_EQ(s.terms[1].address.value, "b.y");
    EXPECT_EQ(s.terms[2].gain, 0.5);
    EXPECT_EQ(s.terms[2].address.value, "c.port.speed");
    EXPECT_EQ(s.offset, -2);
    EXPECT_EQ(s.offset_unit, "");
    EXPECT_EQ(s.target.value, "d.v[2]");
}

TEST(signal, gains_and_offsets_become_si) {
    const signal_spec s = read("2 kN/m*a.x - 5 kN -> b.F");
    EXPECT_EQ(s.terms[0].gain, 2000);
    EXPECT_EQ(s.terms[0].gain_unit, "N/m");
    EXPECT_EQ(s.offset, -5000);
    EXPECT_EQ(s.offset_unit, "N");
    EXPECT_EQ(read("180 deg*a.x -> b.u").terms[0].gain_unit, "rad");
}

TEST(signal, names_may_hold_a_dash) {
    const signal_spec s = read("lag-1.y - lag-2.y -> motor-a.torque-x");
    ASSERT_EQ(s.terms.size(), 2U);
    EXPECT_EQ(s.terms[0].address.value, "lag-1.y");
    EXPECT_EQ(s.terms[1].address.value, "lag-2.y");
    EXPECT_EQ(s.target.value, "motor-a.torque-x");
}

TEST(signal, the_first_term_may_be_negative) {
    EXPECT_EQ(read("-a.y -> b.u").terms[0].gain, -1);
    EXPECT_EQ(read("\"- a.y -> b.u\"").terms[0].gain, -1);
    EXPECT_EQ(read("-2*a.y -> b.u").terms[0].gain, -2);
    EXPECT_EQ(read("-4 -> b.u").offset, -4);
    EXPECT_EQ(read("a.y + -4 -> b.u").offset, -4);
}

TEST(signal, let_values_as_gain_and_offset) {
    const signal_spec s = read("$k*a.x - $two -> b.F");
    EXPECT_EQ(s.terms[0].gain, 3000);
    EXPECT_EQ(s.terms[0].gain_unit, "N/m");
    EXPECT_EQ(s.offset, -2);
}

TEST(signal, a_map_names_it_and_gives_its_extrapolation) {
    const signal_spec s = read("{connect: a.y -> b.u, name: demand, extrapolation: poly-3}");
    EXPECT_EQ(s.name, "demand");
    EXPECT_EQ(s.extrapolation.name.value, "poly-3");
}

TEST(signal, mistakes) {
    EXPECT_EQ(refusal("a.y"), "f.yaml:5:5: signal 'a.y': exactly one '->' is expected, as in 'a.y -> b.u'.");
    EXPECT_THAT(refusal("a.y -> b.u -> c.u"), HasSubstr("exactly one '->'"));
    EXPECT_THAT(refusal("\"-> b.u\""), HasSubstr("signal '-> b.u': a term is missing."));
    EXPECT_THAT(refusal("a.y ->"), HasSubstr("the target is missing"));
    EXPECT_THAT(refusal("a.y*2 -> b.u"),
                HasSubstr("'a.y' is not a number. A signal is a sum of terms like 'a.y', '2*a.y'"));
    EXPECT_THAT(refusal("a.y+b.y -> b.u"), HasSubstr("write blanks around '+' in 'a.y+b.y'"));
    EXPECT_THAT(refusal("3 Nn -> b.u"), HasSubstr("in '3 Nn' the unit 'Nn' is not known"));
    EXPECT_THAT(refusal("3 Nn*a.y -> b.u"), HasSubstr("in '3 Nn' the unit 'Nn' is not known"));
    EXPECT_THAT(refusal("3 N + 2 m -> b.u"), HasSubstr("numbers in 'N' and 'm' do not add"));
    EXPECT_THAT(refusal("a.T - 20 degC -> b.u"), HasSubstr("'20 degC' cannot stand in a sum"));
    EXPECT_THAT(refusal("$kk*a.x -> b.u"), HasSubstr("let value 'kk' does not exist. 'let' has: k, two."));
    EXPECT_THAT(
        refusal("[a.y, b.u]"),
        HasSubstr("f.yaml:5:5: signal: a number or text, or a map ('key: value' entries), is expected, not a list."));
    EXPECT_THAT(refusal("{conect: a.y -> b.u}"),
                HasSubstr("f.yaml:5:6: signal: key 'conect' is not known. Did you mean 'connect'?"));
    EXPECT_THAT(refusal("{connect: a.y -> b.u, name: a.b}"), HasSubstr("signal 'a.b': a name holds letters"));
}

}  // namespace
}  // namespace mdpcosim
