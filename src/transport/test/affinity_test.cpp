#include "transport/affinity.hpp"

#include <gmock/gmock.h>
#include <sched.h>

#include <optional>
#include <set>
#include <thread>

#include "transport/processes.hpp"
#include "transport/schedule.hpp"
#include "transport/test/test_subsystem.hpp"

namespace mdpcosim {
namespace {

std::vector<int> allowed_units(pid_t task = 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT_EQ(sched_getaffinity(task, sizeof set, &set), 0);
    std::vector<int> units;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &set)) units.push_back(i);
    return units;
}

TEST(affinity, units_are_those_of_the_process) {
    auto units = processing_units();
    std::ranges::sort(units);
    EXPECT_EQ(units, allowed_units());
    EXPECT_LE(available_cores(), static_cast<int>(units.size()));
    EXPECT_GE(available_cores(), 1);
}

TEST(affinity, a_bound_thread_is_free_again_in_the_end) {
    const auto before = allowed_units();
    const int last = processing_units().back();
    {
        const bound_thread here(last);
        EXPECT_THAT(allowed_units(), testing::ElementsAre(last));
    }
    EXPECT_EQ(allowed_units(), before);
    { const bound_thread nowhere(-1); }
    EXPECT_EQ(allowed_units(), before);
    EXPECT_FALSE(bind_to_unit(0, CPU_SETSIZE - 1)) << "there are not that many units";
}

TEST(affinity, one_of_two_has_the_right) {
    std::optional<binding_right> first(std::in_place);
    // Another run of this user may have it just now; then neither has.
    const bool mine = first->granted();
    EXPECT_FALSE(binding_right().granted());
    if (!mine) GTEST_SKIP() << "another run has the right";
    first.reset();
}

TEST(schedule, a_fixed_subsystem_stays_with_its_worker) {
    schedule s(4, 2);
    s.fix(0, 1);
    s.fix(3, 1);
    EXPECT_EQ(s.worker_of(0), 1);
    EXPECT_EQ(s.worker_of(3), 1);
    const std::vector<double> cost{1, 5, 5, 50};
    s.decide(cost);
    EXPECT_EQ(s.worker_of(0), 1);
    EXPECT_EQ(s.worker_of(3), 1);
    EXPECT_EQ(s.worker_of(1), 0) << "the others keep away from the busy worker";
    EXPECT_EQ(s.worker_of(2), 0);
}

TEST(binding, workers_serve_the_subsystems_of_their_unit) {
    if (processing_units().size() < 2) GTEST_SKIP() << "one processing unit only";
    const int a = processing_units()[0], b = processing_units()[1];
    std::vector<test::test_traits> all(4);
    for (auto& t : all) t.work = 100000;
    auto t = make_thread_transport(test::make_subsystems(all), 2, true, {.automatic = false, .units = {b, a, a, b}});
    t->initialise(0);
    // A long first step makes the second one parallel; whether that pays is judged later.
    for (int k = 0; k < 2; ++k) t->advance({0.1 * k, 0.1 * (k + 1), k});
    ASSERT_EQ(t->parallel_steps(), 1);
    EXPECT_EQ(t->cost(subsystem_index(0)).worker, t->cost(subsystem_index(3)).worker);
    EXPECT_EQ(t->cost(subsystem_index(1)).worker, t->cost(subsystem_index(2)).worker);
    EXPECT_NE(t->cost(subsystem_index(0)).worker, t->cost(subsystem_index(1)).worker);
    EXPECT_THAT(allowed_units(), testing::ElementsAre(b)) << "worker 0 is this thread";
    t.reset();
    EXPECT_EQ(allowed_units().size(), processing_units().size());
}

TEST(binding, a_single_worker_is_bound_as_well) {
    const int last = processing_units().back(), first = processing_units().front();
    auto t =
        make_thread_transport(test::make_subsystems({{}, {}}), 1, true, {.automatic = false, .units = {last, first}});
    t->initialise(0);
    t->advance({0, 0.1, 0});
    EXPECT_THAT(allowed_units(), testing::ElementsAre(last)) << "of more units than workers the first ones count";
    t.reset();
    EXPECT_EQ(allowed_units().size(), processing_units().size());
}

/// Where the only output is the unit that the process may use, or -1. Without work, outputs() tells it and advance() nothing.
class where_am_i final : public subsystem {
   public:
    explicit where_am_i(int work) : work_(work) {
        description_.type = "test";
        output_variable v;
        v.name = "unit";
        description_.outputs.push_back(v);
    }
    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override { return {}; }
    void initialise(double) override {}
    void outputs(std::span<const double>, std::span<double> y) override {
        const auto units = allowed_units();
        y[0] = units.size() == 1 ? units[0] : -1;
    }
    void advance(const macro_step&, std::span<const polynomial> u, std::span<double> y) override {
        static_cast<void>(u);
        if (work_ == 0) return;
        volatile double idle = 1;
        for (int i = 0; i < work_; ++i) idle = 0.5 * idle + 1;
        outputs({}, y);
    }

   private:
    subsystem_description description_;
    int work_;
};

std::unique_ptr<subsystem> make_where_am_i(const std::string& work) {
    return std::make_unique<where_am_i>(test::from_text<int>(work));
}

std::vector<double> units_of_processes(const binding& cores, int processes, int work = 20000) {
    std::vector<subsystem_recipe> recipes;
    for (int i = 0; i < processes; ++i)
        recipes.push_back({"s" + std::to_string(i), test::far_subsystem(make_where_am_i, test::as_text(work))});
    auto t = make_process_transport(std::move(recipes), {}, cores);
    t->initialise(0);
    // On a busy machine it takes some measurements until hardly any work looks like it.
    const auto go_on = [&](int k) { return k < 20 || (work == 0 && k < 20000 && allowed_units().size() != 1); };
    for (int k = 0; go_on(k); ++k) t->advance({0.1 * k, 0.1 * (k + 1), k});
    if (work == 0) {
        EXPECT_THAT(allowed_units(), testing::ElementsAre(processing_units()[0])) << "the master's";
        for (int i = 0; i < processes; ++i) t->evaluate(subsystem_index(static_cast<std::size_t>(i)), {});
    }
    return {t->outputs().begin(), t->outputs().end()};
}

TEST(binding, processes_are_bound_by_hand) {
    const int last = processing_units().back();
    EXPECT_THAT(units_of_processes({.automatic = false, .units = {-1, last}}, 3),
                testing::ElementsAre(processing_units().size() == 1 ? last : -1, last,
                                     processing_units().size() == 1 ? last : -1));
}

TEST(binding, processes_with_hardly_any_work_leave_the_master_a_core) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "under a sanitizer everything is work";
#endif
    if (available_cores() < 2) GTEST_SKIP() << "one core only";
    for (const double unit : units_of_processes({.automatic = true}, 2 * (available_cores() - 1), 0))
        EXPECT_NE(unit, processing_units()[0]);
    EXPECT_EQ(allowed_units().size(), processing_units().size());
}

TEST(binding, more_processes_than_cores_are_bound_by_their_cost) {
    const auto units = units_of_processes({.automatic = true}, 3 * available_cores());
    const std::set<double> used(units.begin(), units.end());
    EXPECT_EQ(used.size(), static_cast<std::size_t>(available_cores()));
    EXPECT_FALSE(used.contains(-1));
}

}  // namespace
}  // namespace mdpcosim
