#include "subsystem/solvers/fixed_step.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace mdpcosim {

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

}  // namespace mdpcosim
