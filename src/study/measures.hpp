#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "expression/program.hpp"
#include "results/summary.hpp"
#include "simulation/simulation.hpp"
#include "study/study_spec.hpp"

namespace mdpcosim {

/// What a study wants to know of every variant, gathered at the macro points while it runs. Between them values are taken as linear.
class measure_set final : public observer {
   public:
    /// `parameters`: names that expressions of measures may use besides other measures.
    measure_set(std::vector<measure_spec> specs, const std::vector<study_parameter>& parameters);

    /// Finds what is measured; unknown names are user errors with their place. Again only for another simulation.
    void find_in(const simulation& of);

    void started(const simulation& of) override;
    void committed(const simulation& of, const macro_step& step) override;

    /// One number per measure, in their order; no number where there is none (a level that was never crossed).
    std::vector<double> values(const run_summary& summary, std::span<const double> parameters) const;

    /// SI, as far as it is known.
    std::vector<std::string> units() const;
    const std::vector<measure_spec>& specs() const { return specs_; }

   private:
    struct gathered {
        std::vector<simulation::place> places;
        program formula;  ///< of the places' values; none: the one place
        std::vector<double> read;
        double start = 0, last = 0, min = 0, max = 0, integral = 0, squares = 0;
        double crossed_at = 0;
        int crossings = 0;
        std::vector<double> times, values;  ///< where all of them are needed
        std::string unit;
        double now(const simulation& of);
    };
    void find_formula(const simulation& of, const measure_spec& spec, gathered& into) const;
    void find_connection(const simulation& of, const measure_spec& spec) const;
    void find_value(std::size_t measure);
    double value(std::size_t measure, const run_summary& summary) const;

    std::vector<measure_spec> specs_;
    std::vector<std::string> parameters_;
    std::vector<gathered> gathered_;
    std::vector<program> formulas_;  ///< of measures and parameters
    double begin_ = 0, before_ = 0;
};

}  // namespace mdpcosim
