// The reference of a chain of stiff masses in parts of 104 states each: what a sparse implicit solver takes from its start on. See
// docs/performance.md.
//   bench_reference [PARTS...]
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenario/read.hpp"
#include "simulation/simulation.hpp"

namespace {

using namespace mdpcosim;

constexpr int masses = 52;

std::string chain(int parts) {
    const std::string spring = "stiffness: 1e6 N/m, damping: 10 N.s/m, cubic-stiffness: 1e9";
    std::string text = "time: {end: 0.1 ms, step: 50 us}\nsubsystems:\n", connections = "connections:\n";
    for (int p = 0; p < parts; ++p) {
        text += fmt::format(
            "  p{}: {{model: chain, set: {{n: {}, first: {}, left: {}, right: free, x-amplitude: 1 mm, {}}}}}\n", p,
            masses, p * masses + 1, p == 0 ? "fixed" : "free", spring);
        if (p > 0)
            connections += fmt::format("  j{0}: {{law: cubic-spring-damper, between: [p{1}.right, p{0}.left], {2}}}\n",
                                       p, p - 1, spring);
    }
    return text + connections +
           "record: {only: [p0.left.position]}\nreference: {solver: {name: cvode-bdf, rtol: 1e-8, atol: 1e-11}}\n";
}

double cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void measure(int parts) {
    const scenario s = read_scenario_text(chain(parts), "chain");
    constexpr int rounds = 7;
    std::vector<double> seconds;
    std::int64_t evaluations = 0;
    for (int round = 0; round < rounds; ++round) {
        simulation all(s, {.workers = 1, .monolithic = true, .writable = false});
        const double begin = cpu_seconds();
        all.initialise();
        while (!all.done()) all.step();
        seconds.push_back(cpu_seconds() - begin);
        evaluations = all.finish().subsystems.front().evaluations;
    }
    std::ranges::nth_element(seconds, seconds.begin() + rounds / 2);
    fmt::print("| {} | {:.3g} | {} |\n", 2 * masses * parts, 1e3 * seconds[rounds / 2], evaluations);
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<std::string> words(arguments + 1, arguments + count);
    if (words.empty()) words = {"13", "39", "130"};
    fmt::print(
        "| states | 0.1 ms of reference, ms, median of 7 | evaluations of the right-hand side |\n|---|---|---|\n");
    for (const std::string& word : words) measure(std::stoi(word));
}
