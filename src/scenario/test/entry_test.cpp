// An entry that another process reads is the one that was written: names, texts, paths, places, and numbers to the last bit.
#include <gmock/gmock.h>

#include <bit>
#include <filesystem>

#include "scenario/entry_text.hpp"
#include "scenario/read.hpp"

namespace mdpcosim {
namespace {

scenario entries() {
    return read_scenario_text(R"y(
let: {c: 1.1 kN/m, third: 0.3333333333333333, word: rk4, way: "a b"}
time: {end: 2 s, step: 20 us}
subsystems:
  chain:
    model: chain
    set: {n: 3, x0: [1 mm, -2e-3, "0.1 m"], left: fixed, one: [7]}
    solver: {name: $word, step: 1 us}
    input-degree: 2
    inertia: {left+right: 3 kg}
    replicas: 2
    step: 0.1 ms
  "null":
    ode:
      parameters: {L: 1 m}
      states: {phi: 60 deg, w: 0}
      algebraic: {z: 1}
      inputs: {T: 0 N.m}
      equations: {phi: w, w: "-$c/L*sin(phi) + T - $third", z: "$c-z"}
      outputs: {x: L*sin(phi), E: {value: w^2, unit: 1/s2}}
      events: [{when: phi - 1, set: {w: -w, phi: "if(w > 0, 1, -1)"}}, {when: w, direction: falling, set: {w: 0}}]
    ports: {shaft: {kind: rotation, causality: takes-load, angle: phi, torque: T}}
    scene: [{rod: [[0, 0], [x, "2*x"]], size: [0.1]}]
  cycle: {file: "a #1: run.csv", units: {"demand: x": N.m, "*": m}, interpolation: hold, outside: repeat}
  fmu:
    fmu: "../FMUs/a'b \"c\".fmu"
    interface: model-exchange
    isolate: {limit: 0.1 s}
    tolerance: 1e-7
    outputs: [x, "der(x)"]
    log: [all]
    solver: erk-5
  plugin: {plugin: lib/oscillator.so, set: {m: 2 kg}, step: solver}
  program: {program: "./run --name 'a b'", folder: programs}
  sampled: {model: pid, sample: {time: 3 ms, offset: 1 ms, delay: 7 us}}
)y",
                              "folder with blanks/f.yaml", "folder with blanks");
}

TEST(entry_text, every_kind_reads_back_the_same) {
    for (const auto& spec : entries().subsystems) {
        const std::string written = write_entry(spec);
        EXPECT_EQ(write_entry(read_entry(written)), written) << spec.name;
    }
}

TEST(entry_text, all_examples_read_back_the_same) {
    int count = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(MDPCOSIM_SOURCE_DIR "/examples")) {
        if (file.path().extension() != ".yaml" || !exists(file.path().parent_path() / "README.md"))
            continue;  // included parts, results
        for (const auto& spec : read_scenario(file.path()).subsystems) {
            const std::string written = write_entry(spec);
            EXPECT_EQ(write_entry(read_entry(written)), written) << file.path() << ' ' << spec.name;
            ++count;
        }
    }
    EXPECT_GT(count, 50);
}

TEST(entry_text, names_texts_and_paths_stay_as_written) {
    const scenario s = entries();
    const subsystem_spec fmu = read_entry(write_entry(s.subsystems[3]));
    EXPECT_EQ(fmu.name, "fmu");
    EXPECT_EQ(fmu.source.value, "../FMUs/a'b \"c\".fmu");
    EXPECT_EQ(fmu.path, std::filesystem::absolute("folder with blanks/../FMUs/a'b \"c\".fmu"));
    EXPECT_TRUE(fmu.fmu.isolate);
    EXPECT_EQ(fmu.limit, 0.1);
    EXPECT_EQ(fmu.fmu.tolerance, 1e-7);
    EXPECT_EQ(read_entry(write_entry(s.subsystems[2])).file.path, "folder with blanks/a #1: run.csv");
    const subsystem_spec program = read_entry(write_entry(s.subsystems[5]));
    EXPECT_EQ(program.source.value, "./run --name 'a b'");
    EXPECT_EQ(program.program.command, (std::vector<std::string>{"./run", "--name", "a b"}));
    EXPECT_EQ(program.program.folder, "folder with blanks/programs");
}

TEST(entry_text, places_of_values_stay_for_messages) {
    const scenario s = entries();
    const subsystem_spec &before = s.subsystems[0], after = read_entry(write_entry(before));
    const auto same = [](const location& a, const location& b) { EXPECT_EQ(to_string(a), to_string(b)); };
    same(after.where, before.where);
    same(after.source.where, before.source.where);
    same(after.set[1].where, before.set[1].where);
    same(after.set[1].values[2].where, before.set[1].values[2].where);
    same(after.solver.name.where, before.solver.name.where);
    EXPECT_THAT(to_string(after.set[1].where), testing::StartsWith("folder with blanks/f.yaml:7:"));
}

/// Sample times on the macro grid are products, which no short decimals stand for.
TEST(entry_text, numbers_stay_to_the_last_bit) {
    subsystem_spec spec = entries().subsystems[6];
    const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
    for (const double H : {20e-6, 1.0 / 3, 0.1, 1e-7 / 7, 5e-324}) {
        spec.sample->time = 151 * H;
        spec.sample->offset = 3 * H;
        spec.sample->delay = 49 * H;
        spec.step.value = 7 * H;
        const subsystem_spec after = read_entry(write_entry(spec));
        EXPECT_EQ(bits(after.sample->time), bits(spec.sample->time));
        EXPECT_EQ(bits(after.sample->offset), bits(spec.sample->offset));
        EXPECT_EQ(bits(after.sample->delay), bits(spec.sample->delay));
        EXPECT_EQ(bits(*after.step.value), bits(*spec.step.value));
    }
    subsystem_spec ode = entries().subsystems[1];
    EXPECT_EQ(ode.ode.lets.size(), 2U);
    ode.ode.lets["c"] = 0.1 + 0.2;
    EXPECT_EQ(read_entry(write_entry(ode)).ode.lets, ode.ode.lets);
}

TEST(entry_text, any_bytes_may_be_in_a_path_or_a_name) {
    subsystem_spec spec = entries().subsystems[3];
    spec.name = "a name\nof two lines";
    spec.path =
        "/Gr\xf6\xdf"
        "e\n/x.fmu";
    spec.fmu.trace = "out \xff/fmi.log";
    const subsystem_spec after = read_entry(write_entry(spec));
    EXPECT_EQ(after.name, spec.name);
    EXPECT_EQ(after.path, spec.path);
    EXPECT_EQ(after.fmu.trace, spec.fmu.trace);
}

TEST(entry_text, what_was_cut_or_changed_is_refused) {
    const std::string whole = write_entry(entries().subsystems[0]);
    for (const std::size_t length : {std::size_t{0}, std::size_t{5}, whole.size() / 2, whole.size() - 1})
        EXPECT_THROW(read_entry(whole.substr(0, length)), run_error) << length;
    std::string changed = whole;
    changed.replace(changed.find("\nsource "), 8, "\nsauce2 ");
    EXPECT_THROW(read_entry(changed), run_error);
}

}  // namespace
}  // namespace mdpcosim
