#include "engine/analysis.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "scenario/map_reader.hpp"
#include "scenario/yaml.hpp"

namespace mdpcosim {

namespace {

extrapolation_rule read_extrapolation(const std::string& written) {
    const std::string option = "--extrapolation " + written;
    const extrapolation_spec spec =
        read_extrapolation(read_yaml_text(written, intern(option), true), let_table{}, "extrapolation");
    try {
        if (!spec.degree) return make_extrapolation(spec.name.value);
        return make_extrapolation(*spec.degree, spec.a, spec.b, spec.continuous);
    } catch (const std::invalid_argument& problem) {
        throw user_error(fmt::format("{}: {}{}", option, problem.what(), spec.degree ? "." : ""));
    }
}

}  // namespace

std::vector<extrapolation_rule> read_extrapolations(const std::vector<std::string>& texts) {
    std::vector<extrapolation_rule> rules;
    for (const auto& text : texts) rules.push_back(read_extrapolation(text));
    return rules;
}

void check_method(const std::string& name) {
    const auto names = method_registry::instance().names();
    if (method_registry::instance().find(name) == nullptr)
        throw user_error(fmt::format("--method {}: {}", name, unknown_name("method", name, "mdpcosim", names)));
}

std::vector<order_result> order(const std::vector<std::string>& extrapolations, const std::string& method,
                                int input_degree) {
    check_method(method);
    std::vector<order_result> results;
    for (const auto& rule : read_extrapolations(extrapolations))
        results.push_back(measure_order(rule, method, input_degree));
    return results;
}

}  // namespace mdpcosim
