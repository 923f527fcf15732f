// Masses in a ring of springs, explicit Euler, lin-2-3-opt: what starting costs, what memory a subsystem takes and what a macro step
// costs, from 100 to 100000 subsystems. Every size in a process of its own. See docs/performance.md.
//   bench_ring [SIZE...]          a table
//   bench_ring --write SIZE       the scenario, to standard output
#include <fmt/format.h>
#include <malloc.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "scenario/read.hpp"
#include "simulation/simulation.hpp"

namespace {

using namespace mdpcosim;

constexpr double H = 1e-3;

std::string ring(int subsystems) {
    std::string text =
        fmt::format("time: {{end: 1 s, step: {} s}}\nmethod: explicit\nextrapolation: lin-2-3-opt\nsubsystems:\n", H);
    for (int i = 0; i < subsystems; ++i)
        text += fmt::format("  m{}: {{model: mass-spring-damper, solver: euler, set: {{mass: 1 kg, x0: {} m}}}}\n", i,
                            1e-3 * (i % 7));
    text += "connections:\n";
    for (int i = 0; i < subsystems; ++i)
        text += fmt::format("  c{}: {{law: spring, stiffness: 100 N/m, between: [m{}.mass, m{}.mass]}}\n", i, i,
                            (i + 1) % subsystems);
    return text + "record: {only: [m0.mass.position]}\n";
}

double cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double resident_kib() {
    std::ifstream status("/proc/self/statm");
    long total = 0, resident = 0;
    status >> total >> resident;
    return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / 1024;
}

/// The scenario as `run` treats it: read, put together, then no longer needed.
void measure(int subsystems) {
    const double before = resident_kib(), begin = cpu_seconds();
    std::optional<scenario> s = read_scenario_text(ring(subsystems), "ring");
    s->time.end = 1e9 * H;  // as many steps as are asked for
    const double was_read = cpu_seconds();
    simulation all(*s, {.workers = 1, .writable = false});
    s.reset();
    all.release_scenario();
    ::malloc_trim(0);
    const double was_built = cpu_seconds();
    all.initialise();
    const double started = cpu_seconds();
    const double kib = (resident_kib() - before) / subsystems;
    const int steps = std::max(20, 1'000'000 / subsystems);
    for (int n = 0; n < 20; ++n) all.step();
    std::vector<double> seconds;
    constexpr int rounds = 7;
    for (int round = 0; round < rounds; ++round) {
        const double since = cpu_seconds();
        for (int n = 0; n < steps; ++n) all.step();
        seconds.push_back(cpu_seconds() - since);
    }
    const double per = static_cast<double>(steps) * subsystems;
    std::ranges::nth_element(seconds, seconds.begin() + rounds / 2);
    fmt::print("| {} | {:.3g} | {:.3g} | {:.3g} | {:.3g} | {:.2f} | {:.1f} |\n", subsystems, 1e3 * (was_read - begin),
               1e3 * (was_built - was_read), 1e3 * (started - was_built), 1e3 * (started - begin), kib,
               1e9 * seconds[rounds / 2] / per);
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<std::string> words(arguments + 1, arguments + count);
    if (words.size() == 2 && words[0] == "--write") {
        fmt::print("{}", ring(std::stoi(words[1])));
        return 0;
    }
    if (words.empty()) words = {"100", "1000", "10000", "100000"};
    fmt::print(
        "| subsystems | read ms | put together ms | initialised ms | all ms | KiB per subsystem | ns per subsystem and "
        "macro step, median of 7 |\n|---|---|---|---|---|---|---|\n");
    std::fflush(stdout);
    for (const std::string& word : words) {
        const int subsystems = std::stoi(word);
        const pid_t child = ::fork();
        if (child == 0) {
            measure(subsystems);
            std::fflush(stdout);
            ::_exit(0);
        }
        int status = 0;
        if (child < 0 || ::waitpid(child, &status, 0) < 0 || status != 0) return 1;
    }
    return 0;
}
