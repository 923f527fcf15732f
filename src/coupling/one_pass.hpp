#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/state_bytes.hpp"
#include "coupling/sparse_lu.hpp"

/// Linearly implicit coupling in one pass: coupling variables that fit the motion at the end of the macro step without any
/// subsystem having been there.
///
/// Per channel v is the relative rate of its ports, on whose derivative the coupling variables act:
///     v' = g - Q u ,     Q_ij = -sum of weight_i factor_j (rate of the port's v per unit input) ,   g all that is not coupling.
/// Mean values over past steps are known without any model: a_k = (v_(n-k+1) - v_(n-k))/H_k of step n - k, and g_k = a_k + Q u_(n-k)
/// with the mean u that acted then. Over the coming step g is extrapolated, v' = g - Q u integrated, and the laws, linearised
/// with c = du/dq and d = du/dv, are to hold in the mean over the step:
///     u = u(q_n, v_n) + c (X - q_n) + d (V - v_n)
///     X - q_n = H/2 v_n + H^2 [s (sum phi_k g_k - Q u) + sum r_k H_k/H a_k - e (g_1 - g_2)/24]
///     V - v_n =           H   [S (sum Phi_k g_k - Q u) + sum R_k a_k - e (g_1 - g_2)/12]
/// phi and Phi lead to the middle of the coming step: along the straight line through g_1 and g_2 and 0.72 or 1.2 times the parabola's
/// part, at the true distances of the steps' middles; e = 2 H/(H_1 + H_2).
/// Solved for all channels together: (1 + (c s H^2 + d S H) Q) u = ... . Second order for any s, r, S, R with sum phi = sum Phi = 1 and
/// S + sum R = 1/2. A wrong Q leaves order and slow motion as they are and only moves the stability limit, since a_k is measured.
/// The last terms make the means of q and v over the step follow the law although u is constant while g changes: they take the
/// damping of slow motion from H^3 to H^5. Derivation and limits: docs/methods/one-pass.md.
///
/// A coupling that the step resolves is better extrapolated. With the row sum kappa of (c s H^2 + d S H) |Q| the
/// weight w of the equation above rises from 0 to 1 over a range of kappa, and an extrapolated mean takes the rest.
///
/// Call order: begin() once; per macro step accept(H_last, v) from the second step on, then weigh(), then solve(). A step that is undone
/// is repeated from weigh() on. After construction nothing allocates.
namespace mdpcosim {

class one_pass {
   public:
    static constexpr int steps = 3;  ///< past steps in g_k and a_k
    /// Row sums between which w rises from 0 to 1.
    struct range {
        double soft, stiff;
    };

    /// Where q itself is what u changes the rate of (temperature, potential): its q is given as v, and du/dq as d.
    struct slope {
        double c, d;
    };

    one_pass() = default;
    /// `Q`: entries at the same place add.
    one_pass(std::size_t channels, std::vector<matrix_entry> Q, range blend = {0.5, 1.5});
    /// Other values at the same places.
    void set_Q(std::span<const matrix_entry> Q);

    std::size_t channels() const { return u_.size(); }
    /// Forgets the past. Until one step is known g = rate + Q u: a first step under the constant `u` would change v by H `rate`.
    void begin(std::span<const double> u, std::span<const double> rate);
    /// The step of length H that the last solve() was for ended with the rates `v`.
    void accept(double H, std::span<const double> v);
    /// For the next step of length H: w by the laws' slopes; none given: those of the last step. True when all w are 1.
    bool weigh(double H, std::span<const slope> slopes);
    /// The mean coupling variables over the step, from u(q_n, v_n), v_n, and the means that an extrapolation gives (read where
    /// w < 1). The channel at which the system of equations is singular, if it is.
    [[nodiscard]] std::optional<std::size_t> solve(std::span<const double> u_n, std::span<const double> v,
                                                   std::span<const double> extrapolated);
    std::span<const double> u() const { return u_; }
    /// w of the last weigh(): 0 extrapolated, 1 implicit.
    std::span<const double> weights() const { return w_; }
    /// kappa of the last weigh().
    std::span<const double> stiffness() const { return kappa_; }

    /// After weigh(): the mean of v' over the step but for what u of channel i adds to it, under the u of the others,
    double rate_without(std::size_t i) const;
    /// and what a unit of that u takes from it.
    double own(std::size_t i) const;

    /// What accept() builds on while all steps have the length H, channel after channel: v and u of the last step, then g_k, a_k
    /// newest first without the oldest, which the next accept() forgets.
    std::size_t memory_size() const { return channels() * (2 + 2 * (steps - 1)); }
    void memory(std::span<double> into) const;
    void set_memory(double H, std::span<const double> from);

    void state(state_bytes& bytes) {
        bytes(Q_, past_, u_, v_, row_sum_, factor_, inverse_factor_, right_, kappa_, w_, slopes_, lengths_, grid_,
              value_, rate_, line_, known_, new_Q_, coupled_, implicit_, solved_);
        if (bytes.reading()) factors_ = false;
    }

   private:
    struct past {
        std::array<double, steps> g, a;
    };
    /// Of g_k and a_k in [...] above.
    struct formula {
        std::array<double, steps> g, a;
        double of(const past& p) const {
            static_assert(steps == 3);
            return (g[0] * p.g[0] + g[1] * p.g[1] + g[2] * p.g[2]) + (a[0] * p.a[0] + a[1] * p.a[1] + a[2] * p.a[2]);
        }
    };

    double row_times(std::size_t i, std::span<const double> u) const;
    void fit_to_grid(double H);

    range blend_{};
    std::vector<std::uint32_t> place_;            ///< entry of Q as given -> place in columns_ and Q_
    std::vector<std::uint32_t> start_, columns_;  ///< by row
    std::vector<double> Q_;
    std::vector<matrix_entry> system_;
    sparse_lu lu_;
    std::vector<past> past_;
    std::vector<double> u_, v_, row_sum_, factor_;
    std::vector<double> inverse_factor_, right_;  ///< right side of the last solve(): Q u = (right - u)/factor
    std::vector<double> kappa_, w_;
    std::vector<slope> slopes_;
    std::array<double, steps> lengths_{};   ///< of past steps
    std::array<double, steps + 1> grid_{};  ///< H and lengths that value_ and rate_ are for
    formula value_{}, rate_{};
    double line_ = 0;        ///< to the middle of the step, over the way between the middles of the last two
    bool known_ = false;     ///< a step has been accepted
    bool new_Q_ = true;      ///< since the last weigh()
    bool factors_ = false;   ///< lu_ is that of factor_ and Q_
    bool coupled_ = true;    ///< some w is not 0
    bool implicit_ = false;  ///< all are 1
    bool solved_ = false;    ///< all were in the last solve()
};

}  // namespace mdpcosim
