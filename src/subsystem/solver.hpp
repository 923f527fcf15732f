#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/hot_memory.hpp"
#include "core/parameter.hpp"
#include "core/registry.hpp"
#include "subsystem/equations.hpp"

/// Integrators for `equations`.
///
/// Call order: initialise once, then integrate over consecutive intervals. `x` belongs to the caller; the solver may
/// keep a copy, so that a caller that changes x (an event, a restored state) calls reset(). x is the state at the end of the
/// interval, for the outputs; the solver itself may already be beyond it. integrate() handles state and time events itself.
/// A one-step solver never reuses a right-hand side from before `begin`: the inputs jump there.
namespace mdpcosim {

class solver : public in_hot_memory {
   public:
    solver() = default;
    solver(const solver&) = delete;
    solver& operator=(const solver&) = delete;
    virtual ~solver() = default;

    /// Why the solver, with its options, cannot integrate this model; empty: it can. May be asked before initialise().
    virtual std::string why_not(const equations& model) const;

    /// `model` outlives the solver. Makes the algebraic states fit the others and the start values of the inputs.
    virtual void initialise(equations& model, double t0, std::span<double> x) = 0;

    /// x(begin) to x(end) with the input polynomials in t - begin. Throws run_error with the solver's reason and the time.
    virtual void integrate(double begin, double end, std::span<const polynomial> inputs, std::span<double> x) = 0;

    /// x was changed from outside at time t.
    virtual void reset(double t, std::span<const double> x) = 0;

    /// The algebraic states in x for the input values u at time t, the others being given; changes nothing in the solver's
    /// own state. A model without algebraic states has nothing to solve.
    virtual void solve_algebraic(double /*t*/, const double* /*u*/, std::span<double> /*x*/) {}

    /// What the solver itself remembers besides x (its step size, the sides of the event indicators), as memory_size()
    /// plain numbers, for save/restore; after initialise(). A solver that remembers more than fits here (multistep
    /// without restart) says so by saves() == false.
    virtual bool saves() const { return true; }
    virtual std::string why_not_saved() const { return {}; }
    virtual std::size_t memory_size() const { return 0; }
    virtual void memory(std::span<double> /*into*/) const {}
    virtual void set_memory(std::span<const double> /*from*/) {}

    /// Whether it chooses its steps anew at every begin; then the one it would take next, s, 0 before the first.
    virtual bool chooses_step() const { return false; }
    virtual double next_step() const { return 0; }

    virtual subsystem_statistics statistics() const = 0;
};

struct solver_info {
    std::string name;
    std::string summary;
    std::vector<parameter_info> options;
    std::function<std::unique_ptr<solver>(const parameter_values&)> make;
};

/// A solver registers itself in its own file: `const solver_registration r{{"rk4", "...", {...}, make}};`
using solver_registration = registration<solver_info>;
using solver_registry = registry<solver_info>;
inline constexpr const char* default_solver = "erk-5";

}  // namespace mdpcosim
