#pragma once

#include <optional>

#include "results/pace.hpp"
#include "results/recorder.hpp"
#include "simulation/simulation.hpp"

namespace mdpcosim {

/// Records a simulation's values: the start, the first macro point at or after each multiple of `every` (absent: every one), and the end.
class row_recorder final : public observer {
   public:
    row_recorder(recorder& rows, const time_grid& grid, std::optional<double> every);

    void started(const simulation& of) override;
    void committed(const simulation& of, const macro_step& step) override;
    void loaded(const simulation& of) override { make_room(of); }
    std::string name() const override { return "rows"; }
    void state(state_bytes& bytes) override { bytes(grid_, last_, any_); }
    /// The present values, unless they are there already: for a run that ends before its end.
    void close(const simulation& of);
    recorder& rows() { return rows_; }

   private:
    void add(const simulation& of);
    void make_room(const simulation& of);

    recorder& rows_;
    record_grid grid_;
    std::vector<double> none_;  ///< jumps and energy errors, of a reference
    struct count {
        std::size_t subsystem;
        std::int64_t before;
    };
    std::vector<count> counted_;       ///< subsystems whose micro steps are recorded
    std::vector<double> micro_steps_;  ///< of all, since the last row
    double last_;
    bool any_ = false;
};

}  // namespace mdpcosim
