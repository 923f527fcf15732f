// What the transport mpi adds to bare MPI: a macro step of two subsystems with hardly any work on two ranks, against the round
// trip of messages of the same sizes between the same two processes, through the same module. Both in turn, in batches; the best
// batch of each turn is the one that was not disturbed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

#include "echo.hpp"
#include "transport/mpi/launch.hpp"
#include "transport/mpi/transport.hpp"
#include "transport/threads.hpp"

namespace {

using namespace mdpcosim;
using clock = std::chrono::steady_clock;

constexpr int turns = 21, batches = 20, steps = 20;
constexpr int request = 57, reply = 12;  // bytes, of one subsystem with one input of degree 0 and one output

std::unique_ptr<transport> one_echo(const char* name) {
    std::vector<named_subsystem> one;
    one.push_back({name, std::make_unique<bench::echo>()});
    return make_thread_transport(std::move(one), 1);
}

/// Of each turn: the best batch, for one step or round trip, s.
using figures = std::vector<double>;

double median(figures values) {
    std::nth_element(values.begin(), values.begin() + turns / 2, values.end());
    return values[turns / 2];
}

void step_in_turn(mpi_ranks& ranks, figures& found) {
    if (ranks.rank() == 1) return serve_mpi_rank(ranks, [](const std::string&) { return one_echo("b"); });
    const auto both = make_mpi_transport(ranks, {"a", "b"}, {{0}, {1}}, [] { return one_echo("a"); });
    both->initialise(0);
    for (auto& p : both->inputs()) p.c[0] = 1;
    double best = 1;
    for (int b = 0; b < batches; ++b) {
        const auto begin = clock::now();
        for (int n = 0; n < steps; ++n) both->advance({n * 1e-3, (n + 1) * 1e-3, n});
        best = std::min(best, std::chrono::duration<double>(clock::now() - begin).count() / steps);
    }
    found.push_back(best);
}

int measure() {
    const std::atomic<bool> hurry{false};
    mpi_ranks ranks(*told_by_launcher(), hurry);
    figures bare, stepped;
    for (int t = 0; t < turns; ++t) {
        double best = 1;
        for (int b = 0; b < batches; ++b) {
            double seconds = 0;
            if (ranks.module().ping_pong(steps, request, reply, &seconds) != 0) return 1;
            best = std::min(best, seconds / steps);
        }
        bare.push_back(best);
        step_in_turn(ranks, stepped);
    }
    if (ranks.rank() != 0) return 0;
    figures ratio;
    for (int t = 0; t < turns; ++t) ratio.push_back(stepped[t] / bare[t]);
    fmt::print("{}, 2 ranks on this machine, medians of {} turns\n", ranks.module().name, turns);
    fmt::print("  bare round trip {:.3f} us, macro step {:.3f} us, ratio {:.2f}\n", 1e6 * median(bare),
               1e6 * median(stepped), median(ratio));
    std::fflush(stdout);
    tell_launcher(0);
    return 0;
}

}  // namespace

int main() {
    if (told_by_launcher()) return measure();
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    const std::atomic<int> interrupts{0};
    int status = 0;
    for (const auto& each : mpi_implementations()) {
        if (mpi_module_file(each).empty()) continue;
        setenv("MDPCOSIM_MPI", each.name.c_str(), 1);
        status |= launch_ranks({{self}, {}, {"a", "b"}}, interrupts);
    }
    return status;
}
