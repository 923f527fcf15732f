#include "transport/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mdpcosim {

subsystem_failure::subsystem_failure(std::string subsystem, double t, const std::string& reason, std::string cause)
    : run_error(fmt::format("subsystem '{}' failed at t = {:.10g} s: {}", subsystem, t, reason)),
      subsystem_(std::move(subsystem)),
      time_(t),
      cause_(std::move(cause)) {
    if (cause_.empty()) cause_ = reason;
}

namespace {

template <class Variable>
std::string slot_name(const std::vector<Variable>& variables, int slot) {
    for (const auto& v : variables)
        if (slot >= v.slot && slot < v.slot + v.size) return element_name(v, slot);
    return fmt::format("[{}]", slot);
}

}  // namespace

int first_not_finite(std::span<const double> y) {
    if (all_finite(y)) return -1;
    return static_cast<int>(std::find_if(y.begin(), y.end(), [](double v) { return !std::isfinite(v); }) - y.begin());
}

std::string not_finite_reason(const subsystem_description& d, std::span<const double> y, int slot) {
    return fmt::format("output '{}' is {}", slot_name(d.outputs, slot), y[static_cast<std::size_t>(slot)]);
}

std::string bad_input_reason(const subsystem_description& d, std::span<const double> inputs) {
    const int slot = first_not_finite(inputs);
    if (slot < 0) return {};
    return fmt::format(
        "its input '{}' was {} before it began: what drives the input gave numbers that are too large, or none, "
        "and is to be looked at first",
        slot_name(d.inputs, slot), inputs[static_cast<std::size_t>(slot)]);
}

subsystem_failure failure_in_step(const std::string& subsystem, const std::string& reason, const macro_step& step,
                                  const subsystem_description& d, std::span<const polynomial> inputs) {
    std::string why = reason;
    for (std::size_t k = 0; k < inputs.size(); ++k)
        if (const auto& p = inputs[k]; !all_finite(std::span(p.c).first(static_cast<std::size_t>(p.degree) + 1))) {
            std::vector<double> values(inputs.size());
            values[k] = p.c[static_cast<std::size_t>(
                first_not_finite(std::span(p.c).first(static_cast<std::size_t>(p.degree) + 1)))];
            why = bad_input_reason(d, values);
            break;
        }
    std::string text =
        fmt::format("{} (macro step {} from {:.10g} s to {:.10g} s", why, step.counter, step.begin, step.end);
    const std::size_t shown = std::min<std::size_t>(inputs.size(), 5);
    for (std::size_t k = 0; k < shown; ++k)
        text += fmt::format("{}{} = {:.6g}", k == 0 ? "; inputs at its start: " : ", ",
                            slot_name(d.inputs, static_cast<int>(k)), inputs[k].c[0]);
    if (inputs.size() > shown) text += fmt::format(" and {} more", inputs.size() - shown);
    return {subsystem, step.begin, text + ")", why};
}

std::string reason_of_exception() {
    try {
        throw;
    } catch (const std::exception& problem) {
        return problem.what();
    } catch (...) {
        return "an exception of unknown type";
    }
}

}  // namespace mdpcosim
