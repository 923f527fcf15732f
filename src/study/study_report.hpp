#pragma once

#include <string>
#include <vector>

#include "study/rows.hpp"
#include "study/study.hpp"
#include "study/variants.hpp"

namespace mdpcosim {

/// One page for the browser that needs nothing else: what was varied, measures over parameters, sensitivities, verdicts, the best variant.
std::string study_page(const study_spec& study, const variant_plan& plan, const std::vector<measure_spec>& measures,
                       const std::vector<std::string>& units, const study_rows& rows, const study_summary& summary);

}  // namespace mdpcosim
