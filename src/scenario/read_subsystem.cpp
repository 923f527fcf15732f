#include <fmt/format.h>

#include "core/polynomial.hpp"
#include "core/suggest.hpp"
#include "core/units.hpp"
#include "scenario/map_reader.hpp"
#include "scenario/resolve.hpp"

namespace mdpcosim {

solver_spec read_solver(const yaml_node* node, const let_table& let, const std::string& object) {
    solver_spec solver;
    if (node == nullptr) return solver;
    if (node->kind == yaml_node::type::scalar || node->kind == yaml_node::type::null) {
        solver.name = read_text(*node, let, object);
        return solver;
    }
    map_reader map(*node, let, object);
    solver.name = map.find_text("name");
    solver.options = map.rest();
    return solver;
}

namespace {

std::vector<port_spec> read_ports(const yaml_node* node, const let_table& let, const std::string& object) {
    std::vector<port_spec> ports;
    if (node == nullptr) return ports;
    const map_reader check(*node, let, fmt::format("{}: 'ports'", object));
    for (const auto& [key, value] : node->entries) {
        check_name(key, "port");
        map_reader map(value, let, fmt::format("{}: port '{}'", object, key.name));
        port_spec port{key.name, key.where, map.need_text("kind"), map.find_text("causality"), {}};
        port.variables = map.rest();
        ports.push_back(std::move(port));
    }
    return ports;
}

std::vector<ode_output> read_ode_outputs(const yaml_node* node, const let_table& let, const std::string& object) {
    std::vector<ode_output> outputs;
    if (node == nullptr) return outputs;
    const map_reader check(*node, let, fmt::format("{}: 'outputs'", object));
    for (const auto& [key, value] : node->entries) {
        ode_output output{key.name, key.where, {}, {}};
        const std::string output_object = fmt::format("{}: output '{}'", object, key.name);
        if (value.kind == yaml_node::type::map) {
            map_reader map(value, let, output_object);
            output.expression = map.need_text("value");
            output.unit = map.find_text("unit");
            map.finish();
        } else {
            output.expression = read_text(value, let, output_object);
        }
        outputs.push_back(std::move(output));
    }
    return outputs;
}

std::vector<ode_event> read_ode_events(const yaml_node* node, const let_table& let, const std::string& object) {
    std::vector<ode_event> events;
    if (node == nullptr) return events;
    if (node->kind != yaml_node::type::list)
        throw user_error(node->where, fmt::format("{}: 'events' is a list of '- {{when: ..., set: {{...}}}}', not {}.",
                                                  object, describe(node->kind)));
    for (const auto& item : node->items) {
        map_reader map(item, let, fmt::format("{}: event {}", object, events.size() + 1));
        ode_event event{item.where, map.need_text("when"), map.find_text("direction"), {}};
        event.set = read_settings(&map.need("set"), let, map.object());
        map.finish();
        events.push_back(std::move(event));
    }
    return events;
}

ode_spec read_ode(const yaml_node& node, const let_table& let, const std::string& object) {
    map_reader map(node, let, fmt::format("{}: 'ode'", object));
    ode_spec ode;
    const auto settings = [&](const char* key, const char* what) {
        return read_settings(map.find(key), let, fmt::format("{}: {}", object, what));
    };
    ode.parameters = settings("parameters", "parameters");
    ode.states = settings("states", "states");
    ode.algebraic = settings("algebraic", "algebraic variables");
    ode.inputs = settings("inputs", "inputs");
    ode.equations = settings("equations", "equations");
    ode.outputs = read_ode_outputs(map.find("outputs"), let, object);
    ode.events = read_ode_events(map.find("events"), let, object);
    map.finish();
    for (const auto& [name, value] : let) {
        if (parse_quantity(value.value)) ode.lets[name] = read_number(value, {}, "let value '" + name + "'");
    }
    return ode;
}

/// `{time: 10 ms, offset: 0 s, delay: 0 s}`, or the time alone.
sample_spec read_sample(const yaml_node& node, const let_table& let, const std::string& object) {
    sample_spec sample;
    sample.where = node.where;
    text time, offset, delay;
    if (node.kind == yaml_node::type::scalar) {
        time = read_text(node, let, object);
    } else {
        map_reader map(node, let, object);
        time = map.need_text("time");
        offset = map.find_text("offset");
        delay = map.find_text("delay");
        map.finish();
    }
    const auto number = [&](const text& t, const char* key, double& value, location& where) {
        where = t.where;
        if (!t.empty()) value = read_number(t, "s", fmt::format("{}: {}", object, key));
        if (!(value >= 0))
            throw user_error(where, fmt::format("{}: {} of {} s must be zero or greater.", object, key, value));
    };
    number(time, "time", sample.time, sample.time_where);
    number(offset, "offset", sample.offset, sample.offset_where);
    number(delay, "delay", sample.delay, sample.delay_where);
    if (!(sample.time > 0))
        throw user_error(sample.time_where, fmt::format("{}: time must be greater than zero.", object));
    return sample;
}

file_spec read_file(map_reader& map, const text& path, const std::filesystem::path& folder) {
    file_spec file;
    file.path = folder / path.value;
    file.units = read_settings(map.find("units"), map.let(), fmt::format("{}: units", map.object()));
    file.interpolation = map.find_text("interpolation");
    file.outside = map.find_text("outside");
    return file;
}

bool read_flag(const text& given, const std::string& object) {
    if (given.value == "true" || given.value == "false") return given.value == "true";
    throw user_error(given.where, fmt::format("{}: '{}' is not allowed. Allowed: true, false.", object, given.value));
}

/// 0 where there is none.
double read_limit(const text& limit, const std::string& object) {
    if (limit.empty()) return 0;
    const double seconds = read_number(limit, "s", object + ": limit");
    if (seconds > 0) return seconds;
    throw user_error(limit.where, fmt::format("{}: limit: '{}' must be greater than zero.", object, limit.value));
}

/// `isolate:` of an FMU: `true`, `false`, or `{limit: 10 s}`.
void read_isolation(const yaml_node& node, const let_table& let, const std::string& object, subsystem_spec& spec) {
    if (node.kind != yaml_node::type::map) {
        spec.fmu.isolate = read_flag(read_text(node, let, object), object);
        return;
    }
    map_reader map(node, let, object);
    const text limit = map.need_text("limit");
    map.finish();
    if (spec.limit > 0)
        throw user_error(limit.where, fmt::format("{}: the subsystem has a limit already. Leave one out.", object));
    spec.fmu.isolate = true;
    spec.limit = read_limit(limit, object);
}

fmu_spec read_fmu(map_reader& map) {
    fmu_spec fmu;
    const auto object = [&](const char* key) { return fmt::format("{}: {}", map.object(), key); };
    const auto list = [&](const char* key) {
        const yaml_node* node = map.find(key);
        return node == nullptr ? std::vector<text>{}
                               : read_setting({key, node->where}, *node, map.let(), map.object()).values;
    };
    fmu.interface = map.find_text("interface");
    static const std::vector<std::string> interfaces{"co-simulation", "model-exchange"};
    const std::string& name = fmu.interface.value;
    if (!name.empty() && name != interfaces[0] && name != interfaces[1])
        throw user_error(fmu.interface.where,
                         fmt::format("{}: '{}' is not allowed. Allowed: {}.{}", object("interface"), name,
                                     name_list(interfaces), did_you_mean(name, interfaces)));
    const text tolerance = map.find_text("tolerance");
    if (!tolerance.empty()) {
        fmu.tolerance = read_number(tolerance, "1", object("tolerance"));
        if (!(*fmu.tolerance > 0))
            throw user_error(tolerance.where,
                             fmt::format("{}: '{}' must be greater than zero.", object("tolerance"), tolerance.value));
    }
    fmu.outputs = list("outputs");
    fmu.log = list("log");
    return fmu;
}

/// Words with quotes and backslashes as a shell takes them; nothing else is special.
std::vector<std::string> split_command(const text& line, const std::string& object) {
    std::vector<std::string> words;
    char quote = 0;
    bool inside = false;
    const std::string& all = line.value;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const char c = all[i];
        const bool escapes =
            c == '\\' && quote != '\'' && i + 1 < all.size() && (quote == 0 || all[i + 1] == '"' || all[i + 1] == '\\');
        if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
            inside = false;
            continue;
        }
        if (!inside) words.emplace_back();
        inside = true;
        if (escapes)
            words.back() += all[++i];
        else if (c == quote)
            quote = 0;
        else if (quote == 0 && (c == '\'' || c == '"'))
            quote = c;
        else
            words.back() += c;
    }
    if (quote != 0)
        throw user_error(line.where, fmt::format("{}: in '{}' the quote {} is not closed.", object, all, quote));
    return words;
}

/// A command line, or a list of its words.
void read_program(const yaml_node& node, map_reader& map, const std::filesystem::path& folder, subsystem_spec& spec) {
    const std::string object = map.object() + ": 'program'";
    if (node.kind == yaml_node::type::list) {
        for (const auto& word : read_setting({"program", node.where}, node, map.let(), map.object()).values) {
            spec.program.command.push_back(word.value);
            spec.source.value += (spec.source.empty() ? "" : " ") + word.value;
        }
        spec.source.where = node.where;
    } else {
        spec.source = read_text(node, map.let(), object);
        spec.program.command = split_command(spec.source, object);
    }
    if (spec.program.command.empty() || spec.program.command.front().empty())
        throw user_error(node.where, fmt::format("{}: the file of the program is missing. Write its command line, "
                                                 "for example './controller --fast'.",
                                                 object));
    spec.program.folder = (folder.empty() ? std::filesystem::path(".") : folder) / map.find_text("folder").value;
}

const char* with_article(subsystem_spec::source_kind kind) {
    using source_kind = subsystem_spec::source_kind;
    return kind == source_kind::ode       ? "an 'ode'"
           : kind == source_kind::plugin  ? "a 'plugin'"
           : kind == source_kind::fmu     ? "an 'fmu'"
           : kind == source_kind::program ? "a 'program'"
                                          : "a 'file'";
}

}  // namespace

subsystem_spec read_subsystem(const yaml_key& key, const yaml_node& node, const let_table& let,
                              const std::filesystem::path& folder) {
    check_name(key, "subsystem");
    subsystem_spec spec;
    spec.name = key.name;
    spec.where = key.where;
    const std::string object = fmt::format("subsystem '{}'", key.name);
    map_reader map(node, let, object);
    const yaml_node* model = map.find("model");
    const yaml_node* ode = map.find("ode");
    const yaml_node* file = map.find("file");
    const yaml_node* plugin = map.find("plugin");
    const yaml_node* fmu = map.find("fmu");
    const yaml_node* program = map.find("program");
    const int sources = (model != nullptr) + (ode != nullptr) + (file != nullptr) + (plugin != nullptr) +
                        (fmu != nullptr) + (program != nullptr);
    if (sources != 1) {
        for (const char* other :
             {"set", "limit", "replicas", "step", "solver", "ports", "scene", "input-degree", "units", "interpolation",
              "outside", "interface", "isolate", "tolerance", "outputs", "log", "folder"})
            map.find(other);
        map.finish();  // a misspelt key says more than a missing one
        const char* reason =
            sources == 0
                ? "one of the keys 'model', 'ode', 'file', 'plugin', 'fmu', 'program' is missing, which say what it is."
                : "of the keys 'model', 'ode', 'file', 'plugin', 'fmu', 'program' only one can say what it is.";
        throw user_error(key.where, fmt::format("{}: {}", object, reason));
    }
    spec.limit = read_limit(map.find_text("limit"), object);
    spec.step = read_own_step(map.find_text("step"), object);
    if (model != nullptr) {
        spec.kind = subsystem_spec::source_kind::model;
        spec.source = read_text(*model, let, object + ": 'model'");
    } else if (ode != nullptr) {
        spec.kind = subsystem_spec::source_kind::ode;
        spec.source = {"ode", ode->where};
        spec.ode = read_ode(*ode, let, object);
        spec.ports = read_ports(map.find("ports"), let, object);
    } else if (plugin != nullptr) {
        spec.kind = subsystem_spec::source_kind::plugin;
        spec.source = read_text(*plugin, let, object + ": 'plugin'");
        spec.path = folder / spec.source.value;
    } else if (fmu != nullptr) {
        spec.kind = subsystem_spec::source_kind::fmu;
        spec.source = read_text(*fmu, let, object + ": 'fmu'");
        spec.path = folder / spec.source.value;
        spec.fmu = read_fmu(map);
        if (const yaml_node* isolate = map.find("isolate")) read_isolation(*isolate, let, object + ": isolate", spec);
        spec.ports = read_ports(map.find("ports"), let, object);
    } else if (program != nullptr) {
        spec.kind = subsystem_spec::source_kind::program;
        read_program(*program, map, folder, spec);
    } else {
        spec.kind = subsystem_spec::source_kind::file;
        spec.source = read_text(*file, let, object + ": 'file'");
        spec.file = read_file(map, spec.source, folder);
    }
    spec.scene = read_scene(map.find("scene"), let, object);
    if (const yaml_node* sample = map.find("sample")) {
        if (spec.kind != subsystem_spec::source_kind::model)
            throw user_error(sample->where,
                             fmt::format("{}: 'sample' belongs to a sampled 'model'; {} is continuous. Leave it out.",
                                         object, with_article(spec.kind)));
        spec.sample = read_sample(*sample, let, object + ": sample");
    }
    if (spec.kind != subsystem_spec::source_kind::file) {
        spec.set = read_settings(map.find("set"), let, object + ": set");
        if (const yaml_node* solver = map.find("solver");
            solver != nullptr && spec.kind == subsystem_spec::source_kind::program)
            throw user_error(solver->where,
                             fmt::format("{}: 'solver' is not allowed: a program brings its own.", object));
        spec.solver = read_solver(map.find("solver"), let, object + ": solver");
        spec.inertia = read_settings(map.find("inertia"), let, object + ": inertia");
        const text degree = map.find_text("input-degree");
        if (!degree.empty()) spec.input_degree = read_whole(degree, 0, object + ": input-degree");
        if (spec.input_degree.value_or(0) > max_degree)
            throw user_error(degree.where, fmt::format("{}: input-degree {} is too high; at most {}.", object,
                                                       *spec.input_degree, max_degree));
    }
    if (const text replicas = map.find_text("replicas"); !replicas.empty()) {
        spec.replicas = read_whole(replicas, 0, object + ": replicas");
        if (spec.replicas > 0 && !spec.can_have_replicas())
            throw user_error(
                replicas.where,
                fmt::format("{}: {} cannot have replicas, since its saved states belong to one instance. Leave it out: "
                            "its trial steps are done one after the other.",
                            object, with_article(spec.kind)));
    }
    map.finish();
    return spec;
}

}  // namespace mdpcosim
