#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/part.hpp"
#include "expression/program.hpp"
#include "subsystem/equations.hpp"

/// A block diagram as formulas. A block is a formula of other blocks, with states where it remembers; what no formula can say, tables and
/// delays, is given to the formulas like inputs: worked out before them, with its slopes, so that rates and the Jacobian stay exact.
namespace mdpcosim::blocks {

/// Banks of variables: the time; states; what is given: inputs, then what tables and delays make.
inline constexpr int time_bank = 0, state_bank = 1, given_bank = 2;

struct state_data {
    std::string name;
    double start = 0;
    expression rate = {};
    bool discrete = false;  ///< changes at events only
};

/// Linear between points, of one argument or two (values[i * y.size() + j] at x[i], y[j]).
struct table_data {
    std::vector<expression> arguments;
    std::vector<double> x, y, values;
    bool extended = false;  ///< outside the points: by the last slope; else held
    int given = 0;          ///< of its value; the slopes by its arguments follow
};

struct delay_data {
    std::string name;
    double time = 0, before = 0;
    int given = 0;  ///< of its value; its rate follows
    expression of = {};
    std::optional<expression> rate = {};  ///< of what is delayed, where no input takes part in that
};

/// The states jump as soon as `when` is above zero.
struct rule_data {
    std::string name;
    expression when;
    std::vector<assignment> sets;
};

struct sample_data {
    int state = 0;
    double time = 0, offset = 0;
    expression of = {};
};

struct diagram_data {
    subsystem_description description;
    std::vector<state_data> states;
    int given = 0;                   ///< how many
    std::vector<table_data> tables;  ///< each after those that it needs
    std::vector<delay_data> delays;
    std::vector<rule_data> rules;
    std::vector<sample_data> samples;
    std::vector<expression> outputs;  ///< by slot

    /// Of a table's value or slope; nullptr: of something else.
    const table_data* table_of(variable_id v) const;
    /// Time, states and inputs that `e` depends on, also through tables.
    std::set<variable_id> sources_of(const expression& e) const;
    /// As derivative() of expressions, through tables.
    expression derivative_of(const expression& e, const std::function<expression(variable_id)>& rate) const;
};

/// What the scenario lists, with mistakes as user errors.
diagram_data read_diagram(const std::vector<part>& parts);
std::vector<part_info> part_kinds();
std::unique_ptr<equations> make_diagram(diagram_data data);

}  // namespace mdpcosim::blocks
