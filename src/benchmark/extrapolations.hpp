#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Which extrapolation is the best default: every candidate with the explicit method on generated systems of every kind of coupling, soft and
/// stiff. All candidates cost one integration per macro step, so that the longest step that keeps to an error is the lowest cost for it.
namespace mdpcosim {

/// Errors (largest of a coupled variable over its range) that are asked for.
inline constexpr std::array wanted_errors{1e-2, 1e-3, 1e-4};

struct extrapolation_result {
    std::string kind;  ///< of coupling
    std::string candidate;
    int systems = 0;  ///< that it could be used on
    /// Largest omega H, omega the fastest coupled motion, that keeps to the wanted errors, geometric mean over the systems; what a second costs is
    /// its inverse.
    std::array<double, wanted_errors.size()> step{};
    double limit = 0;  ///< largest stable omega H, geometric mean
    bool is_default = false;
};

struct extrapolation_request {
    int each = 6;  ///< systems per kind
    unsigned seed = 1;
    std::filesystem::path fmus;  ///< folder; empty: none of them
    std::string method = "explicit";
};

/// `told` hears what comes next.
std::vector<extrapolation_result> bench_extrapolations(const extrapolation_request& request,
                                                       const std::function<void(const std::string&)>& told);

std::string to_table(const std::vector<extrapolation_result>& results);
std::string to_json(const std::vector<extrapolation_result>& results);

}  // namespace mdpcosim
