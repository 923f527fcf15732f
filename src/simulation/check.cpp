#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "assembly/assembly.hpp"
#include "assembly/iteration.hpp"
#include "core/time_grid.hpp"
#include "core/units.hpp"
#include "fmu/report.hpp"
#include "results/progress.hpp"
#include "simulation/check.hpp"
#include "simulation/expectations.hpp"
#include "simulation/port_signs.hpp"
#include "simulation/run.hpp"
#include "simulation/simulation.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

namespace {

std::string slot_name(const auto& variables, int slot) {
    for (const auto& v : variables)
        if (slot >= v.slot && slot < v.slot + v.size) return element_name(v, slot);
    return "-";
}

std::string with_unit(const std::string& name, const std::string& unit) {
    return unit.empty() ? name : fmt::format("{} [{}]", name, unit);
}

/// `position [m] = (x, y, z), ...`, or no more than the names where the variables are the port's own.
std::string frame_texts(std::span<const frame_variable> frame, const std::vector<int>& slots, const auto& variables,
                        const port& p) {
    std::vector<std::string> texts;
    for (const auto& v : frame) {
        if (slots[static_cast<std::size_t>(v.first)] < 0) continue;
        std::vector<std::string> own;
        for (int k = v.first; k < v.first + v.size; ++k)
            own.push_back(slot_name(variables, slots[static_cast<std::size_t>(k)]));
        const bool same = own.front() == p.name + "." + frame_element_name(frame, v.first);
        texts.push_back(same ? v.name : fmt::format("{} = ({})", with_unit(v.name, v.unit), fmt::join(own, ", ")));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

/// `shaft  rotation  gives angle [rad], speed [rad/s], takes torque [N.m]`, with own variable names where they differ.
std::string port_line(const subsystem_description& d, const port& p) {
    const auto& words = info(p.kind);
    const bool takes_load = p.causality == causality::takes_load;
    if (p.kind == port_kind::frame)
        return fmt::format("    port {:<12} {:<12} gives {}, takes {}\n", p.name, words.name,
                           frame_texts(frame_motion_variables(), p.motion_slots, d.outputs, p),
                           frame_texts(frame_load_variables(), p.load_slots, d.inputs, p));
    std::vector<std::string> motion;
    for (std::size_t k = 0; k < 3; ++k) {
        if (p.motion[k] < 0) continue;
        const std::string variable = takes_load ? slot_name(d.outputs, p.motion[k]) : slot_name(d.inputs, p.motion[k]);
        const std::string own = variable == p.name + "." + words.motion[k] ? "" : fmt::format(" = {}", variable);
        motion.push_back(with_unit(words.motion[k], words.motion_unit[k]) + own);
    }
    const std::string load_variable = takes_load ? slot_name(d.inputs, p.load) : slot_name(d.outputs, p.load);
    std::string load = with_unit(words.load, words.load_unit) +
                       (load_variable == p.name + "." + words.load ? "" : fmt::format(" = {}", load_variable));
    if (p.load_integral >= 0) {
        const std::string variable = slot_name(d.outputs, p.load_integral);
        const std::string own = variable == p.name + "." + words.load_integral ? "" : fmt::format(" = {}", variable);
        load = with_unit(words.load_integral, words.load_integral_unit) + own + ", " + load;
    }
    const std::string motions = fmt::format("{}", fmt::join(motion, ", "));
    return fmt::format("    port {:<12} {:<12} gives {}, takes {}\n", p.name, words.name, takes_load ? motions : load,
                       takes_load ? load : motions);
}

bool in_port(const subsystem_description& d, int slot, bool input) {
    for (const auto& p : d.ports) {
        const bool load_is_input = p.causality == causality::takes_load;
        if (!input && p.load_integral == slot) return true;
        if (std::ranges::find(input ? p.load_slots : p.motion_slots, slot) !=
            (input ? p.load_slots : p.motion_slots).end())
            return true;
        if (input == load_is_input ? p.load == slot
                                   : std::find(p.motion.begin(), p.motion.end(), slot) != p.motion.end())
            return true;
    }
    return false;
}

void write_variables(std::string& out, const subsystem_description& d) {
    std::vector<std::string> inputs, outputs;
    for (const auto& v : d.inputs)
        if (!in_port(d, v.slot, true))
            inputs.push_back(with_unit(v.size == 1 ? v.name : fmt::format("{}[{}]", v.name, v.size), v.unit));
    for (const auto& v : d.outputs)
        if (!in_port(d, v.slot, false) && !v.name.starts_with("der("))
            outputs.push_back(with_unit(v.size == 1 ? v.name : fmt::format("{}[{}]", v.name, v.size), v.unit));
    const auto add = [](const std::vector<text_variable>& texts, std::vector<std::string>& to) {
        for (const auto& v : texts) to.push_back(fmt::format("{} ({})", v.name, text_kind(v.type)));
    };
    add(d.text_inputs, inputs);
    add(d.text_outputs, outputs);
    if (!inputs.empty()) out += fmt::format("    inputs            {}\n", fmt::join(inputs, ", "));
    if (!outputs.empty()) out += fmt::format("    outputs           {}\n", fmt::join(outputs, ", "));
}

/// `erk-5 (rtol = 1e-06, atol = 1e-09)`
std::string solver_text(const solver_spec& s) {
    std::vector<std::string> options;
    for (const auto& o : s.options) options.push_back(fmt::format("{} = {}", o.name, o.values.front().value));
    return options.empty() ? s.name.value : fmt::format("{} ({})", s.name.value, fmt::join(options, ", "));
}

/// The parameters as the program understands them: every conversion of units can be seen.
void write_settings(std::string& out, const subsystem_spec& spec, const subsystem_spec& full) {
    if (!full.solver.name.empty()) out += fmt::format("    solver            {}\n", solver_text(full.solver));
    if (full.sample)
        out += fmt::format("    sample            every {} s, first at start + {} s, outputs {} s later\n",
                           full.sample->time, full.sample->offset, full.sample->delay);
    if (spec.input_degree)
        out += fmt::format("    input-degree      {} (limit set in the scenario)\n", *spec.input_degree);
    if (spec.kind == subsystem_spec::source_kind::fmu) {
        for (const auto& [label, value] : fmu_report(spec)) out += fmt::format("    {:<17} {}\n", label, value);
        return;
    }
    // Of a program nobody else knows the parameters: those at their defaults are shown, too.
    const bool program = spec.kind == subsystem_spec::source_kind::program;
    if (spec.limit > 0) out += fmt::format("    limit             {} s for one macro step\n", spec.limit);
    for (const auto& s : program ? full.set : spec.set) {
        std::vector<std::string> values;
        for (const auto& v : s.values) {
            const auto q = parse_quantity(v.value);
            const std::string si = q && !q->unit.empty() ? si_unit(q->unit) : "";
            const bool converted = q && !si.empty() && si != q->unit;
            values.push_back(converted ? fmt::format("{} = {} {}", v.value, convert(q->value, q->unit, si), si)
                                       : v.value);
        }
        if (values.size() > 6) values.resize(6), values.emplace_back("...");
        const bool chosen = std::ranges::find(spec.set, s.name, &setting::name) != spec.set.end();
        out += fmt::format("    set {:<13} {}{}\n", s.name, fmt::join(values, ", "), chosen ? "" : " (default)");
    }
}

std::string sign_text(double factor) {
    if (factor == 1) return "+u";
    if (factor == -1) return "-u";
    return fmt::format("{}*u", factor);
}

void write_channels(std::string& out, const assembly& a, bool signals) {
    for (const auto& c : a.channels) {
        if (c.is_signal != signals || c.internal || c.equation > 0) continue;
        std::vector<std::string> ends;
        for (const auto& e : c.ends)
            ends.push_back(
                fmt::format("{} receives {} (degree {}{})", e.address, sign_text(e.factor), e.degree,
                            e.integrated.empty() ? "" : fmt::format(", its {} is integrated", e.integrated)));
        if (signals)
            out += fmt::format("  {} -> {} (degree {})\n", c.law, c.ends.front().address, c.ends.front().degree);
        else
            out += fmt::format("  {:<14} {}, u in {}\n                 {}\n", c.connection(), c.law, c.unit,
                               fmt::join(ends, ", "));
        out += fmt::format("                 extrapolation {} ({}{})\n", c.extrapolation, c.why_extrapolation,
                           c.F ? fmt::format(", F = {:.4g}", *c.F) : "");
        if (c.delay > 0) out += fmt::format("                 delay {} s\n", c.delay);
    }
}

}  // namespace

namespace {

/// Seconds with one worker, from a moment of it in memory; unknown where subsystems may have effects elsewhere, or do not start.
std::optional<double> expected_seconds(const scenario& s) {
    constexpr double enough = 0.2, worth_a_look = 1e5;  // s; steps of subsystems
    const auto steps = static_cast<double>(time_grid(s.time.start, s.time.end, s.time.step).steps());
    if (steps * static_cast<double>(s.subsystems.size()) < worth_a_look) return 0;
    if (!std::ranges::all_of(s.subsystems, &subsystem_spec::built_in)) return std::nullopt;
    try {
        simulation trial(s, {.workers = 1, .writable = false});
        trial.initialise();
        const auto begin = std::chrono::steady_clock::now();
        double passed = 0;
        while (!trial.done() && passed < enough) {
            trial.step();
            passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        }
        return passed * (s.time.end - s.time.start) / (trial.time() - s.time.start);
    } catch (const std::exception&) {  // told by 'run'
        return std::nullopt;
    }
}

/// Of a long run.
std::string outlook_line(const scenario& s, std::size_t columns) {
    constexpr double long_run = 10, much = 1e8, text_of_a_number = 19;
    const double numbers = static_cast<double>(most_rows(s.time, s.record)) * static_cast<double>(columns + 1);
    const double bytes = numbers * ((s.record.csv ? text_of_a_number : 0) + (s.record.hdf5 ? sizeof(double) : 0));
    const auto seconds = expected_seconds(s);
    if (seconds && *seconds < long_run && bytes < much) return {};
    if (!seconds && bytes < much) return {};
    return fmt::format("\nexpected: {}{} of results{}\n",
                       seconds ? fmt::format("{} with one worker, ", progress::duration(*seconds)) : "",
                       progress::size(bytes),
                       seconds ? "" : "; 'run' tells the time that it takes once a second has passed");
}

}  // namespace

std::string check(const scenario& s) {
    const simulation built(s, {.workers = 1, .watch = false});
    const assembly& a = built.parts();
    const scenario& full = built.resolved();
    const transport& subsystems = *a.system.subsystems;
    const step_control_spec& control = s.step_control;
    std::string out = fmt::format(
        "{}: {} s to {} s, {} {} s, method {}{}\n\nsubsystems\n", s.path.string(), s.time.start, s.time.end,
        control.given() ? "first macro step" : "macro step", s.time.step,
        solver_text({full.method, full.method_options}),
        control.given() ? fmt::format(", steps controlled with rtol {}, atol {} by '{}'", control.rtol, control.atol,
                                      control.estimate.empty() ? "trial" : control.estimate.value)
                        : "");
    const auto about = a.chosen_method->about_subsystems(a.system);
    for (std::size_t i = 0; i < subsystems.size(); ++i) {
        const auto& d = subsystems.describe(subsystem_index(i));
        out += fmt::format("  {:<14} {}\n", subsystems.name(subsystem_index(i)), d.type);
        for (const auto& p : d.ports) out += port_line(d, p);
        write_variables(out, d);
        write_settings(out, s.subsystems[i], full.subsystems[i]);
        if (!about.empty() && !about[i].empty()) out += fmt::format("    {}\n", about[i]);
    }
    const bool nodes = std::any_of(a.channels.begin(), a.channels.end(), [](const auto& c) { return c.is_node; });
    if (!s.connections.empty())
        out += fmt::format("\nconnections: u = law(first - second){}\n", nodes ? ", at a node u = law(sum)" : "");
    write_channels(out, a, false);
    if (!s.signals.empty()) out += "\nsignals\n";
    write_channels(out, a, true);
    for (const auto& t : a.text_signals)
        out += fmt::format("  {} -> {} ({}, given at macro points)\n", t.from, t.to, t.type);
    if (!a.system.bonds.empty()) out += "\nbonds: the power that one side receives is what the other gives\n";
    for (const auto& b : a.system.bonds) {
        const auto& flow = a.channels[b.flow.value()];
        const auto& effort = a.channels[b.effort.value()];
        out += fmt::format("  {:<14} {} -> {}, back {} -> {}; {}\n", b.name, flow.law, flow.ends.front().address,
                           effort.law, effort.ends.front().address,
                           b.corrected ? "what a step misses is given in the next one" : "watched");
    }
    for (const auto& loop : a.system.loops)
        out += fmt::format("\nalgebraic loop {}\n  solved at the start and at every macro point by {} for {}\n",
                           loop.path(), name_of(loop.options().algorithm),
                           fmt::join(variables_of(loop, a.system.coupling), ", "));
    if (s.iteration.given && a.system.loops.empty()) out += "\niteration: there are no algebraic loops\n";
    out += fmt::format("\nreference (--monolithic): {}\n", solver_text(full.reference.solver));
    out +=
        fmt::format("\nrecorded {}: {} columns\n",
                    s.record.every ? fmt::format("every {} s", *s.record.every) : "every macro step", a.columns.size());
    for (std::size_t i = 0; i < a.columns.size() && i < 40; ++i)
        out += fmt::format("  {}\n", with_unit(a.columns[i].name, a.columns[i].unit));
    if (a.columns.size() > 40) out += fmt::format("  ... and {} more\n", a.columns.size() - 40);
    out += outlook_line(s, a.columns.size());
    if (const expectations expected(s, a.columns); !expected.empty())
        out += fmt::format("\nexpected: {} of the results\n", expected.count());
    for (const auto& note : a.notes) out += fmt::format("\nnote: {}\n", note);
    const auto wanted = [](const subsystem_spec& entry) {
        return entry.kind != subsystem_spec::source_kind::model && entry.kind != subsystem_spec::source_kind::program;
    };
    const auto reversed = reversed_ports(full, coupled_ports(s, wanted));
    std::ranges::for_each(reversed, refuse_turned);
    for (const reversed_port& port : reversed) out += fmt::format("\nwarning: {}: {}.\n", port.text, way_to_turn(port));
    return out;
}

}  // namespace mdpcosim
