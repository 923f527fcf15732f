#include "subsystem/ode_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/suggest.hpp"
#include "core/units.hpp"
#include "subsystem/ode_contacts.hpp"

namespace mdpcosim {

namespace {

// A longer chain of outputs could exhaust the stack.
constexpr std::size_t most_levels = 200;

/// Goes through the parts of `ode:` in the order in which they build on each other.
class ode_reader {
   public:
    explicit ode_reader(const subsystem_spec& spec) : spec_(spec), ode_(spec.ode) {}

    ode_model read() {
        declare_all();
        read_values("parameter", ode_.parameters, model_.parameters);
        read_values("state", ode_.states, model_.states);
        model_.differential = model_.states.size();
        read_values("algebraic variable", ode_.algebraic, model_.states);
        read_values("input", ode_.inputs, model_.inputs);
        apply_settings();
        add_contact_states();
        collect_symbols();
        read_equations();
        read_outputs();
        read_events();
        read_contacts();
        return std::move(model_);
    }

   private:
    struct declaration {
        std::string kind;
        location where;
    };

    struct output_progress {
        const ode_output* written = nullptr;
        bool open = false;  ///< being parsed: whoever meets it again has found a circle
        std::optional<expression> value;
    };

    [[noreturn]] void fail(const location& where, const std::string& message) const {
        throw user_error(where, fmt::format("subsystem '{}': {}", spec_.name, message));
    }

    // names

    void declare_all() {
        for (const auto& s : ode_.parameters) declare("parameter", s.name, s.where);
        for (const auto& s : ode_.states) declare("state", s.name, s.where);
        for (const auto& s : ode_.algebraic) declare("algebraic variable", s.name, s.where);
        for (const auto& s : ode_.inputs) declare("input", s.name, s.where);
        for (const auto& o : ode_.outputs) declare("output", o.name, o.where);
        for (const auto& c : ode_.contacts) declare("contact", c.name, c.where);
        if (ode_.states.empty() && ode_.algebraic.empty() && ode_.outputs.empty())
            fail(spec_.where, "ode: has neither states nor outputs. Give at least one of them.");
    }

    static bool is_state_kind(const std::string& kind) { return kind == "state" || kind == "algebraic variable"; }

    void declare(const std::string& kind, const std::string& name, const location& where) {
        if (!is_identifier(name))
            fail(where,
                 fmt::format("{} '{}': a name consists of letters, digits and '_' and does not begin with a digit.",
                             kind, name));
        if (name == "t" || is_reserved_name(name))
            fail(where, fmt::format("{} '{}': the name is reserved for {}. Choose another one.", kind, name,
                                    name == "t" ? "time" : "expressions"));
        const auto [place, is_new] = declared_.emplace(name, declaration{kind, where});
        // An output may show a state under its own name; read_outputs() sees to it that it is nothing else.
        if (is_new || (kind == "output" && is_state_kind(place->second.kind) && outputs_.count(name) == 0)) {
            if (kind == "output") outputs_[name];
            return;
        }
        fail(where,
             fmt::format("{} '{}': the name is already that of {} {} ({}). Names must differ.", kind, name,
                         std::string_view("aeiou").find(place->second.kind[0]) == std::string_view::npos ? "a" : "an",
                         place->second.kind, to_string(place->second.where)));
    }

    // numbers

    const text& single(const setting& s, const std::string& object) const {
        if (s.list || s.values.size() != 1)
            fail(s.where, fmt::format("{}: a single value is expected, not a list of {}.", object, s.values.size()));
        return s.values.front();
    }

    /// The first unit written for a variable makes its SI unit; later values are converted to that.
    void read_value(const setting& s, const std::string& object, ode_variable& variable) const {
        const text& written = single(s, object);
        const auto number = parse_quantity(written.value);
        if (!number)
            fail(
                written.where,
                fmt::format("{}: '{}' is not a number. Write a number, with or without a unit{}.", object,
                            written.value, variable.unit.empty() ? "" : fmt::format(" that fits '{}'", variable.unit)));
        try {
            if (variable.unit.empty()) variable.unit = si_unit(number->unit);
            variable.value = convert(number->value, number->unit, variable.unit);
        } catch (const unit_error& problem) {
            fail(written.where, fmt::format("{}: in '{}' the {}.", object, written.value, problem.message()));
        }
    }

    void read_values(const std::string& kind, const std::vector<setting>& settings,
                     std::vector<ode_variable>& variables) const {
        for (const auto& s : settings) {
            variables.push_back({s.name, {}, 0, s.where});
            read_value(s, fmt::format("{} '{}'", kind, s.name), variables.back());
        }
    }

    void apply_settings() {
        std::map<std::string, ode_variable*> known;
        std::vector<std::string> names;
        for (auto* list : {&model_.parameters, &model_.states, &model_.inputs})
            for (auto& variable : *list) {
                known[variable.name] = &variable;
                names.push_back(variable.name);
            }
        for (const auto& s : spec_.set) {
            const auto found = known.find(s.name);
            if (found == known.end())
                fail(s.where, "set: " + unknown_name("parameter, state or input", s.name, "It", names));
            read_value(s, fmt::format("{} '{}'", declared_.at(s.name).kind, s.name), *found->second);
        }
    }

    // expressions

    void collect_symbols() {
        known_.emplace("t", expression(variable_id{ode_model::time_bank, 0}));
        for (const auto& p : model_.parameters) known_.emplace(p.name, expression(p.value));
        const auto add_bank = [this](const std::vector<ode_variable>& variables, int bank) {
            for (int i = 0; const auto& v : variables) {
                if (!is_of_contact(v)) known_.emplace(v.name, expression(variable_id{bank, i}));
                ++i;
            }
        };
        add_bank(model_.states, ode_model::state_bank);
        add_bank(model_.inputs, ode_model::input_bank);
        for (const auto& [name, number] : ode_.lets) known_.emplace("$" + name, expression(number));
        for (const auto& [name, expr] : known_) symbols_.names.push_back(name);
        for (const auto& o : ode_.outputs) {
            outputs_[o.name].written = &o;
            if (known_.count(o.name) == 0) symbols_.names.push_back(o.name);
        }
        symbols_.find = [this](std::string_view name) { return find_symbol(name); };
    }

    std::optional<expression> find_symbol(std::string_view name) {
        if (const auto found = known_.find(name); found != known_.end()) return found->second;
        if (const auto found = outputs_.find(name); found != outputs_.end()) return output_value(found->first);
        return std::nullopt;
    }

    expression parse(const text& written, const std::string& object) const {
        try {
            expression e = parse_expression(written.value, symbols_);
            if (has_undefined_constant(e))
                fail(written.where,
                     fmt::format("{}: '{}' is not a finite number with the values given (a division by zero?).", object,
                                 written.value));
            return e;
        } catch (const expression_error& error) {
            location where = written.where;
            if (where.line > 0) where.column += static_cast<int>(error.position());
            // A suggestion ends its own sentence; a plain reason goes on with the position.
            const std::string reason = error.what();
            const bool sentence = reason.ends_with('?') || reason.ends_with('.');
            fail(where,
                 sentence
                     ? fmt::format("{}: at position {} of '{}': {}", object, error.position(), written.value, reason)
                     : fmt::format("{}: {} at position {} of '{}'.", object, reason, error.position(), written.value));
        }
    }

    std::vector<std::string> state_names() const {
        std::vector<std::string> names;
        for (const auto& s : model_.states)
            if (!is_of_contact(s)) names.push_back(s.name);
        return names;
    }

    const char* state_with_article(int state) const {
        return model_.is_algebraic(state) ? "an algebraic variable" : "a state";
    }

    int find_state(std::string_view name) const {
        const auto found =
            std::find_if(model_.states.begin(), model_.states.end(), [&](const auto& s) { return s.name == name; });
        return found == model_.states.end() ? -1 : static_cast<int>(found - model_.states.begin());
    }

    void read_equations() {
        std::vector<const setting*> written(model_.states.size(), nullptr);
        for (const auto& s : ode_.equations) {
            const int state = find_state(s.name);
            if (state < 0)
                fail(s.where, fmt::format("equation of '{}': {}", s.name,
                                          unknown_name(ode_.algebraic.empty() ? "state" : "state or algebraic variable",
                                                       s.name, "It", state_names())));
            auto& place = written[static_cast<std::size_t>(state)];
            if (place != nullptr)
                fail(s.where,
                     fmt::format("equation of '{}': it is given twice, first at {}.", s.name, to_string(place->where)));
            place = &s;
        }
        for (std::size_t i = 0; i < written.size(); ++i) {
            const auto& state = model_.states[i];
            if (is_of_contact(state)) {
                model_.derivatives.emplace_back(0.0);
                continue;
            }
            if (written[i] == nullptr)
                fail(state.where,
                     model_.is_algebraic(static_cast<int>(i))
                         ? fmt::format(
                               "algebraic variable '{}' has no equation. Write what must be zero under equations: "
                               "{}: ...",
                               state.name, state.name)
                         : fmt::format("state '{}' has no equation. Write its derivative under equations: {}: ...",
                                       state.name, state.name));
            const std::string object = fmt::format("equation of '{}'", state.name);
            model_.derivatives.push_back(parse(single(*written[i], object), object));
        }
    }

    expression output_value(const std::string& name) {
        output_progress& output = outputs_.find(name)->second;
        if (output.value) return *output.value;
        path_.push_back(name);
        if (output.open)
            fail(output.written->where,
                 fmt::format("output '{}': outputs depend on each other in a circle: {}.", name,
                             fmt::join(std::find(path_.begin(), path_.end(), name), path_.end(), " -> ")));
        if (path_.size() > most_levels)
            fail(output.written->where,
                 fmt::format("output '{}': outputs refer to each other over more than {} levels.", name, most_levels));
        output.open = true;
        output.value = parse(output.written->expression, fmt::format("output '{}'", name));
        path_.pop_back();
        return *output.value;
    }

    /// Expressions give SI values, so that only coherent units can be true.
    std::string output_unit(const ode_output& output) const {
        if (output.unit.empty()) return {};
        try {
            const std::string si = si_unit(output.unit.value);
            const conversion c = find_conversion(output.unit.value, si);
            if (c.factor == 1 && c.offset == 0) return output.unit.value;
            fail(output.unit.where,
                 fmt::format("output '{}': unit '{}' cannot be, since expressions give SI values. Write '{}'.",
                             output.name, output.unit.value, si));
        } catch (const unit_error& problem) {
            fail(output.unit.where, fmt::format("output '{}': the {}.", output.name, problem.message()));
        }
    }

    void read_outputs() {
        for (const auto& s : model_.states) {
            if (is_of_contact(s)) continue;
            model_.outputs.push_back({s.name, s.unit, declared_.at(s.name).kind, s.where, known_.find(s.name)->second});
        }
        for (const auto& o : ode_.outputs) {
            const expression value = output_value(o.name);
            const std::string unit = output_unit(o);
            const int state = find_state(o.name);
            if (state < 0) {
                model_.outputs.push_back({o.name, unit, o.expression.value, o.where, value});
                continue;
            }
            auto& shown = *std::ranges::find(model_.outputs, o.name, &ode_formula::name);
            if (value.op() != operation::variable || value.variable() != shown.value.variable())
                fail(o.where, fmt::format("output '{}': the name is already that of {} ({}) and the expression is "
                                          "not this one. Names must differ.",
                                          o.name, state_with_article(state), to_string(shown.where)));
            if (!units_fit(unit, shown.unit))
                fail(o.unit.where,
                     fmt::format("output '{}': unit '{}' does not fit '{}' of the state.", o.name, unit, shown.unit));
            if (shown.unit.empty()) shown.unit = model_.states[static_cast<std::size_t>(state)].unit = unit;
        }
    }

    void read_events() {
        for (const auto& e : ode_.events) {
            const std::string object = fmt::format("event {}", model_.events.size() + 1);
            if (e.when.empty()) fail(e.where, fmt::format("{}: 'when' is missing.", object));
            ode_jump jump;
            jump.name = fmt::format("{} (when: {})", object, e.when.value);
            jump.when = parse(e.when, fmt::format("{}: when", object));
            static const std::vector<std::string> directions{"rising", "falling", "both"};
            const std::string& direction = e.direction.value;
            if (!direction.empty() && std::find(directions.begin(), directions.end(), direction) == directions.end())
                fail(e.direction.where,
                     fmt::format("{}: direction '{}' is not allowed. Allowed: {}.{}", object, direction,
                                 name_list(directions), did_you_mean(direction, directions)));
            jump.on_rising = direction != "falling";
            jump.on_falling = direction != "rising";
            read_jumps(e, object, jump);
            model_.events.push_back(std::move(jump));
        }
    }

    void read_jumps(const ode_event& e, const std::string& object, ode_jump& jump) const {
        if (e.set.empty()) fail(e.where, fmt::format("{}: 'set' is missing: which states jump?", object));
        read_assignments(e.set, object, "set", jump);
    }

    void read_assignments(const std::vector<setting>& written, const std::string& object, const char* key,
                          ode_jump& jump) const {
        for (const auto& s : written) {
            const int state = find_state(s.name);
            if (state < 0)
                fail(s.where,
                     fmt::format("{}: {}: {}", object, key, unknown_name("state", s.name, "It", state_names())));
            if (model_.is_algebraic(state))
                fail(s.where,
                     fmt::format("{}: {}: algebraic variable '{}' cannot be set; it follows from its equation.", object,
                                 key, s.name));
            if (std::any_of(jump.set.begin(), jump.set.end(), [state](const auto& a) { return a.target == state; }))
                fail(s.where, fmt::format("{}: {}: state '{}' is given twice.", object, key, s.name));
            const std::string value = fmt::format("{}: new value of '{}'", object, s.name);
            jump.set.push_back({parse(single(s, value), value), state});
        }
    }

    static bool is_of_contact(const ode_variable& state) { return state.name.find(' ') != std::string::npos; }

    void add_contact_states() {
        auto at = model_.states.begin() + static_cast<std::ptrdiff_t>(model_.differential);
        for (const auto& c : ode_.contacts)
            at = model_.states.insert(at, {contact_state_name(c.name), {}, 0, c.where}) + 1;
        model_.differential += ode_.contacts.size();
    }

    /// A number with a unit, as everywhere else, or an expression.
    expression parse_speed(const text& written, const std::string& object) const {
        if (const auto number = parse_quantity(written.value); number && !number->unit.empty()) {
            try {
                return convert(number->value, number->unit, si_unit(number->unit));
            } catch (const unit_error&) {  // '2*v' is no unit
            }
        }
        return parse(written, object);
    }

    void read_contacts() {
        std::vector<contact_formulas> all;
        for (const auto& c : ode_.contacts) {
            const std::string object = fmt::format("contact '{}'", c.name);
            if (c.gap.empty()) fail(c.where, fmt::format("{}: 'gap' is missing.", object));
            contact_formulas made{c.name, c.where, parse(c.gap, object + ": gap"), 0.0, 0.0, {}};
            if (!c.restitution.empty()) made.restitution = parse(c.restitution, object + ": restitution");
            if (const expression& e = made.restitution; e.is_constant() && !(e.value() >= 0 && e.value() <= 1))
                fail(c.restitution.where,
                     fmt::format("{}: restitution {} is not allowed. Allowed: 0 to 1.", object, e.value()));
            if (!c.rest_speed.empty())
                made.rest_speed = parse_speed(c.rest_speed, object + ": rest-speed");
            else if (!made.restitution.is(0))
                fail(c.where,
                     fmt::format("{}: 'rest-speed' is missing: rebounds get slower without end, and below this "
                                 "speed they are rest. Write for example rest-speed: 1e-3.",
                                 object));
            if (const expression& e = made.rest_speed; e.is_constant() && !(e.value() >= 0))
                fail(c.rest_speed.where,
                     fmt::format("{}: rest-speed {} is not allowed. Allowed: 0 and more.", object, e.value()));
            if (c.impulse.empty())
                fail(c.where, fmt::format("{}: 'impulse' is missing: which states does it change?", object));
            ode_jump impulse;
            read_assignments(c.impulse, object, "impulse", impulse);
            for (auto& a : impulse.set) made.impulse.emplace_back(a.target, a.value);
            all.push_back(std::move(made));
        }
        put_contacts_into(model_, all, spec_.name);
    }

    const subsystem_spec& spec_;
    const ode_spec& ode_;
    ode_model model_;
    std::map<std::string, declaration> declared_;
    std::map<std::string, expression, std::less<>> known_;  // every name but those of outputs
    std::map<std::string, output_progress, std::less<>> outputs_;
    std::vector<std::string> path_;  // outputs being parsed, outermost first
    symbol_table symbols_;
};

}  // namespace

bool ode_model::has_algebraic(const expression& e) const {
    if (differential == states.size()) return false;
    return std::ranges::any_of(variables_of(e),
                               [this](variable_id v) { return v.bank == state_bank && is_algebraic(v.index); });
}

/// Which equation determines which algebraic variable is not known: all that hang together through common algebraic
/// variables are taken as one.
std::vector<int> ode_model::direct_inputs(const expression& e) const {
    std::set<int> inputs_found;
    std::set<int> reached;
    const auto visit = [&](const expression& formula) {
        bool more = false;
        for (const auto& v : variables_of(formula)) {
            if (v.bank == input_bank) inputs_found.insert(v.index);
            if (v.bank == state_bank && is_algebraic(v.index)) more |= reached.insert(v.index).second;
        }
        return more;
    };
    visit(e);
    std::vector<bool> done(states.size(), false);
    for (bool more = !reached.empty(); more;) {
        more = false;
        for (std::size_t i = differential; i < states.size(); ++i) {
            if (done[i]) continue;
            const auto variables = variables_of(derivatives[i]);
            if (std::ranges::none_of(variables, [&](variable_id v) {
                    return v.bank == state_bank && is_algebraic(v.index) && reached.count(v.index) > 0;
                }))
                continue;
            done[i] = true;
            visit(derivatives[i]);
            more = true;
        }
    }
    return {inputs_found.begin(), inputs_found.end()};
}

ode_model read_ode_model(const subsystem_spec& spec) { return ode_reader(spec).read(); }

}  // namespace mdpcosim
