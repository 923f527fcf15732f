#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/optimise.hpp"
#include "analysis/plot.hpp"
#include "analysis/published.hpp"

/// Stability of couplings, part of the facade: the largest stable macro steps of the two-mass test system as rows, shown as table,
/// JSON document and picture.
namespace mdpcosim {

struct stability_row {
    std::string extrapolation;
    std::vector<double> a, b;  ///< where the rule came by its coefficients, not by its name
    double F = 1;
    stability_limit limit;
    int order = 0;
    std::array<double, 3> crossings{};  ///< without a limit: where 1 + 1e-5, 1e-6 and 1e-7 are crossed
    std::optional<double> printed;      ///< in the table that is reproduced
};

struct stability_report {
    std::string title;
    test_system_parameters system;  ///< all but rule and F
    std::vector<stability_row> rows;
};

/// "force-force" ...; throws user_error with a suggestion.
coupling_variant read_coupling_variant(const std::string& name);

/// Every extrapolation (names, or own coefficients as in a scenario) with every F.
stability_report analyse_stability(const std::vector<std::string>& extrapolations, const std::vector<double>& F,
                                   const test_system_parameters& system);
/// "2.4" to "2.8" of the source (analysis/published.hpp) with the coefficients printed there; where none are printed, with
/// those that the search finds.
stability_report analyse_published_table(const std::string& number, const test_system_parameters& system = {});
/// Fig. 2.13: all extrapolations that have a limit, over F from 0.1 to 100.
stability_report analyse_published_figure(const std::string& number, int points,
                                          const test_system_parameters& system = {});

std::string to_table(const stability_report& report);
std::string to_json(const stability_report& report);
/// omega_max over F with the level lines of equal omega_2 H (2.71).
plot stability_plot(const stability_report& report);

/// Spectral radius over F and omega_A H, for one extrapolation.
struct stability_map {
    std::string extrapolation;
    std::vector<double> F, omega;
    std::vector<double> rho;  ///< all omega of the first F, then of the second ...
};
/// F from 0.1 to 1e6, omega_A H from 0.01 to 3, `points` each, evenly on logarithmic axes.
std::vector<stability_map> map_stability(const std::vector<std::string>& extrapolations,
                                         const test_system_parameters& system, int points);
/// A panel for each.
plot map_plot(const std::vector<stability_map>& maps, const test_system_parameters& system);

/// 10^1/2, 10^5/4, 10^2: what optimised sets are judged by.
std::vector<double> stiff_F();
/// The best free coefficients of `const-K-R` or `lin-K-R`, for one F or as the compromise over several.
optimum optimise_stability(const std::string& name, const std::vector<double>& F, const std::vector<double>& weights,
                           const test_system_parameters& system, std::uint32_t seed,
                           std::function<void(double, double)> progress);
std::string to_table(const optimum& found, const std::vector<double>& F);
std::string to_json(const optimum& found, const std::vector<double>& F);

}  // namespace mdpcosim
