#pragma once

#include <span>
#include <string>
#include <vector>

#include "fmi/instance.hpp"
#include "fmu/layout.hpp"

namespace mdpcosim {

/// How the rates of an FMU's outputs answer at once to its inputs, d(dy/dt)/du, by its directional derivatives:
///   y a state                   the derivative of dx/dt by u
///   y whose rate is an output   the derivative of that output by u
///   y a function of states      dy/dx times the derivatives of dx/dt by u
/// Call order: assign() once the sizes of arrays are fixed, then get() any number of times; it allocates nothing.
class fmu_sensitivities {
   public:
    fmu_sensitivities() = default;
    /// Nothing is known where the FMU does not provide directional derivatives.
    fmu_sensitivities(const fmi::description& fmu, const fmi::interface_description& offers, const fmu_layout& layout);

    bool knows(int output) const { return !ways_.empty() && ways_[static_cast<std::size_t>(output)].known(); }
    bool empty() const { return ways_.empty(); }

    /// `needed` by output slot; empty: all.
    void assign(const fmi::instance& instance, const fmu_layout& layout, const std::vector<bool>& needed);
    /// In SI units, by output slot; NaN where it is not known. What the FMU says where it does not answer, and from then on all is NaN.
    std::string get(fmi::instance& instance, int which, std::span<double> by_output);

   private:
    struct way {
        int unknown = -1;  ///< variable whose derivative is asked for, one of the rates or, with states, of the outputs
        double factor = 1;        ///< to SI
        std::vector<int> states;  ///< that the output is a function of
        bool known() const { return unknown >= 0; }
    };
    /// Variables that are asked for together, and where their elements begin.
    struct group {
        std::vector<int> variables;
        std::vector<std::size_t> first;
        fmi::value_block block;
        std::vector<double> values;
        std::size_t add(const fmi::description& fmu, int variable);
        void finish(const fmi::instance& instance);
    };
    struct entry {
        int slot;
        std::size_t at;
        double factor;
    };
    struct input {
        std::size_t block = 0, element = 0;  ///< arrays share a block
        double factor = 0;                   ///< from SI; 0: no such derivatives
    };
    struct copy {
        std::size_t from, count;
    };

    std::vector<way> ways_;  ///< by output slot
    std::vector<input> inputs_;
    std::vector<fmi::value_block> blocks_;  ///< of inputs
    std::vector<double> seed_;              ///< zeros
    group rates_, outputs_, states_;
    std::vector<copy> seeds_;  ///< by state: of rates_.values
    std::vector<entry> by_rate_, by_states_;
    bool failed_ = false;
};

}  // namespace mdpcosim
