#include "core/port_kind.hpp"
#include "scenario/key_builders.hpp"

/// Keys of equations in the scenario, and of ports made of their variables or an FMU's.
namespace mdpcosim {

using namespace keys;

const key_group& port_keys() {
    using spec = port_spec;
    static const key_group table = [] {
        std::vector<std::string> kinds;
        for (const auto& one : port_kinds())
            if (one.kind != port_kind::signal) kinds.push_back(one.name);
        // Whoever resolves the port knows more about wrong words.
        key_info kind = word<spec>("kind", &spec::kind,
                                   "What flows through it; decides names and units of its variables.", std::move(kinds))
                            .needed();
        kind.checked = false;
        key_info way = word<spec>("causality", &spec::causality,
                                  "takes-load: gives motion and takes the load (force, torque, pressure, heat flow, "
                                  "current); takes-motion: the reverse.",
                                  {"takes-load", "takes-motion"})
                           .by_default("`takes-load`");
        way.checked = false;
        return group<spec>("port", "A place to couple: which variable of the subsystem is which of the port.",
                           {kind, way},
                           {settings<spec>("variable", &spec::variables, setting_values::word,
                                           "The subsystem's variable; of a frame a list of three, for its orientation "
                                           "of four.")
                                .from(catalogue::port_variables)});
    }();
    return table;
}

namespace {

const char* const ode_name = "^[A-Za-z_][A-Za-z0-9_]*$";

const key_group& output_keys() {
    using spec = ode_output;
    static const key_group table = [] {
        auto value = word<spec>("value", &spec::expression, "An expression.").needed();
        value.values = setting_values::expression;
        auto unit = word<spec>("unit", &spec::unit, "SI unit of the output.").by_default("unknown");
        unit.fragment = R"({"type": ["string", "integer"]})";
        return group<spec>("output", "An output of an 'ode'.", {value, unit});
    }();
    return table;
}

const key_group& event_keys() {
    using spec = ode_event;
    static const key_group table = [] {
        auto when = word<spec>("when", &spec::when, "The event happens where this expression crosses zero.").needed();
        when.values = setting_values::expression;
        auto set =
            settings<spec>("set", &spec::set, setting_values::expression, "States and their values after the event.")
                .needed();
        set.name_pattern = ode_name;
        set.label = "set";
        return group<spec>(
            "event", "A jump of states where an expression crosses zero.",
            {when,
             word<spec>("direction", &spec::direction, "Which crossings count.", {"rising", "falling", "both"})
                 .by_default("`both`"),
             set});
    }();
    return table;
}

const key_group& contact_keys() {
    using spec = ode_contact;
    static const key_group table = [] {
        const auto formula = [](key_info k) {
            k.values = setting_values::expression;
            return k;
        };
        auto impulse = settings<spec>("impulse", &spec::impulse, setting_values::expression,
                                      "States that the contact changes, each with its change by a unit of impulse: for "
                                      "the velocity of a mass m that a growing gap sets free 1/m.")
                           .needed();
        impulse.name_pattern = ode_name;
        impulse.label = "impulse";
        return group<spec>(
            "contact", "What keeps a gap from closing: impacts, rest and coming off.",
            {formula(word<spec>("gap", &spec::gap,
                                "The distance, of states and time; its rate depends on no input, its second rate may.")
                         .needed()),
             impulse,
             formula(word<spec>("restitution", &spec::restitution, "Speed after an impact by that before it, 0 to 1.")
                         .by_default("0")),
             formula(word<spec>("rest-speed", &spec::rest_speed,
                                "Where the rebound would be slower than this (SI), the contact rests instead.")
                         .by_default("needed with a restitution"))});
    }();
    return table;
}

key_info ode_part(const char* name, std::vector<setting> ode_spec::*list, setting_values values,
                  const char* description) {
    auto k = settings<ode_spec>(name, list, values, description).by_default("none").over_lines();
    k.name_pattern = ode_name;
    return k;
}

}  // namespace

const key_group& ode_keys() {
    using spec = ode_spec;
    static const key_group table = [] {
        auto algebraic = ode_part("algebraic", &spec::algebraic, setting_values::quantity,
                                  "Algebraic variables with first guesses; they need the solver ida.");
        algebraic.label = "algebraic variables";
        auto outputs = entries<spec>("outputs", &spec::outputs, output_keys, "output",
                                     "Outputs: an expression, or its value and its SI unit.", "value")
                           .by_default("none");
        outputs.name_pattern.clear();  // told by the equations, with those of states and parameters
        auto events = list<spec>(
            "events", &spec::events, event_keys,
            [](const yaml_node&, std::size_t i) { return fmt::format("event {}", i); }, "'- {when: ..., set: {...}}'",
            "Jumps of states where an expression crosses zero.");
        auto contacts = entries<spec>("contacts", &spec::contacts, contact_keys, "contact",
                                      "Unilateral contacts: impacts and rest. Each is an output, its force while it "
                                      "rests.")
                            .by_default("none");
        return group<spec>(
            "ode", "Equations in the scenario; all parts are optional, but there is a state or an output.",
            {ode_part("parameters", &spec::parameters, setting_values::quantity,
                      "Constants with their values; 'set' changes them."),
             ode_part("states", &spec::states, setting_values::quantity,
                      "States with their start values; the unit of the value is the state's unit."),
             algebraic,
             ode_part("inputs", &spec::inputs, setting_values::quantity,
                      "Inputs with the values they have while nothing is connected."),
             ode_part("equations", &spec::equations, setting_values::expression,
                      "The time derivative of every state; for every algebraic variable an expression that must be "
                      "zero."),
             outputs, events.by_default("none"), contacts});
    }();
    return table;
}

}  // namespace mdpcosim
