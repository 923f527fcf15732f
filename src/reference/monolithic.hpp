#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/time_grid.hpp"
#include "reference/composite.hpp"
#include "results/pace.hpp"
#include "results/recorder.hpp"
#include "scenario/spec.hpp"
#include "subsystem/solver.hpp"

/// The reference: composite equations and one ordinary solver, from row to row of the results.
namespace mdpcosim {

/// The solver with every default written out. The reference's own: erk-6, rtol 1e-12, atol 1e-15 and ten million micro steps
/// between two rows (docs/decisions/0007-reference-solver.md); an option that the solver does not have is left out.
solver_spec reference_solver(const reference_spec& spec);

class monolithic_run {
   public:
    monolithic_run(std::unique_ptr<composite_equations> equations, std::unique_ptr<solver> integrator);

    /// The state at grid.start(). Stops are the macro points where a row is due (`record_every`; absent: all) or a sampled subsystem works.
    void start(const time_grid& grid, std::optional<double> record_every);
    bool done() const { return next_ > grid_->steps(); }
    /// To the next stop. Throws run_error where the solver or a subsystem fails, composite_interrupted where that was asked for.
    void step();
    double reached() const { return reached_; }
    const std::string& asked_to_end() const { return equations_->asked_to_end(); }

    /// Of the solver; samples are among the events.
    subsystem_statistics statistics() const;
    /// At the last row.
    std::span<const double> outputs() const { return std::span(y_).first(equations_->output_count()); }
    std::span<const double> coupling_variables() const { return std::span(y_).last(equations_->channel_count()); }
    /// Smallest and largest coupling variables at the rows.
    const std::vector<double>& low() const { return low_; }
    const std::vector<double>& high() const { return high_; }
    int states() const { return equations_->state_count(); }

   private:
    void sample(double t);
    void look(double t);

    std::unique_ptr<composite_equations> equations_;
    std::unique_ptr<solver> integrator_;
    std::vector<double> x_, x_row_;  ///< the state, and with algebraic states that fit the time of a row
    std::vector<double> y_, low_, high_;
    std::optional<time_grid> grid_;
    std::optional<record_grid> rows_;
    std::int64_t next_ = 1;  ///< macro point
    double reached_ = 0;
};

}  // namespace mdpcosim
