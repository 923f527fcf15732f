#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

/// A YAML document as a tree that knows the place of every key and value. Duplicate keys are refused while reading.
namespace mdpcosim {

struct yaml_entry;

struct yaml_key {
    std::string name;
    location where;
};

struct yaml_node {
    enum class type { null, scalar, list, map };

    type kind = type::null;
    location where;
    std::string scalar;
    std::vector<yaml_node> items;
    std::vector<yaml_entry> entries;
    bool block = false;  ///< write_yaml(): one line per entry or item

    yaml_node* find(std::string_view key);
    const yaml_node* find(std::string_view key) const { return const_cast<yaml_node*>(this)->find(key); }
};

struct yaml_entry {
    yaml_key key;
    yaml_node value;
};

/// "a number or text", "a list", "a map", "nothing": for messages.
const char* describe(yaml_node::type kind);

yaml_node read_yaml_file(const std::filesystem::path& path);

/// A map as text that reads back as the same tree.
std::string write_yaml(const yaml_node& map);

/// `name` stands for the file in messages; all places are line 0 (unknown) when `one_place` is set. So many lines of the file stand
/// above the text.
yaml_node read_yaml_text(const std::string& text, std::string_view name, bool one_place = false, int lines_above = 0);

}  // namespace mdpcosim
