#pragma once

#include <map>
#include <string>
#include <vector>

#include "scenario/spec.hpp"
#include "scenario/yaml.hpp"

namespace mdpcosim {

/// What `$name` stands for.
using let_table = std::map<std::string, text>;

/// The scalar with `$name` resolved; a user error when it is a list, a map or nothing. `object` names it in messages.
text read_text(const yaml_node& node, const let_table& let, const std::string& object);

/// `name: value` or `name: [values]`.
setting read_setting(const yaml_key& key, const yaml_node& node, const let_table& let, const std::string& object);

/// All entries of a map as settings; nothing for a missing map.
std::vector<setting> read_settings(const yaml_node* node, const let_table& let, const std::string& object);

/// Walks one map of the scenario: keys are taken by name; what is left over at the end is unknown to us and a mistake.
class map_reader {
   public:
    map_reader(const yaml_node& node, const let_table& let, std::string object);

    const yaml_node* find(std::string_view key);
    const yaml_node& need(std::string_view key);
    /// The text of an optional key; empty when it is not there.
    text find_text(std::string_view key);
    text need_text(std::string_view key);
    /// What no find() or need() has asked for; for maps whose remaining keys are parameters.
    std::vector<setting> rest();
    /// Unknown keys are a user error with the known ones and a suggestion.
    void finish() const;

    const location& where() const { return node_.where; }
    const std::string& object() const { return object_; }
    const let_table& let() const { return let_; }

   private:
    const yaml_node& node_;
    const let_table& let_;
    std::string object_;
    std::vector<bool> used_;
    std::vector<std::string_view> known_;  ///< keys that were asked for: literals, or of the tables of keys
};

/// A name, or own coefficients.
extrapolation_spec read_extrapolation(const yaml_node& node, const let_table& let, const std::string& object);

/// Names of subsystems, connections and variables: letters, digits, `_` and `-`, starting with a letter or `_`.
void check_name(const yaml_key& key, const char* kind);

}  // namespace mdpcosim
