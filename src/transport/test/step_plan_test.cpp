#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "transport/threads.hpp"

/// Plans carried out item by item: results and failures are those of advance() and the evaluations after it.
namespace mdpcosim {
namespace {

/// The state becomes 10 times itself plus the input, y = state + u; fails in the step with that number, in advance() or in outputs().
class counting final : public subsystem {
   public:
    enum class failure { none, in_advance, in_outputs, not_finite };

    counting(failure how, int step) : how_(how), step_(step) {
        input_variable u;
        u.name = "u";
        output_variable y;
        y.name = "y";
        y.direct = {0};
        description_ = {"counting", {u}, {y}, {}};
    }
    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override { return {}; }
    void initialise(double) override {}
    void outputs(std::span<const double> u, std::span<double> y) override {
        if (fails(failure::in_outputs)) throw run_error("no outputs");
        y[0] = fails(failure::not_finite) ? std::nan("") : state_ + u[0];
    }
    void advance(const macro_step&, std::span<const polynomial> inputs, std::span<double> y) override {
        ++steps_;
        if (fails(failure::in_advance)) throw run_error("no step");
        state_ = 10 * state_ + inputs[0].c[0];
        y[0] = state_ + inputs[0].c[0];
    }

   private:
    bool fails(failure how) const { return how == how_ && steps_ == step_; }

    subsystem_description description_;
    failure how_;
    int step_, steps_ = 0;
    double state_ = 1;
};

/// Subsystem 0 gives to 1, 1 to 2; 2 is evaluated by a law that fails in the step with that number.
class chain final : public step_plan {
   public:
    explicit chain(int fails_in) : fails_in_(fails_in) {
        items = {{subsystem_index(0)},
                 {subsystem_index(1), true, true, true, 0, 1},
                 {subsystem_index(2), true, true, false, 0, 0},
                 {subsystem_index(3)}};
        signals = {{0, 1, 2, 0.5}};
        values = {0, 0, 0, 0};
    }
    transport* of = nullptr;

   private:
    void find_values_by_laws(const item&, double) override {
        if (++calls_ == fails_in_) throw run_error("the law has no answer");
        values[2] = of->outputs()[1] / 4;
    }

    int fails_in_, calls_ = 0;
};

using failure = counting::failure;

struct wishes {
    std::array<failure, 4> how{failure::none, failure::none, failure::none, failure::none};
    int law = 0;
};

/// Outputs after every step, then what failed in step 3.
struct told {
    std::vector<double> outputs;
    std::string failure;
    bool operator==(const told&) const = default;
};

told carry_out(const wishes& w, bool follow, bool item_by_item) {
    std::vector<named_subsystem> parts;
    for (std::size_t i = 0; i < 4; ++i)
        parts.push_back({"s" + std::to_string(i), std::make_unique<counting>(w.how[i], 3)});
    const auto t = make_thread_transport(std::move(parts), 1, false);
    chain plan(w.law);
    plan.of = t.get();
    if (follow)
        for (const std::size_t i : {1, 2}) t->expect(subsystem_index(i), {.outputs_follow = true});
    t->initialise(0);
    told result;
    try {
        for (std::int64_t n = 0; n < 5; ++n) {
            for (std::size_t i = 0; i < 4; ++i)
                t->inputs()[i].c[0] = static_cast<double>(n) + 0.25 * static_cast<double>(i);
            const macro_step step{static_cast<double>(n), static_cast<double>(n + 1), n};
            item_by_item ? t->carry_out(step, plan) : t->transport::carry_out(step, plan);
            result.outputs.insert(result.outputs.end(), t->outputs().begin(), t->outputs().end());
        }
    } catch (const std::exception& problem) {
        result.failure = problem.what();
    }
    return result;
}

TEST(step_plan, items_one_by_one_are_the_step_and_its_evaluations) {
    for (const bool follow : {false, true}) {
        const told result = carry_out({}, follow, true);
        EXPECT_EQ(result, carry_out({}, follow, false));
        EXPECT_EQ(result.failure, "");
        ASSERT_EQ(result.outputs.size(), 20u);
        // Step 0: state 10 + 0.25 i; y0 is extrapolated, y1 = state + y0, y2 = state + y1/4.
        EXPECT_EQ(result.outputs[0], 10);
        EXPECT_EQ(result.outputs[1], 10.25 + 10);
        EXPECT_EQ(result.outputs[2], 10.5 + 20.25 / 4);
    }
}

TEST(step_plan, failures_are_the_same_and_those_of_steps_come_first) {
    using enum counting::failure;
    const auto message = [](const wishes& w, bool follow) {
        const told result = carry_out(w, follow, true);
        EXPECT_EQ(result, carry_out(w, follow, false));
        EXPECT_EQ(result.outputs.size(), 8u);
        return result.failure;
    };
    for (const bool follow : {false, true}) {
        EXPECT_NE(message({{none, in_outputs, none, none}}, follow).find("'s1' failed"), std::string::npos);
        EXPECT_NE(message({{none, not_finite, none, none}}, follow).find("'y' is nan"), std::string::npos);
        EXPECT_NE(message({{none, in_advance, none, none}}, follow).find("'s1' failed"), std::string::npos);
        EXPECT_NE(message({{none, in_outputs, none, in_advance}}, follow).find("'s3' failed"), std::string::npos);
        EXPECT_NE(message({{none, none, in_outputs, in_advance}}, follow).find("'s3' failed"), std::string::npos);
        EXPECT_NE(message({{none, none, in_advance, none}, 3}, follow).find("'s2' failed"), std::string::npos);
        EXPECT_EQ(message({{none, none, none, none}, 3}, follow), "the law has no answer");
    }
}

}  // namespace
}  // namespace mdpcosim
