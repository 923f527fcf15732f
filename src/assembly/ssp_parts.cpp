#include "assembly/ssp_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "archive/xml_file.hpp"
#include "assembly/ssp_units.hpp"
#include "core/suggest.hpp"
#include "core/units.hpp"
#include "fmu/layout.hpp"

namespace mdpcosim {

namespace {

using fmi::base_type;
using ssp::value_type;

constexpr const char* fmu_type = "application/x-fmu-sharedlibrary";

value_type type_of(base_type t) {
    if (fmi::is_float(t)) return value_type::real;
    if (fmi::is_integer(t)) return value_type::integer;
    switch (t) {
        case base_type::boolean:
            return value_type::boolean;
        case base_type::enumeration:
            return value_type::enumeration;
        case base_type::string:
            return value_type::string;
        case base_type::binary:
            return value_type::binary;
        default:
            return value_type::clock;
    }
}

/// Enumerations are integers to SSP.
bool types_agree(value_type a, value_type b) {
    const auto whole = [](value_type t) { return t == value_type::integer || t == value_type::enumeration; };
    return a == value_type::unknown || a == b || (whole(a) && whole(b));
}

/// A number may be written as any type of number.
bool can_be_given(value_type to, value_type from) {
    return types_agree(from, to) || (to == value_type::real && from == value_type::integer) ||
           (to == value_type::integer && from == value_type::real);
}

bool is_numeric(value_type t) { return t == value_type::real || t == value_type::integer; }

}  // namespace

bool ssp_parts::is_table(const ssp::part& part) const {
    const std::string& type = part.what->type;
    return type == "text/csv" || type == "application/table" || (type.empty() && part.path.extension() == ".csv");
}

const fmi::description* ssp_parts::fmu(const ssp::part& part) {
    if (part.path.empty() || is_table(part)) return nullptr;
    const std::string object = fmt::format("component '{}'", part.full_name());
    if (const std::string& type = part.what->type; !type.empty() && type != fmu_type)
        throw user_error(part.what->where,
                         fmt::format("{}: the type '{}' cannot be simulated. Types that can: FMUs ({}), "
                                     "recorded signals (text/csv), other SSPs and SSDs.",
                                     object, type, fmu_type));
    auto& files = opened_[part.path.string()];
    if (files) return &files->description();
    try {
        files = fmi::open_fmu(part.path);
    } catch (const user_error& problem) {
        throw user_error(part.what->where, fmt::format("{}: {}", object, problem.what()));
    }
    return &files->description();
}

void ssp_parts::read_table(const ssp::part& part, const yaml_node& annotation) {
    subsystem_spec spec;
    spec.name = part.full_name();
    spec.kind = subsystem_spec::source_kind::file;
    spec.source = {part.path.filename().string(), part.what->where};
    spec.file.path = part.path;
    if (const yaml_node* said = annotation.find("units"))
        for (const auto& [key, value] : said->entries)
            spec.file.units.push_back({key.name, key.where, {{value.scalar, value.where}}, false});
    const csv_header& header = tables_[part.what] = read_csv_header(spec);
    for (const ssp::connector& c : part.what->connectors)
        if (std::ranges::find(header.names, c.name) == header.names.end())
            throw user_error(c.where,
                             fmt::format("component '{}': {}", part.full_name(),
                                         unknown_name("column", c.name, part.path.filename().string(), header.names)));
}

bool ssp_parts::has_variable(const ssp::part& part, const std::string& name) {
    const fmi::description* description = fmu(part);
    return description != nullptr && find_element(*description, name).variable >= 0;
}

std::string title_of(const ssp::part& part, const ssp::connector& connector) {
    return fmt::format("component '{}': connector '{}'", part.full_name(), connector.name);
}

const fmi::variable* ssp_parts::variable(const ssp::part& part, const ssp::connector& connector) {
    const fmi::description* description = fmu(part);
    if (description == nullptr) return nullptr;
    const int at = find_element(*description, connector.name).variable;
    if (at < 0) {
        std::vector<std::string> names;
        for (const auto& v : description->variables)
            if (v.causality == fmi::causality::input || v.causality == fmi::causality::output) names.push_back(v.name);
        throw user_error(connector.where,
                         fmt::format("component '{}': {}", part.full_name(),
                                     unknown_name("variable", connector.name,
                                                  fmt::format("FMU {}", part.path.filename().string()), names)));
    }
    const fmi::variable& v = description->variables[static_cast<std::size_t>(at)];
    if (!types_agree(connector.type, type_of(v.type)))
        throw user_error(connector.where, fmt::format("{} is of type {}, but the variable of the FMU {} is a {}.",
                                                      title_of(part, connector), ssp::name(connector.type),
                                                      part.path.filename().string(), fmi::name(v.type)));
    return &v;
}

ssp_parts::units ssp_parts::units_of(const ssp::part& part, const ssp::connector& connector) {
    units found;
    if (connector.unit) found.said = unit_of(*connector.unit);
    const fmi::variable* v = variable(part, connector);
    if (v == nullptr) {
        const auto table = tables_.find(part.what);
        if (table == tables_.end()) return found;
        const auto& names = table->second.names;
        const auto at = std::ranges::find(names, connector.name) - names.begin();
        found.own.si = table->second.units[static_cast<std::size_t>(at)];  // what comes out of it is in SI
        return found;
    }
    found.own = unit_of(*fmu(part), *v);
    if (!found.own.si.empty() && !found.said.si.empty() && !same_unit(found.own, found.said))
        throw user_error(
            connector.where,
            fmt::format("{} has the unit '{}', but the variable of the FMU {} is in '{}'. Write its unit.",
                        title_of(part, connector), connector.unit->name, part.path.filename().string(), v->unit));
    return found;
}

yaml_node ssp_value(const ssp::binding& binding, const ssp::part& part, const fmi::description& fmu,
                    const fmi::variable& v) {
    const ssp::parameter& given = *binding.value;
    const std::string object = fmt::format("component '{}': parameter '{}'", part.full_name(), binding.variable);
    const value_type type = type_of(v.type);
    if (!can_be_given(type, given.type))
        throw user_error(binding.where,
                         fmt::format("{}: a {} is given, but the variable of the FMU {} is a {}.", object,
                                     ssp::name(given.type), part.path.filename().string(), fmi::name(v.type)));
    const fmu_unit own = unit_of(fmu, v);
    value_way way(given.unit ? unit_of(*given.unit) : fmu_unit{}, false);
    const bool numbers = is_numeric(type) && is_numeric(given.type);
    if (numbers)
        for (std::size_t i = 0; i < binding.hops.size() || i == 0; ++i) {
            const bool last = i + 1 >= binding.hops.size();
            const ssp::hop over = binding.hops.empty() ? ssp::hop{nullptr, false, {}, binding.where} : binding.hops[i];
            way.pass(over, last && !own.si.empty() ? own : over.unit ? unit_of(*over.unit) : fmu_unit{}, object);
        }
    way.finish(false);

    const auto scalar = [&](std::string value) {
        if (value.starts_with('$'))
            throw user_error(binding.where, fmt::format("{}: a text that begins with '$' cannot be given.", object));
        yaml_node node;
        node.kind = yaml_node::type::scalar;
        node.where = binding.where;
        node.scalar = std::move(value);
        return node;
    };
    const auto value_of = [&](const std::string& written) {
        std::string value = written;
        for (const ssp::hop& over : binding.hops)
            if (over.transformation != nullptr && !numbers) value = mapped(*over.transformation, value);
        if (!numbers || (type == value_type::integer && way.plain())) return scalar(value);
        const auto number = archive::parse_number(written);
        if (!number || !std::isfinite(*number))
            throw user_error(binding.where, fmt::format("{}: '{}' is not a number.", object, written));
        value = fmt::format("{}", way.plain() ? *number : way.gain() * *number + way.offset());
        if (own.si.empty()) return scalar(value);
        // In the FMU's own unit nothing is converted; a name that reads as something else is left out, and the number is SI.
        const std::string with_unit = fmt::format("{} {}", value, v.unit);
        const auto read = parse_quantity(with_unit);
        if (read && read->unit == v.unit) return scalar(with_unit);
        return scalar(fmt::format("{}", own.to_si(way.gain() * *number + way.offset())));
    };
    if (!given.array) return value_of(given.values.front());
    yaml_node list;
    list.kind = yaml_node::type::list;
    list.where = binding.where;
    for (const std::string& value : given.values) list.items.push_back(value_of(value));
    return list;
}

}  // namespace mdpcosim
