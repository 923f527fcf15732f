#include "fmi/instance.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "core/error.hpp"
#include "fmi/instance_versions.hpp"

namespace mdpcosim::fmi {

namespace {

[[noreturn]] void no_clocks() { throw std::logic_error("fmi: there are no clocks before FMI 3.0"); }

}  // namespace

void instance::set_clock(value_reference) { no_clocks(); }
bool instance::get_clock(value_reference) { no_clocks(); }
instance::interval_is instance::get_interval(value_reference, double&) { no_clocks(); }
double instance::get_shift(value_reference) { no_clocks(); }

std::unique_ptr<instance> make_instance(const std::shared_ptr<const fmu_files>& fmu, const instance_options& options) {
    const description& d = fmu->description();
    const bool wants_steps = options.kind == kind::co_simulation;
    if (wants_steps ? !d.co_simulation : !d.model_exchange)
        throw user_error(fmt::format("FMU '{}' does not offer {}, only {}.", fmu->path().string(),
                                     wants_steps ? "co-simulation" : "model exchange",
                                     wants_steps ? "model exchange" : "co-simulation"));
    std::shared_ptr<fmu_library> library = load_library(fmu, options.kind);
    switch (d.version) {
        case version::v1:
            return make_instance_1(std::move(library), options);
        case version::v2:
            return make_instance_2(std::move(library), options);
        default:
            return make_instance_3(std::move(library), options);
    }
}

}  // namespace mdpcosim::fmi
