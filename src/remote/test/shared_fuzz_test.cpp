// Processes that write garbage into the shared memory, in numbers.
#include <chrono>
#include <cstdlib>

#include "remote/test/shared_fuzz.hpp"

namespace mdpcosim::test {
namespace {

TEST(shared_memory, garbage_from_hostile_processes_never_breaks_the_master) {
    const char *seconds = std::getenv("MDPCOSIM_FUZZ_SECONDS"), *seed = std::getenv("MDPCOSIM_FUZZ_SEED");
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds ? std::atof(seconds) : 600);
    constexpr int at_once = 10;
    unsigned next = seed ? static_cast<unsigned>(std::atoi(seed)) : 1000;
    for (; std::chrono::steady_clock::now() < end && !testing::Test::HasFailure(); next += at_once)
        fuzz_shared_memory(at_once, next);
    RecordProperty("processes", static_cast<int>(next));
}

}  // namespace
}  // namespace mdpcosim::test
