#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/hot_memory.hpp"
#include "core/parameter.hpp"
#include "core/port_kind.hpp"
#include "core/registry.hpp"
#include "core/state_bytes.hpp"

/// Coupling laws: a scalar coupling variable u from the motion of the ports a connection joins.
///
/// A connection forms q = sum of weight * motion over its ports (first - second for two ports) and v = dq/dt, asks the
/// law for u, and delivers factor * u to every port (-u to the first, +u to the second). A law that needs v for u
/// (needs_velocity) tells no rate, since du/dt needs accelerations, which depend on the inputs (Friedrich 2011, 2.2.2); who has
/// evaluated them with the present u finds it with slope(). evaluate() is const; what a law remembers changes in accept() only, once per accepted macro step.
namespace mdpcosim {

struct law_value {
    double u = 0;
    double rate = 0;  ///< du/dt; meaningless when the law has no rate
};

/// A law's partial derivatives.
struct law_slope {
    double c = 0;  ///< du/dq
    double d = 0;  ///< du/dv
};

/// What a law is asked with whose ports may be pistons (law_info::piston): q and v as ever, and what the pistons' share of them is.
struct piston_motion {
    double t = 0;
    double q = 0, v = 0;
    double s = 0, ds = 0;   ///< of the pistons alone, and its rate
    bool has_rates = true;  ///< v is known; ds always is
    double state = 0;       ///< the law's own, where others integrate it (law::has_state)
};

/// Between which values u lies.
struct law_range {
    double lowest = -std::numeric_limits<double>::infinity();
    double highest = std::numeric_limits<double>::infinity();
};

/// Why a law has no answer; the network adds the connection's name and the time.
class law_failure : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
};

class law : public in_hot_memory {
   public:
    law() = default;
    law(const law&) = delete;
    law& operator=(const law&) = delete;
    virtual ~law() = default;

    /// A law between ports; a signal with an offset is none, and no method solves for it.
    virtual bool physical() const { return true; }
    virtual bool needs_velocity() const { return false; }
    virtual bool has_rate() const { return !needs_velocity(); }
    /// du/dq where it is the same everywhere: what extrapolations that depend on F ask for.
    virtual std::optional<double> stiffness() const { return std::nullopt; }
    /// From now on the law as the macro step tends to zero, for integrating the coupled system as one. Called before start().
    virtual void use_limit() {}
    /// Called once before the first evaluate(), with q at the start of the run.
    virtual void start(double /*q*/) {}
    /// Throws law_failure where the law has no answer (an iteration that does not converge).
    virtual law_value evaluate(double q, double v) const = 0;
    /// At q, v; on either side of a kink that of one side. Laws without a rate must say it, of the others du/dt = c v tells.
    virtual law_slope slope(double q, double v) const;
    /// Where u or its slope jumps: each corner has a function of q and v that changes its sign there.
    virtual int corner_count() const { return 0; }
    virtual void corners(double /*q*/, double /*v*/, double* /*z*/) const {}
    /// What u can be at q, whatever v: a contact never pulls.
    virtual law_range range(double /*q*/) const { return {}; }
    virtual void accept(double /*q*/, double /*v*/, double /*u*/) {}
    /// Whether accept() does anything; laws without memory say no and are not called after every macro step.
    virtual bool remembers() const { return true; }
    /// Laws with pistons are asked by these instead of start(), evaluate() and accept().
    virtual void start_at(const piston_motion& m) { start(m.q); }
    virtual law_value evaluate_at(const piston_motion& m) const { return evaluate(m.q, m.v); }
    virtual void accept_at(const piston_motion& m, double u) { accept(m.q, m.v, u); }
    /// A law whose u depends on the way that q and s have taken: it has a state, zero at the start, which it forms from accepted times.
    /// Who integrates the coupled system as one integrates the state, too, and tells it in `m` after use_limit(). Its rate must not depend on v,
    /// which may depend on u.
    virtual bool has_state() const { return false; }
    virtual double state_rate(const piston_motion& /*m*/) const { return 0; }
    /// What start() and accept() have left.
    virtual void state(state_bytes& /*bytes*/) {}
};

/// How one port takes part: q += weight * motion, and the port receives factor * u.
struct port_role {
    double weight;
    double factor;
};

/// What a law joins. Two ports: u = law(first - second). A node: any number of ports, u = law(sum), every port receives u.
enum class law_join { two_ports, node };

struct law_info {
    std::string name;
    std::string summary;
    std::vector<port_kind> kinds;  ///< kinds of ports it joins; all ports of a connection but pistons are of one kind
    std::vector<parameter_info> parameters;  ///< units may use the patterns of unit_for()
    /// Throws std::invalid_argument when values contradict each other; ranges are checked before.
    std::function<std::unique_ptr<law>(const parameter_values&)> make;
    /// The roles of the first and second port; (1, -1) and (-1, +1) unless the law says otherwise.
    std::function<std::vector<port_role>(const parameter_values&)> roles = {};
    law_join join = law_join::two_ports;
    /// What the ports must be: takes_load ports give motion and receive u as load; takes_motion ports give the load (its
    /// integral is q, the load itself v) and receive u as motion, as the branches at an electric node do.
    causality ports = causality::takes_load;
    /// Of a node: ports of another kind that may be joined, at least one of which is, and the part that they take.
    struct pistons {
        port_kind kind;
        std::function<port_role(const parameter_values&)> role;
    };
    std::optional<pistons> piston = {};
};

using law_registration = registration<law_info>;
using law_registry = registry<law_info>;

/// The roles of a two-port law without roles of its own: u = law(first - second), -u to the first, +u to the second.
std::vector<port_role> two_port_roles();

}  // namespace mdpcosim
