#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parameter.hpp"
#include "core/state_bytes.hpp"

/// Solves x = g(x) from evaluations of g alone, again and again for problems that lie near each other.
///
/// Call order: begin(), then evaluate g at x and call next() as long as it says `more`. Convergence: in every unknown
///     |g_i - x_i| <= tolerance * max(|g_i|, the largest |g_i| of the problems solved before) + absolute ,
/// where |g_i| counts up to a thousand times what it was at first.
///
///   fixed-point  x += relaxation * (g - x); needs a contraction
///   anderson     of the last `depth` iterates the combination with the smallest residual g - x (D. G. Anderson, 1965); at most n + 1
///                iterations for n unknowns of a linear problem, contraction or not
///   iqn-ils      the same with all iterates of this and of the last `reuse` problems, columns that depend on newer ones left out
///                (J. Degroote and others, 2009), those of earlier problems where a step does not halve the residual; the first step ever is
///                the relaxed one
///   newton       (1 - dg/dx) dx = g - x, dg/dx by differences once, then kept by Broyden's update over iterations and problems; measured again
///                where an iteration leaves more than a quarter of the residual. Steps that raise the residual are halved.
/// Where anderson and iqn-ils do not get on, after 10 iterations more than there are unknowns, newton ends the problem (up to 64 unknowns): near the
/// solution iterates differ by the noise of those who evaluate g, disturbances do not.
/// After construction nothing allocates.
namespace mdpcosim {

struct fixed_point_options {
    enum class solver : std::uint8_t { newton, anderson, iqn_ils, fixed_point };

    solver algorithm = solver::newton;
    double tolerance = 1e-8, absolute = 1e-12;
    int limit = 50;
    double relaxation = 1;
    int depth = 10, reuse = 8;
    double disturbance = 1e-6;  ///< of an unknown for its difference, relative to its size
};

/// What users may set: `solver`, `tolerance`, `absolute`, `limit`, `relaxation`, `depth`, `reuse`, with the given defaults.
std::vector<parameter_info> fixed_point_parameters(const fixed_point_options& defaults);
fixed_point_options fixed_point_options_of(const parameter_values& values);
const char* name_of(fixed_point_options::solver algorithm);

class fixed_point;

/// Over many problems.
struct iteration_counts {
    std::int64_t solutions = 0, iterations = 0, evaluations = 0;
    int largest = 0;      ///< number of iterations
    double residual = 0;  ///< of the last one
    void add(const fixed_point& solved);
};

class fixed_point {
   public:
    fixed_point(std::size_t unknowns, const fixed_point_options& options);
    fixed_point(fixed_point&&) noexcept;
    fixed_point& operator=(fixed_point&&) noexcept;
    ~fixed_point();

    enum class outcome : std::uint8_t { more, done, failed };

    void begin();
    /// `g` belongs to `x`, which becomes the next place to look at; it stays where that is done.
    outcome next(std::span<double> x, std::span<const double> g);

    const fixed_point_options& options() const { return options_; }
    /// Of the present problem.
    int iterations() const { return iterations_; }
    int evaluations() const { return evaluations_; }  ///< of g: those for differences, too
    double residual() const { return residual_; }     ///< largest |g_i - x_i|, relative as in the test of convergence
    std::size_t worst() const { return worst_; }      ///< the unknown that has it
    const char* why_failed() const { return why_; }

    /// Between two problems.
    void state(state_bytes& bytes);

    class accelerator;

   private:
    bool look(std::span<const double> x, std::span<const double> g);

    fixed_point_options options_;
    std::unique_ptr<accelerator> accelerator_, rescue_;  ///< rescue_: where the first one does not get on; or none
    accelerator* acting_ = nullptr;                      ///< one of them
    std::vector<double> residuals_, scale_, size_;
    int iterations_ = 0, evaluations_ = 0;
    double residual_ = 0;
    std::size_t worst_ = 0;
    const char* why_ = "";
};

}  // namespace mdpcosim
