#include "engine/analysis.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "scenario/map_reader.hpp"
#include "scenario/yaml.hpp"

namespace mdpcosim {

extrapolation_rule read_extrapolation(const std::string& written, std::optional<double> F) {
    const std::string option = "--extrapolation " + written;
    const extrapolation_spec spec =
        read_extrapolation(read_yaml_text(written, intern(option), true), let_table{}, "extrapolation");
    try {
        if (spec.degree) return make_extrapolation(*spec.degree, spec.a, spec.b, spec.continuous);
        if (spec.F) F = spec.F;
        return F ? make_extrapolation(spec.name.value, *F) : make_extrapolation(spec.name.value);
    } catch (const std::invalid_argument& problem) {
        const std::string why = problem.what();
        throw user_error(fmt::format("{}: {}{}", option, why, why.ends_with('.') || why.ends_with('?') ? "" : "."));
    }
}

std::vector<extrapolation_rule> read_extrapolations(const std::vector<std::string>& texts) {
    std::vector<extrapolation_rule> rules;
    for (const auto& text : texts) rules.push_back(read_extrapolation(text));
    return rules;
}

}  // namespace mdpcosim
