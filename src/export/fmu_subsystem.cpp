#include "export/fmu_subsystem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/suggest.hpp"
#include "subsystem/factory.hpp"
#include "subsystem/shown_equations.hpp"

namespace mdpcosim {

namespace {

using subsystem_role = exported_variable::role;

class subsystem_writer {
   public:
    subsystem_writer(fmu_text& text, const simulation& system, std::vector<std::string>& notes)
        : text_(text),
          notes_(notes),
          name_(system.resolved().subsystems.front().name),
          subsystem_(make_alone(system.resolved(), name_)),
          described_(subsystem_->describe()) {}

    void write() {
        for (auto& v : text_.variables)
            for (std::string* name : {&v.name, &v.it.address})
                if (name->starts_with(name_ + ".")) name->erase(0, name_.size() + 1);
        for (std::size_t i = 0; i < text_.variables.size(); ++i) index_[text_.variables[i].name] = static_cast<int>(i);
        add_rates();
        for (const auto& u : described_.inputs)
            text_.interpolates = text_.interpolates || (u.max_degree > 0 && u.type == variable_type::real);
        text_.directional_steps = true;
        text_.has_macro_steps = false;
        text_.variable_step = subsystem_->offers().why_fixed_step.empty();
        add_terminals();
        const auto* shown = dynamic_cast<shows_equations*>(subsystem_.get());
        if (shown == nullptr) {
            notes_.push_back(
                fmt::format("co-simulation only: subsystem '{}' shows no equations (it integrates itself, "
                            "or is sampled)",
                            name_));
        } else if (has_algebraic_states(shown->shown_equations())) {
            notes_.push_back(
                fmt::format("co-simulation only: subsystem '{}' has algebraic variables, which model "
                            "exchange does not know",
                            name_));
        } else {
            add_equations(shown->shown_equations());
        }
        add_dependencies(text_.exchange ? &shown->shown_equations() : nullptr);
    }

   private:
    int find(const std::string& name) const {
        const auto found = index_.find(name);
        return found == index_.end() ? -1 : found->second;
    }
    int output_at(int slot) const { return element_at(described_.outputs, slot); }
    int input_at(int slot) const { return element_at(described_.inputs, slot); }
    template <class Variables>
    int element_at(const Variables& all, int slot) const {
        for (const auto& v : all)
            if (slot >= v.slot && slot < v.slot + v.size) return find(element_name(v, slot));
        return -1;
    }

    /// Those that results leave out, too.
    void add_rates() {
        for (const auto& y : described_.outputs)
            for (int k = 0; k < y.size && y.rate_slot >= 0; ++k) {
                const int of = output_at(y.slot + k);
                if (of < 0) continue;
                int rate = output_at(y.rate_slot + k);
                if (rate < 0) rate = add_output(y.rate_slot + k);
                text_.variables[static_cast<std::size_t>(rate)].derivative_of = of;
            }
    }
    int add_output(int slot) {
        const auto found = std::ranges::find_if(
            described_.outputs, [&](const auto& y) { return slot >= y.slot && slot < y.slot + y.size; });
        described_variable made;
        made.name = made.it.address = element_name(*found, slot);
        made.unit = found->unit;
        made.description = found->description;
        index_[made.name] = static_cast<int>(text_.variables.size());
        text_.variables.push_back(std::move(made));
        return index_[text_.variables.back().name];
    }

    void add_terminals() {
        for (const port& p : described_.ports) {
            const port_kind_info& words = info(p.kind);
            described_terminal made{p.name, words.name, p.description, {}};
            const auto add = [&](int variable, const std::string& member, const char* kind) {
                if (variable >= 0)
                    made.members.push_back({member, text_.variables[static_cast<std::size_t>(variable)].name, kind});
            };
            const bool takes_load = p.causality == causality::takes_load;
            if (p.kind == port_kind::frame) {
                for (std::size_t k = 0; k < p.motion_slots.size(); ++k)
                    add(output_at(p.motion_slots[k]), frame_element_name(frame_motion_variables(), static_cast<int>(k)),
                        "signal");
                for (std::size_t k = 0; k < p.load_slots.size(); ++k)
                    add(input_at(p.load_slots[k]), frame_element_name(frame_load_variables(), static_cast<int>(k)),
                        "signal");
            } else {
                for (std::size_t k = 0; k < p.motion.size(); ++k)
                    add(takes_load ? output_at(p.motion[k]) : input_at(p.motion[k]), words.motion[k], "signal");
                add(takes_load ? input_at(p.load) : output_at(p.load), words.load, "signal");
                add(output_at(p.load_integral), words.load_integral, "signal");
            }
            if (!made.members.empty()) text_.terminals.push_back(std::move(made));
        }
    }

    void add_hidden(subsystem_role what, const std::string& name, int derivative_of = -1) {
        described_variable made;
        made.it.what = what;
        made.name = name;
        for (int n = 2; !index_.emplace(made.name, static_cast<int>(text_.variables.size())).second; ++n)
            made.name = fmt::format("{}[{}]", name, n);
        made.it.address = made.name;
        made.derivative_of = derivative_of;
        text_.variables.push_back(std::move(made));
    }

    /// States, their derivatives, event indicators.
    void add_equations(const equations& model) {
        text_.exchange = true;
        const int states = model.state_count();
        first_state_ = static_cast<int>(text_.variables.size());
        std::vector<std::string> names;
        for (int i = 0; i < states; ++i) {
            const std::string own = model.state_name(i);
            const bool number = own.find_first_not_of("0123456789") == std::string::npos;
            names.push_back(number ? fmt::format("state[{}]", i + 1) : "state." + own);
            add_hidden(subsystem_role::state, names.back());
        }
        for (int i = 0; i < states; ++i)
            add_hidden(subsystem_role::derivative,
                       fmt::format("der({})", text_.variables[static_cast<std::size_t>(first_state_ + i)].name),
                       first_state_ + i);
        for (int i = 0; i < model.event_count(); ++i)
            add_hidden(subsystem_role::indicator, fmt::format("indicator[{}]", i + 1));
        text_.completed_step = model.event_count() > 0 || model.watches(moment::micro_step);
        std::vector<double> x(static_cast<std::size_t>(states)), u(static_cast<std::size_t>(described_.input_count()));
        std::vector<double> room(x.size() * x.size());
        for (const auto& input : described_.inputs) std::fill_n(u.begin() + input.slot, input.size, input.start);
        model.initial_state(text_.start, x.data());
        text_.directional_exchange = model.jacobian(text_.start, x.data(), u.data(), room.data());
        if (!text_.directional_exchange)
            notes_.push_back(
                fmt::format("no directional derivatives in model exchange: subsystem '{}' does not know "
                            "its own derivatives, which hosts find by differences as well",
                            name_));
    }

    /// Without equations outputs are said to depend on inputs alone, with them on states, too.
    void add_dependencies(const equations* model) {
        const int states = model != nullptr ? model->state_count() : 0;
        for (const auto& y : described_.outputs)
            for (int k = 0; k < y.size; ++k) {
                const int of = output_at(y.slot + k);
                if (of < 0) continue;
                auto& depends = text_.variables[static_cast<std::size_t>(of)].depends.emplace();
                for (const int slot : y.direct)
                    if (const int u = input_at(slot); u >= 0) depends.push_back(u);
                if (model != nullptr) add_rows(model->output_structure(), states, y.slot + k, first_state_, depends);
                std::ranges::sort(depends);
            }
        if (model == nullptr) return;
        const int inputs = described_.input_count();
        for (int i = 0; i < states && model->structure() != nullptr; ++i) {
            auto& depends = text_.variables[static_cast<std::size_t>(first_state_ + states + i)].depends.emplace();
            add_rows(model->structure(), states, i, first_state_, depends);
            std::vector<int> slots;
            add_rows(model->input_structure(), inputs, i, 0, slots);
            for (const int slot : slots)
                if (const int u = input_at(slot); u >= 0) depends.push_back(u);
            std::ranges::sort(depends);
        }
    }
    /// Columns that have the row, or all.
    static void add_rows(const sparsity* structure, int columns, int row, int first, std::vector<int>& into) {
        for (int j = 0; j < columns; ++j) {
            const auto at = [&](int k) {
                return structure->rows.begin() + structure->start[static_cast<std::size_t>(k)];
            };
            if (structure == nullptr || std::find(at(j), at(j + 1), row) != at(j + 1)) into.push_back(first + j);
        }
    }

    fmu_text& text_;
    std::vector<std::string>& notes_;
    const std::string name_;
    const std::unique_ptr<subsystem> subsystem_;
    const subsystem_description& described_;
    std::map<std::string, int> index_;
    int first_state_ = 0;
};

}  // namespace

scenario alone(const scenario& s, const std::string& name) {
    using source_kind = subsystem_spec::source_kind;
    const auto found = std::ranges::find(s.subsystems, name, &subsystem_spec::name);
    if (found == s.subsystems.end()) {
        std::vector<std::string> names;
        for (const auto& entry : s.subsystems) names.push_back(entry.name);
        throw user_error(
            fmt::format("--subsystem {}: {}", name, unknown_name("subsystem", name, s.path.string(), names)));
    }
    if (found->kind == source_kind::fmu)
        throw user_error(found->where, fmt::format("subsystem '{}' is an FMU already, '{}'. Copy that one.", name,
                                                   found->path.string()));
    if (found->kind == source_kind::file)
        throw user_error(found->where,
                         fmt::format("subsystem '{}' is a table of recorded data, which hosts read themselves, and no "
                                     "FMU of its own. Export a model, an 'ode', a plugin, or the whole scenario, in "
                                     "which tables travel.",
                                     name));
    scenario made;
    made.path = s.path;
    made.time = s.time;
    made.let = s.let;
    made.included = s.included;
    made.subsystems = {*found};
    subsystem_spec& entry = made.subsystems.front();
    if (entry.step.value) made.time.step = *entry.step.value;
    entry.step = {};
    entry.scene.clear();
    entry.replicas = 0;
    entry.limit = 0;
    entry.limits = {};
    return made;
}

void describe_subsystem(fmu_text& text, const simulation& system, std::vector<std::string>& notes) {
    subsystem_writer(text, system, notes).write();
}

}  // namespace mdpcosim
