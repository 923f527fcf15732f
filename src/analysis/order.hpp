#pragma once

#include <array>
#include <string>
#include <vector>

#include "analysis/plot.hpp"
#include "coupling/extrapolation.hpp"
#include "master/method.hpp"

/// Orders of an extrapolation and a method, measured by running them on the nonlinear test system (nonlinear_pair.hpp).
///
///   local                 error after one macro step from exact history, root mean square over eight starts: it behaves like
///                         H^(P+1), P being the local order
///   global, exact history largest error over 2 s, begun with exact values at the macro points before
///   global, cold start    the same without any history, as a run begins: the first steps, with their fewer supporting points,
///                         limit the order to 2 (without rates) or 3 (with rates)
/// Exact history means that K macro steps before are done by the method itself, each of them from the exact state. Slopes are
/// only clean in a band of H: above, higher terms count, below, rounding does. The band is the one of the smallest H in which the
/// errors stay above rounding and the slopes do not change by more than 0.25.
namespace mdpcosim {

/// Mean gradients (least squares) of the errors of both bodies over a band of H.
struct order_band {
    static constexpr int points = 4;  ///< H halved three times
    int first = -1;                   ///< place of its largest H; -1: no band is clean
    double spread = 0;                ///< the most that slopes between neighbouring H differ
    std::array<double, 2> slope{};    ///< A, B

    bool clean() const { return first >= 0; }
    double mean() const { return (slope[0] + slope[1]) / 2; }
};

struct error_curve {
    std::vector<double> H;                    ///< halved each time
    std::array<std::vector<double>, 2> q, v;  ///< errors of A and B in m and m/s
    order_band q_band, v_band;
};

/// The band of two error curves; errors below `rounding` (one value per H) are not used.
order_band find_band(const std::array<std::vector<double>, 2>& error, const std::vector<double>& rounding);

struct order_result {
    extrapolation_rule rule;
    std::string method;
    int input_degree = max_degree;
    error_curve local;  ///< its slopes are P + 1
    error_curve exact_history, cold_start;
};

/// Throws std::invalid_argument for an unknown method.
order_result measure_order(const extrapolation_rule& rule, const std::string& method = default_method,
                           int input_degree = max_degree);

/// Local orders of the explicit method by theory: Table 2.3 of the source, written for any degree N (after projection) and R.
struct local_order {
    int q, v;
};
local_order expected_local_order(const extrapolation_rule& rule, int input_degree = max_degree);

std::string to_table(const std::vector<order_result>& results);
std::string to_json(const std::vector<order_result>& results);
/// Local errors of both bodies and global errors over H, as Fig. 2.7.
plot order_plot(const std::vector<order_result>& results);

}  // namespace mdpcosim
