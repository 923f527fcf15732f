#include "master/requirements.hpp"

#include <fmt/format.h>

namespace mdpcosim {

void require_save_restore(const coupled_system& system, const std::string& why, const std::string& less) {
    std::string lacking;
    for (std::size_t i = 0; i < system.subsystems->size(); ++i) {
        const auto offered = system.subsystems->offers(subsystem_index(i));
        if (!offered.save_restore)
            lacking +=
                fmt::format("\n  {}: {}", system.subsystems->name(subsystem_index(i)), offered.why_no_save_restore);
    }
    if (!lacking.empty())
        throw user_error(
            fmt::format("{}, and needs subsystems that can save and restore their state. These cannot:{}\nThe way that "
                        "needs less: {}.",
                        why, lacking, less));
}

}  // namespace mdpcosim
