#include "faults/one_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>
#include <thread>

#include "core/json.hpp"
#include "marked_processes.hpp"
#include "plugin/test/plugins/faulty.hpp"
#include "process.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim::faults {

namespace {

namespace fs = std::filesystem;
using test::content;

constexpr double limit = 3;  // s, for its start on a busy machine, too
using test::mark_variable;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void pause(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

bool from_outside(kind k) {
    return k == kind::killed || k == kind::lost_rank || k == kind::terminate || k == kind::interrupt ||
           k == kind::hang_up;
}

/// What commit_fault.h is told.
std::string fault_of(kind k) {
    constexpr const char* names[] = {"signal-11", "signal-7",  "signal-8", "signal-4", "signal-6",
                                     "exit",      "bare-exit", "status",   "hang"};
    if (k <= kind::hang) return names[static_cast<int>(k)];
    switch (k) {
        case kind::garbage:
            return "garbage";
        case kind::disconnect:
            return "disconnect";
        case kind::flood:
            return "flood";
        case kind::memory:
            return "memory";
        case kind::cpu:
            return "burn";
        default:
            return "none";
    }
}

std::string limits_of(const cell& c) {
    if (c.what == kind::memory) return ", limits: {memory: 600 MB}";
    if (c.what == kind::cpu) return ", limits: {cpu: 1 s}";
    if (c.what == kind::killed || c.what == kind::garbage) return ", limit: 60 s";
    return c.limited() ? fmt::format(", limit: {} s", limit) : "";
}

/// The entry of the subsystem that fails at `when`, from 1 on never.
std::string entry_of(const cell& c, double when) {
    const kind k = c.what;
    const std::string build = MDPCOSIM_BINARY_DIR;
    switch (c.who) {
        case source::native:  // what grows like exp(t sqrt(stiffness)) is soon beyond all numbers
            return fmt::format("model: mass-spring-damper, set: {{stiffness: {} N/m, x0: 1 m}}, solver: rk4",
                               k == kind::not_a_number ? -1e7 / (0.01 + when) : 1e3);
        case source::ode:
            return fmt::format(
                "ode: {{inputs: {{u: 0 m/s}}, states: {{x: 1 m}}, equations: {{x: {}}}, outputs: {{x: x}}}}, solver: "
                "rk4",
                k == kind::not_a_number ? fmt::format("u*sqrt({} - t)", when) : "u");
        case source::plugin: {
            const auto how = k == kind::not_a_number ? test::fault::nan
                             : k == kind::error      ? test::fault::message
                             : k == kind::exception  ? test::fault::exception
                             : from_outside(k)       ? test::fault::none
                                                     : test::fault::as_told;
            return fmt::format(
                "plugin: {}/tests/plugins/faulty_solver.so, set: {{where: {}, how: {}, when: {} s, needed: 1 m}}",
                build, static_cast<int>(test::fault_place::advance), static_cast<int>(how), when);
        }
        case source::fmu:
        case source::exported: {  // this one inside
            const char* how = k == kind::not_a_number ? "nan"
                              : k == kind::error      ? "error"
                              : k == kind::exception  ? "throw"
                              : from_outside(k)       ? "nothing"
                                                      : "as-told";
            return fmt::format(
                "fmu: {}/fmus/misbehave-{}.fmu, isolate: false, set: {{where: step, how: {}, when: {} s}}", build,
                2 + static_cast<int>(1e6 * when) % 2, how, when);
        }
        case source::program: {
            const char* how = k == kind::not_a_number ? "nan"
                              : k == kind::error      ? "fail"
                              : from_outside(k)       ? "well"
                                                      : "as-told";
            return fmt::format("program: {}/tests/programs/faulty, set: {{how: {}, when: {} s}}", build, how, when);
        }
    }
    return {};
}

std::string signal_to(source s) {
    switch (s) {
        case source::native:
            return "";
        case source::fmu:
            return "  - 1 s/m*a.mass.velocity -> bad.u\n";
        case source::exported:
            return "  - 1 s/m*a.mass.velocity -> bad.inner.u\n";
        case source::program:
            return "  - 1 N.s/m*a.mass.velocity -> bad.u\n";
        default:
            return "  - a.mass.velocity -> bad.u\n";
    }
}

class fault_run {
   public:
    fault_run(const cell& c, std::mt19937& random, bool supervised)
        : cell_(c), random_(random), supervised_(supervised) {
        const double when = std::uniform_real_distribution(0.02, 0.1)(random);
        std::vector<std::string> entries{
            "  a: {model: mass-spring-damper, set: {stiffness: 1 kN/m, x0: 1 m}, solver: rk4}\n",
            "  b: {model: mass-spring-damper, set: {stiffness: 2 kN/m}, solver: rk4}\n",
            fmt::format("  bad: {{{}{}}}\n",
                        c.who == source::exported ? exported(entry_of(c, when)) : entry_of(c, when), limits_of(c))};
        std::shuffle(entries.begin(), entries.end(), random);
        std::string text =
            fmt::format("time: {{end: {} s, step: 1 ms}}\nsubsystems:\n", from_outside(c.what) ? 1e6 : 0.2);
        for (const auto& e : entries) text += e;
        text += "connections:\n  rod: {law: spring, between: [a.mass, b.mass], stiffness: 300 N/m}\n";
        if (const std::string signal = signal_to(c.who); !signal.empty()) text += "signals:\n" + signal;
        text += from_outside(c.what) ? "record: {every: 100 ms}\n" : "record: {every: 5 ms}\n";
        test::write_file(folder_ / "s.yaml", text);
        fs::create_directory(folder_ / "tmp");
    }

    verdict check() {
        std::vector<std::string> command{"/usr/bin/env",
                                         fmt::format("{}={}", mark_variable, folder_.path().string()),
                                         "TMPDIR=" + (folder_ / "tmp").string(),
                                         "MDPCOSIM_TEST_MOMENT=" + (folder_ / "moment").string(),
                                         "MDPCOSIM_TEST_FAULT=" + fault_of(cell_.what),
                                         fmt::format("MDPCOSIM_MPI={}", mpi()),
                                         MDPCOSIM_PROGRAM,
                                         "run",
                                         (folder_ / "s.yaml").string(),
                                         "--out",
                                         (folder_ / "out").string(),
                                         "--quiet",
                                         "--transport",
                                         name_of(cell_.where)};
        if (cell_.where == place::mpi) command.insert(command.end(), {"--hosts", "localhost:2"});
        test::process run(command, {});
        double begin = -1;
        if (from_outside(cell_.what)) begin = strike(run);
        const test::process::outcome seen = run.wait();
        const double end = now();
        if (!from_outside(cell_.what)) std::istringstream(content(folder_ / "moment")) >> begin;
        if (begin > 0 && cell_.what != kind::cpu && cell_.what != kind::memory)
            verdict_.seconds = end - begin - (cell_.what == kind::hang || cell_.what == kind::flood ? limit : 0);
        expect_end(seen);
        expect_results();
        expect_nothing_left();
        if (!verdict_.problems.empty())
            verdict_.problems.push_back(fmt::format("it said: {}", seen.err.substr(0, 1500)));
        return verdict_;
    }

   private:
    /// The entry of an FMU that has such a subsystem inside.
    std::string exported(const std::string& entry) const {
        test::write_file(folder_ / "inner.yaml",
                         fmt::format("time: {{end: 1 s, step: 1 ms}}\nsubsystems:\n  inner: {{{}}}\n", entry));
        const fs::path fmu = folder_ / fmt::format("bad-{}.fmu", 2 + random_() % 2);
        const std::string version = fmu.stem().string().substr(4);
        const auto seen = test::process({MDPCOSIM_PROGRAM, "export", "fmu", (folder_ / "inner.yaml").string(), "--out",
                                         fmu.string(), "--fmi", version},
                                        {})
                              .wait();
        if (seen.exit_status != 0) throw std::runtime_error("no FMU was exported: " + seen.err);
        return fmt::format("fmu: {}, isolate: false", fmu.string());
    }

    template <class... Arguments>
    void expect(bool holds, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
        if (!holds) verdict_.problems.push_back(fmt::format(text, std::forward<Arguments>(arguments)...));
    }

    /// Either, where both are there.
    std::string mpi() {
        static const bool both = std::system("mpiexec.mpich --version > /dev/null 2>&1") == 0 &&
                                 fs::exists(fs::path(MDPCOSIM_BINARY_DIR) / "mdpcosim-mpi-mpich.so");
        return both && random_() % 2 == 0 ? "mpich" : "openmpi";
    }

    bool is_interruption() const {
        return from_outside(cell_.what) && cell_.what != kind::killed && cell_.what != kind::lost_rank;
    }

    /// Processes of the run that live: number, command, whether they are subsystems' own.
    struct living {
        pid_t id;
        std::string command;
    };
    std::vector<living> marked_processes() const {
        const std::string mark = fmt::format("{}={}", mark_variable, folder_.path().string());
        std::vector<living> found;
        for (const auto& [id, parent] : test::marked_processes(mark))
            found.push_back({id, content(fs::path("/proc") / std::to_string(id) / "cmdline")});
        return found;
    }

    /// Rank 0 writes the results, and is lost with them unless somebody watches it.
    bool is_rank(pid_t id) const {
        const fs::path at = fs::path("/proc") / std::to_string(id);
        const std::string environment = content(at / "environ");
        const auto has = [&](const char* rank) {
            return environment.find(fmt::format("OMPI_COMM_WORLD_RANK={}", rank)) != std::string::npos ||
                   environment.find(fmt::format("PMI_RANK={}", rank)) != std::string::npos;
        };
        return content(at / "comm") == "mdpcosim\n" && (has("1") || (supervised_ && has("0")));
    }

    bool has_begun() const {
        const std::string rows = content(folder_ / "out/results.csv");
        return std::count(rows.begin(), rows.end(), '\n') > 2;
    }

    /// A signal to the run, or kill -9 to the process of a subsystem, at a random time after the first rows. When it was.
    double strike(test::process& run) {
        const double begin = now();
        while (!has_begun() && run.lives() && now() < begin + 60) pause(2e-3);
        pause(std::uniform_real_distribution(0.0, 0.05)(random_));
        if (is_interruption()) {
            run.send(cell_.what == kind::terminate ? SIGTERM : cell_.what == kind::interrupt ? SIGINT : SIGHUP);
            return now();
        }
        std::vector<pid_t> victims;
        for (const auto& p : marked_processes())
            if (cell_.what == kind::lost_rank
                    ? is_rank(p.id)
                    : p.command.starts_with("mdpcosim-host") || p.command.find("programs/faulty") != std::string::npos)
                victims.push_back(p.id);
        expect(!victims.empty(), "there is no process to kill");
        if (!victims.empty())
            ::kill(victims[std::uniform_int_distribution<std::size_t>(0, victims.size() - 1)(random_)], SIGKILL);
        return now();
    }

    /// The words of who watches foreign code: the subsystem, its file, the call.
    static std::string told(const std::string& what) {
        return fmt::format(R"(subsystem 'bad' \((plugin|fmu) [^)]+\): {} in (advance|fmi[23]DoStep) at t = )", what);
    }

    std::string crash(int number) const {
        if (cell_.who == source::program) return fmt::format("was killed by signal {} ", number);
        return told(fmt::format(R"(crashed \(SIG{}\))", ::sigabbrev_np(number)));
    }

    std::string cause() const {
        const bool program = cell_.who == source::program;
        switch (cell_.what) {
            case kind::segv:
                return crash(SIGSEGV);
            case kind::bus:
                return crash(SIGBUS);
            case kind::fpe:
                return crash(SIGFPE);
            case kind::ill:
                return crash(SIGILL);
            case kind::abort:
                return crash(SIGABRT);
            case kind::exit:
                return program ? "ended with status 0" : told(R"(called exit\(0\))");
            case kind::bare_exit:  // other threads may be at work, too
                if (program || cell_.isolated()) return "ended with status 0";
                return told(R"(ended the program with _exit\(0\))") +
                       R"(|the program was ended with _exit\(0\); at work: .*subsystem 'bad' \()";
            case kind::status:
                return program ? "ended with status 5.*the paper is out"
                               : "the paper is out.*" + told(R"(called exit\(5\))");
            case kind::hang:
            case kind::flood:
                return fmt::format("did not answer within {:g} s in ", limit);
            case kind::not_a_number:
                return "(is|became) -?(nan|inf)";
            case kind::error:
                return "no licence for 3 users|returned error|the valve is stuck";
            case kind::exception:
                return "table is empty|thrown as commanded|exception";
            case kind::killed:
                return "was killed by signal 9";
            case kind::lost_rank:
                return "rank [01] on [^ ]+ was lost";
            case kind::disconnect:
                return "the connection was lost";
            case kind::memory:
                return "'limits: memory'";
            case kind::cpu:
                return "'limits: cpu'";
            default:
                return "";
        }
    }

    void expect_end(const test::process::outcome& seen) {
        const int wanted = is_interruption() ? 130 : 1;
        expect(seen.exit_status == wanted, "exit status {} (signal {}) in place of {}", seen.exit_status, seen.signal,
               wanted);
        expect(seen.err.size() < 4000, "a message of {} characters", seen.err.size());
        if (is_interruption()) return;
        const bool any = cell_.what == kind::killed || cell_.what == kind::lost_rank;
        const std::regex name(any ? "subsystems? '(a|b|bad)'" : "subsystem 'bad'|subsystems [^\n]*'bad'");
        expect(std::regex_search(seen.err, name), "the subsystem is not named");
        expect(cell_.what == kind::lost_rank || std::regex_search(seen.err, std::regex("t = [0-9.e+-]+ s")),
               "the time is not told");
        std::string line = seen.err;
        std::ranges::replace(line, '\n', ' ');
        expect(std::regex_search(line, std::regex(cause())), "the cause '{}' is not told", cause());
    }

    void expect_results() {
        const auto summary = json::parse_if_valid(content(folder_ / "out/summary.json"));
        expect(summary.has_value(), "there is no summary");
        const std::string text = content(folder_ / "out/results.csv");
        expect(text.ends_with('\n'), "the last row is not whole");
        std::istringstream in(text);
        std::string line;
        std::getline(in, line);
        const auto separators = std::count(line.begin(), line.end(), ',');
        std::int64_t rows = 0;
        for (; std::getline(in, line); ++rows)
            if (std::count(line.begin(), line.end(), ',') != separators) expect(false, "row {} is not whole", rows);
        expect(rows > 0, "there are no rows");
        if (!summary) return;
        expect(summary->at("status") == (is_interruption() ? "interrupted" : "failed"), "the summary says {}",
               summary->at("status").dump());
        expect(summary->at("rows") == rows, "the summary says {} rows of {}", summary->at("rows").dump(), rows);
    }

    /// A port, a connection and memory without a name live as long as the processes that have them.
    void expect_nothing_left() {
        const double begin = now();
        while (!marked_processes().empty() && now() < begin + (cell_.where == place::mpi ? 5 : 0.2)) pause(0.01);
        for (const auto& left : marked_processes()) {
            expect(false, "process {} is left: {}", left.id, left.command);
            ::kill(left.id, SIGKILL);
        }
        for (const auto& entry : fs::directory_iterator(folder_ / "tmp")) {
            const std::string name = entry.path().filename();
            expect(false, "file '{}' is left", name);
        }
        for (const auto& entry : fs::directory_iterator("/dev/shm"))
            expect(entry.path().string().find(folder_.path().filename()) == std::string::npos, "memory '{}' is left",
                   entry.path().string());
    }

    cell cell_;
    std::mt19937& random_;
    bool supervised_;
    const test::temporary_folder folder_;
    verdict verdict_;
};

}  // namespace

verdict run_fault(const cell& what, std::mt19937& random, bool supervised) {
    return fault_run(what, random, supervised).check();
}

}  // namespace mdpcosim::faults
