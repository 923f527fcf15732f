#pragma once

#include <cstddef>
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
/// Which contacts are closed may change from problem to problem: one that was in the last problem, by its id, begins with its impulse of then. Costs
/// follow the closed contacts, not the ids: a chain numbers every pin on every wheel.
///
/// Call order: make, set_inverse_mass() for every body, then per problem clear(), add() for every closed contact, solve(). With room by
/// reserve() nothing is allocated.
namespace mdpcosim {

/// One entry of a row of G.
struct direction_term {
    int coordinate;
    double factor;
};

/// A closed contact. Spans need not outlive add().
struct closed_contact {
    int id = 0;  ///< once in a problem
    double restitution = 0;
    double friction = 0;
    std::span<const direction_term> normal;
    std::span<const direction_term> tangent = {};         ///< needed for friction
    std::span<const direction_term> second_tangent = {};  ///< of spatial contacts, perpendicular to the first
    double normal_speed = 0;                              ///< s: rate of the gap while all bodies rest
    double tangent_speed = 0, second_tangent_speed = 0;
    double depth = 0;  ///< positive: how deep the bodies overlap, for correction()
};

struct contact_settings {
    double tolerance = 1e-10;  ///< of velocities, relative to the largest one in a contact
    int most_sweeps = 2000;
};

struct contact_outcome {
    int sweeps = 0;
    int impacts = 0;  ///< contacts that bodies met faster than forces within the step can tell
    bool converged = true;
    double change = 0;  ///< of velocity, m/s: the largest in the last sweep, which unsolved() names first
    bool without_rebound =
        false;  ///< some were solved as without restitution, which would have made energy or had no solution
};

class contact_problem {
   public:
    /// `body_sizes`: number of velocities of each body, one body behind the other. Ids of contacts are below `ids`.
    contact_problem(std::span<const int> body_sizes, int ids, const contact_settings& settings = {});

    /// For problems of so many contacts, with so many terms in all their directions.
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
    /// Where the last problem did not converge: contacts (ids) that still changed by more than the tolerance, the worst first.
    std::span<const int> unsolved() const { return unsolved_; }

    /// Impulses, where the next problem begins its search: part of what a state holds. Numbers, as many as problems of so many contacts need.
    static std::size_t state_size(std::size_t contacts) { return 1 + 4 * contacts; }
    void save(std::span<double> into) const;
    void restore(std::span<const double> from);

    /// A displacement along the contacts' normals out of `fraction` of each depth beyond `slop`; false: there is none.
    bool correction(double fraction, double slop, std::span<double> displacement) const;

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
        double change = 0;                   ///< of the last sweep
    };
    /// Bodies that contacts join, known by one of them.
    struct island {
        int up = 0;
        double work = 0, size = 0;
        bool fails = false;
    };

    void add_row(std::span<const direction_term> terms, double speed);
    double rate(const row& r, std::span<const double> v) const;
    void push(row& r, double change, std::span<double> v) const;
    double relax(contact& c, std::span<double> v);
    double relax_friction(contact& c, std::span<double> v);
    double prepare(std::span<const double> before, std::span<const double> v, contact_outcome& outcome);
    void start(std::span<double> v);
    double rounding_of(std::span<const double> v) const;
    void sweep(std::span<double> v, double scale, contact_outcome& outcome);
    island* island_of(const contact& c);
    bool drop_rebounds(std::span<const double> v, double scale, bool converged);
    void keep(double scale, bool converged);

    contact_settings settings_;
    std::vector<int> size_of_body_, first_of_body_, body_of_;
    std::vector<std::size_t> mass_of_body_;
    std::vector<double> inverse_mass_;
    std::vector<contact> contacts_;
    std::vector<row> rows_;
    std::vector<direction_term> terms_, responses_;
    std::vector<double> impulses_, scratch_, free_;
    std::vector<int> held_, unsolved_;  ///< ids: with impulses of the last problem; of unsolved()
    std::vector<island> islands_;       ///< by body
    std::vector<bool> touched_;
};

}  // namespace mdpcosim
