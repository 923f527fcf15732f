// `system:` of a subsystem: several subsystems that one solver integrates.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bad_input.hpp"
#include "monolithic_fixture.hpp"

namespace mdpcosim {
namespace {

run_summary run_on(const char* transport, const scenario& s, const std::filesystem::path& out) {
    return run(s, {.out = out, .transport = transport});
}

class systems : public test::monolithic {
   protected:
    std::filesystem::path write(const char* name, const std::string& text) const {
        std::ofstream(folder / name) << text;
        return folder / name;
    }
};

constexpr const char* pair = R"(mdpcosim: 1
let: {c: 4e4 N/m}
time: {end: 20 ms, step: 0.1 ms}
subsystems:
  b: {model: mass-spring-damper, set: {mass: 2 kg, stiffness: 0 N/m, damping: 0.5 N.s/m}}
  c: {model: mass-spring-damper, set: {mass: 3 kg, stiffness: 1e4 N/m, damping: 0 N.s/m, x0: 1 mm}}
  gain: {model: blocks, parts: {x: {kind: input}, twice: {kind: function, of: 2*x}}}
connections:
  inner: {law: spring, between: [b.mass, c.mass], stiffness: $c}
signals:
  - 1*c.mass.position -> gain.x
)";

constexpr const char* apart = R"(mdpcosim: 1
time: {end: 20 ms, step: 0.1 ms}
subsystems:
  a: {model: mass-spring-damper, set: {mass: 1 kg, stiffness: 1e4 N/m, damping: 0 N.s/m, x0: -2 mm}}
  b: {model: mass-spring-damper, set: {mass: 2 kg, stiffness: 0 N/m, damping: 0.5 N.s/m}}
  c: {model: mass-spring-damper, set: {mass: 3 kg, stiffness: 1e4 N/m, damping: 0 N.s/m, x0: 1 mm}}
connections:
  outer: {law: spring, between: [a.mass, b.mass], stiffness: 2e4 N/m}
  inner: {law: spring, between: [b.mass, c.mass], stiffness: 6e4 N/m}
record: {every: 0.1 ms}
)";

constexpr const char* joined = R"(mdpcosim: 1
time: {end: 20 ms, step: 0.1 ms}
subsystems:
  a: {model: mass-spring-damper, set: {mass: 1 kg, stiffness: 1e4 N/m, damping: 0 N.s/m, x0: -2 mm}}
  rest: {system: pair.yaml, set: {c: 6e4 N/m}, solver: {name: erk-8, rtol: 1e-11, atol: 1e-15}}
connections:
  outer: {law: spring, between: [a.mass, rest.b.mass], stiffness: 2e4 N/m}
record: {every: 0.1 ms}
)";

// As one system, a system within it changes nothing; coupled, it is one subsystem of the same system, with its coupling variables as outputs.
TEST_F(systems, are_their_subsystems_as_one) {
    write("pair.yaml", pair);
    const result_table exact = run("exact", write("apart.yaml", apart), true),
                       same = run("same", write("joined.yaml", joined), true),
                       coupled = run("coupled", folder / "joined.yaml", false),
                       finer = run("finer", folder / "joined.yaml", false, {{"time.step", "0.05 ms"}});
    for (const auto& [mine, name] :
         {std::pair("rest.b.mass.position", "b.mass.position"), std::pair("rest.c.mass.velocity", "c.mass.velocity"),
          std::pair("rest.inner.u", "inner.u"), std::pair("outer.u", "outer.u")}) {
        EXPECT_LT(test::shown(mine, test::difference(same, mine, exact, name)), 1e-9);
        const double error = test::shown(mine, test::difference(coupled, mine, exact, name)),
                     half = test::shown(mine, test::difference(finer, mine, exact, name));
        EXPECT_LT(error, 1e-4);
        EXPECT_GT(error, 4 * half);  // of an order of at least two
    }
    // Feed-through within the system: its gain follows its own mass.
    const std::size_t x = test::column(coupled, "rest.c.mass.position"), y = test::column(coupled, "rest.gain.twice");
    for (std::size_t row = 0; row < coupled.rows(); ++row)
        EXPECT_DOUBLE_EQ(coupled.value(row, y), 2 * coupled.value(row, x));
}

TEST_F(systems, give_the_same_bits_everywhere) {
    write("pair.yaml", pair);
    const scenario s = read_scenario(write("joined.yaml", joined));
    for (const char* transport : {"threads", "processes"})
        ASSERT_EQ(run_on(transport, s, folder / transport).status, "done");
    EXPECT_TRUE(test::content(folder / "threads/results.csv") == test::content(folder / "processes/results.csv"));
    // A method that takes steps back, and a scenario as a run leaves it.
    const result_table twice = run("twice", folder / "joined.yaml", false, {{"method", "semi-implicit"}}),
                       exact = run("exact", folder / "joined.yaml", true);
    EXPECT_LT(test::difference(twice, "outer.u", exact, "outer.u"), 1e-3);
    run("again", folder / "threads/scenario.yaml", false);
    EXPECT_TRUE(test::content(folder / "threads/results.csv") == test::content(folder / "again/results.csv"));
}

// A tensioner's piston within a system stands still under a force from outside.
TEST_F(systems, begin_at_rest_under_their_first_inputs) {
    write("oil.yaml", R"(mdpcosim: 1
time: {end: 1 ms, step: 10 us}
subsystems:
  feed:
    model: hydraulics
    parts: {tank: {kind: tank, pressure: 5 bar}, out: {kind: port, pressure: 2 bar}, way: {kind: line, from: tank, to: out, linear-loss: 1e9 Pa.s/m3}}
  jack:
    model: hydraulics
    parts: {in: {kind: port}, way: {kind: line, from: in, to: chamber, linear-loss: 1e9 Pa.s/m3}, chamber: {kind: node, volume: 5 cm3}, piston: {kind: piston, head: chamber, mass: 1 kg, head-area: 10 cm2, stiffness: 1e5 N/m}}
connections:
  pipe: {law: node, between: [feed.out, jack.in], volume: 2 cm3, modulus: 1.4 GPa, pressure: 2 bar}
)");
    const result_table r = run_text("rest",
                                    R"(mdpcosim: 1
time: {end: 5 ms, step: 10 us}
subsystems:
  oil: {system: )" + (folder / "oil.yaml").string() +
                                        R"(, initial: equilibrium, solver: dirk-4}
signals:
  - -100 N -> oil.jack.piston.force
)",
                                    false);
    const std::size_t x = test::column(r, "oil.jack.piston.position"), p = test::column(r, "oil.pipe.u");
    for (std::size_t row = 0; row < r.rows(); ++row) {
        EXPECT_NEAR(r.value(row, x), (4e5 * 1e-3 - 100) / 1e5, 1e-7);
        EXPECT_NEAR(r.value(row, p), 5e5, 10);
    }
}

TEST_F(systems, take_no_foreign_code_no_samples_and_no_systems) {
    const auto refused = [&](const std::string& entry) {
        const std::filesystem::path inner =
            write("inner.yaml", "time: {end: 1 s, step: 1 ms}\nsubsystems:\n  x: " + entry + "\n");
        return message_of("time: {end: 1 s, step: 1 ms}\nsubsystems:\n  a: {system: inner.yaml}\n", folder.path());
    };
    expect_message(refused("{fmu: y.fmu}"), (folder / "inner.yaml").string() + ":3:3: ",
                   {"subsystem 'x', part of the system 'a'", "Take it out of the system."});
    expect_message(refused("{model: pid-sampled, sample: 1 ms}"),
                   (folder / "inner.yaml").string() + ":3:3: ", {"sampled models work at macro points"});
    expect_message(refused("{system: inner.yaml}"),
                   (folder / "inner.yaml").string() + ":3:3: ", {"a system has no systems in it"});
    write("inner.yaml", pair);
    expect_message(message_of("time: {end: 1 s, step: 1 ms}\nsubsystems:\n  a: {system: inner.yaml, set: {d: 1}}\n",
                              folder.path()),
                   "", {"subsystem 'a': set: d"});
}

}  // namespace
}  // namespace mdpcosim
