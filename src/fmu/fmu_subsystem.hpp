#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scenario/spec.hpp"
#include "subsystem/equations.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// The subsystem of an entry with `fmu:` that runs through co-simulation: the FMU brings its own solver.
///
/// Inputs over a step: as polynomials through input derivatives (FMI 2.0) or intermediate updates (3.0) where the FMU offers
/// them, else held at what the master gives (its mean over the step). Between initialise() and the first step the FMU
/// stays in its initialisation mode, where outputs follow inputs at once; afterwards outputs() sets inputs and reads
/// outputs without a step between. FMUs whose outputs change in a step only answer with those of the last step.
std::unique_ptr<subsystem> make_fmu_co_simulation(const subsystem_spec& spec);

/// The equations of an entry with `fmu:` that runs through model exchange, for the solvers of native models and for the
/// reference. The FMU's events are those of the equations: its indicators are state events, what it asks for after a micro
/// step and at its own times are updates of its discrete part, as are changes of its discrete inputs.
std::unique_ptr<equations> make_fmu_equations(const subsystem_spec& spec);

/// A macro step that the FMU cannot take is a user error with the nearest that it can.
void check_fmu_step(const subsystem_spec& spec, double H);
/// The same for a last step, up to `end`, that is shorter than the others; what there is to say where the FMU may refuse it.
std::string check_last_fmu_step(const subsystem_spec& spec, double H, double last, double end);

/// Which of its clocks nobody lets tick: a sentence, empty where there are none. An input of `driven` that only such a clock would let in is a
/// user error.
std::string check_fmu_clocks(const subsystem_spec& spec, const std::function<bool(const std::string& input)>& driven);

/// Where driven parameters act late: a sentence, empty where none does.
std::string check_driven_parameters(const subsystem_spec& spec);

/// A parameter whose value the description names.
struct declared_parameter {
    std::string name;
    double value = 0;  ///< SI
};
/// Numbers among the parameters of the FMU that the scenario leaves alone; at most so many.
std::vector<declared_parameter> declared_parameters(const subsystem_spec& spec, std::size_t most);

/// A parameter that the FMU does not have at the value that its description says.
struct other_parameter {
    std::string name;
    double is, said;  ///< SI
};
/// Of `parameters`, which are outputs of the subsystem.
std::vector<other_parameter> other_parameters(const std::vector<declared_parameter>& parameters,
                                              const subsystem_description& described, std::span<const double> y);

/// Of `others` those that are as the description says once they are given it. An FMU that gives other values back whatever it is given, having converted
/// them, say, waits for nothing. The FMU of `spec` is started and does one step.
std::vector<other_parameter> waiting_parameters(subsystem_spec spec, double start, double step,
                                                std::vector<other_parameter> others);

/// Variables of a co-simulation of which the FMU does not say what they depend on: by the standard on all inputs.
std::vector<std::string> silent_fmu_outputs(const subsystem_spec& spec);

}  // namespace mdpcosim
