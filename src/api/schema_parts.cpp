#include "api/schema_parts.hpp"

#include <fmt/format.h>

#include "core/port_kind.hpp"
#include "coupling/extrapolation.hpp"
#include "coupling/fixed_point.hpp"
#include "coupling/joint.hpp"
#include "coupling/law.hpp"
#include "master/method.hpp"
#include "subsystem/model.hpp"
#include "subsystem/solver.hpp"

namespace mdpcosim::schema {

json reference_to(const std::string& definition) { return {{"$ref", "#/definitions/" + definition}}; }

json one_of_words(const std::vector<std::string>& words) {
    json list = words;
    for (const auto& word : words)  // `order: 3` is a number for YAML
        if (auto value = json::parse_if_valid(word); value && (value->is_number() || value->is_boolean()))
            list.push_back(std::move(*value));
    return {{"anyOf", json::array({json{{"enum", list}}, reference_to("let-value")})}};
}

json described(const std::string& sentence, json allowed) {
    json result{{"description", sentence}};
    if (allowed.contains("$ref"))  // what stands beside it would not be seen
        result["allOf"] = json::array({std::move(allowed)});
    else
        result.update(allowed);
    return result;
}

namespace {

json parameter_value(const parameter_info& info) {
    using range = parameter_info::range;
    if (!info.choices.empty()) return one_of_words(info.choices);
    json number = reference_to(info.allowed == range::positive || info.allowed == range::whole ? "positive"
                               : info.allowed == range::not_negative                           ? "not-negative"
                                                                                               : "quantity");
    if (!info.list) return number;
    return {{"anyOf", json::array({number, json{{"type", "array"}, {"minItems", 1}, {"items", number}}})}};
}

std::string sentence_of(const parameter_info& info) {
    std::string text = info.description;
    if (!info.unit.empty() && info.unit != "1") text += fmt::format(" [{}]", info.unit);
    if (info.required) return text + "; required.";
    return text + (info.choices.empty()
                       ? fmt::format("; default {}.", info.default_value)
                       : fmt::format("; default {}.", info.choices[static_cast<std::size_t>(info.default_value)]));
}

/// Needed parameters, by name or by symbol.
json demands_of(const std::vector<parameter_info>& infos) {
    json list = json::array();
    for (const auto& info : infos) {
        if (!info.required) continue;
        json by_name{{"required", {info.name}}};
        if (info.symbol.empty())
            list.push_back(by_name);
        else
            list.push_back({{"anyOf", json::array({by_name, json{{"required", {info.symbol}}}})}});
    }
    return list;
}

template <class Info>
std::vector<variant> registered(std::vector<parameter_info> Info::*parameters) {
    std::vector<variant> list;
    for (const Info* entry : registry<Info>::instance().all())
        list.push_back({entry->name, parameter_properties(entry->*parameters), demands_of(entry->*parameters)});
    return list;
}

/// Parts of the declared kinds by name.
json parts_schema(const std::vector<part_info>& kinds) {
    if (kinds.empty()) return false;
    std::vector<std::string> names;
    std::vector<variant> variants;
    for (const auto& info : kinds) {
        names.push_back(info.kind);
        variant v{info.kind, parameter_properties(info.parameters), demands_of(info.parameters)};
        for (const auto& r : info.references) {
            v.properties[r.name] = described(r.description + "; name of a part.", reference_to("word"));
            if (r.required) v.demands.push_back({{"required", {r.name}}});
        }
        for (const auto& t : info.texts) {
            v.properties[t.name] = described(t.description + ".", reference_to("scalar"));
            if (t.required) v.demands.push_back({{"required", {t.name}}});
        }
        if (!info.parts.empty()) v.properties["parts"] = parts_schema(info.parts);
        variants.push_back(std::move(v));
    }
    const json kind = described("What it is.", one_of_words(names));
    json one{{"type", "object"}, {"required", {"kind"}}, {"properties", {{"kind", kind}}}};
    one["allOf"] = variants_of("kind", variants, {{"kind", true}});
    return {{"type", "object"}, {"additionalProperties", one}};
}

}  // namespace

json parameter_properties(const std::vector<parameter_info>& infos) {
    json properties = json::object();
    for (const auto& info : infos) {
        const json value = described(sentence_of(info), parameter_value(info));
        properties[info.name] = value;
        if (!info.symbol.empty()) properties[info.symbol] = value;
    }
    return properties;
}

json variants_of(const std::string& key, const std::vector<variant>& variants, const json& common) {
    json list = json::array();
    for (const auto& v : variants) {
        json properties = common;
        properties.update(v.properties);
        json then{{"properties", properties}, {"additionalProperties", false}};
        if (!v.demands.empty()) then["allOf"] = v.demands;
        list.push_back({{"if", {{"required", {key}}, {"properties", {{key, {{"const", v.word}}}}}}}, {"then", then}});
    }
    return list;
}

std::vector<std::string> names_of(catalogue which) {
    switch (which) {
        case catalogue::models:
            return model_registry::instance().names();
        case catalogue::laws:
            return law_registry::instance().names();
        case catalogue::joints:
            return joint_registry::instance().names();
        case catalogue::solvers:
            return solver_registry::instance().names();
        case catalogue::methods:
            return method_registry::instance().names();
        case catalogue::extrapolations: {
            auto names = extrapolation_names();
            for (auto& name : extrapolation_names_over_F()) names.push_back(std::move(name));
            return names;
        }
        default:
            return {};
    }
}

std::vector<variant> variants_in(catalogue which) {
    if (which == catalogue::laws) return registered(&law_info::parameters);
    if (which == catalogue::joints) return registered(&joint_info::parameters);
    if (which == catalogue::solvers) return registered(&solver_info::options);
    if (which == catalogue::methods) return registered(&method_info::options);
    return {};
}

json default_properties(catalogue which) {
    return parameter_properties(which == catalogue::solvers
                                    ? solver_registry::instance().find(default_solver)->options
                                    : method_registry::instance().find(default_method)->options);
}

std::vector<variant> model_variants() {
    std::vector<variant> list;
    for (const model_info* model : model_registry::instance().all()) {
        json set{{"properties", parameter_properties(model->parameters)}, {"additionalProperties", false}};
        if (const json demands = demands_of(model->parameters); !demands.empty()) set["allOf"] = demands;
        variant v{model->name, {{"set", set}, {"parts", parts_schema(model->parts)}}, json::array()};
        if (model->make_sampled)
            v.properties.update({{"solver", false}, {"input-degree", false}});
        else
            v.properties["sample"] = false;
        list.push_back(std::move(v));
    }
    return list;
}

std::vector<variant> port_variants() {
    std::vector<variant> list;
    for (const auto& kind : port_kinds()) {
        if (kind.kind == port_kind::signal) continue;
        variant v{kind.name, json::object(), json::array()};
        if (kind.kind == port_kind::frame) {
            v.properties["causality"] = one_of_words({"takes-load"});
            for (const auto variables : {frame_motion_variables(), frame_load_variables()})
                for (const auto& variable : variables)
                    v.properties[variable.name] = {{"type", "array"},
                                                   {"minItems", variable.size},
                                                   {"maxItems", variable.size},
                                                   {"items", reference_to("word")}};
        } else {
            for (const auto& name : {kind.motion[0], kind.motion[1], kind.motion[2], kind.load, kind.load_integral})
                if (!name.empty()) v.properties[name] = reference_to("word");
        }
        list.push_back(std::move(v));
    }
    return list;
}

json iteration_properties() { return parameter_properties(fixed_point_parameters({})); }

}  // namespace mdpcosim::schema
