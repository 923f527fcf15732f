#include "subsystem/held_subsystem.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <vector>

namespace mdpcosim {

namespace {

/// All that changes during a run but for the subsystem itself.
struct held_state {
    double time = 0;
    std::int64_t next = 0;     ///< the sample to come; the subsystem stands at its time
    std::int64_t pending = 0;  ///< the oldest sample whose outputs have not appeared yet, <= next
    std::vector<double> held;
    std::vector<double> waiting;  ///< ring of outputs that appear later: sample k at (k % places) * output_count

    void state(state_bytes& bytes) { bytes(time, next, pending, held, waiting); }
};

struct held_snapshot final : snapshot {
    held_state own;
    std::unique_ptr<snapshot> inner;
    void state(state_bytes& bytes) override {
        bytes(own);
        inner->state(bytes);
    }
};

class held_subsystem final : public subsystem {
   public:
    held_subsystem(std::unique_ptr<subsystem> inner, const sampling& clock)
        : inner_(std::move(inner)), clock_(clock), description_(inner_->describe()) {
        if (!(clock.period > 0) || !(clock.offset >= 0) || !(clock.delay >= 0) || !description_.ports.empty())
            throw std::logic_error("a sampled subsystem needs period > 0, offset >= 0, delay >= 0, and has no ports");
        for (auto& input : description_.inputs) input.sampled = true;
        for (auto& output : description_.outputs) {
            output.sampled = true;
            output.rate_slot = -1;
            output.rate_sensitivities = false;
            if (clock.delay > 0) output.direct.clear();
        }
        outputs_ = static_cast<std::size_t>(description_.output_count());
        if (clock.delay > 0) places_ = static_cast<std::int64_t>(clock.delay / clock.period) + 2;
        now_.held.resize(outputs_);
        now_.waiting.resize(static_cast<std::size_t>(places_) * outputs_);
        const auto inputs = static_cast<std::size_t>(description_.input_count());
        u_.resize(inputs);
        constant_.resize(inputs);
        end_.resize(outputs_);
    }

    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override {
        capabilities offered = inner_->offers();
        offered.tells_next_event = true;
        offered.rate_sensitivities = offered.chooses_step = offered.events_at_points = false;
        offered.why_fixed_step.clear();  // its steps are sample times
        offered.port_stiffness.clear();
        return offered;
    }

    void initialise(double t0) override {
        t0_ = t0;
        now_.time = t0;
        now_.next = now_.pending = 0;
        inner_->initialise(clock_.sample_time(t0, 0));
        for (const auto& input : description_.inputs) std::fill_n(u_.begin() + input.slot, input.size, input.start);
        inner_->outputs(u_, now_.held);
    }
    void reset() override { inner_->reset(); }

    void outputs(std::span<const double> u, std::span<double> y) override {
        if (clock_.delay > 0 || !at_sample_time())
            std::ranges::copy(now_.held, y.begin());
        else
            inner_->outputs(u, y);
    }

    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        const double last = step.end - clock_.tolerance(step.end);
        for (double t = clock_.sample_time(t0_, now_.next); t < last; t = clock_.sample_time(t0_, now_.next)) {
            const bool at_begin = t <= step.begin + clock_.tolerance(step.begin);
            read(inputs, at_begin ? 0 : t - step.begin);
            sample(t);
        }
        now_.time = step.end;
        const std::int64_t before = now_.pending;
        release(step.end);
        if (clock_.delay > 0 ? now_.pending > before : at_sample_time()) tell_event(step.end);
        read(inputs, step.end - step.begin);
        outputs(u_, y);
    }

    std::unique_ptr<snapshot> make_snapshot() const override {
        auto made = std::make_unique<held_snapshot>();
        made->own = now_;
        made->inner = inner_->make_snapshot();
        return made;
    }
    void save(snapshot& into) override {
        auto& s = static_cast<held_snapshot&>(into);
        s.own = now_;
        inner_->save(*s.inner);
    }
    void restore(const snapshot& from) override {
        const auto& s = static_cast<const held_snapshot&>(from);
        now_ = s.own;
        inner_->restore(*s.inner);
    }

    void tune(int parameter, double value) override { inner_->tune(parameter, value); }
    void set_text(int input, std::string_view text) override { inner_->set_text(input, text); }
    void get_text(int output, std::string& into) override { inner_->get_text(output, into); }
    subsystem_statistics statistics() const override { return inner_->statistics(); }
    double next_event() const override {
        const double sample = clock_.sample_time(t0_, now_.next);
        return now_.pending < now_.next ? std::min(sample, clock_.release_time(t0_, now_.pending)) : sample;
    }

   private:
    bool at_sample_time() const {
        return clock_.sample_time(t0_, now_.next) <= now_.time + clock_.tolerance(now_.time);
    }
    void read(std::span<const polynomial> inputs, double s) {
        for (std::size_t i = 0; i < inputs.size(); ++i) u_[i] = inputs[i](s);
    }

    /// The sample to come, at its time t, with the inputs u_.
    void sample(double t) {
        release(t);
        assert(now_.next - now_.pending < places_ || clock_.delay == 0);
        const auto y = clock_.delay > 0 ? waiting(now_.next) : std::span<double>(now_.held);
        inner_->outputs(u_, y);
        for (std::size_t i = 0; i < u_.size(); ++i) constant_[i] = {.c = {u_[i]}};
        inner_->advance({t, clock_.sample_time(t0_, now_.next + 1), now_.next}, constant_, end_);
        if (inner_->has_notice() && inner_->take_notice().ask_to_end) ask_to_end();
        ++now_.next;
        if (!(clock_.delay > 0)) now_.pending = now_.next;
    }

    /// Outputs that have appeared by t become the held ones.
    void release(double t) {
        while (now_.pending < now_.next && clock_.release_time(t0_, now_.pending) <= t + clock_.tolerance(t))
            std::ranges::copy(waiting(now_.pending++), now_.held.begin());
    }

    std::span<double> waiting(std::int64_t k) {
        return std::span(now_.waiting).subspan(static_cast<std::size_t>(k % places_) * outputs_, outputs_);
    }

    std::unique_ptr<subsystem> inner_;
    sampling clock_;
    subsystem_description description_;
    std::size_t outputs_ = 0;
    std::int64_t places_ = 0;
    double t0_ = 0;
    held_state now_;
    std::vector<double> u_, end_;  ///< scratch
    std::vector<polynomial> constant_;
};

}  // namespace

std::unique_ptr<subsystem> make_held_subsystem(std::unique_ptr<subsystem> inner, const sampling& clock) {
    return std::make_unique<held_subsystem>(std::move(inner), clock);
}

}  // namespace mdpcosim
