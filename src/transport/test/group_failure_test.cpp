// What becomes of a run whose subsystems elsewhere die, hang or are lost, whoever else is still at work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "remote/listener.hpp"
#include "transport/tcp.hpp"
#include "transport/test/test_subsystem.hpp"

namespace mdpcosim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// A subsystem that does a deed in one of its macro steps.
class doer final : public subsystem {
   public:
    doer(std::int64_t step, const test::far_function<void()>& deed) : step_(step), deed_(deed) {
        description_.type = "doer";
        input_variable u;
        u.name = "u";
        description_.inputs.push_back(u);
        output_variable y;
        y.name = "y";
        description_.outputs.push_back(y);
    }
    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override { return {}; }
    void initialise(double) override {}
    void outputs(std::span<const double>, std::span<double> y) override { y[0] = 1; }
    void advance(const macro_step& step, std::span<const polynomial>, std::span<double> y) override {
        if (step.counter == step_) deed_();
        y[0] = 1;
    }

   private:
    subsystem_description description_;
    std::int64_t step_;
    test::far_function<void()> deed_;
};

struct doer_traits {
    std::int64_t step;
    test::far_function<void()> deed;
};

std::unique_ptr<subsystem> make_doer(const std::string& text) {
    const auto traits = test::from_text<doer_traits>(text);
    return std::make_unique<doer>(traits.step, traits.deed);
}

subsystem_recipe doing(const std::string& name, std::int64_t step, const test::far_function<void()>& deed,
                       double limit = 0) {
    return {name, test::far_subsystem(make_doer, test::as_text(doer_traits{step, deed})), limit};
}

void hang() {
    for (;;) pause();
}
void nothing() {}

/// The connections of this process are closed, the process lives on.
void disconnect() {
    for (int file = 3; file < 1024; ++file) shutdown(file, SHUT_RDWR);
    hang();
}

using maker = std::function<std::unique_ptr<transport>(std::vector<subsystem_recipe>)>;

/// Runs to the failure and ends all processes; its message. Who hangs does so for ever: that this returns is the proof.
std::string failure_of(const maker& make, std::vector<subsystem_recipe> recipes) {
    const auto t = make(std::move(recipes));
    t->initialise(0);
    for (auto& p : t->inputs()) p.c[0] = 7;
    for (std::int64_t n = 0; n < 3; ++n)
        t->advance({0.5 * static_cast<double>(n), 0.5 * static_cast<double>(n + 1), n});
    try {
        t->advance({1.5, 2, 3});
    } catch (const subsystem_failure& problem) {
        return problem.what();
    }
    return "no failure";
}

class group_failure : public testing::TestWithParam<std::string> {
   protected:
    static std::unique_ptr<transport> make(std::vector<subsystem_recipe> recipes, const binding& cores) {
        if (GetParam() == "tcp") return make_tcp_transport(std::move(recipes), {}, {.cores = cores});
        return make_process_transport(std::move(recipes), {}, cores);
    }
    static std::unique_ptr<transport> make_free(std::vector<subsystem_recipe> recipes) {
        return make(std::move(recipes), {});
    }
};

/// The first group, which is waited for first, hangs without a limit; of the other one the end is told at once.
TEST_P(group_failure, a_death_is_told_while_another_one_hangs) {
    const std::string message = failure_of(make_free, {doing("a", 3, hang), doing("b", 3, [] {
                                                           fputs("out of paper\n", stderr);
                                                           _exit(5);
                                                       })});
    EXPECT_THAT(message, AllOf(HasSubstr("subsystem 'b' failed at t = 1.5 s"), HasSubstr("ended with status 5"),
                               HasSubstr("out of paper"), HasSubstr("u = 7")));
}

TEST_P(group_failure, an_exception_is_told_while_another_one_hangs) {
    const std::string message =
        failure_of(make_free, {doing("a", 3, hang), doing("b", 3, [] { throw run_error("no ink"); })});
    EXPECT_THAT(message, AllOf(HasSubstr("subsystem 'b' failed at t = 1.5 s"), HasSubstr("no ink")));
}

TEST_P(group_failure, a_hanging_one_is_ended_after_its_limit) {
    const std::string message =
        failure_of(make_free, {doing("a", 3, [] { std::this_thread::sleep_for(400ms); }), doing("b", 3, hang, 0.2)});
    EXPECT_THAT(message, AllOf(HasSubstr("subsystem 'b' failed at t = 1.5 s"),
                               HasSubstr("did not answer within 0.2 s in advance"), HasSubstr("u = 7")));
}

/// Others that finish soon after a failure come to rest, as in every transport.
TEST_P(group_failure, the_lowest_number_is_told) {
    const std::string message = failure_of(make_free, {doing("a", 3,
                                                             [] {
                                                                 std::this_thread::sleep_for(50ms);
                                                                 _exit(4);
                                                             }),
                                                       doing("b", 3, [] { _exit(5); })});
    EXPECT_THAT(message, HasSubstr("subsystem 'a' failed at t = 1.5 s"));
}

/// The time that a process notes at its step's begin has no end; the costs that decide about cores do without it.
TEST_P(group_failure, a_death_in_a_timed_step_leaves_the_costs_alone) {
    for (const std::int64_t last : {6, 9, 12}) {
        std::vector<subsystem_recipe> recipes;
        for (int i = 0; i < 3 * available_cores(); ++i)
            recipes.push_back(doing(std::to_string(i), i == 1 ? last : -1, [] { _exit(5); }));
        const auto t = make(std::move(recipes), {.automatic = true});
        t->initialise(0);
        const auto advance = [&](std::int64_t n) {
            t->advance({static_cast<double>(n), static_cast<double>(n + 1), n});
        };
        for (std::int64_t n = 0; n < last; ++n) advance(n);
        EXPECT_THROW(advance(last), subsystem_failure);
        for (std::size_t i = 0; i < t->size(); ++i) EXPECT_GE(t->cost(subsystem_index(i)).seconds_per_step, 0) << i;
    }
}

TEST_P(group_failure, an_end_at_the_start_names_the_subsystem) {
    std::vector<subsystem_recipe> recipes{doing("a", 0, nothing),
                                          {"b", test::far_subsystem([]() -> std::unique_ptr<subsystem> {
                                               fputs("no licence\n", stderr);
                                               _exit(9);
                                           })}};
    try {
        make_free(std::move(recipes));
        FAIL() << "no failure";
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), AllOf(HasSubstr("subsystem 'b' failed at its start"),
                                          HasSubstr("ended with status 9"), HasSubstr("no licence")));
    }
}

INSTANTIATE_TEST_SUITE_P(all, group_failure, testing::Values("processes", "tcp"),
                         [](const auto& kind) { return kind.param; });

TEST(tcp_transport, a_lost_connection_is_told_while_another_one_hangs) {
    const maker make = [](std::vector<subsystem_recipe> r) { return make_tcp_transport(std::move(r)); };
    const std::string message = failure_of(make, {doing("a", 3, hang), doing("b", 3, disconnect)});
    EXPECT_THAT(message, AllOf(HasSubstr("subsystem 'b' failed at t = 1.5 s"), HasSubstr("connection was lost")));
}

TEST(tcp_transport, a_subsystem_that_nobody_brings_is_told_with_the_remedy) {
    bool announced = false;
    const tcp_options options{
        .listen = {}, .token = {}, .remote = {1}, .wait = 0.1, .announce = [&](const listener& door) {
            announced = door.port() > 0;
        }};
    try {
        make_tcp_transport({doing("a", 0, nothing), doing("b", 0, nothing)}, {}, options);
        FAIL() << "it came";
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(), AllOf(HasSubstr("no program brought subsystem 'b' within 0.1 s"),
                                          HasSubstr("mdpcosim serve SCENARIO b --connect HOST:")));
    }
    EXPECT_TRUE(announced);
}

TEST(tcp_transport, waiting_can_be_interrupted) {
    const std::atomic<bool> interrupt{true};
    const tcp_options options{
        .listen = {}, .token = {}, .remote = {0}, .wait = 60, .announce = {}, .interrupt = &interrupt};
    EXPECT_THROW(make_tcp_transport({doing("a", 0, nothing)}, {}, options), run_error);
}

}  // namespace
}  // namespace mdpcosim
