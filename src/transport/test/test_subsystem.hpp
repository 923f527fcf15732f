#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "support/far_function.hpp"
#include "transport/processes.hpp"
#include "transport/threads.hpp"

/// A subsystem with simple arithmetic of its own, a chosen amount of work, and failures on demand.
namespace mdpcosim::test {

struct test_traits {
    int inputs = 1;
    int outputs = 2;
    double x0 = 1;
    int work = 0;  ///< iterations of idle arithmetic per advance()

    enum class fault { none, exception, other_exception, not_a_number, infinite };
    fault kind = fault::none;
    std::int64_t fault_step = 0;  ///< counter of the macro step in which advance() fails
    bool fails_at_start = false;  ///< initialise() fails
    bool fails_outputs = false;   ///< outputs() fails
};

/// x_{n+1} = 0.9 x_n + sum of the inputs at the step's end + H,    y_k = (k + 1) x + u_0.
class test_subsystem final : public subsystem {
   public:
    explicit test_subsystem(const test_traits& traits) : traits_(traits) {
        description_.type = "test";
        for (int i = 0; i < traits.inputs; ++i) {
            input_variable v;
            v.name = "u" + std::to_string(i);
            v.slot = i;
            description_.inputs.push_back(v);
        }
        for (int i = 0; i < traits.outputs; ++i) {
            output_variable v;
            v.name = "y" + std::to_string(i);
            v.slot = i;
            v.rate_sensitivities = i > 0;
            description_.outputs.push_back(v);
        }
    }

    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override {
        return {.save_restore = true, .rate_sensitivities = true, .why_no_save_restore = {}, .why_fixed_step = "test"};
    }

    void initialise(double t0) override {
        if (traits_.fails_at_start) fail(traits_.kind);
        x_ = traits_.x0 + t0;
    }

    void outputs(std::span<const double> u, std::span<double> y) override {
        if (traits_.fails_outputs && fail(traits_.kind)) return write(y, std::nan(""));
        for (std::size_t k = 0; k < y.size(); ++k) y[k] = static_cast<double>(k + 1) * x_ + (u.empty() ? 0.0 : u[0]);
    }

    /// Numbers that show the state, the inputs and which input is meant; of the first output nothing is known.
    void rate_sensitivities(std::span<const double> u, int input, std::span<double> by_output) override {
        if (traits_.fails_outputs) fail(traits_.kind);
        for (std::size_t k = 0; k < by_output.size(); ++k)
            by_output[k] = static_cast<double>(k + 1) * x_ + 10 * input + u[static_cast<std::size_t>(input)];
        by_output[0] = std::nan("");
    }

    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        const double H = step.end - step.begin;
        for (const auto& p : inputs) u_[&p - inputs.data()] = p(H);
        double sum = 0;
        for (std::size_t i = 0; i < inputs.size(); ++i) sum += u_[i];
        volatile double idle = x_;
        for (int i = 0; i < traits_.work; ++i) idle = 0.5 * idle + 1;
        x_ = 0.9 * x_ + sum + H;
        ++steps_;
        outputs(std::span(u_).first(inputs.size()), y);
        if (traits_.kind == test_traits::fault::none || step.counter != traits_.fault_step) return;
        fail(traits_.kind);
        y.back() =
            traits_.kind == test_traits::fault::infinite ? -std::numeric_limits<double>::infinity() : std::nan("");
    }

    struct saved final : snapshot {
        double x = 0;
        void state(state_bytes& bytes) override { bytes(x); }
    };
    std::unique_ptr<snapshot> make_snapshot() const override { return std::make_unique<saved>(); }
    void save(snapshot& into) override { static_cast<saved&>(into).x = x_; }
    void restore(const snapshot& from) override { x_ = static_cast<const saved&>(from).x; }

    subsystem_statistics statistics() const override { return {.micro_steps = steps_}; }

   private:
    static bool fail(test_traits::fault kind) {
        if (kind == test_traits::fault::exception) throw run_error("the test wants it so");
        if (kind == test_traits::fault::other_exception) throw 42;
        return true;
    }

    static void write(std::span<double> y, double value) {
        for (double& v : y) v = value;
    }

    test_traits traits_;
    subsystem_description description_;
    std::array<double, 16> u_{};
    double x_ = 0;
    std::int64_t steps_ = 0;
};

inline std::vector<named_subsystem> make_subsystems(const std::vector<test_traits>& all) {
    std::vector<named_subsystem> made;
    for (std::size_t i = 0; i < all.size(); ++i)
        made.push_back({"s" + std::to_string(i), std::make_unique<test_subsystem>(all[i])});
    return made;
}

inline std::unique_ptr<subsystem> make_from_traits(const std::string& text) {
    return std::make_unique<test_subsystem>(from_text<test_traits>(text));
}

inline std::vector<subsystem_recipe> make_recipes(const std::vector<test_traits>& all) {
    std::vector<subsystem_recipe> made;
    for (std::size_t i = 0; i < all.size(); ++i)
        made.push_back({"s" + std::to_string(i), far_subsystem(make_from_traits, as_text(all[i]))});
    return made;
}

}  // namespace mdpcosim::test
