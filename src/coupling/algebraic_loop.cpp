#include "coupling/algebraic_loop.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace mdpcosim {

algebraic_loop::algebraic_loop(std::vector<channel_index> torn, std::string path, const fixed_point_options& options)
    : torn_(std::move(torn)),
      path_(std::move(path)),
      solver_(torn_.size(), options),
      x_(torn_.size()),
      g_(torn_.size()) {}

void algebraic_loop::fail(double t, const network& net) const {
    const fixed_point_options& options = solver_.options();
    const bool newton = options.algorithm == fixed_point_options::solver::newton;
    throw run_error(
        fmt::format("algebraic loop {} at t = {} s: {} after {} iterations of {} ({} evaluations); last residual "
                    "{:.3g} at '{}' = {:.6g}, "
                    "tolerance {:g}. Try 'iteration: {{solver: {}}}', a higher 'limit' than {}, start values nearer to "
                    "the solution, or "
                    "put a state into the loop, for example a lag-1 subsystem",
                    path_, t, solver_.why_failed(), solver_.iterations(), name_of(options.algorithm),
                    solver_.evaluations(), solver_.residual(), net.name(torn_[solver_.worst()]), g_[solver_.worst()],
                    options.tolerance, newton ? "anderson" : "newton", options.limit));
}

}  // namespace mdpcosim
