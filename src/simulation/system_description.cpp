#include "simulation/system_description.hpp"

#include "core/json.hpp"
#include "core/port_kind.hpp"
#include "simulation/scenes.hpp"

namespace mdpcosim {

namespace {

json ports_json(const subsystem_description& d) {
    json ports = json::array();
    for (const auto& p : d.ports) {
        const auto& words = info(p.kind);
        ports.push_back({{"name", p.name},
                         {"kind", words.name},
                         {"takes", p.kind == port_kind::frame             ? "force and torque"
                                   : p.causality == causality::takes_load ? words.load
                                                                          : words.motion[0]}});
    }
    return ports;
}

json channel_json(const channel_report& c) {
    json ends = json::array();
    for (const auto& e : c.ends) ends.push_back({{"address", e.address}, {"factor", e.factor}, {"degree", e.degree}});
    return {{"name", c.is_signal ? c.name : c.connection()},
            {"law", c.law_name},
            {"text", c.law},
            {"unit", c.unit},
            {"signal", c.is_signal},
            {"node", c.is_node},
            {"extrapolation", c.extrapolation},
            {"ends", std::move(ends)}};
}

json scene_json(const subsystem_scene& scene) {
    json shapes = json::array();
    for (const auto& x : scene.scene.shapes)
        shapes.push_back({{"kind", x.kind},
                          {"points", x.points},
                          {"size", x.size},
                          {"rotation", x.rotation},
                          {"ports", x.ports},
                          {"vectors", x.vectors},
                          {"place", x.place},
                          {"closed", x.closed}});
    json constants = json::object();
    for (const auto& [name, value] : scene.constants) constants[name] = value;
    return {{"subsystem", scene.subsystem},
            {"row", scene.scene.row},
            {"constants", std::move(constants)},
            {"shapes", std::move(shapes)}};
}

}  // namespace

std::string system_json(const scenario& s, const assembly& a) {
    const transport& subsystems = *a.system.subsystems;
    json list = json::array();
    for (std::size_t i = 0; i < subsystems.size(); ++i) {
        const auto& d = subsystems.describe(subsystem_index(i));
        list.push_back({{"name", subsystems.name(subsystem_index(i))},
                        {"type", d.type},
                        {"solver", s.subsystems[i].solver.name.value},
                        {"ports", ports_json(d)}});
    }
    json connections = json::array();
    std::size_t signal = 0;
    for (const auto& c : a.channels) {
        if (c.internal || c.equation > 0) continue;
        connections.push_back(channel_json(c));
        if (!c.is_signal) continue;
        while (signal < s.signals.size() && s.signals[signal].name != c.name) ++signal;  // those of texts
        if (signal == s.signals.size()) continue;
        json from = json::array();
        for (const auto& term : s.signals[signal].terms) from.push_back(term.address.value);
        connections.back()["from"] = std::move(from);
        ++signal;
    }
    for (const auto& t : a.text_signals)
        connections.push_back({{"name", t.to},
                               {"law", ""},
                               {"text", t.from},
                               {"unit", ""},
                               {"signal", true},
                               {"node", false},
                               {"extrapolation", ""},
                               {"ends", {{{"address", t.to}, {"factor", 1}, {"degree", 0}}}},
                               {"from", {t.from}}});
    json scenes = json::array();
    for (const auto& scene : collect_scenes(s, a)) scenes.push_back(scene_json(scene));
    json columns = json::array();
    for (const auto& c : a.columns) columns.push_back({{"name", c.name}, {"unit", c.unit}});
    const json document{{"subsystems", std::move(list)},
                        {"connections", std::move(connections)},
                        {"scenes", std::move(scenes)},
                        {"columns", std::move(columns)}};
    return document.dump() + "\n";
}

std::vector<std::string> connection_names(const assembly& a) {
    std::vector<std::string> names;
    for (const auto& c : a.channels) names.push_back(c.is_signal || c.internal ? "" : c.name);
    return names;
}

}  // namespace mdpcosim
