// Every system, method and tolerance of step control.
#include "controlled_run.hpp"

namespace mdpcosim {
namespace {

constexpr auto at_the_end = test::looked_at::at_the_end;

/// The seeds 14 to 23 decided what step control leaves to systems with contacts; these did not. Held signals have the order 1 and take as many steps as the tolerance is small.
TEST(controlled_steps_long, true_errors_follow_the_tolerance) {
    for (unsigned seed = 24; seed < 34; ++seed)
        for (const test::controlled_system& system : test::controlled_systems(seed)) {
            const test::seen_values should = test::run(system, "", true);
            const bool held = system.name.find("held") != std::string::npos;
            for (const std::string method : {"explicit", "semi-implicit", "one-pass", "iterated"}) {
                if (!system.ports && method == "one-pass") continue;
                for (const double rtol : {1e-3, 1e-4, 1e-5, 1e-6}) {
                    if (held && rtol < 1e-4) continue;
                    SCOPED_TRACE(fmt::format("seed {}, {}, {}, rtol {}", seed, system.name, method, rtol));
                    EXPECT_LT(test::controlled_error(system, should, method, rtol), 3);
                    EXPECT_LT(test::controlled_error(system, should, method, rtol, at_the_end), 3);
                }
            }
        }
}

}  // namespace
}  // namespace mdpcosim
