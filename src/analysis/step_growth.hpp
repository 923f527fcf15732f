#pragma once

#include <optional>

#include "analysis/stand_in.hpp"

/// How a coupled system of identified subsystems grows in one macro step of a scenario's method, and the largest macro step with which it
/// does not grow by more than the system itself does.
///
/// Up to `most_dense` unknowns the macro step is a matrix, found by columns as analysis/recurrence.hpp does; its spectral radius is meant; more are
/// refused. Where a sampled subsystem takes part as it is, two runs from neighbouring states tell how fast they part.
namespace mdpcosim {

/// What instability is: growth in a macro step by more than this part, besides the growth of the coupled system itself.
inline constexpr double allowed_growth = 1e-3;

/// The motion that grows first.
struct limiting_mode {
    double frequency = 0;     ///< Hz; half of the sampling frequency where it changes its sign in every step
    bool alternates = false;  ///< it does
    std::vector<std::pair<std::string, double>>
        subsystems;  ///< that take part, and their parts of 1; the largest first
};

class step_growth {
   public:
    /// `s` has the method and the extrapolation; user_error where that is not possible.
    step_growth(scenario s, const identified_system& known, std::map<std::string, law_slope> slopes);
    ~step_growth();

    double radius(double H);
    /// Nothing where the macro step is no matrix.
    std::optional<limiting_mode> mode(double H);
    bool by_matrix() const;
    std::size_t unknowns() const;
    /// Integrations of all subsystems, trials included, in a macro step of this length.
    double integrations(double H);

   private:
    struct impl;
    std::unique_ptr<impl> self_;
};

struct step_limit {
    enum class kind {
        limit,      ///< stable up to `largest`, the first crossing
        unbounded,  ///< stable up to `largest`, where the search ended
        none        ///< not even `largest`, the smallest step looked at, is stable
    };
    kind outcome = kind::limit;
    double largest = 0;
};

/// Among steps from `from` to `to`; `sigma` is the growth rate of the system itself. `sample`: steps are whole parts of it, 0: any.
step_limit find_step_limit(step_growth& growth, double sigma, double from, double to, double sample);

}  // namespace mdpcosim
