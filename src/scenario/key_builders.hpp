#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "core/suggest.hpp"
#include "scenario/keys.hpp"
#include "scenario/resolve.hpp"

/// The vocabulary of the tables of keys: `number<time_spec>("end", &time_spec::end, "s", "Where the run ends")`.
/// `access` is a pointer to a member, or a function from the struct to the value.
namespace mdpcosim::keys {

/// A different address for every type.
template <class Owner>
const void* type_mark() {
    static const char mark = 0;
    return &mark;
}

template <class Owner>
key_info make_key(std::string name, key_info::type kind, std::string description) {
    key_info k{.name = std::move(name), .kind = kind, .description = std::move(description)};
    k.owner = type_mark<Owner>();
    return k;
}

yaml_node scalar_node(std::string value);
yaml_node list_node(const std::vector<text>& values);
yaml_node settings_node(const std::vector<setting>& settings);
void check_range(double value, const text& written, const key_info& info, const key_place& at);
void check_choice(const text& word, const key_info& info, const key_place& at);
void check_list(const yaml_node& node, const key_info& info, const key_place& at);
std::string number_text(double value, const std::string& unit);
/// The value alone, where the map has no other key than that which it may stand for.
yaml_node shortened(yaml_node map, const key_info& info);

/// double (written where it is allowed, so that 0 may stand for "not given") or optional<double>.
template <class Owner, class Access>
key_info number(std::string name, Access access, std::string unit, std::string description) {
    key_info k = make_key<Owner>(std::move(name), key_info::type::number, std::move(description));
    k.unit = std::move(unit);
    k.read = [access](const key_info& self, void* owner, const yaml_key&, const yaml_node& node, const key_place& at) {
        const text given = read_text(node, at.in.let, at.whole());
        const double value = read_number(given, self.unit, at.value());
        check_range(value, given, self, at);
        std::invoke(access, *static_cast<Owner*>(owner)) = value;
    };
    k.write = [access](const key_info& self, const void* owner, yaml_node& out) {
        const auto& value = std::invoke(access, *static_cast<const Owner*>(owner));
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) {
            if (self.allowed != parameter_info::range::positive || value > 0)
                out = scalar_node(number_text(value, self.unit));
        } else if (value) {
            out = scalar_node(number_text(*value, self.unit));
        }
    };
    return k;
}

/// int (written unless 0) or optional<int>.
template <class Owner, class Access>
key_info whole(std::string name, Access access, int least, std::string description) {
    key_info k = make_key<Owner>(std::move(name), key_info::type::whole, std::move(description));
    k.least = least;
    k.read = [access](const key_info& self, void* owner, const yaml_key&, const yaml_node& node, const key_place& at) {
        const text given = read_text(node, at.in.let, at.whole());
        const int value = read_whole(given, self.least, at.value());
        if (value > self.most)
            throw user_error(given.where, fmt::format("{} {} is too high; at most {}.", at.value(), value, self.most));
        std::invoke(access, *static_cast<Owner*>(owner)) = value;
    };
    k.write = [access](const key_info&, const void* owner, yaml_node& out) {
        const auto& value = std::invoke(access, *static_cast<const Owner*>(owner));
        if (!value) return;
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, int>)
            out = scalar_node(fmt::format("{}", value));
        else
            out = scalar_node(fmt::format("{}", *value));
    };
    return k;
}

bool read_flag(const yaml_node& node, const key_place& at);

template <class Owner, class Access>
key_info flag(std::string name, Access access, std::string description, bool usual = false) {
    key_info k = make_key<Owner>(std::move(name), key_info::type::flag, std::move(description));
    k.without = usual ? "true" : "false";
    k.read = [access](const key_info&, void* owner, const yaml_key&, const yaml_node& node, const key_place& at) {
        std::invoke(access, *static_cast<Owner*>(owner)) = read_flag(node, at);
    };
    k.write = [access, usual](const key_info&, const void* owner, yaml_node& out) {
        const bool value = std::invoke(access, *static_cast<const Owner*>(owner));
        if (value != usual) out = scalar_node(value ? "true" : "false");
    };
    return k;
}

/// text; one of `choices` unless there are none.
template <class Owner, class Access>
key_info word(std::string name, Access access, std::string description, std::vector<std::string> choices = {}) {
    key_info k = make_key<Owner>(std::move(name), key_info::type::word, std::move(description));
    k.choices = std::move(choices);
    k.read = [access](const key_info& self, void* owner, const yaml_key&, const yaml_node& node, const key_place& at) {
        const text given = read_text(node, at.in.let, at.whole());
        check_choice(given, self, at);
        std::invoke(access, *static_cast<Owner*>(owner)) = given;
    };
    k.write = [access](const key_info&, const void* owner, yaml_node& out) {
        const text& value = std::invoke(access, *static_cast<const Owner*>(owner));
        if (!value.empty()) out = scalar_node(value.value);
    };
    return k;
}

/// vector<text>; with `list_of` a list only, else one text, too.
template <class Owner, class Access>
key_info words(std::string name, Access access, std::string description, std::string list_of = {},
               std::string example = {}) {
    key_info k = make_key<Owner>(std::move(name), key_info::type::words, std::move(description));
    k.list_of = std::move(list_of);
    k.example = std::move(example);
    k.read = [access](const key_info& self, void* owner, const yaml_key&, const yaml_node& node, const key_place& at) {
        if (!self.list_of.empty()) check_list(node, self, at);
        const std::string object = at.object == "scenario" ? at.key : at.object;
        auto values = read_setting({self.name, node.where}, node, at.in.let, object).values;
        if (values.empty() && !self.when_empty.empty())
            throw user_error(node.where, fmt::format("{} is an empty list. {}", at.whole(), self.when_empty));
        std::invoke(access, *static_cast<Owner*>(owner)) = std::move(values);
    };
    k.write = [access](const key_info&, const void* owner, yaml_node& out) {
        const auto& values = std::invoke(access, *static_cast<const Owner*>(owner));
        if (!values.empty()) out = list_node(values);
    };
    return k;
}

/// vector<setting>.
template <class Owner, class Access>
key_info settings(std::string name, Access access, setting_values values, std::string description) {
    key_info k = make_key<Owner>(std::move(name), key_info::type::settings, std::move(description));
    k.values = values;
    k.read = [access](const key_info& self, void* owner, const yaml_key&, const yaml_node& node, const key_place& at) {
        std::invoke(access, *static_cast<Owner*>(owner)) = read_settings(
            &node, at.in.let, at.alone ? at.object : at.inside(self.label.empty() ? self.name : self.label));
    };
    k.write = [access](const key_info&, const void* owner, yaml_node& out) {
        const auto& list = std::invoke(access, *static_cast<const Owner*>(owner));
        if (!list.empty()) out = settings_node(list);
    };
    return k;
}

template <class T>
T& made(T& value) {
    return value;
}
template <class T>
T& made(std::optional<T>& value) {
    return value.emplace();
}
template <class T>
const T* there(const T& value) {
    return &value;
}
template <class T>
const T* there(const std::optional<T>& value) {
    return value ? &*value : nullptr;
}

/// A struct of its own, or a part of the same one (`access` is then std::identity).
template <class Owner, class Access>
key_info map(std::string name, Access access, const key_group& (*inner)(), std::string description,
             std::string short_form = {}) {
    key_info k = make_key<Owner>(std::move(name), key_info::type::map, std::move(description));
    k.inner = inner;
    k.short_form = std::move(short_form);
    k.read = [access](const key_info& self, void* owner, const yaml_key& key, const yaml_node& node,
                      const key_place& at) {
        auto& value = made(std::invoke(access, *static_cast<Owner*>(owner)));
        if constexpr (!std::is_same_v<Access, std::identity>) {
            if constexpr (requires { value.where = node.where; }) value.where = node.where;
            if constexpr (requires { value.given = true; }) value.given = true;
        }
        read_short_or_keys(self, &value, key, node,
                           {at.in,
                            at.inside(self.label.empty() ? self.name : self.label),
                            {},
                            false,
                            self.silent ? at.object : std::string()});
    };
    k.write = [access](const key_info& self, const void* owner, yaml_node& out) {
        const auto* value = there(std::invoke(access, *static_cast<const Owner*>(owner)));
        if (value == nullptr) return;
        yaml_node map = write_keys(self.inner(), value);
        bool empty = map.entries.empty();
        if constexpr (requires { value->given(); })
            empty = !value->given();
        else if constexpr (requires { bool(value->given); })
            empty = !value->given;
        if (!empty) out = shortened(std::move(map), self);
    };
    return k;
}

/// vector<T> of structs with `name` and `where`, written as a map by their names.
template <class Owner, class Access>
key_info entries(std::string name, Access access, const key_group& (*inner)(), std::string label,
                 std::string description, std::string short_form = {}) {
    key_info k = make_key<Owner>(std::move(name), key_info::type::entries, std::move(description));
    k.inner = inner;
    k.label = std::move(label);
    k.short_form = std::move(short_form);
    k.block = true;
    k.name_pattern = "^[A-Za-z_][A-Za-z0-9_-]*$";
    k.read = [access](const key_info& self, void* owner, const yaml_key&, const yaml_node& node, const key_place& at) {
        auto& list = std::invoke(access, *static_cast<Owner*>(owner));
        const map_reader check(node, at.in.let, at.object == "scenario" ? self.name : at.whole());
        for (const auto& [key, value] : node.entries) {
            if (!self.name_pattern.empty()) check_name(key, self.label.c_str());
            auto& entry = list.emplace_back();
            entry.name = key.name;
            entry.where = key.where;
            read_short_or_keys(self, &entry, key, value,
                               {at.in, at.inside(fmt::format("{} '{}'", self.label, key.name)), {}, false});
        }
    };
    k.write = [access](const key_info& self, const void* owner, yaml_node& out) {
        for (const auto& entry : std::invoke(access, *static_cast<const Owner*>(owner))) {
            out.kind = yaml_node::type::map;
            out.entries.push_back({yaml_key{entry.name, {}}, shortened(write_keys(self.inner(), &entry), self)});
        }
    };
    return k;
}

/// vector<T>, written as a list. `title` names an item in messages: "event 1".
template <class Owner, class Access>
key_info list(std::string name, Access access, const key_group& (*inner)(),
              const std::function<std::string(const yaml_node&, std::size_t)>& title, std::string list_of,
              std::string description, std::string short_form = {}) {
    key_info k = make_key<Owner>(std::move(name), key_info::type::list, std::move(description));
    k.inner = inner;
    k.list_of = std::move(list_of);
    k.short_form = std::move(short_form);
    k.block = true;
    k.read = [access, title](const key_info& self, void* owner, const yaml_key& key, const yaml_node& node,
                             const key_place& at) {
        auto& items = std::invoke(access, *static_cast<Owner*>(owner));
        check_list(node, self, at);
        for (const auto& item : node.items) {
            auto& made_item = items.emplace_back();
            if constexpr (requires { made_item.where = item.where; }) made_item.where = item.where;
            read_short_or_keys(self, &made_item, key, item, {at.in, at.inside(title(item, items.size())), {}, false});
        }
    };
    k.write = [access](const key_info& self, const void* owner, yaml_node& out) {
        for (const auto& item : std::invoke(access, *static_cast<const Owner*>(owner))) {
            out.kind = yaml_node::type::list;
            out.items.push_back(shortened(write_keys(self.inner(), &item), self));
        }
    };
    return k;
}

/// A form of its own: `read(owner, node, place)` and `write(owner, node)`.
template <class Owner>
key_info special(std::string name, std::string form, std::string fragment, std::string description,
                 std::function<void(Owner&, const yaml_node&, const key_place&)> read,
                 std::function<void(const Owner&, yaml_node&)> write) {
    key_info k = make_key<Owner>(std::move(name), key_info::type::special, std::move(description));
    k.form = std::move(form);
    k.fragment = std::move(fragment);
    if (read)
        k.read = [read](const key_info&, void* owner, const yaml_key&, const yaml_node& node, const key_place& at) {
            read(*static_cast<Owner*>(owner), node, at);
        };
    if (write)
        k.write = [write](const key_info&, const void* owner, yaml_node& out) {
            write(*static_cast<const Owner*>(owner), out);
        };
    return k;
}

/// Where the value of a key stands is kept, too.
template <class Owner, class Access>
std::function<void(void*, const yaml_node&, const key_place&)> keeps_place(Access access) {
    return [access](void* owner, const yaml_node& node, const key_place&) {
        std::invoke(access, *static_cast<Owner*>(owner)) = node.where;
    };
}

/// One file or several.
inline const char* const include_fragment =
    R"({"anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string", "minLength": 1}}]})";

/// `k` with a check, or a default that follows from its value.
template <class Owner>
key_info then(key_info k, std::function<void(Owner&, const yaml_node&, const key_place&)> action) {
    k.after = [action](void* owner, const yaml_node& node, const key_place& at) {
        action(*static_cast<Owner*>(owner), node, at);
    };
    return k;
}

/// A group whose keys all belong to `Owner`.
template <class Owner>
key_group group(std::string name, std::string description, std::vector<key_info> keys,
                std::vector<key_info> rest = {}) {
    for (const auto* part : {&keys, &rest})
        for (const auto& key : *part)
            if (key.owner != type_mark<Owner>())
                throw std::logic_error("key of another group: " + name + "." + key.name);
    return {.name = std::move(name),
            .description = std::move(description),
            .keys = std::move(keys),
            .rest = std::move(rest)};
}

}  // namespace mdpcosim::keys
