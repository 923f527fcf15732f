#pragma once

#include <Eigen/Core>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/linear_subsystem.hpp"
#include "simulation/simulation.hpp"

/// The subsystems of a scenario as linear ones near a state, without disturbing any run.
///
///     x' = f + A x + B (u - u0) ,  y = y0 + C x + D (u - u0)
///
/// x is the distance from the state, where it is known. The first way that a subsystem offers is taken:
///   equations   its own right-hand side and outputs, differentiated: exactly where it gives a Jacobian, by central differences else
///   trials      runs of instances of its own (of one, where it saves and restores): once as it is, then with a step of each coupled input.
///               The answers at equal times give a discrete system (Juang, Pappa: An eigensystem realization algorithm for modal parameter
///               identification and model reduction, J. Guidance 8 (1985)), whose logarithm is the one above. Positions are integrals of
///               velocities, accelerations their derivatives.
///   itself      a sampled subsystem of this program, which is the same between two samples: it takes part as it is
/// What nothing drives is a source; what can be known by no way is excluded, with the reason.
namespace mdpcosim {

struct identified_subsystem {
    enum class way { equations, trials, itself, source, excluded };

    std::string name;
    way how = way::excluded;
    std::string why;  ///< it is excluded, and what would help
    linear_equations eq;
    Eigen::VectorXd f, start;               ///< drift, and x in the state itself (zero, but for trials)
    Eigen::VectorXd u0, y0;                 ///< by slot
    Eigen::VectorXd moved;                  ///< by input slot: how far it went in a short run, 0: not at all
    std::vector<std::complex<double>> own;  ///< eigenvalues of A
    std::vector<std::string> kinks;         ///< where a slope from the left is not that from the right
    double misfit = 0;  ///< trials: the part of the answers over a longer window that the model misses
    std::int64_t instances = 0, advances = 0;  ///< that identification took
    subsystem_description description;
    capabilities offers;

    Eigen::Index states() const { return eq.A.rows(); }
};

const char* word_for(identified_subsystem::way how);

/// Which slots of a subsystem couple.
struct coupled_slots {
    std::vector<int> inputs, outputs;
};
std::vector<coupled_slots> find_coupled_slots(const assembly& parts);

/// The state at which subsystems are looked at.
struct operating_point {
    double t = 0;
    std::vector<double> inputs, outputs;  ///< of all subsystems, by slot
};

/// Whether it shows equations, not too many.
bool shows_equations(const scenario& s, std::size_t subsystem);
/// With its own equations; false: it shows none.
bool identify_by_equations(const scenario& s, std::size_t subsystem, const operating_point& at,
                           identified_subsystem& into);

/// The trials of one subsystem.
class trial_runs {
   public:
    trial_runs(const scenario& s, const operating_point& at, coupled_slots slots, identified_subsystem& into);
    ~trial_runs();

    /// A model that is an integrator at every output, from one step of that length: enough to tell how fast the coupled system is.
    void look_once(double dt);
    /// The whole model, from `count` steps.
    void identify(double dt, int count);
    /// Compares it with steps of another length.
    void confirm(double dt, int count);

   private:
    struct impl;
    std::unique_ptr<impl> self_;
};

}  // namespace mdpcosim
