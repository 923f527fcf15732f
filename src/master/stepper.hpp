#pragma once

#include "core/time_grid.hpp"
#include "master/method.hpp"

namespace mdpcosim {

/// Decides how long macro steps are: does one after the other until the end.
class stepper {
   public:
    virtual ~stepper() = default;
    /// Once, before the first step: whatever has to be allocated.
    virtual void prepare(coupled_system& /*system*/, method& /*chosen*/) {}
    virtual bool done() const = 0;
    /// The step that was done, by `chosen`.
    virtual macro_step step(coupled_system& system, method& chosen) = 0;
    virtual void state(state_bytes& bytes) = 0;
    /// Whether its next step begins at t, which a state that was put back must.
    virtual bool stands_at(double t) const = 0;
};

class constant_stepper final : public stepper {
   public:
    explicit constant_stepper(const time_grid& grid) : grid_(grid) {}
    bool done() const override { return n_ >= grid_.steps(); }
    macro_step step(coupled_system& system, method& chosen) override {
        const macro_step next = grid_.step(n_);
        chosen.step(system, next);
        ++n_;
        return next;
    }
    void state(state_bytes& bytes) override { bytes(n_); }
    bool stands_at(double t) const override { return grid_.time(n_) == t; }

   private:
    time_grid grid_;
    std::int64_t n_ = 0;
};

}  // namespace mdpcosim
