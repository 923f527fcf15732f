// Processes that write garbage into the shared memory, in numbers.
#include "remote/test/shared_fuzz.hpp"

namespace mdpcosim::test {
namespace {

TEST(shared_memory, garbage_from_hostile_processes_never_breaks_the_master) { fuzz_shared_memory(2000, 1000); }

}  // namespace
}  // namespace mdpcosim::test
