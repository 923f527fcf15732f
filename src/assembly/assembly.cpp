#include "assembly/assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <unordered_map>

#include "assembly/address_book.hpp"
#include "assembly/described_subsystems.hpp"
#include "assembly/feed_through.hpp"
#include "assembly/fmu_notes.hpp"
#include "assembly/inertia.hpp"
#include "assembly/iteration.hpp"
#include "assembly/joints.hpp"
#include "assembly/laws.hpp"
#include "assembly/multirate.hpp"
#include "assembly/recording.hpp"
#include "assembly/step_control.hpp"
#include "assembly/unpacked_fmus.hpp"
#include "core/suggest.hpp"
#include "core/units.hpp"
#include "coupling/signal_law.hpp"
#include "master/error_constants.hpp"
#include "reference/monolithic.hpp"
#include "scenario/resolve.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

namespace {

constexpr double largest_ratio =
    1000;  // F beyond which the best coefficients stay; free bodies have no stiffness at all
constexpr const char* default_with_rates = "lin-2-3-opt";
constexpr const char* default_without_rates = "lin-3-3-b0";
constexpr const char* default_controlled = "poly-3";  // its error is known; steps that change have no best coefficients
constexpr const char* signal_with_rates = "hermite-2";
constexpr const char* recorded_signal = "hermite-1";  // exact: straight lines
constexpr const char* held_signal = "poly-1";

std::string kind_list(const std::vector<port_kind>& kinds) {
    std::vector<std::string> names;
    for (const port_kind k : kinds) names.push_back(info(k).name);
    return fmt::format("{}", fmt::join(names, ", "));
}

/// Springs and nodes exchange u dq, conductors between potentials u q dt, thermal conductors u dt.
conjugate conjugate_of(port_kind kind, const law_info& law) {
    if (kind == port_kind::thermal) return conjugate::one;
    const bool potentials =
        (kind == port_kind::electric || kind == port_kind::magnetic) && law.join == law_join::two_ports;
    return potentials ? conjugate::value : conjugate::rate;
}

class builder {
   public:
    template <class MakeTransport>
    builder(const scenario& s, bool writable, const MakeTransport& make_subsystems)
        : scenario_(s), writable_(writable), method_(make_method(s)), plan_(multirate_plan_of(s)) {
        result_.system.subsystems = make_subsystems();
        book_ = std::make_unique<address_book>(subsystems());
        graph_.input_channels.resize(subsystems().inputs().size());
    }

    builder& with_laws(decltype(stand_ins::replace) replace) {
        replace_law_ = std::move(replace);
        return *this;
    }

    assembly build() {
        if (scenario_.extrapolation.given()) {
            channel_report nobody;
            rule_of(scenario_.extrapolation, "scenario", 1.0, nobody);  // wrong even where nobody uses it
        }
        result_.channels.reserve(scenario_.connections.size() + scenario_.signals.size());
        for (const auto& c : scenario_.connections)
            if (!c.is_joint()) add_connection(c);
        for (const auto& s : scenario_.signals) add_signal(s);
        for (const auto& b : scenario_.bonds) add_bond(b);
        for (const auto& c : scenario_.connections)
            if (c.is_joint()) add_joint(c, scenario_, *book_, graph_, result_, read_);
        given_sensitivities inertias;
        for (std::size_t i = 0; i < scenario_.subsystems.size(); ++i)
            add_inertias(subsystem_index(i), scenario_.subsystems[i], *book_, subsystems(), inertias);
        for (const channel_report& c : result_.channels) plan_.delays.push_back(c.delay);
        result_.brief = [inertias, plan = std::move(plan_)](method& chosen) {
            hand_over(chosen, inertias);
            hand_over(chosen, plan);
        };
        result_.brief(*method_);
        finish_inputs();
        const std::vector<bool> silent = silent_outputs(scenario_, subsystems());
        const auto cut =
            find_evaluation_order(subsystems(), *book_, graph_, silent, loop_options(scenario_), result_.system);
        find_acceleration_answers(silent);
        result_.system.finish();
        result_.columns = select_columns(scenario_.record, result_);
        tell_how_subsystems_are_used();
        make_solver(reference_solver(scenario_.reference), scenario_.reference.where, "reference");  // for its mistakes
        add_notes();
        add_fmu_notes(scenario_, subsystems(), cut, result_.notes);
        result_.chosen_method = std::move(method_);
        return std::move(result_);
    }

   private:
    struct port_use {
        address_book::port_place place;
        text address;
    };

    /// Why a channel has no rate du/dt; empty when it has one.
    using reason = std::string;

    transport& subsystems() { return *result_.system.subsystems; }

    const extrapolation_rule& rule_named(const std::string& name, const location& where, const std::string& object) {
        const auto found = rules_.find(name);
        if (found != rules_.end()) return found->second;
        try {
            return rules_.emplace(name, make_extrapolation(name)).first->second;
        } catch (const std::invalid_argument& problem) {
            throw user_error(where, fmt::format("{}: {}", object, problem.what()));
        }
    }

    const extrapolation_rule& rule_of(const extrapolation_spec& spec, const std::string& object,
                                      std::optional<double> F, channel_report& report) {
        try {
            if (spec.F) F = spec.F;
            if (F && needs_stiffness_ratio(spec.name.value)) {
                report.F = F;
                return rules_
                    .insert_or_assign(fmt::format("{} {}", spec.name.value, *F),
                                      make_extrapolation(spec.name.value, *F))
                    .first->second;
            }
            if (spec.F)
                throw std::invalid_argument(
                    fmt::format("extrapolation '{}' does not depend on F; leave F out", spec.name.value));
            if (!spec.degree) return rule_named(spec.name.value, spec.name.where, object);
            extrapolation_rule own = make_extrapolation(*spec.degree, spec.a, spec.b, spec.continuous);
            const std::string key = own.name;
            return rules_.insert_or_assign(key + to_string(spec.where), std::move(own)).first->second;
        } catch (const std::invalid_argument& problem) {
            throw user_error(spec.where, fmt::format("{}: {}.", object, problem.what()));
        }
    }

    /// The channel's own extrapolation, else the scenario's (`general`) if the channel has the rates it uses, else a default.
    const extrapolation_rule& choose_rule(const extrapolation_spec& own, const extrapolation_spec* general,
                                          const reason& no_rate, const char* with_rates, const char* without_rates,
                                          const std::string& object, channel_report& report,
                                          std::optional<double> F = {}) {
        if (const std::string name = method_->own_extrapolation(); !name.empty()) {
            report.why_extrapolation = fmt::format("of method {}", scenario_.method.value);
            for (const auto* other : {&own, general})
                ignored_ |= other != nullptr && other->given() && other->name.value != name;
            return rule_named(name, {}, object);
        }
        if (own.given()) {
            const extrapolation_rule& rule = rule_of(own, object, F, report);
            if (rule.uses_rates && !no_rate.empty())
                throw user_error(
                    own.where,
                    fmt::format("{}: extrapolation '{}' uses rates, but {}. Without rates: poly-K, const-K-K-b0, "
                                "lin-K-K-b0, for example '{}'.",
                                object, rule.name, no_rate, without_rates));
            report.why_extrapolation = "given";
            return rule;
        }
        if (general != nullptr && general->given()) {
            if (!F && !general->F && needs_stiffness_ratio(general->name.value)) {
                report.why_extrapolation =
                    fmt::format("of the scenario is '{}', but F is not known", general->name.value);
                const std::string plain = general->name.value.substr(0, general->name.value.size() - 2);
                return rule_named(no_rate.empty() ? plain : without_rates, {}, object);
            }
            const extrapolation_rule& rule = rule_of(*general, "scenario", F, report);
            if (!rule.uses_rates || no_rate.empty()) {
                report.why_extrapolation = "of the scenario";
                report.scenario_extrapolation = true;
                return rule;
            }
            report.why_extrapolation = fmt::format("default, because {}", no_rate);
            report.F.reset();
        } else {
            report.why_extrapolation = no_rate.empty() ? "default" : fmt::format("default, because {}", no_rate);
        }
        return rule_named(no_rate.empty() ? with_rates : without_rates, {}, object);
    }

    const char* default_rule(const std::string& of_method, const char* otherwise) const {
        if (scenario_.step_control.given()) return default_controlled;
        return of_method.empty() ? otherwise : of_method.c_str();
    }

    std::vector<port_use> connected_ports(const connection_spec& c, const law_info& law, const std::string& object) {
        if (law.join == law_join::two_ports && c.between.size() != 2)
            throw user_error(c.where, fmt::format("{}: law '{}' joins two ports; 'between' has {}.", object, law.name,
                                                  c.between.size()));
        if (c.between.empty())
            throw user_error(c.where, fmt::format("{}: 'between' is empty; name the ports of the node.", object));
        std::vector<port_use> ports;
        for (const auto& address : c.between) {
            ports.push_back({book_->find_port(address, object), address});
            const port_use& added = ports.back();
            for (const auto& p : std::span(ports).first(ports.size() - 1))
                if (p.place.port == added.place.port && p.place.subsystem == added.place.subsystem)
                    throw user_error(
                        address.where,
                        fmt::format("{}: port '{}' is joined to itself; a connection joins different ports.", object,
                                    address.value));
        }
        for (const auto& p : ports) check_port(p, law, object);
        if (law.piston) {
            check_pistons(c, law, object, ports);
            return ports;
        }
        for (const auto& p : ports)
            if (p.place.port->kind != ports[0].place.port->kind)
                throw user_error(
                    p.address.where,
                    fmt::format("{}: port '{}' is of kind {}, but port '{}' is of kind {}; all must be of one kind.",
                                object, ports[0].address.value, info(ports[0].place.port->kind).name, p.address.value,
                                info(p.place.port->kind).name));
        return ports;
    }

    static bool is_piston(const port_use& p, const law_info& law) {
        return law.piston && p.place.port->kind == law.piston->kind;
    }

    static void check_pistons(const connection_spec& c, const law_info& law, const std::string& object,
                              const std::vector<port_use>& ports) {
        const auto moved = std::ranges::find_if(ports, [&](const port_use& p) { return is_piston(p, law); });
        if (moved == ports.end())
            throw user_error(
                c.where, fmt::format("{}: none of the ports in 'between' is a piston, a port of kind {}. Name the port "
                                     "that moves the chamber's wall, or take 'law: node' for a volume that stays.",
                                     object, info(law.piston->kind).name));
        for (const auto& p : ports)
            if (is_piston(p, law) && p.place.port->motion[1] < 0)
                throw user_error(p.address.where,
                                 fmt::format("{}: law '{}' needs the {} of port '{}', which gives none.", object,
                                             law.name, info(law.piston->kind).motion[1], p.address.value));
    }

    static void check_port(const port_use& p, const law_info& law, const std::string& object) {
        const port& port = *p.place.port;
        const port_kind_info& words = info(port.kind);
        if (std::find(law.kinds.begin(), law.kinds.end(), port.kind) == law.kinds.end() && !is_piston(p, law))
            throw user_error(
                p.address.where,
                fmt::format(
                    "{}: port '{}' is of kind {}, but law '{}' joins ports of kind {}{}.", object, p.address.value,
                    words.name, law.name, kind_list(law.kinds),
                    law.piston ? fmt::format(", and its pistons are of kind {}", info(law.piston->kind).name) : ""));
        const auto& [given, taken] = law.ports == causality::takes_load ? std::tie(words.motion[0], words.load)
                                                                        : std::tie(words.load, words.motion[0]);
        if (port.causality != law.ports)
            throw user_error(
                p.address.where,
                fmt::format(
                    "{}: port '{}' takes {} and gives {}, but law '{}' needs a port that gives {} and takes {}.",
                    object, p.address.value, given, taken, law.name, given, taken));
    }

    /// The outputs that a port brings into its connection: a value and its rate, -1 where not offered; and the input it receives.
    struct port_slots {
        int value, rate, receives;
    };
    static port_slots slots_of(const port& p) {
        if (p.causality == causality::takes_load) return {p.motion[0], p.motion[1], p.load};
        return {p.load_integral, p.load, p.motion[0]};
    }

    /// The names of what slots_of() finds: angle and speed, volume and flow, charge and current.
    static std::pair<std::string, std::string> names_of(const port& p) {
        const port_kind_info& words = info(p.kind);
        const bool takes_load = p.causality == causality::takes_load;
        const std::string& rate = takes_load ? words.motion[1] : words.load;
        return {takes_load ? words.motion[0] : words.load_integral, rate.empty() ? "rate" : rate};
    }

    const output_variable& output_at(subsystem_index s, int slot) {
        const auto& outputs = subsystems().describe(s).outputs;
        return *std::find_if(outputs.begin(), outputs.end(),
                             [&](const auto& y) { return slot >= y.slot && slot < y.slot + y.size; });
    }

    reason no_rate_of(const std::vector<port_use>& ports, const law& acting, const law_info& law) {
        const bool evaluated = method_->traits().evaluates_rates;
        if (acting.needs_velocity()) {
            if (!evaluated)
                return fmt::format(
                    "law '{}' needs velocities, so that its rate needs accelerations, which method '{}' "
                    "does not evaluate",
                    law.name, scenario_.method.value);
            if (acting.corner_count() > 0) return fmt::format("the rate of law '{}' jumps at its corners", law.name);
            for (const auto& p : ports)
                if (p.place.port->motion[2] < 0)
                    return fmt::format(
                        "law '{}' needs velocities, so that its rate needs accelerations, and port '{}' "
                        "gives none",
                        law.name, p.address.value);
            return {};
        }
        if (!acting.has_rate())
            return fmt::format("the rate of law '{}' would need the rate of the {}, which depends on the inputs",
                               law.name, names_of(*ports[0].place.port).first);
        for (const auto& p : ports) {
            const port_slots slots = slots_of(*p.place.port);
            const std::string rate = names_of(*p.place.port).second;
            if (slots.rate < 0) return fmt::format("port '{}' gives no {}", p.address.value, rate);
            const bool rate_needs_input =
                slots.value >= 0 && output_at(p.place.subsystem, slots.value).rate_needs_input;
            if (rate_needs_input || !output_at(p.place.subsystem, slots.rate).direct.empty())
                return fmt::format("the {} of port '{}' depends on its input", rate, p.address.value);
        }
        return {};
    }

    /// F, the connection's stiffness over that of its ports, in the mean over the ports as in (2.69); nothing where one is unknown.
    std::optional<double> stiffness_ratio(const law& acting, const std::vector<port_use>& ports) {
        const auto stiffness = acting.stiffness();
        if (!stiffness || *stiffness == 0 || ports.size() != 2) return std::nullopt;
        double F = 0;
        for (const auto& p : ports) {
            const auto& all = subsystems().describe(p.place.subsystem).ports;
            const auto at = static_cast<std::size_t>(p.place.port - all.data());
            const auto known = subsystems().offers(p.place.subsystem).port_stiffness;
            if (at >= known.size() || std::isnan(known[at])) return std::nullopt;
            F += *stiffness / known[at] / 2;
        }
        return std::min(F, largest_ratio);
    }

    void add_connection(const connection_spec& c) {
        const std::string object = fmt::format("connection '{}'", c.name);
        const law_info& law = known_law(c);
        const std::vector<port_use> ports = connected_ports(c, law, object);
        const port_kind kind = law.piston ? law.kinds[0] : ports[0].place.port->kind;
        const auto& infos = law_parameters(law, kind);
        const parameter_values values =
            resolve_parameters(infos, c.parameters, c.where, fmt::format("{} (law {})", object, law.name));
        std::unique_ptr<mdpcosim::law> acting = make_law(law, values, c, object);
        if (replace_law_) acting = replace_law_(c.name, std::move(acting));
        auto roles = law.join == law_join::node ? std::vector<port_role>(ports.size(), {1, 1})
                     : law.roles                ? law.roles(values)
                                                : two_port_roles();
        for (std::size_t k = 0; k < ports.size(); ++k)
            if (is_piston(ports[k], law)) roles[k] = law.piston->role(values);

        channel_report report;
        report.name = c.name;
        report.delay = c.delay.value;
        report.law_name = law.name;
        report.law = law_text(law, infos, values);
        report.unit = law.ports == causality::takes_load ? info(kind).load_unit : info(kind).motion_unit[0];
        report.recorded_name = true;
        const reason no_rate = no_rate_of(ports, *acting, law);
        const extrapolation_rule& rule =
            choose_rule(c.extrapolation, &scenario_.extrapolation, no_rate,
                        default_rule(method_->traits().rule_with_rates, default_with_rates),
                        default_rule(method_->traits().rule_without_rates, default_without_rates), object, report,
                        stiffness_ratio(*acting, ports));
        const bool needs_velocity = acting->needs_velocity();
        report.power = conjugate_of(kind, law);
        report.has_rate = no_rate.empty();
        report.has_velocity =
            std::all_of(ports.begin(), ports.end(), [](const auto& p) { return slots_of(*p.place.port).rate >= 0; });
        std::vector<channel_term> terms;
        std::vector<output_slot> sources;
        for (std::size_t k = 0; k < ports.size(); ++k) {
            const auto& [place, address] = ports[k];
            const port_slots slots = slots_of(*place.port);
            const bool integrated = slots.value < 0;
            const auto& [value_name, rate_name] = names_of(*place.port);
            if ((needs_velocity || integrated) && slots.rate < 0)
                throw user_error(address.where,
                                 fmt::format("{}: law '{}' needs the {} of port '{}', which gives none.", object,
                                             law.name, integrated ? value_name : rate_name, address.value));
            if (integrated) refuse_direct_flow(ports[k], slots, object);
            terms.push_back({integrated ? output_slot() : book_->global_output(place.subsystem, slots.value),
                             slots.rate < 0 ? output_slot() : book_->global_output(place.subsystem, slots.rate),
                             roles[k].weight});
            terms.back().piston = is_piston(ports[k], law);
            if (needs_velocity && rule.uses_rates) {
                terms.back().acceleration = book_->global_output(place.subsystem, place.port->motion[2]);
                accelerations_.push_back({channel_index(result_.channels.size()), roles[k].weight, place.subsystem,
                                          terms.back().acceleration});
            }
            if (!integrated) sources.push_back(terms.back().value);
            if (needs_velocity || integrated) sources.push_back(terms.back().rate);
        }
        const channel_index channel = add_channel(std::move(report), std::move(acting), std::move(terms),
                                                  std::move(sources), rule, object, c.where);
        for (std::size_t k = 0; k < ports.size(); ++k) {
            const auto& [place, address] = ports[k];
            const int slot = slots_of(*place.port).receives;
            const auto& others = graph_.input_channels[book_->global_input(place.subsystem, slot).value()];
            const bool at_node = law.join == law_join::node && !is_piston(ports[k], law);
            if (at_node && !others.empty())
                throw user_error(
                    address.where,
                    fmt::format("{}: port '{}' belongs to {} already; the {} of a port comes from one node.", object,
                                address.value, graph_.channel_names[others.front().value()],
                                law.ports == causality::takes_load ? info(kind).load : info(kind).motion[0]));
            deliver(channel, place.subsystem, slot, roles[k].factor, address.value, rule.degree);
            if (at_node) nodes_.emplace(book_->global_input(place.subsystem, slot).value(), object);
            if (slots_of(*place.port).value < 0)
                result_.channels.back().ends.back().integrated = names_of(*place.port).second;
        }
        result_.channels.back().is_node = law.join == law_join::node;
    }

    /// A flow that follows the pressure at once would make the integrated volume depend on the pressure that depends on it.
    void refuse_direct_flow(const port_use& p, const port_slots& slots, const std::string& object) {
        const auto& direct = output_at(p.place.subsystem, slots.rate).direct;
        if (std::find(direct.begin(), direct.end(), slots.receives) == direct.end()) return;
        const auto [value, rate] = names_of(*p.place.port);
        const port_kind_info& words = info(p.place.port->kind);
        throw user_error(
            p.address.where,
            fmt::format(
                "{}: the {} of port '{}' depends on its {} without a state between, so that it cannot be integrated "
                "here. Give the port its {}, too: a state whose rate is the {}.",
                object, rate, p.address.value,
                p.place.port->causality == causality::takes_load ? words.load : words.motion[0], value, rate));
    }

    std::unique_ptr<law> make_law(const law_info& law, const parameter_values& values, const connection_spec& c,
                                  const std::string& object) {
        try {
            return law.make(values);
        } catch (const std::invalid_argument& problem) {
            throw user_error(c.where, fmt::format("{}: {}.", object, problem.what()));
        }
    }

    void add_signal(const signal_spec& s) {
        const std::string object = fmt::format("signal to '{}'", s.target.value);
        if (book_->text_input(s.target.value)) return add_text_signal(s, object);
        const auto target = book_->find_input(s.target, object);
        const auto [earlier, is_new] = driven_.emplace(target.slot.value(), s.where);
        if (!is_new)
            throw user_error(
                s.where,
                fmt::format("{}: the input is driven already by the signal at line {}, column {}. An input takes one "
                            "signal; write the sum in one line ('a.y + b.y -> {}').",
                            object, earlier->second.line, earlier->second.column, s.target.value));
        if (const auto node = nodes_.find(target.slot.value()); node != nodes_.end())
            throw user_error(
                s.where, fmt::format("{}: the input gets its value from {}; a node's value cannot be added to.", object,
                                     node->second));
        check_offset_unit(s, *target.variable, object);
        if (target.variable->clock) check_clock(s, target.subsystem, object);
        channel_report report;
        report.name = s.name;
        report.delay = s.delay.value;
        report.is_signal = true;
        report.unit = target.variable->unit;
        report.recorded_name = s.name != s.target.value;
        reason no_rate;
        std::vector<address_book::output_place> places;
        for (const auto& term : s.terms) {
            places.push_back(book_->find_output(term.address, object));
            const output_variable& y = *places.back().variable;
            check_term_unit(term, y, *target.variable, object);
            if (no_rate.empty() && y.rate_slot < 0) no_rate = fmt::format("'{}' gives no rate", term.address.value);
            if (no_rate.empty() && y.rate_needs_input)
                no_rate = fmt::format("the rate of '{}' depends on its inputs", term.address.value);
        }
        const extrapolation_rule& rule = choose_signal_rule(s, target, places, no_rate, object, report);
        std::vector<channel_term> terms;
        std::vector<output_slot> sources;
        std::vector<std::string> texts;
        for (std::size_t k = 0; k < places.size(); ++k) {
            const auto& [subsystem, y, slot] = places[k];
            const int element = static_cast<int>(slot.value() - subsystems().output_offset(subsystem)) - y->slot;
            terms.push_back({slot,
                             rule.uses_rates ? book_->global_output(subsystem, y->rate_slot + element) : output_slot(),
                             s.terms[k].gain});
            sources.push_back(slot);
            texts.push_back(s.terms[k].has_gain
                                ? fmt::format("{}*{}", number_with_unit(s.terms[k].gain, s.terms[k].gain_unit),
                                              s.terms[k].address.value)
                                : s.terms[k].address.value);
        }
        if (s.offset != 0 || texts.empty()) texts.push_back(number_with_unit(s.offset, s.offset_unit));
        report.law = fmt::format("{}", fmt::join(texts, " + "));
        const channel_index channel =
            add_channel(std::move(report), s.offset == 0 ? nullptr : std::make_unique<signal_law>(s.offset),
                        std::move(terms), std::move(sources), rule, object, s.where);
        deliver(channel, target.subsystem,
                static_cast<int>(target.slot.value() - subsystems().input_offset(target.subsystem)), 1, s.target.value,
                rule.degree);
        bondable signal{&s, channel, target.subsystem, {}, target.variable->unit, rule.continuous};
        if (places.size() == 1) {
            signal.from = places[0].subsystem;
            if (signal.unit.empty()) signal.unit = places[0].variable->unit;
        }
        bondable_.push_back(std::move(signal));
    }

    /// Clocks that others let tick do so in events at macro points.
    void check_clock(const signal_spec& s, subsystem_index to, const std::string& object) {
        const auto refuse = [&](const std::string& why) {
            throw user_error(s.where, fmt::format("{}: it is a clock, which ticks at macro points, {}", object, why));
        };
        if (method_->traits().own_steps)
            refuse(fmt::format("and method '{}' lets subsystems have their own. Take 'method: explicit'.",
                               scenario_.method.value));
        if (!subsystems().offers(to).events_at_points)
            refuse(
                fmt::format("and here subsystem '{}' has no events there: as one system of equations "
                            "(--monolithic), with 'sample' or without an event mode nobody lets it tick. Run "
                            "without these, or leave the signal out.",
                            subsystems().name(to)));
    }

    /// A signal as half of a bond.
    struct bondable {
        const signal_spec* spec;
        channel_index channel;
        subsystem_index to, from;  ///< `from` is invalid where several outputs, or none, are added
        std::string unit;          ///< empty: unknown
        bool continuous;
    };

    const bondable& find_signal(const text& name, const std::string& object) {
        std::vector<std::string> known;
        for (const bondable& s : bondable_) {
            if (s.spec->name == name.value || s.spec->target.value == name.value) return s;
            known.push_back(s.spec->name);
        }
        throw user_error(name.where, fmt::format("{}: no signal goes to '{}', and none has that name. Signals: {}.{}",
                                                 object, name.value, known.empty() ? "none" : name_list(known),
                                                 did_you_mean(name.value, known)));
    }

    void add_bond(const bond_spec& b) {
        const std::string object = fmt::format("bond '{}'", b.name);
        const auto refuse = [&](const text& at, const std::string& why) {
            throw user_error(at.where, fmt::format("{}: {}", object, why));
        };
        const bondable &flow = find_signal(b.flow, object), &effort = find_signal(b.effort, object);
        for (const auto& [signal, name] : {std::pair{&flow, &b.flow}, {&effort, &b.effort}}) {
            if (!signal->from.valid() || signal->spec->offset != 0)
                refuse(*name, fmt::format("the signal to '{}' is '{}'; a bond carries one output each way, with a gain "
                                          "at most. Let the model have an input for each of the outputs.",
                                          signal->spec->target.value, result_.channels[signal->channel.value()].law));
            for (const auto& other : result_.system.bonds)
                if (other.flow == signal->channel || other.effort == signal->channel)
                    refuse(*name, fmt::format("the signal to '{}' belongs to bond '{}' already.",
                                              signal->spec->target.value, other.name));
        }
        if (flow.from != effort.to || flow.to != effort.from)
            refuse(b.effort,
                   fmt::format("the flow goes from '{}' to '{}', so that the effort must go from '{}' to '{}'; it goes "
                               "from '{}' to '{}'.",
                               subsystems().name(flow.from), subsystems().name(flow.to), subsystems().name(flow.to),
                               subsystems().name(flow.from), subsystems().name(effort.from),
                               subsystems().name(effort.to)));
        const std::string power = unit_product(flow.unit, effort.unit);
        if (!power.empty() && !units_fit(power, "W"))
            refuse(
                b.effort,
                fmt::format("'{}' in '{}' times '{}' in '{}' is no power: '{}' does not fit 'W'. Signals that belong "
                            "together: force and velocity, torque and speed, pressure and flow, voltage and current.",
                            b.flow.value, flow.unit, b.effort.value, effort.unit, power));
        const double of_flow = flow.spec->terms[0].gain, of_effort = effort.spec->terms[0].gain;
        if (of_flow == 0 || std::abs(std::abs(of_flow) - std::abs(of_effort)) > 1e-9 * std::abs(of_flow))
            refuse(
                b.effort,
                fmt::format("the gains {} of the flow and {} of the effort differ, so that the power given is not the "
                            "power received. Both must be the same but for their sign, as in a gear.",
                            of_flow, of_effort));
        if (b.correct) check_correction(b, flow, effort, object);
        result_.system.bonds.push_back({b.name, flow.channel, effort.channel, 1 / of_flow, b.correct});
        if (!b.correct) return;
        result_.system.coupling.give_back(flow.channel);
        result_.system.coupling.give_back(effort.channel);
    }

    void check_correction(const bond_spec& b, const bondable& flow, const bondable& effort, const std::string& object) {
        if (method_->traits().own_steps)
            throw user_error(b.where,
                             fmt::format("{}: method '{}' has polynomials of its own, which are not corrected. Leave "
                                         "'correct' out, or take 'method: explicit'.",
                                         object, scenario_.method.value));
        for (const bondable* s : {&flow, &effort})
            if (s->continuous)
                throw user_error(
                    b.where,
                    fmt::format(
                        "{}: the extrapolation of the signal to '{}' begins where the last polynomial ended, so "
                        "that nothing can be added to it. Leave 'correct' or 'continuous' out.",
                        object, s->spec->target.value));
    }

    /// `a.text -> b.text`: a string or bytes, as they are.
    void add_text_signal(const signal_spec& s, const std::string& object) {
        const auto target = *book_->text_input(s.target.value);
        const auto refuse = [&](const std::string& why) {
            throw user_error(s.where, fmt::format("{}: {}", object, why));
        };
        const bool plain = s.terms.size() == 1 && !s.terms.front().has_gain && s.offset == 0 && s.offset_unit.empty();
        if (!plain)
            refuse(fmt::format("the input takes a {}; write one output alone: 'a.text -> {}'.", name_of(target),
                               s.target.value));
        if (s.extrapolation.given()) refuse("a text is not extrapolated; leave 'extrapolation' out.");
        if (s.delay.value != 0) refuse("a text has no 'delay'.");
        const text& source = s.terms.front().address;
        const auto output = book_->text_output(source.value);
        if (!output && book_->has_output(source.value)) refuse_number(s, target, object);
        if (!output) book_->unknown_text(source, object, false);
        if (output->variable->type != target.variable->type)
            refuse(fmt::format("'{}' is a {}, but the input takes a {}.", source.value, name_of(*output),
                               name_of(target)));
        if (result_.system.texts.is_driven(target.subsystem, target.slot))
            refuse("the input is driven already by another signal. An input takes one signal.");
        result_.system.texts.drive(output->subsystem, output->slot, target.subsystem, target.slot);
        result_.text_signals.push_back({source.value, s.target.value, name_of(target)});
    }
    [[noreturn]] void refuse_number(const signal_spec& s, const address_book::text_place& target,
                                    const std::string& object) {
        const text& source = s.terms.front().address;
        const subsystem_index owner = book_->find_output(source, object).subsystem;
        std::vector<std::string> names;
        for (const auto& v : subsystems().describe(owner).text_outputs)
            if (v.type == target.variable->type) names.push_back(v.name);
        throw user_error(
            s.where,
            fmt::format("{}: '{}' is a number, but the input takes a {}.{} Of that kind subsystem '{}' has: {}.",
                        object, source.value, name_of(target),
                        target.variable->type == variable_type::integer
                            ? " Name the output in 'exact' of its subsystem, or take the input out of 'exact'."
                            : "",
                        subsystems().name(owner), names.empty() ? "none" : name_list(names)));
    }
    static std::string name_of(const address_book::text_place& place) { return text_kind(place.variable->type); }

    /// Signals to and from sampled subsystems are held: exact for the outputs, which change at macro points only, and the
    /// one rule that hands a sampled input its value at the beginning of the step whatever was before.
    const extrapolation_rule& choose_signal_rule(const signal_spec& s, const address_book::input_place& target,
                                                 const std::vector<address_book::output_place>& places,
                                                 const reason& no_rate, const std::string& object,
                                                 channel_report& report) {
        const auto held = std::find_if(places.begin(), places.end(), [](const auto& p) { return p.variable->sampled; });
        const bool given = s.extrapolation.given() && method_->own_extrapolation().empty();
        if (given || (!target.variable->sampled && held == places.end())) {
            const bool controlled = scenario_.step_control.given();
            const bool recorded = std::ranges::any_of(places, [&](const auto& p) {
                return scenario_.subsystems[p.subsystem.value()].kind == subsystem_spec::source_kind::file;
            });
            const extrapolation_rule& rule =
                choose_rule(s.extrapolation, nullptr, no_rate, recorded ? recorded_signal : signal_with_rates,
                            controlled ? default_controlled : default_without_rates, object, report);
            const subsystem_spec& receiver = scenario_.subsystems[target.subsystem.value()];
            if (target.variable->sampled && rule.name != held_signal &&
                receiver.kind == subsystem_spec::source_kind::fmu)
                throw user_error(
                    s.extrapolation.where,
                    target.variable->type == variable_type::real
                        ? fmt::format(
                              "{}: the FMU declares its input discrete, so that it is held and not extrapolated. Leave "
                              "'extrapolation' out instead of '{}', or, if the input is continuous in truth, write "
                              "'continuous: [{}]' in subsystem '{}'.",
                              object, rule.name, target.variable->name, receiver.name)
                        : fmt::format("{}: the input is no real number and is held, nothing is extrapolated. Leave "
                                      "'extrapolation' out instead of '{}'.",
                                      object, rule.name));
            if (target.variable->sampled && rule.name != held_signal)
                throw user_error(
                    s.extrapolation.where,
                    fmt::format("{}: the input is sampled and takes the values at its sample times, nothing is "
                                "extrapolated. Leave 'extrapolation' out instead of '{}'.",
                                object, rule.name));
            return rule;
        }
        report.why_extrapolation =
            target.variable->sampled
                ? "default, because the input is sampled"
                : fmt::format("default, because '{}' is held between samples",
                              s.terms[static_cast<std::size_t>(held - places.begin())].address.value);
        return rule_named(held_signal, {}, object);
    }

    static void check_term_unit(const signal_spec::term& term, const output_variable& y, const input_variable& target,
                                const std::string& object) {
        // A bare gain is SI and takes the unit that fits; without a gain, or with a gain that has a unit, units must agree.
        if (term.has_gain && term.gain_unit.empty() && std::abs(term.gain) != 1) return;
        const std::string unit = term.gain_unit.empty() ? y.unit : unit_product(term.gain_unit, y.unit);
        if (units_fit(unit, target.unit)) return;
        const std::string gain = term.gain_unit.empty() ? "" : number_with_unit(term.gain, term.gain_unit) + "*";
        throw user_error(
            term.address.where,
            fmt::format(
                "{}: '{}{}' in '{}' does not fit the input's unit '{}'. Give a gain whose unit fits, as in '2 N/m*{}'.",
                object, gain, term.address.value, unit, target.unit, term.address.value));
    }

    static void check_offset_unit(const signal_spec& s, const input_variable& target, const std::string& object) {
        if (!units_fit(s.offset_unit, target.unit))
            throw user_error(s.where, fmt::format("{}: the offset's unit '{}' does not fit the input's unit '{}'.",
                                                  object, s.offset_unit, target.unit));
    }

    channel_index add_channel(channel_report report, std::unique_ptr<law> acting, std::vector<channel_term> terms,
                              std::vector<output_slot> sources, const extrapolation_rule& rule,
                              const std::string& object, const location& where) {
        report.extrapolation = rule.name;
        graph_.delayed.push_back(report.delay > 0);
        for (const channel_term& t : terms)
            for (const output_slot slot : {t.value, t.rate, t.acceleration})
                if (slot.valid()) read_.push_back(slot);
        const channel_index channel =
            result_.system.coupling.add_channel(report.name, std::move(acting), std::move(terms), rule);
        result_.channels.push_back(std::move(report));
        graph_.channel_sources.push_back(std::move(sources));
        graph_.channel_names.push_back(object);
        graph_.channel_places.push_back(where);
        return channel;
    }

    void deliver(channel_index channel, subsystem_index s, int slot, double factor, const std::string& address,
                 int rule_degree) {
        const auto& inputs = subsystems().describe(s).inputs;
        const auto& input = *std::find_if(inputs.begin(), inputs.end(),
                                          [&](const auto& v) { return slot >= v.slot && slot < v.slot + v.size; });
        const int limit = std::min(input.max_degree, scenario_.subsystems[s.value()].input_degree.value_or(max_degree));
        const input_slot global = book_->global_input(s, slot);
        result_.system.coupling.add_delivery(global, limit, {channel, factor});
        result_.channels.back().ends.push_back({address, factor, std::min(limit, rule_degree)});
        graph_.input_channels[global.value()].push_back(channel);
    }

    void finish_inputs() {
        std::vector<double> start(subsystems().inputs().size(), 0.0);
        for (std::size_t i = 0; i < subsystems().size(); ++i)
            for (const auto& input : subsystems().describe(subsystem_index(i)).inputs)
                for (int k = 0; k < input.size; ++k)
                    start[book_->global_input(subsystem_index(i), input.slot + k).value()] = input.start;
        result_.system.coupling.finish(start);
    }

    void tell_how_subsystems_are_used() {
        std::vector<bool> all(subsystems().outputs().size(), false);
        for (const output_slot slot : read_) all[slot.value()] = true;
        for (const recorded_column& c : result_.columns)
            if (c.from == recorded_column::source::output) all[c.index] = true;
        if (method_->traits().reads_accelerations) add_accelerations(all);
        if (scenario_.step_control.given()) add_judged(all);
        if (writable_) all.assign(all.size(), true);  // whoever looks on between steps may ask for any of them
        std::vector<bool> follow(subsystems().size(), false);
        if (method_->traits().evaluates_each_step)
            for (const subsystem_index s : evaluated_before_read(subsystems(), graph_, result_.system.at_each_step))
                follow[s.value()] = true;
        const bool back = writable_ || goes_back(scenario_);
        for (std::size_t i = 0; i < subsystems().size(); ++i) {
            const subsystem_index s(i);
            const auto first = all.begin() + static_cast<std::ptrdiff_t>(subsystems().output_offset(s));
            const own_step_spec& own = scenario_.subsystems[i].step;
            usage used{.outputs = {first, first + subsystems().describe(s).output_count()},
                       .inputs = std::vector<bool>(static_cast<std::size_t>(subsystems().describe(s).input_count())),
                       .outputs_follow = follow[i],
                       .next_event = scenario_.step_control.given() && subsystems().offers(s).tells_next_event,
                       .goes_back = back,
                       .end = scenario_.time.end,
                       .step = own.by_solver ? 0 : own.value.value_or(scenario_.time.step)};
            for (std::size_t k = 0; k < used.inputs.size(); ++k)
                used.inputs[k] = writable_ || !graph_.input_channels[subsystems().input_offset(s) + k].empty();
            subsystems().expect(s, used);
        }
    }

    /// Steps follow the errors of subsystems that nobody reads, too.
    void add_judged(std::vector<bool>& all) {
        const auto levels = output_levels(result_.system);
        for (std::size_t slot = 0; slot < levels.size(); ++slot)
            if (levels[slot] != output_level::none) all[slot] = true;
    }

    /// What rates of damped laws read: accelerations, and the inputs that they depend on at once.
    void find_acceleration_answers(const std::vector<bool>& silent) {
        for (const auto& [channel, weight, subsystem, output] : accelerations_) {
            const int local = static_cast<int>(output.value() - subsystems().output_offset(subsystem));
            const auto& direct = output_at(subsystem, local).direct;
            for (int k = 0; k < subsystems().describe(subsystem).input_count(); ++k) {
                const input_slot input = book_->global_input(subsystem, k);
                const bool depends = silent[output.value()] || std::ranges::find(direct, k) != direct.end();
                if (depends && !graph_.input_channels[input.value()].empty())
                    result_.system.answers.push_back({channel, weight, subsystem, output, input});
            }
        }
    }

    /// The rates of the outputs that are read, which depend on inputs at once.
    void add_accelerations(std::vector<bool>& needed) {
        for (std::size_t i = 0; i < subsystems().size(); ++i)
            for (const output_variable& y : subsystems().describe(subsystem_index(i)).outputs) {
                const std::size_t first = subsystems().output_offset(subsystem_index(i));
                for (int k = 0; k < y.size && y.rate_slot >= 0; ++k)
                    if (needed[first + static_cast<std::size_t>(y.slot + k)])
                        needed[first + static_cast<std::size_t>(y.rate_slot + k)] = true;
            }
    }

    void add_notes() {
        result_.notes = scenario_.notes;
        if (scenario_.record.every) {
            const double ratio = *scenario_.record.every / scenario_.time.step;
            if (std::abs(ratio - std::round(ratio)) > 1e-6 * ratio || ratio < 0.5)
                result_.notes.push_back(fmt::format(
                    "record: every {} s is no multiple of the macro step {} s; rows stand at the first macro "
                    "point after each record time.",
                    *scenario_.record.every, scenario_.time.step));
        }
        if (ignored_)
            result_.notes.push_back(fmt::format("extrapolation: method {} has orders of its own and takes no other.",
                                                scenario_.method.value));
        const auto none_solved = [&] {
            return std::ranges::all_of(result_.channels, [](const auto& c) { return c.is_signal; });
        };
        for (const char* name : {"one-pass", "semi-implicit"})
            if (scenario_.method.value == name && !result_.channels.empty() && none_solved())
                result_.notes.push_back(fmt::format(
                    "method: {} solves for connections, and there are signals only: the run is the one of 'explicit'. "
                    "For signals in a loop 'iterated' is the implicit method; connections between ports need none.",
                    name));
        if (method_->traits().own_steps && result_.system.iterates_events())
            result_.notes.push_back(
                fmt::format("method: with '{}' a discrete output that changes in an event at a macro point reaches the "
                            "events of others with the next step, not at that point. 'explicit' repeats such events "
                            "until nothing changes.",
                            scenario_.method.value));
        if (scenario_.subsystems.size() > 1 && result_.channels.empty() && result_.text_signals.empty())
            result_.notes.emplace_back("nothing is coupled: there are neither connections nor signals.");
    }

    const scenario& scenario_;
    bool writable_;
    decltype(stand_ins::replace) replace_law_;
    std::unique_ptr<method> method_;
    multirate_plan plan_;  ///< its delays follow from the channels
    struct acceleration_use {
        channel_index channel;
        double weight;
        subsystem_index subsystem;
        output_slot output;
    };
    std::vector<acceleration_use> accelerations_;  ///< that rates of coupling variables need
    bool ignored_ = false;                         ///< extrapolations that the method has no use for
    assembly result_;
    std::unique_ptr<address_book> book_;
    coupling_graph graph_;
    std::map<std::string, extrapolation_rule> rules_;
    std::unordered_map<std::size_t, location> driven_;
    std::vector<output_slot> read_;                       ///< outputs that channels need
    std::vector<bondable> bondable_;                      ///< signals that may be part of bonds
    std::unordered_map<std::size_t, std::string> nodes_;  ///< by input: the node that it belongs to
};

}  // namespace

assembly assemble(const scenario& s, const transport_options& options) {
    const auto unpacked = unpacked_fmus(s);
    return builder(s, options.writable, [&] { return make_transport(s, options); }).build();
}

assembly assemble(const scenario& s, stand_ins in_place) {
    const auto unpacked = unpacked_fmus(s);
    return builder(s, false, [&] { return std::move(in_place.subsystems); })
        .with_laws(std::move(in_place.replace))
        .build();
}

assembly assemble_reference(const scenario& s) {
    return builder(s, false, [&]() -> std::unique_ptr<transport> { return std::make_unique<described_subsystems>(s); })
        .build();
}

}  // namespace mdpcosim
