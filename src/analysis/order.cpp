#include "analysis/order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/nonlinear_pair.hpp"

namespace mdpcosim {

namespace {

using state = nonlinear_pair::state;

constexpr double begin = nonlinear_pair::begin;
constexpr int first_local = -3, last_local = -14;  // exponents of H = 2^n s
constexpr int first_global = -3, last_global = -11;
constexpr double span = 2;
constexpr int starts = 8;                 // of local errors, 1/4 s apart
constexpr double force_rounding = 1e-14;  // N, far above what double precision leaves of u

/// Exact states of the coupled system at begin + n/8 s.
class exact_grid {
   public:
    static double time(int n) { return begin + n * spacing; }
    const state& at(int n) {
        for (int last = static_cast<int>(states_.size()) - 1; last < n; ++last)
            states_.push_back(nonlinear_pair::exact(states_.back(), time(last), time(last + 1)));
        return states_[static_cast<std::size_t>(n)];
    }

   private:
    static constexpr double spacing = 1.0 / 8;
    std::vector<state> states_{nonlinear_pair::at_begin()};
};

/// The pair in the exact state z at t after `history` macro steps from exact states.
void start_with_history(co_simulated_pair& pair, const state& z, double t, int history, double H) {
    std::vector<state> past{z};  // newest first
    const auto time = [t, H](int n) { return t - H * n; };
    for (int n = 1; n <= history; ++n) past.push_back(nonlinear_pair::exact(past.back(), time(n - 1), time(n)));
    pair.start(past.back(), time(history));
    for (int n = history; n > 0; --n) {
        pair.step(time(n), time(n - 1));
        pair.replace(past[static_cast<std::size_t>(n - 1)], time(n - 1));
    }
}

void keep_largest(std::array<double, 4>& error, const state& z, const state& exact) {
    for (std::size_t i = 0; i < 4; ++i) {
        const double e = static_cast<double>(std::abs(z[i] - exact[i]));
        if (!(e <= error[i])) error[i] = e;  // also when it is no number
    }
}

void add(error_curve& curve, double H, const std::array<double, 4>& error) {
    curve.H.push_back(H);
    for (std::size_t body = 0; body < 2; ++body) {
        curve.q[body].push_back(error[2 * body]);
        curve.v[body].push_back(error[2 * body + 1]);
    }
}

/// What a force error of `force_rounding` makes of masses near 1 kg during `time`.
void find_bands(error_curve& curve, const std::vector<double>& time) {
    std::vector<double> q, v;
    for (const double t : time) {
        q.push_back(force_rounding * t * t / 2);
        v.push_back(force_rounding * t);
    }
    curve.q_band = find_band(curve.q, q);
    curve.v_band = find_band(curve.v, v);
}

/// Root mean squares over several starts: at a single one, the leading term of some error is always small.
error_curve local_errors(co_simulated_pair& pair, int history, exact_grid& exact) {
    error_curve curve;
    for (int exponent = first_local; exponent >= last_local; --exponent) {
        const double H = std::ldexp(1.0, exponent);
        std::array<double, 4> error{};
        for (int start = 0; start < starts; ++start) {
            const double t = exact_grid::time(2 * start);
            const state& z = exact.at(2 * start);
            start_with_history(pair, z, t, history, H);
            pair.step(t, t + H);
            const state reached = pair.present(), wanted = nonlinear_pair::exact(z, t, t + H);
            for (std::size_t i = 0; i < 4; ++i)
                error[i] += std::pow(static_cast<double>(reached[i] - wanted[i]), 2) / starts;
        }
        for (double& e : error) e = std::sqrt(e);
        add(curve, H, error);
    }
    find_bands(curve, curve.H);
    return curve;
}

/// The largest errors at the macro points that all grids share. A run that diverges ends with infinite errors.
error_curve global_errors(co_simulated_pair& pair, int history, exact_grid& exact) {
    error_curve curve;
    for (int exponent = first_global; exponent >= last_global; --exponent) {
        const double H = std::ldexp(1.0, exponent);
        if (history > 0)
            start_with_history(pair, nonlinear_pair::at_begin(), begin, history, H);
        else
            pair.start(nonlinear_pair::at_begin(), begin);
        const int steps = static_cast<int>(span / H), shared = 1 << (first_global - exponent);
        std::array<double, 4> error{};
        try {
            for (int n = 1; n <= steps; ++n) {
                if (n == 1 && history == 0)
                    pair.first_step(begin, begin + H);
                else
                    pair.step(begin + H * (n - 1), begin + H * n);
                if (n % shared == 0) keep_largest(error, pair.present(), exact.at(n / shared));
            }
        } catch (const run_error&) {
            error.fill(std::numeric_limits<double>::infinity());
        }
        add(curve, H, error);
    }
    find_bands(curve, std::vector<double>(curve.H.size(), 1.0));  // the bodies' memory is about 1 s
    return curve;
}

}  // namespace

order_band find_band(const std::array<std::vector<double>, 2>& error, const std::vector<double>& rounding) {
    constexpr double most = 0.25;
    constexpr int steps = order_band::points - 1;
    order_band band;
    for (int first = static_cast<int>(rounding.size()) - order_band::points; first >= 0; --first) {
        double spread = 0;
        for (const auto& e : error) {
            double low = std::numeric_limits<double>::infinity(), high = -low;
            for (int i = first; i < first + steps; ++i) {
                const bool usable = e[i + 1] > rounding[i + 1] && e[i] > rounding[i] && std::isfinite(e[i]);
                const double slope = usable ? std::log2(e[i] / e[i + 1]) : std::numeric_limits<double>::quiet_NaN();
                low = std::min(slope, low);
                high = std::max(slope, high);
            }
            spread = std::max(high - low, spread);
        }
        if (!(spread <= most)) continue;
        band.first = first;
        band.spread = spread;
        break;
    }
    if (!band.clean()) return band;
    for (std::size_t body = 0; body < 2; ++body) {
        double xy = 0, xx = 0;
        for (int i = 0; i < order_band::points; ++i) {
            const double x = steps / 2.0 - i;  // doublings of H, centred
            xy += x * std::log2(error[body][band.first + i]);
            xx += x * x;
        }
        band.slope[body] = xy / xx;
    }
    return band;
}

order_result measure_order(const extrapolation_rule& rule, const std::string& method, int input_degree) {
    co_simulated_pair pair(rule, method, input_degree);
    exact_grid exact;
    order_result result{rule, method, input_degree, local_errors(pair, rule.K, exact), {}, {}};
    result.exact_history = global_errors(pair, rule.K, exact);
    result.cold_start = global_errors(pair, 0, exact);
    return result;
}

local_order expected_local_order(const extrapolation_rule& rule, int input_degree) {
    const int N = std::min(rule.degree, input_degree);
    return {std::min(rule.R + 1, N + 2), std::min(rule.R, N + 2)};
}

}  // namespace mdpcosim
