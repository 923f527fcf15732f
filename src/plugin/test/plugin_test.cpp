#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <elf.h>
#include <unistd.h>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "core/error.hpp"
#include "core/foreign_call.hpp"
#include "plugin/library.hpp"
#include "plugin/test/plugins/faulty.hpp"
#include "subsystem/factory.hpp"
#include "subsystem/solver.hpp"
#include "support/plugin_spec.hpp"
#include "support/told_messages.hpp"

namespace mdpcosim::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string user_message(const subsystem_spec& spec) {
    try {
        make_subsystem(spec);
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

// ---- loading

class plugin_file : public testing::Test {
   protected:
    plugin_file()
        : folder_(std::filesystem::temp_directory_path() / ("mdpcosim-plugin-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(folder_);
    }
    ~plugin_file() override { std::filesystem::remove_all(folder_); }

    /// The example plugin with some bytes changed.
    std::filesystem::path changed(const std::function<void(std::string&)>& change) const {
        std::ifstream in(example_plugins / "oscillator_c.so", std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(in), {}};
        change(bytes);
        std::ofstream(folder_ / "changed.so", std::ios::binary) << bytes;
        return folder_ / "changed.so";
    }

    const std::filesystem::path folder_;
};

const bool crashes_are_named = (watch_crashes(), true);

TEST_F(plugin_file, missing) {
    const std::string message = user_message(plugin_spec("/no/such/folder/x.so"));
    EXPECT_EQ(message, "s.yaml:5:13: subsystem 'a': plugin 'x.so': the file '/no/such/folder/x.so' does not exist.");
}

TEST_F(plugin_file, a_folder) { EXPECT_THAT(user_message(plugin_spec(folder_)), HasSubstr("is not a file.")); }

TEST_F(plugin_file, not_a_library) {
    const auto path = changed([](std::string& bytes) { bytes = "echo a script that is long enough for a header\n"; });
    EXPECT_THAT(user_message(plugin_spec(path)), HasSubstr("is not a shared library. Build it with -shared -fPIC."));
    EXPECT_THAT(user_message(plugin_spec(changed([](std::string& bytes) { bytes.clear(); }))),
                HasSubstr("is not a shared library"));
}

TEST_F(plugin_file, an_object_file) {
    const auto path = changed([](std::string& bytes) { bytes[offsetof(Elf64_Ehdr, e_type)] = ET_REL; });
    EXPECT_THAT(user_message(plugin_spec(path)), HasSubstr("is an object file or a program, not a shared library"));
}

TEST_F(plugin_file, of_another_machine) {
    const auto path = changed([](std::string& bytes) {
        const Elf64_Half s390 = EM_S390;
        std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_machine), &s390, sizeof s390);
    });
    EXPECT_THAT(user_message(plugin_spec(path)),
                AllOf(HasSubstr("is made for machine 22 (64 bits), but this mdpcosim runs on")));
    const auto small = changed([](std::string& bytes) {
        const Elf64_Half x86 = EM_386;
        std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_machine), &x86, sizeof x86);
        bytes[EI_CLASS] = ELFCLASS32;
    });
    EXPECT_THAT(user_message(plugin_spec(small)), HasSubstr("is made for x86 (32 bits), but"));
}

TEST_F(plugin_file, cut_off) {
    const auto path = changed([](std::string& bytes) { bytes.resize(100); });
    EXPECT_THAT(user_message(plugin_spec(path)),
                AllOf(HasSubstr("plugin 'changed.so': "), HasSubstr("is damaged: parts of the library are missing")));
}

TEST_F(plugin_file, with_an_unresolved_symbol) {
    EXPECT_THAT(user_message(plugin_spec(test_plugins / "unresolved.so")),
                AllOf(StartsWith("s.yaml:5:13: subsystem 'a': plugin 'unresolved.so': "),
                      HasSubstr("cannot be loaded: undefined symbol: a_function_that_does_not_exist.")));
}

TEST_F(plugin_file, without_the_entry_point) {
    EXPECT_THAT(user_message(plugin_spec(test_plugins / "no_entry.so")),
                HasSubstr("plugin 'no_entry.so': it has no function 'mdpcosim_plugin_entry'."));
}

TEST_F(plugin_file, of_another_version) {
    EXPECT_THAT(user_message(plugin_spec(test_plugins / "wrong_version.so")),
                HasSubstr("plugin 'wrong_version.so': it is made for version 7 of the plugin interface; this mdpcosim "
                          "has version 1."));
}

TEST_F(plugin_file, without_a_table) {
    EXPECT_THAT(user_message(plugin_spec(test_plugins / "no_table.so")),
                HasSubstr("plugin 'no_table.so': its mdpcosim_plugin_entry(1) returned NULL"));
}

TEST_F(plugin_file, with_a_bad_table) {
    EXPECT_THAT(user_message(plugin_spec(test_plugins / "bad_table.so")),
                HasSubstr("plugin 'bad_table.so': function 'create' is missing."));
}

TEST_F(plugin_file, is_loaded_once) {
    const auto link = folder_ / "other_name.so";
    std::filesystem::create_symlink(example_plugins / "oscillator_c.so", link);
    const plugin_model& first = load_plugin(plugin_spec(example_plugins / "oscillator_c.so"));
    EXPECT_EQ(&load_plugin(plugin_spec(example_plugins / ".." / "plugins" / "oscillator_c.so")), &first);
    EXPECT_EQ(&load_plugin(plugin_spec(link)), &first);
    EXPECT_EQ(&make_subsystem(plugin_spec(link))->describe(), &first.description);
}

// ---- settings

TEST(plugin_settings, parameters_are_checked_like_those_of_models) {
    const auto with = [](const settings& set) { return user_message(plugin_spec(test_plugins / "faulty.so", set)); };
    EXPECT_EQ(with({{"needed", "2 mm"}}), "accepted");
    EXPECT_THAT(with({}), AllOf(StartsWith("s.yaml:4:3: subsystem 'a' (plugin faulty.so): "),
                                HasSubstr("'needed' (has to be set, in m) is missing")));
    EXPECT_THAT(with({{"needed", "0 m"}}), HasSubstr("parameter 'needed': '0 m' must be greater than zero"));
    EXPECT_THAT(with({{"needed", "1 kg"}}),
                AllOf(StartsWith("s.yaml:7:9: "), HasSubstr("parameter 'needed': in '1 kg' the unit")));
    EXPECT_THAT(
        with({{"neded", "1 m"}}),
        HasSubstr("parameter 'neded' does not exist. It has: where, how, when, needed. Did you mean 'needed'?"));
}

TEST(plugin_settings, an_own_solver_refuses_another) {
    subsystem_spec spec = plugin_spec(test_plugins / "faulty_solver.so", {{"needed", "1 m"}});
    spec.solver.name = {"rk4", {"s.yaml", 9, 13}};
    EXPECT_EQ(user_message(spec),
              "s.yaml:9:13: subsystem 'a': 'solver' is not allowed: plugin faulty_solver.so has its own solver.");
}

TEST(plugin_settings, defaults_are_written_out) {
    subsystem_spec spec = plugin_spec(example_plugins / "oscillator_cpp_solver.so", {{"x0", "1 mm"}});
    const subsystem_spec full = with_defaults(spec);
    ASSERT_EQ(full.set.size(), 6u);
    EXPECT_EQ(full.set[1].name, "mass");
    EXPECT_EQ(full.set[1].values[0].value, "1 kg");
    EXPECT_TRUE(full.solver.name.empty());
    EXPECT_EQ(with_defaults(plugin_spec(example_plugins / "oscillator_c.so")).solver.name.value, default_solver);
}

TEST(plugin_settings, what_is_offered_depends_on_the_form) {
    EXPECT_TRUE(make_subsystem(plugin_spec(example_plugins / "oscillator_c.so"))->offers().chooses_step);
    EXPECT_FALSE(make_subsystem(plugin_spec(example_plugins / "oscillator_cpp_solver.so"))->offers().chooses_step);
    const auto unsaved = make_subsystem(plugin_spec(test_plugins / "unsaved_solver.so", {{"needed", "1 m"}}));
    EXPECT_EQ(unsaved->offers().why_no_save_restore,
              "plugin unsaved_solver.so has an own solver and gives no 'save' and 'restore'");
    EXPECT_THROW(unsaved->make_snapshot(), std::logic_error);
}

// ---- failures

struct where_to_fail {
    const char* file;
    fault_place place;
    const char* function;
    const char* solver = "";
};

const where_to_fail running_places[] = {
    {"faulty.so", fault_place::initialise, "initialise"},
    {"faulty.so", fault_place::output_values, "output_values"},
    {"faulty.so", fault_place::derivatives, "derivatives"},
    {"faulty.so", fault_place::derivatives, "derivatives", "rk4"},
    {"faulty.so", fault_place::jacobian, "jacobian", "dirk-4"},
    {"faulty.so", fault_place::event_indicators, "event_indicators"},
    {"faulty.so", fault_place::event_indicators, "event_indicators", "cvode-bdf"},
    {"faulty.so", fault_place::apply_event, "apply_event"},
    {"faulty.so", fault_place::next_time_event, "next_time_event", "trapezoidal"},
    {"faulty_solver.so", fault_place::initialise, "initialise"},
    {"faulty_solver.so", fault_place::output_values, "output_values"},
    {"faulty_solver.so", fault_place::advance, "advance"},
    {"faulty_solver.so", fault_place::save_size, "save_size"},
    {"faulty_solver.so", fault_place::save, "save"},
    {"faulty_solver.so", fault_place::restore, "restore"},
};

void PrintTo(const where_to_fail& where, std::ostream* out) { *out << where.file << " " << where.function; }

subsystem_spec faulty(const where_to_fail& where, fault how, const std::string& when = "0.01 s") {
    subsystem_spec spec =
        plugin_spec(test_plugins / where.file, {{"where", std::to_string(static_cast<int>(where.place))},
                                                {"how", std::to_string(static_cast<int>(how))},
                                                {"when", when},
                                                {"needed", "1 m"}});
    spec.solver.name.value = where.solver;
    return spec;
}

/// All a method may do, over half a second; nothing happens before `when`.
void run_all(subsystem& s) {
    s.initialise(0);
    const double u[] = {1};
    double y[1];
    const polynomial inputs[] = {{{1}, 0}};
    for (int n = 0; n < 50; ++n) {
        s.outputs(u, y);
        s.advance({n * 0.01, (n + 1) * 0.01, n}, inputs, y);
        const auto snapshot = s.offers().save_restore ? s.make_snapshot() : nullptr;
        if (!snapshot) continue;
        s.save(*snapshot);
        s.restore(*snapshot);
    }
}

class plugin_failure : public testing::TestWithParam<where_to_fail> {
   protected:
    static std::string message(fault how) {
        try {
            run_all(*make_subsystem(faulty(GetParam(), how)));
        } catch (const run_error& problem) {
            return problem.what();
        }
        return "ran";
    }
    static std::string start() {
        std::string file = GetParam().file;
        return "plugin " + file + ": " + GetParam().function + " at t = ";
    }
};

TEST_P(plugin_failure, nothing_asked_for_nothing_happens) { EXPECT_EQ(message(fault::none), "ran"); }

TEST_P(plugin_failure, is_reported_with_the_plugins_reason) {
    if (GetParam().place == fault_place::save_size) return;  // has no status to return
    EXPECT_THAT(message(fault::message), AllOf(HasSubstr(start()), HasSubstr(" s: no licence for 3 users")));
    EXPECT_THAT(message(fault::message), testing::Not(HasSubstr("\n")));
    EXPECT_THAT(message(fault::no_message),
                AllOf(HasSubstr(start()), HasSubstr(" s: it returned 7 and gave no reason")));
    EXPECT_THAT(message(fault::endless_message), HasSubstr(std::string(MDPCOSIM_MESSAGE_SIZE, 'x')));
}

TEST_P(plugin_failure, exceptions_do_not_end_the_process) {
    EXPECT_THAT(message(fault::exception),
                AllOf(HasSubstr(start()), HasSubstr("a C++ exception left it: table is empty")));
    EXPECT_THAT(message(fault::odd_exception),
                AllOf(HasSubstr(start()), HasSubstr("a C++ exception of unknown type left it")));
}

TEST_P(plugin_failure, crash_names_the_subsystem) {
    struct {
        fault how;
        const char* name;
    } const crashes[] = {
        {fault::segv, "SIGSEGV"}, {fault::fpe, "SIGFPE"}, {fault::abort, "SIGABRT"}, {fault::stack, "SIGSEGV"}};
    for (const auto& [how, name] : crashes) {
        const std::string text = "mdpcosim: subsystem 'a' \\(plugin " + std::string(GetParam().file) +
                                 "\\): crashed \\(" + name + "\\) in " + GetParam().function;
        EXPECT_EXIT(run_all(*make_subsystem(faulty(GetParam(), how))), testing::ExitedWithCode(1), text);
    }
}

INSTANTIATE_TEST_SUITE_P(plugin, plugin_failure, testing::ValuesIn(running_places), [](const auto& instance) {
    std::string name = std::to_string(instance.index) + "_" + instance.param.file + "_" + instance.param.function +
                       "_" + instance.param.solver;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
    return name;
});

TEST(plugin_failures, the_time_of_a_crash_is_told) {
    const auto spec = faulty({"faulty_solver.so", fault_place::advance, ""}, fault::segv, "0.25 s");
    EXPECT_EXIT(run_all(*make_subsystem(spec)), testing::ExitedWithCode(1),
                "crashed \\(SIGSEGV\\) in advance at t = 0.24 s");
}

TEST(plugin_failures, crash_in_another_thread) {
    for (const fault how : {fault::segv, fault::stack}) {
        const auto spec = faulty({"faulty_solver.so", fault_place::advance, ""}, how);
        EXPECT_EXIT(std::thread([&] { run_all(*make_subsystem(spec)); }).join(), testing::ExitedWithCode(1),
                    "subsystem 'a' \\(plugin faulty_solver.so\\): crashed \\(SIGSEGV\\) in advance");
    }
}

TEST(plugin_failures, create) {
    const where_to_fail create{"faulty.so", fault_place::create, "create"};
    EXPECT_EQ(user_message(faulty(create, fault::message)),
              "s.yaml:4:3: subsystem 'a' (plugin faulty.so): create: no licence for 3 users.");
    EXPECT_THAT(user_message(faulty(create, fault::no_message)),
                HasSubstr("create: it returned NULL and gave no reason."));
    EXPECT_THAT(user_message(faulty(create, fault::exception)),
                HasSubstr("create: a C++ exception left it: table is empty."));
    EXPECT_EXIT(make_subsystem(faulty(create, fault::segv)), testing::ExitedWithCode(1),
                "crashed \\(SIGSEGV\\) in create\n");
}

TEST(plugin_failures, destroy) {
    const where_to_fail destroy{"faulty.so", fault_place::destroy, "destroy"};
    const test::told_messages messages;
    make_subsystem(faulty(destroy, fault::exception)).reset();
    EXPECT_EQ(messages.text(), "subsystem 'a' (plugin faulty.so): destroy: a C++ exception left it: table is empty\n");
    EXPECT_EXIT(make_subsystem(faulty(destroy, fault::abort)).reset(), testing::ExitedWithCode(1),
                "crashed \\(SIGABRT\\) in destroy\n");
}

TEST(plugin_failures, crash_while_loading) {
    EXPECT_EXIT(make_subsystem(plugin_spec(test_plugins / "crash_at_start.so")), testing::ExitedWithCode(1),
                "subsystem 'a' \\(plugin crash_at_start.so\\): crashed \\(SIGSEGV\\) in its start");
}

TEST(plugin_failures, derivatives_that_are_not_numbers) {
    for (const char* solver : {"erk-5", "rk4", "cvode-bdf"}) {
        try {
            run_all(*make_subsystem(faulty({"faulty.so", fault_place::derivatives, "", solver}, fault::nan)));
            FAIL() << solver;
        } catch (const run_error& problem) {
            EXPECT_THAT(problem.what(), HasSubstr(solver));
        }
    }
}

// ---- signal handlers

volatile sig_atomic_t seen = 0;

TEST(plugin_handlers, others_keep_their_signals) {
    struct sigaction own {};
    own.sa_handler = [](int) { seen = seen + 1; };
    struct sigaction old {};
    ::sigaction(SIGFPE, &own, &old);
    {
        const auto subsystem = make_subsystem(plugin_spec(example_plugins / "oscillator_c.so"));
        struct sigaction present {};
        ::sigaction(SIGFPE, nullptr, &present);
        EXPECT_EQ(present.sa_handler, own.sa_handler);
        seen = 0;
        std::raise(SIGFPE);
        EXPECT_EQ(seen, 1);
    }
    struct sigaction after {};
    ::sigaction(SIGFPE, &old, &after);
    EXPECT_EQ(after.sa_handler, own.sa_handler);
}

}  // namespace
}  // namespace mdpcosim::test
