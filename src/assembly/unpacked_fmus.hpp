#pragma once

#include <memory>
#include <vector>

#include "core/error.hpp"
#include "fmi/archive.hpp"
#include "scenario/spec.hpp"

namespace mdpcosim {

/// What stays unpacked while it is asked about again and again; where subsystems live in processes, nobody else here holds their FMUs.
inline std::vector<std::shared_ptr<const fmi::fmu_files>> unpacked_fmus(const scenario& s) {
    std::vector<std::shared_ptr<const fmi::fmu_files>> files;
    for (const auto& spec : s.subsystems) {
        if (spec.kind != subsystem_spec::source_kind::fmu) continue;
        try {
            files.push_back(fmi::open_fmu(spec.path));
        } catch (const user_error&) {  // told with its place by whoever needs it
        }
    }
    return files;
}

}  // namespace mdpcosim
