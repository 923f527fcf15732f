#include "subsystem/factory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/suggest.hpp"
#include "scenario/resolve.hpp"
#include "subsystem/file_subsystem.hpp"
#include "subsystem/model.hpp"
#include "subsystem/native_subsystem.hpp"
#include "subsystem/ode_equations.hpp"

namespace mdpcosim {

namespace {

using source_kind = subsystem_spec::source_kind;

const model_info& known_model(const subsystem_spec& spec) {
    const auto& models = model_registry::instance();
    if (const model_info* info = models.find(spec.source.value)) return *info;
    throw user_error(spec.source.where, fmt::format("subsystem '{}': model '{}' does not exist. Models: {}.{}", spec.name,
                                                    spec.source.value, name_list(models.names()),
                                                    did_you_mean(spec.source.value, models.names())));
}

const solver_info& known_solver(const solver_spec& spec, const std::string& owner) {
    const auto& solvers = solver_registry::instance();
    const text& name = spec.name;
    if (const solver_info* info = solvers.find(name.empty() ? default_solver : name.value)) return *info;
    throw user_error(name.where, fmt::format("{}: solver '{}' does not exist. Solvers: {}.{}", owner, name.value,
                                             name_list(solvers.names()), did_you_mean(name.value, solvers.names())));
}

std::string owner_of(const subsystem_spec& spec) { return fmt::format("subsystem '{}'", spec.name); }

std::unique_ptr<equations> make_model(const subsystem_spec& spec) {
    const model_info& model = known_model(spec);
    const std::string owner = fmt::format("subsystem '{}' (model {})", spec.name, model.name);
    const parameter_values values = resolve_parameters(model.parameters, spec.set, spec.where, owner);
    try {
        return model.make(values);
    } catch (const std::invalid_argument& problem) {
        throw user_error(spec.where, fmt::format("{}: {}.", owner, problem.what()));
    }
}

std::vector<setting> complete(const std::vector<parameter_info>& infos, std::vector<setting> given) {
    for (const auto& info : infos) {
        const bool present = std::any_of(given.begin(), given.end(), [&](const auto& s) { return s.name == info.name; });
        setting missing;
        if (!present && default_setting(info, missing)) given.push_back(std::move(missing));
    }
    return given;
}

}  // namespace

bool default_setting(const parameter_info& info, setting& result) {
    using range = parameter_info::range;
    const bool meaningful = !info.required && !((info.allowed == range::positive && !(info.default_value > 0)) ||
                                                (info.allowed == range::whole && info.default_value < 1));
    if (!meaningful) return false;
    std::string value = fmt::format("{}", info.default_value);
    if (!info.choices.empty()) value = info.choices[static_cast<std::size_t>(info.default_value)];
    else if (!info.unit.empty() && info.unit != "1") value += " " + info.unit;
    result = {info.name, {}, {{value, {}}}, false};
    return true;
}

std::unique_ptr<equations> make_equations(const subsystem_spec& spec) {
    switch (spec.kind) {
        case source_kind::model: return make_model(spec);
        case source_kind::ode: return make_ode_equations(spec);
        case source_kind::file: return make_file_equations(spec);
    }
    throw user_error(spec.where,
                     fmt::format("{} ({}) brings its own solver and shows no equations, so that it cannot be part of one system of "
                                 "equations (--monolithic). Run the scenario as a co-simulation with a small macro step instead.",
                                 owner_of(spec), spec.source.value));
}

std::unique_ptr<solver> make_solver(const solver_spec& spec, const location& where, const std::string& owner) {
    const solver_info& info = known_solver(spec, owner);
    return info.make(resolve_parameters(info.options, spec.options, where, fmt::format("{}: solver {}", owner, info.name)));
}

std::unique_ptr<subsystem> make_subsystem(const subsystem_spec& spec) {
    if (spec.kind == source_kind::file) return make_file_subsystem(spec);
    std::unique_ptr<solver> integrator = make_solver(spec.solver, spec.where, owner_of(spec));
    return make_native_subsystem(make_equations(spec), std::move(integrator));
}

solver_spec with_defaults(const solver_spec& spec, const std::string& owner) {
    const solver_info& info = known_solver(spec, owner);
    solver_spec full = spec;
    full.name.value = info.name;
    full.options = complete(info.options, spec.options);
    return full;
}

subsystem_spec with_defaults(const subsystem_spec& spec) {
    subsystem_spec full = spec;
    if (spec.kind == source_kind::file) {
        if (full.file.interpolation.empty()) full.file.interpolation.value = "linear";
        if (full.file.outside.empty()) full.file.outside.value = "hold";
        return full;
    }
    full.solver = with_defaults(spec.solver, owner_of(spec));
    if (spec.kind == source_kind::model) full.set = complete(known_model(spec).parameters, spec.set);
    return full;
}

}  // namespace mdpcosim
