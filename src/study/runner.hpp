#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "study/fit_data.hpp"
#include "study/measures.hpp"
#include "study/rows.hpp"
#include "study/variants.hpp"

namespace mdpcosim {

/// Runs variants, one after the other. Where everything that varies is a parameter of subsystems that belong to the program, one simulation is built and
/// reset for every variant; otherwise each has one of its own, as after `run --set`. Both give the same bits.
class variant_runner {
   public:
    variant_runner(const study_spec& study, const variant_plan& plan, const std::atomic<bool>* interrupt);

    /// Nothing: it was interrupted. Mistakes in values of a variant, failing subsystems and couplings that diverge are rows with their reason.
    std::optional<study_row> run(std::int64_t variant, const std::vector<double>& parameters);

    /// The same as a run of its own, with all its files.
    void keep(const std::vector<double>& parameters, const std::filesystem::path& folder) const;

    /// Runs up to the first macro point only and throws what is wrong, also what no variant could mend.
    void try_first(const std::vector<double>& parameters);

    /// Whether one simulation serves all variants.
    bool resets() const { return resets_; }
    const measure_set& measures() const { return measures_; }

   private:
    scenario scenario_of(const std::vector<double>& parameters) const;
    simulation& built(const std::vector<double>& parameters);
    void build(const std::vector<double>& parameters);
    bool may_reset() const;
    bool go(simulation& of);

    const study_spec& study_;
    const variant_plan& plan_;
    const std::atomic<bool>* interrupt_;
    measure_set measures_;
    std::optional<fit_data> fit_;
    std::unique_ptr<simulation> simulation_;
    bool resets_ = false;
    std::vector<std::pair<std::string, double>> changes_;
};

/// The names of a study's measures; a fit has one of its own.
std::vector<measure_spec> measures_of(const study_spec& s);

}  // namespace mdpcosim
