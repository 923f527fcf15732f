#include <fmt/format.h>

#include <algorithm>

#include "scenario/read.hpp"

namespace mdpcosim {

namespace {

std::string in_quotes(const std::string& value) {
    std::string text = "\"";
    for (const char c : value) {
        if (c == '"' || c == '\\') text += '\\';
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            text += c;
    }
    return text + '"';
}

/// A scalar that reads back as the same text; quoted where YAML would see something else in it.
std::string scalar(const std::string& value) {
    if (value.empty() || value == "~" || value == "null" || value == "Null" || value == "NULL") return in_quotes(value);
    const bool control = std::any_of(value.begin(), value.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    const bool number = value.find_first_of("0123456789") <= 1;  // a '-' in front of it is a sign
    const bool special = value.find_first_of(":#{}[],&*!|>'\"%@`\\") != std::string::npos || value.front() == ' ' ||
                         value.back() == ' ' || value.front() == '?' || value.front() == '=' ||
                         (value.front() == '-' && !number);
    return control || special ? in_quotes(value) : value;
}

std::string value_of(const setting& s) {
    if (!s.list) return scalar(s.values.front().value);
    std::vector<std::string> items;
    for (const auto& value : s.values) items.push_back(scalar(value.value));
    return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string flow_map(const std::vector<setting>& settings) {
    std::vector<std::string> items;
    for (const auto& s : settings) items.push_back(fmt::format("{}: {}", scalar(s.name), value_of(s)));
    return fmt::format("{{{}}}", fmt::join(items, ", "));
}

std::string flow_solver(const solver_spec& s) {
    std::vector<setting> entries;
    if (!s.name.empty()) entries.push_back({"name", {}, {s.name}, false});
    entries.insert(entries.end(), s.options.begin(), s.options.end());
    return flow_map(entries);
}

std::string flow_extrapolation(const extrapolation_spec& e) {
    if (e.F) return fmt::format("{{name: {}, F: {}}}", scalar(e.name.value), *e.F);
    if (!e.degree) return scalar(e.name.value);
    return fmt::format("{{degree: {}, a: [{}], b: [{}], continuous: {}}}", *e.degree, fmt::join(e.a, ", "),
                       fmt::join(e.b, ", "), e.continuous);
}

void write_block(std::string& out, const char* key, const std::vector<setting>& settings, int indent) {
    if (settings.empty()) return;
    out += fmt::format("{:{}}{}:\n", "", indent, key);
    for (const auto& s : settings) out += fmt::format("{:{}}{}: {}\n", "", indent + 2, scalar(s.name), value_of(s));
}

void write_ode(std::string& out, const ode_spec& ode) {
    out += "    ode:\n";
    write_block(out, "parameters", ode.parameters, 6);
    write_block(out, "states", ode.states, 6);
    write_block(out, "algebraic", ode.algebraic, 6);
    write_block(out, "inputs", ode.inputs, 6);
    write_block(out, "equations", ode.equations, 6);
    if (!ode.outputs.empty()) out += "      outputs:\n";
    for (const auto& o : ode.outputs) {
        const std::string unit = o.unit.empty() ? "" : fmt::format(", unit: {}", scalar(o.unit.value));
        out += fmt::format("        {}: {{value: {}{}}}\n", scalar(o.name), scalar(o.expression.value), unit);
    }
    if (!ode.events.empty()) out += "      events:\n";
    for (const auto& e : ode.events)
        out += fmt::format("        - {{when: {}, direction: {}, set: {}}}\n", scalar(e.when.value),
                           e.direction.empty() ? "both" : scalar(e.direction.value), flow_map(e.set));
}

void write_fmu(std::string& out, const subsystem_spec& s) {
    const auto list = [&](const char* key, const std::vector<text>& values) {
        if (!values.empty()) out += fmt::format("    {}: {}\n", key, value_of({key, {}, values, true}));
    };
    out += fmt::format("    fmu: {}\n", scalar(std::filesystem::absolute(s.path).lexically_normal().string()));
    if (!s.fmu.interface.empty()) out += fmt::format("    interface: {}\n", scalar(s.fmu.interface.value));
    if (s.fmu.isolate) out += "    isolate: true\n";
    if (s.fmu.tolerance) out += fmt::format("    tolerance: {}\n", *s.fmu.tolerance);
    list("outputs", s.fmu.outputs);
    list("log", s.fmu.log);
}

/// The words stay as they were, so the folder that they start from is written out.
void write_program(std::string& out, const program_spec& program) {
    std::vector<text> words;
    for (const auto& word : program.command) words.push_back({word, {}});
    out += fmt::format("    program: {}\n    folder: {}\n", value_of({"program", {}, words, true}),
                       scalar(std::filesystem::absolute(program.folder).lexically_normal().string()));
}

void write_scene(std::string& out, const std::vector<scene_shape_spec>& scene) {
    const auto list = [](const std::vector<text>& values) { return value_of({"", {}, values, true}); };
    if (!scene.empty()) out += "    scene:\n";
    for (const auto& shape : scene) {
        std::vector<std::string> points, entries;
        for (const auto& point : shape.points) points.push_back(list(point));
        entries.push_back(fmt::format("{}: {}", shape.kind.value,
                                      points.size() == 1 ? points[0] : fmt::format("[{}]", fmt::join(points, ", "))));
        if (!shape.size.empty()) entries.push_back("size: " + list(shape.size));
        if (shape.rotation.size() == 1) entries.push_back("angle: " + scalar(shape.rotation[0].value));
        if (shape.rotation.size() == 4) entries.push_back("quaternion: " + list(shape.rotation));
        if (!shape.port.empty()) entries.push_back("port: " + scalar(shape.port.value));
        out += fmt::format("      - {{{}}}\n", fmt::join(entries, ", "));
    }
}

void write_subsystem(std::string& out, const subsystem_spec& s) {
    out += fmt::format("  {}:\n", scalar(s.name));
    switch (s.kind) {
        case subsystem_spec::source_kind::model:
            out += fmt::format("    model: {}\n", scalar(s.source.value));
            break;
        case subsystem_spec::source_kind::ode:
            write_ode(out, s.ode);
            break;
        case subsystem_spec::source_kind::plugin:
            out +=
                fmt::format("    plugin: {}\n", scalar(std::filesystem::absolute(s.path).lexically_normal().string()));
            break;
        case subsystem_spec::source_kind::fmu:
            write_fmu(out, s);
            break;
        case subsystem_spec::source_kind::program:
            write_program(out, s.program);
            break;
        case subsystem_spec::source_kind::file:
            out += fmt::format("    file: {}\n", scalar(std::filesystem::absolute(s.file.path).string()));
            if (!s.file.units.empty()) out += fmt::format("    units: {}\n", flow_map(s.file.units));
            if (!s.file.interpolation.empty())
                out += fmt::format("    interpolation: {}\n", scalar(s.file.interpolation.value));
            if (!s.file.outside.empty()) out += fmt::format("    outside: {}\n", scalar(s.file.outside.value));
            break;
    }
    if (s.limit > 0) out += fmt::format("    limit: {} s\n", s.limit);
    if (s.replicas > 0) out += fmt::format("    replicas: {}\n", s.replicas);
    if (!s.set.empty()) out += fmt::format("    set: {}\n", flow_map(s.set));
    if (!s.solver.name.empty() || !s.solver.options.empty())
        out += fmt::format("    solver: {}\n", flow_solver(s.solver));
    if (s.sample)
        out += fmt::format("    sample: {{time: {} s, offset: {} s, delay: {} s}}\n", s.sample->time, s.sample->offset,
                           s.sample->delay);
    if (s.step.by_solver) out += "    step: solver\n";
    if (s.step.value) out += fmt::format("    step: {} s\n", *s.step.value);
    if (s.input_degree) out += fmt::format("    input-degree: {}\n", *s.input_degree);
    if (!s.inertia.empty()) out += fmt::format("    inertia: {}\n", flow_map(s.inertia));
    if (!s.ports.empty()) out += "    ports:\n";
    for (const auto& port : s.ports) {
        std::vector<setting> entries{{"kind", {}, {port.kind}, false}};
        if (!port.causality.empty()) entries.push_back({"causality", {}, {port.causality}, false});
        entries.insert(entries.end(), port.variables.begin(), port.variables.end());
        out += fmt::format("      {}: {}\n", scalar(port.name), flow_map(entries));
    }
    write_scene(out, s.scene);
}

std::string signal_text(const signal_spec& s) {
    std::string sum;
    for (const auto& term : s.terms) {
        if (!sum.empty()) sum += " + ";
        const std::string unit = term.gain_unit.empty() ? "" : " " + term.gain_unit;
        sum += term.has_gain ? fmt::format("{}{}*{}", term.gain, unit, term.address.value) : term.address.value;
    }
    if (s.offset != 0 || !s.offset_unit.empty() || sum.empty())
        sum +=
            fmt::format("{}{}{}", sum.empty() ? "" : " + ", s.offset, s.offset_unit.empty() ? "" : " " + s.offset_unit);
    return fmt::format("{} -> {}", sum, s.target.value);
}

void write_couplings(std::string& out, const scenario& s) {
    if (!s.connections.empty()) out += "connections:\n";
    for (const auto& c : s.connections) {
        std::vector<std::string> ports;
        for (const auto& port : c.between) ports.push_back(scalar(port.value));
        out += fmt::format("  {}:\n    {}: {}\n    between: [{}]\n", scalar(c.name), c.is_joint() ? "joint" : "law",
                           scalar(c.is_joint() ? c.joint.value : c.law.value), fmt::join(ports, ", "));
        for (const auto& p : c.parameters) out += fmt::format("    {}: {}\n", scalar(p.name), value_of(p));
        if (c.extrapolation.given()) out += fmt::format("    extrapolation: {}\n", flow_extrapolation(c.extrapolation));
        if (c.delay.value > 0) out += fmt::format("    delay: {} s\n", c.delay.value);
    }
    if (!s.signals.empty()) out += "signals:\n";
    for (const auto& signal : s.signals) {
        out += fmt::format("  - connect: {}\n", in_quotes(signal_text(signal)));
        if (signal.name != signal.target.value) out += fmt::format("    name: {}\n", scalar(signal.name));
        if (signal.extrapolation.given())
            out += fmt::format("    extrapolation: {}\n", flow_extrapolation(signal.extrapolation));
        if (signal.delay.value > 0) out += fmt::format("    delay: {} s\n", signal.delay.value);
    }
}

}  // namespace

static std::string placement_text(const placement_spec& p) {
    std::vector<std::string> groups, cores;
    for (const auto& group : p.groups) {
        std::vector<std::string> names;
        for (const auto& name : group) names.push_back(scalar(name.value));
        groups.push_back(fmt::format("[{}]", fmt::join(names, ", ")));
    }
    for (const auto& c : p.cores) cores.push_back(fmt::format("{}: {}", scalar(c.name), value_of(c)));
    std::string out;
    if (!groups.empty()) out += fmt::format("  groups: [{}]\n", fmt::join(groups, ", "));
    if (!cores.empty()) out += fmt::format("  cores: {{{}}}\n", fmt::join(cores, ", "));
    return out.empty() ? out : "placement:\n" + out;
}

static std::string step_control_text(const step_control_spec& c) {
    if (!c.given()) return {};
    std::string out = fmt::format("step-control: {{rtol: {}, atol: {}, atol-rate: {}", c.rtol, c.atol, c.atol_rate);
    if (!c.estimate.empty()) out += fmt::format(", estimate: {}", c.estimate.value);
    if (!c.level.empty()) out += fmt::format(", level: {}", c.level.value);
    if (c.smallest) out += fmt::format(", smallest: {} s", *c.smallest);
    if (c.largest) out += fmt::format(", largest: {} s", *c.largest);
    return out + "}\n";
}

std::string write_scenario(const scenario& s) {
    std::string out = "mdpcosim: 1\n";
    write_block(out, "let", s.let, 0);
    out += fmt::format("time: {{start: {} s, end: {} s, step: {} s}}\n", s.time.start, s.time.end, s.time.step);
    const text method = s.method.empty() ? text{"explicit", {}} : s.method;
    out += fmt::format("method: {}\n",
                       s.method_options.empty() ? scalar(method.value) : flow_solver({method, s.method_options}));
    if (s.extrapolation.given()) out += fmt::format("extrapolation: {}\n", flow_extrapolation(s.extrapolation));
    if (!s.order.names.empty()) out += fmt::format("order: {}\n", value_of({"order", {}, s.order.names, true}));
    out += "subsystems:\n";
    for (const auto& subsystem : s.subsystems) write_subsystem(out, subsystem);
    write_couplings(out, s);
    std::vector<std::string> record;
    if (s.record.every) record.push_back(fmt::format("every: {} s", *s.record.every));
    if (!s.record.only.empty()) {
        std::vector<std::string> patterns;
        for (const auto& pattern : s.record.only) patterns.push_back(scalar(pattern.value));
        record.push_back(fmt::format("only: [{}]", fmt::join(patterns, ", ")));
    }
    if (s.iteration.given) out += fmt::format("iteration: {}\n", flow_map(s.iteration.options));
    out += step_control_text(s.step_control);
    out += placement_text(s.placement);
    if (!s.monitor.divergence.empty()) out += fmt::format("monitor: {{divergence: {}}}\n", s.monitor.divergence.value);
    if (!record.empty()) out += fmt::format("record: {{{}}}\n", fmt::join(record, ", "));
    if (!s.reference.solver.name.empty() || !s.reference.solver.options.empty())
        out += fmt::format("reference: {{solver: {}}}\n", flow_solver(s.reference.solver));
    return out;
}

}  // namespace mdpcosim
