#pragma once

#include <functional>
#include <string>
#include <vector>

/// Subsystems with steps of their own, on the two masses of F. Gonzalez and others, On the effect of multirate co-simulation techniques in
/// the efficiency and accuracy of multibody system dynamics (2010), section 3: a fast mass and a slow one, each integrated with a hundred
/// steps per cycle of its own, over a hundred cycles of the fast one; errors against the exact motion.
namespace mdpcosim {

struct multirate_run {
    std::string scheme = "slowest-first";
    int slow_order = 0, fast_order = 0;
    bool smoothing = false;       ///< mean of the fast signal, slow signal by least squares
    double damping = 0;           ///< of the slow mass alone, as a part of the critical one
    double frequency_ratio = 10;  ///< fast over slow, FR
    double delay = 0;             ///< s, of the fast signal (a memory block)
};

struct multirate_result {
    multirate_run variant;
    double position_error = 0;  ///< (7): root mean square of x1, over that of the exact motion, times FR / 100
    double energy_error = 0;    ///< (8): the same of the energy, without damping
    double gain = 0;            ///< amplitude of the fast oscillation at the end over the exact one
};

/// The scenario of a run, `end` seconds long.
std::string multirate_scenario(const multirate_run& variant, double end = 100);
/// Infinite errors where it diverges.
multirate_result run_multirate(const multirate_run& variant);

/// What a longer step of a costly slow subsystem saves.
struct multirate_cost {
    double frequency_ratio = 1;
    double seconds = 0;     ///< CPU time of the run
    double difference = 0;  ///< largest one of the slow position against FR = 1, over its range
};

struct multirate_figures {
    std::vector<multirate_result> results;
    std::vector<multirate_cost> costs;
};

/// Both schemes, orders 0 to 4, smoothing; without damping and with a half of the critical one; at these ratios FR, 1.5 to 100 if there are
/// none. `told` hears what comes next.
multirate_figures bench_multirate(std::vector<double> ratios, const std::function<void(const std::string&)>& told);

std::string to_table(const multirate_figures& figures);
std::string to_json(const multirate_figures& figures);
/// Position errors against FR; throws user_error where the file cannot be written.
void write_multirate_figure(const std::string& file, const multirate_figures& figures);

}  // namespace mdpcosim
