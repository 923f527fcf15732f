#include "subsystem/native_subsystem.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "subsystem/equilibrium.hpp"
#include "subsystem/shown_equations.hpp"
#include "subsystem/solvers/interval.hpp"

namespace mdpcosim {

namespace {

struct native_snapshot final : snapshot {
    double time = 0;
    std::vector<double> numbers;      ///< the state, then the solver's memory
    std::unique_ptr<snapshot> model;  ///< the model's discrete part, where it has one

    void state(state_bytes& bytes) override {
        bytes(time, numbers);
        if (model) model->state(bytes);
    }
};

class native_subsystem final : public subsystem, public shows_equations {
   public:
    native_subsystem(std::unique_ptr<equations> model, std::unique_ptr<solver> integrator,
                     std::unique_ptr<tuning<equations>> how_tuned)
        : model_(std::move(model)),
          integrator_(std::move(integrator)),
          n_(static_cast<std::size_t>(model_->state_count())),
          has_algebraic_(has_algebraic_states(*model_)),
          tuning_(std::move(how_tuned)) {
        const std::size_t count = (has_algebraic_ ? 2 : 1) * n_ + static_cast<std::size_t>(describe().input_count());
        if (count <= std::size(few_)) return;
        many_ = std::make_unique<double[]>(count);
        numbers_ = many_.get();
    }

    const subsystem_description& describe() const noexcept override { return model_->describe(); }

    capabilities offers() const override {
        const std::string why = why_not_saved();
        const bool derivatives =
            std::ranges::any_of(model_->describe().outputs, [](const auto& y) { return y.rate_sensitivities; });
        capabilities offered{.save_restore = why.empty(),
                             .rate_sensitivities = derivatives,
                             .chooses_step = integrator_->chooses_step(),
                             .tells_next_event = true,
                             .starts_again = tuning_ != nullptr,
                             .events_at_points = model_->events_at_points(),
                             .why_no_save_restore = why,
                             .why_no_bytes = model_->why_no_bytes()};
        if (tuning_) offered.parameters = tuning_->make_equations ? tuning_->parameters : model_->parameters();
        for (std::size_t i = 0; i < model_->describe().ports.size(); ++i)
            offered.port_stiffness.push_back(model_->port_stiffness(static_cast<int>(i)));
        return offered;
    }

    void expect(const usage& used) override { model_->expect(used); }

    void initialise(double t0) override {
        initialised_ = true;
        time_ = t0;
        model_->initial_state(t0, x().data());
        settling_ = model_->settles() || model_->begins_at_rest;
        if (!settling_) return integrator_->initialise(*model_, t0, x());
        for (const auto& u : describe().inputs) std::fill_n(numbers_ + n_ + u.slot, u.size, u.start);
    }

    void reset() override {
        // A model that was given texts forgets them.
        if (!texts_.empty() && tuning_->make_equations) model_ = tuned(*tuning_, *model_, -1, 0);
        if (initialised_) renew_solver();
        initialised_ = settling_ = false;
        texts_.clear();
        counted_before_ = {};
        model_->noticed = {};
    }

    void outputs(std::span<const double> u, std::span<double> y) override {
        if (settling_) {
            std::ranges::copy(u, numbers_ + n_);
            if (model_->begins_at_rest) find_equilibrium(*model_, time_, u.data(), x().data());
        }
        evaluate_outputs(u.data(), y.data());
    }

    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        if (settling_ || has_events_) [[unlikely]] {
            input_values(inputs, 0, numbers_ + n_);
            settle();
            if (step.end == step.begin) return carry_out_event(y.data());
        }
        integrator_->integrate(step.begin, step.end, inputs, x());
        time_ = step.end;
        if (model_->noticed.first_event <= step.end || model_->noticed.ask_to_end) [[unlikely]]
            hand_on_notice();
        double* u = numbers_ + n_;
        input_values(inputs, step.end - step.begin, u);
        evaluate_outputs(u, y.data());
    }

    void rate_sensitivities(std::span<const double> u, int input, std::span<double> by_output) override {
        if (settling_) {
            std::ranges::copy(u, numbers_ + n_);
            settle();
        }
        model_->rate_sensitivities(time_, numbers_, u.data(), input, by_output.data());
    }

    std::unique_ptr<snapshot> make_snapshot() const override {
        if (!why_not_saved().empty()) return subsystem::make_snapshot();
        auto made = std::make_unique<native_snapshot>();
        made->model = model_->make_memory();
        made->numbers.resize(n_ + integrator_->memory_size());
        return made;
    }

    void save(snapshot& into) override {
        auto& s = static_cast<native_snapshot&>(into);
        settle();
        s.time = time_;
        s.numbers.resize(n_ +
                         integrator_->memory_size());  // allocates only if the snapshot was made before initialise()
        std::ranges::copy(x(), s.numbers.begin());
        integrator_->memory(std::span(s.numbers).subspan(n_));
        if (s.model) model_->save_memory(*s.model);
    }

    void restore(const snapshot& from) override {
        const auto& s = static_cast<const native_snapshot&>(from);
        settle();
        time_ = s.time;
        std::copy_n(s.numbers.begin(), n_, numbers_);
        if (s.model) model_->restore_memory(*s.model);
        integrator_->reset(time_, x());
        integrator_->set_memory(std::span(s.numbers).subspan(n_));
    }

    void tune(int parameter, double value) override {
        if (!tuning_->make_equations) {
            model_->tune(parameter, value, time_, initialised_ ? x().data() : nullptr);
            if (initialised_ && !settling_) integrator_->reset(time_, x());
            return;
        }
        auto made = tuned(*tuning_, *model_, parameter, value);
        auto memory = initialised_ ? model_->make_memory() : nullptr;
        if (memory) model_->save_memory(*memory);
        const auto before = std::exchange(model_, std::move(made));  // the solver refers to it
        if (!initialised_) return;
        const std::vector<double> state(x().begin(), x().end());
        renew_solver();
        model_->initial_state(time_, x().data());  // wakes up a model with a memory
        if (memory) model_->restore_memory(*memory);
        std::ranges::copy(state, x().begin());
        for (std::size_t i = 0; i < texts_.size(); ++i)
            if (texts_[i]) model_->set_text(static_cast<int>(i), *texts_[i], time_, x().data());
        integrator_->initialise(*model_, time_, x());
    }

    void set_text(int input, std::string_view text) override {
        texts_.resize(describe().text_inputs.size());
        texts_[static_cast<std::size_t>(input)] = text;
        model_->set_text(input, text, time_, x().data());
        if (!settling_) integrator_->reset(time_, x());
    }
    void get_text(int output, std::string& into) override { model_->get_text(output, time_, into); }

    subsystem_statistics statistics() const override {
        subsystem_statistics all = integrator_->statistics();
        return all += counted_before_;
    }
    double next_step() const override {
        const_cast<native_subsystem*>(this)->settle();
        return integrator_->next_step();
    }
    double next_event() const override {
        const_cast<native_subsystem*>(this)->settle();
        return model_->next_time_event(time_);
    }

    const equations& shown_equations() const override { return *model_; }
    const double* shown_state(bool started) override {
        if (started) settle();
        return numbers_;
    }

    std::size_t touched(std::span<memory_range, most_ranges> ranges) const override {
        constexpr std::size_t of_model = 128, of_solver = 192;  // most often
        ranges[0] = {model_.get(), of_model};
        ranges[1] = {integrator_.get(), of_solver};
        ranges[2] = {this, of_step};
        if (!many_) return 3;
        ranges[3] = {numbers_, n_ * sizeof(double)};
        return 4;
    }

   private:
    std::span<double> x() { return {numbers_, n_}; }

    /// The start is over: the inputs that were seen last are those of it.
    void settle() {
        if (!std::exchange(settling_, false)) return;
        if (model_->settles()) model_->settle(time_, numbers_ + n_, x().data());
        if (model_->begins_at_rest) find_equilibrium(*model_, time_, numbers_ + n_, x().data());
        integrator_->initialise(*model_, time_, x());
    }

    /// With the inputs that numbers_ has.
    void carry_out_event(double* y) {
        if (model_->carry_out_event(time_, x().data(), numbers_ + n_)) {
            integrator_->reset(time_, x());
            tell_event(time_);
        }
        hand_on_notice();
        evaluate_outputs(numbers_ + n_, y);
    }

    void hand_on_notice() {
        const step_notice from_model = std::exchange(model_->noticed, {});
        if (from_model.first_event <= time_) tell_event(from_model.first_event);
        if (from_model.ask_to_end) ask_to_end();
    }

    /// One that has not begun.
    void renew_solver() {
        counted_before_ += integrator_->statistics();
        integrator_ = tuning_->make_solver();
    }

    std::string why_not_saved() const {
        return integrator_->saves() ? model_->why_not_saved() : integrator_->why_not_saved();
    }

    /// Algebraic states follow the inputs at once: they are solved for `u` in a copy of the state.
    void evaluate_outputs(const double* u, double* y) {
        const double* state = numbers_;
        if (has_algebraic_) {
            double* copy = numbers_ + n_ + model_->describe().input_count();
            std::copy_n(state, n_, copy);
            integrator_->solve_algebraic(time_, u, {copy, n_});
            state = copy;
        }
        model_->outputs_between(time_, state, u, y);
    }

    // What every step needs comes first: two lines of the cache.
    static constexpr std::size_t of_step = 128;
    std::unique_ptr<equations> model_;
    std::unique_ptr<solver> integrator_;
    double* numbers_ = few_;  ///< state, input values and, with algebraic states, room for a copy of the state
    std::size_t n_;
    double time_ = 0;
    bool initialised_ = false;
    bool settling_ = false;  ///< the initial state waits for the inputs
    bool has_algebraic_;
    bool has_events_ = model_->events_at_points();
    double few_[5] = {};
    std::unique_ptr<double[]> many_;
    std::unique_ptr<tuning<equations>> tuning_;
    std::vector<std::optional<std::string>> texts_;  ///< that inputs were set to, for a model that is made again
    subsystem_statistics counted_before_;            ///< by solvers that are gone
};

}  // namespace

std::unique_ptr<subsystem> make_native_subsystem(std::unique_ptr<equations> model, std::unique_ptr<solver> integrator,
                                                 std::unique_ptr<tuning<equations>> how_tuned) {
    if (const std::string reason = integrator->why_not(*model); !reason.empty()) throw std::invalid_argument(reason);
    return std::make_unique<native_subsystem>(std::move(model), std::move(integrator), std::move(how_tuned));
}

}  // namespace mdpcosim
