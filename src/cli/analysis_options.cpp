#include "cli/analysis_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/numbers.hpp"
#include "core/error.hpp"
#include "core/polynomial.hpp"

namespace mdpcosim {

namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& text, const std::string& reason) {
    throw user_error(fmt::format("{} {}: {}", option, text, reason));
}

/// Of stiffnesses, masses or frequencies. Beyond these bounds double precision cannot tell the modes apart.
double ratio(const std::string& option, const std::string& text) {
    const double value = positive_number(option, text);
    if (value < 1e-6 || value > 1e6) refuse(option, text, fmt::format("'{}' must lie between 1e-6 and 1e6.", text));
    return value;
}

}  // namespace

void analysis_options::add_coupling(CLI::App& command, const std::string& default_extrapolations) {
    command
        .add_option("--extrapolation", extrapolations_,
                    fmt::format("Extrapolations (mdpcosim list extrapolations), or own coefficients "
                                "'{{degree: 1, a: [...], b: [...]}}'; default: {}",
                                default_extrapolations))
        ->type_name("E");
    command.add_option("--method", method_, "Method of the macro step (mdpcosim list methods)")->type_name("M");
    command
        .add_option("--input-degree", input_degree_,
                    "Highest degree of polynomial that the inputs take; others are projected (default: any)")
        ->type_name("D");
}

void analysis_options::add_test_system(CLI::App& command) {
    command
        .add_option("--variant", variants_,
                    "What is exchanged: force-force, force-displacement, displacement-displacement")
        ->type_name("NAME");
    command.add_option("--F", F_, "Stiffness of the coupling over that of subsystem A, c/c_A; 10^1/2 is read, too")
        ->type_name("X");
    command.add_option("--V", V_, "Stiffness of subsystem B over that of A, c_B/c_A (default: 1)")->type_name("X");
    command
        .add_option("--frequency-ratio", frequency_ratio_,
                    "Eigenfrequency of subsystem B over that of A, omega_B/omega_A (default: 1)")
        ->type_name("X");
    command
        .add_option("--mass-ratio", mass_ratio_,
                    "Mass of subsystem B over that of A; V = mass ratio * frequency ratio^2, give two of the three")
        ->type_name("X");
    command
        .add_option("--damping", damping_,
                    "Damping ratio of both subsystems by themselves, d/(2 sqrt(c m)) (default: 0)")
        ->type_name("X");
}

void analysis_options::add_output(CLI::App& command) {
    command.add_flag("--json", json_, "One JSON document");
    command.add_option("--svg", svg_, "Also write the picture into this file")->type_name("FILE");
    command.add_option("--html", html_, "Also write tables, curves and maps into this file, a page for the browser")
        ->type_name("FILE");
}

std::vector<std::string> analysis_options::extrapolations(std::vector<std::string> defaults) const {
    if (extrapolations_.empty()) return defaults;
    return extrapolations_;
}

std::vector<std::string> analysis_options::variants(std::vector<std::string> defaults) const {
    if (variants_.empty()) return defaults;
    return variants_;
}

int analysis_options::input_degree() const {
    return input_degree_ ? whole_number("--input-degree", *input_degree_, 0, max_degree) : max_degree;
}

std::vector<double> analysis_options::F(std::vector<double> defaults) const {
    if (F_.empty()) return defaults;
    std::vector<double> values;
    for (const auto& text : F_) values.push_back(ratio("--F", text));
    return values;
}

double analysis_options::V() const {
    if (V_) return ratio("--V", *V_);
    if (!mass_ratio_) return 1;
    const double k = frequency_ratio();
    return ratio("--mass-ratio", *mass_ratio_) * k * k;
}

double analysis_options::frequency_ratio() const {
    if (V_ && mass_ratio_) {
        const double from_masses = std::sqrt(ratio("--V", *V_) / ratio("--mass-ratio", *mass_ratio_));
        if (frequency_ratio_ && std::abs(ratio("--frequency-ratio", *frequency_ratio_) / from_masses - 1) > 1e-9)
            refuse("--frequency-ratio", *frequency_ratio_,
                   fmt::format("with --V {} and --mass-ratio {} the frequency ratio is {}. Give two of the three.", *V_,
                               *mass_ratio_, from_masses));
        return from_masses;
    }
    return frequency_ratio_ ? ratio("--frequency-ratio", *frequency_ratio_) : 1;
}

std::optional<double> analysis_options::mass_ratio() const {
    return mass_ratio_ ? std::optional(ratio("--mass-ratio", *mass_ratio_)) : std::nullopt;
}

double analysis_options::damping() const { return damping_ ? number_not_negative("--damping", *damping_) : 0; }

}  // namespace mdpcosim
