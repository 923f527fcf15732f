#include "api/schema.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/schema_parts.hpp"

namespace mdpcosim {

namespace {

using schema::described;
using schema::one_of_words;
using schema::reference_to;
using key_type = key_info::type;

/// What the keys are made of.
constexpr const char* basic_definitions = R"json({
  "let-value": {"description": "A value of 'let'.", "type": "string", "pattern": "^\\$[A-Za-z_][A-Za-z0-9_-]*$"},
  "word": {"description": "A text.", "type": "string", "minLength": 1},
  "quantity": {
    "description": "A number (SI), a number with a unit ('20 us'), or '$name'.",
    "anyOf": [
      {"type": "number"},
      {"$ref": "#/definitions/let-value"},
      {"type": "string", "pattern": "^[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?([ ]*[^ 0-9].*)?$"}
    ]
  },
  "not-negative": {
    "description": "A number of at least zero (SI), a number with a unit ('20 us'), or '$name'.",
    "anyOf": [
      {"type": "number", "minimum": 0},
      {"$ref": "#/definitions/let-value"},
      {"type": "string", "pattern": "^[+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?([ ]*[^ 0-9].*)?$"}
    ]
  },
  "positive": {
    "description": "A number above zero (SI), a number with a unit ('20 us'), or '$name'.",
    "anyOf": [
      {"type": "number", "exclusiveMinimum": 0},
      {"$ref": "#/definitions/let-value"},
      {"type": "string", "pattern": "^[+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?([ ]*[^ 0-9].*)?$"}
    ]
  },
  "inertia": {
    "description": "A number above zero (SI), a number with a unit ('3 kg'), 'inf', or '$name'.",
    "anyOf": [{"$ref": "#/definitions/positive"}, {"enum": ["inf", ".inf"]}]
  },
  "scalar": {"description": "A number, a number with a unit, '$name', or a word.", "type": ["number", "string", "boolean"]},
  "value": {
    "description": "A scalar or a list of scalars.",
    "anyOf": [{"$ref": "#/definitions/scalar"}, {"type": "array", "items": {"$ref": "#/definitions/scalar"}}]
  },
  "expression": {
    "description": "A formula of the states, inputs, parameters and the time: 'F/m - g'. '$name' puts in a value of 'let'.",
    "anyOf": [{"type": "number"}, {"type": "string", "minLength": 1}]
  },
  "coefficients": {
    "description": "Pure numbers, the newest time first.",
    "anyOf": [{"$ref": "#/definitions/quantity"}, {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/quantity"}}]
  },
  "coordinates": {
    "description": "Two coordinates (x to the right, y up) or three, numbers or expressions.",
    "type": "array", "minItems": 2, "maxItems": 3, "items": {"$ref": "#/definitions/scalar"}
  },
  "stretch": {"description": "Two points or more.", "type": "array", "minItems": 2, "items": {"$ref": "#/definitions/coordinates"}},
  "names": {
    "description": "A name, or a list of names.",
    "anyOf": [{"type": "string"}, {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string"}}]
  },
  "arrow": {
    "description": "'a.y -> b.u', or a sum: '2*a.y - b.y + 3 -> c.u', with blanks around '+' and '-'. Gains may carry units.",
    "type": "string",
    "pattern": "^[^>]*[^> -] *-> *[^ >]+ *$"
  }
})json";

/// One sentence, and what holds without the key.
std::string sentence_of_key(const key_info& key) {
    std::string text = key.description;
    if (!key.without.empty()) text += fmt::format(" Default: {}.", key.without);
    std::erase(text, '`');
    return text;
}

std::string definition_of(setting_values values) {
    constexpr const char* names[] = {"value", "quantity", "inertia", "expression", "scalar", "scalar"};
    return names[static_cast<int>(values)];
}

json value_of_key(const key_info& key);

/// A map of the group, or the value of one of its keys.
json map_or_short(const key_info& key) {
    const key_group& group = key.inner();
    json map = reference_to(group.name);
    if (key.short_form.empty()) return map;
    const key_info* stands_for = group.find(key.short_form);
    const json bare =
        stands_for != nullptr ? value_of_key(*stands_for) : schema::iteration_properties().at(key.short_form);
    return {{"if", {{"type", "object"}}}, {"then", map}, {"else", bare}};
}

json word_of_key(const key_info& key) {
    if (!key.choices.empty()) return one_of_words(key.choices);
    if (key.names != catalogue::none) return one_of_words(schema::names_of(key.names));
    return reference_to(key.values == setting_values::expression ? "expression" : "word");
}

json words_of_key(const key_info& key) {
    json list{{"type", "array"}, {"items", reference_to("word")}};
    if (!key.when_empty.empty() || !key.list_of.empty()) list["minItems"] = 1;
    return key.list_of.empty() ? json{{"anyOf", json::array({reference_to("word"), list})}} : list;
}

json settings_of_key(const key_info& key) {
    json map{{"type", {"object", "null"}}};
    if (!key.name_pattern.empty()) map["propertyNames"] = {{"pattern", key.name_pattern}};
    map["additionalProperties"] = key.values == setting_values::whole ? json{{"type", "integer"}, {"minimum", 0}}
                                                                      : reference_to(definition_of(key.values));
    return map;
}

json value_of_key(const key_info& key) {
    using range = parameter_info::range;
    if (!key.fragment.empty()) return json::parse(key.fragment);
    switch (key.kind) {
        case key_type::number:
            return reference_to(key.allowed == range::positive       ? "positive"
                                : key.allowed == range::not_negative ? "not-negative"
                                                                     : "quantity");
        case key_type::whole: {
            json number{{"type", "integer"}, {"minimum", key.least}};
            if (key.most < 1000000000) number["maximum"] = key.most;
            return {{"anyOf", json::array({number, reference_to("let-value")})}};
        }
        case key_type::flag:
            return {{"anyOf", json::array({json{{"enum", {true, false, "yes", "no"}}}, reference_to("let-value")})}};
        case key_type::word:
            return word_of_key(key);
        case key_type::words:
            return words_of_key(key);
        case key_type::settings:
            return settings_of_key(key);
        case key_type::map:
            return map_or_short(key);
        case key_type::entries: {
            json map{{"type", "object"}, {"additionalProperties", map_or_short(key)}};
            if (!key.name_pattern.empty()) map["propertyNames"] = {{"pattern", key.name_pattern}};
            return map;
        }
        case key_type::list:
            return {{"type", "array"}, {"items", map_or_short(key)}};
        case key_type::special:
            break;
    }
    return json::object();
}

/// Exactly one of these keys; an included file may have it, too.
void demand_one(const key_group& group, json& object) {
    if (group.one_of.empty()) return;
    json ways = json::array();
    for (const auto& name : group.one_of) ways.push_back({{"required", {name}}});
    if (group.find("include") != nullptr)
        object["anyOf"] = json::array({json{{"required", {"include"}}}, json{{"oneOf", ways}}});
    else
        object["oneOf"] = ways;
}

/// Keys that only some sources of a subsystem have.
void demand_sources(const key_group& group, json& object) {
    for (const auto& key : group.keys) {
        json ways = json::array({json{{"required", {"include"}}}});
        bool all = true;
        for (const auto& name : group.one_of) {
            const key_info& source = *group.find(name);
            if ((source.sources & key.sources) != 0)
                ways.push_back({{"required", {name}}});
            else
                all = false;
        }
        const bool source_itself = std::ranges::find(group.one_of, key.name) != group.one_of.end();
        if (!all && !source_itself) object["dependencies"][key.name] = {{"anyOf", ways}};
    }
}

/// Properties that every variant has, already described elsewhere.
json known_properties(const key_group& group) {
    json known = json::object();
    for (const auto& key : group.keys) known[key.name] = true;
    return known;
}

/// What the registries say about the other keys of the group.
void add_variants(const key_group& group, json& object) {
    const catalogue names = group.rest.empty() ? catalogue::none : group.rest.front().names;
    const json known = known_properties(group);
    json conditions = json::array();
    const auto add = [&](const json& more) {
        for (const json& one : more) conditions.push_back(one);
    };
    if (names == catalogue::iteration) {
        object["properties"] = schema::iteration_properties();
        object["additionalProperties"] = false;
    } else if (names == catalogue::solvers || names == catalogue::methods) {
        add(schema::variants_of("name", schema::variants_in(names), known));
        json properties = known;
        properties.update(schema::default_properties(names));
        conditions.push_back({{"if", {{"not", {{"required", {"name"}}}}}},
                              {"then", {{"properties", properties}, {"additionalProperties", false}}}});
    } else if (names == catalogue::laws) {
        add(schema::variants_of("law", schema::variants_in(catalogue::laws), known));
        add(schema::variants_of("joint", schema::variants_in(catalogue::joints), known));
    } else if (names == catalogue::port_variables) {
        add(schema::variants_of("kind", schema::port_variants(), known));
    } else if (group.name == "subsystem") {
        add(schema::variants_of("model", schema::model_variants(), known));
    }
    if (!conditions.empty()) object["allOf"] = conditions;
}

json schema_of_group(const key_group& group) {
    json object{{"description", group.description}, {"type", "object"}};
    json required = json::array(), properties = json::object();
    for (const auto& key : group.keys) {
        const bool elsewhere = group.name == "scenario" && key.name == "subsystems";
        if (key.required && !elsewhere) required.push_back(key.name);
        properties[key.name] = described(sentence_of_key(key), value_of_key(key));
    }
    if (group.name == "scenario")
        object["anyOf"] = json::array({json{{"required", {"subsystems"}}}, json{{"required", {"include"}}}});
    if (!required.empty()) object["required"] = required;
    object["properties"] = properties;
    if (group.rest.empty()) object["additionalProperties"] = false;
    demand_one(group, object);
    if (group.sources_of) demand_sources(group, object);
    for (const auto& [key, other] : group.together) object["dependencies"][key] = json::array({other});
    add_variants(group, object);
    return object;
}

}  // namespace

std::string scenario_schema() {
    json document{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "mdpcosim scenario"}};
    json root = schema_of_group(scenario_keys());
    root["description"] =
        scenario_keys().description +
        " Numbers may carry a unit ('20 us', '6.3e4 N.m/rad'); a bare number is SI; '$name' stands for "
        "a value of 'let'. Made by 'mdpcosim list schema'.";
    document.update(root);
    document["definitions"] = json::parse(basic_definitions);
    for (const key_group* group : all_key_groups())
        if (group->name != "scenario") document["definitions"][group->name] = schema_of_group(*group);
    return document.dump(1) + "\n";
}

}  // namespace mdpcosim
