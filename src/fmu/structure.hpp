#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fmi/description.hpp"

namespace mdpcosim {

/// What an FMU's model structure says about its variables; aliases (same type and value reference) share it.
class fmu_structure {
   public:
    explicit fmu_structure(const fmi::description& fmu);

    /// The inputs that the variable depends on without a state between, as indices of variables; nothing where the FMU does
    /// not say.
    std::optional<std::vector<int>> direct_inputs(int variable) const;
    /// The variable that is its time derivative; -1: there is none.
    int derivative_of(int variable) const;
    /// False when the rate of the variable is known to depend on states only.
    bool rate_needs_input(int variable) const;
    /// What the model structure says of an output or derivative; nullptr: nothing.
    const fmi::unknown* unknown(int variable) const;
    bool is_state(int variable) const { return derivative_of(variable) >= 0; }

   private:
    std::uint64_t key(int variable) const;
    const fmi::variable& at(int variable) const { return fmu_.variables[static_cast<std::size_t>(variable)]; }

    const fmi::description& fmu_;
    std::unordered_map<std::uint64_t, int> derivatives_;
    std::unordered_map<std::uint64_t, const fmi::unknown*> unknowns_;
};

}  // namespace mdpcosim
