#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "coupling/coupling_structure.hpp"

/// Joints in a whole scenario as one system. Its index is reduced: the multipliers are those with which the second rates of all
/// equations of joints are zero. Accelerations are linear in the loads, so that their answers to unit multipliers, found by evaluating the
/// subsystems' outputs, give a linear system. What numerical integration lets drift is projected back onto g = 0 and dg/dt = 0 by the smallest
/// change of the states.
namespace mdpcosim {

class composite_joints {
   public:
    /// Outputs of one subsystem for inputs and states of all, written to its place among those of all.
    using evaluation = std::function<void(subsystem_index, const double* x, const double* inputs, double* y)>;
    /// Where the states of a subsystem stand.
    struct range {
        std::size_t first, count;
    };

    composite_joints() = default;
    /// states: by subsystem.
    composite_joints(std::vector<joint_connection> all, std::vector<range> states);

    bool empty() const { return all_.empty(); }
    /// That have a joint, each once.
    std::span<const subsystem_index> subsystems() const { return subsystems_; }

    /// Outputs y that belong to the inputs without loads of joints; u: multipliers and loads are entered.
    void hold(const double* x, std::span<const double> inputs, std::span<const double> y, std::span<double> u,
              const evaluation& evaluate);
    /// Throws user_error where the initial state violates a joint, or joints hold something twice. After hold().
    void check_start() const;
    /// Corrects x where it violates joints; true: it was changed.
    bool project(double* x, std::span<const double> inputs, std::span<double> y, const evaluation& evaluate);

   private:
    struct place {
        std::size_t multiplier, load;  ///< first of the joint; loads: [end][equation][component]
    };
    void evaluate_joint(std::size_t j, std::span<const double> y, jet* g, jet* first, jet* second) const;
    void evaluate_all(std::span<const double> y);
    bool joins(std::size_t j, subsystem_index s) const {
        return all_[j].ends[0].subsystem == s || all_[j].ends[1].subsystem == s;
    }
    double unit_load(std::size_t j, std::size_t end, std::size_t equation, std::size_t component) const;
    std::string equation_name(std::size_t multiplier) const;

    std::vector<joint_connection> all_;
    std::vector<range> states_;
    std::vector<subsystem_index> subsystems_;
    std::vector<place> places_;
    std::size_t multipliers_ = 0;
    std::vector<jet> g_, loads_;
    mutable std::vector<double> motion_[2];
    std::vector<double> A_, inputs_, y_;  ///< A_: answers of the second rates, column-major
};

}  // namespace mdpcosim
