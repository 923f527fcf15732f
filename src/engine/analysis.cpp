#include "engine/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>

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

std::vector<coupling_variant> read_variants(const std::vector<std::string>& names) {
    const auto known = coupling_variant_names();
    std::vector<coupling_variant> variants;
    for (const auto& name : names.empty() ? known : names) {
        const auto found = std::find(known.begin(), known.end(), name);
        if (found == known.end())
            throw user_error(fmt::format("--variant {}: {}", name, unknown_name("variant", name, "mdpcosim", known)));
        variants.push_back(static_cast<coupling_variant>(found - known.begin()));
    }
    return variants;
}

std::vector<longtime_result> longtime(const longtime_request& request) {
    check_method(request.method);
    const auto variants = read_variants(request.variants);
    std::vector<longtime_result> results;
    for (const double F : request.F)
        for (const auto& rule : read_extrapolations(request.extrapolations)) {
            longtime_settings s;
            s.system = {.rule = rule,
                        .method = request.method,
                        .F = F,
                        .V = request.V,
                        .frequency_ratio = request.frequency_ratio,
                        .damping = request.damping,
                        .input_degree = request.input_degree,
                        .start = {1, 0, 0.98, 0}};
            s.displacement_rule = request.displacement_extrapolation
                                      ? read_extrapolations({*request.displacement_extrapolation}).front()
                                      : make_extrapolation(fmt::format("poly-{}", rule.degree + 1));
            s.step = request.step;
            s.coupling_damping = request.coupling_damping;
            s.periods = request.periods;
            try {
                results.push_back(analyse_longtime(s, variants));
            } catch (const std::invalid_argument& problem) {
                throw user_error(fmt::format("longtime: {}.", problem.what()));
            }
        }
    return results;
}

}  // namespace mdpcosim
