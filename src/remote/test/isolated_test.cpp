#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <thread>

#include "core/error.hpp"
#include "remote/isolated_subsystem.hpp"
#include "support/far_function.hpp"
#include "support/solver_test_models.hpp"
#include "support/subsystem_contract.hpp"

namespace mdpcosim::test {
namespace {

using testing::HasSubstr;

std::unique_ptr<subsystem> native() { return make_native_subsystem(oscillator(), make_solver("erk-5")); }

std::unique_ptr<subsystem> isolated(const far_function<std::unique_ptr<subsystem>()>& make) {
    return make_isolated_subsystem({.name = "far"}, far_subsystem(make));
}

std::unique_ptr<subsystem> make_doing(const std::string& text) {
    const auto deed = from_text<far_function<void()>>(text);
    return make_native_subsystem(
        std::make_unique<function_model>(std::vector{1.0}, 1,
                                         [deed](double t, const double*, const double*, double* dx) {
                                             if (t > 0.5) deed();
                                             dx[0] = 0;
                                         }),
        make_solver("rk4"));
}

/// An oscillator that does something in its right-hand side once the time has passed 0.5.
std::unique_ptr<subsystem> doing(const far_function<void()>& deed, double limit = 0) {
    return make_isolated_subsystem({.name = "far", .limit = limit}, far_subsystem(make_doing, as_text(deed)));
}

std::string failure_of(subsystem& s) {
    const std::vector<polynomial> inputs(1);
    double y = 0;
    s.initialise(0);
    s.advance({0, 0.25, 0}, inputs, {&y, 1});
    try {
        s.advance({0.25, 1, 1}, inputs, {&y, 1});
    } catch (const run_error& problem) {
        return problem.what();
    }
    return "no failure";
}

void expect_no_process_left() {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

TEST(isolated, gives_the_same_numbers) {
    const auto near = native();
    const auto far = isolated(native);
    near->initialise(0);
    far->initialise(0);
    std::vector<double> a(2), b(2);
    for (int i = 0; i < 100; ++i) {
        std::vector<polynomial> inputs{constant(std::sin(i))};
        near->advance({0.1 * i, 0.1 * (i + 1), i}, inputs, a);
        far->advance({0.1 * i, 0.1 * (i + 1), i}, inputs, b);
        EXPECT_EQ(a, b);
    }
    EXPECT_EQ(far->statistics().evaluations, near->statistics().evaluations);
    EXPECT_EQ(far->describe().outputs[1].name, near->describe().outputs[1].name);
}

TEST(isolated, crash_is_told_with_the_last_words) {
    {
        const auto s = doing([] {
            fprintf(stderr, "about to fall\n");
            signal(SIGSEGV, SIG_DFL);
            raise(SIGSEGV);
        });
        const std::string reason = failure_of(*s);
        EXPECT_THAT(reason, HasSubstr("was killed by signal 11"));
        EXPECT_THAT(reason, HasSubstr("in advance"));
        EXPECT_THAT(reason, HasSubstr("about to fall"));
        double y = 0;
        EXPECT_THROW(s->advance({0.25, 1, 1}, std::vector<polynomial>(1), {&y, 1}), run_error);
        EXPECT_EQ(s->statistics().micro_steps, 0);
    }
    expect_no_process_left();
}

TEST(isolated, exit_is_told) {
    const auto s = doing([] { _exit(3); });
    EXPECT_THAT(failure_of(*s), HasSubstr("ended with status 3"));
}

TEST(isolated, hanging_is_ended_after_the_limit) {
    {
        // The limit holds for the start, too, which takes its time on a busy machine.
        const auto s = doing(
            [] {
                for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
            },
            3);
        EXPECT_THAT(failure_of(*s), HasSubstr("did not answer within 3 s in advance"));
    }
    expect_no_process_left();
}

TEST(isolated, exception_arrives) {
    const auto s = doing([] { throw run_error("no root"); });
    EXPECT_THAT(failure_of(*s), HasSubstr("no root"));
}

TEST(isolated, mistakes_at_the_start_arrive) {
    try {
        isolated([]() -> std::unique_ptr<subsystem> { throw user_error({"s.yaml", 3, 4}, "parameter is wrong"); });
        FAIL();
    } catch (const user_error& problem) {
        EXPECT_STREQ(problem.what(), "s.yaml:3:4: parameter is wrong");
    }
    EXPECT_THROW(isolated([]() -> std::unique_ptr<subsystem> { throw std::runtime_error("no library"); }), run_error);
    try {
        isolated([]() -> std::unique_ptr<subsystem> { _exit(7); });
        FAIL();
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("ended with status 7 at its start"));
    }
    expect_no_process_left();
}

INSTANTIATE_TEST_SUITE_P(isolated, subsystem_contract,
                         testing::Values(subsystem_case{"oscillator", [] { return isolated(native); }}), case_name);

}  // namespace
}  // namespace mdpcosim::test
