#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>

#include "assembly/assembly.hpp"
#include "reference/monolithic.hpp"
#include "results/summary.hpp"

namespace mdpcosim {

/// An assembled reference (assemble_reference) as one system. Takes subsystems and network out of the assembly; columns, names and reports
/// stay.
class reference_run {
   public:
    /// Makes the solver; what the user must mend leaves as user_error.
    reference_run(const scenario& s, assembly& a);

    /// `interrupt`: ends the step in work.
    void start(const time_grid& grid, std::optional<double> record_every, const std::atomic<bool>* interrupt);
    /// The subsystem that asked to end the simulation; empty: none has.
    const std::string& asked_to_end() const { return whole_->asked_to_end(); }
    bool done() const { return whole_ != nullptr && whole_->done(); }
    /// To the next row or sample; false: it was interrupted on the way.
    bool step();
    double reached() const { return whole_->reached(); }  ///< after start()
    /// None before start().
    std::span<const double> outputs() const { return whole_ ? whole_->outputs() : std::span<const double>{}; }
    std::span<const double> coupling_variables() const {
        return whole_ ? whole_->coupling_variables() : std::span<const double>{};
    }

    std::int64_t micro_steps() const { return whole_ ? whole_->statistics().micro_steps : 0; }

    /// Method, the one solver's statistics, and the connections.
    void describe(run_summary& summary, const assembly& a) const;

   private:
    composite_parts parts_;
    std::size_t subsystems_;
    std::string solver_name_, note_;
    std::unique_ptr<solver> integrator_;
    std::unique_ptr<monolithic_run> whole_;
};

}  // namespace mdpcosim
