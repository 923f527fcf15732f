#include "subsystem/description_parts.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>

namespace mdpcosim {

int add_input(subsystem_description& to, std::string name, std::string unit, std::string description, int size) {
    input_variable added;
    added.name = std::move(name);
    added.unit = std::move(unit);
    added.description = std::move(description);
    added.size = size;
    added.slot = to.input_count();
    to.inputs.push_back(std::move(added));
    return to.inputs.back().slot;
}

int add_output(subsystem_description& to, std::string name, std::string unit, std::string description, int size) {
    output_variable added;
    added.name = std::move(name);
    added.unit = std::move(unit);
    added.description = std::move(description);
    added.size = size;
    added.slot = to.output_count();
    to.outputs.push_back(std::move(added));
    return to.outputs.back().slot;
}

output_variable& output_named(subsystem_description& in, std::string_view name) {
    const auto found =
        std::find_if(in.outputs.begin(), in.outputs.end(), [&](const auto& o) { return o.name == name; });
    if (found == in.outputs.end()) throw std::logic_error("output '" + std::string(name) + "' is not described");
    return *found;
}

int add_mechanical_port(subsystem_description& to, const std::string& name, port_kind kind, std::string description) {
    const port_kind_info& words = info(kind);
    port added;
    added.name = name;
    added.kind = kind;
    added.load = add_input(to, name + "." + words.load, words.load_unit, words.load + " on port '" + name + "'");
    for (std::size_t i = 0; i < 3; ++i)
        added.motion[i] = add_output(to, name + "." + words.motion[i], words.motion_unit[i],
                                     words.motion[i] + " of port '" + name + "'");
    added.description = std::move(description);

    const auto value = to.outputs.end() - 3, rate = to.outputs.end() - 2, acceleration = to.outputs.end() - 1;
    value->rate_slot = rate->slot;
    rate->rate_slot = acceleration->slot;
    rate->rate_needs_input = true;
    acceleration->direct = {added.load};
    to.ports.push_back(std::move(added));
    return value->slot;
}

int add_frame_port(subsystem_description& to, const std::string& name, std::string description) {
    port added;
    added.name = name;
    added.kind = port_kind::frame;
    added.description = std::move(description);
    const int load = to.input_count(), motion = to.output_count();
    for (int k = 0; k < frame_load_count; ++k) added.load_slots.push_back(load + k);
    for (int k = 0; k < frame_motion::count; ++k) added.motion_slots.push_back(motion + k);
    for (const auto& v : frame_load_variables())
        add_input(to, name + "." + v.name, v.unit, v.name + " on port '" + name + "'", v.size);
    for (const auto& v : frame_motion_variables()) {
        add_output(to, name + "." + v.name, v.unit, v.name + " of port '" + name + "'", v.size);
        output_variable& output = to.outputs.back();
        for (const auto& [value, rate] : frame_motion::rates) {
            if (v.first != value) continue;
            output.rate_slot = motion + rate;
            output.rate_needs_input = rate >= frame_motion::acceleration;
        }
        if (v.first >= frame_motion::acceleration) output.direct = added.load_slots;
    }
    to.ports.push_back(std::move(added));
    return motion;
}

const subsystem_description& shared_description(const std::string& key,
                                                const std::function<void(subsystem_description&)>& fill) {
    // Never destroyed: who ends with the program may still use them.
    static auto& guard = *new std::mutex;
    static auto& by_structure = *new std::map<std::string, subsystem_description>;
    const std::lock_guard lock(guard);
    const auto [entry, added] = by_structure.try_emplace(key);
    if (added) fill(entry->second);
    return entry->second;
}

int add_hydraulic_port(subsystem_description& to, const std::string& name, std::string description) {
    port added;
    added.name = name;
    added.kind = port_kind::hydraulic;
    added.load = add_input(to, name + ".pressure", "Pa", "pressure of the node at port '" + name + "'");
    added.motion[0] = add_output(to, name + ".volume", "m3", "volume that flowed into the node at port '" + name + "'");
    added.motion[1] = add_output(to, name + ".flow", "m3/s", "flow into the node at port '" + name + "'");
    added.description = std::move(description);
    (to.outputs.end() - 2)->rate_slot = added.motion[1];
    to.ports.push_back(std::move(added));
    return to.ports.back().motion[0];
}

int add_potential_port(subsystem_description& to, const std::string& name, port_kind kind, std::string description) {
    const port_kind_info& words = info(kind);
    port added;
    added.name = name;
    added.kind = kind;
    added.load = add_input(to, name + "." + words.load, words.load_unit, words.load + " into port '" + name + "'");
    added.motion[0] =
        add_output(to, name + "." + words.motion[0], words.motion_unit[0], words.motion[0] + " of port '" + name + "'");
    added.description = std::move(description);
    to.ports.push_back(std::move(added));
    return to.ports.back().motion[0];
}

int add_branch_port(subsystem_description& to, const std::string& name, std::string description) {
    port added;
    added.name = name;
    added.kind = port_kind::electric;
    added.causality = causality::takes_motion;
    added.motion[0] = add_input(to, name + ".potential", "V", "potential of the node at port '" + name + "'");
    added.load_integral =
        add_output(to, name + ".charge", "C", "charge that flowed into the node at port '" + name + "'");
    added.load = add_output(to, name + ".current", "A", "current into the node at port '" + name + "'");
    added.description = std::move(description);
    (to.outputs.end() - 2)->rate_slot = added.load;
    to.ports.push_back(std::move(added));
    return to.ports.back().load_integral;
}

}  // namespace mdpcosim
