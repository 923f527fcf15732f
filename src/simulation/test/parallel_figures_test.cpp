#include "simulation/parallel_figures.hpp"

#include <gtest/gtest.h>

namespace mdpcosim {
namespace {

/// Two workers: one with a subsystem of 3 ms, one with two of 1 ms; the step takes 4 ms, the master 1 ms besides.
class canned final : public transport {
   public:
    canned() {
        for (int k = 0; k < 2; ++k) logs_.emplace_back(100);
        for (int n = 0; n < 10; ++n) {
            const double t = 0.005 * n;
            logs_[0].add({t, t + 0.004, -1, 0, n, n});
            logs_[0].add({t, t + 0.003, 0, 0, n, n});
            logs_[1].add({t, t + 0.001, 1, 1, n, n});
            logs_[1].add({t + 0.001, t + 0.002, 2, 1, n, n});
        }
    }
    std::size_t size() const override { return 3; }
    const std::string& name(subsystem_index i) const override { return names_[i.value()]; }
    const subsystem_description& describe(subsystem_index) const override { return nothing_; }
    capabilities offers(subsystem_index) const override { return {}; }
    std::size_t input_offset(subsystem_index) const override { return 0; }
    std::size_t output_offset(subsystem_index) const override { return 0; }
    std::span<polynomial> inputs() override { return {}; }
    std::span<const double> outputs() const override { return {}; }
    void expect(subsystem_index, const usage&) override {}
    void set_text(subsystem_index, int, const std::string&) override {}
    void get_text(subsystem_index, int, std::string&) override {}
    void tune(subsystem_index, int, double) override {}
    void initialise(double) override {}
    void reset() override {}
    void evaluate(subsystem_index, std::span<const double>, bool) override {}
    void advance(const macro_step&) override {}
    void advance_some(std::span<const subsystem_step>) override {}
    state_id make_state() override { return {}; }
    void save(state_id) override {}
    void restore(state_id) override {}
    std::vector<std::byte> get_state(state_id, subsystem_index) override { return {}; }
    void set_state(state_id, subsystem_index, const std::vector<std::byte>&) override {}
    void set_state(state_id, double, std::span<const double>) override {}
    double next_event(subsystem_index) const override { return 0; }
    const step_notices& notices() const override { return none_; }
    subsystem_statistics statistics(subsystem_index) const override { return {}; }
    subsystem_cost cost(subsystem_index) const override { return {}; }
    int workers() const override { return 2; }
    std::int64_t parallel_steps() const override { return 10; }
    std::span<const profile_log> profile() const override { return logs_; }

    std::vector<profile_log> logs_;

   private:
    std::vector<std::string> names_{"long", "short", "small"};
    subsystem_description nothing_;
    step_notices none_;
};

TEST(parallel_figures, of_a_known_profile) {
    const auto p = parallel_figures(canned(), 0.005, 0.07);
    ASSERT_TRUE(p);
    constexpr double close = 1e-12;
    EXPECT_EQ(p->cpu_seconds, 0.07);
    EXPECT_NEAR(p->work_per_step, 0.005, close);
    EXPECT_NEAR(p->advance_per_step, 0.004, close);
    EXPECT_NEAR(p->master_per_step, 0.001, close);
    EXPECT_NEAR(p->idle_share, 1 - 5.0 / 8, 1e-9);
    EXPECT_EQ(p->critical_subsystem, "long");
    EXPECT_NEAR(p->critical_path, 0.004, close);
    EXPECT_NEAR(p->speed_up, 6.0 / 5, 1e-9);
    EXPECT_NEAR(p->perfect_balance, 6.0 / 4, 1e-9);
    EXPECT_NEAR(p->amdahl, 1 / (1.0 / 6 + 5.0 / 12), 1e-9);
    EXPECT_NEAR(p->gustafson, 2 - 1.0 / 5, 1e-9);
    EXPECT_NEAR(p->on_4, 6.0 / 4, 1e-9) << "the longest subsystem remains";
    EXPECT_NEAR(p->on_8, 6.0 / 4, 1e-9);
}

TEST(parallel_figures, nothing_without_a_profile) {
    canned empty;
    empty.logs_.clear();
    EXPECT_FALSE(parallel_figures(empty, 0.005, 0.07));
}

}  // namespace
}  // namespace mdpcosim
