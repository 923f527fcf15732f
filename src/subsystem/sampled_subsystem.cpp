#include "subsystem/sampled_subsystem.hpp"

#include <fmt/format.h>

#include <cassert>
#include <stdexcept>
#include <vector>

#include "core/error.hpp"
#include "subsystem/solvers/interval.hpp"

namespace mdpcosim {

namespace {

/// All that changes during a run.
struct sampled_state {
    double time = 0;
    std::int64_t next = 0;     ///< the sample to come
    std::int64_t pending = 0;  ///< the oldest sample whose outputs have not appeared yet, <= next
    std::vector<double> x;
    std::vector<double> held;     ///< the outputs of the present time, unless it is a sample time without delay
    std::vector<double> waiting;  ///< ring of outputs that appear later: sample k at (k % places) * output_count

    void state(state_bytes& bytes) { bytes(time, next, pending, x, held, waiting); }
};

struct sampled_snapshot final : snapshot {
    sampled_state saved;
    void state(state_bytes& bytes) override { bytes(saved); }
};

class sampled_subsystem final : public subsystem {
   public:
    sampled_subsystem(std::unique_ptr<sampled_equations> model, const sampling& clock,
                      std::unique_ptr<tuning<sampled_equations>> how_tuned)
        : model_(std::move(model)), tuning_(std::move(how_tuned)), clock_(clock), description_(model_->describe()) {
        if (!(clock.period > 0) || !(clock.offset >= 0) || !(clock.delay >= 0) || !description_.ports.empty())
            throw std::logic_error("a sampled subsystem needs period > 0, offset >= 0, delay >= 0, and has no ports");
        for (auto& input : description_.inputs) input.sampled = true;
        for (auto& output : description_.outputs) {
            output.sampled = true;
            output.rate_slot = -1;
            if (clock.delay > 0) output.direct.clear();
        }
        const auto n = static_cast<std::size_t>(model_->state_count());
        outputs_ = static_cast<std::size_t>(description_.output_count());
        if (clock.delay > 0) places_ = static_cast<std::int64_t>(clock.delay / clock.period) + 2;
        now_.x.resize(n);
        now_.held.resize(outputs_);
        now_.waiting.resize(static_cast<std::size_t>(places_) * outputs_);
        x_next_.resize(n);
        u_.resize(static_cast<std::size_t>(description_.input_count()));
    }

    const subsystem_description& describe() const noexcept override { return description_; }

    capabilities offers() const override {
        capabilities offered;
        offered.save_restore = offered.tells_next_event = offered.starts_again = true;
        if (tuning_) offered.parameters = tuning_->parameters;
        return offered;
    }

    void initialise(double t0) override {
        t0_ = t0;
        now_.time = t0;
        now_.next = now_.pending = 0;
        model_->initial_state(t0, now_.x.data());
        model_->initial_outputs(t0, now_.x.data(), now_.held.data());
    }

    void reset() override { samples_ = 0; }

    void outputs(std::span<const double> u, std::span<double> y) override { outputs_for(u.data(), y.data()); }

    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        const double last = step.end - clock_.tolerance(step.end);
        for (double t = clock_.sample_time(t0_, now_.next); t < last; t = clock_.sample_time(t0_, now_.next)) {
            const bool at_begin = t <= step.begin + clock_.tolerance(step.begin);
            input_values(inputs, at_begin ? 0 : t - step.begin, u_.data());
            sample(t);
        }
        now_.time = step.end;
        const std::int64_t before = now_.pending;
        release(step.end);
        if (clock_.delay > 0 ? now_.pending > before : at_sample_time()) tell_event(step.end);
        input_values(inputs, step.end - step.begin, u_.data());
        outputs_for(u_.data(), y.data());
    }

    std::unique_ptr<snapshot> make_snapshot() const override {
        auto made = std::make_unique<sampled_snapshot>();
        made->saved = now_;
        return made;
    }

    // Vectors of equal length are copied into the memory they have.
    void save(snapshot& into) override { static_cast<sampled_snapshot&>(into).saved = now_; }
    void restore(const snapshot& from) override { now_ = static_cast<const sampled_snapshot&>(from).saved; }

    void tune(int parameter, double value) override { model_ = tuned(*tuning_, *model_, parameter, value); }

    subsystem_statistics statistics() const override { return {.micro_steps = samples_, .evaluations = samples_}; }
    double next_event() const override {
        const double sample = clock_.sample_time(t0_, now_.next);
        return now_.pending < now_.next ? std::min(sample, clock_.release_time(t0_, now_.pending)) : sample;
    }

   private:
    bool at_sample_time() const {
        return clock_.sample_time(t0_, now_.next) <= now_.time + clock_.tolerance(now_.time);
    }

    void outputs_for(const double* u, double* y) const {
        if (clock_.delay > 0 || !at_sample_time())
            std::copy(now_.held.begin(), now_.held.end(), y);
        else
            model_->outputs(now_.time, now_.x.data(), u, y);
    }

    /// The sample to come, at its time t, with the inputs u_.
    void sample(double t) {
        release(t);
        assert(now_.next - now_.pending < places_ || clock_.delay == 0);
        double* y = clock_.delay > 0 ? waiting(now_.next) : now_.held.data();
        model_->outputs(t, now_.x.data(), u_.data(), y);
        model_->update(t, now_.x.data(), u_.data(), x_next_.data());
        if (!all_finite(x_next_.data(), x_next_.size()) || !all_finite(y, outputs_))
            throw run_error(
                fmt::format("the sample at t = {} s gave a state or an output that is no finite number", t));
        std::swap(now_.x, x_next_);
        ++now_.next;
        if (!(clock_.delay > 0)) now_.pending = now_.next;
        ++samples_;
    }

    /// Outputs that have appeared by t become the held ones.
    void release(double t) {
        while (now_.pending < now_.next && clock_.release_time(t0_, now_.pending) <= t + clock_.tolerance(t)) {
            const double* y = waiting(now_.pending++);
            std::copy_n(y, outputs_, now_.held.begin());
        }
    }

    double* waiting(std::int64_t k) { return now_.waiting.data() + static_cast<std::size_t>(k % places_) * outputs_; }

    std::unique_ptr<sampled_equations> model_;
    std::unique_ptr<tuning<sampled_equations>> tuning_;
    sampling clock_;
    subsystem_description description_;
    std::size_t outputs_ = 0;
    std::int64_t places_ = 0;
    double t0_ = 0;
    sampled_state now_;
    std::vector<double> x_next_, u_;  ///< scratch
    std::int64_t samples_ = 0;
};

}  // namespace

std::unique_ptr<subsystem> make_sampled_subsystem(std::unique_ptr<sampled_equations> model, const sampling& clock,
                                                  std::unique_ptr<tuning<sampled_equations>> how_tuned) {
    return std::make_unique<sampled_subsystem>(std::move(model), clock, std::move(how_tuned));
}

}  // namespace mdpcosim
