#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/result_table.hpp"
#include "results/verdict.hpp"

/// Errors of a run, estimated from the same scenario with half and with twice the macro step H:
///
///     error of x_H = (x_H - x_{H/2}) 2^p/(2^p - 1),        p = log2( rms(x_2H - x_H) / rms(x_H - x_{H/2}) )
///
/// where p, the observed order, is taken as 1 when 2H gives no result. What does not depend on the macro step (the error of a subsystem's own
/// solver, a wrong model) is not seen.
namespace mdpcosim {

struct verification {
    struct variable {
        std::string name;
        double error = 0;             ///< estimate of the largest
        double time = 0;              ///< where it is
        double relative = 0;          ///< over the variable's range
        std::optional<double> order;  ///< observed; absent: not known, or the differences are rounding errors
        bool coupled = false;         ///< takes part in a coupling: it counts for the verdict
    };
    std::vector<variable> variables;  ///< coupled ones first, the worst first
    std::optional<double> order;      ///< median of the coupled variables'
    std::string half, twice;          ///< "done", or why there are no results
    std::string unmeasured;           ///< a coupling of which nothing was recorded: guesses stay; empty: there is none
    bool controlled = false;  ///< macro steps follow tolerances, which were divided by four and multiplied by it

    const variable* worst() const {
        return variables.empty() || !variables.front().coupled ? nullptr : &variables.front();
    }
};

/// `twice` may have no rows.
verification verify(const result_table& run, const result_table& half, const result_table& twice,
                    const std::vector<std::string>& coupled);

/// The estimate in place of what one run alone could guess.
void judge(const verification& v, verdict& judged);

/// The worst variables, and the order.
std::string to_table(const verification& v);

}  // namespace mdpcosim
