#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "study/measures.hpp"
#include "study/rows.hpp"
#include "study/study_spec.hpp"

namespace mdpcosim {

/// What an optimisation, or a fit, wants of a row: the smaller the better.
class study_target {
   public:
    explicit study_target(const study_spec& s);
    double objective(const study_row& row) const;
    /// How far each condition is from being met; not above zero: it is.
    std::vector<double> violations(const study_row& row) const;
    /// A row that came to its end and meets all conditions.
    bool feasible(const study_row& row) const;
    std::size_t conditions() const { return conditions_.size(); }

   private:
    std::size_t measure_ = 0;
    double sign_ = 1;
    std::vector<program> conditions_;
};

/// Minimises by NLopt. `run` gives the row of the n-th evaluation, from what is known or by running it; nothing: it was interrupted, and the search
/// ends. The same rows lead the same way, so that a search that was broken off goes on where it was. Why it ended, in words; empty: interrupted.
std::string search_minimum(
    const study_spec& s,
    const std::function<std::optional<study_row>(std::int64_t n, const std::vector<double>&)>& run);

}  // namespace mdpcosim
