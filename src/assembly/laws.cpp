#include "assembly/laws.hpp"

#include <fmt/format.h>

#include <map>

#include "core/suggest.hpp"

namespace mdpcosim {

const std::vector<parameter_info>& law_parameters(const law_info& law, port_kind kind) {
    static std::map<std::pair<const law_info*, port_kind>, std::vector<parameter_info>> cache;
    auto& infos = cache[{&law, kind}];
    if (infos.empty())
        for (parameter_info p : law.parameters) {
            p.unit = unit_for(kind, p.unit);
            infos.push_back(std::move(p));
        }
    return infos;
}

const law_info& known_law(const connection_spec& c) {
    const auto& laws = law_registry::instance();
    if (const law_info* found = laws.find(c.law.value)) return *found;
    throw user_error(c.law.where,
                     fmt::format("connection '{}': law '{}' does not exist. Laws: {}.{}", c.name, c.law.value,
                                 name_list(laws.names()), did_you_mean(c.law.value, laws.names())));
}

std::string number_with_unit(double value, const std::string& unit) {
    return unit.empty() || unit == "1" ? fmt::format("{}", value) : fmt::format("{} {}", value, unit);
}

std::string law_text(const law_info& law, const std::vector<parameter_info>& infos, const parameter_values& values) {
    std::vector<std::string> parts;
    for (const auto& p : infos) {
        if (!values.given(p.name)) continue;
        const double value = values[p.name];
        parts.push_back(fmt::format(
            "{} = {}", p.name,
            p.choices.empty() ? number_with_unit(value, p.unit) : p.choices[static_cast<std::size_t>(value)]));
    }
    return parts.empty() ? law.name : fmt::format("{} ({})", law.name, fmt::join(parts, ", "));
}

}  // namespace mdpcosim
