#include <gtest/gtest.h>

#include "support/solver_test_models.hpp"

/// Models whose equations switch: x' = k, with k changed at time events, after events and after micro steps.
namespace mdpcosim::test {
namespace {

struct remembered final : snapshot {
    double k = 0, next = 0;
    void state(state_bytes& bytes) override { bytes(k, next); }
};

class switching final : public function_model {
   public:
    using hook = std::function<bool(switching&, moment, double, double*)>;

    switching(double first_k, double first_next, hook on_update)
        : function_model({0.0}, 1, [this](double, const double*, const double*, double* dx) { dx[0] = this->k; }),
          k(first_k),
          next(first_next),
          on_update_(std::move(on_update)) {}

    double next_time_event(double) const override { return next; }
    bool watches(moment m) const override { return m == moment::micro_step ? watch_steps : m == moment::interval; }
    bool discrete_update(moment m, double t, double* x, const double*) override {
        ++calls[static_cast<std::size_t>(m)];
        return on_update_(*this, m, t, x);
    }
    std::unique_ptr<snapshot> make_memory() const override { return std::make_unique<remembered>(); }
    void save_memory(snapshot& into) override {
        static_cast<remembered&>(into).k = k;
        static_cast<remembered&>(into).next = next;
    }
    void restore_memory(const snapshot& from) override {
        k = static_cast<const remembered&>(from).k;
        next = static_cast<const remembered&>(from).next;
    }

    double k, next;
    bool watch_steps = false;
    std::array<int, 3> calls{};

   private:
    hook on_update_;
};

constexpr double never = std::numeric_limits<double>::infinity();

/// k = 1, 2, 3 ... in pieces of 0.1 s.
std::unique_ptr<switching> staircase() {
    return std::make_unique<switching>(1, 0.1, [](switching& m, moment at, double t, double*) {
        if (at != moment::time_event || t < m.next) return false;
        m.k += 1;
        m.next = 0.1 * m.k;
        return true;
    });
}

/// x' = 1 until x passes 0.3; 0.05 s later the motion turns round.
std::unique_ptr<switching> delayed_turn() {
    auto model = std::make_unique<switching>(1, never, [](switching& m, moment at, double t, double*) {
        if (at != moment::time_event || t < m.next) return false;
        m.k = -1;
        m.next = never;
        return true;
    });
    model->watch_steps = true;
    model->events = 1;
    model->indicators = [](double, const double* x, const double*, double* z) { z[0] = x[0] - 0.3; };
    model->on_event = [m = model.get()](int, bool rising, double t, double*, const double*) {
        if (rising) m->next = t + 0.05;
        return rising;
    };
    return model;
}

class discrete_part : public testing::TestWithParam<std::string> {
   protected:
    std::unique_ptr<solver> integrator() const { return make_solver(GetParam()); }

    double run(subsystem& s, double from, double to, double H) {
        const std::vector<polynomial> inputs(1);
        double y = 0;
        const int n = static_cast<int>(std::lround((to - from) / H));
        for (int i = 0; i < n; ++i)
            s.advance({.begin = from + i * H, .end = from + (i + 1) * H, .counter = i}, inputs, {&y, 1});
        return y;
    }
};

TEST_P(discrete_part, time_events_change_the_equations) {
    auto model = staircase();
    const switching& seen = *model;
    const auto s = make_native_subsystem(std::move(model), integrator());
    s->initialise(0);
    EXPECT_NEAR(run(*s, 0, 0.75, 0.25), 0.1 * (1 + 2 + 3 + 4 + 5 + 6 + 7) + 0.05 * 8, 1e-9);
    EXPECT_EQ(seen.calls[static_cast<std::size_t>(moment::time_event)], 7);
    EXPECT_EQ(seen.calls[static_cast<std::size_t>(moment::interval)], 3);
    EXPECT_EQ(seen.calls[static_cast<std::size_t>(moment::micro_step)], 0);
}

TEST_P(discrete_part, an_event_at_the_macro_point_happens_once) {
    auto model = staircase();
    const switching& seen = *model;
    const auto s = make_native_subsystem(std::move(model), integrator());
    s->initialise(0);
    EXPECT_NEAR(run(*s, 0, 0.1, 0.1), 0.1, 1e-12);
    EXPECT_EQ(seen.k, 2);
    EXPECT_NEAR(run(*s, 0.1, 0.2, 0.1), 0.3, 1e-12);
    EXPECT_EQ(seen.k, 3);
}

TEST_P(discrete_part, a_state_event_brings_a_time_event_nearer) {
    for (const double H : {1.0, 0.25, 0.01}) {
        const auto s = make_native_subsystem(delayed_turn(), integrator());
        s->initialise(0);
        EXPECT_NEAR(run(*s, 0, 1, H), 0.35 - 0.65, 1e-8) << "H = " << H;
    }
}

TEST_P(discrete_part, every_micro_step_is_seen) {
    auto model = std::make_unique<switching>(1, never, [](switching&, moment, double, double*) { return false; });
    model->watch_steps = true;
    const switching& seen = *model;
    const auto s = make_native_subsystem(std::move(model), integrator());
    s->initialise(0);
    EXPECT_NEAR(run(*s, 0, 1, 0.25), 1, 1e-9);
    EXPECT_EQ(seen.calls[static_cast<std::size_t>(moment::micro_step)], s->statistics().micro_steps);
}

TEST_P(discrete_part, a_change_after_a_micro_step_counts_from_there) {
    auto model = std::make_unique<switching>(1, never, [](switching& m, moment at, double t, double* x) {
        if (at != moment::micro_step || m.k != 1 || t < 0.5) return false;
        m.k = -2;
        x[0] = 10 - 2 * (t - 1);
        return true;
    });
    model->watch_steps = true;
    const auto s = make_native_subsystem(std::move(model), integrator());
    s->initialise(0);
    EXPECT_NEAR(run(*s, 0, 1, 0.25), 10, 1e-9);
}

TEST_P(discrete_part, is_saved_with_the_state) {
    const auto s = make_native_subsystem(staircase(), integrator());
    s->initialise(0);
    run(*s, 0, 0.25, 0.25);
    if (!s->offers().save_restore) GTEST_SKIP() << s->offers().why_no_save_restore;
    const auto saved = s->make_snapshot();
    s->save(*saved);
    const double once = run(*s, 0.25, 0.75, 0.25);
    s->restore(*saved);
    EXPECT_EQ(run(*s, 0.25, 0.75, 0.25), once);
}

TEST_P(discrete_part, tells_when_it_jumped_and_when_it_will) {
    const auto s = make_native_subsystem(staircase(), integrator());
    s->initialise(0);
    EXPECT_NEAR(s->next_event(), 0.1, 1e-12);
    run(*s, 0, 0.25, 0.25);
    ASSERT_TRUE(s->has_notice());
    const step_notice told = s->take_notice();
    EXPECT_NEAR(told.first_event, 0.1, 1e-12);
    EXPECT_FALSE(told.ask_to_end);
    EXPECT_NEAR(s->next_event(), 0.3, 1e-12);
    run(*s, 0.25, 0.28, 0.03);
    EXPECT_FALSE(s->has_notice());
}

TEST_P(discrete_part, may_ask_for_the_end) {
    const auto s = make_native_subsystem(std::make_unique<switching>(1, 0.15,
                                                                     [](switching& self, moment m, double, double*) {
                                                                         if (m != moment::time_event) return false;
                                                                         self.next = 100;
                                                                         self.noticed.ask_to_end = true;
                                                                         return true;
                                                                     }),
                                         integrator());
    s->initialise(0);
    run(*s, 0, 0.1, 0.1);
    EXPECT_FALSE(s->has_notice());
    run(*s, 0.1, 0.2, 0.1);
    ASSERT_TRUE(s->has_notice());
    EXPECT_TRUE(s->take_notice().ask_to_end);
}

/// A point that turns, x' = -y, y' = x, brought back to the unit circle after every micro step.
class on_a_circle final : public function_model {
   public:
    on_a_circle()
        : function_model({1.0, 0.0}, 0, [](double, const double* x, const double*, double* dx) {
              dx[0] = -x[1];
              dx[1] = x[0];
          }) {}
    bool watches(moment m) const override { return m == moment::micro_step; }
    bool discrete_update(moment, double, double* x, const double*) override {
        const double r = std::hypot(x[0], x[1]);
        x[0] /= r;
        x[1] /= r;
        return true;
    }
};

TEST_P(discrete_part, a_projection_after_micro_steps_holds_a_constraint) {
    const auto s = make_native_subsystem(std::make_unique<on_a_circle>(), integrator());
    s->initialise(0);
    std::vector<double> y(static_cast<std::size_t>(s->describe().output_count()));
    ASSERT_EQ(y.size(), 2u);
    for (int n = 0; n < 100; ++n) {
        s->advance({0.01 * n, 0.01 * (n + 1), n}, {}, y);
        EXPECT_NEAR(std::hypot(y[0], y[1]), 1, 1e-14);
    }
    EXPECT_NEAR(std::atan2(y[1], y[0]), 1, 0.02);
}

INSTANTIATE_TEST_SUITE_P(solvers, discrete_part, testing::ValuesIn(all_solvers),
                         [](const auto& tested) { return test_name(tested.param); });

TEST(discrete_part_options, a_watching_model_forbids_steps_over_the_macro_point) {
    const auto solver = make_solver("cvode-bdf", {{"stop", 1}});
    EXPECT_NE(solver->why_not(*delayed_turn()).find("stop: exact"), std::string::npos);
    EXPECT_EQ(solver->why_not(*staircase()), "");
}

}  // namespace
}  // namespace mdpcosim::test
