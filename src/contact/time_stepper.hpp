#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "contact/contact_problem.hpp"

/// Bodies with unilateral contacts, stepped through time without looking for the times of impacts (Moreau's midpoint rule):
///     q_m = q + h/2 v,   v_free = v + h M^-1 f(t + h/2, q_m, v),   contacts closed at q_m,   v+ by contact_problem,   q+ = q_m + h/2 v+
/// Impacts, rest, sliding and sticking are one thing to it, and endless bounces end by themselves. Impacts are told up to one step late:
/// of order 1 in h; free flight under constant forces is exact. Contacts take energy out or leave it, to (h f/m)^2/8 per kilogram when one begins to
/// rest; a force that depends on positions may do what it does in the midpoint rule, where h < 2/omega.
///
/// Call order: make, start() or restore(), then step() as often as needed; save() between steps. step() allocates nothing.
namespace mdpcosim {

/// What a model is made of. Bodies may have any number of coordinates; those of all bodies stand one behind the other in q, v, f.
class contact_system {
   public:
    virtual ~contact_system() = default;

    virtual std::span<const int> body_sizes() const = 0;
    /// Numbers in q; more than velocities where those are no rates of coordinates.
    virtual std::size_t coordinate_count() const {
        const auto sizes = body_sizes();
        return static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), 0));
    }
    virtual int contact_count() const = 0;  ///< that may ever close; their ids are below
    /// Of them, that may be closed at one time; never more.
    virtual int most_contacts() const { return contact_count(); }
    virtual int most_terms() const = 0;  ///< of all directions of those

    /// Inverse mass matrix of a body, row-major. Asked once, or before every step where masses_vary().
    virtual void inverse_mass(int body, std::span<const double> q, std::span<double> into) const = 0;
    virtual bool masses_vary() const { return false; }

    virtual void forces(double t, std::span<const double> q, std::span<const double> v, std::span<double> f) const = 0;

    /// Adds the contacts that are closed at q.
    virtual void close_contacts(double t, std::span<const double> q, contact_problem& into) const = 0;

    /// q moves with velocities v for the time h. To be given where velocities are no rates of coordinates (quaternions).
    virtual void move(double h, std::span<const double> v, std::span<double> q) const {
        for (std::size_t i = 0; i < q.size(); ++i) q[i] += h * v[i];
    }
};

struct stepper_settings {
    contact_settings contacts = {};
    /// Part of each overlap beyond `slop` that one step takes out, by moving bodies without changing their speeds.
    double correction = 0;
    double slop = 0;
};

struct contact_statistics {
    std::int64_t steps = 0;
    std::int64_t problems = 0;  ///< steps with a closed contact
    std::int64_t sweeps = 0;
    std::int64_t impacts = 0;
    std::int64_t not_converged = 0;
    std::int64_t without_rebound = 0;
};

class time_stepper {
   public:
    /// `system` outlives it.
    explicit time_stepper(const contact_system& system, const stepper_settings& settings = {});

    void start(std::span<const double> q, std::span<const double> v);

    /// From t to t + h.
    contact_outcome step(double t, double h);

    std::span<const double> positions() const { return q_; }
    std::span<const double> velocities() const { return v_; }
    /// Of the last step, by contact: normal and two tangential ones; divided by h they are mean forces.
    std::span<const double> impulses() const { return problem_.impulses(); }

    /// Contacts of the last step that were not solved, the worst first.
    std::span<const int> unsolved() const { return problem_.unsolved(); }
    const contact_statistics& statistics() const { return counted_; }

    /// Everything that later steps depend on: positions, velocities, impulses.
    std::size_t state_size() const { return q_.size() + v_.size() + problem_.state_size(most_contacts_); }
    void save(std::span<double> into) const;
    void restore(std::span<const double> from);

   private:
    void ask_for_masses();

    const contact_system& system_;
    stepper_settings settings_;
    contact_problem problem_;
    std::size_t most_contacts_;
    std::vector<double> q_, v_, before_, f_, mass_;
    contact_statistics counted_;
};

}  // namespace mdpcosim
