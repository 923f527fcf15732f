#include "scenario/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/suggest.hpp"
#include "core/units.hpp"
#include "scenario/map_reader.hpp"
#include "scenario/resolve.hpp"

namespace mdpcosim {

namespace {

yaml_node& entry(yaml_node& map, const std::string& key, const location& where) {
    if (map.kind == yaml_node::type::null) map.kind = yaml_node::type::map;
    if (yaml_node* found = map.find(key)) return *found;
    map.entries.emplace_back(yaml_key{key, where}, yaml_node{});
    map.entries.back().second.where = where;
    return map.entries.back().second;
}

/// A short form (`solver: erk-5`) as the map it stands for.
yaml_node& as_map(yaml_node& node, const char* key) {
    if (node.kind != yaml_node::type::scalar) return node;
    yaml_node map;
    map.kind = yaml_node::type::map;
    map.where = node.where;
    map.entries.emplace_back(yaml_key{key, node.where}, node);
    node = std::move(map);
    return node;
}

std::vector<std::string> keys(const yaml_node* map) {
    std::vector<std::string> names;
    if (map != nullptr)
        for (const auto& [key, value] : map->entries) names.push_back(key.name);
    return names;
}

/// Recorded data has no parameters; what can be set are the keys of its entry.
yaml_node& target_in_file(yaml_node& subsystem, const std::string& object, const std::string& rest,
                          const location& where) {
    if (rest == "file" || rest == "interpolation" || rest == "outside") return entry(subsystem, rest, where);
    if (rest.starts_with("units.")) return entry(entry(subsystem, "units", where), rest.substr(6), where);
    throw user_error(
        where,
        fmt::format("subsystem '{}': '{}' cannot be set, since a file has no parameters. It has: file, interpolation, "
                    "outside, units.COLUMN.",
                    object, rest));
}

/// Where a setting from the command line belongs in the file: `let`, a subsystem's parameter or solver option, a
/// connection's parameter, or a top-level section.
yaml_node& target_of(yaml_node& root, const scenario_override& change, const location& where) {
    const std::size_t dot = change.address.find('.');
    const std::string object = change.address.substr(0, dot);
    if (dot == std::string::npos) {
        if (object == "method" || object == "extrapolation" || object == "replicas" || object == "iteration")
            return entry(root, object, where);
        yaml_node* let = root.find("let");
        if (let == nullptr || let->find(object) == nullptr)
            throw user_error(where, unknown_name("let value", object, "'let'", keys(let)) +
                                        " A parameter is written 'object.parameter=value'.");
        return *let->find(object);
    }
    const std::string rest = change.address.substr(dot + 1);
    if (rest.empty()) throw user_error(where, "a name is missing behind the point: write 'object.parameter=value'.");
    if (object == "method") return entry(as_map(entry(root, object, where), "name"), rest, where);
    if (object == "time" || object == "record" || object == "step-control")
        return entry(entry(root, object, where), rest, where);
    yaml_node* subsystems = root.find("subsystems");
    if (yaml_node* found = subsystems == nullptr ? nullptr : subsystems->find(object)) {
        if (found->find("file") != nullptr) return target_in_file(*found, object, rest, where);
        static const std::vector<std::string> of_fmus{"fmu", "interface", "isolate", "tolerance", "outputs", "log"};
        if (found->find("fmu") != nullptr && std::find(of_fmus.begin(), of_fmus.end(), rest) != of_fmus.end())
            return entry(*found, rest, where);
        if (rest == "plugin" && found->find("plugin") != nullptr) return entry(*found, rest, where);
        if ((rest == "program" || rest == "folder") && found->find("program") != nullptr)
            return entry(*found, rest, where);
        if (rest.starts_with("solver."))
            return entry(as_map(entry(*found, "solver", where), "name"), rest.substr(7), where);
        if (rest.starts_with("inertia.")) return entry(entry(*found, "inertia", where), rest.substr(8), where);
        if (rest.starts_with("sample."))
            return entry(as_map(entry(*found, "sample", where), "time"), rest.substr(7), where);
        if (rest == "solver" || rest == "sample" || rest == "step" || rest == "input-degree" || rest == "limit" ||
            rest == "replicas")
            return entry(*found, rest, where);
        return entry(entry(*found, "set", where), rest, where);
    }
    yaml_node* connections = root.find("connections");
    if (yaml_node* found = connections == nullptr ? nullptr : connections->find(object))
        return entry(*found, rest, where);
    // After the objects: 'reference' is a good name for a subsystem, too.
    if (object == "reference") {
        yaml_node& reference = entry(root, object, where);
        if (rest.starts_with("solver."))
            return entry(as_map(entry(reference, "solver", where), "name"), rest.substr(7), where);
        return entry(reference, rest, where);
    }
    if (object == "iteration") return entry(as_map(entry(root, object, where), "solver"), rest, where);
    std::vector<std::string> names = keys(subsystems);
    const auto more = keys(connections);
    names.insert(names.end(), more.begin(), more.end());
    throw user_error(where, unknown_name("object", object, "The scenario", names));
}

void apply(yaml_node& root, const scenario_override& change) {
    const location where{intern(change.option), 0, 0};
    yaml_node value = read_yaml_text(change.value, change.option, true);
    yaml_node& target = target_of(root, change, where);
    value.where = where;
    target = std::move(value);
}

let_table read_let(const yaml_node* node, std::vector<setting>& written) {
    let_table let;
    if (node == nullptr || node->kind == yaml_node::type::null) return let;
    const map_reader check(*node, let, "let");
    for (const auto& [key, value] : node->entries) {
        check_name(key, "let value");
        const text resolved =
            read_text(value, let, fmt::format("let value '{}'", key.name));  // '$' reaches earlier values
        let[key.name] = resolved;
        written.push_back({key.name, key.where, {resolved}, false});
    }
    return let;
}

time_spec read_time(const yaml_node& node, const let_table& let) {
    map_reader map(node, let, "time");
    time_spec time;
    const text start = map.find_text("start");
    if (!start.empty()) time.start = read_number(start, "s", "time: start");
    const text end = map.need_text("end");
    time.end = read_number(end, "s", "time: end");
    const text step = map.need_text("step");
    time.step = read_number(step, "s", "time: step");
    map.finish();
    if (!(time.step > 0))
        throw user_error(step.where, fmt::format("time: step {} s must be greater than zero.", time.step));
    if (!(time.end > time.start))
        throw user_error(end.where, fmt::format("time: end {} s must lie after start {} s.", time.end, time.start));
    // Neighbouring macro points must differ by more than rounding.
    if (!(time.step > 1e-14 * std::max(std::abs(time.start), std::abs(time.end))))
        throw user_error(
            step.where, fmt::format("time: step {} s is too small for {} s to {} s: numbers have 16 digits.", time.step,
                                    time.start, time.end));
    return time;
}

record_spec read_record(const yaml_node* node, const let_table& let) {
    record_spec record;
    if (node == nullptr) return record;
    map_reader map(*node, let, "record");
    const text every = map.find_text("every");
    if (!every.empty()) {
        record.every = read_number(every, "s", "record: every");
        if (!(*record.every > 0))
            throw user_error(every.where, fmt::format("record: every {} s must be greater than zero.", *record.every));
    }
    if (const yaml_node* only = map.find("only")) {
        record.only = read_setting({"only", only->where}, *only, let, "record").values;
        if (record.only.empty())
            throw user_error(only->where, "record: 'only' is an empty list. Leave it out to record everything.");
    }
    map.finish();
    return record;
}

reference_spec read_reference(const yaml_node* node, const let_table& let) {
    reference_spec reference;
    if (node == nullptr) return reference;
    map_reader map(*node, let, "reference");
    reference.where = node->where;
    reference.solver = read_solver(map.find("solver"), let, "reference: solver");
    map.finish();
    return reference;
}

monitor_spec read_monitor(const yaml_node* node, const let_table& let) {
    monitor_spec monitor;
    if (node == nullptr) return monitor;
    map_reader map(*node, let, "monitor");
    monitor.divergence = map.find_text("divergence");
    map.finish();
    const std::string& word = monitor.divergence.value;
    if (!word.empty() && word != "stop" && word != "note")
        throw user_error(monitor.divergence.where,
                         fmt::format("monitor: divergence '{}' is not allowed. Allowed: stop, note.", word));
    return monitor;
}

/// One name, one object: subsystems, connections and named signals share the addresses of results and messages.
void check_unique(const scenario& s) {
    std::unordered_map<std::string, const char*> seen;
    const auto add = [&](const std::string& name, const location& where, const char* what) {
        const auto [found, is_new] = seen.emplace(name, what);
        if (!is_new)
            throw user_error(
                where, fmt::format("{} '{}': a {} has the same name. Names must differ.", what, name, found->second));
    };
    for (const auto& x : s.subsystems) add(x.name, x.where, "subsystem");
    for (const auto& x : s.connections) add(x.name, x.where, "connection");
    for (const auto& x : s.signals)
        if (x.name != x.target.value) add(x.name, x.where, "signal");
}

scenario read_tree(yaml_node root, const std::filesystem::path& path, const std::filesystem::path& folder,
                   const std::vector<scenario_override>& overrides) {
    if (root.kind != yaml_node::type::map)
        throw user_error({intern(path.string()), 1, 1},
                         fmt::format("a scenario is a map with 'time' and 'subsystems', not {}.", describe(root.kind)));
    for (const auto& change : overrides) apply(root, change);

    scenario s;
    s.path = path;
    const yaml_node* let_node = root.find("let");
    const let_table let = read_let(let_node, s.let);
    map_reader map(root, let, "scenario");
    map.find("let");
    const text version = map.find_text("mdpcosim");
    if (!version.empty() && version.value != "1")
        throw user_error(version.where,
                         fmt::format("scenario: this program reads version 1, not '{}'.", version.value));
    const yaml_node* time_node = map.find("time");
    const solver_spec method = read_solver(map.find("method"), let, "method");
    s.method = method.name;
    s.method_options = method.options;
    if (const yaml_node* rule = map.find("extrapolation"))
        s.extrapolation = read_extrapolation(*rule, let, "extrapolation");
    const yaml_node* subsystems = map.find("subsystems");
    const yaml_node* connections = map.find("connections");
    const yaml_node* signals = map.find("signals");
    s.record = read_record(map.find("record"), let);
    s.reference = read_reference(map.find("reference"), let);
    s.monitor = read_monitor(map.find("monitor"), let);
    s.iteration = read_iteration(map.find("iteration"), let);
    const yaml_node* placement = map.find("placement");
    const yaml_node* order = map.find("order");
    const yaml_node* control = map.find("step-control");
    const text replicas = map.find_text("replicas");
    map.finish();

    s.time = read_time(time_node == nullptr ? map.need("time") : *time_node, let);
    const yaml_node& subsystem_map = subsystems == nullptr ? map.need("subsystems") : *subsystems;
    const map_reader check(subsystem_map, let, "subsystems");
    for (const auto& [key, value] : subsystem_map.entries)
        s.subsystems.push_back(read_subsystem(key, value, let, folder));
    if (s.subsystems.empty()) throw user_error(subsystem_map.where, "subsystems: at least one subsystem is needed.");
    if (connections != nullptr) {
        const map_reader check_connections(*connections, let, "connections");
        for (const auto& [key, value] : connections->entries) s.connections.push_back(read_connection(key, value, let));
    }
    if (signals != nullptr) {
        if (signals->kind != yaml_node::type::list)
            throw user_error(signals->where, fmt::format("signals: a list of '- a.y -> b.u' is expected, not {}.",
                                                         describe(signals->kind)));
        for (const auto& item : signals->items) s.signals.push_back(read_signal(item, let));
    }
    check_unique(s);
    s.placement = read_placement(placement, let, s.subsystems);
    s.order = read_order(order, let, s.subsystems);
    s.step_control = read_step_control(control, let, s.time);
    if (!replicas.empty()) {
        const int count = read_whole(replicas, 0, "scenario: replicas");
        for (auto& entry : s.subsystems)
            if (entry.replicas == 0 && entry.can_have_replicas()) entry.replicas = count;
    }
    return s;
}

}  // namespace

scenario read_scenario(const std::filesystem::path& path, const std::vector<scenario_override>& overrides) {
    return read_tree(read_yaml_file(path), path, path.parent_path(), overrides);
}

scenario read_scenario_text(const std::string& text, const std::string& name, const std::filesystem::path& folder,
                            const std::vector<scenario_override>& overrides) {
    return read_tree(read_yaml_text(text, name), name, folder, overrides);
}

}  // namespace mdpcosim
