#include "transport/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <numeric>

#include "transport/schedule.hpp"
#include "transport/worker_pool.hpp"

namespace mdpcosim {

subsystem_failure::subsystem_failure(std::string subsystem, double t, const std::string& reason)
    : run_error(fmt::format("subsystem '{}' failed at t = {} s: {}", subsystem, t, reason)),
      subsystem_(std::move(subsystem)),
      time_(t) {}

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

/// The first output that is not a finite number, or -1.
int first_not_finite(std::span<const double> y) {
    constexpr std::uint64_t exponent = 0x7ff0000000000000ULL;
    bool bad = false;
    for (const double value : y) bad |= (std::bit_cast<std::uint64_t>(value) & exponent) == exponent;
    if (!bad) return -1;
    return static_cast<int>(std::find_if(y.begin(), y.end(), [](double v) { return !std::isfinite(v); }) - y.begin());
}

template <class Variable>
std::string slot_name(const std::vector<Variable>& variables, int slot) {
    for (const auto& v : variables)
        if (slot >= v.slot && slot < v.slot + v.size) return element_name(v, slot);
    return fmt::format("[{}]", slot);
}

class thread_transport final : public transport, public worker_pool::job {
   public:
    thread_transport(std::vector<named_subsystem> subsystems, int workers)
        : subsystems_(std::move(subsystems)),
          cost_(subsystems_.size(), 0.0),
          workers_(std::clamp(workers > 0 ? workers : available_cores(), 1, static_cast<int>(subsystems_.size()))),
          schedule_(subsystems_.size(), workers_),
          failures_(static_cast<std::size_t>(workers_)) {
        std::size_t input = 0, output = 0;
        for (const auto& [name, model] : subsystems_) {
            const auto& d = model->describe();
            places_.push_back({model.get(), static_cast<std::uint32_t>(input), static_cast<std::uint32_t>(output),
                               static_cast<std::uint32_t>(d.input_count()), static_cast<std::uint32_t>(d.output_count())});
            input += static_cast<std::size_t>(d.input_count());
            output += static_cast<std::size_t>(d.output_count());
        }
        inputs_.resize(input);
        outputs_.resize(output);
        if (workers_ > 1) pool_ = std::make_unique<worker_pool>(workers_, *this);
    }

    std::size_t size() const override { return subsystems_.size(); }
    const std::string& name(subsystem_index i) const override { return subsystems_[i.value()].name; }
    const subsystem_description& describe(subsystem_index i) const override { return subsystems_[i.value()].model->describe(); }
    capabilities offers(subsystem_index i) const override { return subsystems_[i.value()].model->offers(); }
    std::size_t input_offset(subsystem_index i) const override { return places_[i.value()].input; }
    std::size_t output_offset(subsystem_index i) const override { return places_[i.value()].output; }
    std::span<polynomial> inputs() override { return inputs_; }
    std::span<const double> outputs() const override { return outputs_; }
    subsystem_statistics statistics(subsystem_index i) const override { return subsystems_[i.value()].model->statistics(); }
    subsystem_cost cost(subsystem_index i) const override { return {cost_[i.value()], parallel_ ? schedule_.worker_of(i.value()) : 0}; }
    int workers() const override { return workers_; }
    std::int64_t parallel_steps() const override { return parallel_steps_; }

    void initialise(double t0) override {
        for (std::size_t i = 0; i < size(); ++i) {
            try {
                subsystems_[i].model->initialise(t0);
            } catch (const std::exception& problem) {
                throw subsystem_failure(subsystems_[i].name, t0, problem.what());
            }
        }
        time_ = t0;
    }

    void evaluate(subsystem_index i, std::span<const double> u) override {
        const place& p = places_[i.value()];
        try {
            p.model->outputs(u, output_of(p));
        } catch (const std::exception& problem) {
            throw subsystem_failure(subsystems_[i.value()].name, time_, problem.what());
        }
        const int bad = first_not_finite(output_of(p));
        if (bad >= 0) throw subsystem_failure(subsystems_[i.value()].name, time_, not_finite_reason(i.value(), bad));
    }

    void advance(const macro_step& step) override {
        step_ = step;
        sampling_ = calls_ >= next_sample_;
        if (!sampling_) {
            advance_all();
        } else {
            const auto begin = clock::now();
            advance_all();
            measured(seconds_since(begin));
        }
        ++calls_;
        report_failures();
        time_ = step.end;
    }

    void save() override {
        if (snapshots_.empty())
            for (const auto& s : subsystems_) snapshots_.push_back(s.model->make_snapshot());
        for (std::size_t i = 0; i < size(); ++i) subsystems_[i].model->save(*snapshots_[i]);
        saved_time_ = time_;
    }

    void restore() override {
        for (std::size_t i = 0; i < size(); ++i) subsystems_[i].model->restore(*snapshots_[i]);
        time_ = saved_time_;
    }

   private:
    struct place {
        subsystem* model;
        std::uint32_t input, output, input_count, output_count;
    };

    struct alignas(64) failure {
        int subsystem = -1;
        std::string reason;
    };

    std::span<double> output_of(const place& p) { return {outputs_.data() + p.output, p.output_count}; }

    void work(int worker) noexcept override {
        for (const int i : schedule_.work(worker)) advance_one(i, worker);
    }

    void advance_all() {
        if (parallel_) {
            ++parallel_steps_;
            pool_->run();
        } else {
            for (std::size_t i = 0; i < places_.size(); ++i) advance_one(static_cast<int>(i), 0);
        }
    }

    void advance_one(int i, int worker) noexcept {
        const place& p = places_[static_cast<std::size_t>(i)];
        const auto begin = sampling_ ? clock::now() : clock::time_point{};
        try {
            p.model->advance(step_, {inputs_.data() + p.input, p.input_count}, output_of(p));
            const int bad = first_not_finite(output_of(p));
            if (bad >= 0) fail(i, worker, not_finite_reason(static_cast<std::size_t>(i), bad));
        } catch (const std::exception& problem) {
            fail(i, worker, problem.what());
        } catch (...) {
            fail(i, worker, "an exception of unknown type");
        }
        if (sampling_) {
            double& cost = cost_[static_cast<std::size_t>(i)];
            const double now = seconds_since(begin);
            cost = cost == 0 ? now : 0.75 * cost + 0.25 * now;
        }
    }

    void fail(int i, int worker, const std::string& reason) {
        failure& f = failures_[static_cast<std::size_t>(worker)];
        any_failure_.store(true, std::memory_order_relaxed);
        if (f.subsystem < 0 || i < f.subsystem) f = {i, reason};
    }

    /// The failure with the lowest subsystem number, whatever worker saw it first: the same message on any number of workers.
    void report_failures() {
        if (!any_failure_.load(std::memory_order_relaxed)) return;
        any_failure_.store(false);
        failure first;
        for (auto& f : failures_) {
            if (f.subsystem >= 0 && (first.subsystem < 0 || f.subsystem < first.subsystem)) first = f;
            f = {};
        }
        const place& p = places_[static_cast<std::size_t>(first.subsystem)];
        const auto& d = p.model->describe();
        std::string text = fmt::format("{} (macro step {} from {} s to {} s", first.reason, step_.counter, step_.begin, step_.end);
        const std::uint32_t shown = std::min<std::uint32_t>(p.input_count, 5);
        for (std::uint32_t k = 0; k < shown; ++k)
            text += fmt::format("{}{} = {}", k == 0 ? "; inputs at its start: " : ", ", slot_name(d.inputs, static_cast<int>(k)),
                                inputs_[p.input + k].c[0]);
        if (p.input_count > shown) text += fmt::format(" and {} more", p.input_count - shown);
        throw subsystem_failure(subsystems_[static_cast<std::size_t>(first.subsystem)].name, step_.begin, text + ")");
    }

    std::string not_finite_reason(std::size_t i, int slot) const {
        return fmt::format("output '{}' is {}", slot_name(places_[i].model->describe().outputs, slot),
                           outputs_[places_[i].output + static_cast<std::size_t>(slot)]);
    }

    /// Decides anew who serves whom, and whether parallel work pays at all, from what sampled steps cost.
    void measured(double wall) {
        // Every step at first, ever more rarely later: clock reads cost as much as a small step.
        next_sample_ = calls_ + std::clamp<std::int64_t>(calls_ / 8, 1, 1000);
        if (workers_ == 1 || calls_ < 3) return;
        const double serial = std::accumulate(cost_.begin(), cost_.end(), 0.0);
        if (parallel_) {
            parallel_wall_ = parallel_wall_ == 0 ? wall : 0.75 * parallel_wall_ + 0.25 * wall;
            // Slower than serial work would be (cores taken by others, tiny steps): stop, and try again much later.
            if (parallel_wall_ > serial) {
                parallel_ = false;
                retry_at_ = calls_ + retry_after_;
                retry_after_ = std::min<std::int64_t>(retry_after_ * 4, 1 << 30);
                return;
            }
        }
        schedule_.decide(cost_);
        constexpr double round_cost = 1e-6;
        if (!parallel_ && calls_ >= retry_at_ && serial - schedule_.busiest(cost_) > 2 * round_cost) {
            parallel_ = true;
            parallel_wall_ = 0;
        }
    }

    std::vector<named_subsystem> subsystems_;
    std::vector<place> places_;
    std::vector<polynomial> inputs_;
    std::vector<double> outputs_;
    std::vector<double> cost_;
    int workers_;
    schedule schedule_;
    std::vector<failure> failures_;
    std::atomic<bool> any_failure_{false};
    std::vector<std::unique_ptr<snapshot>> snapshots_;
    macro_step step_;
    double time_ = 0, saved_time_ = 0;
    bool parallel_ = false, sampling_ = false;
    double parallel_wall_ = 0;
    std::int64_t calls_ = 0, next_sample_ = 1, retry_at_ = 0, retry_after_ = 1000, parallel_steps_ = 0;
    std::unique_ptr<worker_pool> pool_;  // last: its threads use the members above
};

}  // namespace

std::unique_ptr<transport> make_thread_transport(std::vector<named_subsystem> subsystems, int workers) {
    return std::make_unique<thread_transport>(std::move(subsystems), workers);
}

}  // namespace mdpcosim
