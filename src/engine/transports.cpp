#include "engine/transports.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/suggest.hpp"
#include "engine/engine.hpp"
#include "subsystem/factory.hpp"
#include "transport/processes.hpp"
#include "transport/threads.hpp"

namespace mdpcosim {

namespace {

std::size_t number_of(const scenario& s, const std::string& subsystem) {
    const auto named = [&](const subsystem_spec& spec) { return spec.name == subsystem; };
    return static_cast<std::size_t>(std::ranges::find_if(s.subsystems, named) - s.subsystems.begin());
}

std::unique_ptr<transport> make_threads(const scenario& s, const transport_options& how) {
    std::vector<named_subsystem> subsystems;
    subsystems.reserve(s.subsystems.size());
    for (const auto& spec : s.subsystems)
        subsystems.push_back({spec.name, make_subsystem(on_macro_grid(spec, s.time.step))});
    return make_thread_transport(std::move(subsystems), how.workers, true, binding_of(s, how));
}

std::unique_ptr<transport> make_processes(const scenario& s, const transport_options& how) {
    std::vector<subsystem_recipe> recipes;
    for (const auto& spec : s.subsystems) {
        subsystem_spec inside = on_macro_grid(spec, s.time.step);
        inside.fmu.isolate = false;  // it has its process already
        const double limit = inside.fmu.limit;
        recipes.push_back({spec.name, [inside = std::move(inside)] { return make_subsystem(inside); }, limit});
    }
    return make_process_transport(std::move(recipes), groups_of(s, how.workers), binding_of(s, how));
}

}  // namespace

std::vector<std::vector<int>> groups_of(const scenario& s, int parties) {
    std::vector<std::vector<int>> groups;
    std::vector<bool> grouped(s.subsystems.size(), false);
    for (const auto& names : s.placement.groups) {
        groups.emplace_back();
        for (const auto& name : names) {
            groups.back().push_back(static_cast<int>(number_of(s, name.value)));
            grouped[static_cast<std::size_t>(groups.back().back())] = true;
        }
        std::ranges::sort(groups.back());
    }
    std::vector<int> rest;
    for (std::size_t i = 0; i < grouped.size(); ++i)
        if (!grouped[i]) rest.push_back(static_cast<int>(i));
    const std::size_t given = groups.size(), n = rest.size();
    const std::size_t left = static_cast<std::size_t>(parties) > given ? static_cast<std::size_t>(parties) - given : 1;
    const std::size_t lists = parties == 0 ? n : std::min(n, left);
    for (std::size_t p = 0; p < lists; ++p)
        groups.emplace_back(rest.begin() + static_cast<std::ptrdiff_t>(p * n / lists),
                            rest.begin() + static_cast<std::ptrdiff_t>((p + 1) * n / lists));
    return groups;
}

binding binding_of(const scenario& s, const transport_options& how) {
    binding where;
    if (!how.pin) return where;
    where.automatic = true;
    for (const auto& entry : s.placement.cores) {
        const int unit = std::stoi(entry.values[0].value);
        const auto& units = processing_units();
        if (std::find(units.begin(), units.end(), unit) == units.end())
            throw user_error(entry.values[0].where,
                             fmt::format("placement: cores: '{}' cannot be bound to unit {}: this process may use {}.",
                                         entry.name, unit, fmt::join(units, ", ")));
        if (entry.name == "master") {
            where.master = unit;
            continue;
        }
        where.units.resize(s.subsystems.size(), -1);
        where.units[number_of(s, entry.name)] = unit;
    }
    return where;
}

const std::vector<std::string>& transport_names() {
    static const std::vector<std::string> names{"threads", "processes"};
    return names;
}

transport_kind transport_named(const std::string& name) {
    const auto& names = transport_names();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw user_error(unknown_name("transport", name, "mdpcosim", names));
    return static_cast<transport_kind>(found - names.begin());
}

std::unique_ptr<transport> make_transport(const scenario& s, const transport_options& how) {
    return how.kind == transport_kind::threads ? make_threads(s, how) : make_processes(s, how);
}

}  // namespace mdpcosim
