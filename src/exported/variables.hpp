#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "subsystem/subsystem.hpp"

/// What a host of an exported FMU can read and write. The exporter writes the list into the FMU's resources; inside the FMU it says what a value
/// reference is: that of a variable is its place, counted from 1.
namespace mdpcosim {

struct exported_variable {
    /// Parameters count from the initialisation on, tunable ones also between steps. Of single subsystems made of equations also their states,
    /// the derivatives of these, and event indicators, each by its place.
    enum class role { output, input, parameter, tunable, state, derivative, indicator };

    role what = role::output;
    variable_type type = variable_type::real;  ///< or integer, boolean
    double start = 0;                          ///< SI; of inputs and parameters
    std::string address;                       ///< `engine.shaft.angle`; of a single subsystem `shaft.angle`

    bool settable() const { return what == role::input || is_parameter(); }
    bool is_parameter() const { return what == role::parameter || what == role::tunable; }
};

/// What the FMU is: its token, the subsystem that it is (empty: a whole scenario), its variables.
struct exported_contents {
    std::string token, subsystem;
    std::vector<exported_variable> variables;
};

/// One line each; reads back as the same, to the last digit.
std::string write_contents(const exported_contents& contents);
/// Throws user_error for anything else.
exported_contents read_contents(std::string_view text);

/// Names in the resources folder of an exported FMU.
inline constexpr const char* exported_scenario_file = "scenario.yaml";
inline constexpr const char* exported_contents_file = "variables.txt";

}  // namespace mdpcosim
