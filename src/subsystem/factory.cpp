#include "subsystem/factory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <new>
#include <stdexcept>

#include "core/suggest.hpp"
#include "scenario/resolve.hpp"
#include "subsystem/file_subsystem.hpp"
#include "subsystem/held_subsystem.hpp"
#include "subsystem/model.hpp"
#include "subsystem/native_subsystem.hpp"
#include "subsystem/ode_equations.hpp"
#include "subsystem/sampled_subsystem.hpp"
#include "subsystem/source.hpp"

namespace mdpcosim {

namespace {

using source_kind = subsystem_spec::source_kind;

const model_info& known_model(const subsystem_spec& spec) {
    const auto& models = model_registry::instance();
    if (const model_info* info = models.find(spec.source.value)) return *info;
    throw user_error(spec.source.where, fmt::format("subsystem '{}': model '{}' does not exist. Models: {}.{}",
                                                    spec.name, spec.source.value, name_list(models.names()),
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

std::string sampled_models() {
    std::vector<std::string> names;
    for (const model_info* info : model_registry::instance().all())
        if (info->make_sampled) names.push_back(info->name);
    return name_list(names);
}

/// What the entry asks for, or its model prefers.
solver_spec chosen_solver(const subsystem_spec& spec) {
    solver_spec chosen = spec.solver;
    if (!chosen.name.empty() || spec.kind != source_kind::model) return chosen;
    const model_info& model = known_model(spec);
    if (!model.solver) return chosen;
    std::vector<std::string> kinds;
    for (const auto& part : spec.parts) kinds.push_back(part.kind.value);
    chosen.name = {model.solver(kinds), spec.where};
    return chosen;
}

[[noreturn]] void refuse_size(const subsystem_spec& spec, const std::string& owner) {
    throw user_error(spec.where, fmt::format("{}: there is not enough memory for what its parameters ask for.", owner));
}

/// Calls the model's factory with the parameters' values.
template <class Factory>
auto make_with_parameters(const subsystem_spec& spec, const model_info& model, Factory factory) {
    const std::string owner = fmt::format("subsystem '{}' (model {})", spec.name, model.name);
    const parameter_values values = resolve_parameters(model.parameters, spec.set, spec.where, owner);
    try {
        return factory(values);
    } catch (const std::invalid_argument& problem) {
        throw user_error(spec.where, fmt::format("{}: {}.", owner, problem.what()));
    } catch (const std::bad_alloc&) {
        refuse_size(spec, owner);
    } catch (const std::length_error&) {
        refuse_size(spec, owner);
    }
}

void refuse_sample(const subsystem_spec& spec) {
    if (spec.sample)
        throw user_error(spec.sample->where,
                         fmt::format("subsystem '{}': model '{}' is continuous and has no sample times. Leave 'sample' "
                                     "out, or take a sampled model: {}.",
                                     spec.name, spec.source.value, sampled_models()));
}

std::vector<part> parts_of(const subsystem_spec& spec, const model_info& model) {
    if (model.parts.empty() && spec.parts.empty()) return {};
    return resolve_parts(model.parts, spec.parts, fmt::format("subsystem '{}' (model {})", spec.name, model.name));
}

bool integrates_itself(const subsystem_spec& spec, const model_info& model) {
    if (!model.integrates_itself) return static_cast<bool>(model.make_with_solver);
    return make_with_parameters(spec, model, model.integrates_itself);
}

std::unique_ptr<equations> make_model(const subsystem_spec& spec) {
    const model_info& model = known_model(spec);
    if (!model.make && !model.make_of_parts) return nullptr;
    refuse_sample(spec);
    const std::vector<part> parts = parts_of(spec, model);
    return make_with_parameters(spec, model, [&](const parameter_values& p) {
        return model.make_of_parts ? model.make_of_parts(p, parts) : model.make(p);
    });
}

std::unique_ptr<subsystem> make_with_solver(const subsystem_spec& spec, const model_info& model) {
    refuse_sample(spec);
    if (!spec.solver.name.empty() || !spec.solver.options.empty())
        throw user_error(
            spec.solver.name.empty() ? spec.solver.options.front().where : spec.solver.name.where,
            fmt::format("subsystem '{}': model '{}' integrates itself. Leave 'solver' out.", spec.name, model.name));
    const std::vector<part> parts = parts_of(spec, model);
    return make_with_parameters(spec, model,
                                [&](const parameter_values& p) { return model.make_with_solver(p, parts); });
}

/// What a sampled model cannot take, since it has neither a solver nor polynomials.
void check_sampled(const subsystem_spec& spec) {
    const std::string object = fmt::format("subsystem '{}': model '{}' is sampled", spec.name, spec.source.value);
    if (!spec.sample)
        throw user_error(
            spec.where,
            fmt::format("{} and needs its sample time. Add for example 'sample: {{time: 10 ms}}', a whole multiple "
                        "of the macro step.",
                        object));
    if (!spec.solver.name.empty() || !spec.solver.options.empty())
        throw user_error(spec.solver.name.where, fmt::format("{}: it integrates nothing. Leave 'solver' out.", object));
    if (spec.input_degree)
        throw user_error(
            spec.where,
            fmt::format("{}: it takes the values of the sample times, no polynomials. Leave 'input-degree' out.",
                        object));
}

/// `value` as a whole multiple of H.
double on_grid(double value, double H, bool own, double least, const location& where, const std::string& object) {
    const double n = std::round(value / H);
    if (std::abs(value / H - n) <= 1e-9 * std::max(1.0, n) && n >= least) return n * H;
    const double below = std::max(least, std::floor(value / H)), above = std::max(least, std::ceil(value / H));
    const std::string nearest = below == above ? fmt::format("{:.12g} s", below * H)
                                               : fmt::format("{:.12g} s and {:.12g} s", below * H, above * H);
    throw user_error(where, fmt::format("{} of {} s is no whole multiple of {} step {} s. The nearest allowed: {}.",
                                        object, value, own ? "its own" : "the macro", H, nearest));
}

constexpr double most_delayed_samples = 1000;

std::vector<tunable_parameter> numbers(const std::vector<parameter_info>& infos) {
    std::vector<tunable_parameter> found;
    for (const auto& info : infos)
        if (info.choices.empty() && !info.list) found.push_back({info.name, true, info.symbol});
    return found;
}

/// The entry with another value in `set`.
subsystem_spec with_value(subsystem_spec spec, const tunable_parameter& p, double value) {
    std::erase_if(spec.set, [&](const setting& s) { return s.name == p.name || s.name == p.symbol; });
    spec.set.push_back({p.name, spec.where, {{fmt::format("{}", value), spec.where}}, false});
    return spec;
}

/// `make` makes the equations of an entry.
template <class Equations, class Make>
std::unique_ptr<tuning<Equations>> tuning_of(const subsystem_spec& spec, const Make& make) {
    if (!spec.tunable) return nullptr;
    auto made = std::make_unique<tuning<Equations>>();
    const auto own = std::make_shared<subsystem_spec>(spec);
    if (const auto& known = source_of(spec).parameters) {
        made->parameters = known(spec);
        const auto changed = std::make_shared<subsystem_spec>();
        made->make_equations = [own, changed, make, list = made->parameters](int parameter, double value) {
            *changed = parameter < 0 ? *own : with_value(*own, list[static_cast<std::size_t>(parameter)], value);
            return make(*changed);
        };
        made->accept = [own, changed] { *own = *changed; };
    }
    made->make_solver = [own] { return make_solver(chosen_solver(*own), own->where, owner_of(*own)); };
    return made;
}

}  // namespace

std::vector<setting> with_defaults(const std::vector<parameter_info>& infos, std::vector<setting> given) {
    given.reserve(given.size() + infos.size());
    for (const auto& info : infos) {
        const bool present =
            std::any_of(given.begin(), given.end(), [&](const auto& s) { return info.is_called(s.name); });
        setting missing;
        if (!present && default_setting(info, missing)) given.push_back(std::move(missing));
    }
    return given;
}

static void write_part_defaults(const std::vector<part_info>& kinds, std::vector<part_spec>& parts) {
    for (auto& part : parts)
        for (const auto& info : kinds) {
            if (info.kind != part.kind.value) continue;
            part.values = with_defaults(info.parameters, std::move(part.values));
            write_part_defaults(info.parts, part.parts);
        }
}

/// As fmt writes it, which takes longer for the small whole numbers that most defaults are.
static std::string shortest(double value) {
    constexpr double small = 1e6;
    if (std::abs(value) < small && value == std::trunc(value) && !(value == 0 && std::signbit(value)))
        return fmt::format_int(static_cast<int>(value)).str();
    return fmt::format("{}", value);
}

bool default_setting(const parameter_info& info, setting& result) {
    using range = parameter_info::range;
    const bool meaningful = !info.required && std::isfinite(info.default_value) &&
                            !((info.allowed == range::positive && !(info.default_value > 0)) ||
                              (info.allowed == range::whole && info.default_value < 1));
    if (!meaningful) return false;
    std::string value;
    if (!info.choices.empty()) {
        value = info.choices[static_cast<std::size_t>(info.default_value)];
    } else {
        value = shortest(info.default_value);
        if (!info.unit.empty() && info.unit != "1") value.append(" ").append(info.unit);
    }
    result = {};
    result.name = info.name;
    result.values.push_back({std::move(value), {}});
    return true;
}

bool is_sampled(const subsystem_spec& spec) {
    return spec.kind == source_kind::model && known_model(spec).make_sampled;
}

sampling sampling_of(const subsystem_spec& spec) {
    check_sampled(spec);
    return {spec.sample->time, spec.sample->offset, spec.sample->delay};
}

std::unique_ptr<sampled_equations> make_sampled_equations(const subsystem_spec& spec) {
    const sampling clock = sampling_of(spec);
    const model_info& model = known_model(spec);
    return make_with_parameters(spec, model, [&](const parameter_values& p) { return model.make_sampled(p, clock); });
}

std::unique_ptr<equations> make_equations(const subsystem_spec& spec) {
    assert(!is_sampled(spec));
    if (is_held(spec))
        throw user_error(spec.sample->where,
                         fmt::format("{}: a sampled plugin or program cannot be part of one system of equations "
                                     "(--monolithic); sampled models can. Run the scenario as a co-simulation.",
                                     owner_of(spec)));
    const source_info& source = source_of(spec);
    if (source.make_equations)
        if (auto shown = source.make_equations(spec)) {
            shown->begins_at_rest = spec.initial.value == "equilibrium";
            return shown;
        }
    throw user_error(
        spec.where,
        fmt::format("{} ({}) brings its own solver and shows no equations, so that it cannot be part of one system of "
                    "equations (--monolithic). {} the scenario as a co-simulation with a small macro step instead.",
                    owner_of(spec), spec.source.value,
                    source.way_to_equations.empty() ? "Run" : source.way_to_equations));
}

std::unique_ptr<solver> make_solver(const solver_spec& spec, const location& where, const std::string& owner) {
    const solver_info& info = known_solver(spec, owner);
    return info.make(
        resolve_parameters(info.options, spec.options, where, fmt::format("{}: solver {}", owner, info.name)));
}

namespace {

/// A solver's step, or the largest it may take, with which it would never come to the end of a macro step.
void check_micro_step(const subsystem_spec& spec, double H, double run) {
    constexpr double most = 1e9;
    for (const auto& option : spec.solver.options) {
        if ((option.name != "step" && option.name != "max-step") || option.values.size() != 1) continue;
        const double step = read_number(
            option.values.front(), "s",
            fmt::format("{}: solver {}: parameter '{}'", owner_of(spec), spec.solver.name.value, option.name));
        if (step > 0 && std::min(H, run) / step > most)
            throw user_error(
                option.values.front().where,
                fmt::format("{}: the solver's {} of {} s makes more than {} micro steps of every macro step "
                            "of {} s. Choose a longer one.",
                            owner_of(spec), option.name, step, most, std::min(H, run)));
    }
}

}  // namespace

subsystem_spec on_macro_grid(subsystem_spec spec, double H, double run) {
    H = spec.step.value.value_or(H);
    check_micro_step(spec, H, run);
    if (const source_info& source = source_of(spec); source.check_step) source.check_step(spec, H);
    if (!spec.sample || !(is_sampled(spec) || is_held(spec))) return spec;
    sample_spec& s = *spec.sample;
    const std::string object = fmt::format("subsystem '{}': sample", spec.name);
    const bool own = spec.step.value.has_value();
    s.time = on_grid(s.time, H, own, 1, s.time_where, object + " time");
    s.offset = on_grid(s.offset, H, own, 0, s.offset_where, object + " offset");
    s.delay = on_grid(s.delay, H, own, 0, s.delay_where, object + " delay");
    if (s.delay > most_delayed_samples * s.time)
        throw user_error(
            s.delay_where,
            fmt::format("{} delay of {} s is longer than {} sample times of {} s. A longer delay belongs into a "
                        "model of its own.",
                        object, s.delay, most_delayed_samples, s.time));
    return spec;
}

bool lives_apart(const subsystem_spec& spec) {
    return spec.kind == source_kind::program || spec.fmu.isolate || spec.limit > 0 ||
           spec.limits.any();  // only a process can be ended, and have limits
}

bool is_held(const subsystem_spec& spec) {
    return spec.sample && (spec.kind == source_kind::plugin || spec.kind == source_kind::program);
}

/// What lives in a process of its own is sampled there; a program knows nothing of samples.
static std::unique_ptr<subsystem> make_held(const subsystem_spec& spec) {
    if (spec.input_degree)
        throw user_error(spec.where,
                         fmt::format("{}: 'sample' and 'input-degree' exclude each other: inputs are read at "
                                     "the sample times and held. Leave 'input-degree' out.",
                                     owner_of(spec)));
    subsystem_spec continuous = spec;
    continuous.sample.reset();
    auto inner = make_subsystem(continuous);
    if (const auto& ports = inner->describe().ports; !ports.empty())
        throw user_error(spec.sample->where,
                         fmt::format("{}: it has ports ('{}'), and a sampled subsystem couples by signals only. Leave "
                                     "'sample' out, or declare plain inputs and outputs instead of ports.",
                                     owner_of(spec), ports.front().name));
    return make_held_subsystem(std::move(inner), {spec.sample->time, spec.sample->offset, spec.sample->delay});
}

std::unique_ptr<tuning<equations>> tuning_of_equations(const subsystem_spec& spec) {
    subsystem_spec changing = spec;
    changing.tunable = true;
    auto made = tuning_of<equations>(changing, make_equations);
    if (!made->make_equations)  // its source has no parameters of numbers
        made->make_equations = [changing](int, double) { return make_equations(changing); };
    if (!made->accept) made->accept = [] {};
    return made;
}

std::unique_ptr<subsystem> make_subsystem(const subsystem_spec& spec) {
    if (is_held(spec) && (spec.kind == source_kind::program || !lives_apart(spec))) return make_held(spec);
    const source_info& source = lives_apart(spec) ? source_named("process", spec) : source_of(spec);
    if (source.make)
        if (auto made = source.make(spec)) {
            if (spec.initial.value == "equilibrium" && &source == &source_of(spec))
                throw user_error(spec.initial.where,
                                 fmt::format("{}: 'initial: equilibrium' needs equations, and model '{}' shows none: "
                                             "it is sampled or integrates itself. Leave 'initial' out.",
                                             owner_of(spec), spec.source.value));
            return made;
        }
    auto model = make_equations(spec);
    const solver_spec chosen = chosen_solver(spec);
    try {
        return make_native_subsystem(std::move(model), make_solver(chosen, spec.where, owner_of(spec)),
                                     tuning_of<equations>(spec, make_equations));
    } catch (const std::invalid_argument& problem) {
        throw user_error(
            spec.solver.name.empty() ? spec.where : spec.solver.name.where,
            fmt::format("subsystem '{}': solver {}{}: {}.", spec.name, known_solver(chosen, owner_of(spec)).name,
                        spec.solver.name.empty() ? " (the default)" : "", problem.what()));
    } catch (const std::bad_alloc&) {
        refuse_size(spec, owner_of(spec));
    }
}

solver_spec with_defaults(const solver_spec& spec, const std::string& owner) {
    const solver_info& info = known_solver(spec, owner);
    solver_spec full = spec;
    full.name.value = info.name;
    full.options = with_defaults(info.options, spec.options);
    return full;
}

subsystem_spec with_defaults(const subsystem_spec& spec) {
    subsystem_spec full = spec;
    if (source_of(spec).write_defaults(full)) full.solver = with_defaults(chosen_solver(spec), owner_of(spec));
    return full;
}

const source_info& source_named(const std::string& name, const subsystem_spec& spec) {
    if (const source_info* info = source_registry::instance().find(name)) return *info;
    throw user_error(spec.where, fmt::format("{}: this program was built without '{}'.", owner_of(spec), name));
}

const source_info& source_of(const subsystem_spec& spec) { return source_named(to_string(spec.kind), spec); }

namespace {

const source_registration model_source{
    {.name = "model",
     .make = [](const subsystem_spec& spec) -> std::unique_ptr<subsystem> {
         if (const model_info& model = known_model(spec); integrates_itself(spec, model))
             return make_with_solver(spec, model);
         if (!is_sampled(spec)) return nullptr;
         return make_sampled_subsystem(make_sampled_equations(spec), sampling_of(spec),
                                       tuning_of<sampled_equations>(spec, make_sampled_equations));
     },
     .make_equations = make_model,
     .write_defaults =
         [](subsystem_spec& spec) {
             const model_info& model = known_model(spec);
             spec.set = with_defaults(model.parameters, std::move(spec.set));
             write_part_defaults(model.parts, spec.parts);
             return !is_sampled(spec) && !integrates_itself(spec, model);
         },
     .parameters = [](const subsystem_spec& spec) { return numbers(known_model(spec).parameters); }}};

const source_registration ode_source{{.name = "ode",
                                      .make_equations = make_ode_equations,
                                      .write_defaults = [](subsystem_spec&) { return true; },
                                      .parameters =
                                          [](const subsystem_spec& spec) {
                                              std::vector<tunable_parameter> found;
                                              for (const auto& p : spec.ode.parameters) found.push_back({p.name, true});
                                              for (const auto& x : spec.ode.states) found.push_back({x.name, false});
                                              return found;
                                          }}};

const source_registration file_source{{.name = "file",
                                       .make = make_file_subsystem,
                                       .make_equations = make_file_equations,
                                       .write_defaults = [](subsystem_spec& spec) {
                                           if (spec.file.interpolation.empty())
                                               spec.file.interpolation.value = "linear";
                                           if (spec.file.outside.empty()) spec.file.outside.value = "hold";
                                           return false;
                                       }}};

}  // namespace

}  // namespace mdpcosim
