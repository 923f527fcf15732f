#include "scenario/spec.hpp"

namespace mdpcosim {

const char* to_string(subsystem_spec::source_kind kind) {
    constexpr const char* names[] = {"model", "ode", "file", "plugin", "fmu", "program"};
    return names[static_cast<int>(kind)];
}

}  // namespace mdpcosim
