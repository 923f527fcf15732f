// Strings, bytes, integers and booleans between FMUs, plugins and programs, from outside, on all transports; what is saved and replayed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "scenario/read.hpp"
#include "simulation/check.hpp"
#include "simulation/simulation.hpp"
#include "subsystem/factory.hpp"
#include "support/row_list.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::mistake;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const fs::path built = fs::path(MDPCOSIM_BINARY_DIR);
const std::vector<transport_kind> transports{transport_kind::threads, transport_kind::processes, transport_kind::tcp};

std::string fmu(const std::string& name) { return "fmu: " + (built / "fmus" / (name + ".fmu")).string(); }
std::string plugin(const std::string& name) {
    return "plugin: " + (built / "tests" / "plugins" / (name + ".so")).string();
}
std::string program(const std::string& arguments) {
    return "program: " + (built / "tests" / "programs" / "texts").string() + arguments;
}

scenario coupled(const std::string& a, const std::string& b, const std::string& signals) {
    return read_scenario_text(
        "time: {end: 1 s, step: 0.1 s}\nsubsystems:\n  a: {" + a + "}\n  b: {" + b + "}\nsignals: [" + signals + "]\n",
        "s.yaml");
}

/// The string input of `a` after each of four macro steps has passed through `a` to `b`.
TEST(text_signals, pass_from_fmu_to_fmu) {
    for (const std::string version : {"2", "3"})
        for (const std::string interface : {"co-simulation", "model-exchange"})
            for (const transport_kind kind : transports) {
                SCOPED_TRACE(version + " " + interface + " " + std::to_string(static_cast<int>(kind)));
                const std::string entry = fmu("feedthrough-" + version) + ", interface: " + interface;
                simulation s(coupled(entry, entry, "a.string_out -> b.string_in, a.int32_out -> b.int32_in"),
                             {.transport = kind});
                s.initialise();
                EXPECT_EQ(s.text("a.string_out"), "text");
                EXPECT_EQ(s.text("b.string_in"), "text");
                s.set_text("a.string_in", "grüne Äpfel");
                s.set("a.int32_in", 7);
                s.step();
                EXPECT_EQ(s.text("a.string_out"), "grüne Äpfel");
                EXPECT_EQ(s.text("b.string_in"), "text");
                s.step();
                EXPECT_EQ(s.text("b.string_in"), "grüne Äpfel");
                EXPECT_EQ(s.text("b.string_out"), "grüne Äpfel");
                EXPECT_EQ(s.value("b.int32_out"), 7);
            }
}

TEST(text_signals, bytes_pass_with_their_zeros) {
    const std::string bytes("\0\xff\0z", 4);
    for (const transport_kind kind : transports) {
        simulation s(coupled(fmu("binary-3"), plugin("texts"), "'a.told -> b.data[1]', 'a.copy -> b.data[0]'"),
                     {.transport = kind});
        s.set_text("a.given", bytes);
        s.initialise();
        s.step();
        s.step();
        EXPECT_EQ(s.text("b.back"), std::string("z\0\xff\0\x10\xff\0", 7));
    }
}

/// A text that needs many frames, and one that becomes short again.
TEST(text_signals, have_any_length) {
    const std::string is_long(100'000, 'x');
    for (const std::string& entry : {plugin("texts"), program(""), program(" loop")})
        for (const transport_kind kind : transports) {
            SCOPED_TRACE(entry + " " + std::to_string(static_cast<int>(kind)));
            simulation s(coupled(fmu("feedthrough-3"), entry, "a.int32_out -> b.n"), {.transport = kind});
            s.initialise();
            EXPECT_EQ(s.text("b.echo"), "#0");
            s.set_text("b.note", is_long);
            s.set("a.int32_in", -4);
            s.step();
            EXPECT_EQ(s.text("b.echo"), is_long + "#1");
            s.set_text("b.note", "");
            s.step();
            s.step();
            EXPECT_EQ(s.text("b.echo"), "#3");
            EXPECT_EQ(s.value("b.twice"), -8);
        }
}

TEST(text_signals, python_programs_have_them) {
    if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "python3 is not installed";
    const std::string script = std::string(MDPCOSIM_SOURCE_DIR) + "/src/remote/test/programs/texts.py";
    simulation s(coupled("program: python3 " + script, plugin("texts"), "a.echo -> b.note, a.twice -> b.n"));
    s.set_text("a.note", "süß");
    s.set_text("a.data", std::string("\0\x01\xfe", 3));
    s.set("a.n", 21);
    s.initialise();
    s.step();
    s.step();
    EXPECT_EQ(s.text("a.back"), std::string("\xfe\x01\0", 3));
    EXPECT_EQ(s.text("b.echo"), "süß#1#2");
    EXPECT_EQ(s.value("b.twice"), 84);
}

TEST(text_signals, integers_and_booleans_of_plugins_are_held) {
    simulation s(coupled(fmu("feedthrough-2"), plugin("texts"), "a.int32_out -> b.n, a.boolean_out -> b.flag"));
    s.initialise();
    s.set("a.int32_in", 12);
    s.set("a.boolean_in", 1);
    for (int n = 0; n < 4; ++n) s.step();  // the plugin fails where they are not constant
    EXPECT_EQ(s.value("b.twice"), 24);
    EXPECT_EQ(s.value("b.opposite"), 0);
}

/// Equations that are made again for another parameter keep their texts.
TEST(text_signals, reach_equations_and_stay_when_a_parameter_changes) {
    for (const transport_kind kind : transports) {
        simulation s(coupled(fmu("feedthrough-3"), plugin("text_equations"), "a.string_out -> b.note"),
                     {.transport = kind});
        s.initialise();  // "text"
        s.step();
        EXPECT_NEAR(s.value("b.x"), 0.4, 1e-12);
        s.set("b.k", 10);
        s.step();
        EXPECT_NEAR(s.value("b.x"), 4.4, 1e-12);
        s.set_text("a.string_in", "twelve chars");
        s.step();
        s.step();
        EXPECT_NEAR(s.value("b.x"), 4.4 + 4 + 12, 1e-12);
    }
}

TEST(text_signals, are_saved_with_what_was_given) {
    const scenario s = coupled(fmu("feedthrough-2"), plugin("texts"), "a.string_out -> b.note, a.int32_out -> b.n");
    for (const transport_kind kind : transports) {
        simulation one(s), other(s, {.transport = kind});
        one.initialise();
        one.set_text("a.string_in", "first");
        one.set_text("b.data[0]", "abc");
        one.step();
        one.step();
        one.set_text("a.string_in", "second");  // not yet seen
        std::stringstream file;
        one.save(file);
        other.load(file);
        for (simulation* each : {&one, &other}) {
            EXPECT_EQ(each->text("b.echo"), "first#2");
            EXPECT_EQ(each->text("b.back"), "cba");
            each->step();
            EXPECT_EQ(each->text("a.string_out"), "second");
            each->step();
            EXPECT_EQ(each->text("b.echo"), "second#4");
        }
    }
}

/// A program sets its texts in outputs(): they belong to its saved state.
TEST(text_signals, of_programs_are_saved_too) {
    const scenario s = coupled(program(""), plugin("text_equations"), "a.echo -> b.note");
    for (const transport_kind kind : transports) {
        simulation one(s), other(s, {.transport = kind});
        one.set_text("a.note", "long note");
        one.initialise();
        EXPECT_EQ(one.text("b.note"), "#0") << "what is said at the start is heard at the start";
        for (int n = 0; n < 5; ++n) one.step();
        std::stringstream file;
        one.save(file);
        other.load(file);
        for (simulation* each : {&one, &other}) {
            EXPECT_EQ(each->text("a.echo"), "long note#5");
            for (int n = 0; n < 3; ++n) each->step();
            EXPECT_NEAR(each->value("b.x"), 0.8 * 11, 1e-9);
        }
    }
}

/// A step that is rejected has said nothing.
TEST(text_signals, of_rejected_steps_are_forgotten) {
    const std::string text = R"(time: {end: 2 s, step: 0.5 s}
subsystems:
  a: {)" + program("") + R"(}
  b: {)" + plugin("text_equations") +
                             R"(}
  c: {ode: {states: {x: 1, v: 0}, inputs: {F: 0}, equations: {x: v, v: -400*x + F}}}
  d: {ode: {states: {x: 0, v: 0}, inputs: {F: 0}, equations: {x: v, v: -900*x + F}}}
signals: [a.echo -> b.note, 100*d.x -> c.F, 100*c.x -> d.F]
step-control: {rtol: 1e-4}
)";
    simulation s(read_scenario_text(text, "s.yaml"));
    s.initialise();
    std::int64_t steps = 0;
    while (!s.done()) {
        s.step();
        ASSERT_EQ(s.text("a.echo"), "#" + std::to_string(++steps));
    }
    EXPECT_GT(s.finish().control->rejected, 0);
}

TEST(text_signals, set_here_but_not_in_the_saved_state_are_refused) {
    const scenario s = coupled(fmu("feedthrough-2"), plugin("texts"), "a.string_out -> b.note");
    simulation one(s);
    one.initialise();
    one.step();
    std::stringstream file;
    one.save(file);
    one.set_text("b.data[0]", "abcd");
    one.step();
    EXPECT_THAT(mistake([&] { one.load(file); }), HasSubstr("the text of 'b.data[0]' was set here, but not in"));
    one.step();  // nothing has changed
    EXPECT_EQ(one.text("b.back"), "dcba");
}

TEST(text_signals, begin_anew_with_a_reset) {
    simulation s(coupled(fmu("feedthrough-2"), plugin("texts"), "a.string_out -> b.note"));
    s.initialise();
    s.set_text("a.string_in", "kept");
    for (int n = 0; n < 3; ++n) s.step();
    EXPECT_EQ(s.text("b.echo"), "kept#3");
    s.reset();
    s.initialise();
    s.step();
    s.step();
    EXPECT_EQ(s.text("b.echo"), "kept#2");  // what was set stays
}

/// Equations forget what a signal gave them.
TEST(text_signals, equations_begin_anew_without_texts) {
    subsystem_spec entry =
        coupled(fmu("feedthrough-2"), plugin("text_equations"), "a.string_out -> b.note").subsystems[1];
    entry.tunable = true;
    const auto alone = make_subsystem(entry);
    std::string text;
    alone->initialise(0);
    alone->set_text(0, "abc");
    alone->get_text(0, text);
    EXPECT_EQ(text, "abc#0");
    alone->reset();
    alone->initialise(0);
    alone->get_text(0, text);
    EXPECT_EQ(text, "#0");
}

TEST(text_signals, observers_hear_of_them_and_can_replay) {
    struct listener final : observer {
        bool wants_inputs() const override { return true; }
        void written(const simulation&, const value_written& w) override { heard.push_back(w.address + "=" + *w.text); }
        void started(const simulation& of) override { note(of, -1); }
        void committed(const simulation& of, const macro_step& step) override {
            note(of, static_cast<int>(step.counter));
        }
        void note(const simulation& of, int step) {
            for (const auto& t : of.inputs().texts())
                given.push_back(std::to_string(step) + ": " + std::to_string(t.subsystem.value()) + "." +
                                std::to_string(t.input) + "=" + t.text);
        }
        std::vector<std::string> heard, given;
    } ears;
    simulation s(coupled(fmu("feedthrough-2"), plugin("texts"), "a.string_out -> b.note"));
    s.add(ears);
    s.initialise();
    s.step();
    s.set_text("a.string_in", "new");
    for (int n = 0; n < 3; ++n) s.step();
    EXPECT_THAT(ears.heard, ElementsAre("a.string_in=new"));
    EXPECT_THAT(ears.given, ElementsAre("-1: 1.0=text", "1: 0.0=new", "2: 1.0=new"));
}

TEST(text_signals, are_shown_by_check) {
    EXPECT_THAT(check(coupled(fmu("feedthrough-2"), plugin("texts"), "a.string_out -> b.note")),
                AllOf(HasSubstr("string_out (string)"), HasSubstr("data[1] (binary)"),
                      HasSubstr("a.string_out -> b.note (string, given at macro points)")));
}

TEST(text_signals, mistakes_are_named) {
    const auto refused = [](const std::string& signals) {
        return mistake([&] { simulation(coupled(fmu("feedthrough-2"), plugin("texts"), signals)); });
    };
    EXPECT_THAT(
        refused("a.y -> b.note"),
        HasSubstr("'a.y' is a number, but the input takes a string. Of that kind subsystem 'a' has: string_out"));
    EXPECT_THAT(refused("a.string_out -> b.n"),
                HasSubstr("'string_out' of subsystem 'a' is a string, but a number is needed here"));
    EXPECT_THAT(refused("'a.string_out -> b.data[0]'"),
                HasSubstr("'a.string_out' is a string, but the input takes a binary"));
    EXPECT_THAT(refused("2*a.string_out -> b.note"), HasSubstr("write one output alone: 'a.text -> b.note'"));
    EXPECT_THAT(refused("a.string_out + a.string_out -> b.note"), HasSubstr("write one output alone"));
    EXPECT_THAT(refused("{connect: a.string_out -> b.note, extrapolation: poly-1}"), HasSubstr("not extrapolated"));
    EXPECT_THAT(refused("a.string_out -> b.note, a.string_out -> b.note"), HasSubstr("driven already"));
    EXPECT_THAT(mistake([&] {
                    scenario s = coupled(fmu("feedthrough-2"), plugin("texts"), "a.string_out -> b.note");
                    s.record.only = {{"a.string_out", {}}};
                    simulation of(s);
                }),
                HasSubstr("'a.string_out' is a string or binary; results have columns of numbers only"));
    EXPECT_THAT(refused("a.string_out -> b.nothing"), HasSubstr("variable 'b.nothing' does not exist"));

    const scenario s = coupled(fmu("feedthrough-2"), plugin("texts"), "a.string_out -> b.note");
    simulation one(s);
    EXPECT_THAT(mistake([&] { one.set_text("b.note", "x"); }), HasSubstr("is driven by the scenario"));
    EXPECT_THAT(mistake([&] { one.set_text("b.n", "x"); }), HasSubstr("'b.n' is no input for strings or bytes"));
    EXPECT_THAT(mistake([&] { one.set_text("c.n", "x"); }), HasSubstr("subsystem 'c'"));
    EXPECT_THAT(mistake([&] { one.set_text("a.string_in", std::string("a\0b", 3)); }), HasSubstr("no zero bytes"));
    EXPECT_THAT(mistake([&] { one.text("b.echo"); }), HasSubstr("no text before initialise()"));
    one.initialise();
    EXPECT_THAT(mistake([&] { one.text("b.data[0]"); }), HasSubstr("has been given no text yet"));
    EXPECT_THAT(mistake([&] { one.value("b.echo"); }), HasSubstr("is a string, but a number is needed"));
    EXPECT_THAT(mistake([&] {
                    simulation(coupled(fmu("feedthrough-2") + ", interface: model-exchange", plugin("text_equations"),
                                       "a.string_out -> b.note"),
                               {.monolithic = true});
                }),
                HasSubstr("passes no texts on"));
}

/// A subsystem that refuses a text fails, by its name.
TEST(text_signals, a_refused_text_ends_the_run) {
    for (const transport_kind kind : transports) {
        simulation s(coupled(fmu("feedthrough-2"), plugin("texts"), "a.string_out -> b.note"), {.transport = kind});
        s.initialise();
        s.set_text("a.string_in", "refuse");
        s.step();
        try {
            s.step();
            FAIL() << "no failure";
        } catch (const run_error& problem) {
            EXPECT_THAT(problem.what(), AllOf(HasSubstr("'b'"), HasSubstr("set_text"), HasSubstr("0.1 s")));
        }
    }
}

}  // namespace
}  // namespace mdpcosim
