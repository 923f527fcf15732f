#include <fmt/format.h>

#include <cmath>

#include "api/key_tables.hpp"
#include "api/list.hpp"
#include "api/schema.hpp"
#include "core/json.hpp"
#include "core/suggest.hpp"
#include "coupling/extrapolation.hpp"
#include "coupling/joint.hpp"
#include "coupling/law.hpp"
#include "master/method.hpp"
#include "scenario/keys.hpp"
#include "subsystem/model.hpp"
#include "subsystem/solver.hpp"

namespace mdpcosim {

namespace {

json parameters_json(const std::vector<parameter_info>& infos) {
    json list = json::array();
    for (const auto& p : infos) {
        json entry{{"name", p.name}, {"unit", p.unit}, {"description", p.description}, {"required", p.required}};
        if (!p.required) {
            if (!p.choices.empty())
                entry["default"] = p.choices[static_cast<std::size_t>(p.default_value)];
            else if (std::isfinite(p.default_value))
                entry["default"] = p.default_value;
            else
                entry["default"] = fmt::format("{}", p.default_value);  // JSON has no infinity
        }
        if (!p.choices.empty()) entry["choices"] = p.choices;
        if (!p.symbol.empty()) entry["symbol"] = p.symbol;
        list.push_back(std::move(entry));
    }
    return list;
}

json parts_json(const std::vector<part_info>& kinds) {
    json list = json::array();
    for (const auto& info : kinds) {
        json entry{{"kind", info.kind}, {"summary", info.summary}, {"parameters", parameters_json(info.parameters)}};
        for (const auto& r : info.references)
            entry["references"].push_back(
                {{"name", r.name}, {"description", r.description}, {"kinds", r.kinds}, {"required", r.required}});
        for (const auto& t : info.texts)
            entry["texts"].push_back({{"name", t.name}, {"description", t.description}, {"required", t.required}});
        if (!info.parts.empty()) entry["parts"] = parts_json(info.parts);
        list.push_back(std::move(entry));
    }
    return list;
}

template <class Info>
json registry_json(std::vector<parameter_info> Info::*parameters) {
    json list = json::array();
    for (const Info* entry : registry<Info>::instance().all())
        list.push_back(
            {{"name", entry->name}, {"summary", entry->summary}, {"parameters", parameters_json(entry->*parameters)}});
    return list;
}

json extrapolations_json() {
    json list = json::array();
    for (const auto& name : extrapolation_names()) {
        const extrapolation_rule rule = make_extrapolation(name);
        list.push_back({{"name", name},
                        {"degree", rule.degree},
                        {"K", rule.K},
                        {"R", rule.R},
                        {"uses_rates", rule.uses_rates},
                        {"continuous", rule.continuous},
                        {"a", rule.a},
                        {"b", rule.b}});
    }
    for (const auto& name : extrapolation_names_over_F()) {
        const extrapolation_rule rule = make_extrapolation(name, 1);
        list.push_back({{"name", name},
                        {"degree", rule.degree},
                        {"K", rule.K},
                        {"R", rule.R},
                        {"uses_rates", rule.uses_rates},
                        {"continuous", rule.continuous},
                        {"depends_on", "F"}});
    }
    return list;
}

json keys_json() {
    constexpr const char* types[] = {"number",   "whole", "flag",    "word", "words",
                                     "settings", "map",   "entries", "list", "special"};
    json list = json::array();
    for (const key_group* group : all_key_groups())
        for (const auto& key : group->keys) {
            json entry{{"group", group->name},
                       {"name", key.name},
                       {"type", types[static_cast<int>(key.kind)]},
                       {"required", key.required},
                       {"description", key.description}};
            if (!key.unit.empty()) entry["unit"] = key.unit;
            if (!key.choices.empty()) entry["choices"] = key.choices;
            if (!key.without.empty()) entry["default"] = key.without;
            if (key.inner != nullptr) entry["keys_of"] = key.inner().name;
            list.push_back(std::move(entry));
        }
    return list;
}

json topic_json(const std::string& topic) {
    if (topic == "models") {
        json list = registry_json(&model_info::parameters);
        for (auto& entry : list) {
            const model_info& model = *model_registry::instance().find(entry["name"].get<std::string>());
            entry["sampled"] = bool(model.make_sampled);
            if (!model.parts.empty()) entry["parts"] = parts_json(model.parts);
        }
        return list;
    }
    if (topic == "laws") {
        json list = registry_json(&law_info::parameters);
        for (auto& entry : list)
            for (const port_kind kind : law_registry::instance().find(entry["name"].get<std::string>())->kinds)
                entry["kinds"].push_back(info(kind).name);
        return list;
    }
    if (topic == "solvers") return registry_json(&solver_info::options);
    if (topic == "methods") return registry_json(&method_info::options);
    if (topic == "joints") {
        json list = registry_json(&joint_info::parameters);
        for (auto& entry : list)
            for (const port_kind kind : joint_registry::instance().find(entry["name"].get<std::string>())->kinds)
                entry["kinds"].push_back(info(kind).name);
        return list;
    }
    if (topic == "extrapolations") return extrapolations_json();
    if (topic == "keys") return keys_json();
    throw user_error(fmt::format("list: {}", unknown_name("topic", topic, "'mdpcosim list'", list_topics())));
}

std::string parameter_lines(const json& entry, const std::string& indent) {
    std::string out;
    if (!entry.contains("parameters")) return out;
    for (const auto& p : entry["parameters"]) {
        const auto unit = p["unit"].get<std::string>();
        std::string value = "required";
        if (p.contains("default"))
            value = "default " + (p["default"].is_string() ? p["default"].get<std::string>() : p["default"].dump());
        if (p.contains("choices"))
            value += fmt::format(", one of {}", fmt::join(p["choices"].get<std::vector<std::string>>(), ", "));
        out += fmt::format("{}{:<18} {:<18} {} ({})\n", indent, p["name"].get<std::string>(),
                           unit.empty() ? "" : "[" + unit + "]", p["description"].get<std::string>(), value);
    }
    return out;
}

std::string part_lines(const json& kinds, const std::string& indent) {
    std::string out;
    for (const auto& kind : kinds) {
        out +=
            fmt::format("{}part {}: {}\n", indent, kind["kind"].get<std::string>(), kind["summary"].get<std::string>());
        out += parameter_lines(kind, indent + "    ");
        const auto others = [&](const char* key, const char* shown) {
            if (!kind.contains(key)) return;
            for (const auto& r : kind[key])
                out += fmt::format("{}    {:<18} {:<18} {} ({})\n", indent, r["name"].get<std::string>(), shown,
                                   r["description"].get<std::string>(),
                                   r["required"].get<bool>() ? "required" : "optional");
        };
        others("references", "[part]");
        others("texts", "[text]");
        if (kind.contains("parts")) out += part_lines(kind["parts"], indent + "    ");
    }
    return out;
}

}  // namespace

std::vector<std::string> list_topics() {
    return {"models", "laws", "joints", "extrapolations", "methods", "solvers", "keys", "schema"};
}

std::string list_json(const std::string& topic) {
    return topic == "schema" ? scenario_schema() : topic_json(topic).dump(2) + "\n";
}

std::string list_text(const std::string& topic) {
    if (topic == "schema") return scenario_schema();
    if (topic == "keys") return all_key_tables();
    const json list = topic_json(topic);
    std::string out;
    if (list.empty()) return fmt::format("{}: none in this version\n", topic);
    for (const auto& entry : list) {
        const auto name = entry["name"].get<std::string>();
        if (topic == "extrapolations") {
            out += fmt::format("{:<28} degree {}, K = {}, R = {}{}{}\n", name, entry["degree"].get<int>(),
                               entry["K"].get<int>(), entry["R"].get<int>(),
                               entry["uses_rates"].get<bool>() ? ", uses rates" : "",
                               entry.contains("depends_on") ? ", coefficients for the connection's F" : "");
            continue;
        }
        out += fmt::format("{:<22} {}\n", name, entry["summary"].get<std::string>());
        out += parameter_lines(entry, "    ");
        if (entry.contains("parts")) out += part_lines(entry["parts"], "    ");
    }
    return out;
}

}  // namespace mdpcosim
