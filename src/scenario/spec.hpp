#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/process_limits.hpp"

/// A scenario as plain data: what the user wrote, with the place of every text, names not yet resolved.
/// `$name` references to `let` and `--set` are already put in.
namespace mdpcosim {

struct text {
    std::string value;
    location where;
    bool empty() const { return value.empty(); }
};

/// `name: value` or `name: [value, ...]`.
struct setting {
    std::string name;
    location where;  ///< of the name
    std::vector<text> values;
    bool list = false;
};

struct time_spec {
    double start = 0;
    double end = 0;
    double step = 0;
};

struct solver_spec {
    text name;  ///< empty: the default solver
    std::vector<setting> options;
};

/// A name from `mdpcosim list extrapolations`, or own coefficients `{degree: N, a: [...], b: [...]}`.
struct extrapolation_spec {
    text name;
    std::optional<double> F;  ///< with a name that ends in -opt-F: stiffness of the connection over that of its ports
    std::optional<int> degree;
    std::vector<double> a, b;
    bool continuous = false;
    location where;
    bool given() const { return !name.empty() || degree.has_value(); }
};

/// `ports:` of a subsystem whose variables have names of their own (ode, FMUs):
/// `shaft: {kind: rotation, angle: phi, speed: w, torque: tau}`.
struct port_spec {
    std::string name;
    location where;
    text kind;
    text causality;                  ///< "takes-load" (default) or "takes-motion"
    std::vector<setting> variables;  ///< port variable -> variable of the subsystem
};

struct ode_output {
    std::string name;
    location where;
    text expression;
    text unit;  ///< empty: unknown
};

/// `when` crosses zero in `direction` (rising, falling, both): the states in `set` jump.
struct ode_event {
    location where;
    text when;
    text direction;
    std::vector<setting> set;
};

/// A unilateral contact: `gap` never falls below zero, impulses that keep it there change the states in `impulse`.
struct ode_contact {
    std::string name;
    location where;
    text gap, restitution, rest_speed;
    std::vector<setting> impulse;  ///< state -> its change by a unit of impulse
};

struct ode_spec {
    std::vector<setting> parameters;  ///< value with unit
    std::vector<setting> states;      ///< initial value with unit
    std::vector<setting> algebraic;   ///< algebraic variables: a first guess with unit
    std::vector<setting> inputs;      ///< start value with unit
    std::vector<setting> equations;   ///< state -> right-hand side; algebraic variable -> what must be zero
    std::vector<ode_output> outputs;
    std::vector<ode_event> events;
    std::vector<ode_contact> contacts;
    std::map<std::string, double> lets;  ///< `$name` inside expressions, in SI
};

/// Recorded data: a CSV file with a `time` column and one output per further column.
struct file_spec {
    std::filesystem::path path;  ///< resolved against the scenario's folder
    std::vector<setting> units;  ///< column -> unit
    std::vector<setting> kinds;  ///< column -> what its values are; others are real numbers
    text interpolation;          ///< linear (default), hold, cubic
    text outside;                ///< hold (default), repeat
};

/// What an `fmu:` entry says beyond `set`, `ports` and `solver`.
struct fmu_spec {
    text interface;                ///< "co-simulation", "model-exchange"; empty: co-simulation where the FMU offers it
    bool isolate = false;          ///< in a process of its own
    bool isolate_decided = false;  ///< not `auto`, which leaves it to the run
    text isolate_because;          ///< the reason of a choice that a run made
    std::optional<double> tolerance;  ///< handed to the FMU; absent: that of its default experiment
    std::vector<text> outputs;        ///< variables that become outputs besides the FMU's own
    std::vector<text> continuous;     ///< inputs declared discrete that are extrapolated all the same
    std::vector<text> driven;         ///< tunable parameters that are inputs
    std::vector<text> exact;          ///< 64-bit integers that signals carry as digits
    std::vector<text> log;            ///< categories of messages to show; `all`: every one
    std::filesystem::path trace;      ///< --fmi-log: every call is written to the end of this file; empty: none
};

/// `program:`, another program that brings the subsystem.
struct program_spec {
    std::vector<std::string> command;  ///< the file as written, and its arguments
    std::filesystem::path folder;      ///< where it runs; its file is looked for there first
};

/// `sample:` of a sampled model, a plugin or a program; seconds.
struct sample_spec {
    location where;
    double time = 0, offset = 0, delay = 0;
    location time_where, offset_where, delay_where;
};

/// `step:` of a subsystem, its own communication step; for method 'multirate'.
struct own_step_spec {
    location where;
    bool by_solver = false;       ///< `step: solver`: what its integrator chooses
    std::optional<double> value;  ///< s
    bool given() const { return by_solver || value.has_value(); }
};

/// `delay:` of a connection or signal, s; for method 'multirate'.
struct delay_spec {
    location where;
    double value = 0;
};

/// `order: [a, b, c]`, who goes first; for method 'multirate'.
struct order_spec {
    location where;
    std::vector<text> names;
};

/// `- {rod: [[0, 0], [x, y]]}`: a shape of the report's animation; coordinates and angles are expressions of outputs.
struct scene_shape_spec {
    text kind;                              ///< ball, box, disc, rod, spring, line, outline, chain
    std::vector<std::vector<text>> points;  ///< two or three coordinates each
    std::vector<text> size;                 ///< m
    std::vector<text> rotation;             ///< none, an angle, or a quaternion
    text port;                              ///< that stands at the first point
    std::vector<text> vectors;              ///< of a chain: outputs
    std::vector<text> place;                ///< of an outline's origin
    bool closed = true;                     ///< outline, chain
};

/// An entry of `parts:` of a model: `wheel: {kind: sprocket, teeth: 19}`.
struct part_spec {
    std::string name;
    location where;
    text kind;
    std::vector<setting> values;   ///< parameters, and names of other parts
    std::vector<part_spec> parts;  ///< inside it
};

/// More than one per core has no use.
inline constexpr int most_replicas = 1000;

struct subsystem_spec {
    enum class source_kind { model, ode, file, plugin, fmu, program, system };

    /// Nothing but this program takes part: no code of others.
    bool built_in() const {
        return kind == source_kind::model || kind == source_kind::ode || kind == source_kind::file ||
               kind == source_kind::system;
    }
    /// Those whose saved states are numbers that any instance takes.
    bool can_have_replicas() const { return built_in(); }

    std::string name;
    location where;
    source_kind kind = source_kind::model;
    text source;                 ///< the model's name or the file as written
    std::filesystem::path path;  ///< of a plugin, an FMU or a system, resolved against the scenario's folder
    std::vector<setting> set;
    std::vector<part_spec> parts;
    solver_spec solver;
    text initial;                     ///< "given" or "equilibrium"; empty: given
    std::optional<int> input_degree;  ///< the user's limit on the degree of the inputs
    double limit = 0;                 ///< s of wall time that it may take for one macro step; 0: any time
    process_limits limits;            ///< of its process
    int replicas = 0;                 ///< more instances, for trial steps at the same time
    std::optional<sample_spec> sample;
    own_step_spec step;
    std::vector<port_spec> ports;
    std::vector<scene_shape_spec> scene;  ///< in place of the model's own
    std::vector<setting>
        inertia;  ///< port, or `left+right` for ports that move as one body -> mass, moment of inertia, capacity
    ode_spec ode;
    file_spec file;
    fmu_spec fmu;
    program_spec program;
    bool tunable =
        false;  ///< no key: whoever makes the subsystem wants to change its parameters later, or to start it again
};

/// The key of the scenario: "model", "ode" ...
const char* to_string(subsystem_spec::source_kind kind);

struct connection_spec {
    std::string name;
    location where;
    text law, joint;  ///< one of the two
    std::vector<text> between;
    std::vector<setting> parameters;
    extrapolation_spec extrapolation;
    delay_spec delay;
    bool is_joint() const { return !joint.empty(); }
};

/// `2 N/m*a.x - b.y + 3 -> c.u`
struct signal_spec {
    struct term {
        text address;
        double gain = 1;
        std::string gain_unit;  ///< empty: a bare number, which takes the unit that fits
        bool has_gain = false;
    };
    std::string name;  ///< given, or the target's address
    location where;
    std::vector<term> terms;
    double offset = 0;
    std::string offset_unit;
    text target;
    extrapolation_spec extrapolation;
    delay_spec delay;
};

/// `bonds:`, `shaft: {flow: b.v, effort: a.F}`: two signals whose product is a power.
struct bond_spec {
    std::string name;
    location where;
    text flow, effort;     ///< the input that the signal goes to, or the signal's name
    bool correct = false;  ///< what the inputs missed of a step is given in the next one
};

struct record_spec {
    location where;
    std::optional<double> every;  ///< seconds; absent: every macro step
    std::vector<text> only;       ///< address patterns with `*`; empty: everything
    text units;  ///< `header`: in the first line of results.csv, too; `display`: those of FMUs' authors; empty: `none`
    bool csv = true, hdf5 = true;  ///< the files of the results
};

/// `reference:`, how `--monolithic` integrates the scenario as one system.
struct reference_spec {
    location where;
    solver_spec solver;
};

/// An entry of `expect:`: a variable's end value or range, or a file of what the results should be.
struct expectation_spec {
    location where;
    text variable;       ///< an address, as in the results
    text end, min, max;  ///< with units that fit the variable
    text file;           ///< CSV, as written
    std::filesystem::path path;
    std::vector<text> only;  ///< of the columns of the file; patterns with `*`, empty: those that the results have, too
    text within;             ///< of `end` in the variable's unit, of a file a share of each column's range
};

struct monitor_spec {
    text divergence;  ///< "stop" (default): a diverging coupling ends the run; "note": it is noted in the summary
};

/// `step-control:`, macro steps that follow an estimate of the coupling error.
struct step_control_spec {
    location where;
    double rtol = 0;  ///< 0: no control
    double atol = 1e-6, atol_rate = 1e-6;
    text estimate, level;  ///< "trial" (default), "jump", "energy"; "value", "rate", "both" (default)
    text over;             ///< "run" (default), "step"
    std::optional<double> smallest, largest;
    bool given() const { return rtol > 0; }
};

/// `iteration:`, how algebraic loops are solved.
struct iteration_spec {
    location where;
    bool given = false;
    std::vector<setting> options;
};

/// `placement:`, who works where.
struct placement_spec {
    std::vector<std::vector<text>> groups;  ///< subsystems that share a process or a rank
    std::vector<setting> cores;             ///< subsystem, or `master` -> number of a processing unit
};

struct scenario {
    std::filesystem::path path;
    time_spec time;
    text method;  ///< default "explicit"
    std::vector<setting> method_options;
    order_spec order;
    extrapolation_spec extrapolation;
    std::vector<subsystem_spec> subsystems;
    std::vector<connection_spec> connections;
    std::vector<signal_spec> signals;
    std::vector<bond_spec> bonds;
    record_spec record;
    reference_spec reference;
    monitor_spec monitor;
    std::vector<expectation_spec> expect;
    step_control_spec step_control;
    iteration_spec iteration;
    placement_spec placement;
    int replicas = 0;                             ///< of every subsystem that allows it; they have it already
    std::vector<setting> let;                     ///< as written, for the record
    std::vector<std::string> notes;               ///< what whoever made it wants to be told
    std::vector<std::filesystem::path> included;  ///< the files that `include:` named
};

/// Every file that a run of it reads, as far as the scenario says.
std::vector<std::filesystem::path> files_read(const scenario& s);

}  // namespace mdpcosim
