// Times of subsystems whose machine has another clock.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "remote/frame_link.hpp"
#include "transport/groups.hpp"
#include "transport/test/test_subsystem.hpp"

namespace mdpcosim {
namespace {

/// A host of two subsystems whose clock is ahead, and gains `drift` seconds with every request.
class shifted_host final : public request_host {
   public:
    shifted_host(double ahead, double drift, wire_writer& introduction)
        : inside_({busy, busy}, introduction), ahead_(ahead), drift_(drift) {
        members_.assign(inside_.members().begin(), inside_.members().end());
        wire_writer again;
        introduce([] {}, again);
    }
    void carry_out(exchange& areas) noexcept override {
        inside_.carry_out(areas);
        if (!areas.top().request.timed) return;
        ahead_ += drift_;
        for (std::size_t i = 0; i < 2; ++i) {
            areas.report(i).begin += ahead_;
            areas.report(i).end += ahead_;
        }
    }

   private:
    static std::unique_ptr<subsystem> busy() {
        test::test_traits traits;
        traits.work = 100000;
        return std::make_unique<test::test_subsystem>(traits);
    }

    subsystem_host inside_;
    double ahead_, drift_;
};

const host_task_registration shifted_clock{{"shifted clock", [](wire_reader& words) {
                                                const auto link = make_socket_link(file_handle(words.get<int>()));
                                                const double ahead = words.get<double>(), drift = words.get<double>();
                                                wire_writer introduction;
                                                shifted_host host(ahead, drift, introduction);
                                                serve(*link, host, introduction);
                                            }}};

std::unique_ptr<remote_group> group_with_clock(double ahead, double drift, std::unique_ptr<child_process>& process) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
    file_handle ours(ends[0]), theirs(ends[1]);
    wire_writer words;
    words.put(theirs.get());
    words.put(ahead);
    words.put(drift);
    process = start_host("shifted clock", words, {theirs.get()});
    return std::make_unique<linked_group>(linked_group::options{"far", 2, 0, 0}, make_socket_link(std::move(ours)));
}

/// All events of a run lie within their macro steps, in our time: first one subsystem, then the other.
void expect_our_time(double ahead, double drift) {
    std::unique_ptr<child_process> process;
    std::vector<served_group> groups;
    groups.push_back({{0, 1}, group_with_clock(ahead, drift, process)});
    const auto t = make_group_transport({"a", "b"}, std::move(groups));
    t->initialise(0);
    for (int k = 0; k < 40; ++k) t->advance({0.1 * k, 0.1 * (k + 1), k});
    const auto& events = t->profile()[0].events();
    ASSERT_GT(events.size(), 15u);
    ASSERT_EQ(events.size() % 3, 0u);
    for (std::size_t i = 0; i < events.size(); i += 3) {
        constexpr double rounding = 1e-9;
        const profile_event &a = events[i], &b = events[i + 1], &step = events[i + 2];
        ASSERT_EQ(a.subsystem, 0);
        ASSERT_EQ(b.subsystem, 1);
        ASSERT_EQ(step.subsystem, -1);
        EXPECT_GE(a.begin, step.begin - rounding);
        EXPECT_GT(a.end - a.begin, 1e-6);
        EXPECT_GE(b.begin, a.end - rounding);
        EXPECT_GT(b.end - b.begin, 1e-6);
        EXPECT_LE(b.end, step.end + rounding);
    }
}

TEST(clocks, a_clock_that_is_far_ahead_is_set_right) { expect_our_time(12345.6, 0); }
TEST(clocks, a_clock_that_is_behind_is_set_right) { expect_our_time(-98765.4, 0); }
TEST(clocks, clocks_that_drift_apart_stay_within_the_steps) { expect_our_time(1, 0.01); }
TEST(clocks, the_same_clock_stays_as_it_is) { expect_our_time(0, 0); }

}  // namespace
}  // namespace mdpcosim
