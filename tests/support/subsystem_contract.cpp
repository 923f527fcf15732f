#include "support/subsystem_contract.hpp"

#include <cmath>
#include <cstring>
#include <set>
#include <stdexcept>
#include <vector>

#include "support/allocation_counter.hpp"

namespace mdpcosim::test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(subsystem_contract);

namespace {

/// One subsystem driven by inputs that are polynomials of time over the whole run, the same for every macro step size.
class driven {
   public:
    driven(const subsystem_case& c, int degree) : object(c.make()), degree_(degree), scale_(c.input_scale) {
        const auto& d = object->describe();
        inputs.resize(static_cast<std::size_t>(d.input_count()));
        limit_.resize(inputs.size());
        y.resize(static_cast<std::size_t>(d.output_count()));
        for (const auto& input : d.inputs)
            for (int k = 0; k < input.size; ++k) limit_[static_cast<std::size_t>(input.slot + k)] = input.max_degree;
        object->initialise(0);
    }

    /// The j-th derivative of input i, which is scale * sum_k c_k time^k with c_k of size 1.
    double derivative(std::size_t i, int j, double time) const {
        double value = 0;
        for (int k = std::min(degree_, limit_[i]); k >= j; --k) {
            double factor = scale_ * std::cos(1.0 + static_cast<double>(i) + 2.0 * k);
            for (int m = 0; m < j; ++m) factor *= k - m;
            value = value * time + factor;
        }
        return value;
    }

    /// The next macro step of size H, with the exact polynomials about its begin.
    void step(double H) {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            inputs[i] = {};
            inputs[i].degree = std::min(degree_, limit_[i]);
            double factorial = 1;
            for (int j = 0; j <= inputs[i].degree; ++j) {
                inputs[i].c[static_cast<std::size_t>(j)] = derivative(i, j, t) / factorial;
                factorial *= j + 1;
            }
        }
        advance(H);
    }

    /// The next macro step with the mean of each input over it.
    void step_with_means(double H) {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const double middle = derivative(i, 0, t + H / 2);
            inputs[i] = {};
            inputs[i].c[0] = (derivative(i, 0, t) + 4 * middle + derivative(i, 0, t + H)) / 6;
        }
        advance(H);
    }

    std::vector<double> input_values(double s) const {
        std::vector<double> u;
        for (const auto& p : inputs) u.push_back(p(s));
        return u;
    }

    std::vector<double> outputs() {
        std::vector<double> u, now(y.size());
        for (std::size_t i = 0; i < inputs.size(); ++i) u.push_back(derivative(i, 0, t));
        object->outputs(u, now);
        return now;
    }

    std::unique_ptr<subsystem> object;
    std::vector<polynomial> inputs;
    std::vector<double> y;
    double t = 0;

   private:
    void advance(double H) {
        object->advance({t, t + H, counter_++}, inputs, y);
        t += H;
    }

    int degree_;
    double scale_;
    std::vector<int> limit_;
    std::int64_t counter_ = 0;
};

bool bitwise_equal(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

void expect_close(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        EXPECT_NEAR(a[i], b[i], tolerance * (1 + std::fabs(b[i]))) << "output slot " << i;
}

}  // namespace

TEST_P(subsystem_contract, description_is_consistent) {
    const auto object = GetParam().make();
    const auto& d = object->describe();
    EXPECT_FALSE(d.type.empty());
    std::set<std::string> names;
    int slot = 0;
    for (const auto& input : d.inputs) {
        EXPECT_EQ(input.slot, slot) << input.name;
        EXPECT_GE(input.size, 1) << input.name;
        EXPECT_GE(input.max_degree, 0) << input.name;
        EXPECT_LE(input.max_degree, max_degree) << input.name;
        EXPECT_TRUE(names.insert(input.name).second) << input.name;
        slot += input.size;
    }
    EXPECT_EQ(d.input_count(), slot);
    slot = 0;
    for (const auto& output : d.outputs) {
        EXPECT_EQ(output.slot, slot) << output.name;
        EXPECT_GE(output.size, 1) << output.name;
        EXPECT_TRUE(names.insert(output.name).second) << output.name;
        EXPECT_GE(output.rate_slot, -1) << output.name;
        EXPECT_LE(output.rate_slot + (output.rate_slot < 0 ? 0 : output.size), d.output_count()) << output.name;
        for (const int i : output.direct) EXPECT_TRUE(i >= 0 && i < d.input_count()) << output.name;
        slot += output.size;
    }
    EXPECT_EQ(d.output_count(), slot);
}

TEST_P(subsystem_contract, ports_refer_to_slots) {
    const auto object = GetParam().make();
    const auto& d = object->describe();
    std::set<std::string> names;
    for (const auto& p : d.ports) {
        EXPECT_TRUE(names.insert(p.name).second) << p.name;
        const bool takes_load = p.causality == causality::takes_load;
        EXPECT_LT(p.load, takes_load ? d.input_count() : d.output_count()) << p.name;
        for (const int slot : p.motion) EXPECT_LT(slot, takes_load ? d.output_count() : d.input_count()) << p.name;
        EXPECT_TRUE(p.load >= 0 || p.motion[0] >= 0 || p.motion[1] >= 0 || !p.load_slots.empty())
            << p.name << " couples nothing";
    }
}

TEST_P(subsystem_contract, answers_do_not_change) {
    driven run(GetParam(), 0);
    const auto* description = &run.object->describe();
    const bool saves = run.object->offers().save_restore;
    run.step(GetParam().H);
    EXPECT_EQ(&run.object->describe(), description);
    EXPECT_EQ(run.object->offers().save_restore, saves);
    EXPECT_EQ(GetParam().make()->offers().save_restore, saves);
}

TEST_P(subsystem_contract, outputs_change_nothing) {
    driven asked(GetParam(), 2), left_alone(GetParam(), 2);
    std::vector<double> u(asked.inputs.size()), y(asked.y.size());
    for (int n = 0; n < 20; ++n) {
        for (int k = 0; k < 3; ++k) {
            for (auto& value : u) value = GetParam().input_scale * (k - 1 + 0.1 * n);
            asked.object->outputs(u, y);
        }
        EXPECT_TRUE(bitwise_equal(asked.outputs(), left_alone.outputs()));
        asked.step(GetParam().H);
        left_alone.step(GetParam().H);
        EXPECT_TRUE(bitwise_equal(asked.y, left_alone.y)) << "step " << n;
    }
}

TEST_P(subsystem_contract, outputs_of_advance_belong_to_the_end) {
    driven run(GetParam(), 3);
    for (int n = 0; n < 20; ++n) {
        run.step(GetParam().H);
        std::vector<double> y(run.y.size());
        const double begin = run.t - GetParam().H;
        run.object->outputs(run.input_values(run.t - begin), y);
        expect_close(run.y, y, 1e-12);
    }
}

TEST_P(subsystem_contract, step_size_does_not_matter) {
    driven large(GetParam(), 2), small(GetParam(), 2);
    for (int n = 0; n < 25; ++n) {
        large.step(GetParam().H);
        for (int k = 0; k < 8; ++k) small.step(GetParam().H / 8);
    }
    expect_close(small.outputs(), large.outputs(), GetParam().tolerance);
}

TEST_P(subsystem_contract, polynomials_are_honoured) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    constexpr int lowest_degree = max_degree;
#else
    constexpr int lowest_degree = 0;
#endif
    // Against an integration with piecewise constant inputs, their mean over pieces of H/256.
    for (int degree = lowest_degree; degree <= max_degree; ++degree) {
        driven polynomials(GetParam(), degree), means(GetParam(), degree);
        for (int n = 0; n < 5; ++n) {
            polynomials.step(GetParam().H);
            for (int k = 0; k < 256; ++k) means.step_with_means(GetParam().H / 256);
        }
        expect_close(polynomials.outputs(), means.outputs(), GetParam().tolerance);
    }
}

TEST_P(subsystem_contract, save_and_restore_are_bitwise) {
    driven run(GetParam(), 2);
    if (!run.object->offers().save_restore) GTEST_SKIP() << run.object->offers().why_no_save_restore;
    const auto snapshot = run.object->make_snapshot();
    for (const int steps_before : {0, 7}) {
        for (int n = 0; n < steps_before; ++n) run.step(GetParam().H);
        run.object->save(*snapshot);
        const double t = run.t;
        std::vector<std::vector<double>> first;
        for (int n = 0; n < 10; ++n) {
            run.step(GetParam().H);
            first.push_back(run.y);
        }
        for (int again = 0; again < 2; ++again) {
            run.object->restore(*snapshot);
            run.t = t;
            for (int n = 0; n < 10; ++n) {
                run.step(GetParam().H);
                EXPECT_TRUE(bitwise_equal(run.y, first[static_cast<std::size_t>(n)]))
                    << "round " << again << ", step " << n;
            }
        }
    }
}

TEST_P(subsystem_contract, trial_step_leaves_no_trace) {
    driven run(GetParam(), 2), straight(GetParam(), 2);
    if (!run.object->offers().save_restore) GTEST_SKIP() << run.object->offers().why_no_save_restore;
    const auto snapshot = run.object->make_snapshot();
    for (int n = 0; n < 10; ++n) {
        run.object->save(*snapshot);
        run.step(3 * GetParam().H);
        run.object->restore(*snapshot);
        run.t = straight.t;
        run.step(GetParam().H);
        straight.step(GetParam().H);
        EXPECT_TRUE(bitwise_equal(run.y, straight.y)) << "step " << n;
    }
}

TEST_P(subsystem_contract, a_state_goes_on_in_another_instance) {
    driven run(GetParam(), 2), other(GetParam(), 2);
    const auto offers = run.object->offers();
    if (!offers.save_restore) GTEST_SKIP() << offers.why_no_save_restore;
    if (!offers.why_no_bytes.empty()) GTEST_SKIP() << offers.why_no_bytes;
    for (int n = 0; n < 7; ++n) run.step(GetParam().H);
    const auto saved = run.object->make_snapshot(), taken = other.object->make_snapshot();
    run.object->save(*saved);
    const std::vector<std::byte> bytes = to_bytes(*saved);
    from_bytes(*taken, bytes);
    EXPECT_EQ(to_bytes(*taken), bytes);
    other.object->restore(*taken);
    other.t = run.t;
    for (int n = 0; n < 10; ++n) {
        run.step(GetParam().H);
        other.step(GetParam().H);
        EXPECT_TRUE(bitwise_equal(run.y, other.y)) << "step " << n;
    }
    if (!bytes.empty()) {
        EXPECT_ANY_THROW(from_bytes(*taken, {}));
    }
}

TEST_P(subsystem_contract, a_second_start_is_like_the_first) {
    driven run(GetParam(), 2), straight(GetParam(), 2);
    if (!run.object->offers().starts_again) GTEST_SKIP() << "it does not start again";
    for (int n = 0; n < 5; ++n) run.step(GetParam().H);
    run.object->reset();
    run.object->initialise(0);
    run.t = 0;
    EXPECT_TRUE(bitwise_equal(run.outputs(), straight.outputs()));
    for (int n = 0; n < 10; ++n) {
        run.step(GetParam().H);
        straight.step(GetParam().H);
        EXPECT_TRUE(bitwise_equal(run.y, straight.y)) << "step " << n;
    }
}

TEST_P(subsystem_contract, capabilities_are_honest) {
    driven run(GetParam(), 0);
    const auto offers = run.object->offers();
    EXPECT_EQ(offers.save_restore, offers.why_no_save_restore.empty());
    if (!offers.save_restore) {
        EXPECT_THROW(run.object->make_snapshot(), std::logic_error);
    } else {
        EXPECT_NE(run.object->make_snapshot(), nullptr);
    }
}

TEST_P(subsystem_contract, advance_allocates_nothing) {
    if (!allocations_are_counted() || !GetParam().counts_allocations) GTEST_SKIP();
    driven run(GetParam(), 2);
    static_cast<void>(run.object->next_event());  // an initial state that waited for its inputs is there now
    const auto snapshot = run.object->offers().save_restore ? run.object->make_snapshot() : nullptr;
    const allocation_counter allocations;
    for (int n = 0; n < 50; ++n) {
        if (snapshot) run.object->save(*snapshot);
        run.step(GetParam().H);
        if (snapshot && n % 10 == 5) {
            run.object->restore(*snapshot);
            run.t -= GetParam().H;
        }
    }
    EXPECT_EQ(allocations.count(), 0);
}

TEST_P(subsystem_contract, instances_agree_bitwise) {
    driven a(GetParam(), 4), b(GetParam(), 4);
    for (int n = 0; n < 50; ++n) {
        const double H = GetParam().H * (n % 3 + 1) / 2;
        a.step(H);
        b.step(H);
        EXPECT_TRUE(bitwise_equal(a.y, b.y)) << "step " << n;
    }
}

TEST_P(subsystem_contract, statistics_only_grow) {
    driven run(GetParam(), 1);
    auto before = run.object->statistics();
    for (int n = 0; n < 20; ++n) {
        run.step(GetParam().H);
        const auto now = run.object->statistics();
        EXPECT_GE(now.micro_steps, before.micro_steps);
        EXPECT_GE(now.evaluations, before.evaluations);
        EXPECT_GE(now.rejected, before.rejected);
        EXPECT_GE(now.events, before.events);
        before = now;
    }
}

}  // namespace mdpcosim::test
