#include "scenario/map_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/suggest.hpp"

namespace mdpcosim {

namespace {

bool is_name(std::string_view name) {
    const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c >= 0x80; };
    return !name.empty() && name.front() != '-' && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
           std::all_of(name.begin(), name.end(), allowed);
}

/// `$name` as a whole. `$c*x` is an expression that holds a reference, and so is `$c-x` unless a let value has that name.
bool is_reference(const std::string& value, const let_table& let) {
    if (!value.starts_with('$') || !is_name(std::string_view(value).substr(1))) return false;
    const std::size_t dash = value.find('-');
    return dash == std::string::npos || let.contains(value.substr(1)) || !let.contains(value.substr(1, dash - 1));
}

}  // namespace

text read_text(const yaml_node& node, const let_table& let, const std::string& object) {
    if (node.kind == yaml_node::type::null)
        throw user_error(
            node.where,
            fmt::format("{}: the value is missing. A text with a comma or a colon in it must be quoted.", object));
    if (node.kind != yaml_node::type::scalar)
        throw user_error(node.where,
                         fmt::format("{}: a number or text is expected, not {}.", object, describe(node.kind)));
    if (is_reference(node.scalar, let)) {
        const std::string name = node.scalar.substr(1);
        const auto found = let.find(name);
        if (found == let.end()) {
            std::vector<std::string> names;
            for (const auto& [known, value] : let) names.push_back(known);
            throw user_error(node.where,
                             fmt::format("{}: {}", object, unknown_name("let value", name, "'let'", names)));
        }
        return {found->second.value, node.where};
    }
    return {node.scalar, node.where};
}

setting read_setting(const yaml_key& key, const yaml_node& node, const let_table& let, const std::string& object) {
    setting result{key.name, key.where, {}, node.kind == yaml_node::type::list};
    const std::string value_object = fmt::format("{}: '{}'", object, key.name);
    if (result.list) {
        for (const auto& item : node.items) result.values.push_back(read_text(item, let, value_object));
    } else {
        result.values.push_back(read_text(node, let, value_object));
    }
    return result;
}

std::vector<setting> read_settings(const yaml_node* node, const let_table& let, const std::string& object) {
    std::vector<setting> settings;
    if (node == nullptr || node->kind == yaml_node::type::null) return settings;
    if (node->kind != yaml_node::type::map)
        throw user_error(node->where, fmt::format("{}: a map is expected ('name: value' entries), not {}.", object,
                                                  describe(node->kind)));
    for (const auto& [key, value] : node->entries) settings.push_back(read_setting(key, value, let, object));
    return settings;
}

map_reader::map_reader(const yaml_node& node, const let_table& let, std::string object)
    : node_(node), let_(let), object_(std::move(object)), used_(node.entries.size(), false) {
    if (node.kind != yaml_node::type::map)
        throw user_error(node.where, fmt::format("{}: a map is expected ('key: value' entries), not {}.", object_,
                                                 describe(node.kind)));
}

const yaml_node* map_reader::find(std::string_view key) {
    known_.push_back(key);
    for (std::size_t i = 0; i < node_.entries.size(); ++i) {
        if (node_.entries[i].key.name == key) {
            used_[i] = true;
            return &node_.entries[i].value;
        }
    }
    return nullptr;
}

const yaml_node& map_reader::need(std::string_view key) {
    const yaml_node* node = find(key);
    if (node != nullptr) return *node;
    for (std::size_t i = 0; i < node_.entries.size(); ++i) {  // a misspelt key says more than a missing one
        const yaml_key& other = node_.entries[i].key;
        const std::string wanted[] = {std::string(key)};
        const std::string suggestion = used_[i] ? "" : did_you_mean(other.name, wanted);
        if (!suggestion.empty())
            throw user_error(other.where, fmt::format("{}: key '{}' is not known.{}", object_, other.name, suggestion));
    }
    throw user_error(node_.where, fmt::format("{}: key '{}' is missing.", object_, key));
}

text map_reader::find_text(std::string_view key) {
    const yaml_node* node = find(key);
    return node == nullptr ? text{{}, node_.where} : read_text(*node, let_, fmt::format("{}: '{}'", object_, key));
}

text map_reader::need_text(std::string_view key) {
    return read_text(need(key), let_, fmt::format("{}: '{}'", object_, key));
}

std::vector<setting> map_reader::rest() {
    std::vector<setting> settings;
    for (std::size_t i = 0; i < node_.entries.size(); ++i) {
        if (used_[i]) continue;
        used_[i] = true;
        settings.push_back(read_setting(node_.entries[i].key, node_.entries[i].value, let_, object_));
    }
    return settings;
}

void map_reader::finish() const {
    for (std::size_t i = 0; i < node_.entries.size(); ++i) {
        if (used_[i]) continue;
        const yaml_key& key = node_.entries[i].key;
        const std::vector<std::string> known(known_.begin(), known_.end());
        throw user_error(key.where, fmt::format("{}: key '{}' is not known. Known keys: {}.{}", object_, key.name,
                                                name_list(known), did_you_mean(key.name, known)));
    }
}

void check_name(const yaml_key& key, const char* kind) {
    if (!is_name(key.name))
        throw user_error(key.where,
                         fmt::format("{} '{}': a name holds letters, digits, '_' and '-' and starts with a letter "
                                     "or '_'.",
                                     kind, key.name));
}

}  // namespace mdpcosim
