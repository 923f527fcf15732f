#include "assembly/fmu_notes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fmu/fmu_subsystem.hpp"

namespace mdpcosim {

namespace {

constexpr std::size_t most_names = 10;

bool is_fmu(const subsystem_spec& spec) { return spec.kind == subsystem_spec::source_kind::fmu; }

}  // namespace

std::vector<bool> silent_outputs(const scenario& s, const transport& subsystems) {
    std::vector<bool> silent(subsystems.outputs().size(), false);
    for (std::size_t i = 0; i < subsystems.size(); ++i) {
        const subsystem_index index(i);
        const auto& description = subsystems.describe(index);
        if (!is_fmu(s.subsystems[i]) || description.inputs.empty()) continue;
        std::vector<std::string> names = silent_fmu_outputs(s.subsystems[i]);
        if (names.empty()) continue;
        std::sort(names.begin(), names.end());
        const auto is_silent = [&](const std::string& name) {
            return std::binary_search(names.begin(), names.end(), name);
        };
        for (const auto& y : description.outputs)
            if (is_silent(y.name) || is_silent(y.name.substr(0, y.name.rfind('['))))
                silent[subsystems.output_offset(index) + static_cast<std::size_t>(y.slot)] = true;
    }
    return silent;
}

void add_fmu_notes(const scenario& s, const transport& subsystems, const std::vector<subsystem_index>& cut,
                   std::vector<std::string>& notes) {
    if (!cut.empty()) {
        std::string names;
        for (std::size_t i = 0; i < std::min(cut.size(), most_names); ++i)
            names += fmt::format("{}'{}'", i == 0 ? "" : ", ", subsystems.name(cut[i]));
        if (cut.size() > most_names) names += fmt::format(" and {} more", cut.size() - most_names);
        notes.push_back(
            fmt::format("fmu of {}: it does not say which inputs its outputs depend on. They stand in a loop, so that "
                        "they are taken as results of its last step.",
                        names));
    }
    for (const subsystem_spec& spec : s.subsystems) {
        if (!is_fmu(spec)) continue;
        for (const text& input : spec.fmu.continuous)
            notes.push_back(
                fmt::format("fmu of '{}': input '{}', which it declares discrete, takes extrapolated values, the mean "
                            "over each step "
                            "('continuous').",
                            spec.name, input.value));
        if (std::string note = check_driven_parameters(spec); !note.empty()) notes.push_back(std::move(note));
        const auto driven = [&](const std::string& input) {
            return std::ranges::any_of(s.signals,
                                       [&](const signal_spec& x) { return x.target.value == spec.name + "." + input; });
        };
        if (std::string note = check_fmu_clocks(spec, driven); !note.empty()) notes.push_back(std::move(note));
        const double H = spec.step.value.value_or(s.time.step);
        const time_grid grid(s.time.start, s.time.end, H);
        const macro_step last = grid.step(grid.steps() - 1);
        if (last.end - last.begin > (1 - 1e-9) * H) continue;
        std::string note = check_last_fmu_step(spec, H, last.end - last.begin, last.end);
        if (!note.empty()) notes.push_back(std::move(note));
    }
}

}  // namespace mdpcosim
