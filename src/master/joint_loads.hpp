#pragma once

#include <array>
#include <vector>

#include "master/coupled_system.hpp"

/// What joints give to their ports during a macro step: multipliers, which are polynomials, times the loads per unit, which turn with
/// the ports. These are known with two rates at both ends of a step: between them a polynomial of fifth degree stands for them. The products
/// are interpolated at Gauss points by the highest degree that inputs take, which keeps their moments. After construction nothing allocates.
namespace mdpcosim {

/// Residuals and loads per unit of all joints, by multiplier and by (joint, port, equation, component).
struct joint_state {
    std::vector<jet> residuals, loads;
};

class joint_loads {
   public:
    joint_loads() = default;
    explicit joint_loads(const coupled_system& system);

    std::size_t multipliers() const { return multipliers_; }
    joint_state make_state() const { return {std::vector<jet>(multipliers_), std::vector<jet>(loads_)}; }
    /// From outputs of all subsystems; where `of` is given, its outputs are taken from `y_of`.
    void evaluate(const coupled_system& system, std::span<const double> y, joint_state& into) const {
        for (std::size_t j = 0; j < system.joints.size(); ++j) evaluate(system, j, y, y, {}, into);
    }
    void evaluate(const coupled_system& system, std::size_t joint, std::span<const double> y,
                  std::span<const double> y_of, subsystem_index of, joint_state& into) const;
    std::size_t first_multiplier(std::size_t joint) const { return places_[joint].multiplier; }
    /// In joint_state::loads.
    std::size_t index(std::size_t joint, int port, int component, int equation) const;

    /// Loads per unit over a step of length H: as they went on from `before` to `now` over the last step, of length H_before; H_before = 0:
    /// as their rates `now` say.
    void go_on(const joint_state& before, const joint_state& now, double H_before, double H);
    /// From `now` to `end`.
    void lead(const joint_state& now, const joint_state& end, double H);

    /// The load of component `component` at a port (0, 1) of a joint.
    polynomial load(std::size_t joint, int port, int component, std::span<const polynomial> multipliers) const;
    /// The same of one multiplier alone.
    polynomial load_of(std::size_t joint, int port, int component, int equation, const polynomial& multiplier) const;
    /// The loads of all joints, handed to the network and, as values at the end of the step, to u.
    void impose(coupled_system& system, std::span<const polynomial> multipliers) const;

   private:
    static constexpr std::size_t nodes = max_degree + 1;
    struct course {
        std::array<double, nodes> at;
        bool constant;
    };
    struct place {
        std::size_t multiplier, load;  ///< first of the joint
        int equations, components;     ///< components: of one port
    };
    polynomial interpolated(const std::array<double, nodes>& values) const;

    std::vector<place> places_;  ///< by joint
    std::size_t multipliers_ = 0, loads_ = 0;
    std::vector<course> course_;  ///< of the loads per unit
    double H_ = 0;
};

}  // namespace mdpcosim
