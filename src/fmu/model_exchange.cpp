#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fmu/component.hpp"
#include "fmu/fmu_subsystem.hpp"
#include "fmu/values.hpp"

namespace mdpcosim {

namespace {

constexpr int most_events_at_once = 1000;
constexpr std::size_t sparse_from = 20;  ///< states; the linear solvers' own border

struct fmu_memory final : snapshot {
    explicit fmu_memory(const fmu_component& of) : fmu(of) {}
    void state(state_bytes& bytes) override {
        bytes(next_event, discrete_inputs, in_event_mode, clocks);
        fmu.state(bytes, *saved, 0);
    }

    const fmu_component& fmu;
    std::unique_ptr<fmi::saved_state> saved;
    double next_event = 0;
    std::vector<double> discrete_inputs;
    std::vector<fmu_clocks::clock_state> clocks;
    bool in_event_mode = false;
};

std::vector<int> slots_of(const fmu_layout& l, bool discrete) {
    std::vector<int> slots;
    for (const auto& u : l.description.inputs) {
        const fmu_use& use = l.inputs[static_cast<std::size_t>(u.slot)];
        if (use.discrete == discrete && !use.clocked) slots.push_back(u.slot);
    }
    return slots;
}

/// Between calls the FMU rests in its continuous-time mode, at whatever time and state was asked for last; at the start in its initialisation
/// mode, where outputs follow inputs, until the inputs are known that the initial state belongs to; and in its event mode, from where discrete
/// inputs have changed between two intervals until the next one begins.
class fmu_equations final : public equations {
   public:
    explicit fmu_equations(const subsystem_spec& spec)
        : fmu_(spec, read_fmu(spec)),
          instance_(fmu_.instance()),
          offers_(fmu_.model().offers()),
          clocks_(instance_, fmu_.model().layout, true) {
        const fmu_layout& l = fmu_.model().layout;
        std::vector<int> outputs;
        for (std::size_t i = 0; i < l.outputs.size(); ++i)
            if (!l.outputs[i].clock) outputs.push_back(static_cast<int>(i));
        const auto discrete = slots_of(l, true);
        continuous_.assign(instance_, l.inputs, slots_of(l, false));
        discrete_.assign(instance_, l.inputs, discrete);
        outputs_.assign(instance_, l.outputs, outputs);
        discrete_slots_ = discrete;
        discrete_now_.resize(discrete.size());
        find_structure();
        if (offers_.directional_derivatives) prepare_derivatives();
        rate_sensitivities_ = fmu_sensitivities(fmu_.model().description(), offers_, l);
        rate_sensitivities_.assign(instance_, l, {});
    }

    const subsystem_description& describe() const noexcept override { return fmu_.model().layout.description; }
    int state_count() const override { return static_cast<int>(instance_.state_count()); }
    int event_count() const override { return static_cast<int>(instance_.indicator_count()); }

    void expect(const usage& used) override {
        keeps_state_ = offers_.state && used.goes_back;
        end_ = used.end;
        driven_ = used.inputs.empty() ? describe().input_count() > 0 : std::ranges::count(used.inputs, true) > 0;
    }

    void initial_state(double t0, double* x) const override { self().start(t0, x); }
    bool settles() const override { return true; }
    void settle(double t0, const double* u, double* x) override {
        fmu_.call(time_, [&] {
            set_inputs(u);
            if (mode_ == mode::initialisation) leave_initialisation(u);
            update(t0);
            enter_continuous_mode();
            if (instance_.state_count() > 0) instance_.get_states({x, instance_.state_count()});
            find_nominals();
        });
    }

    void derivatives(double t, const double* x, const double* u, double* dx) const override {
        const std::span<double> result(dx, instance_.state_count());
        fmu_.call(t, [&] {
            if (place(t, x, u) == fmi::status::ok && instance_.get_derivatives(result) == fmi::status::ok) return;
            std::ranges::fill(result, not_a_number);  // discarded: the solver tries a smaller step
        });
    }

    void outputs(double t, const double* x, const double* u, double* y) const override {
        if (mode_ == mode::initialisation && !offers_.initialisation_mode)
            return fmu_.model().give_starts({y, describe_outputs()});
        fmu_.call(t, [&] {
            fmi::status placed = fmi::status::ok;
            if (mode_ == mode::initialisation)
                self().set_inputs(u);
            else
                placed = place(t, x, u);
            read_outputs(t, placed, y);
        });
    }

    void outputs_between(double t, const double* x, const double* u, double* y) override {
        const bool asked = std::exchange(looked_at_, true) || !driven_, tick = clocks_.due(t);
        const bool early = !offers_.initialisation_mode || tick;  // the first outputs come after the initialisation
        const bool starts = mode_ == mode::initialisation && asked && early && all_finite(u);
        if ((mode_ == mode::initialisation && !starts) || (mode_ == mode::continuous && !inputs_changed(u) && !tick))
            return outputs(t, x, u, y);
        fmu_.call(t, [&] {
            fmi::status placed = fmi::status::ok;
            if (starts) {
                set_inputs(u);
                leave_initialisation(u);
            }
            if (mode_ == mode::continuous) {
                placed = place(t, x, u);
                enter_event_mode(t);
            }
            set_inputs(u);
            read_outputs(t, placed, y);
        });
    }

    bool events_at_points() const override { return !discrete_slots_.empty() || clocks_.drives(); }
    bool carry_out_event(double t, double* x, const double* u) override {
        return fmu_.call(t, [&] {
            if (mode_ == mode::continuous) {
                place(t, x, u);
                enter_event_mode(t);
            }
            clocks_.trigger([u](int slot) { return u[slot]; });
            set_inputs(u);
            return leave_event_mode(t, x);
        });
    }

    bool jacobian(double t, const double* x, const double* u, double* dfdx) const override {
        if (seed_.empty()) return equations::jacobian(t, x, u, dfdx);
        const std::size_t n = seed_.size();
        fmu_.call(t, [&] {
            place(t, x, u);
            for (std::size_t j = 0; j < n; ++j) {
                seed_[j] = 1;
                instance_.directional_derivative(derivative_block_, state_block_, seed_, {dfdx + j * n, n});
                seed_[j] = 0;
            }
        });
        return true;
    }
    void rate_sensitivities(double t, const double* x, const double* u, int input, double* by_output) const override {
        fmu_.call(t, [&] {
            const std::span<double> result(by_output, describe_outputs());
            if (place(t, x, u) == fmi::status::ok) return fmu_.rate_sensitivities(rate_sensitivities_, input, result);
            std::ranges::fill(result, not_a_number);
        });
    }
    const sparsity* structure() const override { return structure_.start.empty() ? nullptr : &structure_; }

    void event_indicators(double t, const double* x, const double* u, double* z) const override {
        const std::span<double> result(z, instance_.indicator_count());
        fmu_.call(t, [&] {
            if (place(t, x, u) == fmi::status::ok && instance_.get_indicators(result) == fmi::status::ok) return;
            std::ranges::fill(result, not_a_number);
        });
    }

    bool apply_event(int, bool, double t, double* x, const double* u) override {
        fmu_.call(t, [&] {
            place(t, x, u);
            step_is_complete();
            handle_event(t, x, u);
        });
        return true;
    }

    /// A tick at the end of an interval waits for the inputs that are known then, where somebody brings them.
    double next_time_event(double) const override {
        const double tick = clocks_.next();
        return std::min(next_event_, looked_at_ ? tick + 2 * fmu_clocks::slack(tick) : tick);
    }

    bool watches(moment m) const override {
        if (m == moment::interval) return !discrete_slots_.empty() || clocks_.drives() || clocks_.reads();
        return m == moment::micro_step && (offers_.completed_step || instance_.indicator_count() > 0);
    }

    bool discrete_update(moment m, double t, double* x, const double* u) override {
        if (m == moment::interval) clocks_.begin();
        return fmu_.call(t, [&] {
            if (mode_ == mode::event) {
                finish_event(t, x, u);
                return true;
            }
            const bool due =
                (m == moment::time_event ? next_event_ <= t : m == moment::interval && inputs_changed(u)) ||
                (m != moment::micro_step && clocks_.due(t));
            if (!due && m != moment::micro_step) return false;
            place(t, x, u);
            if (m != moment::interval && !step_is_complete() && !due) return false;
            handle_event(t, x, u);
            return true;
        });
    }

    std::unique_ptr<snapshot> make_memory() const override {
        if (!offers_.state) return nullptr;
        auto made = std::make_unique<fmu_memory>(fmu_);
        fmu_.call(time_, [&] { made->saved = instance_.make_state(); });
        made->discrete_inputs.resize(discrete_now_.size());
        made->clocks = clocks_.state();
        return made;
    }
    void save_memory(snapshot& into) override {
        auto& m = static_cast<fmu_memory&>(into);
        fmu_.call(time_, [&] { instance_.save(*m.saved); });
        m.next_event = next_event_;
        m.in_event_mode = mode_ == mode::event;
        std::ranges::copy(discrete_now_, m.discrete_inputs.begin());
        std::ranges::copy(clocks_.state(), m.clocks.begin());
    }
    void restore_memory(const snapshot& from) override {
        const auto& m = static_cast<const fmu_memory&>(from);
        fmu_.call(time_, [&] { instance_.restore(*m.saved); });
        continuous_.forget();
        discrete_.forget();
        clocks_.set_state(m.clocks);
        clocks_.forget_inputs();
        next_event_ = m.next_event;
        mode_ = m.in_event_mode ? mode::event : mode::continuous;
        std::ranges::copy(m.discrete_inputs, discrete_now_.begin());
    }
    std::string why_not_saved() const override { return fmu_.model().why_not_saved(); }
    std::string why_no_bytes() const override { return fmu_.why_no_bytes(); }

    std::vector<tunable_parameter> parameters() const override { return fmu_.parameters(); }
    void tune(int parameter, double value, double t, double* x) override {
        if (x == nullptr) return fmu_.tune(parameter, value, false);
        in_event_mode(t, x, [&] { fmu_.tune(parameter, value, true); });
    }

    void set_text(int input, std::string_view text, double t, double* x) override {
        in_event_mode(t, x, [&] { fmu_.set_text(input, text); });
    }
    void get_text(int output, double t, std::string& into) const override {
        if (mode_ == mode::initialisation && !offers_.initialisation_mode) return fmu_.get_start_text(output, into);
        fmu_.call(t, [&] { fmu_.get_text(output, into); });
    }

    std::string state_name(int state) const override {
        const auto& d = fmu_.model().description();
        const auto i = static_cast<std::size_t>(state);
        if (const int known = instance_.state_variable(i); known >= 0)
            return fmt::format("'{}'", d.variables[static_cast<std::size_t>(known)].name);
        if (i >= d.derivatives.size() || d.derivatives.size() != instance_.state_count()) return std::to_string(state);
        const int derivative = d.derivatives[i].variable;
        const int of = d.variables[static_cast<std::size_t>(derivative)].derivative_of;
        return of < 0 ? std::to_string(state) : fmt::format("'{}'", d.variables[static_cast<std::size_t>(of)].name);
    }

    double nominal(int state) const override { return nominals_[static_cast<std::size_t>(state)]; }

   private:
    static constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
    enum class mode { initialisation, continuous, event };

    /// The FMU is the model's memory: it moves where the solver only asks.
    fmu_equations& self() const { return const_cast<fmu_equations&>(*this); }
    std::size_t describe_outputs() const { return static_cast<std::size_t>(describe().output_count()); }

    template <class Work>
    void in_event_mode(double t, double* x, const Work& work) {
        fmu_.call(t, [&] {
            if (mode_ == mode::initialisation) return work();
            if (mode_ == mode::continuous) {
                instance_.set_time(t);
                if (instance_.state_count() > 0) instance_.set_states({x, instance_.state_count()});
                enter_event_mode(t);
            }
            work();
            leave_event_mode(t, x);
        });
    }

    bool all_finite(const double* u) const {
        return std::all_of(u, u + describe().input_count(), [](double value) { return std::isfinite(value); });
    }

    void read_outputs(double t, fmi::status placed, double* y) const {
        if (placed != fmi::status::ok || outputs_.get(instance_, {y, describe_outputs()}) != fmi::status::ok)
            fmu_.fail(t, "it discards the values of an accepted step");
        self().clocks_.give({y, describe_outputs()}, mode_ == mode::event);
    }

    fmi::status place(double t, const double* x, const double* u) const {
        if (mode_ == mode::event) {  // a solver that asks before its interval has begun
            self().update(t);
            self().enter_continuous_mode();
        }
        time_ = t;
        instance_.set_time(t);
        const std::size_t n = instance_.state_count();
        fmi::status result = n > 0 ? instance_.set_states({x, n}) : fmi::status::ok;
        if (!continuous_.empty() && continuous_.set(instance_, [u](int slot) { return u[slot]; }) != fmi::status::ok)
            result = fmi::status::discard;
        return result;
    }

    void start(double t0, double* x) {
        time_ = t0;
        fmu_.call(time_, [&] {
            if (started_) instance_.reset();
            started_ = true;
        });
        fmu_.enter_initialisation(time_, end_);
        mode_ = mode::initialisation;
        looked_at_ = false;
        fmu_.call(time_, [&] { clocks_.start(t0); });
        next_event_ = std::numeric_limits<double>::infinity();
        continuous_.forget();
        discrete_.forget();
        std::fill_n(x, instance_.state_count(), 0.0);
        nominals_.assign(instance_.state_count(), 1.0);
    }

    void set_inputs(const double* u) {
        if (!continuous_.empty()) continuous_.set(instance_, [u](int slot) { return u[slot]; });
        set_discrete(u);
    }

    void leave_initialisation(const double* u) {
        instance_.exit_initialisation();
        mode_ = mode::event;
        clocks_.tick(time_);
        set_discrete(u);
    }
    void enter_event_mode(double t) {
        instance_.enter_event_mode();
        mode_ = mode::event;
        clocks_.tick(t);
    }
    void enter_continuous_mode() {
        instance_.enter_continuous_mode();
        mode_ = mode::continuous;
    }
    /// True: the states were changed.
    bool leave_event_mode(double t, double* x) {
        const bool changed = update(t);
        enter_continuous_mode();
        if (changed && instance_.state_count() > 0) instance_.get_states({x, instance_.state_count()});
        return changed;
    }

    void find_nominals() {
        nominals_.assign(instance_.state_count(), 1.0);
        if (!nominals_.empty()) instance_.get_nominals(nominals_);
        for (double& n : nominals_) n = std::isfinite(n) && n != 0 ? std::abs(n) : 1;
    }

    void set_discrete(const double* u) {
        if (mode_ == mode::event) clocks_.set_inputs([u](int slot) { return u[slot]; });
        if (discrete_.empty()) return;
        for (std::size_t k = 0; k < discrete_slots_.size(); ++k) discrete_now_[k] = u[discrete_slots_[k]];
        discrete_.set(instance_, [u](int slot) { return u[slot]; });
    }

    bool inputs_changed(const double* u) const {
        for (std::size_t k = 0; k < discrete_slots_.size(); ++k)
            if (u[discrete_slots_[k]] != discrete_now_[k]) return true;
        return false;
    }

    /// In event mode, until nothing more is due at this time. True: the states were changed.
    bool update(double t) {
        bool changed = false;
        for (int n = 0; n < most_events_at_once; ++n) {
            const fmi::discrete_update last = fmu_.update_discrete_states(t, clocks_);
            changed |= last.states_changed;
            next_event_ = last.next_event;
            noticed.ask_to_end |= last.terminate;
            if (next_event_ > t || last.terminate) return changed;
        }
        fmu_.fail(t, fmt::format("its next time event stays at {} s, which has passed", next_event_));
    }

    void handle_event(double t, double* x, const double* u) {
        enter_event_mode(t);
        finish_event(t, x, u);
    }
    void finish_event(double t, double* x, const double* u) {
        set_discrete(u);
        leave_event_mode(t, x);
    }

    /// Tells the FMU where it has to know; true: it wants event mode.
    bool step_is_complete() {
        if (!offers_.completed_step) return false;
        bool terminate = false;
        const bool wants_event = instance_.completed_step(keeps_state_, terminate);
        noticed.ask_to_end |= terminate;
        return wants_event;
    }

    /// Variables whose derivatives the FMU lists, in the order of the state vector; empty where some are arrays.
    std::vector<int> scalar_states() const {
        const auto& d = fmu_.model().description();
        std::vector<int> states;
        for (const auto& unknown : d.derivatives)
            states.push_back(d.variables[static_cast<std::size_t>(unknown.variable)].derivative_of);
        if (states.size() != instance_.state_count() || std::ranges::count(states, -1) > 0) return {};
        return states;
    }

    void find_structure() {
        const auto& d = fmu_.model().description();
        const std::vector<int> states = scalar_states();
        if (states.size() < sparse_from) return;
        std::vector<int> column_of(d.variables.size(), -1);
        for (std::size_t j = 0; j < states.size(); ++j)
            column_of[static_cast<std::size_t>(states[j])] = static_cast<int>(j);
        std::vector<std::vector<int>> columns(states.size());
        for (std::size_t i = 0; i < states.size(); ++i) {
            if (!d.derivatives[i].dependencies) return;
            for (const int variable : *d.derivatives[i].dependencies)
                if (const int j = column_of[static_cast<std::size_t>(variable)]; j >= 0)
                    columns[static_cast<std::size_t>(j)].push_back(static_cast<int>(i));
        }
        structure_.start.push_back(0);
        for (const auto& rows : columns) {
            structure_.rows.insert(structure_.rows.end(), rows.begin(), rows.end());
            structure_.start.push_back(static_cast<int>(structure_.rows.size()));
        }
    }

    void prepare_derivatives() {
        const auto& d = fmu_.model().description();
        const std::vector<int> states = scalar_states();
        if (states.empty() || !structure_.start.empty()) return;
        std::vector<int> derivatives;
        for (const auto& unknown : d.derivatives) derivatives.push_back(unknown.variable);
        state_block_ = instance_.make_block(states);
        derivative_block_ = instance_.make_block(derivatives);
        if (state_block_.type == fmi::base_type::float64 && derivative_block_.type == fmi::base_type::float64)
            seed_.resize(states.size());
    }

    mutable fmu_component fmu_;
    fmi::instance& instance_;
    const fmi::interface_description& offers_;
    fmu_clocks clocks_;
    mutable fmu_values continuous_, discrete_, outputs_;
    std::vector<int> discrete_slots_;
    std::vector<double> discrete_now_;  ///< what the FMU has
    sparsity structure_;
    fmi::value_block state_block_, derivative_block_;
    mutable std::vector<double> seed_;  ///< empty: no directional derivatives
    mutable fmu_sensitivities rate_sensitivities_;
    mutable double time_ = 0;
    mode mode_ = mode::initialisation;
    bool looked_at_ = false;  ///< between intervals, since the start
    bool driven_ = describe().input_count() > 0;
    bool keeps_state_ = offers_.state;
    double end_ = std::numeric_limits<double>::infinity();  ///< of the run
    double next_event_ = std::numeric_limits<double>::infinity();
    std::vector<double> nominals_;  ///< of the states
    bool started_ = false;
};

}  // namespace

std::unique_ptr<equations> make_fmu_equations(const subsystem_spec& spec) {
    return std::make_unique<fmu_equations>(spec);
}

}  // namespace mdpcosim
