#pragma once

#include <optional>
#include <vector>

#include "coupling/sparse_lu.hpp"
#include "master/joint_loads.hpp"

/// The equations that the index-1 method solves for the multipliers of a macro step: of every equation of a joint the residuals of
/// position, velocity and acceleration at the end of the step, over H^2, H and 1, as functions of three parameters of its multiplier's polynomial, the
/// parts of the basis below (T. Meyer and others, Implicit co-simulation method for constraint coupling with improved stability
/// behavior, 2018: (22) to (24), (36)). How they answer is measured by trial steps, in each of which every subsystem meets one
/// disturbed parameter. After construction nothing allocates.
namespace mdpcosim {

/// The basis of degree 2 (23), or of degree 3 that is zero at the begin (24), over a step of length H. Basis polynomial 0, 1, 2 moves a free
/// body's position, velocity, acceleration at the end of the step, and neither of the others.
polynomial multiplier_basis(int degree, int which, double H);

/// The polynomial of degree 2, or of degree 3 that begins with `start`, that leads a free body to the same position, velocity and
/// acceleration at the end of the step as p does.
polynomial as_effective(const polynomial& p, int degree, double start, double H);

class joint_equations {
   public:
    static constexpr std::size_t levels = 3;  ///< and parameters

    joint_equations() = default;
    explicit joint_equations(const coupled_system& system, const joint_loads& loads);

    std::size_t size() const { return levels * multipliers_; }
    /// Trials that measuring takes besides the undisturbed one.
    std::size_t rounds() const { return rounds_; }

    void residuals(const joint_state& at, double H, std::span<double> into) const;

    /// Disturbs the loads in the inputs of one round, and their values at the end of the step in u.
    void disturb(std::size_t round, const coupled_system& system, const joint_loads& loads, int degree, double H,
                 std::span<const polynomial> multipliers, std::span<polynomial> inputs, std::span<double> u);
    /// y: outputs of that trial; undisturbed: of the one without, whose residuals are `base`.
    void measured(std::size_t round, const coupled_system& system, const joint_loads& loads, double H,
                  std::span<const double> y, std::span<const double> undisturbed, std::span<const double> base,
                  joint_state& scratch);
    /// The largest acceleration that a multiplier gives its ports at the end of the step.
    double size_of(std::span<const polynomial> multipliers, double H) const;
    /// Changes of the parameters that make `residuals` zero. The multiplier at which the system is singular, if it is.
    [[nodiscard]] std::optional<std::size_t> solve(std::span<const double> residuals, std::span<double> change);
    /// The change left these residuals: what the answers were wrong by (Broyden's update, row by row).
    void learn(std::span<const double> change, std::span<const double> left);

    void state(state_bytes& bytes) {
        bytes(entries_, largest_, size_);
        if (bytes.reading()) factorised_ = false;
    }

   private:
    std::optional<std::size_t> factorise();

    /// A parameter of a multiplier, as one subsystem meets it.
    struct column {
        std::uint32_t joint, equation, parameter, unknown;
        double disturbance = 0;
        std::size_t entries = 0;  ///< first of its entries
    };
    struct block {
        subsystem_index subsystem;
        std::vector<std::uint32_t> joints;
        std::vector<column> columns;
        std::size_t rows = 0;
    };

    /// Small systems are solved with pivoting, since stiff subsystems answer to all three parameters alike.
    struct dense_lu;
    struct drop {
        void operator()(dense_lu* factors) const;
    };

    std::vector<block> blocks_;
    std::vector<std::uint32_t> unit_of_;  ///< by multiplier: which of the units
    std::vector<double> largest_;         ///< by unit: of all multipliers
    std::vector<matrix_entry> entries_;   ///< block by block, column by column
    sparse_lu lu_;
    std::unique_ptr<dense_lu, drop> dense_;
    bool factorised_ = false;
    std::vector<double> row_work_, size_;
    std::vector<int> equations_;  ///< by joint
    std::size_t multipliers_ = 0, rounds_ = 0;
};

}  // namespace mdpcosim
