#include "subsystem/solvers/adaptive_options.hpp"

#include <fmt/format.h>

namespace mdpcosim {

std::vector<parameter_info> adaptive_option_list() {
    using range = parameter_info::range;
    return {{"rtol", "1", "relative tolerance of one micro step", 1e-6, range::positive, false, false, {}},
            {"atol",
             "1",
             "absolute tolerance of one micro step, in the states' SI units",
             1e-9,
             range::positive,
             false,
             false,
             {}},
            {"max-steps", "1", "most micro steps in one macro step", 100000, range::whole, false, false, {}},
            {"max-step", "s", "largest micro step; not given: no limit", 0, range::positive, false, false, {}}};
}

adaptive_options read_adaptive_options(const parameter_values& values) {
    return {values["rtol"], values["atol"], static_cast<std::int64_t>(values["max-steps"]),
            values.given("max-step") ? values["max-step"] : 0};
}

namespace {

constexpr const char* stiff_advice =
    "a stiff model needs an implicit solver, 'solver: cvode-bdf' or 'solver: dirk-4'; if it is not stiff, ";

}  // namespace

std::string too_many_steps(const adaptive_options& options, bool explicit_method) {
    return fmt::format(
        "too many steps (more than {} micro steps in one macro step); {}loosen rtol/atol or raise max-steps",
        options.max_steps, explicit_method ? stiff_advice : "");
}

std::string tolerances_too_tight(const adaptive_options& options) {
    return fmt::format("the tolerances rtol = {:g}, atol = {:g} ask for more than double precision gives; loosen them",
                       options.rtol, options.atol);
}

std::string error_test_fails(bool explicit_method) {
    return fmt::format(
        "the error test fails again and again, even with tiny micro steps; {}the right-hand side jumps or grows "
        "without bound there. Make it smoother, or report the jump as an event",
        explicit_method ? stiff_advice : "");
}

std::string not_finite_right_hand_side(const std::string& state, double when) {
    return fmt::format(
        "the right-hand side is not finite (derivative of state {} at t = {:.9g}), also with small micro steps; the "
        "model is not defined there",
        state, when);
}

}  // namespace mdpcosim
