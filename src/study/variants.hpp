#pragma once

#include <cstdint>
#include <vector>

#include "study/study_spec.hpp"

/// What the variants of a study are.
namespace mdpcosim {

class variant_plan {
   public:
    /// More than `most` are refused before anything is made of them.
    explicit variant_plan(const study_spec& s, std::int64_t most = std::int64_t{1} << 40);

    std::int64_t size() const { return size_; }
    const std::vector<study_parameter>& parameters() const { return parameters_; }

    /// Of a variant, a number in SI, or the index of a word. In a grid the last parameter changes fastest.
    double value(std::int64_t variant, std::size_t parameter) const;
    /// As `--set` takes it: all digits and the unit, or the word.
    std::string text(std::size_t parameter, double value) const;
    /// The settings that make a variant of a scenario.
    std::vector<scenario_override> settings(const std::vector<double>& values) const;

   private:
    std::vector<study_parameter> parameters_;
    study_spec::way how_;
    std::int64_t size_ = 0;
    std::vector<double> points_;  ///< of samples
};

}  // namespace mdpcosim
