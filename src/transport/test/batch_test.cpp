#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "transport/threads.hpp"

/// Batches of subsystems: results, failures and notices are those of the subsystems one by one.
namespace mdpcosim {
namespace {

using testing::HasSubstr;

struct batch_counts {
    std::atomic<int> batches{0}, alone{0};
};

/// The state becomes half itself plus the input; kinds other than 0 join no batch. Fails in step 3, or gives a notice there.
class halving final : public subsystem {
   public:
    enum class event { none, failure, not_finite, notice };

    halving(int kind, double start, event what, batch_counts& counted)
        : kind_(kind), state_(start), event_(what), counted_(counted) {
        input_variable u;
        u.name = "u";
        output_variable y;
        y.name = "y";
        y.direct = {0};
        description_ = {"halving", {u}, {y}, {}};
    }
    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override { return {}; }
    void initialise(double) override {}
    void outputs(std::span<const double> u, std::span<double> y) override { y[0] = state_ + u[0]; }
    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        ++counted_.alone;
        advance_it(step, inputs[0], y[0]);
    }
    std::unique_ptr<subsystem_batch> make_batch(std::span<subsystem* const> behind) override {
        auto made = std::make_unique<batch>();
        made->members.push_back(this);
        for (subsystem* other : behind) {
            auto* same = dynamic_cast<halving*>(other);
            if (same == nullptr || same->kind_ != kind_) break;
            made->members.push_back(same);
        }
        if (kind_ != 0 || made->members.size() < 2) return nullptr;
        return made;
    }

   private:
    struct batch final : subsystem_batch {
        std::vector<halving*> members;
        std::size_t size() const override { return members.size(); }
        void advance(const macro_step& step, const polynomial* inputs, double* y, std::size_t& done) override {
            ++members.front()->counted_.batches;
            for (; done < members.size(); ++done) members[done]->advance_it(step, inputs[done], y[done]);
        }
    };

    void advance_it(const macro_step& step, const polynomial& u, double& y) {
        if (step.counter == 3 && event_ == event::failure) throw run_error("no step");
        if (step.counter == 3 && event_ == event::notice) tell_event(step.begin + 0.25);
        state_ = 0.5 * state_ + u.c[0];
        y = step.counter == 3 && event_ == event::not_finite ? std::nan("") : state_ + u.c[0];
    }

    int kind_;
    double state_;
    event event_;
    batch_counts& counted_;
    subsystem_description description_;
};

/// All are evaluated after a step, each with half the output of the one before; advance comes as late as it may.
class batch_chain final : public step_plan {
   public:
    explicit batch_chain(std::size_t n) {
        for (std::uint32_t i = 0; i < n; ++i) {
            items.push_back({subsystem_index(i), true, i > 0, true, i > 0 ? i - 1 : 0, i});
            if (i > 0) signals.push_back({i - 1, i, 1, 0.5});
        }
        values.assign(n, 0.0);
    }

   private:
    void find_values_by_laws(const item&, double) override {}
};

struct batch_result {
    std::vector<double> outputs;
    std::string failure;
    double event = 0;
    bool operator==(const batch_result&) const = default;
};

struct batch_case {
    int workers = 1;
    bool plan = false, follow = false;
    std::vector<int> kinds;  ///< all different from 0: no batches
    std::size_t where = 100;
    halving::event what = halving::event::none;
};

batch_result run_batches(const batch_case& w, batch_counts& counted) {
    std::vector<named_subsystem> parts;
    for (std::size_t i = 0; i < w.kinds.size(); ++i)
        parts.push_back({"s" + std::to_string(i),
                         std::make_unique<halving>(w.kinds[i], static_cast<double>(i),
                                                   i == w.where ? w.what : halving::event::none, counted)});
    const auto t = make_thread_transport(std::move(parts), w.workers, w.workers > 1);
    if (w.follow)
        for (std::size_t i = 1; i < w.kinds.size(); ++i) t->expect(subsystem_index(i), {.outputs_follow = true});
    t->initialise(0);
    batch_chain plan(w.kinds.size());
    batch_result result;
    try {
        for (std::int64_t n = 0; n < 8; ++n) {
            for (std::size_t i = 0; i < w.kinds.size(); ++i)
                t->inputs()[i].c[0] = static_cast<double>(n) + 0.25 * static_cast<double>(i);
            const macro_step step{static_cast<double>(n), static_cast<double>(n + 1), n};
            w.plan ? t->carry_out(step, plan) : t->advance(step);
            result.outputs.insert(result.outputs.end(), t->outputs().begin(), t->outputs().end());
            if (t->notices().first_event < 1e300) result.event = t->notices().first_event;
        }
    } catch (const std::exception& problem) {
        result.failure = problem.what();
    }
    return result;
}

const std::vector<int> in_batches{0, 0, 0, 1, 0, 0, 2, 0}, one_by_one_kinds{1, 1, 1, 1, 1, 1, 1, 1};

TEST(batches, give_what_each_subsystem_gives_alone) {
    using event = halving::event;
    for (const int workers : {1, 2, 3})
        for (const bool plan : {false, true})
            for (const bool follow : {false, true})
                for (const std::size_t where : {0u, 1u, 2u, 3u, 5u, 7u})
                    for (const event what : {event::none, event::failure, event::not_finite, event::notice}) {
                        if (follow && !plan) continue;
                        batch_counts one_by_one, counted;
                        const batch_result expected =
                            run_batches({1, plan, follow, one_by_one_kinds, where, what}, one_by_one);
                        EXPECT_EQ(run_batches({workers, plan, follow, in_batches, where, what}, counted), expected);
                        EXPECT_EQ(one_by_one.batches, 0);
                        EXPECT_TRUE(workers > 1 || counted.batches > 0);
                    }
}

/// Three in the first batch, two in the second, three alone: two calls for five, each macro step.
TEST(batches, are_advanced_by_one_call) {
    batch_counts counted;
    run_batches({1, false, false, in_batches}, counted);
    EXPECT_EQ(counted.batches, 2 * 8);
    EXPECT_EQ(counted.alone, 3 * 8);
}

TEST(batches, leave_work_for_all_workers) {
    batch_counts counted;
    run_batches({2, false, false, std::vector<int>(32, 0)}, counted);
    EXPECT_EQ(counted.alone, 0);
    EXPECT_EQ(counted.batches, 8 * 8);  // of four each
}

TEST(batches, name_the_member_that_fails) {
    batch_counts counted;
    EXPECT_THAT(run_batches({1, false, false, in_batches, 2, halving::event::failure}, counted).failure,
                HasSubstr("'s2'"));
}

}  // namespace
}  // namespace mdpcosim
