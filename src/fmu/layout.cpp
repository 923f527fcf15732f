#include "fmu/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "core/suggest.hpp"
#include "core/units.hpp"
#include "fmu/clocks.hpp"
#include "fmu/ports.hpp"
#include "fmu/sensitivities.hpp"
#include "fmu/structure.hpp"
#include "subsystem/port_resolver.hpp"

namespace mdpcosim {

namespace {

variable_type type_of(fmi::base_type type) {
    if (fmi::is_float(type)) return variable_type::real;
    return type == fmi::base_type::boolean ? variable_type::boolean : variable_type::integer;
}

bool is_number(fmi::base_type type) { return type < fmi::base_type::string; }

class fmu_layout_builder final : public port_variables {
   public:
    fmu_layout_builder(const fmi::description& fmu, fmi::kind kind, const subsystem_spec& spec,
                       const std::vector<fmu_start>& starts)
        : fmu_(fmu),
          kind_(kind),
          spec_(spec),
          starts_(starts),
          offers_(kind == fmi::kind::co_simulation ? *fmu.co_simulation : *fmu.model_exchange),
          structure_(fmu) {}

    fmu_layout build() {
        result_.description.type = fmt::format("fmu {} (FMI {} {})", spec_.path.filename().string(), name(fmu_.version),
                                               kind_ == fmi::kind::co_simulation ? "co-simulation" : "model exchange");
        for (std::size_t i = 0; i < fmu_.variables.size(); ++i)
            if (is_own(fmu_.variables[i], fmi::causality::input)) add_input(static_cast<int>(i));
        check_continuous();
        check_exact();
        for (const text& named : spec_.fmu.driven) add_driven(named);
        for (std::size_t i = 0; i < fmu_.variables.size(); ++i)
            if (is_own(fmu_.variables[i], fmi::causality::output)) add_output(static_cast<int>(i));
        for (const text& wanted : spec_.fmu.outputs) add_wanted(wanted);
        std::vector<port> ports = resolve_ports(spec_.ports, object(), *this);
        for (port& p : terminal_ports(fmu_, spec_.ports, *this)) ports.push_back(std::move(p));
        const std::size_t own = result_.outputs.size();
        for (std::size_t i = 0; i < own; ++i)
            if (result_.outputs[i].scale == 1) find_rate(static_cast<int>(i), false);
        for (port& p : ports) add_port(std::move(p));
        for (const fmu_use& use : result_.outputs)
            result_.silent.push_back(kind_ == fmi::kind::co_simulation && !structure_.direct_inputs(use.variable));
        const fmu_sensitivities derivatives(fmu_, offers_, result_);
        for (auto& y : result_.description.outputs) y.rate_sensitivities = derivatives.knows(y.slot);
        return std::move(result_);
    }

    int find_input(const std::string& name) override {
        const auto scaled = read_scaled(name);
        if (!scaled) return slot_of(name, input_slots_);
        if (const auto known = scaled_inputs_.find(name); known != scaled_inputs_.end()) return known->second;
        const int slot = slot_of(scaled->name, input_slots_);
        if (slot < 0 || result_.inputs[static_cast<std::size_t>(slot)].scale != 1) return -1;
        scale(result_.inputs[static_cast<std::size_t>(slot)], scaled->factor);
        input_at(slot).start *= scaled->factor;
        input_at(slot).name = name;
        return scaled_inputs_[name] = slot;
    }

    int find_output(const std::string& name) override {
        if (const auto scaled = read_scaled(name)) {
            const int of = find_output(scaled->name);
            return of < 0 ? -1 : scaled_output(of, scaled->factor);
        }
        if (const int known = slot_of(name, output_slots_); known >= 0) return known;
        const fmu_element wanted = find_element(fmu_, name);
        if (wanted.variable < 0 || wanted.element < 0) return -1;
        const fmi::variable& v = at(wanted.variable);
        const bool readable = v.causality == fmi::causality::output || v.causality == fmi::causality::local;
        if (!readable || !fmi::is_float(v.type)) return -1;
        add_output(wanted.variable);
        return slot_of(name, output_slots_);
    }

    std::string& input_unit(int slot) override { return input_at(slot).unit; }
    std::string& output_unit(int slot) override { return output_at(slot).unit; }

    std::string what_is(const std::string& name) const override {
        const fmu_element found = find_element(fmu_, name);
        if (found.variable < 0) return {};
        const fmi::variable& v = at(found.variable);
        const bool vowel = std::string("aeiou").find(fmi::name(v.causality).front()) != std::string::npos;
        std::string text = fmt::format("{} {}", vowel ? "an" : "a", fmi::name(v.causality));
        if (!fmi::is_float(v.type)) text += fmt::format(" of type {}", fmi::name(v.type));
        if (found.element < 0) text += fmt::format(" with {} elements", v.element_count());
        return text;
    }

    std::vector<std::string> input_names() const override {
        std::vector<std::string> names;
        for (const auto& v : result_.description.inputs) names.push_back(v.name);
        return names;
    }

    std::vector<std::string> output_names() const override {
        std::vector<std::string> names;
        for (const auto causality : {fmi::causality::output, fmi::causality::local})
            for (const auto& v : fmu_.variables)
                if (v.causality == causality && fmi::is_float(v.type)) names.push_back(v.name);
        return names;
    }

    std::pair<std::string, std::string> output_words() const override { return {"local variable", "output"}; }

   private:
    struct scaled_name {
        double factor;
        std::string name;
    };

    /// `-F`, `0.001*x`, `-2*x`, unless the FMU has a variable of that name.
    std::optional<scaled_name> read_scaled(const std::string& text) const {
        if (find_element(fmu_, text).variable >= 0) return std::nullopt;
        scaled_name found{1, text};
        const auto trim = [](std::string& s) { s.erase(0, s.find_first_not_of(' ')); };
        if (text.starts_with('-') || text.starts_with('+')) {
            found.factor = text.front() == '-' ? -1 : 1;
            found.name.erase(0, 1);
        }
        trim(found.name);
        if (const std::size_t star = found.name.find('*'); star != std::string::npos) {
            double number = 0;
            const char *begin = found.name.data(), *end = begin + star;
            while (end > begin && end[-1] == ' ') --end;
            const auto [last, status] = std::from_chars(begin, end, number);
            if (status != std::errc{} || last != end || !std::isfinite(number) || number == 0) return std::nullopt;
            found.factor *= number;
            found.name.erase(0, star + 1);
            trim(found.name);
        } else if (found.name == text) {
            return std::nullopt;
        }
        return find_element(fmu_, found.name).variable < 0 ? std::nullopt : std::optional(found);
    }

    static void scale(fmu_use& use, double factor) {
        use.scale *= factor;
        use.unit.factor *= factor;
        use.unit.offset *= factor;
    }

    /// A further output, `factor` times that at `of`.
    int scaled_output(int of, double factor) {
        const std::pair key(of, factor);
        if (const auto known = scaled_outputs_.find(key); known != scaled_outputs_.end()) return known->second;
        output_variable made = output_at(of);
        fmu_use use = result_.outputs[static_cast<std::size_t>(of)];
        scale(use, factor);
        made.name = factor == -1 ? "-" + made.name : fmt::format("{}*{}", factor, made.name);
        made.slot = static_cast<int>(result_.outputs.size());
        made.rate_slot = -1;
        made.display = {};  // of the variable, not of what the port makes of it
        result_.outputs.push_back(use);
        result_.description.outputs.push_back(std::move(made));
        return scaled_outputs_[key] = static_cast<int>(result_.outputs.size()) - 1;
    }

    std::string object() const { return fmt::format("subsystem '{}'", spec_.name); }
    const fmi::variable& at(int variable) const { return fmu_.variables[static_cast<std::size_t>(variable)]; }
    input_variable& input_at(int slot) { return result_.description.inputs[static_cast<std::size_t>(slot)]; }
    output_variable& output_at(int slot) { return result_.description.outputs[static_cast<std::size_t>(slot)]; }

    /// A second name for a variable that takes part anyway would only cost time.
    bool is_own(const fmi::variable& v, fmi::causality causality) const {
        return v.causality == causality && (v.alias_of < 0 || at(v.alias_of).causality != causality);
    }

    int slot_of(const std::string& name, const std::map<int, int>& first_slots) const {
        const fmu_element found = find_element(fmu_, name);
        if (found.variable < 0 || found.element < 0 || !fmi::is_float(at(found.variable).type)) return -1;
        auto first = first_slots.find(found.variable);
        if (first == first_slots.end()) first = first_slots.find(at(found.variable).alias_of);
        return first == first_slots.end() ? -1 : first->second + found.element;
    }

    bool is_exact(const fmi::variable& v) const {
        return fmi::has_64_bits(v.type) &&
               std::ranges::find(spec_.fmu.exact, v.name, &text::value) != spec_.fmu.exact.end();
    }

    void check_exact() const {
        for (const text& named : spec_.fmu.exact) {
            const fmi::variable* v = fmu_.find(named.value);
            if (v != nullptr && fmi::has_64_bits(v->type)) continue;
            std::vector<std::string> names;
            for (const auto& other : fmu_.variables)
                if (fmi::has_64_bits(other.type)) names.push_back(other.name);
            throw user_error(named.where,
                             fmt::format("{}: exact: '{}' is no 64-bit integer of the FMU. {}{}", object(), named.value,
                                         names.empty() ? std::string("It has none; leave the key out.")
                                                       : fmt::format("It has: {}.", name_list(names)),
                                         did_you_mean(named.value, names)));
        }
    }

    void add_driven(const text& named) {
        const int i = fmu_.index_of(named.value);
        if (i < 0) {
            std::vector<std::string> names;
            for (const auto& v : fmu_.variables)
                if (why_not_driven(fmu_, v).empty()) names.push_back(v.name);
            throw user_error(named.where, fmt::format("{}: driven: {}", object(),
                                                      unknown_name("parameter", named.value,
                                                                   "What can change during a run", names)));
        }
        if (const std::string why = why_not_driven(fmu_, at(i)); !why.empty())
            throw user_error(named.where, fmt::format("{}: driven: '{}' {}", object(), named.value, why));
        if (at(i).type == fmi::base_type::clock && !has_events())
            throw user_error(
                named.where,
                fmt::format("{}: driven: '{}' is a clock, and clocks tick in an event mode only, which the "
                            "co-simulation of the FMU does not have (hasEventMode).{}",
                            object(), named.value, fmu_.model_exchange ? " Set 'interface: model-exchange'." : ""));
        if (input_slots_.count(i) == 0) add_input(i);
    }

    bool has_events() const { return kind_ == fmi::kind::model_exchange || offers_.event_mode; }
    bool is_driven(const fmi::variable& v) const {
        return std::ranges::find(spec_.fmu.driven, v.name, &text::value) != spec_.fmu.driven.end();
    }

    static bool is_text(fmi::base_type type) {
        return type == fmi::base_type::string || type == fmi::base_type::binary;
    }

    /// A string or binary, an integer by its digits, or a clock that takes no part; false: a number, or a clock that is read.
    bool add_other(int i, std::vector<text_variable>& texts, std::vector<fmu_use>& uses) {
        const fmi::variable& v = at(i);
        if (is_number(v.type) && !is_exact(v)) return false;
        if (v.type == fmi::base_type::clock) {
            const bool events = has_events();
            if (events && (v.causality == fmi::causality::output || is_driven(v))) return false;
            const auto& clock = *std::ranges::find(fmu_.clocks, i, &fmi::clock_description::variable);
            const std::string times =
                clock.interval_kind == fmi::clock_interval::constant
                    ? fmt::format("every {} s{}", clock.interval,
                                  clock.shift > 0 ? fmt::format(" from {} s on", clock.shift) : "")
                    : fmt::format("as the FMU says, {}", fmi::name(clock.interval_kind));
            if (events && has_times(fmu_, clock))
                result_.clocks.push_back(fmt::format("{} ({})", v.name, times));
            else
                result_.left_out.push_back(fmt::format(
                    "{} ({})", v.name,
                    events ? "a triggered clock, which ticks where a signal leads to it from another FMU's clock"
                           : "no clock ticks without an event mode"));
        }
        for (int k = 0; k < static_cast<int>(v.element_count()) && v.type != fmi::base_type::clock; ++k) {
            texts.push_back({v.dimensions.empty() ? v.name : fmt::format("{}[{}]", v.name, k), v.description,
                             is_exact(v)                        ? variable_type::integer
                             : v.type == fmi::base_type::string ? variable_type::string
                                                                : variable_type::binary});
            uses.push_back({i, k, {}, false});
        }
        return true;
    }

    template <class Variable>
    Variable element(const fmi::variable& v, int k, int slot, const fmu_unit& unit) const {
        Variable made;
        made.name = v.dimensions.empty() ? v.name : fmt::format("{}[{}]", v.name, k);
        made.unit = unit.si;
        made.description = v.description;
        made.type = type_of(v.type);
        made.slot = slot;
        made.clock = v.type == fmi::base_type::clock;
        made.sampled = made.type != variable_type::real || v.variability != fmi::variability::continuous;
        return made;
    }

    int degree_of(const fmi::variable& v) const {
        if (!fmi::is_float(v.type) || v.variability != fmi::variability::continuous) return 0;
        if (kind_ == fmi::kind::model_exchange) return max_degree;
        // FMI 2.0 does not say up to which order an FMU heeds the derivatives: more than the first only when asked for.
        if (offers_.input_derivatives) return spec_.input_degree.value_or(1);
        return offers_.intermediate_update && v.intermediate_update ? max_degree : 0;
    }

    /// As the scenario says.
    bool is_continuous(const std::string& name) const {
        return std::ranges::find(spec_.fmu.continuous, name, &text::value) != spec_.fmu.continuous.end();
    }

    void check_continuous() const {
        for (const text& named : spec_.fmu.continuous) {
            std::vector<std::string> discrete;
            bool found = false;
            for (std::size_t i = 0; i < result_.inputs.size(); ++i) {
                const input_variable& u = result_.description.inputs[i];
                if (!result_.inputs[i].discrete || u.type != variable_type::real) continue;
                discrete.push_back(u.name);
                found = found || named.value == u.name || named.value == at(result_.inputs[i].variable).name;
            }
            if (!found)
                throw user_error(
                    named.where,
                    fmt::format("{}: continuous: '{}' is no real input that the FMU declares discrete. {}{}", object(),
                                named.value,
                                discrete.empty() ? std::string("It has none; leave the key out.")
                                                 : fmt::format("It has: {}.", name_list(discrete)),
                                did_you_mean(named.value, discrete)));
        }
    }

    void add_input(int i) {
        const fmi::variable& v = at(i);
        if (add_other(i, result_.description.text_inputs, result_.text_inputs)) return;
        const fmu_unit unit = unit_of(fmu_, v);
        input_slots_[i] = static_cast<int>(result_.inputs.size());
        const auto set = std::find_if(starts_.begin(), starts_.end(), [&](const auto& s) { return s.variable == i; });
        for (int k = 0; k < static_cast<int>(v.element_count()); ++k) {
            auto made = element<input_variable>(v, k, static_cast<int>(result_.inputs.size()), unit);
            made.max_degree = std::min(degree_of(v), spec_.input_degree.value_or(max_degree));
            made.start = unit.to_si(set != starts_.end() ? set->numbers[static_cast<std::size_t>(k)]
                                                         : start_value(v, k, unit.from_si(0)));
            const bool discrete = made.sampled;
            if (is_continuous(v.name) || is_continuous(made.name)) made.sampled = false;
            result_.description.inputs.push_back(std::move(made));
            result_.inputs.push_back(
                {.variable = i,
                 .element = k,
                 .unit = unit,
                 .discrete = discrete,
                 .clocked = v.type == fmi::base_type::clock ||
                            std::ranges::find(fmu_.clocked, i, &fmi::clocked_variable::variable) != fmu_.clocked.end(),
                 .clock = v.type == fmi::base_type::clock});
        }
    }

    void add_output(int i) {
        const fmi::variable& v = at(i);
        if (add_other(i, result_.description.text_outputs, result_.text_outputs) && !is_exact(v)) return;
        const fmu_unit unit = unit_of(fmu_, v);
        output_slots_[i] = static_cast<int>(result_.outputs.size());
        const std::vector<int> direct = direct_slots(i);
        for (int k = 0; k < static_cast<int>(v.element_count()); ++k) {
            auto made = element<output_variable>(v, k, static_cast<int>(result_.outputs.size()), unit);
            made.direct = direct;
            made.display = display_of(fmu_, v, unit);
            result_.description.outputs.push_back(std::move(made));
            result_.outputs.push_back(
                {.variable = i, .element = k, .unit = unit, .clock = v.type == fmi::base_type::clock});
        }
    }

    void add_wanted(const text& wanted) {
        const fmu_element found = find_element(fmu_, wanted.value);
        const auto refuse = [&](const std::string& reason) {
            throw user_error(wanted.where, fmt::format("{}: outputs: {}", object(), reason));
        };
        if (found.variable < 0)
            refuse(unknown_name("variable", wanted.value, fmt::format("FMU {}", spec_.path.filename().string()),
                                output_names()));
        const fmi::variable& v = at(found.variable);
        if (!is_number(v.type) && !is_text(v.type))
            refuse(fmt::format("'{}' is of type {}; that cannot be an output.", wanted.value, fmi::name(v.type)));
        if (v.causality == fmi::causality::input)
            refuse(fmt::format("'{}' is an input; what acts on it is recorded at its source.", wanted.value));
        const bool known = is_text(v.type) ? std::ranges::find(result_.text_outputs, found.variable,
                                                               &fmu_use::variable) != result_.text_outputs.end()
                                           : output_slots_.count(found.variable) > 0;
        if (!known) add_output(found.variable);
    }

    std::vector<int> direct_slots(int variable) const {
        std::vector<int> slots;
        const auto inputs = structure_.direct_inputs(variable);
        if (!inputs && kind_ == fmi::kind::model_exchange)
            for (const auto& input : result_.description.inputs) slots.push_back(input.slot);
        if (!inputs) return slots;
        for (const int input : *inputs)
            if (const auto first = input_slots_.find(input); first != input_slots_.end())
                for (int k = 0; k < static_cast<int>(at(input).element_count()); ++k)
                    slots.push_back(first->second + k);
        std::sort(slots.begin(), slots.end());
        return slots;
    }

    /// The slot of an output's rate, made where the FMU knows it; -1: not offered. A rate that hangs on present inputs is of
    /// no use to a law and is made for ports only.
    int find_rate(int slot, bool for_port) {
        const fmu_use use = result_.outputs[static_cast<std::size_t>(slot)];
        if (output_at(slot).rate_slot >= 0) return output_at(slot).rate_slot;
        if (use.derivative || output_at(slot).type != variable_type::real || output_at(slot).sampled) return -1;
        const int derivative = structure_.derivative_of(use.variable);
        const bool needs_input = structure_.rate_needs_input(use.variable);
        int rate = -1;
        if (derivative >= 0 && at(derivative).element_count() == at(use.variable).element_count()) {
            if (output_slots_.count(derivative) == 0) {
                if (needs_input && !for_port) return -1;
                add_output(derivative);
            }
            rate = output_slots_[derivative] + use.element;
        } else if (offers_.output_derivatives > 0 && at(use.variable).causality == fmi::causality::output &&
                   (!needs_input || for_port)) {
            rate = add_output_derivative(slot);
        }
        if (rate < 0) return -1;
        if (const double own = result_.outputs[static_cast<std::size_t>(rate)].scale; own != use.scale)
            rate = scaled_output(rate, use.scale / own);
        output_at(slot).rate_slot = rate;
        output_at(slot).rate_needs_input = needs_input;
        return rate;
    }

    int add_output_derivative(int slot) {
        const fmu_use use = result_.outputs[static_cast<std::size_t>(slot)];
        output_variable made;
        made.name = fmt::format("der({})", output_at(slot).name);
        if (fmu_.index_of(made.name) >= 0) return -1;
        made.unit = rate_unit(use.unit.si);
        made.description = fmt::format("rate of {}", output_at(slot).name);
        made.slot = static_cast<int>(result_.outputs.size());
        made.direct = output_at(slot).direct;
        result_.outputs.push_back({.variable = use.variable,
                                   .element = use.element,
                                   .unit = {made.unit, use.unit.factor, 0},
                                   .derivative = true,
                                   .scale = use.scale});
        result_.description.outputs.push_back(std::move(made));
        return result_.description.outputs.back().slot;
    }

    /// Finds the rate of the output `value` where the port names none, and takes the port at its word where it does: where the
    /// FMU does not say more, a rate is taken to hang on states only, an acceleration on inputs.
    void join_rate(int value, int& rate, bool acceleration) {
        if (value < 0) return;
        if (rate < 0) rate = find_rate(value, true);
        output_variable& y = output_at(value);
        if (rate < 0 || y.rate_slot >= 0) return;
        y.rate_slot = rate;
        y.rate_needs_input = acceleration || !output_at(rate).direct.empty();
    }

    void add_port(port added) {
        const bool takes_load = added.causality == causality::takes_load;
        const auto& names = info(added.kind).motion;
        for (std::size_t k = 1; takes_load && k < 3; ++k)
            if (!names[k].empty()) join_rate(added.motion[k - 1], added.motion[k], k == 2);
        if (added.kind == port_kind::frame)
            for (const auto& [value, rate] : frame_motion::rates)
                for (std::size_t k = 0; k < 3; ++k)
                    join_rate(added.motion_slots[static_cast<std::size_t>(value) + k],
                              added.motion_slots[static_cast<std::size_t>(rate) + k],
                              rate >= frame_motion::acceleration);
        if (!takes_load && added.load < 0) added.load = find_rate(added.load_integral, true);
        result_.description.ports.push_back(std::move(added));
    }

    const fmi::description& fmu_;
    fmi::kind kind_;
    const subsystem_spec& spec_;
    const std::vector<fmu_start>& starts_;
    const fmi::interface_description& offers_;
    fmu_structure structure_;
    fmu_layout result_;
    std::map<int, int> input_slots_, output_slots_;         // variable -> first slot
    std::map<std::string, int> scaled_inputs_;              // as ports name them
    std::map<std::pair<int, double>, int> scaled_outputs_;  // by slot and factor
};

}  // namespace

fmu_layout lay_out_fmu(const fmi::description& fmu, fmi::kind kind, const subsystem_spec& spec,
                       const std::vector<fmu_start>& starts) {
    return fmu_layout_builder(fmu, kind, spec, starts).build();
}

fmu_element find_element(const fmi::description& fmu, const std::string& name) {
    // Tools give the elements of an array names like 'A[1]' in FMI 2.0: those are variables of their own.
    if (const int variable = fmu.index_of(name); variable >= 0) {
        const bool scalar = fmu.variables[static_cast<std::size_t>(variable)].element_count() == 1;
        return scalar ? fmu_element{variable, 0} : fmu_element{variable, -1};
    }
    const std::size_t bracket = name.rfind('[');
    if (bracket == std::string::npos || !name.ends_with(']')) return {};
    const int variable = fmu.index_of(name.substr(0, bracket));
    if (variable < 0 || fmu.variables[static_cast<std::size_t>(variable)].dimensions.empty()) return {};
    int element = -1;
    const char* last = name.data() + name.size() - 1;
    const auto [end, status] = std::from_chars(name.data() + bracket + 1, last, element);
    const auto count = fmu.variables[static_cast<std::size_t>(variable)].element_count();
    if (status != std::errc{} || end != last || element < 0 || static_cast<std::uint64_t>(element) >= count) return {};
    return {variable, element};
}

std::string why_not_driven(const fmi::description& fmu, const fmi::variable& v) {
    using fmi::causality;
    if (v.type == fmi::base_type::clock && v.causality == causality::input) {
        const auto clock = std::ranges::find(fmu.clocks, static_cast<int>(&v - fmu.variables.data()),
                                             &fmi::clock_description::variable);
        if (clock->interval_kind == fmi::clock_interval::triggered) return {};
        return fmt::format("is a clock that ticks by itself ({}); only triggered ones are let tick by others.",
                           fmi::name(clock->interval_kind));
    }
    const std::string way_out = fmt::format("Give its value under 'set', 'set: {{{}: ...}}'.", v.name);
    if (v.causality == causality::parameter && fmu.version == fmi::version::v1)
        return fmt::format("is a parameter of an FMU of FMI 1.0, where parameters keep their value during a run. {}",
                           way_out);
    if (v.causality == causality::parameter && v.variability == fmi::variability::tunable) return {};
    if (v.causality == causality::parameter || v.causality == causality::structural_parameter)
        return fmt::format(
            "is a {} that the FMU declares {}: it keeps its value from the start of a run to its end; "
            "tunable ones can change. {}",
            v.causality == causality::parameter ? "parameter" : "structural parameter", fmi::name(v.variability),
            way_out);
    return v.causality == causality::calculated_parameter
               ? "is calculated from other parameters; only inputs and tunable parameters can be driven."
               : "is no parameter; inputs and tunable parameters can be driven.";
}

double start_value(const fmi::variable& v, int element, double fallback) {
    if (v.start.empty()) return fallback;
    const auto at = static_cast<std::size_t>(element);
    const std::string& text = at < v.start.size() ? v.start[at] : v.start.front();
    if (text == "true") return 1;
    double value = fallback;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return text == "false" ? 0 : value;
}

}  // namespace mdpcosim
