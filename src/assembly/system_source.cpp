/// `system:` of a subsystem: another scenario, whose subsystems and connections are the equations of this one.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "assembly/assembly.hpp"
#include "assembly/described_subsystems.hpp"
#include "reference/system_equations.hpp"
#include "scenario/read.hpp"
#include "subsystem/factory.hpp"
#include "subsystem/source.hpp"

namespace mdpcosim {

namespace {

using inner_kind = subsystem_spec::source_kind;

/// What `set` says reaches the inner scenario as --set would.
std::vector<scenario_override> given_to(const subsystem_spec& spec) {
    std::vector<scenario_override> given;
    for (const setting& s : spec.set) {
        std::string value;
        for (const text& one : s.values) value += (value.empty() ? "" : ", ") + one.value;
        given.push_back({s.name, s.list ? "[" + value + "]" : value,
                         fmt::format("{}: subsystem '{}': set: {}", to_string(s.where), spec.name, s.name)});
    }
    return given;
}

scenario read_system(const subsystem_spec& spec) {
    if (!std::filesystem::is_regular_file(spec.path))
        throw user_error(spec.source.where, fmt::format("subsystem '{}': system '{}': the file '{}' does not exist.",
                                                        spec.name, spec.source.value, spec.path.string()));
    scenario inner = read_scenario(spec.path, given_to(spec));
    for (const subsystem_spec& part : inner.subsystems) {
        const std::string object = fmt::format("subsystem '{}', part of the system '{}'", part.name, spec.name);
        if (part.kind == inner_kind::system)
            throw user_error(part.where, fmt::format("{}: a system has no systems in it. Give its subsystems and "
                                                     "connections here.",
                                                     object));
        if (!part.built_in())
            throw user_error(part.where,
                             fmt::format("{}: a system is made of models, equations (ode) and files; {}s bring code "
                                         "of their own. Take it out of the system.",
                                         object, to_string(part.kind)));
        if (is_sampled(part))
            throw user_error(part.where, fmt::format("{}: sampled models work at macro points, which a system does "
                                                     "not see. Take it out of the system.",
                                                     object));
    }
    return inner;
}

std::unique_ptr<equations> make_system(const subsystem_spec& spec) {
    const scenario inner = read_system(spec);
    assembly made = assemble_reference(inner);
    std::vector<system_equations::shown_channel> channels;
    std::vector<bool> nodes;
    for (std::size_t c = 0; c < made.channels.size(); ++c) {
        const channel_report& report = made.channels[c];
        nodes.push_back(report.is_node);
        if (report.internal || !report.recorded_name) continue;
        channels.push_back({report.column.empty() ? report.name + ".u" : report.column, report.unit, channel_index(c)});
    }
    composite_parts parts{std::move(static_cast<coupling_structure&>(made.system)),
                          static_cast<described_subsystems&>(*made.system.subsystems).take_parts()};
    for (algebraic_loop& loop : parts.loops)
        loop = algebraic_loop(loop.torn(), loop.path(), fixed_point_options{.tolerance = 1e-12});
    return std::make_unique<system_equations>(
        std::move(parts),
        fmt::format("system {} of {} subsystem{}", spec.path.filename().string(), inner.subsystems.size(),
                    inner.subsystems.size() == 1 ? "" : "s"),
        channels, nodes);
}

const source_registration registered{
    {.name = "system", .make_equations = make_system, .write_defaults = [](subsystem_spec&) { return true; }}};

}  // namespace

}  // namespace mdpcosim
