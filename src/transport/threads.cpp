#include "transport/threads.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>

#include "subsystem/touched.hpp"
#include "transport/failure.hpp"
#include "transport/parallel_choice.hpp"
#include "transport/schedule.hpp"
#include "transport/worker_pool.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

double seconds(clock::time_point t) { return std::chrono::duration<double>(t.time_since_epoch()).count(); }
double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

class thread_transport final : public transport, public worker_pool::job {
   public:
    thread_transport(std::vector<named_subsystem> subsystems, int workers, bool timed, const binding& cores)
        : subsystems_(std::move(subsystems)),
          cost_(subsystems_.size(), 0.0),
          last_(subsystems_.size()),
          workers_(std::clamp(workers > 0 ? workers : available_cores(), 1,
                              std::max(1, static_cast<int>(subsystems_.size())))),
          schedule_(subsystems_.size(), workers_),
          bundle_cost_(subsystems_.size()),
          choice_(workers_),
          failures_(static_cast<std::size_t>(workers_)),
          cursors_(static_cast<std::size_t>(workers_)) {
        for (int w = 0; w < workers_; ++w) profile_.emplace_back(most_events / static_cast<std::size_t>(workers_));
        std::size_t input = 0, output = 0;
        for (const auto& [name, model, replicas] : subsystems_) {
            replicas_ |= !replicas.empty();
            const auto& d = model->describe();
            places_.push_back({model.get(), static_cast<std::uint32_t>(input), static_cast<std::uint32_t>(output),
                               static_cast<std::uint32_t>(d.input_count()),
                               static_cast<std::uint32_t>(d.output_count())});
            input += static_cast<std::size_t>(d.input_count());
            output += static_cast<std::size_t>(d.output_count());
            bundles_.push_back({.first = static_cast<int>(bundles_.size())});
            places_.back().bundle = bundles_.back().first;
        }
        inputs_.resize(input);
        outputs_.resize(output);
        if (!timed) next_sample_ = std::numeric_limits<std::int64_t>::max();
        const bool told = cores.master >= 0 || std::ranges::any_of(cores.units, [](int unit) { return unit >= 0; });
        if (workers_ == 1 && !told) return;
        const std::vector<int> units = places_of_workers(cores);
        for (std::size_t i = 0; i < size(); ++i)
            if (cores.of(i) >= 0) {
                const auto worker = std::find(units.begin(), units.end(), cores.of(i)) - units.begin();
                if (worker == workers_) continue;  // more units than workers
                schedule_.fix(i, static_cast<int>(worker));
                may_share_ = false;
            }
        if (!units.empty()) bound_ = std::make_unique<bound_thread>(units[0]);
        if (workers_ > 1) pool_ = std::make_unique<worker_pool>(workers_, *this, units);
    }

    std::size_t size() const override { return subsystems_.size(); }
    const std::string& name(subsystem_index i) const override { return subsystems_[i.value()].name; }
    const subsystem_description& describe(subsystem_index i) const override {
        return subsystems_[i.value()].model->describe();
    }
    capabilities offers(subsystem_index i) const override { return subsystems_[i.value()].model->offers(); }
    std::size_t input_offset(subsystem_index i) const override { return places_[i.value()].input; }
    std::size_t output_offset(subsystem_index i) const override { return places_[i.value()].output; }
    std::span<polynomial> inputs() override { return inputs_; }
    std::span<const double> outputs() const override { return outputs_; }
    subsystem_statistics statistics(subsystem_index i) const override {
        return subsystems_[i.value()].model->statistics();
    }
    subsystem_cost cost(subsystem_index i) const override {
        const span_of_time& last = last_[i.value()];
        return {cost_[i.value()], parallel_ ? worker_of(i) : 0, last.begin, last.end};
    }
    int workers() const override { return workers_; }
    std::int64_t parallel_steps() const override { return parallel_steps_; }
    std::span<const profile_log> profile() const override { return profile_; }

    double next_step(subsystem_index i) const override { return subsystems_[i.value()].model->next_step(); }

    double next_event(subsystem_index i) const override { return subsystems_[i.value()].model->next_event(); }

    void expect(subsystem_index i, const usage& used) override {
        for_all_instances(i.value(), [&](subsystem& model) { model.expect(used); });
        place& p = places_[i.value()];
        p.outputs_follow = used.outputs_follow;
        p.follows_at_once = p.outputs_follow && p.alone;
    }

    void set_text(subsystem_index i, int input, const std::string& text) override {
        in_its_name(i.value(), time_,
                    [&] { for_all_instances(i.value(), [&](subsystem& model) { model.set_text(input, text); }); });
    }
    void get_text(subsystem_index i, int output, std::string& into) override {
        in_its_name(i.value(), time_, [&] { subsystems_[i.value()].model->get_text(output, into); });
    }

    void tune(subsystem_index i, int parameter, double value) override {
        for_all_instances(i.value(), [&](subsystem& model) { model.tune(parameter, value); });
    }

    void initialise(double t0) override {
        for (std::size_t i = 0; i < size(); ++i)
            in_its_name(i, t0, [&] { for_all_instances(i, [t0](subsystem& model) { model.initialise(t0); }); });
        time_ = t0;
        make_batches();
        if (size() >= fetched_ahead_from) find_lines();
    }

    void reset() override {
        for (std::size_t i = 0; i < size(); ++i)
            in_its_name(i, time_, [&] { for_all_instances(i, [](subsystem& model) { model.reset(); }); });
        any_notice_.store(false);
        for (auto& f : failures_) f.noticed = {};
        notices_ = {};
    }

    void evaluate(subsystem_index i, std::span<const double> u, bool provisional) override {
        const place& p = places_[i.value()];
        try {
            p.model->outputs(u, output_of(p));
        } catch (...) {
            throw failed_evaluation(i, reason_of_exception());
        }
        if (!provisional && !all_finite(output_of(p))) [[unlikely]]
            throw failed_evaluation(i, not_finite(p));
    }

    void rate_sensitivities(subsystem_index i, std::span<const double> u, int input,
                            std::span<double> by_output) override {
        in_its_name(i.value(), time_, [&] { places_[i.value()].model->rate_sensitivities(u, input, by_output); });
    }

    void time_next_step() override { next_sample_ = std::min(next_sample_, calls_); }

    void advance(const macro_step& step) override {
        const whole_step weighed(*this);
        step_of_all(step);
    }

    void advance_some(std::span<const subsystem_step> some) override {
        struct at_work {
            std::span<const subsystem_step>& some;
            ~at_work() { some = {}; }
        } const until_the_end{some_ = some};
        in_timed_step(some.front().step, [this] {
            if (pool_ && sharing_pays()) {
                ++parallel_steps_;
                trial_.next.store(0, std::memory_order_relaxed);
                pool_->run();
            } else {
                for (const subsystem_step& one : some_) advance_own(one, 0);
            }
        });
        report_failures();
        time_ = some.front().step.end;
    }

    /// Item by item where one thread does it all: a subsystem is in the caches when it is evaluated.
    void carry_out(const macro_step& step, step_plan& plan) override {
        const whole_step weighed(*this);
        if (parallel_ || calls_ >= next_sample_) {
            step_of_all(step);
            return transport::evaluate_plan(step.end, plan, false);
        }
        step_ = step;
        sampling_ = false;
        time_ = step.end;
        ++calls_;
        step_failure failed;
        const auto *next = plan.items.data() + items_ahead, *const end = plan.items.data() + plan.items.size();
        if (lines_.empty() || plan.items.size() <= items_ahead) next = end;
        for (const auto& item : plan.items) {
            const place& p = places_[item.subsystem.value()];
            if (next != end) fetch_ahead((next++)->subsystem);
            if (item.evaluate && item.advance && p.follows_at_once && !failed.any) [[likely]] {
                bool known = false, advanced = false;
                try {
                    plan.find_values(item, step_.end, outputs_.data());
                    known = true;
                    p.model->advance_and_follow(step_, inputs_.data() + p.input, plan.values.data() + p.input,
                                                outputs_.data() + p.output, advanced);
                    if (p.model->has_notice()) [[unlikely]]
                        note(static_cast<int>(item.subsystem.value()), 0, *p.model);
                    if (!all_finite(output_of(p))) [[unlikely]]
                        failed.of_evaluation(failed_evaluation(item.subsystem, not_finite(p)));
                } catch (...) {
                    handle(item, known, advanced, failed);
                }
            } else if (!item.evaluate && p.alone) {
                if (item.advance && !advance_one(static_cast<int>(item.subsystem.value()), 0)) failed.any = true;
            } else {
                carry_out_apart(item, plan, failed);
            }
        }
        gather_notices();
        report_failures();
        if (failed.evaluation) std::rethrow_exception(failed.evaluation);
    }

    state_id make_state() override {
        saved_state& made = states_.emplace_back();
        for (const auto& s : subsystems_) made.snapshots.push_back(s.model->make_snapshot());
        made.outputs = outputs_;
        return static_cast<state_id>(states_.size() - 1);
    }

    void save(state_id into) override {
        saved_state& to = states_[static_cast<std::size_t>(into)];
        for (std::size_t i = 0; i < size(); ++i) subsystems_[i].model->save(*to.snapshots[i]);
        to.time = time_;
        to.outputs = outputs_;
    }

    void restore(state_id from) override {
        const saved_state& saved = states_[static_cast<std::size_t>(from)];
        for (std::size_t i = 0; i < size(); ++i) subsystems_[i].model->restore(*saved.snapshots[i]);
        time_ = saved.time;
        outputs_ = saved.outputs;
        notices_ = {};
    }

    std::vector<std::byte> get_state(state_id of, subsystem_index i) override {
        return to_bytes(*states_[static_cast<std::size_t>(of)].snapshots[i.value()]);
    }
    void set_state(state_id of, subsystem_index i, const std::vector<std::byte>& bytes) override {
        from_bytes(*states_[static_cast<std::size_t>(of)].snapshots[i.value()], bytes);
    }
    void set_state(state_id of, double time, std::span<const double> outputs) override {
        saved_state& saved = states_[static_cast<std::size_t>(of)];
        if (outputs.size() != saved.outputs.size())
            throw state_mismatch("the saved state has another number of outputs");
        saved.time = time;
        std::ranges::copy(outputs, saved.outputs.begin());
    }

    const step_notices& notices() const override { return notices_; }

    void advance_trials(const macro_step& step, std::span<trial_step> trials, state_id begin) override {
        if (!replicas_ || trials.size() < 2) return transport::advance_trials(step, trials, begin);
        trials_ = trials;
        trials_begin_ = &states_[static_cast<std::size_t>(begin)];
        trial_.next.store(0, std::memory_order_relaxed);
        in_timed_step(step, [&] {
            if (pool_) {
                ++parallel_steps_;
                pool_->run();
            } else {
                work_on_trials(0);
            }
        });
        trials_ = {};
        std::ranges::copy(trials.back().outputs, outputs_.begin());
        report_failures();
        time_ = step.end;
    }

   private:
    struct place {
        subsystem* model;
        std::uint32_t input, output, input_count, output_count;
        bool outputs_follow = false;   ///< advance() may not have written them
        bool alone = true;             ///< not part of a batch
        bool follows_at_once = false;  ///< outputs_follow, and it is alone
        int bundle = 0;
    };

    /// What is advanced by one call: a subsystem, or a batch of them.
    struct bundle {
        int first = 0;
        std::unique_ptr<subsystem_batch> batch = {};
        std::int64_t advanced = -1;  ///< the last of the calls that did it; of a batch
        int count() const { return batch ? static_cast<int>(batch->size()) : 1; }
    };

    struct span_of_time {
        double begin = 0, end = 0;
    };

    /// How far the list of one worker is done, by whomever.
    struct alignas(64) cursor {
        std::atomic<std::size_t> next{0};
    };

    /// What one worker has met in a step.
    struct alignas(64) failure {
        int subsystem = -1;
        std::string reason;
        step_notices noticed = {};
    };

    /// A unit for every worker, those that are asked for first; none where nothing is to be bound.
    std::vector<int> places_of_workers(const binding& cores) const {
        std::vector<int> units;
        const auto add = [&](int unit) {
            if (unit >= 0 && std::find(units.begin(), units.end(), unit) == units.end()) units.push_back(unit);
        };
        add(cores.master);
        for (std::size_t i = 0; i < size(); ++i) add(cores.of(i));
        if (units.empty() && (!cores.automatic || workers_ > available_cores())) return {};
        if (cores.automatic)
            for (const int unit : processing_units()) add(unit);
        units.resize(static_cast<std::size_t>(workers_), -1);
        return units;
    }

    std::span<double> output_of(const place& p) { return {outputs_.data() + p.output, p.output_count}; }

    template <class Work>
    void in_its_name(std::size_t i, double t, const Work& work) const {
        try {
            work();
        } catch (...) {
            throw subsystem_failure(subsystems_[i].name, t, reason_of_exception());
        }
    }

    /// Neighbours of one kind in batches, at least so many that all workers have some; none where subsystems are bound to workers.
    void make_batches() {
        if (!may_share_) return;
        std::vector<subsystem*> models;
        for (const place& p : places_) models.push_back(p.model);
        const std::size_t parts = workers_ > 1 ? 4 * static_cast<std::size_t>(workers_) : 1;
        const std::size_t most = (size() + parts - 1) / parts;
        std::vector<bundle> made;
        for (std::size_t i = 0; i < size(); i += static_cast<std::size_t>(made.back().count())) {
            const auto behind = std::span<subsystem* const>(models).subspan(i + 1, std::min(most, size() - i) - 1);
            made.push_back({.first = static_cast<int>(i)});
            if (!behind.empty()) in_its_name(i, time_, [&] { made.back().batch = models[i]->make_batch(behind); });
            for (int k = 0; k < made.back().count(); ++k) {
                place& p = places_[i + static_cast<std::size_t>(k)];
                p.bundle = static_cast<int>(made.size()) - 1;
                p.alone = !made.back().batch;
                p.follows_at_once = p.outputs_follow && p.alone;
            }
        }
        if (made.size() != bundles_.size()) {
            schedule_ = schedule(made.size(), workers_);
            bundle_cost_.resize(made.size());
        }
        bundles_ = std::move(made);
    }

    int worker_of(subsystem_index i) const {
        return schedule_.worker_of(static_cast<std::size_t>(places_[i.value()].bundle));
    }

    template <class Call>
    void for_all_instances(std::size_t i, const Call& call) {
        call(*subsystems_[i].model);
        for (const auto& replica : subsystems_[i].replicas) call(*replica);
    }

    void step_of_all(const macro_step& step) {
        in_timed_step(step, [this] { advance_all(); });
        report_failures();
        time_ = step.end;
    }

    /// A step with its evaluations, for the choice of how steps are done. Where single subsystems are timed it takes longer, and says nothing.
    class whole_step {
       public:
        explicit whole_step(thread_transport& of) : of_(of), step_(of.calls_) {
            if (!of.pool_) return;
            if (of.choice_.parallel() != of.parallel_) of.change_mode(of.choice_.parallel());
            heard_ = of.calls_ < of.next_sample_ && of.choice_.listens(step_);
            if (heard_) begin_ = clock::now();
        }
        whole_step(const whole_step&) = delete;
        whole_step& operator=(const whole_step&) = delete;
        ~whole_step() {
            if (!heard_) return;
            const auto end = clock::now();
            of_.choice_.took(step_, std::chrono::duration<double>(end - begin_).count(), seconds(end));
        }

       private:
        thread_transport& of_;
        std::int64_t step_;
        bool heard_ = false;
        clock::time_point begin_{};
    };

    template <class Work>
    void in_timed_step(const macro_step& step, const Work& work) {
        step_ = step;
        sampling_ = calls_ >= next_sample_;
        struct gathering {
            thread_transport& of;
            ~gathering() { of.gather_notices(); }
        } const in_the_end{*this};
        if (!sampling_) {
            work();
        } else {
            const auto begin = clock::now();
            make_room_in_profile();
            work();
            const double wall = seconds_since(begin);
            log(seconds(begin), wall, -1, 0);
            if (trials_.empty() && some_.empty())
                measured(wall);
            else  // says nothing about macro steps
                next_sample_ = calls_ + samples_apart(), ++cost_samples_;
        }
        ++calls_;
    }

    std::string not_finite(const place& p) {
        return not_finite_reason(p.model->describe(), output_of(p), first_not_finite(output_of(p)));
    }

    void work(int worker) noexcept override {
        if (!trials_.empty()) return work_on_trials(worker);
        if (!some_.empty()) return work_on_some(worker);
        if (!shared_) {
            for (const int b : schedule_.work(worker)) advance_bundle(b, worker);
            return;
        }
        for (int k = 0; k < workers_; ++k) {
            const int owner = (worker + k) % workers_;
            const auto list = schedule_.work(owner);
            auto& next = cursors_[static_cast<std::size_t>(owner)].next;
            for (std::size_t at; (at = next.fetch_add(1, std::memory_order_relaxed)) < list.size();)
                advance_bundle(list[at], worker);
        }
    }

    /// Trial k of a subsystem with n replicas is done by its instance k % (n + 1) counted from the end: the last one by the
    /// subsystem itself, whose state it leaves.
    void work_on_trials(int worker) noexcept {
        const std::size_t n = trials_.size();
        for (std::size_t at; (at = trial_.next.fetch_add(1, std::memory_order_relaxed)) < n * size();) {
            const std::size_t i = at % size(), instance = at / size();
            const auto& replicas = subsystems_[i].replicas;
            if (instance > replicas.size()) continue;
            place p = places_[i];
            if (instance > 0) p.model = replicas[instance - 1].get();
            for (std::size_t k = 0; k < n; ++k) {
                if ((n - 1 - k) % (replicas.size() + 1) != instance) continue;
                try {
                    p.model->restore(*trials_begin_->snapshots[i]);
                } catch (...) {
                    fail(static_cast<int>(i), worker, reason_of_exception());
                }
                advance_one(static_cast<int>(i), worker, p, step_, trials_[k].inputs.data() + p.input,
                            trials_[k].outputs.data() + p.output);
            }
        }
    }

    void work_on_some(int worker) noexcept {
        if (may_share_) {
            for (std::size_t at; (at = trial_.next.fetch_add(1, std::memory_order_relaxed)) < some_.size();)
                advance_own(some_[at], worker);
            return;
        }
        for (const subsystem_step& one : some_)
            if (worker_of(one.subsystem) == worker) advance_own(one, worker);
    }

    void advance_own(const subsystem_step& one, int worker) noexcept {
        const place& p = places_[one.subsystem.value()];
        advance_one(static_cast<int>(one.subsystem.value()), worker, p, one.step, inputs_.data() + p.input,
                    outputs_.data() + p.output);
    }

    /// All but the longest could be done meanwhile; waking workers costs, too.
    bool sharing_pays() const {
        constexpr double round_cost = 2e-6;
        double sum = 0, longest = 0;
        for (const subsystem_step& one : some_) {
            sum += cost_[one.subsystem.value()];
            longest = std::max(longest, cost_[one.subsystem.value()]);
        }
        return sum - longest > 2 * round_cost;
    }

    void advance_all() {
        if (parallel_) {
            ++parallel_steps_;
            if (shared_)
                for (auto& c : cursors_) c.next.store(0, std::memory_order_relaxed);
            pool_->run();
        } else {
            for (std::size_t b = 0; b < bundles_.size(); ++b) advance_bundle(static_cast<int>(b), 0);
        }
    }

    bool advance_bundle(int b, int worker) noexcept {
        bundle& one = bundles_[static_cast<std::size_t>(b)];
        return one.batch ? advance_batch(one, worker) : advance_one(one.first, worker);
    }

    bool advance_batch(bundle& one, int worker) noexcept {
        one.advanced = calls_;
        const auto first = static_cast<std::size_t>(one.first), n = one.batch->size();
        const auto begin = sampling_ ? clock::now() : clock::time_point{};
        std::size_t done = 0;
        bool failed = false;
        const auto refuse = [&](std::size_t i, const std::string& reason) {
            failed = true;
            fail(static_cast<int>(i), worker, reason);
        };
        try {
            one.batch->advance(step_, inputs_.data() + places_[first].input, outputs_.data() + places_[first].output,
                               done);
        } catch (...) {
            refuse(first + std::min(done, n - 1), reason_of_exception());
        }
        for (std::size_t i = first; i < first + done; ++i) {
            const place& p = places_[i];
            if (p.model->has_notice()) [[unlikely]]
                note(static_cast<int>(i), worker, *p.model);
            if (!p.outputs_follow && !all_finite(output_of(p))) [[unlikely]]
                refuse(i, not_finite(p));
        }
        if (!sampling_) return !failed;
        const double wall = seconds_since(begin) / static_cast<double>(n), since = seconds(begin);
        for (std::size_t k = 0; k < n; ++k)
            measured_one(first + k, since + static_cast<double>(k) * wall, wall, worker);
        return !failed;
    }

    void measured_one(std::size_t i, double since, double wall, int worker) {
        log(since, wall, static_cast<int>(i), worker);
        cost_[i] = cost_[i] == 0 ? wall : blend(cost_[i], wall, cost_samples_);
        last_[i] = {since, since + wall};
    }

    /// False: it failed.
    bool advance_one(int i, int worker) noexcept {
        const place& p = places_[static_cast<std::size_t>(i)];
        return advance_one(i, worker, p, step_, inputs_.data() + p.input, outputs_.data() + p.output);
    }

    bool advance_one(int i, int worker, const place& p, const macro_step& step, const polynomial* inputs,
                     double* outputs) noexcept {
        const std::span y(outputs, p.output_count);
        const auto begin = sampling_ ? clock::now() : clock::time_point{};
        bool failed = false;
        try {
            p.model->advance(step, {inputs, p.input_count}, y);
            if (p.model->has_notice()) [[unlikely]]
                note(i, worker, *p.model);
            failed = !p.outputs_follow && !all_finite(y);
            if (failed) [[unlikely]]
                fail(i, worker, not_finite_reason(p.model->describe(), y, first_not_finite(y)));
        } catch (...) {
            failed = true;
            fail(i, worker, reason_of_exception());
        }
        if (sampling_) {
            const double wall = seconds_since(begin), since = seconds(begin);
            // Replicas are at work at the same time: the subsystem itself says what it costs.
            if (p.model == places_[static_cast<std::size_t>(i)].model)
                measured_one(static_cast<std::size_t>(i), since, wall, worker);
            else
                log(since, wall, i, worker);
        }
        return !failed;
    }

    [[gnu::cold]] void note(int i, int worker, subsystem& model) {
        failures_[static_cast<std::size_t>(worker)].noticed.add(subsystem_index(static_cast<std::size_t>(i)),
                                                                model.take_notice());
        any_notice_.store(true, std::memory_order_relaxed);
    }
    /// Of this step, from all workers.
    void gather_notices() {
        if (noticed_) [[unlikely]]
            notices_ = {}, noticed_ = false;
        if (!any_notice_.load(std::memory_order_relaxed)) [[likely]]
            return;
        any_notice_.store(false);
        noticed_ = true;
        for (auto& f : failures_) notices_.add(std::exchange(f.noticed, {}));
    }

    /// Large systems do not fit the caches: what a subsystem needs is asked for while those before it work.
    static constexpr std::size_t fetched_ahead_from = 300, items_ahead = 2;
    /// Lines of a cache: the address of the first, and in its low bits their number; 0: none.
    using lines = std::array<std::uintptr_t, tells_touched::most_ranges>;
    static constexpr std::uintptr_t line = 64;
    std::vector<lines> lines_;  ///< by subsystem; none where all fits
    void find_lines() {
        lines_.assign(size(), {});
        for (std::size_t i = 0; i < size(); ++i) {
            const auto* model = dynamic_cast<const tells_touched*>(places_[i].model);
            if (model == nullptr) continue;
            std::array<memory_range, tells_touched::most_ranges> told;
            const auto ranges = std::span(told).first(model->touched(told));
            std::ranges::sort(ranges, std::less<>(), &memory_range::first);
            std::size_t count = 0;
            std::uintptr_t end = 0;  // of the last one
            for (const memory_range& range : ranges) {
                const auto first = reinterpret_cast<std::uintptr_t>(range.first), begin = first / line * line;
                if (begin != end || count == 0) lines_[i][count++] = begin;
                end = (first + range.bytes + line - 1) / line * line;
                std::uintptr_t& all = lines_[i][count - 1];
                all = all / line * line + std::min((end - all / line * line) / line, line - 1);
            }
        }
    }
    [[gnu::always_inline]] void fetch_ahead(subsystem_index i) const {  // as a call of its own the compiler drops it
        for (const std::uintptr_t some : lines_[i.value()]) {
            if (some == 0) return;
            const char* at = reinterpret_cast<const char*>(some / line * line);
            for (std::uintptr_t n = some % line; n > 0; --n, at += line) __builtin_prefetch(at);
        }
    }

    /// While a plan is carried out. After any failure nothing more is evaluated.
    struct step_failure {
        bool any = false;
        std::exception_ptr evaluation;  ///< failures of advance() are told first

        void of_evaluation(const std::exception_ptr& problem) { any = true, evaluation = problem; }
        void of_evaluation(const subsystem_failure& problem) { of_evaluation(std::make_exception_ptr(problem)); }
    };

    /// An exception came before the input values were known, in advance(), or in outputs().
    [[gnu::cold]] void handle(const step_plan::item& item, bool known, bool advanced, step_failure& failed) {
        const int i = static_cast<int>(item.subsystem.value());
        failed.any = true;
        if (!known) {
            failed.of_evaluation(std::current_exception());
            if (!advanced) advance_one(i, 0);
        } else if (advanced) {
            failed.of_evaluation(failed_evaluation(item.subsystem, reason_of_exception()));
        } else {
            fail(i, 0, reason_of_exception());
        }
    }

    [[gnu::noinline]] void carry_out_apart(const step_plan::item& item, step_plan& plan, step_failure& failed) {
        const place& p = places_[item.subsystem.value()];
        // A batch is advanced with the first of its members, which no evaluation minds.
        const bool is_due = item.advance && bundles_[static_cast<std::size_t>(p.bundle)].advanced != calls_;
        if (is_due && !advance_bundle(p.bundle, 0)) failed.any = true;
        if (!item.evaluate || failed.any) return;
        bool known = false;
        try {
            plan.find_values(item, step_.end, outputs_.data());
            known = true;
            p.model->outputs({plan.values.data() + p.input, p.input_count}, output_of(p));
            if (!all_finite(output_of(p))) failed.of_evaluation(failed_evaluation(item.subsystem, not_finite(p)));
        } catch (...) {
            handle(item, known, true, failed);
        }
    }

    void log(double since, double wall, int subsystem, int worker) {
        if (cost_samples_ % profile_stride_ != 0) return;
        profile_[static_cast<std::size_t>(worker)].add(
            {since, since + wall, subsystem, worker, step_.counter, cost_samples_});
    }

    /// A profile covers the whole run within its bounds: when a log is full, every second sampled step goes.
    void make_room_in_profile() {
        const bool full = std::any_of(profile_.begin(), profile_.end(), [](const profile_log& l) { return l.full(); });
        // Of one sampled step everything is kept that has room; no thinning out helps there.
        if (!full || profile_stride_ > cost_samples_) return;
        profile_stride_ *= 2;
        for (auto& l : profile_) l.thin_out(profile_stride_);
    }

    void fail(int i, int worker, const std::string& reason) {
        failure& f = failures_[static_cast<std::size_t>(worker)];
        any_failure_.store(true, std::memory_order_relaxed);
        if (f.subsystem < 0 || i < f.subsystem) f.subsystem = i, f.reason = reason;
    }

    /// The failure with the lowest subsystem number, whatever worker saw it first: the same message on any number of workers.
    void report_failures() {
        if (any_failure_.load(std::memory_order_relaxed)) [[unlikely]]
            throw_first_failure();
    }
    [[noreturn, gnu::cold]] void throw_first_failure() {
        any_failure_.store(false);
        failure first;
        for (auto& f : failures_) {
            if (f.subsystem >= 0 && (first.subsystem < 0 || f.subsystem < first.subsystem)) first = f;
            f.subsystem = -1;
        }
        throw in_step(static_cast<std::size_t>(first.subsystem), first.reason);
    }

    subsystem_failure in_step(std::size_t i, const std::string& reason) {
        const place& p = places_[i];
        const auto own = std::ranges::find(some_, subsystem_index(i), &subsystem_step::subsystem);
        return failure_in_step(subsystems_[i].name, reason, own == some_.end() ? step_ : own->step, p.model->describe(),
                               std::span(inputs_).subspan(p.input, p.input_count));
    }

    /// What outputs() shows for the first time after a step belongs to the step.
    subsystem_failure failed_evaluation(subsystem_index i, const std::string& reason) {
        if (calls_ > 0 && places_[i.value()].outputs_follow) return in_step(i.value(), reason).of_evaluation();
        return subsystem_failure(subsystems_[i.value()].name, time_, reason).of_evaluation();
    }

    /// Every step at first, ever more rarely later: clock reads cost as much as a small step.
    std::int64_t samples_apart() const { return std::clamp<std::int64_t>(calls_ / 8, 1, 1000); }

    /// Learns from a sampled step; decides anew who serves whom.
    void measured(double wall) {
        ++cost_samples_;
        next_sample_ = calls_ + samples_apart();
        if (workers_ == 1) return;
        if (calls_ == 0) choice_.begin_with(wall);
        const double serial = std::accumulate(cost_.begin(), cost_.end(), 0.0);
        // Who is done with its own list helps the others where a subsystem costs much more than fetching it. Costs that
        // change from step to step then balance by themselves.
        constexpr double worth_sharing = 2e-6;
        shared_ = may_share_ && serial > worth_sharing * static_cast<double>(size());
        std::ranges::fill(bundle_cost_, 0.0);
        for (std::size_t i = 0; i < size(); ++i) bundle_cost_[static_cast<std::size_t>(places_[i].bundle)] += cost_[i];
        schedule_.decide(bundle_cost_);
    }

    void change_mode(bool parallel) {
        parallel_ = parallel;
        // The first rounds wake sleeping workers and fill their caches: they say nothing about the rounds to come.
        next_sample_ = std::max(next_sample_, calls_ + 8);
    }

    static constexpr std::size_t most_events = 20000;

    std::vector<named_subsystem> subsystems_;
    std::vector<place> places_;
    std::vector<polynomial> inputs_;
    std::vector<double> outputs_;
    std::vector<double> cost_;
    std::vector<span_of_time> last_;  ///< of the last timed step
    int workers_;
    std::vector<bundle> bundles_;
    schedule schedule_;                ///< of bundles
    std::vector<double> bundle_cost_;  ///< the subsystems' costs added up
    parallel_choice choice_;
    std::vector<failure> failures_;
    std::vector<cursor> cursors_;
    std::vector<profile_log> profile_;
    std::int64_t profile_stride_ = 1;
    std::atomic<bool> any_failure_{false}, any_notice_{false};
    bool noticed_ = false;  ///< notices_ has something
    step_notices notices_;
    struct saved_state {
        std::vector<std::unique_ptr<snapshot>> snapshots;  ///< by subsystem
        std::vector<double> outputs;
        double time = 0;
    };
    std::vector<saved_state> states_;  ///< by state_id
    const saved_state* trials_begin_ = nullptr;
    std::span<trial_step> trials_;          ///< those at work
    std::span<const subsystem_step> some_;  ///< the same
    cursor trial_;                          ///< how far the trials are done
    bool replicas_ = false;                 ///< there are some
    macro_step step_;
    double time_ = 0;
    bool parallel_ = false, sampling_ = false;
    bool may_share_ = true;  ///< no subsystem is bound to a worker
    bool shared_ = false;    ///< workers that are done take over work of others
    std::int64_t cost_samples_ = 0;
    std::int64_t calls_ = 0, next_sample_ = 0;
    std::int64_t parallel_steps_ = 0;
    std::unique_ptr<bound_thread> bound_;
    std::unique_ptr<worker_pool> pool_;  // last: its threads use the members above
};

}  // namespace

std::unique_ptr<transport> make_thread_transport(std::vector<named_subsystem> subsystems, int workers, bool timed,
                                                 const binding& cores) {
    return std::make_unique<thread_transport>(std::move(subsystems), workers, timed, cores);
}

}  // namespace mdpcosim
