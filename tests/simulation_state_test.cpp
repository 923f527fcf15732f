// What is saved, loaded, reset, written and replayed: always the same bits as without it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "scenario/read.hpp"
#include "simulation/row_recorder.hpp"
#include "simulation/simulation.hpp"
#include "support/row_list.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::mistake;
using test::row_list;
using testing::AllOf;
using testing::HasSubstr;

const fs::path examples = fs::path(MDPCOSIM_SOURCE_DIR) / "examples";

/// All outputs and coupling variables, as bits.
std::vector<double> values(const simulation& s) {
    std::vector<double> all(s.outputs().begin(), s.outputs().end());
    all.insert(all.end(), s.coupling_variables().begin(), s.coupling_variables().end());
    return all;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

/// Values after each of the next `count` steps.
std::vector<std::vector<double>> walk(simulation& s, int count) {
    std::vector<std::vector<double>> all;
    for (int n = 0; n < count && !s.done(); ++n) {
        s.step();
        all.push_back(values(s));
    }
    return all;
}

void expect_same(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b,
                 const std::string& what) {
    ASSERT_EQ(a.size(), b.size()) << what;
    for (std::size_t n = 0; n < a.size(); ++n) ASSERT_TRUE(same_bits(a[n], b[n])) << what << ", step " << n;
}

/// Every scenario of the examples that is quick to build.
std::vector<fs::path> all_examples() {
    std::vector<fs::path> found;
    for (const auto& folder : fs::directory_iterator(examples)) {
        if (!folder.is_directory()) continue;
        for (const auto& file : fs::directory_iterator(folder))
            if (file.path().extension() == ".yaml") found.push_back(file.path());
    }
    std::ranges::sort(found);
    return found;
}

bool has_programs(const scenario& s) {
    return std::ranges::any_of(s.subsystems,
                               [](const auto& e) { return e.kind == subsystem_spec::source_kind::program; });
}

class of_example : public testing::TestWithParam<fs::path> {};

TEST_P(of_example, goes_on_with_the_same_bits) {
    scenario s;
    try {
        s = read_scenario(GetParam());
    } catch (const user_error&) {
        GTEST_SKIP() << "a part of a scenario";
    }
    if (has_programs(s)) GTEST_SKIP() << "programs have tests of their own";
    constexpr int before = 6, after = 12;
    simulation straight(s, {.workers = 1});
    straight.initialise();
    walk(straight, before);
    const auto expected = walk(straight, after);

    simulation saved(s, {.workers = 2});
    saved.initialise();
    walk(saved, before);
    if (const std::string why = saved.why_not_saved(); why.empty()) {
        std::stringstream file;
        saved.save(file);
        expect_same(walk(saved, after), expected, "after save()");
        simulation other(s, {.workers = 1});
        other.load(file);
        EXPECT_EQ(other.steps(), before);
        expect_same(walk(other, after), expected, "after load()");
    } else {
        std::stringstream file;
        EXPECT_THAT(mistake([&] { saved.save(file); }), HasSubstr(why));
        walk(saved, after);
    }

    try {
        saved.reset();
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("cannot begin anew"));
        return;
    }
    saved.initialise();
    walk(saved, before);
    expect_same(walk(saved, after), expected, "after reset()");
}

INSTANTIATE_TEST_SUITE_P(simulation_state, of_example, testing::ValuesIn(all_examples()), [](const auto& at) {
    std::string name = at.param.parent_path().filename().string() + "_" + at.param.stem().string();
    std::ranges::replace_if(
        name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
    return name;
});

const std::string two_masses = R"(time: {end: 1 s, step: 10 ms}
subsystems:
  wheel: {model: mass-spring-damper, set: {mass: 40 kg, stiffness: 200 kN/m}}
  body: {model: mass-spring-damper, set: {mass: 400 kg, x0: 20 mm}}
connections:
  strut: {law: spring-damper, between: [wheel.mass, body.mass], stiffness: 20 kN/m, damping: 1500 N.s/m}
)";

scenario read(const std::string& text) { return read_scenario_text(text, "s.yaml"); }

TEST(simulation_state, passes_from_one_transport_to_another) {
    const std::vector<transport_kind> kinds{transport_kind::threads, transport_kind::processes, transport_kind::tcp};
    for (const std::string method : {"explicit", "semi-implicit", "one-pass", "iterated"}) {
        const scenario s = read(two_masses + "method: " + method + "\n");
        std::vector<std::vector<double>> expected;
        std::vector<std::string> files;
        for (const transport_kind kind : kinds) {
            simulation one(s, {.transport = kind});
            one.initialise();
            one.advance_to(0.2);
            std::stringstream file;
            one.save(file);
            files.push_back(file.str());
            const auto rest = walk(one, 100);
            if (expected.empty()) expected = rest;
            expect_same(rest, expected, method);
        }
        for (const std::string& file : files) EXPECT_EQ(file, files.front());
        for (const transport_kind kind : kinds) {
            simulation other(s, {.transport = kind});
            std::stringstream file(files.front());
            other.load(file);
            EXPECT_DOUBLE_EQ(other.time(), 0.2);
            expect_same(walk(other, 100), expected, method + " after load()");
        }
    }
}

std::vector<std::vector<double>> recorded(const scenario& s, std::string& file, bool save, bool load) {
    simulation all(s, {.workers = 1});
    std::vector<std::vector<double>> rows;
    std::vector<std::unique_ptr<result_sink>> sinks;
    sinks.push_back(std::make_unique<row_list>(rows));
    recorder into(all.parts().columns, std::move(sinks));
    row_recorder keeps(into, time_grid(s.time.start, s.time.end, s.time.step), s.record.every);
    all.add(keeps);
    if (load) {
        std::stringstream from(file);
        all.load(from);
    } else {
        all.initialise();
        all.advance_to(0.33);
        if (save) {
            std::stringstream to;
            all.save(to);
            file = to.str();
        }
    }
    while (!all.done()) all.step();
    into.finish();
    return rows;
}

TEST(simulation_state, rows_go_on_where_they_were) {
    const scenario s = read(two_masses + "record: {every: 70 ms}\n");
    std::string file;
    const auto whole = recorded(s, file, false, false);
    EXPECT_EQ(recorded(s, file, true, false), whole);
    const auto rest = recorded(s, file, false, true);
    ASSERT_LT(rest.size(), whole.size());
    EXPECT_EQ(rest, std::vector(whole.end() - static_cast<std::ptrdiff_t>(rest.size()), whole.end()));
    EXPECT_GT(rest.front()[0], 0.33);
    EXPECT_LT(rest.front()[0], 0.33 + 0.07);
}

TEST(simulation_state, controlled_steps_go_on) {
    const scenario s = read(two_masses + "step-control: {rtol: 1e-4}\n");
    simulation straight(s, {.workers = 1}), other(s, {.workers = 1});
    straight.initialise();
    straight.advance_to(0.3);
    std::stringstream file;
    straight.save(file);
    other.load(file);
    expect_same(walk(other, 1000), walk(straight, 1000), "controlled");
    EXPECT_EQ(other.finish().control->rejected, straight.finish().control->rejected);
    EXPECT_EQ(other.finish().integrations, straight.finish().integrations);
}

TEST(simulation_state, of_another_scenario_is_refused_with_the_difference) {
    simulation one(read(two_masses), {.workers = 1});
    one.initialise();
    one.step();
    std::stringstream to;
    one.save(to);
    const std::string file = to.str();
    const auto load = [&](const std::string& text, const std::string& saved) {
        return mistake([&] {
            simulation other(read(text), {.workers = 1});
            std::stringstream from(saved);
            other.load(from);
        });
    };
    const auto changed = [&](const std::string& from, const std::string& with) {
        std::string text = two_masses;
        return text.replace(text.find(from), from.size(), with);
    };
    EXPECT_EQ(load(two_masses, file), "no mistake");
    EXPECT_EQ(load(changed("end: 1 s", "end: 2 s"), file), "no mistake");
    EXPECT_THAT(load(changed("40 kg", "41 kg"), file),
                AllOf(HasSubstr("another scenario"), HasSubstr("40"), HasSubstr("41"), HasSubstr("wheel")));
    EXPECT_THAT(load(changed("step: 10 ms", "step: 5 ms"), file), HasSubstr("step"));
    EXPECT_THAT(load(two_masses + "method: one-pass\n", file), HasSubstr("one-pass"));
    EXPECT_THAT(load(two_masses, ""), HasSubstr("no saved state"));
    EXPECT_THAT(load(two_masses, "mdpcosim state 99\n"), HasSubstr("version '99'"));
    for (std::size_t at = 20; at < file.size(); at += 97) {
        std::string damaged = file;
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        EXPECT_NE(load(two_masses, damaged), "no mistake") << at;
        EXPECT_NE(load(two_masses, file.substr(0, at)), "no mistake") << at;
    }
}

TEST(simulation_state, who_cannot_is_named) {
    const scenario s = read(R"(time: {end: 1 s, step: 10 ms}
subsystems:
  a: {model: mass-spring-damper, solver: cvode-bdf}
  b: {model: mass-spring-damper}
connections:
  c: {law: spring, between: [a.mass, b.mass], stiffness: 20 kN/m}
)");
    simulation one(s, {.workers = 1});
    EXPECT_THAT(one.why_not_saved(), AllOf(HasSubstr("subsystem 'a' cannot be saved"), HasSubstr("restart: yes")));
    std::stringstream file;
    EXPECT_THAT(mistake([&] { one.save(file); }), HasSubstr("before initialise()"));
    one.initialise();
    EXPECT_THAT(mistake([&] { one.save(file); }), HasSubstr("subsystem 'a' cannot be saved"));
    one.step();
    simulation reference(s, {.monolithic = true});
    reference.initialise();
    EXPECT_THAT(mistake([&] { reference.save(file); }), HasSubstr("reference cannot be saved"));
    EXPECT_THAT(mistake([&] { reference.reset(); }), HasSubstr("reference"));
}

/// x' = -k x, from 1.
const std::string decay = R"(time: {end: 1 s, step: 0.1 s}
subsystems:
  a:
    ode: {parameters: {k: 2 1/s}, states: {x: 1}, equations: {x: -k*x}, outputs: {y: {value: k*x}}}
    solver: {name: rk4, step: 1 ms}
  b:
    ode: {states: {z: 0}, inputs: {v: 0}, equations: {z: v}}
signals: [a.y -> b.v]
)";

TEST(simulation_writes, parameters_jump_at_a_macro_point_on_every_transport) {
    std::vector<double> first;
    for (const transport_kind kind : {transport_kind::threads, transport_kind::processes, transport_kind::tcp}) {
        simulation s(read(decay), {.transport = kind});
        s.initialise();
        s.advance_to(0.5);
        EXPECT_NEAR(s.value("a.x"), std::exp(-1), 1e-10);
        s.set("a.k", 3);
        s.advance_to(1);
        EXPECT_NEAR(s.value("a.x"), std::exp(-1 - 1.5), 1e-10);
        EXPECT_NEAR(s.value("a.y"), 3 * std::exp(-2.5), 1e-9);
        if (first.empty()) first = values(s);
        EXPECT_TRUE(same_bits(values(s), first));
    }
}

TEST(simulation_writes, a_parameter_set_before_the_start_is_one_of_the_scenario) {
    std::string text = decay;
    text.replace(text.find("k: 2 1/s"), 8, "k: 4 1/s");
    simulation given(read(text), {.workers = 1}), set(read(decay), {.workers = 1});
    set.set("a.k", 4);
    given.initialise();
    set.initialise();
    expect_same(walk(set, 10), walk(given, 10), "set before the start");
}

TEST(simulation_writes, models_keep_their_state_and_statistics_grow) {
    simulation s(read(two_masses), {.workers = 1});
    s.initialise();
    s.advance_to(0.1);
    const auto before = s.finish().subsystems[0].micro_steps;
    const double x = s.value("wheel.mass.position");
    s.set("wheel.mass", 80);
    EXPECT_EQ(s.value("wheel.mass.position"), x);
    s.step();
    EXPECT_GT(s.finish().subsystems[0].micro_steps, before);
}

TEST(simulation_writes, wrong_ones_change_nothing) {
    simulation s(read(two_masses), {.workers = 1}), same(read(two_masses), {.workers = 1});
    s.initialise();
    same.initialise();
    s.step();
    same.step();
    EXPECT_THAT(mistake([&] { s.set("wheel.mas", 1); }), AllOf(HasSubstr("mas"), HasSubstr("Did you mean")));
    EXPECT_THAT(mistake([&] { s.set("wheel.mass", -1); }), HasSubstr("'wheel.mass' cannot be set to -1"));
    EXPECT_THAT(mistake([&] { s.set("wheel.mass", std::nan("")); }), HasSubstr("cannot be set to nan"));
    EXPECT_THAT(mistake([&] { s.set("nobody.mass", 1); }), HasSubstr("nobody"));
    simulation decaying(read(decay), {.workers = 1});
    decaying.initialise();
    EXPECT_THAT(mistake([&] { decaying.set("a.k", 1); }), HasSubstr("only a new simulation can have"));
    EXPECT_THAT(mistake([&] { decaying.set("a.x", 2); }), HasSubstr("before initialise() only"));
    simulation fixed(read(two_masses), {.workers = 1, .writable = false});
    EXPECT_THAT(mistake([&] { fixed.set("wheel.mass", 1); }), HasSubstr("writable"));
    expect_same(walk(s, 20), walk(same, 20), "after refused writes");
}

TEST(simulation_writes, reset_takes_changes_and_reach_observers) {
    struct listener final : observer {
        void written(const simulation&, const value_written& w) override {
            heard.push_back(w.address + "=" + std::to_string(w.value) + "@" + std::to_string(w.step));
        }
        std::vector<std::string> heard;
    } ears;
    simulation s(read(decay), {.workers = 1});
    s.add(ears);
    s.initialise();
    s.advance_to(0.3);
    s.set("a.k", 3);
    s.advance_to(1);
    const std::vector<std::pair<std::string, double>> changes{{"a.k", 4}, {"a.x", 2}};
    s.reset(changes);
    EXPECT_EQ(s.time(), 0);
    EXPECT_EQ(s.steps(), 0);
    s.initialise();
    s.advance_to(1);
    EXPECT_NEAR(s.value("a.x"), 2 * std::exp(-4), 1e-9);
    EXPECT_THAT(ears.heard, testing::ElementsAre("a.k=3.000000@3", "a.k=4.000000@0", "a.x=2.000000@0"));
}

TEST(simulation_writes, belong_to_the_saved_state) {
    simulation s(read(decay), {.workers = 1});
    s.initialise();
    s.step();
    s.set("a.k", 5);
    s.step();
    std::stringstream file;
    s.save(file);
    simulation other(read(decay), {.transport = transport_kind::processes});
    other.load(file);
    expect_same(walk(other, 20), walk(s, 20), "after load() with a tuned parameter");
}

/// Keeps what every subsystem was given, and what it gave.
struct log final : observer {
    bool wants_inputs() const override { return true; }
    void started(const simulation& of) override {
        const transport& t = *of.parts().system.subsystems;
        taken.resize(t.size());
        shown.resize(t.size());
    }
    void committed(const simulation& of, const macro_step&) override {
        const transport& t = *of.parts().system.subsystems;
        for (std::size_t i = 0; i < t.size(); ++i) {
            const subsystem_index s(i);
            for (std::size_t k = 0; k < of.inputs().steps(s); ++k) {
                const auto e = of.inputs().at(s, k);
                taken[i].push_back({e.step, {e.inputs.begin(), e.inputs.end()}});
            }
            const auto y =
                of.outputs().subspan(t.output_offset(s), static_cast<std::size_t>(t.describe(s).output_count()));
            shown[i].emplace_back(taken[i].size(), std::vector<double>(y.begin(), y.end()));
        }
    }
    struct step {
        macro_step at;
        std::vector<polynomial> inputs;
    };
    std::vector<std::vector<step>> taken;
    std::vector<std::vector<std::pair<std::size_t, std::vector<double>>>> shown;
};

/// Outputs with feed-through show inputs of the same time, which replay does not know: the states are compared through outputs without.
void expect_each_alone_repeats_its_part(const scenario& s, log& kept) {
    simulation all(s, {.workers = 1});
    all.add(kept);
    all.initialise();
    while (!all.done()) all.step();
    const transport& t = *all.parts().system.subsystems;
    for (std::size_t i = 0; i < t.size(); ++i) {
        const auto alone = make_alone(s, t.name(subsystem_index(i)));
        alone->initialise(0);
        std::vector<double> y(static_cast<std::size_t>(alone->describe().output_count()));
        std::vector<double> u(static_cast<std::size_t>(alone->describe().input_count()));
        alone->outputs(u, y);
        std::size_t done = 0;
        double end = 0;
        for (const auto& [count, expected] : kept.shown[i]) {
            for (; done < count; ++done) {
                const auto& [at, inputs] = kept.taken[i][done];
                EXPECT_EQ(at.begin, end);
                alone->advance(at, inputs, y);
                end = at.end;
            }
            for (const auto& out : alone->describe().outputs) {
                if (!out.direct.empty() || all.parts().system.present.size() > 0) continue;
                const auto slot = static_cast<std::size_t>(out.slot);
                ASSERT_EQ(y[slot], expected[slot]) << out.name;
            }
        }
        EXPECT_GE(end, s.time.end * (1 - 1e-12));
    }
}

class of_method : public testing::TestWithParam<const char*> {};

TEST_P(of_method, a_subsystem_alone_repeats_its_part) {
    log kept;
    expect_each_alone_repeats_its_part(read(two_masses + GetParam()), kept);
}

INSTANTIATE_TEST_SUITE_P(replay, of_method,
                         testing::Values("method: explicit\n", "method: semi-implicit\n", "method: one-pass\n",
                                         "method: iterated\n", "method: multirate\n", "step-control: {rtol: 1e-5}\n",
                                         "method: one-pass\nstep-control: {rtol: 1e-5}\n"));

/// The first step of the crane has no solution as a whole and is done in 8 parts of 2 each.
TEST(replay, parts_of_iterated_steps_without_a_solution) {
    const scenario s = read_scenario(examples / "hydraulic-crane/scenario.yaml",
                                     {{"method", "{name: iterated, solver: iqn-ils}", "test"},
                                      {"valve.k0", "0.20", "test"},
                                      {"time.end", "0.1 s", "test"},
                                      {"time.step", "20 ms", "test"}});
    log kept;
    expect_each_alone_repeats_its_part(s, kept);
    EXPECT_EQ(kept.shown[0].front().first, 16);
}

/// An event in the first half of a divided step is still known after the other parts, which begin anew.
TEST(simulation_state, parts_of_a_step_keep_what_parts_before_told) {
    for (const char* method : {"explicit", "semi-implicit"}) {
        simulation all(
            read(fmt::format("time: {{end: 1 s, step: 0.1 s}}\nextrapolation: poly-4\nmethod: {}\nsubsystems:\n"
                             "  a: {{ode: {{states: {{x: 1, v: 0, s: 0}}, inputs: {{F: 0}}, equations: {{x: v, "
                             "v: F, s: 1}}, events: [{{when: s - 0.031, set: {{v: v + 0.1}}}}]}}, ports: {{p: "
                             "{{kind: translation, position: x, velocity: v, force: F}}}}}}\n"
                             "  b: {{model: mass-spring-damper, set: {{stiffness: 1}}}}\n"
                             "connections:\n  c: {{law: spring, between: [a.p, b.mass], stiffness: 2}}\n",
                             method)),
            {.workers = 1});
        all.initialise();
        all.step();
        EXPECT_NEAR(all.parts().system.notices.first_event, 0.031, 1e-9) << method;
        EXPECT_GT(all.parts().system.advances, 1) << method;
    }
}

const fs::path built = fs::path(MDPCOSIM_BINARY_DIR) / "tests";

/// One decay, x' = -k x from 1 with k = 2, as a plugin or a program.
std::string one_decay(const std::string& source) {
    return "time: {end: 1 s, step: 0.1 s}\nsubsystems:\n  a: {" + source +
           "}\n  b: {ode: {states: {z: 0}, inputs: "
           "{v: 0}, equations: {z: v}}}\nsignals: [a.x -> b.v]\n";
}
std::string plugin_of(const std::string& name) { return "plugin: " + (built / "plugins" / (name + ".so")).string(); }
std::string program_of(const std::string& name) { return "program: " + (built / "programs" / name).string(); }

/// What was compiled before still runs, is saved and goes on; only what was appended later is not offered.
TEST(interfaces_of_before, plugins_and_programs_still_run) {
    for (const std::string& source : {plugin_of("before"), program_of("before")}) {
        const scenario s = read(one_decay(source));
        simulation all(s, {.workers = 1}), other(s, {.workers = 1});
        all.initialise();
        all.advance_to(0.5);
        EXPECT_NEAR(all.value("a.x"), std::exp(-1), 1e-12) << source;
        std::stringstream file;
        all.save(file);
        other.load(file);
        expect_same(walk(other, 100), walk(all, 100), source);
        EXPECT_NEAR(all.value("a.x"), std::exp(-2), 1e-12) << source;
        EXPECT_NE(mistake([&] { all.set("a.k", 3); }), "no mistake");
    }
}

TEST(simulation_writes, plugins_and_programs_take_parameters_between_steps) {
    for (const std::string& source : {plugin_of("tunable_decay"), program_of("tunable_decay")})
        for (const transport_kind kind : {transport_kind::threads, transport_kind::processes, transport_kind::tcp}) {
            simulation all(read(one_decay(source)), {.transport = kind});
            all.initialise();
            all.advance_to(0.5);
            all.set("a.k", 3);
            all.advance_to(1);
            EXPECT_NEAR(all.value("a.x"), std::exp(-1 - 1.5), 1e-12) << source;
        }
}

std::string fmu_of(const std::string& name, const std::string& more = {}) {
    return "fmu: " + (fs::path(MDPCOSIM_BINARY_DIR) / "fmus" / (name + ".fmu")).string() + more;
}

TEST(simulation_writes, fmus_take_what_they_call_tunable) {
    for (const std::string version : {"2", "3"})
        for (const std::string interface : {"co-simulation", "model-exchange"})
            for (const transport_kind kind : {transport_kind::threads, transport_kind::processes}) {
                SCOPED_TRACE(version + " " + interface);
                const scenario s = read(one_decay(fmu_of("decay-" + version, ", interface: " + interface)));
                simulation all(s, {.transport = kind}), other(s, {.transport = kind});
                all.initialise();
                all.advance_to(0.5);
                EXPECT_NEAR(all.value("a.x"), std::exp(-0.5), 1e-6);
                all.set("a.k", 3);
                all.step();
                std::stringstream file;
                all.save(file);
                other.load(file);
                expect_same(walk(other, 100), walk(all, 100), "after load()");
                EXPECT_NEAR(all.value("a.x"), std::exp(-0.5 - 1.5), 1e-6);
                const std::vector<std::pair<std::string, double>> slower{{"a.k", 0.5}};
                all.reset(slower);
                all.initialise();
                all.advance_to(1);
                EXPECT_NEAR(all.value("a.x"), std::exp(-0.5), 1e-6);
            }
}

TEST(simulation_state, an_fmu_that_asks_for_the_end_gets_it) {
    for (const std::string version : {"2", "3"})
        for (const transport_kind kind : {transport_kind::threads, transport_kind::processes, transport_kind::tcp}) {
            SCOPED_TRACE(version);
            const std::string source =
                fmu_of("misbehave-" + version, ", set: {where: step, how: terminate-simulation, when: 0.45}");
            simulation all(read("time: {end: 1 s, step: 0.1 s}\nsubsystems:\n  a: {" + source +
                                "}\n  b: {ode: {states: {z: 0}, inputs: {v: 0}, equations: {z: v}}}\n"
                                "signals: [a.y -> b.v]\n"),
                           {.transport = kind});
            all.initialise();
            while (!all.done()) all.step();
            EXPECT_NEAR(all.time(), 0.6, 1e-9);  // in the first step that begins after 0.45 s
            EXPECT_THAT(all.early_end(), AllOf(HasSubstr("subsystem 'a' asked to end"), HasSubstr("t = 0.6 s")));
            EXPECT_THAT(all.finish().notes, testing::Contains(all.early_end()));
            EXPECT_THAT(mistake([&] { all.step(); }), HasSubstr("after the end"));
        }
}

/// The force jumps at 0.3337 s, which no multiple of a macro step meets.
TEST(controlled_steps, end_where_a_jump_is_announced) {
    for (const transport_kind kind : {transport_kind::threads, transport_kind::processes}) {
        struct ends final : observer {
            void committed(const simulation&, const macro_step& step) override { all.push_back(step.end); }
            std::vector<double> all;
        } seen;
        simulation s(read(R"(time: {end: 1 s, step: 10 ms}
subsystems:
  a: {ode: {states: {x: 0}, equations: {x: 'if(t < 0.3337, 0, 1)'}}}
  b: {ode: {states: {z: 0}, inputs: {v: 0}, equations: {z: v}}}
signals: [a.x -> b.v]
step-control: {rtol: 1e-4}
)"),
                     {.transport = kind});
        s.add(seen);
        s.initialise();
        while (!s.done()) s.step();
        EXPECT_THAT(seen.all, testing::Contains(testing::DoubleNear(0.3337, 1e-12)));
        EXPECT_NEAR(s.value("b.z"), 0.5 * (1 - 0.3337) * (1 - 0.3337), 1e-4);
    }
}

const std::string masses = two_masses.substr(0, two_masses.find("connections:")) +
                           "  c: {ode: {states: {z: 0}, inputs: {v: 0}, equations: {z: v}}}\n" +
                           two_masses.substr(two_masses.find("connections:"));

TEST(simulation_writes, free_inputs_count_with_every_method) {
    for (const std::string how :
         {"method: explicit\n", "method: semi-implicit\n", "method: one-pass\n", "method: iterated\n",
          "method: multirate\n", "step-control: {rtol: 1e-4}\n", "method: one-pass\nstep-control: {rtol: 1e-4}\n",
          "method: semi-implicit\nstep-control: {rtol: 1e-4}\n"}) {
        SCOPED_TRACE(how);
        simulation s(read(masses + how), {.workers = 1}), other(read(masses + how), {.workers = 1});
        s.initialise();
        s.advance_to(0.5);
        const double t = s.time();
        s.set("c.v", 2);
        s.step();
        std::stringstream file;
        s.save(file);
        other.load(file);
        expect_same(walk(other, 1000), walk(s, 1000), "after load()");
        EXPECT_NEAR(s.value("c.z"), 2 * (1 - t), 1e-12);
        s.reset();
        s.initialise();
        s.advance_to(1);
        EXPECT_NEAR(s.value("c.z"), 2, 1e-12) << "what was set stays over reset()";
    }
}

TEST(simulation_writes, a_refused_one_is_not_remembered) {
    std::string text = decay;
    text.replace(text.find("parameters: {k: 2 1/s}"), 22, "parameters: {k: 2 1/s, c: 3 1/s}");
    text.replace(text.find("value: k*x"), 10, "value: c*x");
    simulation s(read(text), {.workers = 1});
    s.initialise();
    EXPECT_NE(mistake([&] { s.set("a.c", 1); }), "no mistake") << "y = x: two rates become one";
    s.set("a.k", 5);
    s.step();
    const std::vector<std::pair<std::string, double>> wrong{{"a.nothing", 1}};
    EXPECT_THAT(mistake([&] { s.reset(wrong); }), HasSubstr("nothing"));
    EXPECT_EQ(s.steps(), 1);
}

TEST(simulation_writes, one_that_fails_leaves_the_simulation_failed) {
    simulation s(read(R"(time: {end: 1 s, step: 0.1 s}
subsystems:
  a: {ode: {states: {x: 1}, inputs: {v: 1}, equations: {x: 0}, outputs: {y: {value: x/v}}}}
  b: {ode: {states: {z: 0}, inputs: {w: 0}, equations: {z: w}}}
signals: [a.y -> b.w]
)"),
                 {.workers = 1});
    s.initialise();
    s.step();
    s.set("a.v", 0);
    EXPECT_THROW(s.step(), run_error);
    EXPECT_THAT(mistake([&] { s.step(); }), HasSubstr("after a failure"));
}

TEST(simulation_state, a_cut_last_step_is_not_gone_on_from_with_a_longer_end) {
    const auto with_end = [](const std::string& end) {
        std::string text = decay;
        return read(text.replace(text.find("end: 1 s"), 8, "end: " + end + " s"));
    };
    simulation cut(with_end("0.95"), {.workers = 1});
    cut.initialise();
    while (!cut.done()) cut.step();
    std::stringstream file, again;
    cut.save(file);
    again.str(file.str());
    simulation longer(with_end("2"), {.workers = 1}), same(with_end("0.95"), {.workers = 1});
    EXPECT_THAT(mistake([&] { longer.load(file); }), HasSubstr("cut short"));
    same.load(again);
    EXPECT_TRUE(same.done());
}

TEST(simulation_state, every_method_lets_an_fmu_end) {
    for (const std::string how : {"method: explicit\n", "method: iterated\n", "method: multirate\n"})
        for (const std::string step : {"", ", step: 50 ms"}) {
            if (!step.empty() && how != "method: multirate\n") continue;
            SCOPED_TRACE(how + step);
            const std::string source =
                fmu_of("misbehave-3", ", set: {where: step, how: terminate-simulation, when: 0.48}");
            simulation all(read("time: {end: 1 s, step: 0.1 s}\n" + how + "subsystems:\n  a: {" + source +
                                "}\n  b: {ode: {states: {z: 0}, inputs: {v: 0}, equations: {z: v}}" + step +
                                "}\nsignals: [a.y -> b.v]\n"),
                           {.workers = 1});
            all.initialise();
            while (!all.done()) all.step();
            EXPECT_LT(all.time(), 0.75);
            EXPECT_THAT(all.early_end(), HasSubstr("subsystem 'a' asked to end"));
        }
}

TEST(controlled_steps, see_a_jump_that_was_moved_or_loaded_on_every_transport) {
    const scenario s = read(R"(time: {end: 1 s, step: 10 ms}
subsystems:
  a: {ode: {parameters: {T: 0.8 s}, states: {x: 0}, equations: {x: 'if(t < T, 0, 1)'}}}
  b: {ode: {states: {z: 0}, inputs: {v: 0}, equations: {z: v}}}
signals: [a.x -> b.v]
step-control: {rtol: 1e-4}
)");
    std::vector<std::vector<double>> expected;
    for (const transport_kind kind : {transport_kind::threads, transport_kind::processes, transport_kind::tcp}) {
        simulation one(s, {.transport = kind}), other(s, {.transport = kind});
        one.initialise();
        one.advance_to(0.3);
        one.set("a.T", one.time() + 5e-3);
        std::stringstream file;
        one.save(file);
        const auto rest = walk(one, 1000);
        other.load(file);
        expect_same(walk(other, 1000), rest, "loaded");
        if (expected.empty()) expected = rest;
        expect_same(rest, expected, "transports");
    }
}

TEST(simulation_state, one_subsystem_that_is_not_there) {
    EXPECT_THAT(mistake([] { make_alone(read(two_masses), "whel"); }), HasSubstr("Did you mean 'wheel'"));
}

}  // namespace
}  // namespace mdpcosim
