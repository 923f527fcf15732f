#include "core/port_kind.hpp"

#include <vector>

namespace mdpcosim {

namespace {

const std::vector<port_kind_info>& table() {
    static const std::vector<port_kind_info> kinds{
        {port_kind::translation,
         "translation",
         {"position", "velocity", "acceleration"},
         {"m", "m/s", "m/s2"},
         "force",
         "N"},
        {port_kind::rotation,
         "rotation",
         {"angle", "speed", "acceleration"},
         {"rad", "rad/s", "rad/s2"},
         "torque",
         "N.m"},
        {port_kind::hydraulic, "hydraulic", {"volume", "flow", ""}, {"m3", "m3/s", ""}, "pressure", "Pa"},
        {port_kind::thermal, "thermal", {"temperature", "", ""}, {"K", "", ""}, "heat-flow", "W"},
        {port_kind::electric, "electric", {"potential", "", ""}, {"V", "", ""}, "current", "A", "charge", "C"},
        {port_kind::magnetic, "magnetic", {"potential", "", ""}, {"A", "", ""}, "flux", "Wb"},
        {port_kind::frame, "frame", {"position", "velocity", "acceleration"}, {"m", "m/s", "m/s2"}, "force", "N"},
        {port_kind::signal, "signal", {"value", "rate", ""}, {"", "", ""}, "value", ""},
    };
    return kinds;
}

}  // namespace

std::span<const port_kind_info> port_kinds() { return table(); }

const port_kind_info& info(port_kind kind) { return table()[static_cast<std::size_t>(kind)]; }

std::optional<port_kind> find_port_kind(std::string_view name) {
    for (const auto& entry : table())
        if (entry.name == name) return entry.kind;
    return std::nullopt;
}

std::span<const frame_variable> frame_motion_variables() {
    static const std::vector<frame_variable> all{
        {"position", "m", frame_motion::position, 3},
        {"orientation", "1", frame_motion::orientation, 4},
        {"velocity", "m/s", frame_motion::velocity, 3},
        {"angular-velocity", "rad/s", frame_motion::angular_velocity, 3},
        {"acceleration", "m/s2", frame_motion::acceleration, 3},
        {"angular-acceleration", "rad/s2", frame_motion::angular_acceleration, 3},
    };
    return all;
}

std::span<const frame_variable> frame_load_variables() {
    static const std::vector<frame_variable> all{{"force", "N", 0, 3}, {"torque", "N.m", 3, 3}};
    return all;
}

std::string frame_element_name(std::span<const frame_variable> variables, int k) {
    std::size_t i = variables.size() - 1;
    while (k < variables[i].first) --i;
    return variables[i].name + "[" + std::to_string(k - variables[i].first) + "]";
}

std::string unit_for(port_kind kind, std::string_view pattern) {
    const port_kind_info& units = info(kind);
    std::string text(pattern);
    const auto put = [&text](std::string_view place, const std::string& unit) {
        for (auto at = text.find(place); at != std::string::npos; at = text.find(place))
            text.replace(at, place.size(), unit);
    };
    put("{load}", units.load_unit);
    put("{motion}", units.motion_unit[0]);
    put("{rate}", units.motion_unit[1]);
    return text;
}

std::string inertia_unit(port_kind kind, causality direction) {
    const bool takes_load = direction == causality::takes_load;
    switch (kind) {
        case port_kind::translation:
            return takes_load ? "kg" : "";
        case port_kind::rotation:
            return takes_load ? "kg.m2" : "";
        case port_kind::hydraulic:
            return takes_load ? "kg/m4" : "";
        case port_kind::thermal:
            return takes_load ? "J/K" : "";
        case port_kind::electric:
            return takes_load ? "F" : "H";
        default:
            return "";
    }
}

}  // namespace mdpcosim
