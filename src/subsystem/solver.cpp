#include "subsystem/solver.hpp"

namespace mdpcosim {

std::string solver::why_not(const equations& model) const {
    if (!has_algebraic_states(model)) return {};
    return "the model has algebraic variables, which only the solver ida integrates; write solver: ida";
}

}  // namespace mdpcosim
