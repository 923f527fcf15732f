#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "core/error.hpp"
#include "remote/subsystem_process.hpp"
#include "support/far_function.hpp"
#include "support/solver_test_models.hpp"

/// A subsystem whose process writes garbage into the memory that it shares with the master, at random times: only errors that the
/// master promises may come out of that.
namespace mdpcosim::test {

/// The shared memory as the hostile process finds it.
struct found_memory {
    char* begin = nullptr;
    std::size_t size = 0;

    found_memory() {
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);) {
            if (line.find("mdpcosim-subsystems") == std::string::npos) continue;
            unsigned long from = 0, to = 0;
            if (std::sscanf(line.c_str(), "%lx-%lx", &from, &to) != 2) continue;
            begin = reinterpret_cast<char*>(from);  // NOLINT
            size = to - from;
        }
    }

    static int file() {
        for (int number = 3; number < 64; ++number)
            if (fcntl(number, F_GET_SEALS) > 0) return number;
        return -1;
    }
};

/// Which part of it, how much and how often is drawn anew for every process.
inline void scribble(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    const found_memory memory;
    if (memory.begin == nullptr) return;
    const std::size_t part = below(3) == 0   ? 256
                             : below(2) == 0 ? std::min<std::size_t>(memory.size, 8192)
                                             : memory.size;
    const std::size_t pause = std::size_t{1} << below(7);
    constexpr std::uint64_t numbers[] = {0, ~0ULL, 0x7fffffff, 0xffffffff, 1ULL << 62, 0x7ff8000000000000ULL, 17, 255};
    for (int n = 0;; ++n) {
        if (n > 50) std::memset(memory.begin, 0xff, memory.size);  // what came through so far does not any more
        const std::size_t at = below(part - 8);
        const std::uint64_t number = below(2) == 0 ? numbers[below(std::size(numbers))] : random() * 0x100000001ULL;
        std::memcpy(memory.begin + at, &number, below(2) == 0 ? 8 : 4);
        if (below(64) == 0) std::memset(memory.begin + at, static_cast<int>(below(256)), below(part - at));
        if (ftruncate(found_memory::file(), 0) == 0) _exit(3);
        usleep(static_cast<useconds_t>(below(pause) + 1));
    }
}

inline std::unique_ptr<subsystem> make_scribbler(const std::string& seed) {
    return make_native_subsystem(
        std::make_unique<function_model>(
            std::vector{1.0}, 1,
            [seed = std::stoul(seed), started = false](double t, const double*, const double* u, double* dx) mutable {
                if (t > 0 && !std::exchange(started, true)) std::thread(scribble, static_cast<unsigned>(seed)).detach();
                dx[0] = u[0];
            }),
        make_solver("rk4"));
}

/// Has any time to start, and little for its requests.
class scribbled_process : public subsystem_process {
   public:
    explicit scribbled_process(unsigned seed)
        : subsystem_process({.name = "hostile", .limit = 0, .spin = false},
                            {far_subsystem(make_scribbler, std::to_string(seed))}) {
        introduce();
        set_limit(0.1);
    }
};

/// One process: until it fails, or long enough. True where it failed.
inline bool survive_scribbler(unsigned seed) {
    scribbled_process group(seed);
    try {
        group.call({.command = remote_command::initialise, .t0 = 0});
        group.call({.command = remote_command::make_snapshot, .number = 0});
        group.set_plan(
            0, {.advances = true, .provisional = false, .items = {{0, true, 0, 0}}, .signals = {}, .ends = {1}});
        for (int n = 0; n < 3000; ++n) {
            const double t = 1e-3 * n;
            group.call({.command = remote_command::advance, .step = {t, t + 1e-3, n}, .timed = n % 2 == 0});
            if (n % 3 == 0) group.call({.command = remote_command::carry_out, .step = {t + 1e-3, t + 1e-3, n}});
            if (n % 7 == 0) group.call({.command = remote_command::outputs});
            if (n % 11 == 0) group.call({.command = remote_command::save, .number = 0});
            if (n % 13 == 0) group.set_state(0, 0, group.get_state(0, 0));
            if (n % 17 == 0) group.call({.command = remote_command::statistics});
        }
    } catch (const run_error& problem) {
        EXPECT_STRNE(problem.what(), "");
        return true;
    }
    return false;
}

inline void fuzz_shared_memory(int count, unsigned seed) {
    int failures = 0;
    for (int i = 0; i < count; ++i) failures += survive_scribbler(seed + static_cast<unsigned>(i));
    EXPECT_GT(failures, count / 2) << "the garbage does no harm";
}

}  // namespace mdpcosim::test
