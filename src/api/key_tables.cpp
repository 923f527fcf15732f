#include "api/key_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>

#include "scenario/keys.hpp"

namespace mdpcosim {

namespace {

/// Words in 'quotes' as `code`; the apostrophe of "the FMU's" is none.
std::string with_code(const std::string& sentence) {
    std::string text = sentence;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool opens = text[i] == '\'' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '(');
        if (!opens) continue;
        std::size_t end = text.find('\'', i + 1);
        while (end != std::string::npos && end + 1 < text.size() &&
               std::isalnum(static_cast<unsigned char>(text[end + 1])))
            end = text.find('\'', end + 1);
        if (end == std::string::npos) break;
        text[i] = text[end] = '`';
        i = end;
    }
    return text;
}

std::string code_list(const std::vector<std::string>& words) { return fmt::format("`{}`", fmt::join(words, "`, `")); }

std::string map_form(const key_info& key) {
    std::vector<std::string> names;
    for (const auto& inner : key.inner().keys) names.push_back(inner.name);
    if (!key.inner().rest.empty()) names.push_back(key.inner().rest.front().name + ": value, ...");
    if (names.size() > 8) return "its keys, see below";
    const std::string map = fmt::format("`{{{}}}`", fmt::join(names, ", "));
    return key.short_form.empty() ? map : fmt::format("{}, or {}", key.short_form, map);
}

/// What stands behind the key.
std::string value_form(const key_info& key) {
    using type = key_info::type;
    switch (key.kind) {
        case type::number:
            return key.unit == "1" ? "number" : fmt::format("number [{}]", key.unit);
        case type::whole:
            return key.most < 1000000000 ? fmt::format("whole number from {} to {}", key.least, key.most)
                                         : fmt::format("whole number from {}", key.least);
        case type::flag:
            return "`true`, `false`";
        case type::word:
            return !key.choices.empty()                       ? code_list(key.choices)
                   : key.values == setting_values::expression ? "expression"
                                                              : "text";
        case type::words:
            return key.list_of.empty() ? "text, or list" : "list of texts";
        case type::settings:
            return key.values == setting_values::expression ? "name: expression" : "name: value";
        case type::map:
            return map_form(key);
        case type::entries:
            return fmt::format("name: {}", map_form(key));
        case type::list:
            return "list";
        case type::special:
            return key.form;
    }
    return {};
}

std::string sources_form(const key_info& key) {
    std::vector<std::string> with, without;
    for (const auto& name : subsystem_keys().one_of)
        ((subsystem_keys().find(name)->sources & key.sources) != 0 ? with : without).push_back(name);
    if (without.empty()) return "all";
    return without.size() == 1 ? "all but " + code_list(without) : code_list(with);
}

std::string default_form(const key_info& key, const key_group& group) {
    const auto& choice = group.one_of;
    if (choice.size() == 2 && std::ranges::find(choice, key.name) != choice.end())
        return fmt::format("needed, or `{}`", choice[0] == key.name ? choice[1] : choice[0]);
    return key.required ? "needed" : key.without;
}

std::string row(const key_info& key, const key_group& group, bool with_sources) {
    std::string sentence = with_code(key.description);
    if (!key.page.empty()) {
        const std::size_t slash = key.page.rfind('/') + 1;
        const std::string title = key.page.substr(slash, key.page.find(".md") - slash);
        sentence += fmt::format(" [{}]({})", title, key.page);
    }
    return fmt::format("| `{}` | {} | {} |{} {} |\n", key.name, value_form(key), default_form(key, group),
                       with_sources ? fmt::format(" {} |", sources_form(key)) : "", sentence);
}

constexpr unsigned every_source = 0x3f;

}  // namespace

std::vector<std::string> key_table_names() {
    std::vector<std::string> names;
    for (const key_group* group : all_key_groups()) {
        if (group->keys.empty()) continue;
        names.push_back(group->name);
        if (group->name == "subsystem")
            for (const auto& source : group->one_of) names.push_back("subsystem " + source);
    }
    return names;
}

std::string key_table(const std::string& name) {
    const std::string first = name.substr(0, name.find(' '));
    for (const key_group* group : all_key_groups()) {
        if (group->name != first) continue;
        const key_info* source = name == first ? nullptr : group->find(name.substr(first.size() + 1));
        const bool shared = first == "subsystem" && source == nullptr;
        std::string table = shared ? "| key | value | default | of | |\n|---|---|---|---|---|\n"
                                   : "| key | value | default | |\n|---|---|---|---|\n";
        for (const auto& key : group->keys) {
            const bool of_one = std::popcount(key.sources & every_source) == 1;
            if (first == "subsystem" && (shared ? of_one : key.sources != source->sources)) continue;
            table += row(key, *group, shared);
        }
        return table;
    }
    return {};
}

std::string all_key_tables() {
    std::string text;
    for (const auto& name : key_table_names())
        text += fmt::format("{}## {}\n\n{}", text.empty() ? "" : "\n", name, key_table(name));
    return text;
}

}  // namespace mdpcosim
