#include "fmu/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fmu/component.hpp"
#include "fmu/ports.hpp"

namespace mdpcosim {

namespace {

constexpr std::size_t most_shown = 8;

/// `a, b, ... and 3 more`
std::string some(std::vector<std::string> texts) {
    const std::size_t more = texts.size() > most_shown ? texts.size() - most_shown : 0;
    if (more > 0) texts.resize(most_shown), texts.push_back(fmt::format("... and {} more", more));
    return fmt::format("{}", fmt::join(texts, ", "));
}

std::string interface_text(const fmu_model& fmu) {
    const fmi::description& d = fmu.description();
    const bool both = d.co_simulation && d.model_exchange;
    const bool exchange = fmu.kind == fmi::kind::model_exchange;
    return fmt::format("{}{}{}", exchange ? "model-exchange" : "co-simulation",
                       both ? fmt::format(" ({} is offered, too)", exchange ? "co-simulation" : "model-exchange") : "",
                       d.tool.empty() ? "" : fmt::format(", made by {}", d.tool));
}

/// Every pair of units once, with an example: `deg = 0.0174533 rad (phi)`.
std::string conversion_text(const fmu_model& fmu) {
    std::map<std::string, std::pair<std::string, int>> seen;
    for (const auto* uses : {&fmu.layout.inputs, &fmu.layout.outputs})
        for (const fmu_use& use : *uses) {
            if (use.unit.plain() || use.derivative || use.unit.factor == use.scale) continue;
            const fmi::variable& v = fmu.description().variables[static_cast<std::size_t>(use.variable)];
            const std::string offset = use.unit.offset == 0 ? "" : fmt::format(" {:+.12g}", use.unit.offset);
            const std::string rule =
                use.unit.offset == 0
                    ? fmt::format("1 {} = {:.12g} {}", v.unit, use.unit.factor, use.unit.si)
                    : fmt::format("x {} = {:.12g} x{} {}", v.unit, use.unit.factor, offset, use.unit.si);
            auto& [example, count] = seen.try_emplace(rule, v.name, 0).first->second;
            ++count;
        }
    std::vector<std::string> texts;
    for (const auto& [rule, example] : seen)
        texts.push_back(fmt::format("{} ({}{})", rule, example.first,
                                    example.second > 1 ? fmt::format(" and {} more", example.second - 1) : ""));
    return some(std::move(texts));
}

/// `90 deg = 1.5708 rad`: what was written and, where that differs, the number that the FMU gets.
std::string setting_text(const fmu_model& fmu, const fmu_start& s, const setting& written) {
    std::vector<std::string> given;
    for (const auto& v : written.values) given.push_back(v.value);
    const fmi::variable& v = fmu.description().variables[static_cast<std::size_t>(s.variable)];
    std::string text = some(given);
    if (!s.texts.empty() || given.size() != 1 || s.numbers.size() != 1) return text;
    std::string number = fmt::format("{}", s.numbers.front());
    if (!v.unit.empty()) number += " " + v.unit;
    if (number == text || v.type == fmi::base_type::boolean) return text;
    return fmt::format("{} = {}", text, number);
}

}  // namespace

std::string fmu_capabilities(const fmu_model& fmu) {
    const fmi::interface_description& o = fmu.offers();
    std::vector<std::string> parts;
    const auto add = [&](bool offered, std::string text) {
        if (offered) parts.push_back(std::move(text));
    };
    add(o.state, "save/restore");
    add(o.directional_derivatives, "directional derivatives");
    if (fmu.kind == fmi::kind::co_simulation) {
        add(o.input_derivatives, "input derivatives");
        add(o.intermediate_update, "intermediate update");
        add(o.output_derivatives > 0, fmt::format("output derivatives up to order {}", o.output_derivatives));
        add(o.early_return, "early return");
        add(o.event_mode, "event mode");
        add(o.variable_step, "variable steps");
        add(o.fixed_step > 0, fmt::format("fixed internal step {} s", o.fixed_step));
    }
    add(o.once_per_process, "one instance per process");
    return parts.empty() ? "none beyond the compulsory" : fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::pair<std::string, std::string>> fmu_report(const subsystem_spec& spec) {
    const fmu_model fmu = read_fmu(spec);
    std::vector<std::pair<std::string, std::string>> lines;
    lines.emplace_back("interface", interface_text(fmu));
    lines.emplace_back("capabilities", fmu_capabilities(fmu));
    if (const std::string units = conversion_text(fmu); !units.empty()) lines.emplace_back("units", units);
    for (const setting& s : spec.set) {
        const fmu_element found = find_element(fmu.description(), s.name);
        const auto start = std::find_if(fmu.starts.begin(), fmu.starts.end(),
                                        [&](const auto& x) { return x.variable == found.variable; });
        lines.emplace_back("set " + s.name, setting_text(fmu, *start, s));
    }
    if (!fmu.layout.clocks.empty()) lines.emplace_back("clocks", some(fmu.layout.clocks));
    if (!fmu.layout.left_out.empty()) lines.emplace_back("left out", some(fmu.layout.left_out));
    if (fmu.layout.description.ports.empty())
        for (const port_spec& p : propose_ports(fmu.description())) lines.emplace_back("possible port", port_text(p));
    return lines;
}

}  // namespace mdpcosim
