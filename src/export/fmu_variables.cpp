#include "export/fmu_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "core/suggest.hpp"
#include "core/units.hpp"
#include "fmi/archive.hpp"
#include "fmu/layout.hpp"
#include "fmu/units.hpp"

namespace mdpcosim {

namespace {

using role = exported_variable::role;

struct si_value {
    double value = 0;
    std::string unit;
};

/// Nothing for what is no number.
std::optional<si_value> in_si(const std::string& text) {
    const auto q = parse_quantity(text);
    if (!q) return {};
    if (q->unit.empty()) return si_value{q->value, {}};
    try {
        const std::string unit = si_unit(q->unit);
        return si_value{convert(q->value, q->unit, unit), unit};
    } catch (const unit_error&) {
        return {};
    }
}

/// What a subsystem's parameter has while nobody sets it.
std::optional<si_value> value_of(const subsystem_spec& spec, const tunable_parameter& p) {
    for (const auto* settings : {&spec.set, &spec.ode.parameters, &spec.ode.states})
        for (const setting& given : *settings)
            if ((given.name == p.name || (!p.symbol.empty() && given.name == p.symbol)) && given.values.size() == 1)
                return in_si(given.values.front().value);
    if (spec.kind != subsystem_spec::source_kind::fmu) return {};
    const auto files = fmi::open_fmu(spec.path);
    const fmu_element found = find_element(files->description(), p.name);
    if (found.variable < 0) return {};
    const fmi::variable& v = files->description().variables[static_cast<std::size_t>(found.variable)];
    double number = 0;
    if (!fmi::is_float(v.type) || v.start.size() != 1) return {};
    const std::string& text = v.start.front();
    if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) return {};
    const fmu_unit unit = unit_of(files->description(), v);
    return si_value{unit.to_si(number), unit.si};
}

class variable_list {
   public:
    variable_list(const simulation& system, std::vector<std::string>& notes)
        : parts_(system.parts()), resolved_(system.resolved()), notes_(notes) {}

    std::vector<described_variable> make() {
        for (const recorded_column& column : parts_.columns) add_output(column);
        if (all_.empty())
            throw user_error(
                fmt::format("{}: nothing that an FMU could show is recorded. Name outputs under 'record: {{only: "
                            "[...]}}', or leave that out.",
                            resolved_.path.string()));
        for (std::size_t i = 0; i < subsystems().size(); ++i) add_inputs(subsystem_index(i));
        for (std::size_t i = 0; i < subsystems().size(); ++i) add_parameters(subsystem_index(i));
        if (!unknown_.empty())
            notes_.push_back(
                fmt::format("no parameters of the FMU, as they have no number to begin with: {}", name_list(unknown_)));
        check_names();
        return std::move(all_);
    }

   private:
    const transport& subsystems() const { return *parts_.system.subsystems; }

    void add_output(const recorded_column& column) {
        using source = recorded_column::source;
        described_variable made;
        made.name = column.name;
        made.unit = column.unit;
        made.it.address = column.name;
        if (column.from == source::micro_steps) {
            notes_.push_back(fmt::format("'{}' is no output of the FMU: it counts work", column.name));
            return;
        }
        if (column.from == source::coupling) {
            const channel_report& channel = parts_.channels[column.index];
            made.it.address = channel.name + ".u";
            made.description =
                fmt::format("{} '{}'", channel.is_signal ? "signal" : "connection", channel.connection());
        }
        if (column.from == source::output)
            for (std::size_t i = 0; i < subsystems().size(); ++i) {
                const auto slot =
                    static_cast<int>(column.index) - static_cast<int>(subsystems().output_offset(subsystem_index(i)));
                for (const auto& y : subsystems().describe(subsystem_index(i)).outputs) {
                    if (slot < y.slot || slot >= y.slot + y.size) continue;
                    made.it.type = y.type;
                    made.description = y.description;
                    made.follows_inputs = !y.direct.empty();
                }
            }
        all_.push_back(std::move(made));
    }

    void add_inputs(subsystem_index s) {
        const auto& d = subsystems().describe(s);
        for (const auto& u : d.inputs)
            for (int slot = u.slot; slot < u.slot + u.size; ++slot) {
                const input_slot global(subsystems().input_offset(s) + static_cast<std::size_t>(slot));
                if (u.clock || parts_.system.coupling.is_driven(global)) continue;
                described_variable made;
                made.it.what = role::input;
                made.it.type = u.type;
                made.it.start = u.start;
                made.name = made.it.address = subsystems().name(s) + "." + element_name(u, slot);
                made.unit = u.unit;
                made.description = u.description;
                all_.push_back(std::move(made));
            }
        for (const auto& text : d.text_inputs)
            if (!parts_.system.texts.is_driven(s, static_cast<int>(&text - d.text_inputs.data())))
                notes_.push_back(fmt::format("'{}.{}' is no input of the FMU: it takes a {}", subsystems().name(s),
                                             text.name, text_kind(text.type)));
    }

    void add_parameters(subsystem_index s) {
        for (const tunable_parameter& p : subsystems().offers(s).parameters) {
            const std::string address = subsystems().name(s) + "." + p.name;
            // Of a state: its own name is an output's.
            const bool of_state =
                std::ranges::count(resolved_.subsystems[s.value()].ode.states, p.name, &setting::name);
            const bool taken = std::ranges::count(all_, address, &described_variable::name);
            const std::string name = address + (of_state ? ".start" : taken ? ".parameter" : "");
            const auto start = value_of(resolved_.subsystems[s.value()], p);
            if (!start) {
                unknown_.push_back(name);
                continue;
            }
            described_variable made;
            made.it.what = p.between_steps ? role::tunable : role::parameter;
            made.it.start = start->value;
            made.name = name;
            made.it.address = address;
            made.unit = start->unit;
            all_.push_back(std::move(made));
        }
    }

    void check_names() const {
        std::map<std::string, const described_variable*> names;
        for (const auto& v : all_) {
            if (const std::string why = why_no_fmi_name(v.name); !why.empty())
                throw user_error(
                    fmt::format("{}: FMI does not allow the name '{}' of a variable: {}. Rename it in the scenario.",
                                resolved_.path.string(), v.name, why));
            if (!names.emplace(v.name, &v).second)
                throw user_error(fmt::format(
                    "{}: two variables of the FMU would be called '{}'. Record only one of them ('record: {{only: "
                    "[...]}}'), or rename the subsystem.",
                    resolved_.path.string(), v.name));
        }
    }

    const assembly& parts_;
    const scenario& resolved_;
    std::vector<std::string>& notes_;
    std::vector<described_variable> all_;
    std::vector<std::string> unknown_;
};

}  // namespace

std::vector<described_variable> described_variables(const simulation& system, std::vector<std::string>& notes) {
    return variable_list(system, notes).make();
}

}  // namespace mdpcosim
