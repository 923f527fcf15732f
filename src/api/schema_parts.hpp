#pragma once

#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/parameter.hpp"
#include "core/part.hpp"
#include "scenario/keys.hpp"

/// Pieces of the schema that come from the registries.
namespace mdpcosim::schema {

json reference_to(const std::string& definition);
/// One of the words, or '$name'.
json one_of_words(const std::vector<std::string>& words);
/// "Sentence. Default: x." in front of what is allowed.
json described(const std::string& sentence, json allowed);

/// name (and symbol) -> what is allowed.
json parameter_properties(const std::vector<parameter_info>& infos);

/// What is different for one value of a key: `if` key is this word `then` these further properties and no others.
struct variant {
    std::string word;
    json properties;
    json demands = json::array();  ///< further schemas that must hold
};
/// Conditions for all variants; `common` are the properties that all have.
json variants_of(const std::string& key, const std::vector<variant>& variants, const json& common);

/// Names in a registry that belong to a key.
std::vector<std::string> names_of(catalogue which);
/// What the names in the registry have as parameters or options.
std::vector<variant> variants_in(catalogue which);
/// Options that hold where no name is given.
json default_properties(catalogue which);
/// `set` and `parts` of every model.
std::vector<variant> model_variants();
/// Variables of every kind of port.
std::vector<variant> port_variants();
json iteration_properties();

}  // namespace mdpcosim::schema
