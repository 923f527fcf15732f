#include "subsystem/solvers/fixed_step.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace mdpcosim {

fixed_step_events::fixed_step_events(equations& model, std::size_t n, const char* name)
    : monitor(model, name),
      x0(n),
      z0(monitor.count()),
      z1(monitor.count()),
      before(monitor.count()),
      dx(n),
      guessed(monitor.count()) {}

std::vector<parameter_info> fixed_step_options() {
    return {{.name = "step",
             .unit = "s",
             .description = "largest micro step; not given: one micro step per macro step",
             .allowed = parameter_info::range::positive,
             .choices = {}}};
}

double step_option(const parameter_values& options) { return options.given("step") ? options["step"] : 0; }

void throw_not_finite(const char* solver, double t, const equations& model, const double* x, std::size_t n) {
    std::size_t i = 0;
    while (i + 1 < n && std::isfinite(x[i])) ++i;
    throw run_error(
        fmt::format("{} up to t = {:.9g}: state {} became {}. The step is too large for the model (unstable), or "
                    "its right-hand side is not defined there; take a smaller step",
                    solver, t, model.state_name(static_cast<int>(i)), x[i]));
}

void throw_bad_time_event(const char* solver, double t, double event) {
    throw run_error(fmt::format(
        "{} at t = {:.9g}: the model gives t = {:.9g} as its next time event, which is not later", solver, t, event));
}

}  // namespace mdpcosim
