#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/fmu.hpp"
#include "assembly/fmu_scenario.hpp"
#include "core/json.hpp"
#include "fmu/component.hpp"
#include "fmu/ports.hpp"
#include "fmu/report.hpp"

namespace mdpcosim {

namespace {

constexpr std::size_t most_variables = 20;  ///< of one causality, unless all are asked for

/// An FMU as it would be used with each of its interfaces.
struct fmu_view {
    std::filesystem::path path;
    std::vector<std::string> platforms;
    bool sources = false;
    std::vector<fmu_model> models;  ///< co-simulation first
    std::vector<port_spec> proposed;

    const fmi::description& description() const { return models.front().description(); }
};

fmu_view look_into(const std::filesystem::path& path) {
    fmu_view view;
    view.path = path;
    const auto files = fmi::open_fmu(path);
    std::set<std::string> platforms;
    for (const std::string& entry : fmi::fmu_entries(path)) {
        view.sources = view.sources || entry.starts_with("sources/");
        if (const std::size_t end = entry.find('/', 9); entry.starts_with("binaries/") && end != std::string::npos)
            platforms.insert(entry.substr(9, end - 9));
    }
    view.platforms.assign(platforms.begin(), platforms.end());
    subsystem_spec spec;
    spec.name = fmu_subsystem_name(files->description());
    spec.kind = subsystem_spec::source_kind::fmu;
    spec.path = path;
    spec.source.value = path.filename().string();
    for (const char* interface : {"co-simulation", "model-exchange"}) {
        const bool exchange = std::string_view(interface) == "model-exchange";
        if (exchange ? !files->description().model_exchange : !files->description().co_simulation) continue;
        spec.fmu.interface.value = interface;
        view.models.push_back(read_fmu(spec));
    }
    if (view.models.empty()) read_fmu(spec);  // says that there is none
    view.proposed = propose_ports(view.description());
    return view;
}

const char* word(fmi::kind kind) { return kind == fmi::kind::co_simulation ? "co-simulation" : "model-exchange"; }

std::string with_unit(double value, const char* unit) { return fmt::format("{} {}", value, unit); }

std::string experiment_text(const fmi::default_experiment& e) {
    std::vector<std::string> parts;
    if (e.start) parts.push_back("start " + with_unit(*e.start, "s"));
    if (e.stop) parts.push_back("stop " + with_unit(*e.stop, "s"));
    if (e.step) parts.push_back("step " + with_unit(*e.step, "s"));
    if (e.tolerance) parts.push_back(fmt::format("tolerance {}", *e.tolerance));
    return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string platform_text(const fmu_view& view) {
    const std::string own = fmi::platform_name(view.description().version);
    const bool fits = std::find(view.platforms.begin(), view.platforms.end(), own) != view.platforms.end();
    std::string text = view.platforms.empty() ? "none" : fmt::format("{}", fmt::join(view.platforms, ", "));
    if (view.sources) text += " and sources";
    return text + (fits ? "" : fmt::format("; none for this machine ({}): it cannot be run here", own));
}

/// `Float64`, `Float64[3,n]` with the name of the structural parameter, `Enumeration level`.
std::string type_text(const fmi::description& fmu, const fmi::variable& v) {
    std::string text(name(v.type));
    std::vector<std::string> sizes;
    for (const auto& d : v.dimensions) {
        const auto parameter = std::find_if(fmu.variables.begin(), fmu.variables.end(), [&](const auto& x) {
            return d.parameter && x.reference == *d.parameter && x.alias_of < 0;
        });
        sizes.push_back(parameter == fmu.variables.end() ? std::to_string(d.size) : parameter->name);
    }
    if (!sizes.empty()) text += fmt::format("[{}]", fmt::join(sizes, ","));
    if (v.type == fmi::base_type::enumeration && !v.declared_type.empty()) text += " " + v.declared_type;
    return text;
}

std::string start_text(const fmi::variable& v) {
    if (v.start.empty()) return "";
    if (v.start.size() <= 4) return fmt::format("{}", fmt::join(v.start, " "));
    return fmt::format("{} {} {} ... ({})", v.start[0], v.start[1], v.start[2], v.start.size());
}

std::string one_line(std::string text, std::size_t most = 100) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    if (text.size() > most) {
        text.resize(most);
        while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
        text += "...";
    }
    return text;
}

struct causality_words {
    fmi::causality causality;
    const char* words;
};
constexpr causality_words sections[] = {{fmi::causality::input, "inputs"},
                                        {fmi::causality::output, "outputs"},
                                        {fmi::causality::parameter, "parameters"},
                                        {fmi::causality::structural_parameter, "structural parameters"},
                                        {fmi::causality::calculated_parameter, "calculated parameters"},
                                        {fmi::causality::local, "local variables"},
                                        {fmi::causality::independent, "independent variable"}};

void write_variables(std::string& out, const fmi::description& fmu, bool all) {
    for (const auto& [causality, words] : sections) {
        std::vector<std::array<std::string, 5>> rows;
        std::size_t count = 0;
        for (const auto& v : fmu.variables) {
            if (v.causality != causality) continue;
            if (++count > most_variables && !all) continue;
            const std::string alias =
                v.alias_of < 0 ? ""
                               : fmt::format("alias of {}{}", fmu.variables[static_cast<std::size_t>(v.alias_of)].name,
                                             v.description.empty() ? "" : "; ");
            rows.push_back(
                {v.name, type_text(fmu, v), v.unit, one_line(start_text(v), 40), alias + one_line(v.description)});
        }
        if (count == 0) continue;
        std::array<std::size_t, 4> width{4, 4, 4, 5};
        for (const auto& row : rows)
            for (std::size_t k = 0; k < width.size(); ++k) width[k] = std::max(width[k], row[k].size());
        out += fmt::format("\n{} {}\n", count, words);
        const auto line = [&](const auto& row) {
            std::string text = fmt::format("  {:<{}}  {:<{}}  {:<{}}  {:<{}}  {}", row[0], width[0], row[1], width[1],
                                           row[2], width[2], row[3], width[3], row[4]);
            text.erase(text.find_last_not_of(' ') + 1);
            out += text + "\n";
        };
        line(std::array<std::string, 5>{"name", "type", "unit", "start", "description"});
        for (const auto& row : rows) line(row);
        if (count > rows.size()) out += fmt::format("  ... and {} more; --all shows them\n", count - rows.size());
    }
}

/// What happens to the inputs, in the words of the contract of subsystems.
std::string input_text(const fmu_model& fmu) {
    std::map<int, std::vector<std::string>, std::greater<>> by_degree;
    for (const auto& u : fmu.layout.description.inputs) by_degree[u.max_degree].push_back(u.name);
    if (by_degree.empty()) return "none";
    std::vector<std::string> parts;
    for (const auto& [degree, names] : by_degree)
        parts.push_back(fmt::format(
            "{} as {}", by_degree.size() == 1 ? "all" : fmt::format("{}", names.size()),
            degree == 0 ? std::string("held values (degree 0)") : fmt::format("polynomials up to degree {}", degree)));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string step_text(const fmu_model& fmu) {
    if (fmu.kind == fmi::kind::model_exchange) return "any; a solver of ours integrates";
    if (fmu.offers().fixed_step > 0) return fmt::format("whole multiples of {} s", fmu.offers().fixed_step);
    return fmu.offers().variable_step ? "any" : "any, but the FMU cannot change it: steps it discards end the run";
}

std::vector<std::pair<std::string, std::string>> use_of(const fmu_model& fmu) {
    const auto& o = fmu.offers();
    std::vector<std::pair<std::string, std::string>> lines;
    lines.emplace_back("capabilities", fmu_capabilities(fmu));
    if (fmu.kind == fmi::kind::model_exchange)
        lines.emplace_back("size", fmt::format("{} states, {} event indicators", fmu.description().state_count(),
                                               fmu.description().event_indicator_count));
    lines.emplace_back("inputs", input_text(fmu));
    std::size_t rates = 0;
    for (const auto& y : fmu.layout.description.outputs) rates += y.rate_slot >= 0;
    if (rates > 0) lines.emplace_back("rates", fmt::format("known of {} outputs", rates));
    lines.emplace_back("macro step", step_text(fmu));
    lines.emplace_back("save/restore", o.state ? "yes" : "no: the FMU does not offer to get and set its state");
    lines.emplace_back("--monolithic", fmu.kind == fmi::kind::model_exchange ? "yes" : "no: it brings its own solver");
    if (o.once_per_process) lines.emplace_back("instances", "one per process; further ones need 'isolate: true'");
    if (o.needs_execution_tool) lines.emplace_back("needs", "the tool that exported it, installed on this machine");
    if (!fmu.layout.clocks.empty()) lines.emplace_back("clocks", fmt::format("{}", fmt::join(fmu.layout.clocks, ", ")));
    if (!fmu.layout.left_out.empty())
        lines.emplace_back("left out", fmt::format("{}", fmt::join(fmu.layout.left_out, ", ")));
    return lines;
}

void write_ports(std::string& out, const fmu_view& view) {
    const auto& ports = view.models.front().layout.description.ports;
    const auto from_terminal = [&](const port_spec& p) {
        return std::any_of(ports.begin(), ports.end(), [&](const port& q) { return q.name == p.name; });
    };
    std::vector<std::string> made, possible;
    for (const auto& p : view.proposed) (from_terminal(p) ? made : possible).push_back(port_text(p));
    if (!made.empty()) out += fmt::format("\nports, from its terminals\n  {}\n", fmt::join(made, "\n  "));
    if (!possible.empty())
        out += fmt::format("\nlikely ports, by units and names; to be written in the scenario\n  ports:\n    {}\n",
                           fmt::join(possible, "\n    "));
    if (made.empty() && possible.empty()) out += "\nports: none are likely; inputs and outputs take signals\n";
}

json number(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }

json variable_json(const fmi::description& fmu, const fmi::variable& v) {
    json entry{{"name", v.name},
               {"reference", v.reference},
               {"type", name(v.type)},
               {"causality", name(v.causality)},
               {"variability", name(v.variability)},
               {"unit", v.unit},
               {"display_unit", v.display_unit},
               {"start", v.start},
               {"description", v.description}};
    if (!v.dimensions.empty()) {
        for (const auto& d : v.dimensions) entry["dimensions"].push_back(d.size);
    }
    if (v.min) entry["min"] = *v.min;
    if (v.max) entry["max"] = *v.max;
    if (v.alias_of >= 0) entry["alias_of"] = fmu.variables[static_cast<std::size_t>(v.alias_of)].name;
    if (v.derivative_of >= 0) entry["derivative_of"] = fmu.variables[static_cast<std::size_t>(v.derivative_of)].name;
    return entry;
}

json interface_json(const fmu_model& fmu) {
    const auto& o = fmu.offers();
    json entry{{"model_identifier", o.model_identifier},
               {"needs_execution_tool", o.needs_execution_tool},
               {"once_per_process", o.once_per_process},
               {"save_restore", o.state},
               {"directional_derivatives", o.directional_derivatives}};
    if (fmu.kind == fmi::kind::co_simulation) {
        entry.update({{"variable_step", o.variable_step},
                      {"fixed_step", o.fixed_step > 0 ? json(o.fixed_step) : json(nullptr)},
                      {"output_derivatives", o.output_derivatives},
                      {"input_derivatives", o.input_derivatives},
                      {"intermediate_update", o.intermediate_update},
                      {"early_return", o.early_return},
                      {"event_mode", o.event_mode}});
    } else {
        entry.update({{"states", fmu.description().state_count()},
                      {"event_indicators", fmu.description().event_indicator_count}});
    }
    json degrees = json::object();
    for (const auto& u : fmu.layout.description.inputs) degrees[u.name] = u.max_degree;
    entry["input_degrees"] = std::move(degrees);
    entry["clocks"] = fmu.layout.clocks;
    entry["left_out"] = fmu.layout.left_out;
    return entry;
}

}  // namespace

std::string fmu_info_text(const std::filesystem::path& path, bool all) {
    const fmu_view view = look_into(path);
    const fmi::description& d = view.description();
    std::string out = fmt::format("{}: FMI {}, model '{}'\n", path.string(), d.version_text, d.model_name);
    const auto line = [&](const char* label, const std::string& text) {
        if (!text.empty()) out += fmt::format("  {:<18}  {}\n", label, one_line(text, all ? 100000 : 300));
    };
    line("description", d.text);
    line("made by", d.tool);
    line("date", d.date);
    line("author", d.author);
    line("version", d.model_version);
    line("copyright", d.copyright);
    line("license", d.license);
    line("platforms", platform_text(view));
    line("default experiment", experiment_text(d.experiment));
    if (!d.log_categories.empty()) line("log categories", fmt::format("{}", fmt::join(d.log_categories, ", ")));
    for (const fmu_model& model : view.models) {
        out += fmt::format("\ninterface {}{}\n", word(model.kind),
                           view.models.size() > 1 && &model == &view.models.front() ? " (used by default)" : "");
        for (const auto& [label, text] : use_of(model)) line(label.c_str(), text);
    }
    write_ports(out, view);
    write_variables(out, d, all);
    return out;
}

std::string fmu_info_json(const std::filesystem::path& path) {
    const fmu_view view = look_into(path);
    const fmi::description& d = view.description();
    json out{{"fmu", path.string()},
             {"fmi_version", d.version_text},
             {"model_name", d.model_name},
             {"token", d.token},
             {"description", d.text},
             {"tool", d.tool},
             {"date", d.date},
             {"author", d.author},
             {"version", d.model_version},
             {"copyright", d.copyright},
             {"license", d.license},
             {"platforms", view.platforms},
             {"sources", view.sources},
             {"default_experiment",
              {{"start", number(d.experiment.start)},
               {"stop", number(d.experiment.stop)},
               {"step", number(d.experiment.step)},
               {"tolerance", number(d.experiment.tolerance)}}},
             {"log_categories", d.log_categories}};
    out["interfaces"] = json::object();
    for (const fmu_model& model : view.models) out["interfaces"][word(model.kind)] = interface_json(model);
    out["ports"] = json::array();
    for (const auto& p : view.models.front().layout.description.ports)
        out["ports"].push_back({{"name", p.name}, {"kind", info(p.kind).name}});
    out["proposed_ports"] = json::array();
    for (const auto& p : view.proposed) {
        json variables = json::object();
        for (const auto& v : p.variables) variables[v.name] = v.values.front().value;
        out["proposed_ports"].push_back({{"name", p.name},
                                         {"kind", p.kind.value},
                                         {"causality", p.causality.empty() ? "takes-load" : p.causality.value},
                                         {"variables", std::move(variables)}});
    }
    out["variables"] = json::array();
    for (const auto& v : d.variables) out["variables"].push_back(variable_json(d, v));
    return out.dump(2) + "\n";
}

}  // namespace mdpcosim
