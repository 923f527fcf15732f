#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/parameter.hpp"
#include "core/port_kind.hpp"
#include "core/registry.hpp"
#include "coupling/jet.hpp"

/// Joints: m equations g = 0 between the motions of two ports, held by m multipliers.
///
/// g is a function of the positions, as jets: with velocities and accelerations of the ports it brings its rates along. The
/// ports receive load = sum over equations of multiplier * load per unit, which is minus the gradient of g: in one dimension g = first - second,
/// -u to the first, +u to the second, as everywhere. All calls are const and allocate nothing.
namespace mdpcosim {

/// A frame's position, and vectors that turn with it, as jets.
class moving_frame {
   public:
    explicit moving_frame(const double* motion) : motion_(motion) {}
    jet3 position() const;
    /// A vector that is fixed in the frame, given in its axes.
    jet3 turned(const std::array<double, 3>& fixed) const;

   private:
    const double* motion_;
};

class joint {
   public:
    joint() = default;
    joint(const joint&) = delete;
    joint& operator=(const joint&) = delete;
    virtual ~joint() = default;

    virtual int equations() const = 0;
    /// `first`, `second`: motions of the ports; g: by equation; loads per unit of each multiplier: [equation][load].
    virtual void evaluate(const double* first, const double* second, jet* g, jet* first_load,
                          jet* second_load) const = 0;
    /// Of the residuals of an equation: m, rad, 1.
    virtual std::string unit(int equation) const = 0;
    /// Of its multiplier.
    virtual std::string multiplier_unit(int equation) const = 0;
};

struct joint_info {
    std::string name;
    std::string summary;
    std::vector<port_kind> kinds;            ///< kinds of ports it joins; both ports are of one kind
    std::vector<parameter_info> parameters;  ///< units may use the patterns of unit_for()
    /// Throws std::invalid_argument when values contradict each other; ranges are checked before.
    std::function<std::unique_ptr<joint>(const parameter_values&, port_kind)> make;
};

using joint_registration = registration<joint_info>;
using joint_registry = registry<joint_info>;

}  // namespace mdpcosim
