#include "scenario/override.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/suggest.hpp"
#include "scenario/keys.hpp"

namespace mdpcosim {

namespace {

using key_type = key_info::type;

yaml_node& entry(yaml_node& map, const std::string& key, const location& where) {
    if (map.kind == yaml_node::type::null) map.kind = yaml_node::type::map;
    if (yaml_node* found = map.find(key)) return *found;
    map.entries.push_back({yaml_key{key, where}, yaml_node{}});
    map.entries.back().value.where = where;
    return map.entries.back().value;
}

/// A short form (`solver: erk-5`, `isolate: true`) as the map it stands for; what is none of them is left to the reader.
yaml_node& as_map(yaml_node& node, const key_info& info) {
    const std::string& key = info.short_form;
    if (node.kind != yaml_node::type::scalar || (key.empty() && info.kind != key_type::special)) return node;
    yaml_node map;
    map.kind = yaml_node::type::map;
    map.where = node.where;
    if (!key.empty()) map.entries.push_back({yaml_key{key, node.where}, node});
    node = std::move(map);
    return node;
}

std::vector<std::string> names_in(const yaml_node* map) {
    std::vector<std::string> names;
    if (map != nullptr)
        for (const auto& [key, value] : map->entries) names.push_back(key.name);
    return names;
}

/// `a.b.c` as `a` and `b.c`.
std::pair<std::string, std::string> split_address(const std::string& address) {
    const std::size_t dot = address.find('.');
    if (dot == std::string::npos) return {address, {}};
    return {address.substr(0, dot), address.substr(dot + 1)};
}

yaml_node& target_in_group(yaml_node& map, const key_group& group, const std::string& path, const location& where);

yaml_node& item_of(yaml_node& list, const key_info& info, const std::string& number, const location& where) {
    std::size_t n = 0;
    const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), n);
    if (status == std::errc() && end == number.data() + number.size() && n >= 1 && n <= list.items.size())
        return list.items[n - 1];
    throw user_error(where, fmt::format("'{}' has {} entries, and '{}' is none of them. Write their numbers, from 1.",
                                        info.name, list.items.size(), number));
}

/// Inside the value of a key.
yaml_node& target_in_value(yaml_node& node, const key_info& info, const std::string& path, const location& where) {
    if (info.kind == key_type::settings) return entry(node, path, where);
    const auto [head, tail] = split_address(path);
    if (info.kind == key_type::entries) {
        yaml_node& one = entry(node, head, where);
        return tail.empty() ? one : target_in_group(as_map(one, info), info.inner(), tail, where);
    }
    if (info.kind == key_type::list) {
        yaml_node& one = item_of(node, info, head, where);
        return tail.empty() ? one : target_in_group(as_map(one, info), info.inner(), tail, where);
    }
    if (info.inner != nullptr) return target_in_group(as_map(node, info), info.inner(), path, where);
    throw user_error(where, fmt::format("'{}' is one value and has no '{}'.", info.name, path));
}

/// Inside a map. An unknown key is left to the reader, which names the known ones.
yaml_node& target_in_group(yaml_node& map, const key_group& group, const std::string& path, const location& where) {
    const auto [head, tail] = split_address(path);
    const key_info* info = group.find(head);
    if (info == nullptr) return entry(map, path, where);
    return tail.empty() ? entry(map, head, where) : target_in_value(entry(map, head, where), *info, tail, where);
}

/// A whole value for this key, or one for a parameter of the same name? `inertia: {shaft: 2}` against `inertia: 2`.
bool is_for(const key_info& info, const yaml_node& value) {
    switch (info.kind) {
        case key_type::map:
        case key_type::settings:
        case key_type::entries:
            return value.kind == yaml_node::type::map || !info.short_form.empty();
        case key_type::list:
            return value.kind == yaml_node::type::list;
        default:
            return true;
    }
}

unsigned sources_in(const yaml_node& subsystem) {
    unsigned bits = 0;
    for (const auto& name : subsystem_keys().one_of)
        if (subsystem.find(name) != nullptr) bits |= subsystem_keys().find(name)->sources;
    return bits;
}

/// A key of the subsystem, or one of its parameters.
yaml_node& target_in_subsystem(yaml_node& subsystem, const std::string& object, const std::string& path,
                               const yaml_node& value, const location& where) {
    const auto [head, tail] = split_address(path);
    const key_info* info = subsystem_keys().find(head);
    const unsigned given = sources_in(subsystem);
    const unsigned bits = given == 0 ? ~0U : given;
    if (info != nullptr && (info->sources & bits) != 0) {
        const bool inside = info->inner != nullptr || info->kind == key_type::settings;
        if (tail.empty() ? is_for(*info, value) : inside)
            return target_in_group(subsystem, subsystem_keys(), path, where);
    }
    const unsigned files = source_bit(subsystem_spec::source_kind::file);
    if ((given & files) != 0) {
        std::vector<std::string> names;
        for (const auto& key : subsystem_keys().keys)
            if ((key.sources & files) != 0) names.push_back(key.name == "units" ? "units.COLUMN" : key.name);
        throw user_error(where,
                         fmt::format("subsystem '{}': '{}' cannot be set, since a file has no parameters. It has: {}.",
                                     object, path, name_list(names)));
    }
    return entry(entry(subsystem, "set", where), path, where);
}

/// The signal of this name; those without a name are not reached.
yaml_node* find_signal(yaml_node* signals, const std::string& name) {
    if (signals != nullptr)
        for (auto& item : signals->items)
            if (const yaml_node* own = item.find("name"); own != nullptr && own->scalar == name) return &item;
    return nullptr;
}

yaml_node& whole_target(yaml_node& root, const std::string& name, const location& where) {
    const key_info* key = scenario_keys().find(name);
    yaml_node* let = root.find("let");
    yaml_node* value = let == nullptr ? nullptr : let->find(name);
    // A key that takes one word, such as 'method', comes before a let value of that name; others after it.
    const bool word = key != nullptr && (key->kind != key_type::map || !key->short_form.empty()) &&
                      key->kind != key_type::words && key->kind != key_type::list && key->kind != key_type::entries;
    if (value != nullptr && !word) return *value;
    if (key != nullptr) return entry(root, name, where);
    throw user_error(where, unknown_name("let value", name, "'let'", names_in(let)) +
                                " A parameter is written 'object.parameter=value'.");
}

yaml_node& target_of(yaml_node& root, const std::string& address, const yaml_node& value, const location& where) {
    if (address.find('.') == std::string::npos) return whole_target(root, address, where);
    const auto address_parts = split_address(address);
    const auto& object = address_parts.first;
    const auto& path = address_parts.second;
    if (path.empty()) throw user_error(where, "a name is missing behind the point: write 'object.parameter=value'.");
    const key_info* key = scenario_keys().find(object);
    const auto section = [&]() -> yaml_node& { return target_in_value(entry(root, object, where), *key, path, where); };
    if (key != nullptr && key->before_objects) return section();
    yaml_node* subsystems = root.find("subsystems");
    yaml_node* connections = root.find("connections");
    yaml_node* signals = root.find("signals");
    if (yaml_node* found = subsystems == nullptr ? nullptr : subsystems->find(object))
        return target_in_subsystem(*found, object, path, value, where);
    if (yaml_node* found = connections == nullptr ? nullptr : connections->find(object))
        return target_in_group(*found, connection_keys(), path, where);
    if (yaml_node* found = find_signal(signals, object)) return target_in_group(*found, signal_keys(), path, where);
    if (key != nullptr) return section();  // after the objects: 'reference' is a good name for a subsystem, too
    std::vector<std::string> names = names_in(subsystems);
    for (auto& name : names_in(connections)) names.push_back(std::move(name));
    throw user_error(where, unknown_name("object", object, "The scenario", names));
}

}  // namespace

void apply_override(yaml_node& root, const scenario_override& change) {
    const location where{intern(change.option), 0, 0};
    yaml_node value = read_yaml_text(change.value, change.option, true);
    yaml_node& target = target_of(root, change.address, value, where);
    value.where = where;
    target = std::move(value);
}

}  // namespace mdpcosim
