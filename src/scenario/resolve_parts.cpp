#include <fmt/format.h>

#include <algorithm>

#include "core/suggest.hpp"
#include "scenario/resolve.hpp"

namespace mdpcosim {

namespace {

const part_info& known_kind(const std::vector<part_info>& kinds, const part_spec& spec, const std::string& object) {
    std::vector<std::string> names;
    for (const auto& info : kinds) {
        if (info.kind == spec.kind.value) return info;
        names.push_back(info.kind);
    }
    throw user_error(spec.kind.where, fmt::format("{}: kind '{}' does not exist. Kinds: {}.{}", object, spec.kind.value,
                                                  name_list(names), did_you_mean(spec.kind.value, names)));
}

const part_reference* reference_called(const part_info& info, std::string_view name) {
    const auto found = std::ranges::find(info.references, name, &part_reference::name);
    return found == info.references.end() ? nullptr : &*found;
}

bool is_text(const part_info& info, std::string_view name) {
    return std::ranges::find(info.texts, name, &part_text::name) != info.texts.end();
}

/// Keys are parameters, references or texts; the messages name all.
void check_keys(const part_info& info, const part_spec& spec, const std::string& object) {
    std::vector<std::string> known;
    for (const auto& p : info.parameters) known.push_back(p.name);
    for (const auto& r : info.references) known.push_back(r.name);
    for (const auto& t : info.texts) known.push_back(t.name);
    for (const auto& s : spec.values) {
        const bool parameter = std::ranges::any_of(info.parameters, [&](const auto& p) { return p.is_called(s.name); });
        const bool reference = reference_called(info, s.name) != nullptr;
        if (!parameter && !reference && !is_text(info, s.name))
            throw user_error(s.where, fmt::format("{}: {}", object, unknown_name("key", s.name, "It", known)));
        if (reference && s.list)
            throw user_error(s.where, fmt::format("{}: '{}' is the name of one part, not a list.", object, s.name));
        if (is_text(info, s.name) && s.list)
            throw user_error(s.where, fmt::format("{}: '{}' is one text, not a list.", object, s.name));
    }
    const auto demand = [&](const auto& key) {
        if (key.required && std::ranges::find(spec.values, key.name, &setting::name) == spec.values.end())
            throw user_error(spec.where, fmt::format("{}: '{}' ({}) is missing.", object, key.name, key.description));
    };
    std::ranges::for_each(info.references, demand);
    std::ranges::for_each(info.texts, demand);
    if (info.parts.empty() && !spec.parts.empty())
        throw user_error(spec.parts.front().where, fmt::format("{}: a {} holds no parts.", object, info.kind));
}

std::vector<part> read_parts(const std::vector<part_info>& kinds, const std::vector<part_spec>& given,
                             const std::string& owner, const std::string& path) {
    std::vector<part> parts;
    for (const auto& spec : given) {
        const std::string address = path.empty() ? spec.name : path + "." + spec.name;
        const part_info& info = known_kind(kinds, spec, fmt::format("{}: part '{}'", owner, address));
        const std::string object = fmt::format("{}: part '{}' ({})", owner, address, info.kind);
        check_keys(info, spec, object);
        std::vector<setting> values;
        std::vector<std::pair<std::string, std::string>> references;
        std::vector<part::text> texts;
        for (const auto& s : spec.values) {
            if (is_text(info, s.name))
                texts.push_back({s.name, s.values.front().value, s.values.front().where});
            else if (reference_called(info, s.name) == nullptr)
                values.push_back(s);
            else
                references.emplace_back(s.name, s.values.front().value);
        }
        parts.push_back({spec.name, info.kind, spec.where,
                         resolve_parameters(info.parameters, values, spec.where, object), std::move(references),
                         read_parts(info.parts, spec.parts, owner, address), std::move(texts)});
    }
    return parts;
}

void collect_addresses(const std::vector<part>& parts, const std::string& path, std::vector<std::string>& all) {
    for (const auto& one : parts) {
        all.push_back(path + one.name);
        collect_addresses(one.parts, path + one.name + ".", all);
    }
}

/// Names become addresses: a part beside this one, or else one from the top.
class reference_resolver {
   public:
    reference_resolver(const std::vector<part>& all, const std::string& owner) : all_(all), owner_(owner) {
        collect_addresses(all, "", addresses_);
    }

    void resolve(std::vector<part>& parts, const std::vector<part_spec>& given, const std::vector<part_info>& kinds,
                 const std::string& path) const {
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const part_info& info = *std::ranges::find(kinds, parts[i].kind, &part_info::kind);
            for (auto& [key, name] : parts[i].references) {
                const auto& setting_of = *std::ranges::find(given[i].values, key, &setting::name);
                name = address_of(name, path, *reference_called(info, key), setting_of.values.front().where,
                                  fmt::format("{}: part '{}{}' ({})", owner_, path, parts[i].name, info.kind));
            }
            resolve(parts[i].parts, given[i].parts, info.parts, path + parts[i].name + ".");
        }
    }

   private:
    std::string address_of(const std::string& name, const std::string& path, const part_reference& reference,
                           const location& where, const std::string& object) const {
        for (const std::string& address : {path + name, name}) {
            const part* other = find_part(all_, address);
            if (other == nullptr) continue;
            const auto& kinds = reference.kinds;
            if (!kinds.empty() && std::ranges::find(kinds, other->kind) == kinds.end())
                throw user_error(where, fmt::format("{}: '{}' needs a part of kind {}, but '{}' is a {}.", object,
                                                    reference.name, name_list(kinds), address, other->kind));
            return address;
        }
        throw user_error(where, fmt::format("{}: '{}': {}", object, reference.name,
                                            unknown_name("part", name, "The model", addresses_)));
    }

    const std::vector<part>& all_;
    std::vector<std::string> addresses_;
    const std::string& owner_;
};

}  // namespace

std::vector<part> resolve_parts(const std::vector<part_info>& kinds, const std::vector<part_spec>& given,
                                const std::string& owner) {
    if (kinds.empty() && !given.empty())
        throw user_error(given.front().where, fmt::format("{}: the model has no parts. Leave 'parts' out.", owner));
    std::vector<part> parts = read_parts(kinds, given, owner, "");
    reference_resolver(parts, owner).resolve(parts, given, kinds, "");
    return parts;
}

}  // namespace mdpcosim
