// What can be said about an FMU in co-simulation before it runs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/suggest.hpp"
#include "fmu/component.hpp"
#include "fmu/fmu_subsystem.hpp"
#include "fmu/structure.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

namespace {

bool is_multiple(double H, double h) {
    const double n = std::round(H / h);
    return n >= 1 && std::abs(H / h - n) <= 1e-9 * n;
}

/// Clocks of an FMU that cannot step to their ticks.
void check_tick_times(const subsystem_spec& spec, const fmi::description& fmu, double H) {
    if (fmu.co_simulation->variable_step || !fmu.co_simulation->event_mode) return;
    for (const auto& clock : fmu.clocks) {
        if (!has_times(fmu, clock) || clock.interval_kind != fmi::clock_interval::constant) continue;
        if (is_multiple(clock.interval, H) && (clock.shift == 0 || is_multiple(clock.shift, H))) continue;
        throw user_error(
            spec.source.where,
            fmt::format("subsystem '{}': the clock '{}' of fmu '{}' ticks every {} s{}, inside macro steps of {} s, "
                        "and the FMU takes no steps of other lengths (canHandleVariableCommunicationStepSize). Choose "
                        "a macro step that divides the interval.",
                        spec.name, fmu.variables[static_cast<std::size_t>(clock.variable)].name, spec.source.value,
                        clock.interval, clock.shift > 0 ? fmt::format(" from {} s on", clock.shift) : "", H));
    }
}

}  // namespace

std::vector<std::string> silent_fmu_outputs(const subsystem_spec& spec) {
    std::vector<std::string> names;
    if (fmu_interface(spec) != fmi::kind::co_simulation) return names;
    const auto files = fmi::open_fmu(spec.path);
    const fmu_structure structure(files->description());
    const auto& variables = files->description().variables;
    for (std::size_t i = 0; i < variables.size(); ++i) {
        const bool readable =
            variables[i].causality == fmi::causality::output || variables[i].causality == fmi::causality::local;
        if (readable && !structure.direct_inputs(static_cast<int>(i))) names.push_back(variables[i].name);
    }
    return names;
}

std::string check_fmu_clocks(const subsystem_spec& spec, const std::function<bool(const std::string& input)>& driven) {
    const auto files = fmi::open_fmu(spec.path);
    const fmi::description& fmu = files->description();
    if (fmu.clocks.empty()) return {};
    const bool events = fmu_interface(spec) == fmi::kind::model_exchange || fmu.co_simulation->event_mode;
    const auto name_of = [&](int variable) { return fmu.variables[static_cast<std::size_t>(variable)].name; };
    const auto silent = [&](int clock) {
        const auto found = std::ranges::find(fmu.clocks, clock, &fmi::clock_description::variable);
        const bool own = fmu.variables[static_cast<std::size_t>(clock)].causality != fmi::causality::input;
        return !events || !(own || has_times(fmu, *found) || driven(name_of(clock)));
    };
    const std::string why =
        events ? "it is triggered (intervalVariability), and no signal leads to it from another FMU's clock"
               : "its co-simulation has no event mode (hasEventMode)";
    std::vector<std::string> clocks, staying;
    for (const auto& clock : fmu.clocks)
        if (silent(clock.variable)) clocks.push_back(name_of(clock.variable));
    for (const auto& [variable, own] : fmu.clocked) {
        const fmi::variable& v = fmu.variables[static_cast<std::size_t>(variable)];
        const bool input = v.causality == fmi::causality::input;
        // An input is set before its clock ticks, so that one of the FMU's own cannot let it in.
        const bool stays = std::ranges::all_of(own, [&](int clock) {
            return silent(clock) ||
                   (input && fmu.variables[static_cast<std::size_t>(clock)].causality != fmi::causality::input);
        });
        if (!stays) continue;
        if (input && driven(v.name))
            throw user_error(
                spec.source.where,
                fmt::format("subsystem '{}': fmu '{}' takes its input '{}' at the ticks of a clock only ({}), which "
                            "nobody lets tick: {}. The input would have no effect. Leave its signal out, {}or export "
                            "the FMU with a clock that has an interval.",
                            spec.name, spec.source.value, v.name,
                            own.empty() ? std::string("unknown") : name_of(own.front()), why,
                            events               ? fmt::format("couple the clock, 'a.clock -> {}.{}', ", spec.name,
                                                 own.empty() ? "clock" : name_of(own.front()))
                                          : fmu.model_exchange ? "set 'interface: model-exchange', "
                                                 : ""));
        staying.push_back(v.name);
    }
    if (clocks.empty()) return {};
    return fmt::format(
        "fmu of '{}': clocks that do not tick, because {}: {}{}.", spec.name, why, name_list(clocks),
        staying.empty() ? std::string() : fmt::format(". These variables keep their values: {}", name_list(staying)));
}

std::string check_driven_parameters(const subsystem_spec& spec) {
    if (spec.fmu.driven.empty() || fmu_interface(spec) != fmi::kind::co_simulation) return {};
    const auto files = fmi::open_fmu(spec.path);
    std::vector<std::string> parameters;
    for (const text& named : spec.fmu.driven)
        if (const fmi::variable* v = files->description().find(named.value);
            v != nullptr && v->type != fmi::base_type::clock)
            parameters.push_back(named.value);
    if (parameters.empty()) return {};
    return fmt::format(
        "fmu of '{}': driven parameters are set at macro points; outputs that depend on them follow with the "
        "step that begins there, an output that is computed from {} alone too: it is one macro step late.",
        spec.name, name_list(parameters));
}

std::vector<declared_parameter> declared_parameters(const subsystem_spec& spec, std::size_t most) {
    const auto files = open_fmu_of(spec);
    const fmi::description& fmu = files->description();
    const auto names_it = [](const auto& list, const std::string& name) {
        return std::ranges::find(list, name, &text::value) != list.end();
    };
    std::vector<declared_parameter> result;
    for (const fmi::variable& v : fmu.variables) {
        if (result.size() == most) break;
        const bool number = fmi::is_float(v.type) || v.type == fmi::base_type::int32 ||
                            v.type == fmi::base_type::boolean || v.type == fmi::base_type::enumeration;
        if (v.causality != fmi::causality::parameter || v.start.empty() || !v.dimensions.empty() || !number) continue;
        if (std::ranges::find(spec.set, v.name, &setting::name) != spec.set.end()) continue;
        if (names_it(spec.fmu.outputs, v.name) || names_it(spec.fmu.driven, v.name)) continue;
        result.push_back({v.name, unit_of(fmu, v).to_si(start_value(v, 0, 0))});
    }
    return result;
}

std::vector<other_parameter> other_parameters(const std::vector<declared_parameter>& parameters,
                                              const subsystem_description& described, std::span<const double> y) {
    // Descriptions often cut digits.
    constexpr double share = 1e-3, least = 1e-6;
    std::vector<other_parameter> result;
    for (const output_variable& output : described.outputs) {
        const auto p = std::ranges::find(parameters, output.name, &declared_parameter::name);
        if (p == parameters.end()) continue;
        const double is = y[static_cast<std::size_t>(output.slot)], off = std::abs(is - p->value);
        if (off > least && off > share * std::max(std::abs(is), std::abs(p->value)))
            result.push_back({p->name, is, p->value});
    }
    return result;
}

std::vector<other_parameter> waiting_parameters(subsystem_spec spec, double start, double step,
                                                std::vector<other_parameter> others) {
    std::vector<declared_parameter> given;
    for (const other_parameter& p : others) {
        given.push_back({p.name, p.said});
        spec.set.push_back({p.name, {}, {text{fmt::format("{}", p.said), {}}}});
        spec.fmu.outputs.push_back({p.name, {}});
    }
    try {
        const std::unique_ptr<subsystem> fmu = make_subsystem(spec);
        const subsystem_description& d = fmu->describe();
        std::vector<double> u(static_cast<std::size_t>(d.input_count())), y(static_cast<std::size_t>(d.output_count()));
        for (const auto& input : d.inputs) std::fill_n(u.begin() + input.slot, input.size, input.start);
        std::vector<polynomial> inputs(u.size());
        for (std::size_t i = 0; i < u.size(); ++i) inputs[i].c[0] = u[i];
        fmu->expect({.step = step});
        fmu->initialise(start);
        fmu->outputs(u, y);
        fmu->advance({start, start + step, 0}, inputs, y);  // some convert what they were given on their way
        const auto still = other_parameters(given, d, y);
        std::erase_if(others, [&](const other_parameter& p) {
            return std::ranges::find(still, p.name, &other_parameter::name) != still.end();
        });
    } catch (const run_error&) {  // who cannot be asked is told of
    } catch (const user_error&) {
    }
    return others;
}

void check_fmu_step(const subsystem_spec& spec, double H) {
    if (fmu_interface(spec) != fmi::kind::co_simulation) return;
    check_tick_times(spec, fmi::open_fmu(spec.path)->description(), H);
    const double h = fmi::open_fmu(spec.path)->description().co_simulation->fixed_step;
    if (!(h > 0) || is_multiple(H, h)) return;
    const double below = std::max(1.0, std::floor(H / h)), above = std::max(1.0, std::ceil(H / h));
    throw user_error(
        spec.source.where,
        fmt::format(
            "subsystem '{}': fmu '{}' works in fixed steps of {} s, and the macro step {} s is no whole multiple "
            "of it. The nearest allowed: {}.",
            spec.name, spec.source.value, h, H,
            below == above ? fmt::format("{:.12g} s", below * h)
                           : fmt::format("{:.12g} s and {:.12g} s", below * h, above * h)));
}

std::string check_last_fmu_step(const subsystem_spec& spec, double H, double last, double end) {
    if (fmu_interface(spec) != fmi::kind::co_simulation) return {};
    // A whole one, but for the digits that times have there.
    if (std::abs(last - H) <= 4 * std::numeric_limits<double>::epsilon() * std::abs(end)) return {};
    const fmi::interface_description& offers = *fmi::open_fmu(spec.path)->description().co_simulation;
    const std::string finding = fmt::format(
        "subsystem '{}': the last macro step, to {} s, is {:.6g} s long instead of {} s", spec.name, end, last, H);
    const std::string way_out =
        fmt::format("Let the run end at {:.12g} s or {:.12g} s, or change the macro step", end - last, end - last + H);
    if (offers.fixed_step > 0 && !is_multiple(last, offers.fixed_step))
        throw user_error(
            spec.source.where,
            fmt::format("{}, which is no whole multiple of the fixed steps of {} s that fmu '{}' works in. {}.",
                        finding, offers.fixed_step, spec.source.value, way_out));
    if (offers.variable_step) return {};
    return fmt::format(
        "{}, and fmu '{}' does not say that it takes steps of different size "
        "(canHandleVariableCommunicationStepSize). {}, if it fails there.",
        finding, spec.source.value, way_out);
}

}  // namespace mdpcosim
