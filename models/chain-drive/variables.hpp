#pragma once

#include <span>
#include <vector>

#include "forces.hpp"
#include "subsystem/subsystem.hpp"

/// Inputs and outputs of a drive, whatever its contacts.
namespace mdpcosim::drive {

class drive_variables {
   public:
    drive_variables(const drive_data& d, bool rigid);

    const subsystem_description& description() const { return description_; }
    int not_converged() const { return not_converged_; }  ///< an output of rigid drives; -1: there is none

    void expect(const usage& used);
    /// Somebody reads what follows from forces.
    bool forces_are_read() const { return forces_are_read_; }

    /// Loads on ports, into forces by coordinates.
    void add_loads(const double* u, double* f) const;
    void motion(double t, const double* q, const double* v, double* y) const;
    /// `f` as the motion needs it, by coordinates; `with_contacts`: contacts are springs.
    void forces(double t, const double* q, const double* v, const double* f, const drive_forces& of, bool with_contacts,
                double* y) const;

   private:
    struct mechanical_port {
        int coordinate, output, input;
        const support* prescribed;  ///< what ignores its load
    };
    struct slots {
        int contact = -1, torque = -1, drive_torque = -1;
    };

    const drive_data& d_;
    subsystem_description description_;
    std::vector<mechanical_port> ports_;
    std::vector<int> chains_;  ///< first output
    std::vector<slots> supports_;
    int energy_ = 0, not_converged_ = -1;
    bool forces_are_read_ = true;
};

}  // namespace mdpcosim::drive
