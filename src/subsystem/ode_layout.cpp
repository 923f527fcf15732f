#include "subsystem/ode_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"
#include "subsystem/port_resolver.hpp"

namespace mdpcosim {

namespace {

template <class Variables>
int find_by_name(const Variables& variables, std::string_view name) {
    const auto found = std::find_if(variables.begin(), variables.end(), [&](const auto& v) { return v.name == name; });
    return found == variables.end() ? -1 : static_cast<int>(found - variables.begin());
}

template <class Variables>
std::vector<std::string> names_of(const Variables& variables) {
    std::vector<std::string> names;
    for (const auto& v : variables) names.push_back(v.name);
    return names;
}

/// Slots count the model's inputs and outputs.
class ode_port_variables final : public port_variables {
   public:
    explicit ode_port_variables(ode_model& model) : model_(model) {}

    int find_input(const std::string& name) override { return find_by_name(model_.inputs, name); }
    int find_output(const std::string& name) override { return find_by_name(model_.outputs, name); }
    std::string& input_unit(int slot) override { return model_.inputs[static_cast<std::size_t>(slot)].unit; }
    std::string& output_unit(int slot) override { return model_.outputs[static_cast<std::size_t>(slot)].unit; }
    std::string what_is(const std::string& name) const override {
        if (find_by_name(model_.states, name) >= 0) return "a state";
        if (find_by_name(model_.outputs, name) >= 0) return "an output";
        if (find_by_name(model_.parameters, name) >= 0) return "a parameter";
        return find_by_name(model_.inputs, name) >= 0 ? "an input" : "";
    }
    std::vector<std::string> input_names() const override { return names_of(model_.inputs); }
    std::vector<std::string> output_names() const override { return names_of(model_.outputs); }
    std::pair<std::string, std::string> output_words() const override { return {"state", "output"}; }

   private:
    ode_model& model_;
};

class layout_builder {
   public:
    explicit layout_builder(const ode_model& model) : model_(model) {}

    void add_inputs(std::optional<int> user_limit) {
        for (const auto& i : model_.inputs) {
            input_variable variable;
            variable.name = i.name;
            variable.unit = i.unit;
            variable.slot = static_cast<int>(layout_.description.inputs.size());
            variable.start = i.value;
            variable.max_degree = std::min(variable.max_degree, user_limit.value_or(variable.max_degree));
            layout_.description.inputs.push_back(std::move(variable));
        }
    }

    void add_outputs() {
        for (const auto& o : model_.outputs) add_output(o.name, o.unit, o.description, o.value);
        for (std::size_t i = 0; i < model_.outputs.size(); ++i) rate_of(static_cast<int>(i));
    }

    /// Motion (and a load besides its integral) that the user left out is taken from the exact derivative.
    void add_port(port added) {
        if (added.kind == port_kind::frame) {
            for (const auto& [value, rate] : frame_motion::rates)
                for (std::size_t k = 0; k < 3; ++k)
                    if (int& slot = added.motion_slots[static_cast<std::size_t>(rate) + k]; slot < 0)
                        slot = rate_of(added.motion_slots[static_cast<std::size_t>(value) + k]);
        } else if (added.causality == causality::takes_load) {
            const auto& names = info(added.kind).motion;
            for (std::size_t order = 1; order < 3; ++order)
                if (added.motion[order] < 0 && !names[order].empty() && added.motion[order - 1] >= 0)
                    added.motion[order] = rate_of(added.motion[order - 1]);
        } else if (added.load < 0) {
            added.load = rate_of(added.load_integral);
        }
        layout_.description.ports.push_back(std::move(added));
    }

    ode_layout finish() { return std::move(layout_); }

   private:
    int add_output(const std::string& name, const std::string& unit, const std::string& description,
                   const expression& formula) {
        output_variable variable;
        variable.name = name;
        variable.unit = unit;
        variable.description = description;
        variable.slot = static_cast<int>(layout_.formulas.size());
        variable.direct = model_.direct_inputs(formula);
        layout_.description.outputs.push_back(variable);
        layout_.formulas.push_back(formula);
        numbers_.push_back(numbering_.number_of(formula));
        return variable.slot;
    }

    /// The slot of dy/dt = y_t + sum of y_xi f_i; -1 when y depends on an input or an algebraic variable, whose rates are
    /// not known.
    int rate_of(int slot) {
        if (slot < 0) return -1;
        const auto at = static_cast<std::size_t>(slot);
        if (const int known = layout_.description.outputs[at].rate_slot; known >= 0) return known;
        if (!layout_.description.outputs[at].direct.empty() || model_.has_algebraic(layout_.formulas[at])) return -1;
        const expression rate = derivative(layout_.formulas[at], [this](variable_id v) {
            return v.bank == ode_model::time_bank ? expression(1.0)
                                                  : model_.derivatives[static_cast<std::size_t>(v.index)];
        });
        const std::string name = layout_.description.outputs[at].name;
        const std::string unit = rate_unit(layout_.description.outputs[at].unit);
        int found = find_formula(rate, unit);
        if (found < 0) found = add_output(fmt::format("der({})", name), unit, fmt::format("rate of {}", name), rate);
        auto& output = layout_.description.outputs[at];
        output.rate_slot = found;
        output.rate_needs_input = !model_.direct_inputs(rate).empty();
        return found;
    }

    int find_formula(const expression& formula, const std::string& unit) {
        const int number = numbering_.number_of(formula);
        for (std::size_t i = 0; i < numbers_.size(); ++i)
            if (numbers_[i] == number && units_fit(layout_.description.outputs[i].unit, unit))
                return static_cast<int>(i);
        return -1;
    }

    const ode_model& model_;
    ode_layout layout_;
    value_numbering numbering_;
    std::vector<int> numbers_;  // of the formulas, by slot
};

}  // namespace

ode_layout lay_out(ode_model model, const subsystem_spec& spec) {
    ode_port_variables variables(model);
    const std::vector<port> ports = resolve_ports(spec.ports, fmt::format("subsystem '{}'", spec.name), variables);
    layout_builder builder(model);
    builder.add_inputs(spec.input_degree);
    builder.add_outputs();
    for (const auto& p : ports) builder.add_port(p);
    return builder.finish();
}

}  // namespace mdpcosim
