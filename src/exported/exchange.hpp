#pragma once

#include <limits>
#include <span>

/// What an instance for model exchange does beside the calls of exported_model.
///
/// Call order: it is in event mode after initialise(): update() until nothing is due, enter_continuous_mode(); then set_time(), set_states(),
/// inputs, and whatever is asked for; completed_step() after each step of the host's solver; enter_event_mode() at an event.
namespace mdpcosim {

class exported_exchange {
   public:
    struct changes {
        bool states = false, terminate = false;
        double next_event = std::numeric_limits<double>::infinity();
    };

    virtual std::size_t state_count() const = 0;
    virtual std::size_t indicator_count() const = 0;
    virtual void set_time(double t) = 0;
    virtual void set_states(std::span<const double> x) = 0;
    virtual void get_states(std::span<double> x) = 0;
    virtual void get_derivatives(std::span<double> dx) = 0;
    virtual void get_indicators(std::span<double> z) = 0;
    virtual void get_nominals(std::span<double> nominals) = 0;
    virtual void enter_event_mode() = 0;
    /// All that is due at the present time.
    virtual changes update() = 0;
    virtual void enter_continuous_mode() = 0;
    /// True: event mode is wanted.
    virtual bool completed_step(bool& terminate) = 0;

   protected:
    ~exported_exchange() = default;
};

}  // namespace mdpcosim
