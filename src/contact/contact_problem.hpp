#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// Velocities of bodies behind unilateral contacts with impacts and Coulomb friction, in one instant or over one time step.
///
/// For the velocities v0 before, the velocities v1 that forces alone lead to, and closed contacts k with the rate of their gap
/// u_k = G_k v + s_k:
///     v = v1 + M^-1 sum G_k^T lambda_k,    0 <= lambda_k  _|_  u_k + e_k min(0, u_k(v0)) >= 0
///     |lambda_t| <= mu_k lambda_k,  lambda_t against the sliding velocity u_t where that is not zero      (lambda: impulses)
/// M is block diagonal, one block per body. (F. Pfeiffer, C. Glocker, Multibody Dynamics with Unilateral Contacts, 1996; J. J. Moreau,
/// Numerical aspects of the sweeping process, 1999.)
///
/// Solved by projected Gauss-Seidel on the velocities: a sweep costs as much as there are terms, no matrix is formed. The velocities are
/// unique without friction, the impulses need not be.
///
/// Call order: make, set_inverse_mass() for every body, then per problem clear(), add() for every closed contact, solve(). After the
/// first problem with all contacts nothing is allocated; reserve() makes room before.
namespace mdpcosim {

/// One entry of a row of G.
struct direction_term {
    int coordinate;
    double factor;
};

/// A closed contact. Spans need not outlive add().
struct closed_contact {
    int id = 0;  ///< the same one in the next problem: impulses are taken over
    double restitution = 0;
    double friction = 0;
    std::span<const direction_term> normal;
    std::span<const direction_term> tangent = {};         ///< needed for friction
    std::span<const direction_term> second_tangent = {};  ///< of spatial contacts, perpendicular to the first
    double normal_speed = 0;                              ///< s: rate of the gap while all bodies rest
    double tangent_speed = 0, second_tangent_speed = 0;
    double depth = 0;  ///< positive: how deep the bodies overlap, for corrected()
};

struct contact_settings {
    double tolerance = 1e-10;  ///< of velocities, relative to the largest one in a contact
    int most_sweeps = 2000;
};

struct contact_outcome {
    int sweeps = 0;
    int impacts = 0;  ///< contacts that bodies met faster than forces within the step can tell
    bool converged = true;
    int worst = -1;                ///< the contact (id) whose last change was the largest, where it did not converge
    double change = 0;             ///< that change of velocity, m/s
    bool without_rebound = false;  ///< solved as without restitution, which would have made energy or had no solution
};

class contact_problem {
   public:
    /// `body_sizes`: number of velocities of each body, one body behind the other. Ids of contacts are below `ids`.
    contact_problem(std::span<const int> body_sizes, int ids, const contact_settings& settings = {});

    void reserve(std::size_t contacts, std::size_t terms);

    /// Row-major; symmetric. Zero: what no impulse moves.
    void set_inverse_mass(int body, std::span<const double> matrix);
    std::span<const double> inverse_mass(int body) const;

    void clear();
    void add(const closed_contact& c);
    std::size_t size() const { return contacts_.size(); }

    /// `v`: v1, becomes the solution.
    contact_outcome solve(std::span<const double> before, std::span<double> v);

    /// Impulses by id: normal and two tangential ones; zero for contacts that were not in the last problem.
    std::span<const double> impulses() const { return impulses_; }
    /// Where the next problem begins its search: part of what a state holds.
    std::span<double> impulses() { return impulses_; }

    /// Moves q along the contacts' normals out of `fraction` of each depth beyond `slop`. Velocities stay.
    void correct(std::span<double> q, double fraction, double slop) const;

   private:
    struct row {
        std::size_t begin = 0, end = 0;                    ///< terms of G
        std::size_t response_begin = 0, response_end = 0;  ///< of M^-1 G^T
        double speed = 0, own = 0;                         ///< s, G M^-1 G^T
        double impulse = 0;
    };
    struct contact {
        int id, tangents;
        double restitution, friction, depth;
        std::size_t first_row;
        double was = 0, free = 0, bias = 0;  ///< rates of the gap before and by forces alone, what an impact adds
    };

    void add_row(std::span<const direction_term> terms, double speed);
    double rate(const row& r, std::span<const double> v) const;
    void push(row& r, double change, std::span<double> v) const;
    double relax(contact& c, std::span<double> v);
    double relax_friction(contact& c, std::span<double> v);
    double prepare(std::span<const double> before, std::span<const double> v, contact_outcome& outcome);
    void start(std::span<double> v);
    void sweep(std::span<double> v, double scale, contact_outcome& outcome);
    bool makes_energy(std::span<const double> v, double scale) const;

    contact_settings settings_;
    std::vector<int> size_of_body_, first_of_body_, body_of_;
    std::vector<std::size_t> mass_of_body_;
    std::vector<double> inverse_mass_;
    std::vector<contact> contacts_;
    std::vector<row> rows_;
    std::vector<direction_term> terms_, responses_;
    std::vector<double> impulses_, scratch_, free_;
    std::vector<bool> touched_;
};

}  // namespace mdpcosim
