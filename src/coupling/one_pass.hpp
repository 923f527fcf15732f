#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "coupling/sparse_lu.hpp"

/// Linearly implicit coupling in one pass: coupling variables that fit the motion at the end of the macro step without any
/// subsystem having been there.
///
/// Per channel v is the relative rate of its ports, on whose derivative the coupling variables act:
///     v' = g - Q u ,     Q_ij = -sum of weight_i factor_j (rate of the port's v per unit input) ,   g all that is not coupling.
/// Mean values over past steps are known without any model: a_k = (v_(n-k+1) - v_(n-k))/H of step n - k, and g_k = a_k + Q u_(n-k)
/// with the constant u that acted then. Over the coming step g is extrapolated, v' = g - Q u integrated, and the laws, linearised
/// with c = du/dq and d = du/dv, are to hold in the mean over the step:
///     u = u(q_n, v_n) + c (X - q_n) + d (V - v_n)
///     X - q_n = H/2 v_n + H^2 [s (sum phi_k g_k - Q u) + sum r_k a_k - (g_1 - g_2)/24]
///     V - v_n =           H   [S (sum Phi_k g_k - Q u) + sum R_k a_k - (g_1 - g_2)/12]
/// Solved for all channels together: (1 + (c s H^2 + d S H) Q) u = ... . Second order for any s, r, S, R with sum phi = sum Phi = 1 and
/// S + sum R = 1/2. A wrong Q leaves order and slow motion as they are and only moves the stability limit, since a_k is measured.
/// The last terms make the means of q and v over the step follow the law although u is constant while g changes: they take the
/// damping of slow motion from H^3 to H^5. Derivation and limits: docs/methods/one-pass.md.
///
/// Call order: begin() once; per macro step accept(H_last, v) from the second step on, then solve(). After construction nothing
/// allocates.
namespace mdpcosim {

class one_pass {
   public:
    static constexpr int steps = 3;  ///< past steps in g_k and a_k
    struct coefficients {
        double implicit;                       ///< s, S
        std::array<double, steps> prediction;  ///< phi, Phi
        std::array<double, steps> measured;    ///< r, R
        double ramp;                           ///< 1/24, 1/12
    };
    static const coefficients of_value, of_rate;

    /// Where q itself is what u changes the rate of (temperature, potential): its q is given as v, and du/dq as d.
    struct slope {
        double c, d;
    };

    one_pass() = default;
    /// `Q`: entries at the same place add.
    one_pass(std::size_t channels, std::vector<matrix_entry> Q);

    std::size_t channels() const { return u_.size(); }
    /// Forgets the past. Until one step is known g = rate + Q u: a first step under the constant `u` would change v by H `rate`.
    void begin(std::span<const double> u, std::span<const double> rate);
    /// The step of length H that the last solve() was for ended with the rates `v`.
    void accept(double H, std::span<const double> v);
    /// The constant coupling variables over the next step of length H, from u(q_n, v_n), v_n and the laws' slopes. The channel
    /// at which the system of equations is singular, if it is.
    [[nodiscard]] std::optional<std::size_t> solve(double H, std::span<const double> u_n, std::span<const double> v,
                                                   std::span<const slope> slopes);
    std::span<const double> u() const { return u_; }

    /// What accept() builds on, channel after channel: v and u of the last step, then g_k, a_k newest first without the
    /// oldest, which the next accept() forgets.
    std::size_t memory_size() const { return channels() * (2 + 2 * (steps - 1)); }
    void memory(std::span<double> into) const;
    void set_memory(std::span<const double> from);

   private:
    struct past {
        std::array<double, steps> g, a;
    };

    void multiply(std::span<const double> u, std::vector<double>& Qu) const;

    std::vector<matrix_entry> Q_, system_;
    sparse_lu lu_;
    std::vector<past> past_;
    std::vector<double> u_, v_, Qu_, factor_;
    bool known_ = false;  ///< a step has been accepted
};

}  // namespace mdpcosim
