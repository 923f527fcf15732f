#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/state_bytes.hpp"
#include "master/coupled_system.hpp"

/// Contacts that begin and end within one macro step: bodies that fly into a stop and would fly back leave nothing at the end of the step that an
/// estimate could see. Between the ends of a step the motion of a law with corners is taken to be the cubic that values and rates make (ports
/// without a velocity: the parabola through three values); where it turns beyond a corner, a contact was flown through. That the true motion may turn a
/// little further away is allowed for.
namespace mdpcosim {

class corner_watch {
   public:
    void prepare(const coupled_system& system);
    bool needed() const { return !channels_.empty(); }

    /// Before the step is tried.
    void begin(const coupled_system& system, double t);

    /// Behind a trial that ends at `t`: where the first turn beyond a corner is, as a part of the step, and whose it is; 1: there is none.
    struct turn {
        double at = 1;
        std::string_view name;
    };
    turn end(const coupled_system& system, double t);

    /// The step stands.
    void accept();

    void state(state_bytes& bytes) { bytes(t_before_, q_before_, known_); }

   private:
    struct watched {
        channel_index channel;
        const law* acting;
        bool has_velocity;
        std::string name;
    };

    /// Whether corners are crossed on the way to `q` and again on the way from there.
    bool beyond(const watched& w, double q);

    std::vector<watched> channels_;
    double t_ = 0, t_before_ = 0;                           ///< where the step begins, and the one before
    bool known_ = false;                                    ///< the step before
    std::vector<double> q_, v_, q_end_, v_end_, q_before_;  ///< by channel
    std::array<std::vector<double>, 3> z_;                  ///< of one law: where the step begins, ends, and between
};

}  // namespace mdpcosim
