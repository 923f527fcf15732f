#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "results/result_table.hpp"
#include "scenario/spec.hpp"

/// A scenario with `method: multirate` at several steps of one subsystem: what longer steps save and what they miss, as Tables 2 and 3 and Figs. 13 to
/// 16 of F. Gonzalez and others, On the effect of multirate co-simulation techniques in the efficiency and accuracy of multibody system dynamics (2010).
namespace mdpcosim {

struct rates_request {
    /// The scenario with these settings, address and value.
    std::function<scenario(const std::vector<std::pair<std::string, std::string>>&)> load;
    std::string slow;                ///< the subsystem whose step is `ratio` times the shortest one of the others
    std::vector<std::string> watch;  ///< variables: the first is compared, all are drawn
    std::vector<double> ratios{1, 5, 10, 50, 100};  ///< the first one is the reference
    std::function<void(const std::string&)> told;
};

struct rates_run {
    std::string scheme;  ///< slowest-first, fastest-first
    double ratio = 1;
    int slow_order = 0, fast_order = 0;
    double seconds = 0;  ///< CPU time
    long long evaluations = 0;
    double difference = 0;       ///< largest one of what is watched against the reference; infinite where the run fails
    std::vector<double> course;  ///< the difference over time
};

struct rates_figures {
    std::string watched, unit;
    result_table reference;
    double range = 0;               ///< of what is watched, in the reference
    std::vector<rates_run> costs;   ///< slowest-first, orders 0, over the ratios
    std::vector<rates_run> orders;  ///< both schemes at the largest ratio
    /// CPU time T = a + b/FR by least squares; the residual is the largest one over T.
    double a = 0, b = 0, residual = 0;
};

/// Mistakes of the request are user errors.
rates_figures bench_rates(const rates_request& request);

std::string to_table(const rates_figures& figures);
std::string to_json(const rates_figures& figures);
/// Throws user_error where the file cannot be written.
void write_rates_figure(const std::string& file, const rates_figures& figures);

}  // namespace mdpcosim
