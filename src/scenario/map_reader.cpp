#include "scenario/map_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/suggest.hpp"

namespace mdpcosim {

text read_text(const yaml_node& node, const let_table& let, const std::string& object) {
    if (node.kind == yaml_node::type::null) throw user_error(node.where, fmt::format("{}: the value is missing.", object));
    if (node.kind != yaml_node::type::scalar)
        throw user_error(node.where, fmt::format("{}: a number or text is expected, not {}.", object, describe(node.kind)));
    if (node.scalar.size() > 1 && node.scalar.front() == '$') {
        const std::string name = node.scalar.substr(1);
        const auto found = let.find(name);
        if (found == let.end()) {
            std::vector<std::string> names;
            for (const auto& [known, value] : let) names.push_back(known);
            throw user_error(node.where, fmt::format("{}: {}", object, unknown_name("let value", name, "'let'", names)));
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
    known_.emplace_back(key);
    for (std::size_t i = 0; i < node_.entries.size(); ++i) {
        if (node_.entries[i].first.name == key) {
            used_[i] = true;
            return &node_.entries[i].second;
        }
    }
    return nullptr;
}

const yaml_node& map_reader::need(std::string_view key) {
    const yaml_node* node = find(key);
    if (node == nullptr) {
        std::vector<std::string> present;
        for (std::size_t i = 0; i < node_.entries.size(); ++i)
            if (!used_[i]) present.push_back(node_.entries[i].first.name);
        throw user_error(node_.where, fmt::format("{}: key '{}' is missing.{}", object_, key, did_you_mean(key, present)));
    }
    return *node;
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
        settings.push_back(read_setting(node_.entries[i].first, node_.entries[i].second, let_, object_));
    }
    return settings;
}

void map_reader::finish() const {
    for (std::size_t i = 0; i < node_.entries.size(); ++i) {
        if (used_[i]) continue;
        const yaml_key& key = node_.entries[i].first;
        throw user_error(key.where, fmt::format("{}: key '{}' is not known. Known keys: {}.{}", object_, key.name,
                                                name_list(known_), did_you_mean(key.name, known_)));
    }
}

void check_name(const yaml_key& key, const char* what) {
    const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c >= 0x80; };
    const bool good = !key.name.empty() && key.name.front() != '-' &&
                      std::isdigit(static_cast<unsigned char>(key.name.front())) == 0 &&
                      std::all_of(key.name.begin(), key.name.end(), allowed);
    if (!good)
        throw user_error(key.where, fmt::format("{} '{}': a name holds letters, digits, '_' and '-' and starts with a letter "
                                                "or '_'.", what, key.name));
}

}  // namespace mdpcosim
