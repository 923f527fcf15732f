// Scenarios as FMUs, through the whole program: in another scenario, and led step by step, they give the numbers of the scenario; what cannot be
// exported is refused with its name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <random>

#include "api/mdpcosim.hpp"
#include "fmi/archive.hpp"
#include "fmi/instance.hpp"
#include "simulation/simulation.hpp"
#include "support/archives.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const fs::path test_fmus = fs::path(MDPCOSIM_BINARY_DIR) / "fmus";

/// An FMU's values by name.
class host {
   public:
    host(const fs::path& file, std::optional<double> stop = {}, const std::map<std::string, double>& starts = {},
         double start = 0)
        : files_(fmi::open_fmu(file)) {
        fmi::instance_options options;
        options.name = "host";
        options.log = [this](const fmi::log_message& m) { told_ += std::string(m.text) + "\n"; };
        fmu = fmi::make_instance(files_, options);
        fmi::experiment_setup setup;
        setup.start = start;
        setup.stop = stop;
        fmu->set_up(setup);
        for (const auto& [name, value] : starts) set(name, value);
        fmu->enter_initialisation();
    }
    void set(const std::string& name, double value) {
        auto block = block_of(name);
        fmu->set(block, std::span(&value, 1));
    }
    double get(const std::string& name) {
        auto block = block_of(name);
        double value = 0;
        fmu->get(block, std::span(&value, 1));
        return value;
    }
    bool step(double t, double h) { return fmu->do_step(t, h, false).status == fmi::status::ok; }
    const fmi::description& description() const { return files_->description(); }

    std::unique_ptr<fmi::instance> fmu;
    std::string told_;

   private:
    fmi::value_block block_of(const std::string& name) const {
        const int variable = description().index_of(name);
        if (variable < 0) throw std::invalid_argument("no variable " + name);
        return fmu->make_block(std::span(&variable, 1));
    }
    std::shared_ptr<const fmi::fmu_files> files_;
};

class exported_fmus : public testing::Test {
   protected:
    int run(const std::string& arguments) {
        const std::string command =
            "cd '" + folder_.path().string() + "' && '" + MDPCOSIM_PROGRAM "' " + arguments + " >out.txt 2>err.txt";
        const int status = std::system(command.c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    std::string text(const std::string& name) const { return test::content(folder_ / name); }
    fs::path export_text(const std::string& scenario_text, const std::string& options = {},
                         const std::string& name = "s") {
        test::write_file(folder_ / (name + ".yaml"), scenario_text);
        EXPECT_EQ(run("export fmu " + name + ".yaml " + options), 0) << text("err.txt");
        return folder_ / (name + ".fmu");
    }
    /// Standard error of an export that is refused as a user's mistake.
    std::string refusal(const std::string& scenario_text, const std::string& options = {}) {
        test::write_file(folder_ / "s.yaml", scenario_text);
        EXPECT_EQ(run("export fmu s.yaml " + options), 2) << text("out.txt");
        EXPECT_FALSE(fs::exists(folder_ / "s.fmu"));
        return text("err.txt");
    }
    /// Runs the scenario and, inside another one, its FMU: the same rows.
    void compare_rows(const std::string& scenario, const std::string& step, const std::string& end) {
        ASSERT_EQ(run("run " + scenario + " --out direct"), 0) << text("err.txt");
        const std::string all = text("direct/results.csv");
        const auto columns = std::count(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.find('\n')), ',');
        for (const std::string version : {"2", "3"}) {
            SCOPED_TRACE(version);
            ASSERT_EQ(run("export fmu " + scenario + " --out whole.fmu --fmi " + version), 0) << text("err.txt");
            ASSERT_EQ(run("fmu validate whole.fmu"), 0) << text("out.txt") << text("err.txt");
            EXPECT_THAT(text("out.txt"), Not(AnyOf(HasSubstr("warning"), HasSubstr("error"))));
            test::write_file(folder_ / "outer.yaml", "time: {end: " + end + ", step: " + step +
                                                         "}\nsubsystems: {w: {fmu: whole.fmu, isolate: false}}\n");
            ASSERT_EQ(run("run outer.yaml --out outer --quiet"), 0) << text("err.txt");
            std::istringstream direct(all), hosted(text("outer/results.csv"));
            std::string a, b, header;
            std::getline(direct, header);
            std::getline(hosted, b);
            // Parameters that are not tunable have no column; the outputs come first.
            int rows = 0;
            for (; std::getline(direct, a); ++rows) {
                ASSERT_TRUE(std::getline(hosted, b));
                std::size_t cut = 0;
                for (long k = 0; k <= columns && cut != std::string::npos; ++k) cut = b.find(',', cut + (k > 0));
                ASSERT_EQ(a, b.substr(0, cut)) << header;
            }
            EXPECT_FALSE(std::getline(hosted, b));
            EXPECT_GT(rows, 50);
        }
    }

    test::temporary_folder folder_;
};

constexpr const char* two_masses = R"(time: {end: 0.2 s, step: 1 ms}
method: explicit
subsystems:
  a: {model: mass-spring-damper, set: {mass: 2 kg, stiffness: 500 N/m, x0: 10 mm}, solver: rk4}
  b: {model: mass-spring-damper, set: {mass: 1 kg, stiffness: 300 N/m}, solver: rk4}
connections:
  rod: {law: spring-damper, between: [a.mass, b.mass], stiffness: 400 N/m, damping: 2 N.s/m}
)";

TEST_F(exported_fmus, rows_are_those_of_the_scenario) {
    test::write_file(folder_ / "two.yaml", two_masses);
    compare_rows("two.yaml", "1 ms", "0.2 s");
}

TEST_F(exported_fmus, contained_fmus_tables_and_plugins_travel_inside) {
    test::write_file(folder_ / "force.csv", "time,f\n0,0\n0.03,2\n0.1,-1\n");
    test::write_file(
        folder_ / "mixed.yaml",
        "time: {end: 0.1 s, step: 1 ms}\nsubsystems:\n  in: {file: force.csv, units: {f: N}}\n  body: {fmu: " +
            (test_fmus / "oscillator-2.fmu").string() +
            ", set: {m: 2}}\n  other: {fmu: " + (test_fmus / "oscillator-3.fmu").string() +
            "}\n  own: {ode: {states: {x: 1}, inputs: {u: 0}, equations: {x: u - 3*x}, "
            "outputs: {x: x}}}\n"
            "signals:\n  - in.f -> body.force\n  - 20 N/m*body.position -> other.force\n  - 2*other.position -> "
            "own.u\n");
    compare_rows("mixed.yaml", "1 ms", "0.1 s");
    // Nothing of this folder is needed.
    fs::create_directory(folder_ / "elsewhere");
    fs::rename(folder_ / "whole.fmu", folder_ / "elsewhere/whole.fmu");
    fs::remove(folder_ / "force.csv");
    EXPECT_EQ(run("run elsewhere/whole.fmu"), 0) << text("err.txt");
}

TEST_F(exported_fmus, limits_that_end_with_the_run_are_told) {
    const std::string entry =
        "time: {end: 0.1 s, step: 1 ms}\nsubsystems:\n  body: {fmu: " + (test_fmus / "oscillator-2.fmu").string() +
        ", isolate: false";
    export_text(entry + "}\n");
    EXPECT_THAT(text("out.txt"), Not(HasSubstr("no process of its own")));
    for (const std::string said : {", limits: {memory: 2 GB}}\n", ", limit: 5 s}\n"}) {
        export_text(entry + said);
        EXPECT_THAT(text("out.txt"), HasSubstr("in the FMU the code of body has no process of its own and no limits"));
    }
}

TEST_F(exported_fmus, sampled_control_is_kept) {
    const fs::path example = fs::path(MDPCOSIM_SOURCE_DIR) / "examples/motor-control/scenario.yaml";
    const scenario s = load_scenario(example, {});
    compare_rows(example.string() + " --end " + fmt::format("{} --set record.every={}", 100 * s.time.step, s.time.step),
                 fmt::format("{} s", s.time.step), fmt::format("{} s", 100 * s.time.step));
}

TEST_F(exported_fmus, inputs_and_parameters_count_as_those_of_the_simulation) {
    const fs::path file = export_text(std::string(two_masses) + "record: {only: [a.mass.position, rod.u]}\n");
    const scenario s = load_scenario(folder_ / "s.yaml", {});
    simulation direct(s, {.workers = 1, .led = true});
    direct.set("b.mass", 1.5);
    direct.initialise();
    host inside(file, 0.2, {{"b.mass", 1.5}});
    inside.fmu->exit_initialisation();
    EXPECT_EQ(inside.get("a.stiffness"), 500);
    EXPECT_EQ(inside.get("a.x0"), 0.01);
    for (int n = 0; n < 200; ++n) {
        if (n == 50 || n == 120) {
            direct.set("a.stiffness", 400 + n);
            inside.set("a.stiffness", 400 + n);
        }
        direct.step();
        ASSERT_TRUE(inside.step(n * 1e-3, 1e-3)) << inside.told_;
        ASSERT_EQ(inside.get("a.mass.position"), direct.value("a.mass.position")) << n;
        ASSERT_EQ(inside.get("rod.u"), direct.value("rod.u")) << n;
    }
    EXPECT_EQ(inside.get("a.stiffness"), 520);
}

// x' = u - x, y = x + 2 u: the output follows its input at once, also in the host's initialisation.
constexpr const char* one_lag = R"(time: {end: 1 s, step: 10 ms}
subsystems:
  lag:
    ode: {states: {x: 0}, inputs: {u: 1}, parameters: {k: 1}, equations: {x: k*u - x}, outputs: {x: x, y: x + 2*u}}
    solver: {name: rk4, step: 10 ms}
)";

TEST_F(exported_fmus, free_inputs_act_at_once_and_are_held_over_a_step) {
    host h(export_text(one_lag));
    EXPECT_EQ(h.get("lag.y"), 2);
    h.set("lag.u", 3);
    EXPECT_EQ(h.get("lag.y"), 6);
    h.fmu->exit_initialisation();
    double x = 0, u = 3, t = 0;
    for (int n = 0; n < 50; ++n, t += 0.01) {  // adds up: off the grid by rounding
        if (n % 7 == 3) {
            u = std::sin(n);
            h.set("lag.u", u);
            ASSERT_NEAR(h.get("lag.y"), x + 2 * u, 1e-9);
        }
        ASSERT_TRUE(h.step(t, 0.01)) << h.told_;
        x = u + (x - u) * std::exp(-0.01);
        ASSERT_NEAR(h.get("lag.x"), x, 1e-9);
    }
    // The start as the host wants it, and beyond the scenario's end.
    host later(folder_ / "s.fmu", {}, {}, 100);
    later.fmu->exit_initialisation();
    for (int n = 0; n < 150; ++n) ASSERT_TRUE(later.step(100 + n * 0.01, 0.01)) << later.told_;
    EXPECT_NEAR(later.get("lag.x"), 1 - std::exp(-1.5), 1e-9);
}

TEST_F(exported_fmus, steps_of_a_host_may_have_any_length) {
    host h(export_text(one_lag));
    h.fmu->exit_initialisation();
    double t = 0;
    for (const double step : {0.01, 0.03, 0.004, 0.025, 0.0731, 0.01, 0.01, 1e-5}) {
        ASSERT_TRUE(h.step(t, step)) << h.told_;
        t += step;
        ASSERT_NEAR(h.get("lag.x"), 1 - std::exp(-t), 1e-9) << t;
    }
    EXPECT_THROW(h.step(t + 0.5, 0.01), fmi::fmu_failure);
    EXPECT_THAT(h.told_, HasSubstr("the last one ended at t = 0.16211 s"));
    EXPECT_THROW(h.step(t, 0.0), fmi::fmu_failure);
}

TEST_F(exported_fmus, sampled_subsystems_want_whole_macro_steps) {
    const fs::path file = export_text(R"(time: {end: 1 s, step: 1 ms}
subsystems:
  body: {model: mass-spring-damper, set: {x0: 1}, solver: rk4}
  loop: {model: pid-sampled, sample: 2 ms}
signals: [body.mass.position -> loop.measurement]
)");
    EXPECT_THAT(text("out.txt"), HasSubstr("note: communication steps of a host must be whole multiples of 0.001 s: "
                                           "subsystem 'loop' is sampled at multiples of it"));
    host h(file);
    EXPECT_FALSE(h.description().co_simulation->variable_step);
    h.fmu->exit_initialisation();
    ASSERT_TRUE(h.step(0, 3e-3)) << h.told_;
    EXPECT_THROW(h.step(3e-3, 2.5e-3), fmi::fmu_failure);
    EXPECT_THAT(h.told_, HasSubstr("no whole multiple of the macro step, 0.001 s, which cannot change: subsystem "
                                   "'loop' is sampled"));
}

TEST_F(exported_fmus, states_are_put_back_also_in_other_instances) {
    const fs::path file = export_text(two_masses);
    host one(file), other(file, {}, {{"b.mass", 3}});
    auto before = one.fmu->make_state();  // before its initialisation ends
    one.fmu->exit_initialisation();
    other.fmu->exit_initialisation();
    const auto go = [](host& h, int from, int to) {
        for (int n = from; n < to; ++n) ASSERT_TRUE(h.step(n * 1e-3, 1e-3)) << h.told_;
    };
    go(one, 0, 40);
    auto state = one.fmu->make_state();
    one.fmu->save(*state);
    std::vector<std::byte> bytes;
    one.fmu->write(*state, bytes);
    go(one, 40, 90);
    const double at_90 = one.get("a.mass.position");
    one.set("a.stiffness", 700);
    go(one, 90, 95);
    one.fmu->restore(*state);
    EXPECT_EQ(one.get("a.stiffness"), 500);
    go(one, 40, 90);
    EXPECT_EQ(one.get("a.mass.position"), at_90);
    auto foreign = other.fmu->make_state();
    other.fmu->read(*foreign, bytes);
    go(other, 0, 10);
    other.fmu->restore(*foreign);
    EXPECT_EQ(other.get("b.mass"), 1);
    go(other, 40, 90);
    EXPECT_EQ(other.get("a.mass.position"), at_90);
    // Back to the initialisation, with another parameter.
    one.fmu->restore(*before);
    one.set("a.stiffness", 700);
    one.fmu->exit_initialisation();
    go(one, 0, 90);
    EXPECT_NE(one.get("a.mass.position"), at_90);
    one.fmu->reset();
    one.fmu->set_up({.start = 0});
    one.fmu->enter_initialisation();
    one.fmu->exit_initialisation();
    go(one, 0, 90);
    EXPECT_EQ(one.get("a.mass.position"), at_90);
    bytes.resize(bytes.size() / 2);
    other.fmu->read(*foreign, bytes);
    EXPECT_THROW(other.fmu->restore(*foreign), fmi::fmu_failure);
}

TEST_F(exported_fmus, a_start_without_digits_for_steps_is_refused) {
    const fs::path file = export_text(two_masses);
    for (const double start : {1e300, -1e40}) {
        try {
            host h(file, {}, {}, start);
            h.fmu->exit_initialisation();
            ADD_FAILURE() << "it starts at " << start;
        } catch (const fmi::fmu_failure& problem) {
            EXPECT_THAT(problem.what(), HasSubstr("macro steps of 0.001 s are less than the last digit of such times"));
        }
    }
}

TEST_F(exported_fmus, damaged_states_do_no_harm) {
    host h(export_text(two_masses));
    h.fmu->exit_initialisation();
    for (int n = 0; n < 20; ++n) ASSERT_TRUE(h.step(n * 1e-3, 1e-3)) << h.told_;
    auto state = h.fmu->make_state(), hostile = h.fmu->make_state();
    h.fmu->save(*state);
    std::vector<std::byte> bytes;
    h.fmu->write(*state, bytes);
    ASSERT_TRUE(h.step(20e-3, 1e-3));
    const double at_21 = h.get("a.mass.position");
    std::mt19937 random(4);
    int refused = 0;
    for (int i = 0; i < 400; ++i) {
        std::vector<std::byte> damaged = bytes;
        for (std::size_t k = 1 + random() % 3; k > 0; --k)
            damaged[random() % damaged.size()] = static_cast<std::byte>(random());
        if (i % 4 == 0) damaged.resize(random() % damaged.size());
        try {
            h.fmu->read(*hostile, damaged);
            h.fmu->restore(*hostile);
            h.step(20e-3, 1e-3);
        } catch (const fmi::fmu_failure&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 50);
    h.fmu->restore(*state);
    ASSERT_TRUE(h.step(20e-3, 1e-3)) << h.told_;
    EXPECT_EQ(h.get("a.mass.position"), at_21);
}

TEST_F(exported_fmus, numbers_in_rare_units_need_no_unit_library) {
    const fs::path file = export_text(R"(time: {end: 0.1 s, step: 1 ms}
subsystems:
  a: {model: mass-spring-damper, set: {mass: 2 slug, stiffness: 3 lbf/ft, x0: 1 furlong}, solver: rk4}
)");
    const scenario s = load_scenario(folder_ / "s.yaml", {});
    simulation direct(s, {.workers = 1});
    direct.initialise();
    host h(file);
    h.fmu->exit_initialisation();
    EXPECT_NEAR(h.get("a.mass"), 29.187806, 1e-5);
    EXPECT_NEAR(h.get("a.mass.position"), 201.168, 1e-3);
    for (int n = 0; n < 100; ++n) {
        direct.step();
        ASSERT_TRUE(h.step(n * 1e-3, 1e-3)) << h.told_;
    }
    EXPECT_EQ(h.get("a.mass.position"), direct.value("a.mass.position"));
}

TEST_F(exported_fmus, the_same_scenario_gives_the_same_bytes) {
    const std::string once = test::content(export_text(two_masses));
    fs::remove(folder_ / "s.fmu");
    EXPECT_TRUE(once == test::content(export_text(two_masses)));
    EXPECT_LT(once.size(), 6000000u);
}

TEST_F(exported_fmus, what_cannot_be_exported_is_named) {
    EXPECT_THAT(refusal("time: {end: 1, step: 0.1}\nsubsystems:\n  other: {program: [some-program]}\n"),
                AllOf(HasSubstr("s.yaml:3:"), HasSubstr("subsystem 'other': a program runs in a process of its own"),
                      HasSubstr("Make an FMU or a plugin of it")));
    EXPECT_THAT(refusal(std::string(two_masses) + "record: {only: [a.micro-steps]}\n"),
                AllOf(HasSubstr("nothing that an FMU could show is recorded"), HasSubstr("'record: {only: [...]}'")));
    EXPECT_THAT(refusal(two_masses, "--out s.zip"), HasSubstr("the name of an FMU ends with .fmu"));
    EXPECT_THAT(refusal(two_masses, "--fmi 1"), HasSubstr("--fmi"));
    test::write_file(folder_ / "mine.fmu", "my notes");
    EXPECT_THAT(refusal(two_masses, "--out mine.fmu"), HasSubstr("what is there is no FMU, and is not replaced"));
    EXPECT_EQ(text("mine.fmu"), "my notes");
    ASSERT_EQ(::mkfifo((folder_ / "pipe.fmu").c_str(), 0600), 0);
    EXPECT_THAT(refusal(two_masses, "--out pipe.fmu"), HasSubstr("what is there is no FMU, and is not replaced"));
    EXPECT_THAT(refusal("time: {end: 1, step: 0.1}\nsubsystems:\n  \"a  b\": {model: mass-spring-damper}\n"),
                AllOf(HasSubstr("'a  b"), HasSubstr("name")));
}

}  // namespace
}  // namespace mdpcosim
