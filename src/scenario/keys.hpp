#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/parameter.hpp"
#include "scenario/map_reader.hpp"
#include "scenario/spec.hpp"
#include "scenario/yaml.hpp"

/// What keys a scenario has, said once. Every map of the file (the whole file, `time:`, one subsystem, one port ...) is a
/// key_group, and every key a key_info: its type, its unit or words, what holds without it, one sentence about it, and how
/// its value gets into the structs of spec.hpp and out again. From these tables follow
///   the reader (read_keys) with its messages, the writer (write_scenario), `--set` (override.cpp),
///   the JSON schema for editors and the tables of docs/scenario.md (api/schema.hpp, api/key_tables.hpp).
/// The tables are in keys_*.cpp; key_builders.hpp has their vocabulary.
namespace mdpcosim {

/// What all values of one file may need while they are read.
struct reading {
    const let_table& let;
    std::function<std::filesystem::path(const location&)> folder_of;  ///< where relative paths of this place start
    const scenario* whole = nullptr;                                  ///< what has been read so far
};

/// Where in the scenario a value stands, for messages.
struct key_place {
    const reading& in;
    std::string object;         ///< "subsystem 'a'"; "scenario" at the top
    std::string key;            ///< "limit"
    bool alone = false;         ///< the value stands for its whole map: `solver: erk-5`
    std::string content = {};   ///< object of what is inside the map, where that differs
    std::string whole() const;  ///< "subsystem 'a': 'limit'", for a value of the wrong shape
    std::string value() const;  ///< "subsystem 'a': limit", for a wrong value
    /// "subsystem 'a': solver", or "time" at the top.
    std::string inside(std::string_view label) const;
};

struct key_group;

/// Names that only the registries of other rooms know; the schema puts them in.
enum class catalogue { none, models, laws, joints, solvers, methods, extrapolations, iteration, port_variables };

/// What the values of a `name: value` map are, for the schema.
enum class setting_values { any, quantity, inertia, expression, word, whole };

struct key_info {
    enum class type {
        number,    ///< with a unit
        whole,     ///< a whole number
        flag,      ///< true or false
        word,      ///< a text, or one out of `choices`
        words,     ///< a list of texts, or one text
        settings,  ///< `name: value` with any names
        map,       ///< keys of the group `inner`; with `short_form` also the value of that key alone
        entries,   ///< name: map of the group `inner`
        list,      ///< of maps of the group `inner`
        special    ///< a form of its own; `fragment` is its JSON schema
    };

    std::string name;
    type kind = type::word;
    std::string description = {};  ///< one sentence
    std::string unit = {};         ///< of a number, SI; "1": none
    parameter_info::range allowed = parameter_info::range::any;
    int least = 0, most = 1000000000;       ///< of a whole number
    std::vector<std::string> choices = {};  ///< of a word
    bool checked = true;                    ///< choices are checked by the reader, not by whoever uses the word
    bool required = false;
    std::string without = {};           ///< what holds when the key is left out
    std::string page = {};              ///< of docs/ that says more
    catalogue names = catalogue::none;  ///< where the word, or the names of settings, come from
    setting_values values = setting_values::any;
    std::string name_pattern = {};  ///< of the names in settings and entries
    const key_group& (*inner)() = nullptr;
    std::string short_form = {};             ///< key of `inner` that a bare value stands for
    std::string label = {};                  ///< in messages: "port" for the entries of `ports`; empty: the name
    std::string list_of = {}, example = {};  ///< of a list, for messages: "ports" ", [first.port, second.port]"
    std::string when_empty = {};             ///< not empty: an empty list is refused with this advice
    std::string fragment = {};               ///< of a special key
    std::string form = {};                   ///< of a special key, for the docs: "a command line or a list of words"
    unsigned sources = ~0U;                  ///< of a subsystem's key: bits of the sources that have it
    std::string elsewhere = {};    ///< why others do not have it, "... {} is continuous"; empty: not known there
    unsigned elsewhere_for = ~0U;  ///< sources that are told so
    bool before_objects = false;   ///< `--set time.end` is never about a subsystem called 'time'
    bool silent = false;           ///< of a map: messages about what is inside do not name it
    bool block = false;            ///< written over several lines
    bool derived = false;          ///< not written: what it says is written elsewhere

    const void* owner = nullptr;  ///< which struct the accessors belong to
    std::function<void(const key_info&, void*, const yaml_key&, const yaml_node&, const key_place&)> read = {};
    std::function<void(const key_info&, const void*, yaml_node&)> write = {};   ///< leaves `null` for what is not there
    std::function<void(void*, const yaml_node&, const key_place&)> after = {};  ///< checks, and defaults that follow

    // How the tables say these things.
    key_info& needed();
    key_info& positive();
    key_info& not_negative();
    key_info& by_default(std::string text);
    key_info& more_in(std::string page_of_docs);
    key_info& from(catalogue registry);
    key_info& of(unsigned source_bits);
    key_info& over_lines();
};

struct key_group {
    std::string name;         ///< "time", "connection"
    std::string description;  ///< one sentence
    std::vector<key_info> keys;
    std::vector<key_info> rest = {};                                 ///< none or one: all other keys, as settings
    std::vector<std::string> one_of = {};                            ///< exactly one of these keys is given
    std::vector<std::pair<std::string, std::string>> together = {};  ///< the first key needs the second
    /// Before the keys: what the map is (the source of a subsystem). Returns the bits of the keys that it may have.
    std::function<unsigned(void*, const yaml_key&, const yaml_node&, const key_place&)> prepare = {};
    std::function<void(void*, const yaml_node&, const key_place&)> check = {};  ///< after the keys
    std::function<unsigned(const void*)> sources_of = {};                       ///< the same bits, for the writer

    const key_info* find(std::string_view key) const;
};

/// Reads the map into the struct that the group is about. Unknown keys, missing ones and wrong values throw user_error.
void read_keys(const key_group& group, void* owner, const yaml_key& key, const yaml_node& node, const key_place& at);

/// The same for a value that may stand for one key of the map.
void read_short_or_keys(const key_info& info, void* owner, const yaml_key& key, const yaml_node& node,
                        const key_place& at);

/// The struct as a map; only what is given.
yaml_node write_keys(const key_group& group, const void* owner);

/// One bit per source of a subsystem.
constexpr unsigned source_bit(subsystem_spec::source_kind kind) { return 1U << static_cast<unsigned>(kind); }

const key_group& scenario_keys();
const key_group& subsystem_keys();
const key_group& ode_keys();
const key_group& port_keys();
const key_group& connection_keys();
const key_group& signal_keys();
const key_group& bond_keys();
const key_group& solver_keys();
const key_group& extrapolation_keys();

/// Every group, each once, in the order of the file.
std::vector<const key_group*> all_key_groups();

}  // namespace mdpcosim
