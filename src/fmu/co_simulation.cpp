#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "fmu/component.hpp"
#include "fmu/fmu_subsystem.hpp"
#include "fmu/values.hpp"
#include "subsystem/solvers/interval.hpp"
#include "subsystem/touched.hpp"

namespace mdpcosim {

namespace {

constexpr int most_halvings = 20;
constexpr int most_stops = 100000;  ///< returns of the FMU before the end of one macro step

struct fmu_snapshot final : snapshot {
    explicit fmu_snapshot(const fmu_component& of) : fmu(of) {}
    void state(state_bytes& bytes) override {
        bytes(time, mode, next_event, ended, clocks);
        fmu.state(bytes, *saved, time);
    }

    const fmu_component& fmu;
    std::unique_ptr<fmi::saved_state> saved;
    double time = 0, next_event = 0;
    std::vector<fmu_clocks::clock_state> clocks;
    int mode = 0;
    bool ended = false;
};

class alignas(64) fmu_co_simulation final : public subsystem, public tells_touched {
   public:
    explicit fmu_co_simulation(const subsystem_spec& spec)
        : fmu_(spec, read_fmu(spec),
               [this](fmi::instance_options& o, const fmi::interface_description& offered) { adjust(o, offered); }),
          offers_(fmu_.model().offers()),
          clocks_(fmu_.instance(), fmu_.model().layout, fmu_.event_mode()) {
        instance_ = &fmu_.instance();
        keeps_state_ = offers_.state;
        event_mode_ = fmu_.event_mode();
        by_event_ = clocks_.drives();
        derivatives_ = fmu_sensitivities(fmu_.model().description(), offers_, fmu_.model().layout);
        const subsystem_description& d = describe();
        for (const auto& u : d.inputs) {
            all_inputs_.push_back(u.slot);
            degree_ = std::max(degree_, u.max_degree);
            by_event_ = by_event_ || (is_discrete(u.slot) && event_mode_);
        }
    }

    const subsystem_description& describe() const noexcept override { return fmu_.model().layout.description; }

    capabilities offers() const override {
        capabilities offered;
        offered.save_restore = offers_.state;
        offered.rate_sensitivities = !derivatives_.empty();
        offered.tells_next_event = event_mode_;
        offered.events_at_points = by_event_;
        offered.starts_again = offered.hidden_steps = true;
        offered.why_fixed_step = fmu_.model().why_fixed_step();
        offered.why_no_bytes = fmu_.why_no_bytes();
        offered.parameters = fmu_.parameters();
        offered.why_no_save_restore = fmu_.model().why_not_saved();
        return offered;
    }

    void expect(const usage& used) override {
        needed_ = used.outputs;
        driven_ = used.inputs;
        outputs_follow_ = used.outputs_follow;
        keeps_state_ = offers_.state && used.goes_back;
        end_ = used.end;
        step_ = used.step;
    }

    void initialise(double t0) override {
        begun_ = true;
        time_ = start_ = t0;
        fmu_.enter_initialisation(time_, end_);
        fmu_.call(time_, [&] { clocks_.start(t0); });
        waits_ = leaves_early() && std::ranges::count(driven_, true) > 0;
        group_variables();
        mode_ = mode::initialisation;
        knows_start_ = false;
        // Output derivatives exist after the initialisation only.
        if (!rates_.empty() && offers_.initialisation_mode) fmu_.call(time_, [&] { leave_initialisation(); });
    }

    void reset() override {
        if (!begun_) return;
        begun_ = ended_ = asked_ = false;
        micro_steps_ = 0;
        counted_ = {};
        fmu_.call(time_, [&] { instance_->reset(); });
        next_event_ = std::numeric_limits<double>::infinity();
        forget_values();
    }

    void outputs(std::span<const double> u, std::span<double> y) override {
        if (!read_ && is_simple()) return fmu_.call(time_, [&] { follow_simply(u.data(), y.data()); });
        fmu_.call(time_, [&] {
            const bool waits = waits_for_inputs(u);
            if (waits && !offers_.initialisation_mode) return fmu_.model().give_starts(y);
            const auto value_of = [&](int slot) { return u[static_cast<std::size_t>(slot)]; };
            const auto changed = set_all(value_of);
            knows_start_ = true;
            if (mode_ == mode::initialisation && leaves_early() && !waits) {
                leave_initialisation();
                set_all(value_of);
                read_ = false;
            }
            if (mode_ == mode::initialisation || !read_) return get(y);
            // Only what follows the inputs that changed is asked for again.
            outputs_.get_again(y);
            follow(follow_continuous_, read_continuous_, changed.continuous || changed.discrete, y);
            follow(follow_discrete_, read_discrete_, changed.discrete, y);
            get_rates(y);
            clocks_.give(y, mode_ == mode::event);
        });
    }

    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        time_ = step.begin;
        fmu_.call(time_, [&] {
            const auto value_of = [&](int slot) { return inputs[static_cast<std::size_t>(slot)].c[0]; };
            if (simple_inputs_ != nullptr && is_stepping()) {
                clocks_.begin();
                simple_inputs_->set(*instance_, value_of);
            } else {
                if (step.end == step.begin) return carry_out_event(value_of, y);
                clocks_.begin();
                // The initial state belongs to the inputs at its time, not to their means over the first step.
                if (mode_ == mode::initialisation && knows_start_) leave_initialisation();
                set_all(value_of);
                if (mode_ != mode::step) enter_steps();
            }
            polynomials_ = inputs, begin_ = step.begin;
            if (degree_ > 0) varying_.forget();
            if (clocks_.ticks_by_time()) [[unlikely]]
                integrate_to_last_tick(step);
            integrate(step.end);
            if (degree_ > 0) continuous_.forget();
            time_ = step.end;
            if (by_event_) enter_event_mode();
            read_ = false;
            if (outputs_follow_) return;
            if (follows_) set_values();
            get(y);
        });
    }

    void advance_and_follow(const macro_step& step, const polynomial* inputs, const double* u, double* y,
                            bool& advanced) override {
        if (!is_simple()) [[unlikely]]
            return subsystem::advance_and_follow(step, inputs, u, y, advanced);
        time_ = step.begin;
        fmu_.call(time_, [&] {
            simple_inputs_->set(*instance_, [&](int slot) { return inputs[slot].c[0]; });
            integrate(step.end);
            time_ = step.end;
            advanced = true;
            follow_simply(u, y);
        });
    }

    void rate_sensitivities(std::span<const double> u, int input, std::span<double> by_output) override {
        fmu_.call(time_, [&] {
            const auto changed = set_all([&](int slot) { return u[static_cast<std::size_t>(slot)]; });
            if (changed.continuous || changed.discrete || mode_ == mode::initialisation) read_ = false;
            if (mode_ == mode::initialisation) leave_initialisation();
            fmu_.rate_sensitivities(derivatives_, input, by_output);
        });
    }

    std::unique_ptr<snapshot> make_snapshot() const override {
        if (!offers_.state) return subsystem::make_snapshot();
        auto made = std::make_unique<fmu_snapshot>(fmu_);
        fmu_.call(time_, [&] { made->saved = instance_->make_state(); });
        made->clocks = clocks_.state();
        return made;
    }

    void save(snapshot& into) override {
        auto& s = static_cast<fmu_snapshot&>(into);
        fmu_.call(time_, [&] { instance_->save(*s.saved); });
        s.time = time_;
        s.next_event = next_event_;
        s.mode = static_cast<int>(mode_);
        s.ended = ended_;
        std::ranges::copy(clocks_.state(), s.clocks.begin());
    }

    void restore(const snapshot& from) override {
        const auto& s = static_cast<const fmu_snapshot&>(from);
        fmu_.call(time_, [&] { instance_->restore(*s.saved); });
        time_ = s.time;
        next_event_ = s.next_event;
        mode_ = static_cast<mode>(s.mode);
        ended_ = s.ended;
        clocks_.set_state(s.clocks);
        forget_values();
    }

    void tune(int parameter, double value) override {
        fmu_.call(time_, [&] { in_event_mode([&] { fmu_.tune(parameter, value, begun_); }); });
        read_ = false;
    }

    void set_text(int input, std::string_view text) override {
        fmu_.call(time_, [&] { in_event_mode([&] { fmu_.set_text(input, text); }); });
        read_ = false;
    }
    void get_text(int output, std::string& into) override {
        if (mode_ == mode::initialisation && !offers_.initialisation_mode) return fmu_.get_start_text(output, into);
        fmu_.call(time_, [&] { fmu_.get_text(output, into); });
    }

    double next_event() const override { return next_event_; }

    std::size_t touched(std::span<memory_range, most_ranges> ranges) const override {
        constexpr std::size_t line = 64, of_fmu = 4 * line;
        std::size_t n = 0;
        ranges[n++] = {this, 2 * line};
        ranges[n++] = {instance_, line};
        if (simple_inputs_ != nullptr) ranges[n++] = {simple_inputs_, line};
        if (simple_outputs_ != nullptr) ranges[n++] = {simple_outputs_, line};
        if (instance_->component() != nullptr) ranges[n++] = {instance_->component(), of_fmu};
        return n;
    }

    subsystem_statistics statistics() const override {
        subsystem_statistics all = counted_;
        all.micro_steps = micro_steps_;
        return all;
    }

   private:
    enum class mode { initialisation, event, step };

    /// At the present time; the FMU stays in its event mode for the next one.
    template <class Function>
    void carry_out_event(const Function& value_of, std::span<double> y) {
        if (mode_ == mode::initialisation) {
            set_all(value_of);
            leave_initialisation();
        }
        if (mode_ == mode::step) enter_event_mode();
        clocks_.trigger(value_of);
        set_all(value_of);
        const fmi::discrete_update done = update_discrete_states(time_);
        next_event_ = std::min(done.next_event, clocks_.next());
        if (done.states_changed) tell_event(time_);
        get(y);
    }

    /// Where the FMU has one.
    template <class Work>
    void in_event_mode(const Work& work) {
        const bool stepping = begun_ && mode_ == mode::step && event_mode_;
        if (stepping) enter_event_mode();
        work();
        if (stepping && !by_event_) leave_event_mode();
    }

    /// Where the first outputs come after the initialisation: there is no mode for it, or a clock ticks at the start.
    bool leaves_early() const { return !offers_.initialisation_mode || clocks_.due(time_); }

    /// Such an FMU is initialised once, with the inputs that others give: the first question, when nobody
    /// knows them, gets start values for an answer, and so does one with inputs that have no value yet.
    bool waits_for_inputs(std::span<const double> u) {
        if (!waits_ || mode_ != mode::initialisation) return false;
        waits_ = !(asked_ && std::ranges::all_of(u, [](double value) { return std::isfinite(value); }));
        asked_ = true;
        return waits_;
    }

    /// What the FMU has been set to is not known any more.
    void forget_values() {
        read_ = false;
        continuous_.forget();
        discrete_.forget();
        clocks_.forget_inputs();
        constant_set_ = false;
    }

    void adjust(fmi::instance_options& o, const fmi::interface_description& offered) {
        o.event_mode = offered.event_mode;
        o.early_return = offered.early_return;
        if (offered.intermediate_update)
            o.intermediate = [this](fmi::instance& instance, double t) {
                varying_.set(instance,
                             [&](int slot) { return polynomials_[static_cast<std::size_t>(slot)](t - begin_); });
            };
    }

    /// The inputs that the output may follow without a step between.
    const std::vector<int>& direct_inputs(const output_variable& y) const {
        return fmu_.model().layout.silent[static_cast<std::size_t>(y.slot)] ? all_inputs_ : y.direct;
    }

    bool is_discrete(int input) const { return fmu_.model().layout.inputs[static_cast<std::size_t>(input)].discrete; }

    void group_variables() {
        const fmu_layout& l = fmu_.model().layout;
        const auto& inputs = l.description.inputs;
        std::vector<int> constant, continuous, discrete, varying, outputs, rates, follow_continuous, follow_discrete;
        follows_ = false;
        for (const auto& u : inputs) {
            if (l.inputs[static_cast<std::size_t>(u.slot)].clocked) continue;
            if (!driven_.empty() && !driven_[static_cast<std::size_t>(u.slot)]) {
                constant.push_back(u.slot);
                continue;
            }
            (is_discrete(u.slot) ? discrete : continuous).push_back(u.slot);
            if (u.max_degree > 0) varying.push_back(u.slot);
        }
        for (const auto& y : l.description.outputs) {
            if (!needed_.empty() && !needed_[static_cast<std::size_t>(y.slot)]) continue;
            if (l.outputs[static_cast<std::size_t>(y.slot)].clock) continue;
            const bool rate = l.outputs[static_cast<std::size_t>(y.slot)].derivative;
            (rate ? rates : outputs).push_back(y.slot);
            const std::vector<int>& direct = direct_inputs(y);
            follows_ = follows_ || (degree_ > 0 && !direct.empty());
            if (rate || direct.empty()) continue;
            const bool only_discrete =
                std::all_of(direct.begin(), direct.end(), [&](int slot) { return is_discrete(slot); });
            (only_discrete ? follow_discrete : follow_continuous).push_back(y.slot);
        }
        constant_.assign(*instance_, l.inputs, constant);
        continuous_.assign(*instance_, l.inputs, continuous);
        discrete_.assign(*instance_, l.inputs, discrete);
        varying_.assign(*instance_, l.inputs, varying);
        outputs_.assign(*instance_, l.outputs, outputs);
        rates_.assign(*instance_, l.outputs, rates);
        follow_continuous_.assign(*instance_, l.outputs, follow_continuous);
        follow_discrete_.assign(*instance_, l.outputs, follow_discrete);
        derivatives_.assign(*instance_, l, needed_);
        const bool simple = discrete_.empty() && rates_.empty() && degree_ == 0 && !by_event_;
        simple_inputs_ = simple ? continuous_.simple_group() : nullptr;
        simple_outputs_ = simple ? outputs_.simple_group() : nullptr;
    }

    /// Everything that a first step needs is done.
    bool is_stepping() const { return mode_ == mode::step && constant_set_; }

    /// ... and it is nothing but to set all inputs, to do the step, and to get all outputs.
    bool is_simple() const { return simple_inputs_ != nullptr && simple_outputs_ != nullptr && is_stepping(); }

    [[gnu::always_inline]] void follow_simply(const double* u, double* y) {
        simple_inputs_->set(*instance_, [&](int slot) { return u[slot]; });
        simple_outputs_->get(*instance_, y);
        read_ = true;
        read_continuous_ = false;
    }

    struct input_changes {
        bool continuous = false, discrete = false;
    };

    template <class Function>
    input_changes set_all(const Function& value_of) {
        input_changes changed;
        if (!constant_set_) [[unlikely]]
            set_constant(value_of);
        continuous_.set(*instance_, value_of, &changed.continuous);
        if (mode_ != mode::step || !event_mode_) discrete_.set(*instance_, value_of, &changed.discrete);
        if (mode_ == mode::event) clocks_.set_inputs(value_of, &changed.discrete);
        return changed;
    }

    template <class Function>
    void set_constant(const Function& value_of) {
        constant_.forget();
        constant_.set(*instance_, value_of);
        constant_set_ = true;
        read_ = false;
    }

    void get(std::span<double> y) {
        outputs_.get(*instance_, y);
        get_rates(y);
        clocks_.give(y, mode_ == mode::event);
        read_ = true;
        read_continuous_ = read_discrete_ = false;
    }

    void get_rates(std::span<double> y) {
        rates_.get_derivatives(*instance_, y);
        if (time_ <= start_) [[unlikely]]
            replace_unknown_rates(y);
    }

    /// Before its first step an FMU may know no rates of its outputs and give anything for them.
    [[gnu::noinline]] void replace_unknown_rates(std::span<double> y) {
        const fmu_layout& l = fmu_.model().layout;
        for (const auto& of : l.description.outputs) {
            const auto slot = static_cast<std::size_t>(of.slot);
            if (!l.outputs[slot].derivative || (!needed_.empty() && !needed_[slot]) || std::isfinite(y[slot])) continue;
            if (!std::exchange(told_of_rates_, true))
                fmu_.tell(fmt::format("it gives {} for the rate '{}' before its first step. 0 is used there.", y[slot],
                                      of.name));
            y[slot] = 0;
        }
    }

    /// Outputs that follow inputs without a step between; `read`: since the last get().
    void follow(fmu_values& followers, bool& read, bool changed, std::span<double> y) {
        if (changed) {
            followers.get(*instance_, y);
            read = true;
        } else if (read) {
            followers.get_again(y);
        }
    }

    void leave_initialisation() {
        instance_->exit_initialisation();
        mode_ = event_mode_ ? mode::event : mode::step;
        if (mode_ == mode::event) clocks_.tick(time_);
        if (mode_ == mode::event && !by_event_) leave_event_mode();
    }

    void enter_steps() {
        if (mode_ == mode::initialisation) leave_initialisation();
        if (mode_ == mode::event) leave_event_mode();
    }

    void enter_event_mode() {
        instance_->enter_event_mode();
        mode_ = mode::event;
        clocks_.tick(time_);
    }

    void leave_event_mode() {
        next_event_ = std::min(update_discrete_states(time_).next_event, clocks_.next());
        instance_->enter_step_mode();
        mode_ = mode::step;
    }

    auto value_now() const {
        return [this, s = time_ - begin_](int slot) { return polynomials_[static_cast<std::size_t>(slot)](s); };
    }
    /// Inputs as they are now, inside a macro step; constant ones stay as they were set at its begin.
    void set_values() {
        if (degree_ > 0) continuous_.set(*instance_, value_now());
    }

    /// An event inside a macro step.
    void handle_event() {
        ++counted_.events;
        tell_event(time_);
        enter_event_mode();
        set_values();
        clocks_.set_inputs(value_now());
        leave_event_mode();
    }

    /// Through the ticks inside the macro step. One at its end belongs to the inputs that are known there.
    [[gnu::noinline]] void integrate_to_last_tick(const macro_step& step) {
        for (double next = clocks_.next(); next < step.end - fmu_clocks::slack(step.end) && !ended_;
             next = clocks_.next()) {
            refuse_tick(next);
            set_values();
            integrate(next);
            time_ = next;
            if (!ended_) handle_event();
        }
        set_values();
    }

    void set_derivatives() {
        if (!offers_.input_derivatives) return;
        const double s = time_ - begin_;
        for (int order = 1; order <= degree_; ++order)
            varying_.set_derivatives(*instance_, order, [&](int slot) {
                const polynomial& p = polynomials_[static_cast<std::size_t>(slot)];
                double value = 0;
                for (int n = p.degree; n >= order; --n) {
                    double term = p.c[static_cast<std::size_t>(n)];
                    for (int k = 0; k < order; ++k) term *= n - k;
                    value = value * s + term;
                }
                return value;
            });
    }

    /// From now to `end`: nearly always in one step.
    [[gnu::always_inline]] void integrate(double end) {
        if (ended_) [[unlikely]]
            return ask_to_end();
        if (degree_ > 0) set_derivatives();
        ++micro_steps_;
        const communication_step step = step_to(end);
        if (!instance_->do_whole_step(step.begin, step.length, keeps_state_)) [[unlikely]]
            integrate_on(end, instance_->stopped());
    }

    struct communication_step {
        double begin, length;
    };
    /// The macro step as it was asked for, not what rounding made of it: FMUs divide it by steps of their own.
    communication_step step_to(double target) const {
        communication_step s{time_, target - time_};
        if (std::fabs(s.length - step_) <= time_resolution(target)) s.length = step_;
        if (target >= end_) [[unlikely]]
            keep_to_end(s);
        return s;
    }

    /// What rounds to a time behind the end would be an error to an FMU that knows the end: such a step begins some last digits earlier.
    void keep_to_end(communication_step& s) const {
        const double earliest = std::max(start_, time_ - time_resolution(time_));
        double begin = s.begin;
        while (begin + s.length > end_ && begin > earliest) begin = std::nextafter(begin, earliest);
        if (begin + s.length <= end_) {
            s.begin = begin;
            return;
        }
        s.length = end_ - s.begin;
        while (s.begin + s.length > end_) s.length = std::nextafter(s.length, 0.0);
    }

    fmi::discrete_update update_discrete_states(double t) {
        const fmi::discrete_update done = fmu_.update_discrete_states(t, clocks_);
        if (done.terminate) ended_ = true, ask_to_end();
        return done;
    }

    /// The FMU stopped on its way to `end`, as `done` says: on from there in as many steps as it needs.
    [[gnu::noinline]] void integrate_on(double end, fmi::step_result done) {
        double length = end - time_;
        const double resolution = 1e-9 * length + time_resolution(end);
        int halvings = 0;
        for (int stops = 0;; ++stops) {
            const bool last = time_ + length >= end - resolution;
            const double target = last ? end : time_ + length;
            if (stops > 0) {
                set_values();
                set_derivatives();
                ++micro_steps_;
                const communication_step step = step_to(target);
                done = instance_->do_step(step.begin, step.length, keeps_state_);
            }
            if (done.terminate) {
                // What it has reached is the end, and nothing moves it further.
                ended_ = true;
                ask_to_end();
                return;
            }
            if (done.event && !event_mode_) ignore_event(done);
            const bool whole = done.status == fmi::status::ok && done.reached >= target - resolution;
            if (whole && !done.event) {
                if (last) return;
                time_ = target;
                length = std::min(2 * length, end - time_);
                continue;
            }
            if (stops > most_stops)
                fmu_.fail(time_, fmt::format("doStep: it stopped {} times before the end of the macro step at {} s",
                                             most_stops, end));
            if (done.status == fmi::status::discard) ++counted_.rejected;
            const bool part = done.reached > time_ + resolution && done.reached < target - resolution;
            const bool moved = whole || done.event || part;
            if (!moved) {
                refuse_fixed(target, done.early);
                if (++halvings > most_halvings) refuse_steps(target);
                length = (target - time_) / 2;
                continue;
            }
            halvings = 0;
            time_ = whole ? target : done.reached;
            if (done.event) handle_event();
            if (time_ >= end - resolution) return;
            if (!done.event && !done.early) refuse_fixed(target, false);
            length = end - time_;
        }
    }

    void ignore_event(fmi::step_result& done) {
        done.event = false;
        if (!std::exchange(told_of_event_, true))
            fmu_.tell(
                fmt::format("at {} s it asks for its event mode (eventHandlingNeeded), in which it does not run. "
                            "It goes on without.",
                            done.reached));
    }

    void refuse_tick(double next) const {
        if (offers_.variable_step) return;
        fmu_.fail(time_, fmt::format("its clock ticks at {} s, inside a macro step, and it takes no steps of other "
                                     "lengths (canHandleVariableCommunicationStepSize). Choose a macro step that "
                                     "divides the clock's interval",
                                     next));
    }

    [[noreturn]] void refuse_steps(double target) const {
        fmu_.fail(
            time_,
            fmt::format(
                "doStep: it takes no step, not even one of {} s.{} Where it has a step of its own, the macro step "
                "must be a whole multiple or part of that",
                target - time_, instance_->last_messages()));
    }

    /// The step to `target` was not taken: another size is needed, which not every FMU can take.
    void refuse_fixed(double target, bool early) {
        if (offers_.variable_step) return;
        fmu_.fail(time_, fmt::format("doStep: it {} the step to {} s and cannot take steps of another size "
                                     "(canHandleVariableCommunicationStepSize is false). Try a smaller macro step",
                                     early ? "returns at once from" : "discards", target));
    }

    // What every step of a simple FMU touches comes first and together.
    fmi::instance* instance_ = nullptr;
    /// Both there: a step is nothing but to set all inputs, do it, set all inputs and get all outputs.
    fmu_values::group *simple_inputs_ = nullptr, *simple_outputs_ = nullptr;
    double time_ = 0;
    std::int64_t micro_steps_ = 0;
    mode mode_ = mode::initialisation;
    bool keeps_state_ = false;  ///< the FMU may be asked to go back to where a step began
    bool event_mode_ = false;   ///< the FMU has one
    bool constant_set_ = false;
    bool read_ = false;                                     ///< outputs_ has the outputs of the present state
    bool read_continuous_ = false, read_discrete_ = false;  ///< those that follow inputs, since then
    double end_ = std::numeric_limits<double>::infinity();  ///< of the run, which the FMU knows
    double step_ = 0;                                       ///< the usual macro step; 0: there is none
    double start_ = 0;                                      ///< of the run
    bool by_event_ = false;  ///< discrete inputs are set in event mode, where the FMU rests between steps
    bool outputs_follow_ = false;
    bool waits_ = false;  ///< for the inputs that it is initialised with
    bool asked_ = false;  ///< for outputs, since initialise()
    bool told_of_event_ = false, told_of_rates_ = false;
    bool ended_ = false;    ///< it asked for the end of the simulation and takes no more steps
    bool follows_ = false;  ///< outputs that somebody needs follow inputs that change during the step
    int degree_ = 0;        ///< highest of the inputs
    fmu_values continuous_, outputs_, discrete_, rates_, follow_continuous_, follow_discrete_;

    std::span<const polynomial> polynomials_;  ///< of the step under way
    double begin_ = 0;
    bool begun_ = false;
    bool knows_start_ = false;  ///< the inputs at the start were set
    double next_event_ = std::numeric_limits<double>::infinity();
    std::vector<int> all_inputs_;
    std::vector<bool> needed_;  ///< by output slot; empty: all
    std::vector<bool> driven_;  ///< by input slot; empty: all
    fmu_values constant_, varying_;
    fmu_sensitivities derivatives_;
    subsystem_statistics counted_;
    fmu_component fmu_;
    const fmi::interface_description& offers_;
    fmu_clocks clocks_;
};

}  // namespace

std::unique_ptr<subsystem> make_fmu_co_simulation(const subsystem_spec& spec) {
    if (!spec.solver.name.empty() || !spec.solver.options.empty())
        throw user_error(
            spec.solver.name.empty() ? spec.solver.options.front().where : spec.solver.name.where,
            fmt::format("subsystem '{}': 'solver' is not allowed: in co-simulation the FMU has its own solver. With "
                        "'interface: model-exchange' it needs one.",
                        spec.name));
    return std::make_unique<fmu_co_simulation>(spec);
}

}  // namespace mdpcosim
