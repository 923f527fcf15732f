#include "scenario/keys.hpp"

#include <set>

#include "scenario/key_builders.hpp"

namespace mdpcosim {

std::string key_place::whole() const { return alone ? object : fmt::format("{}: '{}'", object, key); }

std::string key_place::value() const { return fmt::format("{}: {}", object, key); }

std::string key_place::inside(std::string_view label) const {
    return object == "scenario" ? std::string(label) : fmt::format("{}: {}", object, label);
}

key_info& key_info::needed() {
    required = true;
    return *this;
}
key_info& key_info::positive() {
    allowed = parameter_info::range::positive;
    return *this;
}
key_info& key_info::not_negative() {
    allowed = parameter_info::range::not_negative;
    return *this;
}
key_info& key_info::by_default(std::string text) {
    without = std::move(text);
    return *this;
}
key_info& key_info::more_in(std::string page_of_docs) {
    page = std::move(page_of_docs);
    return *this;
}
key_info& key_info::from(catalogue registry) {
    names = registry;
    return *this;
}
key_info& key_info::of(unsigned source_bits) {
    sources = source_bits;
    return *this;
}
key_info& key_info::over_lines() {
    block = true;
    return *this;
}

const key_info* key_group::find(std::string_view key) const {
    const auto found = std::find_if(keys.begin(), keys.end(), [&](const key_info& k) { return k.name == key; });
    return found == keys.end() ? nullptr : &*found;
}

namespace keys {

yaml_node scalar_node(std::string value) {
    yaml_node node;
    node.kind = yaml_node::type::scalar;
    node.scalar = std::move(value);
    return node;
}

yaml_node list_node(const std::vector<text>& values) {
    yaml_node node;
    node.kind = yaml_node::type::list;
    for (const auto& value : values) node.items.push_back(scalar_node(value.value));
    return node;
}

yaml_node settings_node(const std::vector<setting>& settings) {
    yaml_node node;
    node.kind = yaml_node::type::map;
    for (const auto& s : settings)
        node.entries.push_back(
            {yaml_key{s.name, {}}, s.list ? list_node(s.values) : scalar_node(s.values.front().value)});
    return node;
}

std::string number_text(double value, const std::string& unit) {
    return unit.empty() || unit == "1" ? fmt::format("{}", value) : fmt::format("{} {}", value, unit);
}

yaml_node shortened(yaml_node map, const key_info& info) {
    if (map.entries.size() != 1 || map.entries[0].key.name != info.short_form) return map;
    if (map.entries[0].value.kind != yaml_node::type::scalar) return map;
    yaml_node value = std::move(map.entries[0].value);
    return value;
}

void check_range(double value, const text& written, const key_info& info, const key_place& at) {
    using range = parameter_info::range;
    const char* wanted = info.allowed == range::positive && !(value > 0)        ? "greater than zero"
                         : info.allowed == range::not_negative && !(value >= 0) ? "zero or greater"
                                                                                : nullptr;
    if (wanted != nullptr)
        throw user_error(written.where, fmt::format("{}: '{}' must be {}.", at.value(), written.value, wanted));
}

void check_choice(const text& word, const key_info& info, const key_place& at) {
    const auto& allowed = info.choices;
    if (allowed.empty() || !info.checked || std::ranges::find(allowed, word.value) != allowed.end()) return;
    throw user_error(word.where, fmt::format("{}: '{}' is not allowed. Allowed: {}.{}", at.value(), word.value,
                                             name_list(allowed), did_you_mean(word.value, allowed)));
}

void check_list(const yaml_node& node, const key_info& info, const key_place& at) {
    if (node.kind == yaml_node::type::list) return;
    const std::string text = at.object == "scenario"
                                 ? fmt::format("{}: a list of {} is expected", info.name, info.list_of)
                                 : fmt::format("{} is a list of {}", at.whole(), info.list_of);
    throw user_error(node.where, fmt::format("{}{}, not {}.", text, info.example, describe(node.kind)));
}

bool read_flag(const yaml_node& node, const key_place& at) {
    const text given = read_text(node, at.in.let, at.whole());
    if (given.value == "true" || given.value == "yes") return true;
    if (given.value == "false" || given.value == "no") return false;
    throw user_error(given.where,
                     fmt::format("{}: '{}' is not allowed. Allowed: true, false, yes, no.", at.value(), given.value));
}

}  // namespace keys

namespace {

/// A key that exists, but not for this source of a subsystem.
void refuse_elsewhere(const key_info& info, unsigned bits, const yaml_node& node, const key_place& at) {
    const yaml_node* given = node.find(info.name);
    if (given == nullptr || info.elsewhere.empty() || (info.elsewhere_for & bits) == 0) return;
    std::string source;
    for (int k = 0; k < 7; ++k)
        if (const auto kind = static_cast<subsystem_spec::source_kind>(k); source_bit(kind) == bits)
            source = to_string(kind);
    const bool vowel = source == "ode" || source == "fmu";
    const std::string with_article = fmt::format("{} '{}'", vowel ? "an" : "a", source);
    throw user_error(given->where,
                     fmt::format("{}: {}", at.object, fmt::format(fmt::runtime(info.elsewhere), with_article)));
}

/// The one setting that all other keys of a group go to, or none.
void read_rest(const key_group& group, void* owner, map_reader& map, const yaml_node& node, const key_place& at) {
    if (group.rest.empty()) return map.finish();
    const key_info& rest = group.rest.front();
    yaml_node others;
    others.kind = yaml_node::type::map;
    others.where = node.where;
    for (const auto& [key, value] : node.entries)
        if (group.find(key.name) == nullptr) others.entries.push_back({key, value});
    rest.read(rest, owner, {}, others, {at.in, at.object, {}, true});
}

}  // namespace

void read_keys(const key_group& group, void* owner, const yaml_key& key, const yaml_node& node, const key_place& at) {
    map_reader map(node, at.in.let, at.object);
    const unsigned bits = group.prepare ? group.prepare(owner, key, node, at) : ~0U;
    std::vector<const yaml_node*> values;
    for (const auto& info : group.keys) {
        if ((info.sources & bits) == 0) refuse_elsewhere(info, bits, node, at);
        values.push_back((info.sources & bits) == 0 ? nullptr : map.find(info.name));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        const key_info& info = group.keys[i];
        if (values[i] == nullptr && info.required) map.need(info.name);  // tells why it is missing
        if (values[i] == nullptr || !info.read) continue;
        const key_place place{at.in, at.content.empty() ? at.object : at.content, info.name, false};
        info.read(info, owner, {info.name, values[i]->where}, *values[i], place);
        if (info.after) info.after(owner, *values[i], place);
    }
    read_rest(group, owner, map, node, at);
    if (group.check) group.check(owner, node, at);
}

void read_short_or_keys(const key_info& info, void* owner, const yaml_key& key, const yaml_node& node,
                        const key_place& at) {
    const key_group& group = info.inner();
    const bool bare = node.kind == yaml_node::type::scalar || node.kind == yaml_node::type::null;
    if (!info.short_form.empty() && node.kind == yaml_node::type::list)
        throw user_error(node.where, fmt::format("{}: a number or text, or a map ('key: value' entries), is expected, "
                                                 "not {}.",
                                                 at.object, describe(node.kind)));
    if (info.short_form.empty() || !bare) return read_keys(group, owner, key, node, at);
    const key_info* stands_for = group.find(info.short_form);
    const key_place place{at.in, at.object, info.short_form, true};
    if (stands_for != nullptr) {
        stands_for->read(*stands_for, owner, {info.short_form, node.where}, node, place);
        if (stands_for->after) stands_for->after(owner, node, place);
    } else {
        read_text(node, at.in.let, at.object);  // a missing value is told as such
        yaml_node map;
        map.kind = yaml_node::type::map;
        map.where = node.where;
        map.entries.push_back({yaml_key{info.short_form, node.where}, node});
        group.rest.front().read(group.rest.front(), owner, {}, map, place);
    }
    if (group.check) group.check(owner, node, at);
}

yaml_node write_keys(const key_group& group, const void* owner) {
    yaml_node map;
    map.kind = yaml_node::type::map;
    const unsigned bits = group.sources_of ? group.sources_of(owner) : ~0U;
    for (const auto& info : group.keys) {
        if ((info.sources & bits) == 0 || info.derived || !info.write) continue;
        yaml_node value;
        info.write(info, owner, value);
        if (value.kind == yaml_node::type::null) continue;
        value.block = info.block;
        map.entries.push_back({yaml_key{info.name, {}}, std::move(value)});
    }
    for (const auto& info : group.rest) {
        yaml_node others;
        info.write(info, owner, others);
        for (auto& entry : others.entries) map.entries.push_back(std::move(entry));
    }
    return map;
}

namespace {

void collect(const key_group& group, std::vector<const key_group*>& found, std::set<std::string>& seen) {
    if (!seen.insert(group.name).second) return;
    found.push_back(&group);
    for (const auto& info : group.keys)
        if (info.inner != nullptr) collect(info.inner(), found, seen);
}

}  // namespace

std::vector<const key_group*> all_key_groups() {
    std::vector<const key_group*> found;
    std::set<std::string> seen;
    collect(scenario_keys(), found, seen);
    return found;
}

}  // namespace mdpcosim
