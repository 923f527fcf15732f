// Damaged frames, peers that misbehave and strangers, in numbers.
#include "remote/test/frame_fuzz.hpp"

namespace mdpcosim::test {
namespace {

TEST(frames, damaged_ones_are_refused) {
    for (unsigned seed = 100; seed < 120; ++seed) fuzz_frames(20000, seed);
}

TEST(peers, that_say_anything_end_the_run_in_order) { fuzz_peers(5000, 21); }

TEST(listener, strangers_of_all_kinds_do_not_disturb_it) { fuzz_listener(1000, 22); }

}  // namespace
}  // namespace mdpcosim::test
