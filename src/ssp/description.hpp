#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"

/// System Structure and Parameterization (SSP 1.0 and 2.0) as plain data: what the files say, with the place of every element; names are not yet
/// resolved. What has no meaning for a simulation (geometry, notes, meta data, signatures) is left out.
namespace mdpcosim::ssp {

/// Types that differ in size only are one.
enum class value_type { unknown, real, integer, boolean, string, enumeration, binary, clock };
const char* name(value_type type);

/// `SI value = factor * value + offset`.
struct unit {
    static constexpr std::array<const char*, 8> base_names{"kg", "m", "s", "A", "K", "mol", "cd", "rad"};

    std::string name;
    bool defined = false;  ///< in the file that uses it; else the name says what it is, if anything
    std::array<int, 8> exponents{};
    double factor = 1, offset = 0;
};

enum class kind {
    unknown,
    input,
    output,
    inout,
    parameter,
    calculated_parameter,
    structural_parameter,
    constant,
    local
};

struct connector {
    std::string name;
    location where;
    ssp::kind kind = kind::unknown;
    value_type type = value_type::unknown;
    std::optional<ssp::unit> unit;
};

/// Of a connection or a mapping.
struct transformation {
    enum class form { none, linear, boolean, integer, enumeration };
    form how = form::none;
    double factor = 1, offset = 0;
    std::vector<std::pair<std::string, std::string>> map;  ///< source -> target
    location where;
};

/// What an annotation of ours says: the text of a YAML map.
struct annotation {
    std::string text;  ///< empty: there is none
    location where;    ///< of its first character
};

struct connection {
    location where;
    std::string start_element, start_connector, end_element, end_connector;  ///< no element: the system itself
    std::vector<std::uint64_t> start_indices, end_indices;
    ssp::transformation transformation;
    bool keep_number = false;  ///< suppressUnitConversion
    ssp::annotation annotation;
};

struct parameter {
    std::string name;
    location where;
    value_type type = value_type::unknown;
    std::vector<std::string> values;  ///< one, or the elements of an array, row by row
    bool array = false;
    std::optional<ssp::unit> unit;
};

struct parameter_set {
    std::string name;
    location where;
    std::vector<parameter> parameters;
};

struct mapping_entry {
    std::string source, target;
    location where;
    bool keep_number = false;
    ssp::transformation transformation;
};

struct parameter_mapping {
    location where;
    std::vector<mapping_entry> entries;
};

/// A file named in another one, or what stands in place of it.
template <class Content>
struct source {
    location where;
    std::string type;  ///< MIME; empty: that of SSP
    std::optional<std::string> uri;
    bool in_component = false;  ///< the URI starts at the component, not at the SSD
    std::optional<Content> content;
};

struct parameter_binding {
    location where;
    std::string prefix;
    source<parameter_set> values;
    std::optional<source<parameter_mapping>> mapping;
};

struct signal_dictionary {
    std::string name;
    location where;
    source<std::vector<connector>> entries;
};

/// A component, a system, or a reference to a signal dictionary.
struct element {
    enum class form { component, system, dictionary_reference };
    form what = form::component;
    std::string name, id;
    location where;
    std::vector<connector> connectors;
    std::vector<parameter_binding> bindings;
    ssp::annotation annotation;
    // A component:
    std::string type;  ///< MIME; empty: an FMU
    std::optional<std::string> uri;
    std::string implementation;  ///< "any", "CoSimulation", "ModelExchange", "ScheduledExecution"
    // A system:
    std::vector<element> elements;
    std::vector<connection> connections;
    std::vector<signal_dictionary> dictionaries;
    // A reference:
    std::string dictionary;

    const connector* find_connector(std::string_view wanted) const;
    const element* find_element(std::string_view wanted) const;
};

struct description {
    std::filesystem::path path;
    std::string name, version;
    element system;
    std::optional<double> start, stop;
    ssp::annotation annotation;
};

}  // namespace mdpcosim::ssp
