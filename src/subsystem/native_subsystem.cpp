#include "subsystem/native_subsystem.hpp"

#include <algorithm>
#include <stdexcept>

#include "subsystem/solvers/interval.hpp"

namespace mdpcosim {

namespace {

struct native_snapshot final : snapshot {
    double time = 0;
    std::vector<double> numbers;      ///< the state, then the solver's memory
    std::unique_ptr<snapshot> model;  ///< the model's discrete part, where it has one
};

class native_subsystem final : public subsystem {
   public:
    native_subsystem(std::unique_ptr<equations> model, std::unique_ptr<solver> integrator)
        : model_(std::move(model)),
          integrator_(std::move(integrator)),
          n_(static_cast<std::size_t>(model_->state_count())),
          algebraic_(has_algebraic_states(*model_) ? n_ : 0),
          numbers_(std::make_unique<double[]>(n_ + static_cast<std::size_t>(model_->describe().input_count()) +
                                              algebraic_)) {}

    const subsystem_description& describe() const noexcept override { return model_->describe(); }

    capabilities offers() const override {
        const std::string why = why_not_saved();
        const bool derivatives =
            std::ranges::any_of(model_->describe().outputs, [](const auto& y) { return y.rate_sensitivities; });
        capabilities offered{.save_restore = why.empty(),
                             .rate_sensitivities = derivatives,
                             .own_equations = true,
                             .chooses_step = integrator_->chooses_step(),
                             .why_no_save_restore = why};
        for (std::size_t i = 0; i < model_->describe().ports.size(); ++i)
            offered.port_stiffness.push_back(model_->port_stiffness(static_cast<int>(i)));
        return offered;
    }

    void initialise(double t0) override {
        time_ = t0;
        model_->initial_state(t0, x().data());
        integrator_->initialise(*model_, t0, x());
    }

    void outputs(std::span<const double> u, std::span<double> y) override { evaluate_outputs(u.data(), y.data()); }

    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        integrator_->integrate(step.begin, step.end, inputs, x());
        time_ = step.end;
        double* u = numbers_.get() + n_;
        input_values(inputs, step.end - step.begin, u);
        evaluate_outputs(u, y.data());
    }

    void rate_sensitivities(std::span<const double> u, int input, std::span<double> by_output) override {
        model_->rate_sensitivities(time_, numbers_.get(), u.data(), input, by_output.data());
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
        s.time = time_;
        s.numbers.resize(n_ +
                         integrator_->memory_size());  // allocates only if the snapshot was made before initialise()
        std::ranges::copy(x(), s.numbers.begin());
        integrator_->memory(std::span(s.numbers).subspan(n_));
        if (s.model) model_->save_memory(*s.model);
    }

    void restore(const snapshot& from) override {
        const auto& s = static_cast<const native_snapshot&>(from);
        time_ = s.time;
        std::copy_n(s.numbers.begin(), n_, numbers_.get());
        if (s.model) model_->restore_memory(*s.model);
        integrator_->reset(time_, x());
        integrator_->set_memory(std::span(s.numbers).subspan(n_));
    }

    subsystem_statistics statistics() const override { return integrator_->statistics(); }
    double next_step() const override { return integrator_->next_step(); }

   private:
    std::span<double> x() { return {numbers_.get(), n_}; }

    std::string why_not_saved() const {
        return integrator_->saves() ? model_->why_not_saved() : integrator_->why_not_saved();
    }

    /// Algebraic states follow the inputs at once: they are solved for `u` in a copy of the state.
    void evaluate_outputs(const double* u, double* y) {
        const double* state = numbers_.get();
        if (algebraic_ > 0) {
            double* copy = numbers_.get() + n_ + model_->describe().input_count();
            std::copy_n(state, n_, copy);
            integrator_->solve_algebraic(time_, u, {copy, n_});
            state = copy;
        }
        model_->outputs(time_, state, u, y);
    }

    std::unique_ptr<equations> model_;
    std::unique_ptr<solver> integrator_;
    std::size_t n_;
    std::size_t algebraic_;              ///< size of the copy for algebraic states; 0: there are none
    std::unique_ptr<double[]> numbers_;  ///< state and room for input values and that copy, one allocation
    double time_ = 0;
};

}  // namespace

std::unique_ptr<subsystem> make_native_subsystem(std::unique_ptr<equations> model, std::unique_ptr<solver> integrator) {
    if (const std::string reason = integrator->why_not(*model); !reason.empty()) throw std::invalid_argument(reason);
    return std::make_unique<native_subsystem>(std::move(model), std::move(integrator));
}

}  // namespace mdpcosim
