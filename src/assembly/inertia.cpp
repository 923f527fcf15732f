#include "assembly/inertia.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/suggest.hpp"
#include "scenario/resolve.hpp"

namespace mdpcosim {

namespace {

/// A node's pressure or potential slows what flows into it.
double direction(const port& p) {
    return p.kind == port_kind::hydraulic || p.causality == causality::takes_motion ? -1 : 1;
}

const port& port_named(const std::string& name, const setting& entry, const std::vector<port>& ports,
                       const std::string& object) {
    std::vector<std::string> names;
    for (const port& p : ports) {
        if (p.name == name) return p;
        names.push_back(p.name);
    }
    throw user_error(entry.where, fmt::format("{}: port '{}' does not exist. {}{}", object, name,
                                              names.empty() ? "The subsystem has no ports."
                                                            : fmt::format("Ports: {}.", name_list(names)),
                                              did_you_mean(name, names)));
}

}  // namespace

void add_inertias(subsystem_index s, const subsystem_spec& spec, const address_book& book, const transport& subsystems,
                  given_sensitivities& into) {
    const std::string object = fmt::format("subsystem '{}': inertia", spec.name);
    for (const setting& entry : spec.inertia) {
        std::vector<const port*> together;
        for (std::size_t at = 0; at <= entry.name.size();) {
            const std::size_t end = std::min(entry.name.find('+', at), entry.name.size());
            together.push_back(
                &port_named(entry.name.substr(at, end - at), entry, subsystems.describe(s).ports, object));
            at = end + 1;
        }
        const std::string unit = inertia_unit(together.front()->kind, together.front()->causality);
        for (const port* p : together)
            if (unit.empty() || inertia_unit(p->kind, p->causality) != unit)
                throw user_error(entry.where,
                                 fmt::format("{}: port '{}' of kind {} has no inertia{}.", object, p->name,
                                             info(p->kind).name, unit.empty() ? "" : fmt::format(" in {}", unit)));
        if (together.size() > 1 && direction(*together.front()) < 0)
            throw user_error(entry.where,
                             fmt::format("{}: only ports that give a position, angle, temperature or potential "
                                         "move as one; write '{}' and the others one by one.",
                                         object, together.front()->name));
        const text& value = entry.values.front();
        const bool rests = value.value == "inf" || value.value == ".inf";
        const double inertia = rests ? std::numeric_limits<double>::infinity()
                                     : read_number(value, unit, fmt::format("{}: {}", object, entry.name));
        if (entry.list || !(inertia > 0))
            throw user_error(value.where,
                             fmt::format("{}: {}: '{}' must be one number greater than zero [{}], or 'inf' for a port "
                                         "that does not give way (a ground, a motion that is prescribed).",
                                         object, entry.name, value.value, unit));
        for (const port* on : together)
            for (const port* of : together) {
                const bool takes_load = on->causality == causality::takes_load;
                const int input = takes_load ? on->load : on->motion[0];
                for (const int output : takes_load ? std::vector<int>{of->motion[0], of->motion[1]}
                                                   : std::vector<int>{of->load, of->load_integral})
                    if (input >= 0 && output >= 0)
                        into.push_back(
                            {book.global_input(s, input), book.global_output(s, output), direction(*on) / inertia});
            }
    }
}

}  // namespace mdpcosim
