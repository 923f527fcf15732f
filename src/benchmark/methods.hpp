#pragma once

#include <functional>
#include <string>
#include <vector>

/// Work and precision: what every method costs for the error it makes, on systems with a reference.
namespace mdpcosim {

struct method_result {
    std::string system;
    std::string variant;  ///< "semi-implicit poly-3, controlled"
    double step = 0;      ///< s; 0 where the step is controlled
    double rtol = 0;
    std::int64_t macro_steps = 0, integrations = 0;
    double seconds = 0;
    double error = 0;  ///< at the end, of all positions and velocities, relative to their range, root mean square
    /// Of controlled steps: the error over that of the method's best constant steps with as many integrations; 0: none had about as many.
    double over_constant = 0;
};

/// Two-mass systems with F = 1, 100 and 1e4, a quarter car, an oscillator chain, the oscillator pair of the waveform literature, a hydraulic
/// crane, masses with a stop, a sampled controller.
std::vector<std::string> bench_systems();

/// The named systems, all if none is named, or the scenario in `file`, with every method and a row of steps or tolerances. What diverges, and
/// what a method cannot do, is left out. `told` hears what comes next.
std::vector<method_result> bench_methods(const std::vector<std::string>& systems, const std::string& file,
                                         const std::function<void(const std::string&)>& told);

std::string to_table(const std::vector<method_result>& results);
std::string to_json(const std::vector<method_result>& results);
/// Error against integrations and against time, a row per system; throws user_error where the file cannot be written.
void write_work_precision(const std::string& file, const std::vector<method_result>& results);

}  // namespace mdpcosim
