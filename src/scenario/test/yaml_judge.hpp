#pragma once

#include <string>

#include "core/error.hpp"
#include "scenario/plain_yaml.hpp"

/// The plain reader of YAML beside the library.
namespace mdpcosim::test {

/// Everything that is in a tree.
inline std::string told(const yaml_node& node) {
    std::string text = std::string(describe(node.kind)) + " at " + to_string(node.where) + " '" + node.scalar + "'";
    for (const auto& item : node.items) text += "\n- " + told(item);
    for (const auto& [key, value] : node.entries)
        text += "\n" + key.name + " at " + to_string(key.where) + ": " + told(value);
    return text + ";";
}

/// What the library makes of it: the character in the last comment keeps the plain reader away.
inline std::string by_library(const std::string& text) {
    try {
        return told(read_yaml_text(text + "\n# \xC3\xA9\n", "f.yaml"));
    } catch (const user_error&) {
        return "refused";
    }
}

/// "as the library", "left to the library", or what differs.
inline std::string judged(const std::string& text) {
    const auto plain = read_plain_yaml(text, "f.yaml");
    if (!plain) return "left to the library";
    const std::string own = told(*plain), other = by_library(text);
    return own == other ? "as the library" : "'" + text + "':\n" + own + "\nand by the library\n" + other;
}

}  // namespace mdpcosim::test
