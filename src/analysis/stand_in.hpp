#pragma once

#include <functional>
#include <map>

#include "analysis/identification.hpp"
#include "analysis/test_system.hpp"
#include "coupling/law.hpp"

/// A scenario with its subsystems replaced by what was identified of them: the network, the extrapolations and the method are those of a run.
namespace mdpcosim {

/// All subsystems near one state, and the slopes of the laws there.
struct identified_system {
    operating_point at;
    std::vector<identified_subsystem> subsystems;
    std::map<std::string, law_slope> slopes,
        steepest;                    ///< by connection; in the state, and the largest seen in a short run
    std::vector<std::string> kinks;  ///< of laws
    bool moving_slopes = false;      ///< a steepest slope is not that of the state
    double seen_until = 0;           ///< of the short run
};

/// Identifies every subsystem of a scenario in its initial state. `told` hears of what takes time. `quick`: without trials, and with a shorter look
/// at how laws move.
identified_system identify(const scenario& s, const std::function<void(const std::string&)>& told, bool quick = false);

/// The coupled system x' = M x at these slopes of the laws, without any coupling error; integrals that the network forms are states at the end.
Eigen::MatrixXd coupled_matrix(const assembly& parts, const std::vector<identified_subsystem>& subsystems,
                               const std::map<std::string, law_slope>& slopes);

/// Distances from the state: no drift, laws with constant slopes. Initialised at zero. A user_error says why the scenario's method cannot be.
linear_system make_linear_system(const scenario& s, const identified_system& known,
                                 const std::map<std::string, law_slope>& slopes);

/// The same with drift, from the state itself, and with the laws as they are; initialised at the scenario's start.
assembly make_stand_in(const scenario& s, const identified_system& known);

}  // namespace mdpcosim
