#pragma once

#include <string>
#include <vector>

#include "fmi/instance.hpp"
#include "fmu/settings.hpp"
#include "fmu/units.hpp"
#include "scenario/spec.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// The FMU's variable behind an input or output slot.
struct fmu_use {
    int variable = -1;  ///< index in the FMU's description
    int element = 0;    ///< of an array
    fmu_unit unit;
    bool derivative = false;  ///< not the variable but its time derivative, which the FMU gives as output derivative
    bool discrete = false;    ///< an input that is set at events only, whatever the master makes of it
    bool clocked = false;     ///< an input that is set at the ticks of clocks only
    bool clock = false;       ///< a clock of the FMU: an output, or an input that signals let tick
    double scale = 1;  ///< the slot's value over the variable's, as a port says (`force: -F`); `unit` knows of it
};

/// The outside of an FMU. Elements of arrays are variables of their own, `x[0]`, `x[1]`, row by row.
struct fmu_layout {
    subsystem_description description;
    std::vector<fmu_use> inputs, outputs;            ///< by slot
    std::vector<fmu_use> text_inputs, text_outputs;  ///< the same, of strings and binaries
    std::vector<bool> silent;                        ///< by output slot: what it depends on is not said (co-simulation)
    std::vector<std::string> clocks;                 ///< input clocks that tick, and when
    std::vector<std::string> left_out;               ///< inputs and outputs that cannot be coupled, and why
};

/// Inputs are those of the FMU; outputs are its outputs, then the variables that ports and `outputs` name, then rates. What
/// depends on what is taken from the model structure. Where that is silent, outputs of model exchange hang on all inputs; those of
/// co-simulation are marked as silent. Mistakes in ports and outputs are user errors.
fmu_layout lay_out_fmu(const fmi::description& fmu, fmi::kind kind, const subsystem_spec& spec,
                       const std::vector<fmu_start>& starts);

/// `phi`, `q[2]` as variable and element; variable -1 where there is none.
struct fmu_element {
    int variable = -1;
    int element = 0;
};
fmu_element find_element(const fmi::description& fmu, const std::string& name);

/// Why a variable cannot be set at macro points, or a clock cannot tick there (`driven`), and the way out; empty: it can.
std::string why_not_driven(const fmi::description& fmu, const fmi::variable& v);

/// The start value of one element in the FMU's unit; `fallback` where the FMU gives none.
double start_value(const fmi::variable& v, int element, double fallback);

}  // namespace mdpcosim
