// mdpcosim.h: the same bits as a run, mistakes as statuses with words, nothing left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/allocator_interface.h>
#endif

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "mdpcosim/mdpcosim.h"
#include "scenario/read.hpp"
#include "simulation/simulation.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

const fs::path examples = fs::path(MDPCOSIM_SOURCE_DIR) / "examples";
const std::string two_masses = (examples / "two-mass/scenario.yaml").string();

struct closing {
    void operator()(mdpcosim_simulation* s) const { mdpcosim_free(s); }
};
using handle = std::unique_ptr<mdpcosim_simulation, closing>;

const char* const decay =
    "time: {end: 1 s, step: 10 ms}\nsubsystems:\n  a: {ode: {parameters: {k: 2}, states: {x: 1}, "
    "inputs: {v: 0}, equations: {x: -k*x + v}}}\n";

std::size_t entries(const char* folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator{}));
}

/// Bytes on the heap, by whoever keeps it.
std::size_t memory_in_use() {
#ifdef __SANITIZE_ADDRESS__
    return __sanitizer_get_current_allocated_bytes();
#else
    malloc_trim(0);
    return mallinfo2().uordblks;
#endif
}

TEST(c_interface, gives_the_bits_of_a_run) {
    for (const char* const transport : {"threads", "processes", "tcp"}) {
        const scenario s = read_scenario(two_masses);
        simulation plain(s, {.workers = 1, .writable = false});
        plain.initialise();
        mdpcosim_options o{};
        o.size = sizeof o;
        o.transport = transport;
        const handle h(mdpcosim_load(two_masses.c_str(), &o));
        ASSERT_NE(h, nullptr) << mdpcosim_last_error(nullptr);
        ASSERT_EQ(mdpcosim_initialise(h.get()), MDPCOSIM_OK);
        std::vector<int> places;
        std::vector<std::string> addresses;
        for (const auto& column : plain.parts().columns) {
            places.push_back(mdpcosim_find(h.get(), column.name.c_str()));
            addresses.push_back(column.name);
            ASSERT_GE(places.back(), 0) << column.name;
        }
        ASSERT_GT(places.size(), 4u);
        std::vector<double> values(places.size());
        while (mdpcosim_done(h.get()) == 0 && plain.steps() < 200) {
            plain.step();
            ASSERT_EQ(mdpcosim_step(h.get()), MDPCOSIM_OK);
            ASSERT_EQ(mdpcosim_time(h.get()), plain.time());
            ASSERT_EQ(mdpcosim_read(h.get(), places.data(), places.size(), values.data()), MDPCOSIM_OK);
            for (std::size_t i = 0; i < places.size(); ++i)
                ASSERT_EQ(values[i], plain.value(addresses[i])) << addresses[i];
        }
        EXPECT_EQ(mdpcosim_steps(h.get()), plain.steps());
    }
}

TEST(c_interface, rows_are_kept_in_memory) {
    const std::string text = std::string(decay) + "record: {every: 95 ms}\n";
    const handle h(mdpcosim_load_text(text.c_str(), nullptr, nullptr));
    ASSERT_NE(h, nullptr) << mdpcosim_last_error(nullptr);
    EXPECT_EQ(mdpcosim_column(h.get(), 0), nullptr);
    EXPECT_THAT(mdpcosim_last_error(h.get()), HasSubstr("no rows are kept"));
    ASSERT_EQ(mdpcosim_record(h.get()), MDPCOSIM_OK);
    EXPECT_EQ(mdpcosim_record(h.get()), MDPCOSIM_MISTAKE);
    for (int run = 0; run < 2; ++run) {
        ASSERT_EQ(mdpcosim_initialise(h.get()), MDPCOSIM_OK);
        EXPECT_EQ(mdpcosim_row_count(h.get()), 1U);
        ASSERT_EQ(mdpcosim_advance_to(h.get(), 0.5), MDPCOSIM_OK);
        EXPECT_EQ(mdpcosim_run_for(h.get(), -1), MDPCOSIM_MISTAKE);
        ASSERT_EQ(mdpcosim_run_for(h.get(), 0), MDPCOSIM_OK);
        // The start, the first macro point at or after every multiple of 95 ms, the end.
        ASSERT_EQ(mdpcosim_row_count(h.get()), 12U);
        ASSERT_EQ(mdpcosim_column_count(h.get()), 2U);
        EXPECT_STREQ(mdpcosim_column_name(h.get(), 0), "time");
        EXPECT_STREQ(mdpcosim_column_unit(h.get(), 0), "s");
        EXPECT_STREQ(mdpcosim_column_name(h.get(), 1), "a.x");
        EXPECT_EQ(mdpcosim_column_name(h.get(), 2), nullptr);
        const double* const t = mdpcosim_column(h.get(), 0);
        const double* const x = mdpcosim_column(h.get(), 1);
        for (std::size_t k = 0; k < 12; ++k) {
            EXPECT_NEAR(t[k], k == 11 ? 1 : std::ceil(static_cast<double>(k) * 9.5) * 0.01, 1e-12) << k;
            EXPECT_NEAR(x[k], std::exp(-2 * t[k]), 1e-6) << k;
        }
        ASSERT_EQ(mdpcosim_reset(h.get()), MDPCOSIM_OK);
        EXPECT_EQ(mdpcosim_row_count(h.get()), 0U);
    }
    const handle late(mdpcosim_load_text(decay, nullptr, nullptr));
    ASSERT_EQ(mdpcosim_initialise(late.get()), MDPCOSIM_OK);
    EXPECT_EQ(mdpcosim_record(late.get()), MDPCOSIM_MISTAKE);
}

TEST(c_interface, values_are_set_saved_loaded_and_begin_anew) {
    const test::temporary_folder folder;
    const std::string file = (folder.path() / "state").string();
    const handle h(mdpcosim_load_text(decay, nullptr, nullptr));
    ASSERT_NE(h, nullptr) << mdpcosim_last_error(nullptr);
    double x = 0, there = 0;
    ASSERT_EQ(mdpcosim_initialise(h.get()), MDPCOSIM_OK);
    ASSERT_EQ(mdpcosim_advance_to(h.get(), 0.5), MDPCOSIM_OK);
    ASSERT_EQ(mdpcosim_set(h.get(), "a.k", 4), MDPCOSIM_OK);
    ASSERT_EQ(mdpcosim_set(h.get(), "a.v", 1), MDPCOSIM_OK);
    ASSERT_EQ(mdpcosim_save(h.get(), file.c_str()), MDPCOSIM_OK) << mdpcosim_last_error(h.get());
    ASSERT_EQ(mdpcosim_advance_to(h.get(), 1), MDPCOSIM_OK);
    ASSERT_EQ(mdpcosim_get(h.get(), "a.x", &x), MDPCOSIM_OK);
    EXPECT_NEAR(x, 0.25 + (std::exp(-1) - 0.25) * std::exp(-2), 1e-6);
    EXPECT_EQ(mdpcosim_done(h.get()), 1);
    const handle other(mdpcosim_load_text(decay, nullptr, nullptr));
    ASSERT_EQ(mdpcosim_load_state(other.get(), file.c_str()), MDPCOSIM_OK) << mdpcosim_last_error(other.get());
    ASSERT_EQ(mdpcosim_advance_to(other.get(), 1), MDPCOSIM_OK);
    ASSERT_EQ(mdpcosim_get(other.get(), "a.x", &there), MDPCOSIM_OK);
    EXPECT_EQ(there, x);
    ASSERT_EQ(mdpcosim_reset(h.get()), MDPCOSIM_OK);
    EXPECT_EQ(mdpcosim_time(h.get()), 0);
    const char* json = nullptr;
    ASSERT_EQ(mdpcosim_summary(other.get(), &json), MDPCOSIM_OK);
    EXPECT_THAT(json, AllOf(HasSubstr("\"macro_steps\": 100"), HasSubstr("\"status\": \"done\"")));
}

TEST(c_interface, settings_and_messages_are_passed_on) {
    const char* const settings[] = {"a.k=8", "time.step=20 ms"};
    mdpcosim_options o{};
    o.size = sizeof o;
    o.settings = settings;
    o.setting_count = 2;
    const handle h(mdpcosim_load_text(decay, nullptr, &o));
    ASSERT_NE(h, nullptr) << mdpcosim_last_error(nullptr);
    ASSERT_EQ(mdpcosim_initialise(h.get()), MDPCOSIM_OK);
    ASSERT_EQ(mdpcosim_step(h.get()), MDPCOSIM_OK);
    double x = 0;
    EXPECT_EQ(mdpcosim_time(h.get()), 0.02);
    mdpcosim_get(h.get(), "a.x", &x);
    EXPECT_NEAR(x, std::exp(-0.16), 1e-6);
}

/// Foreign code lives elsewhere unless the caller wants it here: what it does there is a status.
TEST(c_interface, foreign_code_cannot_end_the_caller) {
    const std::string fmu = MDPCOSIM_BINARY_DIR "/fmus/misbehave-2.fmu",
                      plugin = MDPCOSIM_BINARY_DIR "/tests/plugins/faulty_solver.so";
    const auto scenario = [](const std::string& entry) {
        return "time: {end: 1 s, step: 10 ms}\nsubsystems:\n  a: {" + entry + "}\n";
    };
    const auto entry_of = [&](const std::string& how) {
        return scenario("fmu: " + fmu + ", set: {where: step, when: 0.5, how: " + how + "}");
    };
    for (const std::string& bad :
         {entry_of("raw-exit-0"), entry_of("exit-0"), entry_of("crash"), entry_of("overflow"),
          scenario("plugin: " + plugin + ", set: {where: 10, how: 1, when: 0.505 s, needed: 1 m}")}) {
        const handle h(mdpcosim_load_text(bad.c_str(), nullptr, nullptr));
        ASSERT_NE(h, nullptr) << mdpcosim_last_error(nullptr);
        ASSERT_EQ(mdpcosim_initialise(h.get()), MDPCOSIM_OK) << mdpcosim_last_error(h.get());
        EXPECT_EQ(mdpcosim_advance_to(h.get(), 1), MDPCOSIM_FAILED);
        EXPECT_THAT(mdpcosim_last_error(h.get()),
                    AllOf(HasSubstr("subsystem 'a' failed at t = 0.5"),
                          testing::ContainsRegex("its process (ended with status|was killed by signal)")));
        EXPECT_EQ(mdpcosim_time(h.get()), 0.5);
    }
    // A plugin's initialisers run there, too.
    const std::string crashing = scenario("plugin: " MDPCOSIM_BINARY_DIR "/tests/plugins/crash_at_start.so");
    EXPECT_EQ(mdpcosim_load_text(crashing.c_str(), nullptr, nullptr), nullptr);
    EXPECT_THAT(mdpcosim_last_error(nullptr), HasSubstr("its process "));
}

TEST(c_interface, foreign_code_gives_the_same_here_and_elsewhere) {
    const std::string text = "time: {end: 0.2 s, step: 10 ms}\nsubsystems:\n  a: {fmu: " MDPCOSIM_BINARY_DIR
                             "/fmus/oscillator-2.fmu, set: {x0: 0.1}}\n";
    double x[2] = {0, 1};
    for (const int here : {0, 1}) {
        mdpcosim_options o{};
        o.size = sizeof o;
        o.in_process = here;
        const handle h(mdpcosim_load_text(text.c_str(), nullptr, &o));
        ASSERT_NE(h, nullptr) << mdpcosim_last_error(nullptr);
        ASSERT_EQ(mdpcosim_initialise(h.get()), MDPCOSIM_OK) << mdpcosim_last_error(h.get());
        ASSERT_EQ(mdpcosim_advance_to(h.get(), 0.2), MDPCOSIM_OK) << mdpcosim_last_error(h.get());
        ASSERT_EQ(mdpcosim_get(h.get(), "a.position", &x[here]), MDPCOSIM_OK) << mdpcosim_last_error(h.get());
    }
    EXPECT_EQ(x[0], x[1]);
    mdpcosim_options o{};
    o.size = sizeof o;
    o.monolithic = 1;
    EXPECT_EQ(mdpcosim_load_text(text.c_str(), nullptr, &o), nullptr);
    EXPECT_EQ(mdpcosim_last_status(nullptr), MDPCOSIM_MISTAKE);
    EXPECT_THAT(mdpcosim_last_error(nullptr), AllOf(HasSubstr("subsystem 'a'"), HasSubstr("'in_process'")));
}

TEST(c_interface, mistakes_are_statuses_with_words) {
    const auto fails = [](const mdpcosim_simulation* s, int status, const std::string& words) {
        EXPECT_EQ(status, MDPCOSIM_MISTAKE);
        EXPECT_EQ(mdpcosim_last_status(s), MDPCOSIM_MISTAKE);
        EXPECT_THAT(mdpcosim_last_error(s), HasSubstr(words));
    };
    EXPECT_EQ(mdpcosim_load("/nowhere/s.yaml", nullptr), nullptr);
    EXPECT_THAT(mdpcosim_last_error(nullptr), HasSubstr("/nowhere/s.yaml"));
    EXPECT_EQ(mdpcosim_last_status(nullptr), MDPCOSIM_MISTAKE);
    EXPECT_EQ(mdpcosim_load(nullptr, nullptr), nullptr);
    EXPECT_THAT(mdpcosim_last_error(nullptr), HasSubstr("'path' is NULL"));
    EXPECT_EQ(mdpcosim_load_text("time: {end: 1 s, stepp: 1 ms}", nullptr, nullptr), nullptr);
    EXPECT_THAT(mdpcosim_last_error(nullptr), HasSubstr("Did you mean 'step'?"));
    mdpcosim_options o{};
    EXPECT_EQ(mdpcosim_load_text(decay, nullptr, &o), nullptr);
    EXPECT_THAT(mdpcosim_last_error(nullptr), HasSubstr("'size' is 0"));
    o.size = sizeof o;
    o.transport = "pigeons";
    EXPECT_EQ(mdpcosim_load_text(decay, nullptr, &o), nullptr);
    EXPECT_THAT(mdpcosim_last_error(nullptr), HasSubstr("pigeons"));
    const char* const wrong[] = {"a.k"};
    o = {};
    o.size = sizeof o;
    o.settings = wrong;
    o.setting_count = 1;
    EXPECT_EQ(mdpcosim_load_text(decay, nullptr, &o), nullptr);
    EXPECT_THAT(mdpcosim_last_error(nullptr), HasSubstr("is not 'object.parameter=value'"));

    fails(nullptr, mdpcosim_step(nullptr), "the simulation is NULL");
    EXPECT_TRUE(std::isnan(mdpcosim_time(nullptr)));
    EXPECT_EQ(mdpcosim_done(nullptr), -1);
    EXPECT_EQ(mdpcosim_steps(nullptr), -1);

    mdpcosim_simulation* const s = mdpcosim_load_text(decay, nullptr, nullptr);
    ASSERT_NE(s, nullptr);
    double value = 0;
    const char* text = nullptr;
    fails(s, mdpcosim_step(s), "step() before initialise()");
    fails(s, mdpcosim_get(s, "a.x", &value), "no value before initialise()");
    EXPECT_EQ(mdpcosim_initialise(s), MDPCOSIM_OK);
    fails(s, mdpcosim_initialise(s), "was called before");
    fails(s, mdpcosim_get(s, "a.y", &value), "'a.y' does not exist");
    fails(s, mdpcosim_get(s, nullptr, &value), "'address' is NULL");
    fails(s, mdpcosim_get(s, "a.x", nullptr), "'value' is NULL");
    fails(s, mdpcosim_set(s, "a.x", std::nan("")), "'a.x'");
    fails(s, mdpcosim_set(s, "b.x", 1), "subsystem 'b'");
    fails(s, mdpcosim_get_text(s, "a.x", &text, nullptr), "no output for strings or bytes");
    fails(s, mdpcosim_set_text(s, "a.v", "x", 1), "no input for strings or bytes");
    fails(s, mdpcosim_save(s, "/nowhere/state"), "cannot be written");
    fails(s, mdpcosim_load_state(s, "/nowhere/state"), "cannot be read");
    fails(s, mdpcosim_load_state(s, two_masses.c_str()), two_masses + ": it is no saved state");
    EXPECT_EQ(mdpcosim_find(s, "a.nothing"), -1);
    const int places[] = {7};
    fails(s, mdpcosim_read(s, places, 1, &value), "place 7");
    fails(s, mdpcosim_advance_to(s, -1), "before the present time");
    EXPECT_EQ(mdpcosim_advance_to(s, 1), MDPCOSIM_OK);
    fails(s, mdpcosim_step(s), "after the end");
    mdpcosim_free(s);
    fails(s, mdpcosim_step(s), "was freed before, or never was one");
    mdpcosim_free(s);
    EXPECT_THAT(mdpcosim_last_error(nullptr), HasSubstr("was freed before"));
    int something = 0;
    EXPECT_EQ(mdpcosim_done(reinterpret_cast<mdpcosim_simulation*>(&something)), -1);
}

TEST(c_interface, a_failing_run_is_another_status) {
    const handle h(
        mdpcosim_load_text("time: {end: 1 s, step: 0.1 s}\nsubsystems:\n  a: {ode: {states: {x: 1}, "
                           "equations: {x: sqrt(0.5 - t)}}}\n",
                           nullptr, nullptr));
    ASSERT_NE(h, nullptr) << mdpcosim_last_error(nullptr);
    ASSERT_EQ(mdpcosim_initialise(h.get()), MDPCOSIM_OK);
    EXPECT_EQ(mdpcosim_advance_to(h.get(), 1), MDPCOSIM_FAILED);
    EXPECT_THAT(mdpcosim_last_error(h.get()), HasSubstr("'a'"));
    double x = 0;
    EXPECT_EQ(mdpcosim_get(h.get(), "a.x", &x), MDPCOSIM_OK) << "it can be looked at";
    EXPECT_EQ(mdpcosim_step(h.get()), MDPCOSIM_MISTAKE);
    const char* json = nullptr;
    ASSERT_EQ(mdpcosim_summary(h.get(), &json), MDPCOSIM_OK);
    EXPECT_THAT(json, AllOf(HasSubstr("\"status\": \"failed\""), HasSubstr("subsystem 'a'")));
}

/// What refuses to be saved leaves the file that is there; what cannot be loaded any more has failed, and reset mends it.
TEST(c_interface, files_and_the_summary_tell_the_truth) {
    const test::temporary_folder folder;
    const std::string file = (folder.path() / "state").string();
    const auto status_of = [](const handle& h) {
        const char* json = nullptr;
        EXPECT_EQ(mdpcosim_summary(h.get(), &json), MDPCOSIM_OK);
        const std::string text = json;
        const std::size_t at = text.find("\"status\": \"") + 11;
        return text.substr(at, text.find('"', at) - at);
    };
    const handle h(mdpcosim_load_text(decay, nullptr, nullptr));
    ASSERT_EQ(mdpcosim_initialise(h.get()), MDPCOSIM_OK);
    ASSERT_EQ(mdpcosim_advance_to(h.get(), 0.3), MDPCOSIM_OK);
    EXPECT_EQ(status_of(h), "running");
    ASSERT_EQ(mdpcosim_save(h.get(), file.c_str()), MDPCOSIM_OK);
    const auto size = fs::file_size(file);
    const handle other(mdpcosim_load_text(decay, nullptr, nullptr));
    EXPECT_EQ(mdpcosim_save(other.get(), file.c_str()), MDPCOSIM_MISTAKE) << "before initialise";
    EXPECT_EQ(fs::file_size(file), size);
    EXPECT_EQ(mdpcosim_save(h.get(), "/dev/full/state"), MDPCOSIM_MISTAKE);
    EXPECT_EQ(status_of(h), "running");
    EXPECT_EQ(entries(folder.path().c_str()), 1u);

    // A last step that another end had cut short: the state does not fit, and it was too late to refuse it.
    mdpcosim_options o{};
    o.size = sizeof o;
    const char* const shorter[] = {"time.end=0.255 s"};
    o.settings = shorter;
    o.setting_count = 1;
    const handle cut(mdpcosim_load_text(decay, nullptr, &o));
    ASSERT_EQ(mdpcosim_initialise(cut.get()), MDPCOSIM_OK);
    ASSERT_EQ(mdpcosim_advance_to(cut.get(), 0.255), MDPCOSIM_OK);
    ASSERT_EQ(mdpcosim_save(cut.get(), file.c_str()), MDPCOSIM_OK);
    EXPECT_EQ(mdpcosim_load_state(other.get(), file.c_str()), MDPCOSIM_FAILED);
    EXPECT_EQ(status_of(other), "failed");
    ASSERT_EQ(mdpcosim_reset(other.get()), MDPCOSIM_OK) << mdpcosim_last_error(other.get());
    const int place = mdpcosim_find(other.get(), "a.x");
    EXPECT_EQ(mdpcosim_find(other.get(), "a.x"), place);
    double x = 0;
    EXPECT_EQ(mdpcosim_read(other.get(), &place, 1, &x), MDPCOSIM_MISTAKE) << "there are no values yet";
    ASSERT_EQ(mdpcosim_initialise(other.get()), MDPCOSIM_OK);
    ASSERT_EQ(mdpcosim_advance_to(other.get(), 1), MDPCOSIM_OK);
    EXPECT_EQ(status_of(other), "done");
}

/// A thousand simulations, in two threads at a time, leave no memory, files and threads.
TEST(c_interface, simulations_leave_nothing_behind) {
    const auto make = [](int count, const char* transport) {
        mdpcosim_options o{};
        o.size = sizeof o;
        o.transport = transport;
        for (int n = 0; n < count; ++n) {
            const handle h(mdpcosim_load_text(decay, nullptr, &o));
            ASSERT_NE(h, nullptr);
            ASSERT_EQ(mdpcosim_initialise(h.get()), MDPCOSIM_OK);
            ASSERT_EQ(mdpcosim_advance_to(h.get(), 0.05), MDPCOSIM_OK);
        }
    };
    const auto in_two_threads = [&](int count) {
        std::thread other([&] { make(count / 2, "threads"); });
        make(count / 2, "threads");
        other.join();
        make(5, "processes");
    };
    in_two_threads(100);
    const std::size_t files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
    const std::size_t used = memory_in_use();
    in_two_threads(1000);
    EXPECT_EQ(entries("/proc/self/fd"), files);
    EXPECT_EQ(entries("/proc/self/task"), threads);
    EXPECT_LT(memory_in_use(), used + 100'000) << "less than 100 bytes of each";
}

}  // namespace
}  // namespace mdpcosim
