#include "analysis/stability.hpp"

#include <algorithm>
#include <cmath>

namespace mdpcosim {

namespace {

constexpr double neutral = 1e-11;
constexpr double search_end = 20;  // in units of 1 / (highest frequency)
constexpr double own_end = 3;      // in units of 1 / (highest frequency of a body by itself), for stiff couplings
constexpr double own_step = 0.01;  // and the grid's step there

}  // namespace

stability_scan::stability_scan(const test_system_parameters& p)
    : system_(make_test_system(p)),
      recurrence_(system_),
      solver_(recurrence_.size()),
      own_(std::max(1.0, p.frequency_ratio)) {
    balanced_ = monolithic_matrix(p);
    exact_ = solver_.compute(balanced_, false).eigenvalues();
    highest_ = exact_.cwiseAbs().maxCoeff();
}

void stability_scan::solve(double omega) {
    balanced_ = recurrence_.matrix(omega);
    balance(balanced_);
    solver_.compute(balanced_, false);
}

double stability_scan::radius(double omega) {
    solve(omega);
    return solver_.eigenvalues().cwiseAbs().maxCoeff();
}

stability_scan::sample stability_scan::look(double omega) {
    solve(omega);
    sample s{omega, 0, 0};
    for (const auto& value : solver_.eigenvalues()) {
        const double modulus = std::abs(value);
        s.rho = std::max(s.rho, modulus);
        if (std::abs(modulus - 1) > neutral) s.free = std::max(s.free, modulus);
    }
    return s;
}

/// The maximum of `free` between left and right by golden section, until it is above `enough` or located.
stability_scan::sample stability_scan::highest_between(sample left, sample middle, sample right, double enough) {
    constexpr double golden = 0.3819660112501051;
    while (right.omega - left.omega > 1e-6 * right.omega && middle.rho <= enough) {
        const bool upper = right.omega - middle.omega > middle.omega - left.omega;
        const double omega = upper ? middle.omega + golden * (right.omega - middle.omega)
                                   : middle.omega - golden * (middle.omega - left.omega);
        const sample tried = look(omega);
        if (tried.free > middle.free) {
            (upper ? left : right) = middle;
            middle = tried;
        } else {
            (upper ? right : left) = tried;
        }
    }
    return middle;
}

stability_limit stability_scan::limit(double tolerance, double resolution) {
    const double step = resolution / highest_, fine_end = search_end / highest_, border = 1 + tolerance;
    const double end = std::max(fine_end, own_end / own_);
    stability_limit found;
    double stable = 0, unstable = 0;
    sample before_last{}, last{};
    for (int i = 1; unstable == 0; ++i) {
        const double omega = i * step <= fine_end ? i * step : last.omega + std::max(step, own_step / own_);
        if (omega > end) {
            found.outcome = stability_limit::kind::unbounded;
            found.omega_max = last.omega;
            return found;
        }
        const sample now = look(omega);
        stable = last.omega;
        if (last.free > 0.9 && last.free >= before_last.free && last.free >= now.free) {
            const sample peak = highest_between(before_last, last, now, border);
            if (peak.rho > border) {
                unstable = peak.omega;
                if (peak.omega <= last.omega) stable = before_last.omega;
                break;
            }
            found.rho_max_below = std::max(found.rho_max_below, peak.rho);
        }
        if (now.rho > border) {
            unstable = now.omega;
            break;
        }
        found.rho_max_below = std::max(found.rho_max_below, now.rho);
        before_last = last;
        last = now;
    }
    while (unstable - stable > 1e-9 * unstable) {
        const double middle = (stable + unstable) / 2;
        (radius(middle) <= border ? stable : unstable) = middle;
    }
    found.omega_max = stable;
    const double half = radius(stable / 2) - 1, quarter = radius(stable / 4) - 1;
    if (half > 1e-10 && quarter > 1e-11) {
        found.outcome = stability_limit::kind::none;
        found.growth = std::log2(half / quarter);
    }
    return found;
}

double stability_scan::physical_error(double omega) {
    solve(omega);
    double largest = 0;
    for (const auto& exponent : exact_) {
        const std::complex<double> exact = std::exp(exponent * omega);
        double nearest = 1;
        for (const auto& value : solver_.eigenvalues()) nearest = std::min(nearest, std::abs(value - exact));
        largest = std::max(largest, nearest);
    }
    return largest;
}

int stability_scan::order() {
    constexpr double rounding = 3e-11;
    double omega = 0.4 / highest_, error = physical_error(omega), slope = 0;
    for (double next = 1; next > rounding; error = next) {
        next = physical_error(omega /= 2);
        if (next > rounding || slope == 0) slope = std::log2(error / next);
    }
    return static_cast<int>(std::lround(slope)) - 1;
}

}  // namespace mdpcosim
