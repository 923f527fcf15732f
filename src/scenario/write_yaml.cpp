#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

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
void append_scalar(std::string& out, const std::string& value) {
    static constexpr auto doubtful = [] {
        std::array<bool, 256> all{};
        for (unsigned c = 0; c < 0x20; ++c) all[c] = true;
        for (const unsigned char c : std::string_view(":#{}[],&*!|>'\"%@`\\\x7f")) all[c] = true;
        return all;
    }();
    const auto quote = [&] {
        if (value.empty() || value == "~" || value == "null" || value == "Null" || value == "NULL") return true;
        return value.front() == ' ' || value.back() == ' ' || value.front() == '?' || value.front() == '=' ||
               (value.front() == '-' && !(value.size() > 1 && value[1] >= '0' && value[1] <= '9')) ||
               std::ranges::any_of(value, [&](unsigned char c) { return doubtful[c]; });
    };
    out += quote() ? in_quotes(value) : value;
}

void append_flow(std::string& out, const yaml_node& node) {
    const auto append_all = [&](const auto& all, char open, char close, const auto& append) {
        out += open;
        for (const auto& one : all) {
            if (&one != &all.front()) out += ", ";
            append(one);
        }
        out += close;
    };
    if (node.kind == yaml_node::type::list)
        append_all(node.items, '[', ']', [&](const yaml_node& item) { append_flow(out, item); });
    else if (node.kind == yaml_node::type::map)
        append_all(node.entries, '{', '}', [&](const yaml_entry& entry) {
            append_scalar(out, entry.key.name);
            out += ": ";
            append_flow(out, entry.value);
        });
    else
        append_scalar(out, node.scalar);
}

void write_lines(std::string& out, const yaml_node& node, std::size_t indent) {
    for (const auto& item : node.items) {
        out.append(indent, ' ').append("- ");
        append_flow(out, item);
        out += '\n';
    }
    for (const auto& [key, value] : node.entries) {
        append_scalar(out.append(indent, ' '), key.name);
        out += ':';
        if (value.block && !(value.items.empty() && value.entries.empty())) {
            out += '\n';
            write_lines(out, value, indent + 2);
        } else {
            append_flow(out.append(1, ' '), value);
            out += '\n';
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
