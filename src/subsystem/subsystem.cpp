#include "subsystem/subsystem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace mdpcosim {

std::string element_name(const variable& v, int slot) {
    return v.size == 1 ? v.name : fmt::format("{}[{}]", v.name, slot - v.slot);
}

void subsystem::advance_and_follow(const macro_step& step, const polynomial* inputs, const double* u, double* y,
                                   bool& advanced) {
    const auto input_count = static_cast<std::size_t>(describe().input_count());
    const std::span<double> all_outputs(y, static_cast<std::size_t>(describe().output_count()));
    advance(step, {inputs, input_count}, all_outputs);
    advanced = true;
    outputs({u, input_count}, all_outputs);
}

void subsystem::rate_sensitivities(std::span<const double>, int, std::span<double> by_output) {
    std::ranges::fill(by_output, std::numeric_limits<double>::quiet_NaN());
}

// Methods check offers().save_restore before the run, so that these three are reached by a programming error only.

std::unique_ptr<snapshot> subsystem::make_snapshot() const { throw std::logic_error("no save/restore"); }

void subsystem::save(snapshot&) { throw std::logic_error("no save/restore"); }

void subsystem::restore(const snapshot&) { throw std::logic_error("no save/restore"); }

}  // namespace mdpcosim
