#include "engine/iteration.hpp"

#include "scenario/resolve.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

std::optional<fixed_point_options> loop_options(const scenario& s) {
    if (!s.iteration.given) return std::nullopt;
    const auto infos = fixed_point_parameters({});
    return fixed_point_options_of(resolve_parameters(infos, s.iteration.options, s.iteration.where, "iteration"));
}

iteration_spec with_defaults(const iteration_spec& spec) {
    iteration_spec full = spec;
    if (full.given) full.options = with_defaults(fixed_point_parameters({}), spec.options);
    return full;
}

}  // namespace mdpcosim
