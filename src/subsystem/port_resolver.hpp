#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenario/spec.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// The variables that `ports:` may name, as the subsystem knows them.
class port_variables {
   public:
    virtual ~port_variables() = default;
    virtual int find_input(const std::string& name) = 0;   ///< its slot; -1: no input has that name
    virtual int find_output(const std::string& name) = 0;  ///< its slot; -1: nothing of that name can be an output
    virtual std::string& input_unit(int slot) = 0;         ///< SI; empty: unknown
    virtual std::string& output_unit(int slot) = 0;
    /// "an input", "a parameter" ...; empty where the name does not exist.
    virtual std::string what_is(const std::string& name) const = 0;
    virtual std::vector<std::string> input_names() const = 0;
    virtual std::vector<std::string> output_names() const = 0;
    /// What can be an output is called: {"state", "output"}.
    virtual std::pair<std::string, std::string> output_words() const = 0;
};

/// The ports, checked against the variables; motion that is left out is -1. A variable without unit takes that of its port.
/// Mistakes are user errors that begin with `owner`.
std::vector<port> resolve_ports(const std::vector<port_spec>& written, const std::string& owner,
                                port_variables& variables);

}  // namespace mdpcosim
