#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "core/time_grid.hpp"
#include "reference/composite.hpp"
#include "results/pace.hpp"
#include "results/progress.hpp"
#include "results/recorder.hpp"
#include "scenario/spec.hpp"
#include "subsystem/solver.hpp"

/// The reference: composite equations and one ordinary solver, from row to row of the results.
namespace mdpcosim {

/// The solver with every default written out. The reference's own: erk-8, rtol 1e-12, atol 1e-15 and ten million micro steps
/// between two rows (docs/decisions/0007-reference-solver.md); an option that the solver does not have is left out.
solver_spec reference_solver(const reference_spec& spec);

/// What looks on. Nothing here can change the solution.
struct monolithic_observers {
    recorder* rows = nullptr;
    std::optional<double> record_every;  ///< absent: every macro point
    progress* shown = nullptr;
    const std::atomic<bool>* interrupt = nullptr;
};

class monolithic_run {
   public:
    monolithic_run(std::unique_ptr<composite_equations> equations, std::unique_ptr<solver> integrator);

    /// From grid.start() to grid.end(), stopping only at the macro points where a row is due or a sampled subsystem works. `result`
    /// is kept up to date; its steps stay zero, since there are no macro steps. Throws run_error where the solver or a subsystem fails.
    void run(const time_grid& grid, const monolithic_observers& observers, loop_result& result);

    /// Of the solver; samples are among the events.
    subsystem_statistics statistics() const;
    std::span<const double> outputs() const { return std::span(y_).first(equations_->output_count()); }
    std::span<const double> coupling_variables() const { return std::span(y_).last(equations_->channel_count()); }
    /// Smallest and largest coupling variables at the rows.
    const std::vector<double>& low() const { return low_; }
    const std::vector<double>& high() const { return high_; }
    int states() const { return equations_->state_count(); }

   private:
    void sample(double t);
    void look(double t, const monolithic_observers& observers);

    std::unique_ptr<composite_equations> equations_;
    std::unique_ptr<solver> integrator_;
    std::vector<double> x_, x_row_;  ///< the state, and with algebraic states that fit the time of a row
    std::vector<double> y_, low_, high_;
    std::vector<double> none_;  ///< for the columns of jumps and energy errors: the reference has neither
};

}  // namespace mdpcosim
