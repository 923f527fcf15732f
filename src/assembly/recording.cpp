#include "assembly/recording.hpp"

#include <fmt/format.h>

#include "assembly/address_book.hpp"
#include "core/pattern.hpp"
#include "core/suggest.hpp"

namespace mdpcosim {

namespace {

class selection {
   public:
    explicit selection(const record_spec& record) : only_(record.only), hit_(record.only.size(), false) {}

    bool wants(const std::string& name, bool derivative) {
        if (only_.empty()) return !derivative;
        bool wanted = false;
        for (std::size_t i = 0; i < only_.size(); ++i) {
            if (!matches_pattern(only_[i].value, name)) continue;
            hit_[i] = true;
            // `a.*` means what a run without `only` would record of a; derivatives are asked for by name.
            wanted |= !derivative || only_[i].value.find("der(") != std::string::npos;
        }
        return wanted;
    }

    /// For columns that a plain `*` does not bring: the pattern must end in the column's own name.
    bool wants_by_name(const std::string& name, std::string_view last) {
        bool wanted = false;
        for (std::size_t i = 0; i < only_.size(); ++i) {
            if (!only_[i].value.ends_with(last) || !matches_pattern(only_[i].value, name)) continue;
            hit_[i] = wanted = true;
        }
        return wanted;
    }

    void finish(const std::vector<std::string>& names, const address_book& book) const {
        for (std::size_t i = 0; i < only_.size(); ++i)
            if (!hit_[i] && book.text_output(only_[i].value))
                throw user_error(
                    only_[i].where,
                    fmt::format("record: '{}' is a string or binary; results have columns of numbers only.",
                                only_[i].value));
            else if (!hit_[i])
                throw user_error(
                    only_[i].where,
                    fmt::format("record: '{}' matches nothing. There is: {}.{}", only_[i].value, name_list(names),
                                only_[i].value.find('*') == std::string::npos ? did_you_mean(only_[i].value, names)
                                                                              : std::string{}));
    }

   private:
    const std::vector<text>& only_;
    std::vector<bool> hit_;
};

/// Other names of an output: `port.variable` where the subsystem's own name differs.
std::vector<std::string> port_names(const subsystem_description& d, int slot) {
    std::vector<std::string> names;
    for (const auto& p : d.ports) {
        const auto& words = info(p.kind);
        if (p.causality == causality::takes_motion && p.load == slot) names.push_back(p.name + "." + words.load);
        if (p.load_integral == slot) names.push_back(p.name + "." + words.load_integral);
        for (std::size_t k = 0; p.causality == causality::takes_load && k < 3; ++k)
            if (p.motion[k] == slot) names.push_back(p.name + "." + words.motion[k]);
        for (std::size_t k = 0; k < p.motion_slots.size(); ++k)
            if (p.motion_slots[k] == slot)
                names.push_back(p.name + "." + frame_element_name(frame_motion_variables(), static_cast<int>(k)));
    }
    return names;
}

}  // namespace

std::vector<recorded_column> select_columns(const record_spec& record, const assembly& a) {
    std::vector<recorded_column> columns;
    std::vector<std::string> names;
    selection select(record);
    const transport& subsystems = *a.system.subsystems;
    for (std::size_t i = 0; i < subsystems.size(); ++i) {
        const subsystem_index s(i);
        const auto& d = subsystems.describe(s);
        for (const auto& y : d.outputs) {
            const bool derivative = y.name.starts_with("der(");
            for (int slot = y.slot; slot < y.slot + y.size; ++slot) {
                const std::string name = subsystems.name(s) + "." + element_name(y, slot);
                bool wanted = select.wants(name, derivative);
                if (!record.only.empty())
                    for (const auto& other : port_names(d, slot))
                        wanted |= select.wants(subsystems.name(s) + "." + other, derivative);
                if (names.size() < 2000) names.push_back(name);
                if (!wanted) continue;
                columns.push_back(
                    {name, y.unit, recorded_column::source::output,
                     static_cast<std::uint32_t>(subsystems.output_offset(s) + static_cast<std::size_t>(slot))});
                if (record.units.value == "display" && !y.display.unit.empty()) {
                    columns.back().file_unit = y.display.unit;
                    columns.back().factor = y.display.factor;
                    columns.back().offset = y.display.offset;
                }
            }
        }
        if (const std::string name = subsystems.name(s) + ".micro-steps"; select.wants_by_name(name, "micro-steps"))
            columns.push_back({name, "1", recorded_column::source::micro_steps, static_cast<std::uint32_t>(i)});
    }
    for (std::size_t c = 0; c < a.channels.size(); ++c) {
        if (!a.channels[c].recorded_name) continue;
        const std::string name = a.channels[c].column.empty() ? a.channels[c].name + ".u" : a.channels[c].column;
        if (names.size() < 4000) names.push_back(name);
        if (select.wants(name, false))
            columns.push_back(
                {name, a.channels[c].unit, recorded_column::source::coupling, static_cast<std::uint32_t>(c)});
        // What the monitor sees is recorded on request only.
        if (record.only.empty() || a.channels[c].is_signal) continue;
        if (select.wants_by_name(a.channels[c].name + ".jump", "jump"))
            columns.push_back({a.channels[c].name + ".jump", a.channels[c].unit, recorded_column::source::jump,
                               static_cast<std::uint32_t>(c)});
        if (select.wants_by_name(a.channels[c].name + ".energy-error", "energy-error"))
            columns.push_back({a.channels[c].name + ".energy-error", "J", recorded_column::source::energy_error,
                               static_cast<std::uint32_t>(c)});
    }
    select.finish(names, address_book(*a.system.subsystems));
    if (record.units.value == "header" || record.units.value == "display")
        for (auto& column : columns) column.shows_unit = !column.unit_in_files().empty();
    return columns;
}

}  // namespace mdpcosim
