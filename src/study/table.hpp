#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "study/measures.hpp"
#include "study/rows.hpp"
#include "study/variants.hpp"

/// The one table of a study, ordered by variant, the same wherever it ran but for the column `seconds`.
namespace mdpcosim {

/// `variant`, the parameters, the measures, `verdict`, `status`, `macro-steps`, `integrations`, `seconds`, `reason`. Numbers in SI, those that are none left out.
std::string study_csv(const variant_plan& plan, const std::vector<measure_spec>& measures, const study_rows& rows);

/// The same as datasets, with units; texts as texts.
void write_study_hdf5(const std::filesystem::path& path, const variant_plan& plan,
                      const std::vector<measure_spec>& measures, const std::vector<std::string>& units,
                      const study_rows& rows);

const char* verdict_of(const study_row& row);

}  // namespace mdpcosim
