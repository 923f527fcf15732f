#include <fmt/format.h>

#include <algorithm>

#include "scenario/yaml.hpp"

namespace mdpcosim {

namespace {

std::string in_quotes(const std::string& value) {
    std::string text = "\"";
    for (const char c : value) {
        if (c == '"' || c == '\\') text += '\\';
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            text += c;
    }
    return text + '"';
}

/// A scalar that reads back as the same text; quoted where YAML would see something else in it.
std::string scalar(const std::string& value) {
    if (value.empty() || value == "~" || value == "null" || value == "Null" || value == "NULL") return in_quotes(value);
    const bool control = std::any_of(value.begin(), value.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    const bool number = value.find_first_of("0123456789") <= 1;  // a '-' in front of it is a sign
    const bool special = value.find_first_of(":#{}[],&*!|>'\"%@`\\") != std::string::npos || value.front() == ' ' ||
                         value.back() == ' ' || value.front() == '?' || value.front() == '=' ||
                         (value.front() == '-' && !number);
    return control || special ? in_quotes(value) : value;
}

std::string flow(const yaml_node& node) {
    std::vector<std::string> parts;
    if (node.kind == yaml_node::type::list) {
        for (const auto& item : node.items) parts.push_back(flow(item));
        return fmt::format("[{}]", fmt::join(parts, ", "));
    }
    if (node.kind != yaml_node::type::map) return scalar(node.scalar);
    for (const auto& [key, value] : node.entries) parts.push_back(fmt::format("{}: {}", scalar(key.name), flow(value)));
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

void write_lines(std::string& out, const yaml_node& node, int indent) {
    for (const auto& item : node.items) out += fmt::format("{:{}}- {}\n", "", indent, flow(item));
    for (const auto& [key, value] : node.entries) {
        const bool empty = value.items.empty() && value.entries.empty();
        if (!value.block || empty) {
            out += fmt::format("{:{}}{}: {}\n", "", indent, scalar(key.name), flow(value));
        } else {
            out += fmt::format("{:{}}{}:\n", "", indent, scalar(key.name));
            write_lines(out, value, indent + 2);
        }
    }
}

}  // namespace

std::string write_yaml(const yaml_node& map) {
    std::string out;
    write_lines(out, map, 0);
    return out;
}

}  // namespace mdpcosim
