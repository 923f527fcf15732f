// Sampled subsystems: the subsystem contract, and when samples are taken, seen, held and updated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "subsystem/description_parts.hpp"
#include "subsystem/sampled_subsystem.hpp"
#include "support/subsystem_contract.hpp"

namespace mdpcosim::test {

namespace {

struct call {
    double t, u;
};

/// x_{k+1} = x_k / 2 + u_k, y = (x_k + 2 u_k, x_k), before the first sample y = (-1, -2). Remembers when it was updated.
class filter final : public sampled_equations {
   public:
    explicit filter(std::vector<call>* updates = nullptr) : updates_(updates) {
        d_.type = "test filter";
        const int u = add_input(d_, "u", "", "input");
        add_output(d_, "now", "", "with feed-through");
        d_.outputs.back().direct = {u};
        add_output(d_, "state", "", "without");
    }
    const subsystem_description& describe() const noexcept override { return d_; }
    int state_count() const override { return 1; }
    void initial_state(double, double* x) const override { x[0] = 4; }
    void initial_outputs(double, const double*, double* y) const override { y[0] = -1, y[1] = -2; }
    void outputs(double, const double* x, const double* u, double* y) const override {
        y[0] = x[0] + 2 * u[0];
        y[1] = x[0];
    }
    void update(double t, const double* x, const double* u, double* x_next) const override {
        if (updates_ != nullptr) updates_->push_back({t, u[0]});
        x_next[0] = x[0] / 2 + u[0];
    }

   private:
    subsystem_description d_;
    std::vector<call>* updates_;
};

subsystem_case contract_case(const std::string& name, const sampling& clock) {
    return {name, [=] { return make_sampled_subsystem(std::make_unique<filter>(), clock); }, 0.02, 1e-3, 1};
}

// Macro step 0.02 s: sample times are macro points, but not in trial steps of other lengths.
INSTANTIATE_TEST_SUITE_P(sampled, subsystem_contract,
                         testing::Values(contract_case("every_step", {0.02, 0, 0}),
                                         contract_case("every_fifth_step", {0.1, 0, 0}),
                                         contract_case("with_offset", {0.06, 0.04, 0}),
                                         contract_case("with_delay", {0.06, 0.02, 0.04}),
                                         contract_case("with_long_delay", {0.04, 0, 0.14})),
                         case_name);

/// Drives a subsystem on the grid start + n*H; u(t) = 1 + t at macro points, held over the steps.
class grid_run {
   public:
    grid_run(const sampling& clock, double H, double start = 0)
        : object(make_sampled_subsystem(std::make_unique<filter>(&updates), clock)), H_(H), start_(start) {
        object->initialise(start);
    }

    double time() const { return start_ + static_cast<double>(n) * H_; }
    double u() const { return 1 + time(); }

    std::vector<double> outputs(double input) {
        std::vector<double> y(2);
        object->outputs(std::vector{input}, y);
        return y;
    }

    void step() {
        std::vector<polynomial> inputs(1);
        inputs[0].c[0] = u();
        std::vector<double> y(2);
        object->advance({time(), start_ + static_cast<double>(n + 1) * H_, n}, inputs, y);
        ++n;
    }

    std::vector<call> updates;
    std::unique_ptr<subsystem> object;
    std::int64_t n = 0;

   private:
    double H_, start_;
};

TEST(sampled, describes_feed_through_only_without_delay) {
    const auto direct = make_sampled_subsystem(std::make_unique<filter>(), {0.1, 0, 0});
    const auto delayed = make_sampled_subsystem(std::make_unique<filter>(), {0.1, 0, 0.1});
    EXPECT_THAT(direct->describe().outputs[0].direct, testing::ElementsAre(0));
    EXPECT_TRUE(direct->describe().outputs[1].direct.empty());
    EXPECT_TRUE(delayed->describe().outputs[0].direct.empty());
    for (const auto* s : {direct.get(), delayed.get()}) {
        EXPECT_TRUE(s->describe().inputs[0].sampled);
        EXPECT_TRUE(s->describe().outputs[0].sampled);
        EXPECT_TRUE(s->offers().save_restore);
    }
}

TEST(sampled, updates_once_per_sample_with_the_inputs_of_its_time) {
    // 0.1 s is no binary number: after 100000 steps the grid and the sample times still meet.
    grid_run run({0.3, 0.2, 0}, 0.1, 5.0);
    for (int n = 0; n < 100000; ++n) run.step();
    ASSERT_EQ(run.updates.size(), (100000u - 2 + 2) / 3);
    for (std::size_t k = 0; k < run.updates.size(); ++k) {
        const double t = 5 + (2 + 3 * static_cast<double>(k)) * 0.1;
        ASSERT_NEAR(run.updates[k].t, t, 1e-9) << k;
        ASSERT_NEAR(run.updates[k].u, 1 + t, 1e-9) << k;
    }
    EXPECT_EQ(run.object->statistics().micro_steps, static_cast<std::int64_t>(run.updates.size()));
}

TEST(sampled, forms_outputs_from_the_present_inputs_at_sample_times_and_holds_them) {
    grid_run run({0.4, 0.2, 0}, 0.1);
    double x = 4, now = -1, state = -2;
    for (int n = 0; n < 50; ++n) {
        const bool sample = n >= 2 && (n - 2) % 4 == 0;
        if (sample) {
            now = x + 2 * run.u();
            state = x;
            EXPECT_THAT(run.outputs(7), testing::ElementsAre(x + 14, x)) << n;  // trial inputs
            x = x / 2 + run.u();
        } else {
            EXPECT_EQ(run.outputs(7), run.outputs(-3)) << n;  // held, whatever the inputs are
        }
        EXPECT_THAT(run.outputs(run.u()), testing::ElementsAre(now, state)) << n;
        run.step();
    }
}

TEST(sampled, shows_delayed_outputs_delay_after_their_sample) {
    for (const int delay : {1, 2, 3, 4, 7, 9, 12}) {  // macro steps; the period is 3
        grid_run run({0.3, 0.1, delay * 0.1}, 0.1);
        std::vector<double> y;  // y_k, by sample
        double x = 4;
        for (int n = 0; n < 60; ++n) {
            if (n >= 1 && (n - 1) % 3 == 0) {
                y.push_back(x + 2 * run.u());
                x = x / 2 + run.u();
            }
            const int appeared = n - delay < 1 ? -1 : (n - delay - 1) / 3;  // the last sample at or before n - delay
            const double expected = appeared < 0 ? -1 : y[static_cast<std::size_t>(appeared)];
            EXPECT_EQ(run.outputs(run.u())[0], expected) << "delay " << delay << ", step " << n;
            EXPECT_EQ(run.outputs(99)[0], expected);
            run.step();
        }
    }
}

TEST(sampled, saves_and_restores_in_the_middle_of_a_period) {
    for (const double delay : {0.0, 0.2, 0.5, 1.1}) {
        grid_run run({0.4, 0.1, delay}, 0.1);
        const auto saved = run.object->make_snapshot();
        for (const int before : {0, 1, 7, 8, 3}) {
            for (int n = 0; n < before; ++n) run.step();
            run.object->save(*saved);
            const std::int64_t n = run.n;
            std::vector<std::vector<double>> first, second;
            for (auto* results : {&first, &second}) {
                run.object->restore(*saved);
                run.n = n;
                for (int k = 0; k < 30; ++k) {
                    results->push_back(run.outputs(run.u()));
                    run.step();
                }
            }
            EXPECT_EQ(first, second) << "delay " << delay;
        }
    }
}

TEST(sampled, takes_the_value_of_the_polynomial_at_a_sample_inside_a_step) {
    std::vector<call> updates;
    const auto object = make_sampled_subsystem(std::make_unique<filter>(&updates), {0.25, 0, 0});
    object->initialise(0);
    std::vector<polynomial> inputs(1);
    inputs[0].c = {3, 8};
    inputs[0].degree = 1;
    std::vector<double> y(2);
    object->advance({0, 1, 0}, inputs, y);
    ASSERT_EQ(updates.size(), 4u);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(updates[k].u, 3 + 8 * 0.25 * static_cast<double>(k));
    double x = 4;
    for (const auto& c : updates) x = x / 2 + c.u;
    EXPECT_THAT(y, testing::ElementsAre(x + 2 * 11, x));  // the end is a sample time, too
}

TEST(sampled, a_sample_that_gives_no_number_ends_the_run_with_its_time) {
    const auto object = make_sampled_subsystem(std::make_unique<filter>(), {0.5, 0.5, 0});
    object->initialise(0);
    std::vector<polynomial> inputs(1);
    std::vector<double> y(2);
    object->advance({0, 0.5, 0}, inputs, y);
    inputs[0].c[0] = std::numeric_limits<double>::infinity();
    EXPECT_THAT(
        [&] {
            object->advance({0.5, 1, 1}, inputs, y);
        },
        testing::ThrowsMessage<run_error>(testing::HasSubstr("t = 0.5 s")));
}

}  // namespace

}  // namespace mdpcosim::test
