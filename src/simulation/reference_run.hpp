#pragma once

#include <memory>

#include "assembly/assembly.hpp"
#include "reference/monolithic.hpp"
#include "results/summary.hpp"

namespace mdpcosim {

/// The run of an assembled scenario as one system. Takes the network out of the assembly; columns, names and reports stay.
class reference_run {
   public:
    /// Makes the equations and the solver; what the user must mend leaves as user_error.
    reference_run(const scenario& s, assembly& a);

    void run(const time_grid& grid, const monolithic_observers& observers, loop_result& result);

    /// Method, the one solver's statistics, and the connections.
    void describe(run_summary& summary, const assembly& a) const;

   private:
    composite_parts parts_;
    std::size_t subsystems_;
    std::string solver_name_;
    std::unique_ptr<solver> integrator_;
    std::unique_ptr<monolithic_run> whole_;
};

}  // namespace mdpcosim
