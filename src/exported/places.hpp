#pragma once

#include <filesystem>
#include <vector>

#include "exported/variables.hpp"
#include "scenario/spec.hpp"

/// What both forms of an exported subsystem share. Private to exported/.
namespace mdpcosim {

/// The subsystem in the FMU's resources, and the macro step that its scenario had.
struct exported_entry {
    exported_entry(const std::filesystem::path& resources, const std::string& name);

    subsystem_spec spec;
    double step = 0;
};

/// Where each variable stands: the slot of an input or output, the number that tune() takes, the place among states, derivatives, indicators.
std::vector<std::size_t> places_of(const std::vector<exported_variable>& variables,
                                   const subsystem_description& description,
                                   const std::vector<tunable_parameter>& parameters);

/// d f / d seed by central differences, f being a function of some numbers: `at(step)` moves them by step * seed and puts f into its argument.
/// `values` are the numbers, to say how large a step is.
template <class Function>
void difference(std::span<const double> values, std::span<const double> seed, std::span<double> result,
                std::vector<double>& room, const Function& at) {
    constexpr double cube_root = 6e-6;  // of the rounding error
    double step = 0;
    for (std::size_t k = 0; k < seed.size(); ++k)
        if (seed[k] != 0) {
            const double own = cube_root * std::max(1.0, std::abs(values[k])) / std::abs(seed[k]);
            step = step == 0 ? own : std::min(step, own);
        }
    std::fill(result.begin(), result.end(), 0.0);
    if (step == 0) return;
    room.resize(result.size());
    at(step, result);
    at(-step, std::span(room));
    at(0, std::span<double>());
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = (result[i] - room[i]) / (2 * step);
}

}  // namespace mdpcosim
