#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/xml_file.hpp"

/// What an FMU says about itself (modelDescription.xml, terminalsAndIcons.xml), as plain data, the same for FMI 1.0, 2.0 and 3.0.
///
/// Words of the versions become one: a Real of 1.0 and 2.0 is a float64, an Integer an int32, the guid a token; an attribute that a
/// version does not have holds the value that means "not offered".
namespace mdpcosim::fmi {

using archive::violation;

enum class version { v1, v2, v3 };
std::string_view name(version v);  ///< "1.0", "2.0", "3.0"

enum class base_type {
    float64,
    float32,
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    int64,
    uint64,
    boolean,
    enumeration,
    string,
    binary,
    clock
};
std::string_view name(base_type t);  ///< "Float64"
constexpr bool is_float(base_type t) { return t <= base_type::float32; }
constexpr bool has_64_bits(base_type t) { return t == base_type::int64 || t == base_type::uint64; }
constexpr bool is_integer(base_type t) { return t > base_type::float32 && t < base_type::boolean; }

enum class causality { parameter, calculated_parameter, structural_parameter, input, output, local, independent };
enum class variability { constant, fixed, tunable, discrete, continuous };
enum class initial { exact, approx, calculated, none };
std::string_view name(causality c);
std::string_view name(variability v);
std::string_view name(initial i);

using value_reference = std::uint32_t;

/// One dimension of an array: a fixed size, or the value of a structural parameter.
struct dimension {
    std::uint64_t size = 0;  ///< with a structural parameter: its start value
    std::optional<value_reference> parameter;
};

struct variable {
    std::string name;
    std::string description;
    std::string unit;          ///< as in unit_definitions; empty: none
    std::string display_unit;  ///< empty: none
    std::string declared_type;
    value_reference reference = 0;
    base_type type = base_type::float64;
    fmi::causality causality = fmi::causality::local;
    fmi::variability variability = fmi::variability::continuous;
    fmi::initial initial = fmi::initial::none;
    std::vector<dimension> dimensions;  ///< empty: a scalar
    std::vector<std::string> start;     ///< as written; one per element, one for all, or none
    std::optional<double> min, max, nominal;
    int derivative_of = -1;  ///< index of the variable this is the derivative of
    int alias_of = -1;  ///< index of the first variable with the same base type and reference; -1: this is the first
    bool negated =
        false;  ///< 1.0: the value that the FMU has under this reference, with the other sign; no alias of it
    bool intermediate_update = false;
    int line = 0;  ///< in modelDescription.xml

    std::uint64_t element_count() const {
        std::uint64_t n = 1;
        for (const dimension& d : dimensions) n *= d.size;
        return n;
    }
};

struct display_unit {
    std::string name;
    double factor = 1, offset = 0;  ///< display value = factor * value + offset
    bool inverse = false;
};

struct unit_definition {
    std::string name;
    bool has_base = false;
    int kg = 0, m = 0, s = 0, A = 0, K = 0, mol = 0, cd = 0, rad = 0;
    double factor = 1, offset = 0;  ///< SI value = factor * value + offset
    std::vector<display_unit> display_units;
};

struct enumeration_item {
    std::string name;
    std::int64_t value = 0;
};

struct type_definition {
    std::string name;
    base_type type = base_type::float64;
    std::string unit, display_unit;
    std::optional<double> min, max, nominal;
    std::vector<enumeration_item> items;
};

/// An output, a continuous-time state derivative, an initial unknown, an event indicator.
struct unknown {
    int variable = -1;                             ///< index
    std::optional<std::vector<int>> dependencies;  ///< indices of variables; absent: on all
    int line = 0;
};

/// Who says when a clock ticks: its period, constant or asked for once; the FMU, each time for the next tick; whoever is coupled.
enum class clock_interval { constant, fixed, tunable, changing, countdown, triggered };
std::string_view name(clock_interval i);

/// A variable of type clock (3.0).
struct clock_description {
    int variable = -1;
    clock_interval interval_kind = clock_interval::triggered;
    double interval = 0, shift = 0;  ///< seconds; of constant ones
};

/// A variable, no clock itself, that changes at the ticks of clocks only (3.0).
struct clocked_variable {
    int variable = -1;
    std::vector<int> clocks;  ///< variables
};

/// What one of the two interfaces offers.
struct interface_description {
    std::string model_identifier;
    bool needs_execution_tool = false;
    bool once_per_process = false;
    bool state = false;      ///< getFMUState, setFMUState
    bool serialise = false;  ///< of the state
    bool directional_derivatives = false;
    /// Values can be read and inputs set again before the initialisation is over; not in 1.0.
    bool initialisation_mode = true;
    // Co-simulation:
    bool variable_step = false;
    int output_derivatives = 0;  ///< highest order
    bool input_derivatives = false;
    bool intermediate_update = false;
    bool early_return = false;  ///< the FMU may return early, by itself or when asked
    bool event_mode = false;
    double fixed_step = 0;  ///< fixedInternalStepSize; 0: none
    // Model exchange:
    bool completed_step = true;  ///< completedIntegratorStep has to be called
};

struct default_experiment {
    std::optional<double> start, stop, tolerance, step;
};

struct terminal_member {
    std::string name;  ///< memberName
    int variable = -1;
    std::string kind;  ///< signal, inflow, outflow
};

struct terminal {
    std::string name;
    std::string kind;           ///< terminalKind
    std::string matching_rule;  ///< plug, bus, sequence
    std::string description;
    std::vector<terminal_member> members;
    std::vector<terminal> parts;
};

struct description {
    fmi::version version = fmi::version::v2;
    std::string version_text;  ///< as written: "2.0", "3.0.1"
    std::string model_name;
    std::string token;  ///< guid (1.0, 2.0), instantiationToken (3.0)
    std::string text;
    std::string author, model_version, copyright, license, tool, date;
    bool structured_names = false;
    std::optional<interface_description> co_simulation, model_exchange;
    std::vector<variable> variables;
    std::vector<clock_description> clocks;
    std::vector<clocked_variable> clocked;
    std::vector<unit_definition> units;
    std::vector<type_definition> types;
    std::vector<std::string> log_categories;
    std::vector<unknown> outputs, derivatives, initial_unknowns, event_indicators;
    std::uint64_t unlisted_states = 0;  ///< 1.0: numberOfContinuousStates; their derivatives are not listed
    std::uint64_t event_indicator_count = 0;
    fmi::default_experiment experiment;
    std::vector<terminal> terminals;

    const variable* find(std::string_view wanted) const;  ///< built-in index; nullptr: there is none
    int index_of(std::string_view wanted) const;          ///< -1: there is none
    const unit_definition* find_unit(std::string_view wanted) const;
    const type_definition* find_type(std::string_view wanted) const;
    std::uint64_t state_count() const;  ///< continuous ones, arrays by their elements
    /// Fills the index that find() uses; the reader does it once.
    void build_index();

   private:
    std::vector<int> by_name_;  ///< variables in the order of their names
};

/// Reads the description. Violations that leave a meaning are collected; a fatal one is also thrown as user_error when
/// `violations` is nullptr. `terminals` may be empty (no terminalsAndIcons.xml). External entities and DTDs are refused.
description read_description(std::string_view xml, std::string_view terminals_xml, const std::string& fmu,
                             std::vector<violation>* violations = nullptr);

}  // namespace mdpcosim::fmi
