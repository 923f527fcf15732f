#include "analysis/longtime.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "analysis/recurrence.hpp"
#include "analysis/stability.hpp"
#include "coupling/eigenvalues.hpp"

namespace mdpcosim {

namespace {

using complex = std::complex<double>;

constexpr double vanishing = 1e-9;          // modulus of an eigenvalue of P
constexpr double stable_radius = 1 + 1e-9;  // over thousands of steps nothing grows visibly
constexpr double most_damping = 20;
constexpr double most_steps = 2e6;

complex slow_mode(const test_system_parameters& p) {
    const Eigen::MatrixXd A = monolithic_matrix(p);
    const Eigen::Vector4cd all = Eigen::EigenSolver<Eigen::MatrixXd>(A, false).eigenvalues();
    complex slow = all[0];
    for (const complex& lambda : all)
        if (lambda.imag() >= 0 && (slow.imag() < 0 || std::abs(lambda) < std::abs(slow))) slow = lambda;
    return slow;
}

double rigid_frequency(const test_system_parameters& p) {
    const double m_B = p.V / (p.frequency_ratio * p.frequency_ratio);
    return std::sqrt((1 + p.V) / (1 + m_B));
}

double radius(test_system_parameters p, double H, double coupling_damping) {
    p.coupling_damping = coupling_damping;
    linear_system system = make_test_system(p);
    recurrence r(system);
    return spectral_radius(r.matrix(H));
}

bool may_have_damping(const test_system_parameters& p) {
    return p.variant == coupling_variant::displacement_displacement || !p.rule.uses_rates;
}

/// 0 where the coupling is stable without, and where no damping helps.
double lowest_stable_damping(const test_system_parameters& p, double H) {
    if (p.variant == coupling_variant::force_force || !may_have_damping(p) || radius(p, H, 0) <= stable_radius)
        return 0;
    double unstable = 0, stable = 1e-5;
    while (radius(p, H, stable) > stable_radius) {
        unstable = stable;
        stable *= 1.3;
        if (stable > most_damping) return 0;
    }
    while (stable - unstable > 1e-6 * stable) {
        const double middle = (stable + unstable) / 2;
        (radius(p, H, middle) <= stable_radius ? stable : unstable) = middle;
    }
    return stable;
}

/// The cubic with the values and slopes of x at both ends of a step of length H: where its slope vanishes, in parts of H.
double turning_point(double x, double v, double x_next, double v_next, double H, double& s) {
    const double d = x_next - x, a = H * (v + v_next) - 2 * d, b = 3 * d - H * (2 * v + v_next);
    double low = 0, high = 1;
    for (int i = 0; i < 60; ++i) {
        s = (low + high) / 2;
        (H * v + s * (2 * b + 3 * a * s) > 0 ? low : high) = s;
    }
    return x + s * (H * v + s * (b + a * s));
}

}  // namespace

modified_equation::modified_equation(const Eigen::MatrixXd& P, double H) {
    Eigen::MatrixXd balanced = P;
    const Eigen::VectorXd scale = balance(balanced);
    const Eigen::EigenSolver<Eigen::MatrixXd> solver(balanced);
    const Eigen::MatrixXcd T = scale.asDiagonal() * solver.eigenvectors();
    const Eigen::MatrixXcd inverse = T.fullPivLu().inverse();
    std::vector<Eigen::Index> kept;
    for (Eigen::Index i = 0; i < P.rows(); ++i)
        if (std::abs(solver.eigenvalues()[i]) > vanishing) {
            kept.push_back(i);
            eigenvalues_.push_back(std::log(solver.eigenvalues()[i]) / H);
        }
    modes_ = T(Eigen::all, kept);
    inverse_ = inverse(kept, Eigen::all);
}

complex modified_equation::nearest(complex exact) const {
    return *std::min_element(eigenvalues_.begin(), eigenvalues_.end(), [&](const complex& a, const complex& b) {
        return std::abs(a - exact) < std::abs(b - exact);
    });
}

Eigen::VectorXd modified_equation::solution(double t, const Eigen::VectorXd& r) const {
    Eigen::VectorXcd amplitudes = inverse_ * r;
    for (std::size_t i = 0; i < eigenvalues_.size(); ++i) amplitudes[i] *= std::exp(eigenvalues_[i] * t);
    return (modes_ * amplitudes).real();
}

bool longtime_case::stable() const { return rho <= 1 + stability_tolerance; }

double longtime_case::amplitude_after(int periods) const {
    return std::exp(-damping_error() * periods * 2 * std::numbers::pi / exact.imag());
}

longtime_case analyse_variant(const test_system_parameters& given, double H, std::optional<double> coupling_damping) {
    test_system_parameters p = given;
    p.coupling_damping = coupling_damping.value_or(lowest_stable_damping(p, H));
    linear_system system = make_test_system(p);
    recurrence r(system);
    const Eigen::MatrixXd& P = r.matrix(H);
    longtime_case c;
    c.variant = p.variant;
    c.rule = p.rule;
    c.coupling_damping = p.coupling_damping;
    c.recurrence_eigenvalues = eigenvalues(P);
    c.rho = spectral_radius(P);
    c.exact = slow_mode(p);
    if (!(c.exact.imag() > 0))
        throw std::invalid_argument(
            fmt::format("the slow mode does not oscillate with damping {} and coupling damping {}, so that it has no "
                        "frequency to keep; take less",
                        p.damping, p.coupling_damping));
    c.modified = modified_equation(P, H).nearest(c.exact);
    return c;
}

namespace {

longtime_case analyse_variant(const longtime_settings& settings, const test_system_parameters& system,
                              coupling_variant variant, double H) {
    test_system_parameters p = system;
    p.variant = variant;
    const bool force = variant == coupling_variant::force_force;
    if (!force) p.rule = settings.displacement_rule;
    return analyse_variant(p, H, force ? 0 : settings.coupling_damping);
}

}  // namespace

longtime_result analyse_longtime(const longtime_settings& settings, const std::vector<coupling_variant>& variants) {
    longtime_result result;
    result.settings = settings;
    result.rigid_frequency = rigid_frequency(settings.system);
    stability_scan scan(settings.system);
    if (settings.step) {
        result.H = *settings.step;
        result.why_H = "as given";
    } else if (const stability_limit limit = scan.limit(); limit.outcome == stability_limit::kind::limit) {
        result.H = limit.omega_max / 5;
        result.why_H = fmt::format("a fifth of the force-force coupling's limit {:.4g}", limit.omega_max);
    } else {
        result.H = 0.2 / scan.highest_frequency();
        result.why_H = "a fifth over the highest frequency, the force-force coupling having no limit";
    }
    for (const coupling_variant variant : variants)
        result.cases.push_back(analyse_variant(settings, settings.system, variant, result.H));
    return result;
}

std::vector<longtime_sweep> sweep_stiffness_ratio(const longtime_result& result,
                                                  const std::vector<double>& frequency_ratios) {
    constexpr int points = 25;
    std::vector<longtime_sweep> all;
    for (const auto& shown : result.cases)
        for (const double ratio : frequency_ratios) {
            longtime_sweep sweep{shown.variant, ratio, {}, {}, {}};
            for (int i = 0; i < points; ++i) {
                test_system_parameters p = result.settings.system;
                p.V = std::pow(10, -1 + 2.0 * i / (points - 1));
                p.frequency_ratio = ratio;
                const longtime_case c = analyse_variant(result.settings, p, shown.variant, result.H);
                const double none = std::numeric_limits<double>::quiet_NaN();
                sweep.V.push_back(p.V);
                sweep.frequency_error.push_back(c.stable() ? c.frequency_error() / c.exact.imag() : none);
                sweep.damping_error.push_back(c.stable() ? c.damping_error() / c.exact.imag() : none);
            }
            all.push_back(std::move(sweep));
        }
    return all;
}

test_system_parameters parameters_of(const longtime_result& result, const longtime_case& c) {
    test_system_parameters p = result.settings.system;
    p.variant = c.variant;
    p.rule = c.rule;
    p.coupling_damping = c.coupling_damping;
    return p;
}

longtime_run run_longtime(const test_system_parameters& p, double H, double duration) {
    linear_system running = make_test_system(p);
    const double period = 2 * std::numbers::pi / slow_mode(p).imag();
    longtime_run run;
    const auto note = [&] {
        const auto y = running.system.subsystems->outputs();
        run.x.push_back(y[0]);
        run.v.push_back(y[1]);
    };
    note();
    // A coupling that grows is shown until it leaves the picture.
    const auto steps = static_cast<std::int64_t>(std::min(duration / H, most_steps));
    for (std::int64_t n = 0; n < steps && std::abs(run.x.back()) < 1e3; ++n) {
        const double t = static_cast<double>(n) * H;
        running.chosen->step(running.system, {t, static_cast<double>(n + 1) * H, n});
        const double x = run.x.back(), v = run.v.back();
        note();
        if (!(x > 0 && v > 0 && run.v.back() <= 0)) continue;
        double s = 0;
        run.turning.push_back(turning_point(x, v, run.x.back(), run.v.back(), H, s));
        run.period.push_back((t + s * H) / period);
    }
    return run;
}

}  // namespace mdpcosim
