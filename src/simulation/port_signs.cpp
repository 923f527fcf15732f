#include "simulation/port_signs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "simulation/simulation.hpp"

namespace mdpcosim {

namespace {

/// The motion after a step with `load` at the port.
double position_after(const scenario& s, const std::string& name, const std::string& port_name, double load) {
    const auto alone = make_alone(s, name);
    const subsystem_description& d = alone->describe();
    const auto found = std::ranges::find(d.ports, port_name, &port::name);
    if (found == d.ports.end() || found->causality != causality::takes_load || found->motion[0] < 0 ||
        found->load < 0 || found->kind == port_kind::frame || found->kind == port_kind::hydraulic)
        return std::nan("");
    std::vector<polynomial> inputs(static_cast<std::size_t>(d.input_count()));
    for (const auto& input : d.inputs)
        for (int k = 0; k < input.size; ++k)
            inputs[static_cast<std::size_t>(input.slot) + static_cast<std::size_t>(k)].c[0] = input.start;
    inputs[static_cast<std::size_t>(found->load)].c[0] += load;
    std::vector<double> y(static_cast<std::size_t>(d.output_count()));
    alone->initialise(s.time.start);
    alone->advance({s.time.start, s.time.start + s.time.step, 0}, inputs, y);
    return y[static_cast<std::size_t>(found->motion[0])];
}

/// Where the port stands in the scenario, and what turns it there.
void find_place(const scenario& s, const std::string& name, const std::string& port_name, reversed_port& of) {
    const auto entry = std::ranges::find(s.subsystems, name, &subsystem_spec::name);
    if (entry == s.subsystems.end()) return;
    const auto found = std::ranges::find(entry->ports, port_name, &port_spec::name);
    if (found == entry->ports.end()) return;
    of.where = found->where;
    for (const setting& variable : found->variables) {
        if (variable.values.empty() || !variable.values.front().value.starts_with('-')) continue;
        of.turned_by = fmt::format("{}: {}", variable.name, variable.values.front().value);
        of.turned_at = variable.values.front().where;
        return;
    }
}

}  // namespace

std::vector<std::string> coupled_ports(const scenario& s, const std::function<bool(const subsystem_spec&)>& wanted) {
    constexpr std::size_t most = 100;
    std::set<std::string> names, ports;
    for (const auto& entry : s.subsystems)
        if (wanted(entry)) names.insert(entry.name);
    for (const auto& connection : s.connections)
        for (const auto& end : connection.between)
            if (ports.size() < most && names.contains(end.value.substr(0, end.value.find('.'))))
                ports.insert(end.value);
    return {ports.begin(), ports.end()};
}

std::string way_to_turn(const reversed_port& port) {
    return fmt::format("change it there, or write a minus before it in the FMU's 'ports' ('force: -F'){}",
                       port.where.line > 0 ? ", " + to_string(port.where) : "");
}

void refuse_turned(const reversed_port& port) {
    if (port.turned_by.empty()) return;
    throw user_error(port.turned_at,
                     fmt::format("{} of what '{}' says: leave the minus out.", port.text, port.turned_by));
}

std::vector<reversed_port> reversed_ports(const scenario& s, const std::vector<std::string>& addresses) {
    constexpr double rounding = 1e-13;
    std::vector<reversed_port> found;
    for (const auto& address : addresses) {
        const std::size_t dot = address.find('.');
        if (dot == std::string::npos) continue;
        const std::string name = address.substr(0, dot), port_name = address.substr(dot + 1);
        try {
            const double free = position_after(s, name, port_name, 0);
            const double moved = position_after(s, name, port_name, 1);
            if (!(moved - free < -rounding * (std::abs(free) + std::abs(moved)))) continue;
            reversed_port& port = found.emplace_back();
            port.text = fmt::format(
                "port '{}' moves against its load: a load of +1 (SI) over the first macro step changes "
                "its motion by {:.3g}. In the model the load has the opposite sign",
                address, moved - free);
            find_place(s, name, port_name, port);
        } catch (const std::exception&) {  // one instance at a time, steps of another length: nothing is known then
        }
    }
    return found;
}

}  // namespace mdpcosim
