#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/error.hpp"
#include "subsystem/solver.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// How equations get new values of their parameters, and a subsystem begins anew: equations are made again and take over the state, a solver
/// is made again.
template <class Equations>
struct tuning {
    std::vector<tunable_parameter> parameters = {};
    /// With this change (parameter -1: none) and all changes before that were accepted. A user_error leaves everything as it was.
    std::function<std::unique_ptr<Equations>(int parameter, double value)> make_equations = {};
    std::function<void()> accept = {};                          ///< the equations made last are used
    std::function<std::unique_ptr<solver>()> make_solver = {};  ///< none where there are no equations to be integrated
};

/// Of the equations of an entry whose source shows some; made with make_equations(-1, 0) at first.
std::unique_ptr<tuning<equations>> tuning_of_equations(const struct subsystem_spec& spec);

/// The equations made again, which must have the structure of those they replace: the master was built on it.
template <class Equations>
std::unique_ptr<Equations> tuned(const tuning<Equations>& t, const Equations& now, int parameter, double value) {
    auto made = t.make_equations(parameter, value);
    if (made->state_count() != now.state_count() || !same_structure(made->describe(), now.describe()))
        throw user_error(
            "with this value the model has other states, outputs, rates or feed-through than before (a factor of 0 or "
            "1 that vanishes, a "
            "number of parts), which only a new simulation can have.");
    t.accept();
    return made;
}

}  // namespace mdpcosim
