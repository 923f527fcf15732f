#include "assembly/fmu_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "assembly/ssp_scenario.hpp"
#include "core/suggest.hpp"
#include "fmi/archive.hpp"
#include "fmu/component.hpp"
#include "scenario/keys.hpp"
#include "subsystem/file_csv.hpp"
#include "subsystem/solver.hpp"

namespace mdpcosim {

namespace {

constexpr int default_steps = 500;

std::string input_name(const std::string& model) { return model == "input" ? "input_file" : "input"; }

subsystem_spec file_entry(const std::string& name, const std::filesystem::path& path) {
    subsystem_spec spec;
    spec.name = name;
    spec.kind = subsystem_spec::source_kind::file;
    spec.source = {path.string(), {intern("--input " + path.string()), 0, 0}};
    spec.file.path = path;
    return spec;
}

std::vector<std::string> input_names(const fmi::description& fmu) {
    std::vector<std::string> names;
    for (const auto& v : fmu.variables) {
        if (v.causality != fmi::causality::input) continue;
        if (v.dimensions.empty()) names.push_back(v.name);
        for (std::uint64_t k = 0; !v.dimensions.empty() && k < v.element_count(); ++k)
            names.push_back(fmt::format("{}[{}]", v.name, k));
    }
    return names;
}

/// Files for several FMUs, and results, have columns that this FMU does not know: those are left out, but not in silence.
void tell_others(scenario& s, const std::vector<std::string>& others, const fmi::description& fmu,
                 const location& where) {
    if (others.empty()) return;
    const std::vector<std::string> names = input_names(fmu);
    const std::string inputs = fmt::format("Its inputs: {}.{}", names.empty() ? std::string("none") : name_list(names),
                                           others.size() == 1 ? did_you_mean(others.front(), names) : "");
    if (s.signals.empty())
        throw user_error(
            where, fmt::format("no column is an input of the FMU; the file has: {}. {}", name_list(others), inputs));
    s.notes.push_back(fmt::format("{}: left out, since they are no inputs of the FMU: {}. {}", to_string(where),
                                  name_list(others), inputs));
}

/// An input, or a parameter that may change during a run; of an array the whole or one element.
bool can_be_driven(const fmi::description& fmu, const fmi::variable& v) {
    const bool value = v.type != fmi::base_type::binary && v.type != fmi::base_type::clock;
    return value && (v.causality == fmi::causality::input || why_not_driven(fmu, v).empty());
}

/// The columns of the CSV file, each to the input of its name.
void add_input(scenario& s, const fmi::description& fmu, const std::filesystem::path& path) {
    const std::string& model = s.subsystems.front().name;
    subsystem_spec file = file_entry(input_name(model), path);
    const csv_header header = read_csv_header(file);
    std::vector<std::string> others;
    for (std::size_t column = 0; column < header.names.size(); ++column) {
        const std::string& name = header.names[column];
        const fmu_element found = find_element(fmu, name);
        const fmi::variable* v =
            found.variable < 0 ? nullptr : &fmu.variables[static_cast<std::size_t>(found.variable)];
        if (v != nullptr && v->causality == fmi::causality::parameter && !can_be_driven(fmu, *v))
            throw user_error(file.source.where,
                             fmt::format("column '{}': '{}' {}", name, name, why_not_driven(fmu, *v)));
        if (v == nullptr || !can_be_driven(fmu, *v)) {
            others.push_back(name);
            file.file.kinds.push_back({name, {}, {{"skip", {}}}, false});
            continue;
        }
        signal_spec signal;
        signal.target.value = signal.name = fmt::format("{}.{}", model, name);
        signal_spec::term term;
        term.address.value = fmt::format("{}.{}", file.name, name);
        // A column that has a unit is in SI when it comes out of the file; others are in the FMU's unit.
        if (const fmu_unit unit = unit_of(fmu, *v); header.units[column].empty() && !unit.plain()) {
            term.gain = unit.factor;
            term.has_gain = true;
            signal.offset = unit.offset;
        }
        signal.terms.push_back(std::move(term));
        s.signals.push_back(std::move(signal));
    }
    tell_others(s, others, fmu, file.source.where);
    s.subsystems.push_back(std::move(file));
}

/// Variables of the FMU may be given without the subsystem in front.
std::vector<scenario_override> with_subsystem(std::vector<scenario_override> overrides, const fmi::description& fmu,
                                              const scenario& s) {
    for (scenario_override& change : overrides) {
        const std::string first = change.address.substr(0, change.address.find('.'));
        const bool setting = change.option.starts_with("--set ");
        const bool object =
            scenario_keys().find(first) != nullptr ||
            std::any_of(s.subsystems.begin(), s.subsystems.end(), [&](const auto& x) { return x.name == first; });
        const bool address = object && first.size() < change.address.size();
        if (setting && (find_element(fmu, change.address).variable >= 0 || !address))
            change.address = fmt::format("{}.{}", s.subsystems.front().name, change.address);
    }
    return overrides;
}

bool gives(const std::vector<scenario_override>& overrides, std::string_view address) {
    return std::any_of(overrides.begin(), overrides.end(), [&](const auto& o) { return o.address == address; });
}

/// In model exchange the tolerance of the default experiment is that of our solver.
void set_tolerance(subsystem_spec& spec, double tolerance) {
    if (!spec.solver.name.empty() && spec.solver.name.value != default_solver) return;
    const auto& options = spec.solver.options;
    if (std::any_of(options.begin(), options.end(), [](const auto& o) { return o.name == "rtol"; })) return;
    spec.solver.name.value = default_solver;
    spec.solver.options.push_back({"rtol", {}, {{fmt::format("{}", tolerance), {}}}, false});
}

}  // namespace

std::string fmu_subsystem_name(const fmi::description& fmu) {
    const auto& offered = fmu.co_simulation ? fmu.co_simulation : fmu.model_exchange;
    std::string name = offered ? offered->model_identifier : fmu.model_name;
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name.insert(0, "_");
    return name;
}

double fmu_macro_step(const fmi::description& fmu, fmi::kind kind, double span) {
    const double wanted = fmu.experiment.step.value_or(0);
    const double step = wanted > 0 ? std::min(wanted, span) : span / default_steps;
    const double fixed = kind == fmi::kind::co_simulation ? fmu.co_simulation->fixed_step : 0;
    return fixed > 0 ? std::max(1.0, std::round(step / fixed)) * fixed : step;
}

scenario fmu_scenario(const std::filesystem::path& path, const std::vector<scenario_override>& overrides,
                      const std::filesystem::path& input) {
    const auto files = fmi::open_fmu(path);
    const fmi::description& fmu = files->description();
    if (!fmu.experiment.stop && !gives(overrides, "time.end"))
        throw user_error(
            fmt::format("FMU '{}' says no stop time in its default experiment. Give one: --end 10.", path.string()));
    scenario s;
    s.time.start = fmu.experiment.start.value_or(0);
    s.time.end = fmu.experiment.stop.value_or(s.time.start + 1);
    s.time.step = s.time.end - s.time.start;  // known when the end is
    subsystem_spec entry;
    entry.name = fmu_subsystem_name(fmu);
    entry.kind = subsystem_spec::source_kind::fmu;
    entry.path = path;
    s.subsystems.push_back(std::move(entry));
    if (!input.empty()) add_input(s, fmu, input);

    // Settings from the command line are at home in the text of a scenario.
    scenario read = read_scenario_text(write_scenario(s), path.string(), {}, with_subsystem(overrides, fmu, s));
    read.path = path;
    read.notes = s.notes;
    subsystem_spec& own = read.subsystems.front();
    own.where = own.source.where = {};
    own.source.value = path.filename().string();
    const fmi::kind kind = fmu_interface(own);
    if (!gives(overrides, "time.step")) read.time.step = fmu_macro_step(fmu, kind, read.time.end - read.time.start);
    if (kind == fmi::kind::model_exchange && fmu.experiment.tolerance) set_tolerance(own, *fmu.experiment.tolerance);
    return read;
}

scenario load_scenario(const std::filesystem::path& path, const std::vector<scenario_override>& overrides,
                       const std::filesystem::path& input) {
    std::string ending = path.extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (ending == ".fmu") return fmu_scenario(path, overrides, input);
    if (!input.empty())
        throw user_error(
            fmt::format("--input {}: this belongs to 'run model.fmu'. In a scenario a 'file:' subsystem "
                        "and 'signals:' do the same, in an SSP a component of the type text/csv.",
                        input.string()));
    if (is_ssp(path)) return ssp_scenario(path, overrides);
    return read_scenario(path, overrides);
}

}  // namespace mdpcosim
