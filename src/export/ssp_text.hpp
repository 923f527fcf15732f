#pragma once

#include <map>
#include <string>
#include <vector>

#include "fmi/description.hpp"

/// The XML of an SSD, piece by piece. Private to export/.
namespace mdpcosim {

struct ssd_connector {
    std::string name, kind, type;
    std::string unit;         ///< as defined in the file; empty: none
    std::string enumeration;  ///< as defined in the file
    std::vector<std::uint64_t> dimensions;
};

struct ssd_value {
    std::string name, type, unit;
    std::vector<std::string> values;
    std::vector<std::uint64_t> dimensions;
};

struct ssd_component {
    std::string name, type, source, implementation;
    std::vector<ssd_connector> connectors;
    std::vector<ssd_value> values;
    std::string annotation;
};

struct ssd_connection {
    std::string from_element, from, to_element, to;
    double factor = 1, offset = 0;
    bool keep_number = false;
    std::string annotation;
};

/// Definitions that connectors refer to; of the same name and another meaning one gets another name.
class ssd_definitions {
   public:
    /// The name under which it stands in the file; empty where the unit says nothing that SSP has words for.
    std::string add(const fmi::unit_definition& unit);
    std::string add(const fmi::type_definition& enumeration);

    const std::map<std::string, fmi::unit_definition>& units() const { return units_; }
    const std::map<std::string, fmi::type_definition>& enumerations() const { return enumerations_; }

   private:
    std::map<std::string, fmi::unit_definition> units_;
    std::map<std::string, fmi::type_definition> enumerations_;
};

struct ssd_system {
    std::string name, version = "1.0", tool;
    std::vector<ssd_component> components;
    std::vector<ssd_connection> connections;
    ssd_definitions definitions;
    double start = 0, stop = 0;
    std::string annotation;
};

std::string ssd_text(const ssd_system& system);

}  // namespace mdpcosim
