// The explicit parallel method (Friedrich 2011, section 2.1): one integration per macro step, all subsystems at once.
//
//   u(t_n), du(t_n) from the outputs at t_n  ->  polynomials over [t_n, t_{n+1}]  ->  every subsystem integrates itself
//
// Order and stability are those of the extrapolation: local order of positions and velocities by Table 2.3 of the source,
// stable while H times the highest coupled frequency stays below the extrapolation's limit (docs/methods/extrapolations.md).
// Needs nothing of a subsystem beyond advance(). The error of a step is estimated by a second integration whose polynomials end
// where one more accepted value puts them (J. Kraft and others, Efficiency of Different Co-Simulation Approaches, section 2.3), scaled
// by what the polynomials turned out to miss there. Where they missed more than anything made likely, a contact that closed, an event, a
// signal that moved, the comparison is done again with what they missed.
#include "master/error_constants.hpp"

namespace mdpcosim {

namespace {

const method_traits explicit_traits{
    .evaluates_rates = true, .builds_on_history = true, .goes_back = false, .estimates = true};

class explicit_method final : public method {
   public:
    explicit_method() : method(explicit_traits) {}

    void attempt(coupled_system& system, const macro_step& step) override {
        extrapolate(system, step);
        system.coupling.deliver(step.end - step.begin, system.subsystems->inputs());
        system.advance(step);
    }

    void prepare_estimates(coupled_system& system) override {
        transport& t = *system.subsystems;
        for (auto& trial : trials_)
            trial = {{t.inputs().begin(), t.inputs().end()}, std::vector<double>(t.outputs().size())};
        missed_.resize(system.coupling.channels());
        end_.resize(missed_.size());
        constants_ = error_constants(system);
    }

    estimate_orders attempt_and_estimate(coupled_system& system, const macro_step& step,
                                         std::span<double> error) override {
        network& net = system.coupling;
        const double H = step.end - step.begin;
        auto& [raised, kept] = trials_;
        extrapolate(system, step);
        net.deliver(H, kept.inputs);
        find_misses(system, step, kept, constants_, missed_);
        compare(system, step);
        constants_.update(system, &extrapolation_constants);
        constants_.misses(system, H, end_);
        if (constants_.surprised(system, H, missed_, end_)) {
            missed_.swap(end_);
            system.restore_begin();
            compare(system, step);
            constants_.take_everything();
        } else {
            constants_.rescale(missed_, end_);
        }
        for (std::size_t slot = 0; slot < error.size(); ++slot)
            error[slot] = constants_.of_output(slot) * (raised.outputs[slot] - kept.outputs[slot]);
        return constants_.orders();
    }

    void state(state_bytes& bytes) override { constants_.state(bytes); }

   private:
    void committed() override { constants_.committed(); }

    /// The step as it is done, and with polynomials that end where they would have missed nothing.
    void compare(coupled_system& system, const macro_step& step) {
        network& net = system.coupling;
        for (std::size_t c = 0; c < missed_.size(); ++c) net.correct(channel_index(c), missed_[c]);
        net.deliver(step.end - step.begin, trials_[0].inputs);
        net.extrapolate(step.end);
        system.advance_trials(step, trials_);
    }

    static void extrapolate(coupled_system& system, const macro_step& step) {
        system.coupling.accept(step.begin, system.subsystems->outputs(), system.u, system.du);
        system.coupling.extrapolate(step.end);
    }

    std::array<trial_step, 2> trials_;  ///< with the raised polynomials; the step as it is done
    std::vector<double> missed_, end_;  ///< at the end of the step, by channel: as expected, and as it turned out
    error_constants constants_;
};

const method_registration registered{
    {"explicit",
     "one integration per macro step with extrapolated coupling variables, in parallel",
     [](const parameter_values&) { return std::make_unique<explicit_method>(); },
     {},
     explicit_traits}};

}  // namespace

}  // namespace mdpcosim
