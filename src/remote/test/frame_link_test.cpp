// Subsystems behind a link of frames obey the same contract as those that are called directly.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include "core/error.hpp"
#include "remote/frame_link.hpp"
#include "remote/isolated_subsystem.hpp"
#include "support/far_function.hpp"
#include "support/solver_test_models.hpp"
#include "support/subsystem_contract.hpp"

namespace mdpcosim::test {
namespace {

using testing::HasSubstr;

/// In a process at the other end of a pair of sockets.
std::unique_ptr<subsystem> linked(const subsystem_text& text, double limit = 0) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw run_error("no pair of sockets");
    file_handle mine(ends[0]), theirs(ends[1]);
    auto process = start_linked(theirs.get(), {text}, false);
    theirs.close();
    return make_remote_subsystem(std::make_unique<linked_group>(linked_group::options{"far", 1, limit},
                                                                make_socket_link(std::move(mine)), std::move(process)));
}

std::unique_ptr<subsystem> oscillator_with(const char* solver) {
    return make_native_subsystem(oscillator(), make_solver(solver));
}

std::string failure_of(subsystem& s) {
    const std::vector<polynomial> inputs(1);
    std::vector<double> y(static_cast<std::size_t>(s.describe().output_count()));
    try {
        s.initialise(0);
        s.advance({0, 1, 0}, inputs, y);
        s.advance({1, 2, 1}, inputs, y);
    } catch (const run_error& problem) {
        return problem.what();
    }
    return "no failure";
}

std::unique_ptr<subsystem> doer(const std::string& text) {
    const auto deed = from_text<far_function<void()>>(text);
    return make_native_subsystem(
        std::make_unique<function_model>(std::vector{1.0}, 1,
                                         [deed](double t, const double*, const double*, double* dx) {
                                             if (t > 0.5) deed();
                                             dx[0] = 0;
                                         }),
        make_solver("rk4"));
}

std::unique_ptr<subsystem> doing(const far_function<void()>& deed) {
    return linked(far_subsystem(doer, as_text(deed)), 0.5);
}

TEST(linked_group, gives_the_same_bits_as_a_direct_call) {
    const auto near = oscillator_with("erk-5"), far = linked(far_subsystem([] { return oscillator_with("erk-5"); }));
    EXPECT_EQ(far->describe().type, near->describe().type);
    near->initialise(0);
    far->initialise(0);
    std::vector<double> a(static_cast<std::size_t>(near->describe().output_count())), b(a.size());
    std::vector<polynomial> inputs(static_cast<std::size_t>(near->describe().input_count()));
    for (auto& p : inputs) p = {{0.3, -0.2, 0.7}, 2};
    for (int n = 0; n < 20; ++n) {
        const macro_step step{0.1 * n, 0.1 * (n + 1), n};
        near->advance(step, inputs, a);
        far->advance(step, inputs, b);
        ASSERT_EQ(a, b) << n;
    }
    EXPECT_EQ(far->statistics().micro_steps, near->statistics().micro_steps);
}

TEST(linked_group, tells_how_the_other_side_ended) {
    EXPECT_THAT(failure_of(*doing([] {
                    fputs("I give up\n", stderr);
                    _exit(3);
                })),
                testing::AllOf(HasSubstr("its process ended with status 3 in advance"), HasSubstr("I give up")));
    EXPECT_THAT(failure_of(*doing([] { abort(); })), HasSubstr("killed by signal 6"));
    EXPECT_THAT(failure_of(*doing([] { throw run_error("no more"); })), HasSubstr("no more"));
    EXPECT_THAT(failure_of(*doing([] { pause(); })), HasSubstr("did not answer within 0.5 s in advance"));
}

TEST(linked_group, brings_mistakes_of_users_as_such) {
    EXPECT_THROW(linked(far_subsystem([]() -> std::unique_ptr<subsystem> { throw user_error("wrong"); })), user_error);
}

}  // namespace
}  // namespace mdpcosim::test
