#include "analysis/requests.hpp"

#include <fmt/format.h>

#include "analysis/nonlinear_pair.hpp"
#include "analysis/stability_report.hpp"
#include "core/error.hpp"
#include "core/suggest.hpp"
#include "scenario/map_reader.hpp"
#include "scenario/yaml.hpp"

namespace mdpcosim {

extrapolation_rule read_extrapolation(const std::string& written, std::optional<double> F, const std::string& option) {
    const std::string place = fmt::format("{} {}", option, written);
    const extrapolation_spec spec =
        read_extrapolation(read_yaml_text(written, intern(place), true), let_table{}, "extrapolation");
    try {
        if (spec.degree) return make_extrapolation(*spec.degree, spec.a, spec.b, spec.continuous);
        if (spec.F) F = spec.F;
        return F ? make_extrapolation(spec.name.value, *F) : make_extrapolation(spec.name.value);
    } catch (const std::invalid_argument& problem) {
        const std::string why = problem.what();
        throw user_error(fmt::format("{}: {}{}", place, why, why.ends_with('.') || why.ends_with('?') ? "" : "."));
    }
}

void check_method(const std::string& name) {
    const auto names = method_registry::instance().names();
    if (method_registry::instance().find(name) == nullptr)
        throw user_error(fmt::format("--method {}: {}", name, unknown_name("method", name, "mdpcosim", names)));
    if (method_registry::instance().find(name)->traits.own_steps)
        throw user_error(fmt::format(
            "--method {}: the analyses have one step for all subsystems. 'mdpcosim bench multirate' shows errors "
            "over the ratio of steps.",
            name));
}

std::vector<order_result> order(const std::vector<std::string>& extrapolations, const std::string& method,
                                int input_degree) {
    check_method(method);
    std::vector<order_result> results;
    for (const auto& text : extrapolations)
        results.push_back(measure_order(read_extrapolation(text, nonlinear_pair::F), method, input_degree));
    return results;
}

std::vector<longtime_result> longtime(const longtime_request& request) {
    check_method(request.method);
    std::vector<coupling_variant> variants;
    for (const auto& name : request.variants.empty() ? coupling_variant_names() : request.variants)
        variants.push_back(read_coupling_variant(name));
    std::vector<longtime_result> results;
    for (const double F : request.F)
        for (const auto& text : request.extrapolations) {
            const extrapolation_rule rule = read_extrapolation(text, F);
            longtime_settings s;
            s.system = {.rule = rule,
                        .method = request.method,
                        .F = F,
                        .V = request.V,
                        .frequency_ratio = request.frequency_ratio,
                        .damping = request.damping,
                        .input_degree = request.input_degree,
                        .start = {1, 0, 0.98, 0}};
            s.displacement_rule =
                request.displacement_extrapolation
                    ? read_extrapolation(*request.displacement_extrapolation, F, "--displacement-extrapolation")
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
