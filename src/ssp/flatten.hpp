#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ssp/description.hpp"

/// A system without its walls: nested systems, referenced files and signal dictionaries are gone, what is left are components, values for them, and
/// which connector feeds which.
namespace mdpcosim::ssp {

/// A component, wherever it stands among nested systems and files.
struct part {
    std::vector<std::string> names;  ///< of the systems around it, and its own; the outermost system has no name here
    const element* what = nullptr;
    std::filesystem::path document;
    std::filesystem::path path;  ///< of its source; empty: it has none
    std::string full_name() const;
};

/// From one connector to the next: what the connection does to the value, and the unit in which it arrives, where that is said.
struct hop {
    const ssp::transformation* transformation = nullptr;
    bool keep_number = false;
    std::optional<ssp::unit> unit;
    location where;
};

struct link {
    int source = -1, target = -1;  ///< parts
    const connector *from = nullptr, *to = nullptr;
    std::vector<hop> hops;
    const connection* last = nullptr;  ///< which enters the target
};

/// A parameter's value for a variable of a part: converted hop by hop.
struct binding {
    int target = -1;
    std::string variable;
    const parameter* value = nullptr;
    std::vector<hop> hops;
    location where;
};

struct flat_system {
    std::map<std::string, std::unique_ptr<description>> documents;
    std::map<std::string, parameter_set> sets;
    std::map<std::string, parameter_mapping> mappings;
    std::map<std::string, std::vector<connector>> dictionaries;
    const description* top = nullptr;
    std::vector<part> parts;
    std::vector<link> links;
    std::vector<binding> bindings;
    std::vector<std::string> notes;  ///< what was passed over
};

/// Whether the part has a variable of that name.
using variable_test = std::function<bool(const part&, const std::string&)>;

/// Throws user_error with the place in the file: elements, connectors, dictionaries, files and parameters that do not exist, connections of two
/// outputs or two inputs, an input that is fed twice, circles.
flat_system flatten(const std::filesystem::path& description_file, const variable_test& has_variable);

}  // namespace mdpcosim::ssp
