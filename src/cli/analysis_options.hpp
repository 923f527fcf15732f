#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace mdpcosim {

/// Options of `stability`, `order` and `longtime`, each declared here once. Values are read when they are asked for; a wrong one
/// leaves as user_error that begins with the option.
class analysis_options {
   public:
    /// --extrapolation (any number), --method, --input-degree
    void add_coupling(CLI::App& command, const std::string& default_extrapolations);
    /// --variant (any number), --F (any number), --V, --frequency-ratio, --mass-ratio, --damping
    void add_test_system(CLI::App& command);
    /// --json, --svg, --html
    void add_output(CLI::App& command);

    /// Names, or own coefficients as in a scenario; the defaults where none was given.
    std::vector<std::string> extrapolations(std::vector<std::string> defaults) const;
    std::vector<std::string> variants(std::vector<std::string> defaults) const;
    const std::string& method() const { return method_; }
    /// The highest degree of polynomial that the subsystems' inputs take.
    int input_degree() const;

    std::vector<double> F(std::vector<double> defaults) const;
    /// Any two of V, the frequency ratio and the mass ratio give the third: V = mass ratio * frequency ratio^2. What was not
    /// given is 1 (the mass ratio follows).
    double V() const;
    double frequency_ratio() const;
    std::optional<double> mass_ratio() const;  ///< as given
    double damping() const;

    bool json() const { return json_; }
    const std::optional<std::string>& svg() const { return svg_; }
    const std::optional<std::string>& html() const { return html_; }

   private:
    std::vector<std::string> extrapolations_, variants_, F_;
    std::string method_ = "explicit";
    std::optional<std::string> V_, frequency_ratio_, mass_ratio_, damping_, input_degree_;
    std::optional<std::string> svg_, html_;
    bool json_ = false;
};

}  // namespace mdpcosim
