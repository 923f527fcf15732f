#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <sstream>
#include <thread>

#include "core/json.hpp"
#include "plugin/test/plugins/faulty.hpp"
#include "process.hpp"
#include "support/temporary_folder.hpp"

/// The real program with a subsystem that goes wrong at a random time, in a random place among its fellows; and what must be
/// left, and not left, after it.
namespace mdpcosim::test {

namespace fs = std::filesystem;

enum class injection { exits, is_killed, hangs, sends_nan, loses_the_connection, throws };

struct fault_case {
    std::string transport;
    injection kind;
    bool program = false;  ///< the subsystem is an external program, else a plugin
};

inline std::string name_of(const fault_case& c) {
    constexpr const char* names[] = {"exits", "is_killed", "hangs", "sends_nan", "loses_the_connection", "throws"};
    return (c.program ? "program_" : "") + c.transport + "_" + names[static_cast<int>(c.kind)];
}

inline std::vector<fault_case> fault_cases() {
    std::vector<fault_case> all;
    // A program is reached through shared memory on threads and on processes alike.
    for (const auto& [transport, program] : std::initializer_list<std::pair<std::string, bool>>{
             {"processes", false}, {"tcp", false}, {"threads", true}, {"tcp", true}})
        for (int kind = 0; kind <= static_cast<int>(injection::throws); ++kind)
            if (transport == "tcp" || static_cast<injection>(kind) != injection::loses_the_connection)
                all.push_back({transport, static_cast<injection>(kind), program});
    return all;
}

/// What a run carries that all its processes inherit.
inline constexpr const char* mark_variable = "MDPCOSIM_TEST_MARK";

/// Living processes of the run, by their parent's number.
inline std::vector<std::pair<pid_t, pid_t>> marked_processes(const std::string& mark) {
    std::vector<std::pair<pid_t, pid_t>> found;
    for (const auto& entry : fs::directory_iterator("/proc", fs::directory_options::skip_permission_denied)) {
        const std::string name = entry.path().filename();
        if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); })) continue;
        if (content(entry.path() / "environ").find(mark) == std::string::npos) continue;
        const std::string status = content(entry.path() / "stat");
        std::istringstream rest(status.substr(std::min(status.size(), status.rfind(')') + 2)));
        char state = 'Z';
        pid_t parent = 0;
        rest >> state >> parent;
        if (state != 'Z') found.emplace_back(std::stoi(name), parent);
    }
    return found;
}

class fault_run {
   public:
    fault_run(const fault_case& c, std::mt19937& random) : case_(c), random_(random) {
        const bool outside = c.kind == injection::is_killed;
        const double when = outside ? 1e9 : std::uniform_real_distribution(0.0, 0.1)(random);
        std::vector<std::string> entries{
            "  a: {model: mass-spring-damper, set: {stiffness: 1 kN/m, x0: 1 m}, solver: rk4}\n",
            "  b: {model: mass-spring-damper, set: {stiffness: 2 kN/m}, solver: rk4}\n",
            fmt::format("  bad: {{{}{}}}\n", c.program ? program(when) : plugin(when),
                        c.kind == injection::hangs ? fmt::format(", limit: {} s", limit) : "")};
        std::shuffle(entries.begin(), entries.end(), random);
        std::string text = fmt::format("time: {{end: {} s, step: 1 ms}}\nsubsystems:\n", outside ? 1e9 : 0.2);
        for (const auto& e : entries) text += e;
        text +=
            "connections:\n  rod: {law: spring, between: [a.mass, b.mass], stiffness: 300 N/m}\n"
            "signals:\n  - " +
            std::string(c.program ? "1 N.s/m*" : "") + "a.mass.velocity -> bad.u\nrecord: {every: 5 ms}\n";
        write_file(folder_ / "s.yaml", text);
        fs::create_directory(folder_ / "tmp");
        mark_ = fmt::format("{}={}", mark_variable, folder_.path().string());
    }

    /// Runs it to its end and looks at everything.
    void check() {
        const auto before = shared_memory();
        ::setenv(mark_variable, folder_.path().c_str(), 1);
        ::setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
        ::setenv("MDPCOSIM_TEST_MOMENT", (folder_ / "moment").c_str(), 1);
        process child({MDPCOSIM_PROGRAM, "run", (folder_ / "s.yaml").string(), "--out", (folder_ / "out").string(),
                       "--quiet", "--transport", case_.transport},
                      {});
        ::unsetenv(mark_variable);
        ::unsetenv("TMPDIR");
        ::unsetenv("MDPCOSIM_TEST_MOMENT");
        if (case_.kind == injection::is_killed) kill_one();
        const double killed = now();
        const process::outcome o = child.wait();
        const double end = now();
        if (case_.kind == injection::is_killed)
            seconds = end - killed;
        else if (std::istringstream(content(folder_ / "moment")) >> seconds)
            seconds = end - seconds - (case_.kind == injection::hangs ? limit : 0);
        else
            ADD_FAILURE() << "nothing went wrong";
        EXPECT_EQ(o.exit_status, 1) << o.err;
        expect_message(o.err);
        expect_whole_results();
        // A port, a connection and memory without a name live as long as the processes that have them.
        EXPECT_THAT(marked_processes(mark_), testing::IsEmpty());
        EXPECT_EQ(shared_memory(), before);
        EXPECT_TRUE(fs::is_empty(folder_ / "tmp")) << fs::directory_iterator(folder_ / "tmp")->path();
    }

    double seconds = 0;  ///< from the fault, or from the end of the limit, to the end of the program

   private:
    static constexpr double limit = 0.5;

    static double now() {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    std::string plugin(double when) const {
        return fmt::format(
            "plugin: {}/tests/plugins/faulty_solver.so, set: {{where: {}, how: {}, when: {} s, needed: 1 m}}",
            MDPCOSIM_BINARY_DIR, static_cast<int>(fault_place::advance), static_cast<int>(how()), when);
    }
    std::string program(double when) const {
        constexpr const char* faults[] = {"exit", "well", "hang", "nan", "close", "fail"};
        return fmt::format("program: {}/tests/programs/faulty, set: {{how: {}, when: {} s}}", MDPCOSIM_BINARY_DIR,
                           faults[static_cast<int>(case_.kind)], when);
    }

    fault how() const {
        switch (case_.kind) {
            case injection::exits:
                return fault::exit;
            case injection::is_killed:
                return fault::none;
            case injection::hangs:
                return fault::hang;
            case injection::sends_nan:
                return fault::nan;
            case injection::loses_the_connection:
                return fault::disconnect;
            case injection::throws:
                return fault::message;
        }
        return fault::none;
    }

    /// One of the subsystems' processes, at a random time after the first row.
    void kill_one() {
        while (content(folder_ / "out/results.csv").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution(0, 50000)(random_)));
        const auto all = marked_processes(mark_);
        const auto parent_of = [&](pid_t process) {
            const auto found = std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.first == process; });
            return found == all.end() ? -1 : found->second;
        };
        // The master is a child of the process that watches it.
        std::vector<pid_t> children;
        for (const auto& p : all)
            if (parent_of(parent_of(p.first)) > 0 && parent_of(parent_of(parent_of(p.first))) > 0)
                children.push_back(p.first);
        ASSERT_EQ(children.size(), case_.transport == "threads" ? 1u : 3u);
        ::kill(children[std::uniform_int_distribution<std::size_t>(0, children.size() - 1)(random_)], SIGKILL);
    }

    /// A kill may come that early.
    bool before_first_step(const std::string& text) const {
        return case_.kind == injection::is_killed &&
               (text.find("in outputs") != std::string::npos || text.find("in initialise") != std::string::npos);
    }

    void expect_message(const std::string& text) const {
        using testing::AllOf;
        using testing::ContainsRegex;
        using testing::HasSubstr;
        EXPECT_THAT(text, ContainsRegex("subsystem '(a|b|bad)' failed at t = [0-9.e+-]+ s: "));
        if (!before_first_step(text)) {
            EXPECT_THAT(text, AllOf(ContainsRegex("macro step [0-9]+ from [0-9.e+-]+ s to "),
                                    HasSubstr("inputs at its start: ")));
        }
        if (case_.kind != injection::is_killed) {
            EXPECT_THAT(text, AllOf(HasSubstr("subsystem 'bad' failed"), HasSubstr("u = ")));
        }
        switch (case_.kind) {
            case injection::exits:
                EXPECT_THAT(
                    text,
                    HasSubstr(case_.program
                                  ? "its process ended with status 7 in advance; it wrote last: no licence"
                                  : "its process ended with status 5 in advance; it wrote last: the paper is out"));
                break;
            case injection::is_killed:
                EXPECT_THAT(text, HasSubstr("its process was killed by signal 9"));
                break;
            case injection::hangs:
                EXPECT_THAT(text, HasSubstr(fmt::format("its process did not answer within {} s in advance", limit)));
                break;
            case injection::sends_nan:
                EXPECT_THAT(text, HasSubstr(case_.program ? "output 'y' is nan" : "output 'x' is nan"));
                break;
            case injection::loses_the_connection:
                EXPECT_THAT(text, HasSubstr("the connection was lost: the other side closed it in advance"));
                break;
            case injection::throws:
                EXPECT_THAT(text, HasSubstr(case_.program ? "the valve is stuck" : "no licence for 3 users"));
                break;
        }
    }

    void expect_whole_results() const {
        const auto summary = json::parse_if_valid(content(folder_ / "out/summary.json"));
        ASSERT_TRUE(summary);
        EXPECT_EQ(summary->at("status"), "failed");
        const std::string text = content(folder_ / "out/results.csv");
        ASSERT_TRUE(text.ends_with('\n'));
        std::istringstream in(text);
        std::string line;
        std::getline(in, line);
        const auto separators = std::count(line.begin(), line.end(), ',');
        std::int64_t rows = 0;
        for (; std::getline(in, line); ++rows) ASSERT_EQ(std::count(line.begin(), line.end(), ','), separators) << line;
        EXPECT_EQ(rows, summary->at("rows"));
    }

    static std::vector<std::string> shared_memory() {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator("/dev/shm"))
            if (const std::string name = entry.path().filename(); name.find("mdpcosim") != std::string::npos)
                names.push_back(name);
        return names;
    }

    fault_case case_;
    std::mt19937& random_;
    const temporary_folder folder_;
    std::string mark_;
};

/// So many injections of one kind. The promise is one second from the fault, or from the end of the limit, to the program's end;
/// `strict`: for every single one, else for most, since some may meet a busy machine.
inline void inject(const fault_case& c, int count, unsigned seed, bool strict) {
    std::mt19937 random(seed);
    std::vector<double> seconds;
    for (int i = 0; i < count; ++i) {
        SCOPED_TRACE(fmt::format("injection {} of seed {}", i, seed));
        fault_run run(c, random);
        run.check();
        seconds.push_back(run.seconds);
        if (testing::Test::HasFailure()) return;
    }
    std::sort(seconds.begin(), seconds.end());
    const double median = seconds[seconds.size() / 2];
    fmt::print("from the fault to the program's end: median {:.3f} s, longest {:.3f} s\n", median, seconds.back());
    EXPECT_LT(strict ? seconds.back() : median, 1);
}

}  // namespace mdpcosim::test
