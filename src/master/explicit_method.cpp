// The explicit parallel method (Friedrich 2011, section 2.1): one integration per macro step, all subsystems at once.
//
//   u(t_n), du(t_n) from the outputs at t_n  ->  polynomials over [t_n, t_{n+1}]  ->  every subsystem integrates itself
//
// Order and stability are those of the extrapolation: local order of positions and velocities by Table 2.3 of the source,
// stable while H times the highest coupled frequency stays below the extrapolation's limit (docs/methods/extrapolations.md).
// Needs nothing of a subsystem beyond advance().
#include "master/method.hpp"

namespace mdpcosim {

namespace {

class explicit_method final : public method {
   public:
    void step(coupled_system& system, const macro_step& step) override {
        system.coupling.accept(step.begin, system.subsystems->outputs(), system.u, system.du);
        system.coupling.extrapolate(step.end);
        system.coupling.deliver(step.end - step.begin, system.subsystems->inputs());
        system.advance(step);
    }
};

const method_registration registered{
    {"explicit", "one integration per macro step with extrapolated coupling variables, in parallel",
     [] { return std::make_unique<explicit_method>(); }}};

}  // namespace

}  // namespace mdpcosim
