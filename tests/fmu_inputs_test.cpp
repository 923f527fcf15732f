// What reaches the inputs of FMUs: columns of files of every kind, tunable parameters, whole arrays; and what is refused on the way.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "assembly/fmu_scenario.hpp"
#include "scenario/read.hpp"
#include "simulation/check.hpp"
#include "simulation/simulation.hpp"
#include "support/row_list.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::mistake;
using testing::AllOf;
using testing::HasSubstr;

std::string fmu(const std::string& name) { return (fs::path(MDPCOSIM_BINARY_DIR) / "fmus" / (name + ".fmu")).string(); }

class fmu_inputs : public testing::Test {
   protected:
    /// `f` with the columns of `csv` to its inputs.
    scenario driven(const std::string& name, const std::string& csv, const std::string& more,
                    const std::vector<std::string>& columns) {
        test::write_file(folder_ / "in.csv", csv);
        std::string signals;
        for (const auto& c : columns) signals += fmt::format("  - '{}'\n", c);
        return read_scenario_text(
            fmt::format("time: {{end: 1 s, step: 0.1 s}}\nsubsystems:\n  in: {{file: {}}}\n  f: {{fmu: {}{}}}\n"
                        "signals:\n{}",
                        (folder_ / "in.csv").string(), fmu(name), more, signals),
            "s.yaml");
    }

    /// Why the FMU does not take the file, given as `--input`.
    std::string refusal(const std::string& name, const std::string& csv) {
        test::write_file(folder_ / "in.csv", csv);
        return mistake([&] { check(load_scenario(fmu(name), {}, folder_ / "in.csv")); });
    }

    static void step_to(simulation& s, double t) {
        while (s.time() < t - 1e-9) s.step();
    }

    test::temporary_folder folder_;
};

const std::string every_kind =
    "time,u,b,i,e,s,n,m\n"
    "0,0,false,-3,low,\"a, b\",-9223372036854775808,0\n"
    "0.5,1,true,7,high,\"say \"\"x\"\"\",9223372036854775807,18446744073709551615\n"
    "1,2,0,8,2,last,-1,3.0\n";

TEST_F(fmu_inputs, columns_of_every_kind_are_exact_and_held) {
    for (const char* interface : {"co-simulation", "model-exchange"}) {
        SCOPED_TRACE(interface);
        simulation s(driven("feedthrough-3", every_kind,
                            fmt::format(", interface: {}, exact: [int64_out, uint64_out]", interface),
                            {"in.u -> f.u", "in.b -> f.boolean_in", "in.i -> f.int32_in", "in.e -> f.enumeration_in",
                             "in.s -> f.string_in", "in.n -> f.int64_in", "in.m -> f.uint64_in"}));
        s.initialise();
        step_to(s, 0.4);
        EXPECT_NEAR(s.value("f.y"), 0.8, 1e-12);
        EXPECT_EQ(s.value("f.boolean_out"), 0);
        EXPECT_EQ(s.value("f.int32_out"), -3);
        EXPECT_EQ(s.value("f.enumeration_out"), 1);
        EXPECT_EQ(s.text("f.string_out"), "a, b");
        EXPECT_EQ(s.text("f.int64_out"), "-9223372036854775808");
        EXPECT_EQ(s.text("f.uint64_out"), "0");
        step_to(s, 0.6);
        EXPECT_EQ(s.value("f.boolean_out"), 1);
        EXPECT_EQ(s.value("f.int32_out"), 7);
        EXPECT_EQ(s.value("f.enumeration_out"), 3);
        EXPECT_EQ(s.text("f.string_out"), "say \"x\"");
        EXPECT_EQ(s.text("f.int64_out"), "9223372036854775807");
        EXPECT_EQ(s.text("f.uint64_out"), "18446744073709551615");
        step_to(s, 0.9);
        EXPECT_EQ(s.value("f.int32_out"), 7);
        EXPECT_EQ(s.text("f.int64_out"), "9223372036854775807");
    }
}

TEST_F(fmu_inputs, numbers_of_fmi_2_and_1_are_held_too) {
    for (const char* name : {"feedthrough-2", "feedthrough-1-cs"}) {
        SCOPED_TRACE(name);
        simulation s(
            driven(name, every_kind, "",
                   {"in.b -> f.boolean_in", "in.i -> f.int32_in", "in.e -> f.enumeration_in", "in.s -> f.string_in"}));
        s.initialise();
        step_to(s, 0.4);
        EXPECT_EQ(s.value("f.boolean_out"), 0);
        EXPECT_EQ(s.value("f.int32_out"), -3);
        step_to(s, 0.7);
        EXPECT_EQ(s.value("f.boolean_out"), 1);
        EXPECT_EQ(s.value("f.int32_out"), 7);
        EXPECT_EQ(s.value("f.enumeration_out"), 3);
        EXPECT_EQ(s.text("f.string_out"), "say \"x\"");
    }
}

TEST_F(fmu_inputs, a_resolved_scenario_has_the_same_inputs) {
    test::write_file(folder_ / "in.csv", "time,u,int64_in,boolean_in,string_in,else\n0,0,5,0,x,?\n1,2,6,1,y,?\n");
    simulation first(load_scenario(fmu("feedthrough-3"), {}, folder_ / "in.csv"));
    simulation again(read_scenario_text(write_scenario(first.resolved()), "r.yaml"));
    for (simulation* s : {&first, &again}) {
        s->initialise();
        step_to(*s, 1);
        EXPECT_NEAR(s->value("feedthrough.y"), 2, 1e-12);
        EXPECT_EQ(s->value("feedthrough.int64_out"), 5);
        EXPECT_EQ(s->value("feedthrough.boolean_out"), 1);
    }
}

TEST_F(fmu_inputs, values_that_do_not_fit_are_told_with_their_place) {
    const std::tuple<const char*, const char*, const char*> wrong[] = {
        {"boolean_in", "yes", "expected is true, false, 1 or 0"},
        {"boolean_in", "2", "expected is true, false, 1 or 0"},
        {"int32_in", "2.5", "expected is a whole number from -2147483648 to 2147483647 (int32)"},
        {"int8_in", "200", "expected is a whole number from -128 to 127 (int8)"},
        {"int64_in", "9223372036854775808",
         "expected is a whole number from -9223372036854775808 to 9223372036854775807 (int64)"},
        {"uint64_in", "-1", "expected is a whole number from 0 to 18446744073709551615 (uint64)"},
        {"enumeration_in", "hot", "expected is an item of the enumeration: low (1), middle (2), high (3)"},
        {"u", "x", "is not a finite number"}};
    for (const auto& [column, value, expected] : wrong)
        EXPECT_THAT(refusal("feedthrough-3", fmt::format("time,{}\n0,1\n0.5,{}\n", column, value)),
                    AllOf(HasSubstr(fmt::format("in.csv:3:5: subsystem 'input': column '{}' (column 2): '{}' is not",
                                                column, value)),
                          HasSubstr(expected)));
    EXPECT_THAT(refusal("feedthrough-3", "time,string_in\n0,\"a\n"),
                AllOf(HasSubstr("in.csv:2:1"), HasSubstr("the row has a quote without its end")));
    EXPECT_THAT(refusal("binary-3", "time,given\n0,1\n"), HasSubstr("no column is an input of the FMU"));
    EXPECT_THAT(mistake([&] {
                    check(driven("feedthrough-3", "time,a\n0,1\n", "", {"in.a -> f.boolean_in", "in.a -> f.int8_in"}));
                }),
                AllOf(HasSubstr("s.yaml:7:"), HasSubstr("column 'a' of 'in' would be [int8] here, but [boolean] for "
                                                        "'f.boolean_in'")));
}

TEST_F(fmu_inputs, kinds_are_told_by_hand_where_no_fmu_takes_the_column) {
    const auto with = [&](const std::string& kinds) {
        test::write_file(folder_ / "in.csv", "time,mode,gear\n0,auto,low\n0.5,\"by, hand\",high\n");
        return read_scenario_text(
            fmt::format("time: {{end: 1 s, step: 0.1 s}}\nsubsystems:\n  in: {{file: {}, kinds: {}}}\n",
                        (folder_ / "in.csv").string(), kinds),
            "s.yaml");
    };
    simulation s(with("{mode: string, gear: [enumeration, low=1, high=4]}"));
    s.initialise();
    EXPECT_EQ(s.text("in.mode"), "auto");
    EXPECT_EQ(s.value("in.gear"), 1);
    step_to(s, 0.5);
    EXPECT_EQ(s.text("in.mode"), "by, hand");
    EXPECT_EQ(s.value("in.gear"), 4);
    EXPECT_THAT(mistake([&] { check(with("{gear: [enumeration, low=1, high=4]}")); }),
                AllOf(HasSubstr("in.csv:2:3"), HasSubstr("'auto' is not a finite number"),
                      HasSubstr("'kinds: {mode: string}'")));
    EXPECT_THAT(mistake([&] { check(with("{mode: sting}")); }),
                AllOf(HasSubstr("s.yaml:3:"), HasSubstr("'sting' is no kind"), HasSubstr("Did you mean 'string'?")));
    EXPECT_THAT(mistake([&] { check(with("{mod: string}")); }), HasSubstr("Did you mean 'mode'?"));
    EXPECT_THAT(mistake([&] { check(with("{mode: enumeration}")); }), HasSubstr("needs its items"));
    EXPECT_THAT(mistake([&] { check(with("{mode: [string, big]}")); }), HasSubstr("'big' is not allowed behind"));
}

/// x' = u, y = x, each of three elements.
const std::string three =
    ", set: {n: 3, r: 3, A: [0, 0, 0, 0, 0, 0, 0, 0, 0], B: [1, 0, 0, 0, 1, 0, 0, 0, 1], C: [1, 0, 0, 0, 1, 0, 0, 0, "
    "1], x0: [0, 0, 0]}";
const std::string two = ", set: {n: 2, r: 2, A: [0, 0, 0, 0], B: [1, 0, 0, 1], C: [1, 0, 0, 1], x0: [0, 0]}";

TEST_F(fmu_inputs, a_column_holds_whole_arrays) {
    for (const char* interface : {"co-simulation", "model-exchange"}) {
        simulation s(driven("state-space-3", "time,u\n0,1 2  -3\n1,\"1 2 -3\"\n",
                            fmt::format(", interface: {}{}", interface, three), {"in.u -> f.u"}));
        s.initialise();
        step_to(s, 1);
        EXPECT_NEAR(s.value("f.y[0]"), 1, 1e-9);
        EXPECT_NEAR(s.value("f.y[1]"), 2, 1e-9);
        EXPECT_NEAR(s.value("f.y[2]"), -3, 1e-9);
    }
    EXPECT_THAT(
        mistake([&] { check(driven("state-space-3", "time,u\n0,1 2\n", three, {"in.u -> f.u"})); }),
        AllOf(HasSubstr("in.csv:2:3"), HasSubstr("column 'u' (column 2): '1 2' has 2 elements; expected are 3")));
    EXPECT_THAT(mistake([&] { check(driven("state-space-3", "time,u\n0,1 x 2\n", three, {"in.u -> f.u"})); }),
                HasSubstr("'1 x 2' is not a finite number"));
}

class whole_arrays : public fmu_inputs {
   protected:
    static scenario coupled(const std::string& a, const std::string& b, const std::string& signal) {
        return read_scenario_text(
            fmt::format("time: {{end: 1 s, step: 0.1 s}}\nsubsystems:\n  a: {{fmu: {0}{1}}}\n  b: {{fmu: {0}{2}}}\n"
                        "  c: {{ode: {{outputs: {{y: 1}}}}}}\n  d: {{model: lag-1}}\nsignals:\n  - {3}\n",
                        fmu("state-space-3"), a, b, signal),
            "s.yaml");
    }
};

TEST_F(whole_arrays, are_one_signal_where_shapes_are_equal) {
    std::string of_ones = three;
    of_ones.replace(of_ones.find("x0: [0, 0, 0]"), 13, "x0: [1, 2, 4]");
    simulation s(coupled(of_ones, three, "2*a.y -> b.u"));
    s.initialise();
    step_to(s, 1);
    EXPECT_NEAR(s.value("b.y[0]"), 2, 1e-9);
    EXPECT_NEAR(s.value("b.y[1]"), 4, 1e-9);
    EXPECT_NEAR(s.value("b.y[2]"), 8, 1e-9);
}

TEST_F(whole_arrays, of_other_shapes_are_refused_with_the_way_out) {
    EXPECT_THAT(
        mistake([&] { check(coupled(two, three, "a.y -> b.u")); }),
        AllOf(HasSubstr("s.yaml:8:"), HasSubstr("signal to 'b.u'"),
              HasSubstr("the input is an array [3], but 'a.y' is an array [2]"), HasSubstr("'a.y[0] -> b.u[0]'")));
    EXPECT_THAT(
        mistake([&] { check(coupled(two, three, "a.y[1] -> b.u")); }),
        AllOf(HasSubstr("the input is an array [3], but 'a.y[1]' is a single value"), HasSubstr("'a.y[1] -> b.u[0]'")));
    EXPECT_THAT(
        mistake([&] { check(coupled(two, three, "a.y -> b.u[2]")); }),
        AllOf(HasSubstr("the input is a single value, but 'a.y' is an array [2]"), HasSubstr("'a.y[0] -> b.u[2]'")));
    EXPECT_THAT(mistake([&] { check(coupled(two, three, "c.y -> b.u")); }),
                AllOf(HasSubstr("the input is an array [3]"), HasSubstr("'c.y -> b.u[0]'")));
    EXPECT_THAT(mistake([&] { check(coupled(two, three, "a.y -> d.u")); }), HasSubstr("'a.y' is an array [2]"));
}

TEST_F(whole_arrays, kinds_that_cannot_be_coupled_are_named) {
    const auto refused = [&](const std::string& signal) {
        return mistake([&] {
            check(read_scenario_text(fmt::format("time: {{end: 1 s, step: 0.1 s}}\nsubsystems:\n  a: {{fmu: {0}}}\n"
                                                 "  b: {{fmu: {0}}}\n  c: {{fmu: {1}}}\nsignals: ['{2}']\n",
                                                 fmu("feedthrough-3"), fmu("binary-3"), signal),
                                     "s.yaml"));
        });
    };
    EXPECT_THAT(refused("a.y -> b.string_in"), HasSubstr("'a.y' is a number, but the input takes a string"));
    EXPECT_THAT(refused("a.string_out -> b.u"), HasSubstr("'string_out' of subsystem 'a' is a string, but a number"));
    EXPECT_THAT(refused("a.string_out -> c.given"),
                HasSubstr("'a.string_out' is a string, but the input takes a binary"));
    EXPECT_EQ(refused("a.boolean_out -> b.boolean_in"), "no mistake");
}

class driven_parameters : public fmu_inputs, public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(driven_parameters, follow_a_column_and_a_signal) {
    const auto [version, interface] = GetParam();
    const std::string name = fmt::format("feedthrough-{}", version);
    const std::string more = fmt::format(", interface: {}, set: {{u: 3}}", interface);
    simulation by_file(driven(name, "time,k\n0,2\n0.5,4\n1,5\n", more, {"in.k -> f.gain"}));
    by_file.initialise();
    EXPECT_NEAR(by_file.value("f.y"), 6, 1e-12);
    step_to(by_file, 0.4);
    EXPECT_NEAR(by_file.value("f.y"), 6, 1e-12);
    step_to(by_file, 0.6);
    EXPECT_NEAR(by_file.value("f.y"), 12, 1e-12);

    simulation by_signal(read_scenario_text(
        fmt::format("time: {{end: 1 s, step: 0.1 s}}\nsubsystems:\n  r: {{ode: {{outputs: {{y: 1 + t}}}}}}\n"
                    "  f: {{fmu: {}{}}}\nsignals: [r.y -> f.gain]\n",
                    fmu(name), more),
        "s.yaml"));
    by_signal.initialise();
    step_to(by_signal, 0.5);
    EXPECT_NEAR(by_signal.value("f.y"), 4.5, 0.3 + 1e-9);  // held over a macro step
    EXPECT_GE(by_signal.value("f.y"), 4.2 - 1e-9);
}

INSTANTIATE_TEST_SUITE_P(all, driven_parameters,
                         testing::Values(std::pair("2", "co-simulation"), std::pair("2", "model-exchange"),
                                         std::pair("3", "co-simulation"), std::pair("3", "model-exchange")));

TEST_F(fmu_inputs, settings_of_64_bits_keep_every_digit) {
    const auto entry = [&](const std::string& more) {
        return read_scenario_text(fmt::format("time: {{end: 1 s, step: 0.1 s}}\nsubsystems:\n  f: {{fmu: {}{}}}\n",
                                              fmu("feedthrough-3"), more),
                                  "s.yaml");
    };
    for (const std::string digits : {"9223372036854775807", "-9007199254740993", "12"}) {
        simulation all(entry(", set: {int64_in: " + digits + "}, exact: [int64_in, int64_out]"));
        all.initialise();
        all.step();
        EXPECT_EQ(all.text("f.int64_out"), digits);
    }
    EXPECT_THAT(mistake([&] { check(entry(", set: {int64_in: 9223372036854775807}")); }),
                AllOf(HasSubstr("s.yaml:3:"), HasSubstr("'exact: [int64_in]'")));
    EXPECT_THAT(mistake([&] { check(entry(", set: {int64_in: 9223372036854775808}, exact: [int64_in]")); }),
                AllOf(HasSubstr("9223372036854775808"), HasSubstr("whole number")));
}

TEST_F(fmu_inputs, parameters_that_stay_are_refused_with_the_way_out) {
    EXPECT_THAT(
        mistake([&] { check(driven("oscillator-2", "time,m\n0,2\n", "", {"in.m -> f.m"})); }),
        AllOf(HasSubstr("s.yaml:6:"), HasSubstr("signal to 'f.m': it is a parameter that the FMU declares fixed"),
              HasSubstr("'set: {m: ...}'")));
    EXPECT_THAT(mistake([&] { check(driven("feedthrough-1-cs", "time,k\n0,2\n", "", {"in.k -> f.gain"})); }),
                AllOf(HasSubstr("parameter of an FMU of FMI 1.0"), HasSubstr("'set: {gain: ...}'")));
    EXPECT_THAT(refusal("oscillator-2", "time,m\n0,2\n"), HasSubstr("declares fixed"));
    EXPECT_THAT(mistake([&] { check(driven("feedthrough-2", "time,k\n0,2\n", ", driven: [gian]", {"in.k -> f.u"})); }),
                HasSubstr("Did you mean 'gain'?"));
    EXPECT_THAT(
        mistake([&] { check(driven("feedthrough-3", "time,k\n0,2\n", ", exact: [int32_in]", {"in.k -> f.u"})); }),
        AllOf(HasSubstr("'int32_in' is no 64-bit integer"), HasSubstr("int64_in")));
}

}  // namespace
}  // namespace mdpcosim
