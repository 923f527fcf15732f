#pragma once

#include <vector>

#include "results/result_table.hpp"
#include "simulation/simulation.hpp"
#include "study/study_spec.hpp"

namespace mdpcosim {

/// The name of a fit's measure.
inline constexpr const char* residual_name = "residual";

/// Measured data beside a run: how far both are apart.
///   residual = sqrt(mean over columns of mean over rows of ((x(t_i) - d_i) / range of d)^2)
/// Between macro points values are taken as linear. Units are SI, or those of the file's header.
class fit_data final : public observer {
   public:
    explicit fit_data(const study_spec& s);
    void find_in(const simulation& of);
    void started(const simulation& of) override;
    void committed(const simulation& of, const macro_step& step) override;
    double residual() const;

   private:
    struct column {
        text variable;
        std::size_t index = 0;  ///< in the table
        double range = 0;
        simulation::place at;
        double last = 0, squares = 0;
    };
    result_table table_;
    std::vector<column> columns_;
    location where_;
    double before_ = 0;
    std::size_t next_ = 0;
};

}  // namespace mdpcosim
