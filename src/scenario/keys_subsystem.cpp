#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/polynomial.hpp"
#include "core/units.hpp"
#include "scenario/command_line.hpp"
#include "scenario/key_builders.hpp"
#include "scenario/keys_scene.hpp"

/// Keys of subsystems: what they are, and what all of them or some of them have.
namespace mdpcosim {

using namespace keys;

namespace {

using source_kind = subsystem_spec::source_kind;

constexpr unsigned model_bit = source_bit(source_kind::model), ode_bit = source_bit(source_kind::ode),
                   file_bit = source_bit(source_kind::file), plugin_bit = source_bit(source_kind::plugin),
                   fmu_bit = source_bit(source_kind::fmu), program_bit = source_bit(source_kind::program),
                   system_bit = source_bit(source_kind::system);

const key_group& sample_keys() {
    using spec = sample_spec;
    static const key_group table = [] {
        auto time = number<spec>("time", &spec::time, "s", "Time between two samples.").positive().needed();
        time.after = keeps_place<spec>(&spec::time_where);
        auto offset =
            number<spec>("offset", &spec::offset, "s", "The first sample is at start + offset.").not_negative();
        offset.after = keeps_place<spec>(&spec::offset_where);
        auto delay = number<spec>("delay", &spec::delay, "s", "From a sample to the change of the outputs.");
        delay.after = keeps_place<spec>(&spec::delay_where);
        return group<spec>("sample", "When a sampled model works; all are whole multiples of the macro step.",
                           {time, offset.by_default("0 s"), delay.not_negative().by_default("0 s")});
    }();
    return table;
}

// ---- sources ---------------------------------------------------------------------------------------------------------

void finish_ode(subsystem_spec& spec, const yaml_node& node, const key_place& at) {
    spec.source = {"ode", node.where};
    for (const auto& [name, value] : at.in.let)
        if (parse_quantity(value.value)) spec.ode.lets[name] = read_number(value, {}, "let value '" + name + "'");
}

std::string absolute_text(const std::filesystem::path& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
}

/// A file that the subsystem comes from; `path` is where it lies.
key_info source_file(const char* name, unsigned bit, const std::function<std::filesystem::path&(subsystem_spec&)>& path,
                     const char* description) {
    return special<subsystem_spec>(
               name, "path", R"({"type": "string", "minLength": 1})", description,
               [path, bit](subsystem_spec& spec, const yaml_node& node, const key_place& at) {
                   spec.source = read_text(node, at.in.let, at.whole());
                   if (spec.source.empty())
                       throw user_error(node.where, fmt::format("{}: the name of a file is missing.", at.whole()));
                   const auto file = at.in.folder_of(node.where) / spec.source.value;
                   // What is loaded may change the working folder before the next one is looked for.
                   path(spec) = (bit & file_bit) != 0 ? file : std::filesystem::absolute(file);
               },
               [path](const subsystem_spec& spec, yaml_node& out) {
                   subsystem_spec copy = spec;
                   out = scalar_node(absolute_text(path(copy)));
               })
        .of(bit);
}

/// A command line, or a list of its words.
void read_program(subsystem_spec& spec, const yaml_node& node, const key_place& at) {
    if (node.kind == yaml_node::type::list) {
        for (const auto& word : read_setting({"program", node.where}, node, at.in.let, at.object).values) {
            spec.program.command.push_back(word.value);
            spec.source.value += (spec.source.empty() ? "" : " ") + word.value;
        }
        spec.source.where = node.where;
    } else {
        spec.source = read_text(node, at.in.let, at.whole());
        spec.program.command = split_command(spec.source, at.whole());
    }
    if (spec.program.command.empty() || spec.program.command.front().empty())
        throw user_error(node.where, fmt::format("{}: the file of the program is missing. Write its command line, "
                                                 "for example './controller --fast'.",
                                                 at.whole()));
    const auto folder = at.in.folder_of(node.where);
    spec.program.folder = folder.empty() ? std::filesystem::path("./") : folder / "";
}

/// `folder`, where a program runs; read after `program`, which sets the default.
void read_folder(subsystem_spec& spec, const yaml_node& node, const key_place& at) {
    const auto folder = at.in.folder_of(node.where);
    spec.program.folder =
        (folder.empty() ? std::filesystem::path(".") : folder) / read_text(node, at.in.let, at.whole()).value;
}

std::vector<key_info> sources() {
    using spec = subsystem_spec;
    auto ode = map<spec>("ode", &spec::ode, ode_keys,
                         "Equations: states' = f(t, states, algebraic, inputs), 0 = g(t, states, algebraic, inputs).")
                   .of(ode_bit)
                   .over_lines();
    ode.silent = true;
    ode.label = "'ode'";
    const auto command = [](const spec& s, yaml_node& out) {
        out.kind = yaml_node::type::list;
        for (const auto& word : s.program.command) out.items.push_back(scalar_node(word));
    };
    return {
        word<spec>("model", &spec::source, "A model of this program; see 'mdpcosim list models'.")
            .from(catalogue::models)
            .of(model_bit),
        then<spec>(ode, finish_ode),
        source_file(
            "file", file_bit, [](spec & s) -> auto& { return s.file.path; },
            "Recorded data: a CSV file with a column 'time'; every further column is an output. The path starts at "
            "the folder of the scenario."),
        source_file(
            "plugin", plugin_bit, [](spec & s) -> auto& { return s.path; },
            "A shared library with a model, made with mdpcosim/plugin.h. The path starts at the folder of the "
            "scenario.")
            .more_in("plugins.md"),
        source_file(
            "fmu", fmu_bit, [](spec & s) -> auto& { return s.path; },
            "A Functional Mock-up Unit (FMI 1.0, 2.0 or 3.0). The path starts at the folder of the scenario.")
            .more_in("fmu.md"),
        special<spec>(
            "program", "a command line, or a list of its words",
            R"({"anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/scalar"}}]})",
            "Another program that brings the subsystem: its command line with quotes as in a shell, or a list of "
            "its words. The file is looked for in the folder of the scenario, then in PATH.",
            read_program, command)
            .of(program_bit)
            .more_in("programs.md"),
        source_file(
            "system", system_bit, [](spec & s) -> auto& { return s.path; },
            "Another scenario, whose subsystems this entry's solver integrates as one. The path starts at the folder "
            "of the scenario.")
            .more_in("scenario.md#system")};
}

// ---- keys of some sources --------------------------------------------------------------------------------------------

const key_group& isolation_keys() {
    static const key_group table = [] {
        auto limit = number<subsystem_spec>("limit", &subsystem_spec::limit, "s", "Wall time that one call may take.");
        limit.derived = true;  // written as the subsystem's own
        return group<subsystem_spec>(
            "isolate", "Whether the FMU runs in a process of its own.",
            {limit.positive(),
             flag<subsystem_spec>(
                 "apart", [](auto& s) -> auto& { return s.fmu.isolate; }, "In a process of its own.")
                 .by_default("`true`"),
             word<subsystem_spec>(
                 "because", [](auto& s) -> auto& { return s.fmu.isolate_because; },
                 "Why; what a run found where that was left to it.")});
    }();
    return table;
}

/// `isolate:` of an FMU: `auto`, `true`, `false`, `{limit: 10 s}`, or `{apart: false, because: ...}`.
void read_isolation(subsystem_spec& spec, const yaml_node& node, const key_place& at) {
    if (node.kind != yaml_node::type::map) {
        if (node.scalar == "auto") return;
        spec.fmu.isolate = read_flag(node, at);
        spec.fmu.isolate_decided = true;
        return;
    }
    spec.fmu.isolate_decided = true;
    if (spec.limit > 0 && node.find("limit") != nullptr)
        throw user_error(node.where,
                         fmt::format("{}: the subsystem has a limit already. Leave one out.", at.inside("isolate")));
    spec.fmu.isolate = true;
    read_keys(isolation_keys(), &spec, {}, node, {at.in, at.inside("isolate"), {}, false});
}

std::vector<key_info> of_files() {
    using spec = subsystem_spec;
    return {settings<spec>(
                "units", [](auto& s) -> auto& { return s.file.units; }, setting_values::word,
                "Units of the columns of the file.")
                .of(file_bit)
                .by_default("from the header, `torque [N.m]`; else SI"),
            settings<spec>(
                "kinds", [](auto& s) -> auto& { return s.file.kinds; }, setting_values::any,
                "What the columns of the file hold: real, boolean, string, int8 to uint64, an enumeration, arrays.")
                .of(file_bit)
                .by_default("what the inputs of FMUs that they lead to take; else real"),
            word<spec>("interpolation", [](auto& s) -> auto& { return s.file.interpolation; },
                       "Between the rows of the file; cubic is smooth, without overshoot.", {"linear", "hold", "cubic"})
                .of(file_bit)
                .by_default("`linear`"),
            word<spec>("outside", [](auto& s) -> auto& { return s.file.outside; },
                       "Before the first and after the last row of the file: hold it, or repeat the file.",
                       {"hold", "repeat"})
                .of(file_bit)
                .by_default("`hold`")};
}

std::vector<key_info> of_fmus() {
    using spec = subsystem_spec;
    auto isolate =
        special<spec>("isolate", "`auto`, `true`, `false`, or `{limit: 10 s}`",
                      R"({"anyOf": [{"type": "boolean"}, {"const": "auto"}, {"$ref": "#/definitions/isolate"}]})",
                      "Run the FMU in a process of its own; with a limit, a call that takes longer ends the run. "
                      "`auto`: where a short "
                      "trial fails, or where it costs little.",
                      read_isolation, [](const spec& s, yaml_node& out) {
                          if (!s.fmu.isolate_because.empty()) {
                              out.kind = yaml_node::type::map;
                              out.entries.push_back({{"apart", {}}, scalar_node(s.fmu.isolate ? "true" : "false")});
                              out.entries.push_back({{"because", {}}, scalar_node(s.fmu.isolate_because.value)});
                          } else if (s.fmu.isolate || s.fmu.isolate_decided) {
                              out = scalar_node(s.fmu.isolate ? "true" : "false");
                          }
                      });
    isolate.inner = isolation_keys;
    return {
        word<spec>("interface", [](auto& s) -> auto& { return s.fmu.interface; }, "Which interface of the FMU is used.",
                   {"co-simulation", "model-exchange"})
            .of(fmu_bit)
            .by_default("`co-simulation` where the FMU offers it"),
        isolate.of(fmu_bit).by_default("`auto`"),
        number<spec>(
            "tolerance", [](auto& s) -> auto& { return s.fmu.tolerance; }, "1", "Relative tolerance handed to the FMU.")
            .positive()
            .of(fmu_bit)
            .by_default("that of its default experiment"),
        words<spec>(
            "outputs", [](auto& s) -> auto& { return s.fmu.outputs; },
            "Variables of the FMU that become outputs besides its own.")
            .of(fmu_bit)
            .by_default("none"),
        words<spec>(
            "continuous", [](auto& s) -> auto& { return s.fmu.continuous; },
            "Inputs that the FMU declares discrete and that take extrapolated values all the same, the mean over "
            "each step.")
            .of(fmu_bit)
            .by_default("none")
            .more_in("fmu.md#inputs-over-a-macro-step"),
        words<spec>(
            "driven", [](auto& s) -> auto& { return s.fmu.driven; },
            "Tunable parameters that are inputs, set at macro points.")
            .of(fmu_bit)
            .by_default("those that signals lead to")
            .more_in("fmu.md#driven-parameters"),
        words<spec>(
            "exact", [](auto& s) -> auto& { return s.fmu.exact; },
            "Inputs and outputs of 64-bit integers that signals carry as digits: every digit counts, also beyond 2^53.")
            .of(fmu_bit)
            .by_default("inputs that files lead to")
            .more_in("fmu.md#values-from-files"),
        words<spec>(
            "log", [](auto& s) -> auto& { return s.fmu.log; },
            "Categories of the FMU's messages that are shown; 'all' for every one.")
            .of(fmu_bit)
            .by_default("none")};
}

const key_group& part_keys() {
    using spec = part_spec;
    static const key_group table = group<spec>(
        "part", "A part of a model, of a kind that the model declares.",
        {word<spec>("kind", &spec::kind, "What it is; 'mdpcosim list models' shows the kinds of a model.").needed(),
         entries<spec>("parts", &spec::parts, part_keys, "part", "Parts inside it.").by_default("none")},
        {settings<spec>("parameter", &spec::values, setting_values::any,
                        "A parameter of the part, or the name of another part.")});
    return table;
}

// ---- keys of all, or most ----------------------------------------------------------------------------------------------

void read_own_step(subsystem_spec& spec, const yaml_node& node, const key_place& at) {
    const text given = read_text(node, at.in.let, at.whole());
    spec.step = {given.where, given.value == "solver", {}};
    if (spec.step.by_solver) return;
    spec.step.value = read_number(given, "s", at.value());
    const key_info positive = key_info{.name = "step"}.positive();
    check_range(*spec.step.value, given, positive, at);
}

void write_own_step(const subsystem_spec& spec, yaml_node& out) {
    if (spec.step.by_solver) out = scalar_node("solver");
    if (spec.step.value) out = scalar_node(number_text(*spec.step.value, "s"));
}

void check_replicas(subsystem_spec& spec, const yaml_node& node, const key_place& at) {
    if (spec.replicas == 0 || spec.can_have_replicas()) return;
    const bool vowel = spec.kind == source_kind::ode || spec.kind == source_kind::fmu;
    throw user_error(
        node.where,
        fmt::format("{}: {} '{}' cannot have replicas, since its saved states belong to one instance. Leave it out: "
                    "its trial steps are done one after the other.",
                    at.object, vowel ? "an" : "a", to_string(spec.kind)));
}

/// "2 GB", "512 MiB", a bare number: bytes.
double read_bytes(const text& given, const std::string& what) {
    constexpr std::pair<const char*, double> units[] = {{"kB", 1e3},     {"MB", 1e6},    {"GB", 1e9},
                                                        {"TB", 1e12},    {"KiB", 1024.}, {"MiB", 1024. * 1024},
                                                        {"GiB", 0x1p30}, {"B", 1},       {"", 1}};
    const std::string& all = given.value;
    const std::size_t letters = std::min(all.find_first_not_of("0123456789.eE+-"), all.size());
    const std::size_t unit = std::min(all.find_first_not_of(' ', letters), all.size());
    double number = 0;
    const auto [end, status] = std::from_chars(all.data(), all.data() + letters, number);
    const auto* found = std::ranges::find(units, all.substr(unit), &std::pair<const char*, double>::first);
    if (status != std::errc{} || end != all.data() + letters || found == std::end(units) || !(number > 0) ||
        !std::isfinite(number))
        throw user_error(given.where,
                         fmt::format("{}: '{}' is no size of memory. Allowed are numbers greater than zero "
                                     "with B, kB, MB, GB, TB, KiB, MiB or GiB, for example '2 GB'.",
                                     what, all));
    return number * found->second;
}

const key_group& limits_keys() {
    using spec = process_limits;
    static const key_group table = group<spec>(
        "limits", "What the process of a subsystem may use.",
        {special<spec>(
             "memory", "size, `2 GB`",
             R"({"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "minLength": 1}]})",
             "Address space of its process.",
             [](spec& s, const yaml_node& node, const key_place& at) {
                 s.memory = read_bytes(read_text(node, at.in.let, at.whole()), at.value());
             },
             [](const spec& s, yaml_node& out) {
                 if (s.memory > 0) out = scalar_node(fmt::format("{} B", s.memory));
             })
             .by_default("any size"),
         number<spec>("cpu", &spec::cpu, "s", "CPU time of its process in all, in whole seconds, rounded up.")
             .positive()
             .by_default("any time"),
         special<spec>(
             "system-calls", "`any` or `compute`", R"({"enum": ["any", "compute"]})",
             "'compute' forbids the network, writing, making and removing files, and reaching other processes.",
             [](spec& s, const yaml_node& node, const key_place& at) {
                 const text given = read_text(node, at.in.let, at.whole());
                 if (given.value != "any" && given.value != "compute")
                     throw user_error(given.where, fmt::format("{}: '{}' is not allowed. Allowed are: any, compute.",
                                                               at.value(), given.value));
                 s.compute_only = given.value == "compute";
             },
             [](const spec& s, yaml_node& out) {
                 if (s.compute_only) out = scalar_node("compute");
             })
             .by_default("`any`")});
    return table;
}

key_info limits_key() {
    auto limits = map<subsystem_spec>("limits", &subsystem_spec::limits, limits_keys,
                                      "What its process may use; with them it has one of its own, on every transport.")
                      .of(plugin_bit | fmu_bit | program_bit)
                      .by_default("none")
                      .more_in("transports.md#limits");
    limits.elsewhere =
        "'limits' belong to a 'plugin', an 'fmu' or a 'program', whose code is not mdpcosim's own; {} works inside "
        "mdpcosim. Leave it out, or take 'limit' for its wall time.";
    return limits;
}

key_info limit_key() {
    return number<subsystem_spec>("limit", &subsystem_spec::limit, "s",
                                  "Wall time for its start or one macro step; a longer one ends the run.")
        .positive()
        .by_default("any time")
        .more_in("transports.md");
}

std::vector<key_info> of_all() {
    using spec = subsystem_spec;
    auto step = special<spec>("step", "time, or `solver`",
                              R"({"anyOf": [{"const": "solver"}, {"$ref": "#/definitions/positive"}]})",
                              "Communication step of its own, or what its integrator chooses; for 'method: multirate'.",
                              read_own_step, write_own_step)
                    .by_default("the macro step")
                    .more_in("methods/multirate.md");
    auto replicas =
        whole<spec>("replicas", &spec::replicas, 0, "More instances, so that trial steps are done at the same time.");
    replicas.most = most_replicas;
    return {then<spec>(replicas.by_default("0").more_in("methods/semi-implicit.md"), check_replicas), step,
            list<spec>(
                "scene", &spec::scene, shape_keys,
                [](const yaml_node&, std::size_t i) { return fmt::format("shape {} of the scene", i); },
                "shapes such as '- {ball: [x, y], size: 0.1}'",
                "Shapes that follow its outputs, for the animation in reports.")
                .by_default("the model's own")
                .more_in("report.md#scenes")};
}

std::vector<key_info> of_most() {
    using spec = subsystem_spec;
    constexpr unsigned not_files = ~file_bit;
    auto degree = whole<spec>("input-degree", &spec::input_degree, 0,
                              "Inputs take polynomials up to this degree only; higher ones are projected so that their "
                              "integral over the step stays.")
                      .of(not_files)
                      .by_default("6");
    degree.most = max_degree;
    auto solver = map<spec>("solver", &spec::solver, solver_keys,
                            "A name out of 'mdpcosim list solvers', or its name and options.", "name")
                      .from(catalogue::solvers)
                      .of(not_files & ~program_bit)
                      .by_default("what the model prefers, else `erk-5`");
    solver.elsewhere = "'solver' is not allowed: a program brings its own.";
    solver.elsewhere_for = program_bit;
    auto initial = word<spec>("initial", &spec::initial,
                              "'equilibrium': it begins at rest under its first inputs, found from the given start.",
                              {"given", "equilibrium"})
                       .of(model_bit | ode_bit | system_bit)
                       .by_default("`given`")
                       .more_in("scenario.md#equilibrium");
    auto sample = map<spec>("sample", &spec::sample, sample_keys,
                            "When a sampled model, which needs it, a plugin or a program works: the sample time, or a "
                            "map. Outputs are held in between.",
                            "time")
                      .of(model_bit | plugin_bit | program_bit)
                      .more_in("control.md");
    sample.elsewhere =
        "'sample' belongs to a sampled 'model', a 'plugin' or a 'program'; {} is continuous. Leave it out.";
    return {settings<spec>("set", &spec::set, setting_values::any,
                           "Parameters, start values of an 'ode' and of an 'fmu': 'name: value' or, for vectors, "
                           "'name: [value, ...]'.")
                .from(catalogue::models)
                .of(not_files)
                .by_default("the model's defaults"),
            entries<spec>("parts", &spec::parts, part_keys, "part", "What a model with parts is put together from.")
                .of(model_bit)
                .by_default("none"),
            solver,
            initial,
            sample,
            degree,
            settings<spec>("inertia", &spec::inertia, setting_values::inertia,
                           "What resists a load at a port (mass, moment of inertia, heat capacity, capacitance, "
                           "inductance, inertance), for 'method: one-pass'; 'inf' for what does not give way; "
                           "'left+right' for ports that move as one body.")
                .of(not_files)
                .by_default("measured")
                .more_in("methods/one-pass.md"),
            entries<spec>("ports", &spec::ports, port_keys, "port",
                          "Which variables of an 'ode' or an 'fmu' make up a port.")
                .of(ode_bit | fmu_bit)
                .by_default("none")};
}

/// The one source that is given.
unsigned find_source(void* owner, const yaml_key& key, const yaml_node& node, const key_place& at) {
    auto& spec = *static_cast<subsystem_spec*>(owner);
    int count = 0;
    for (int k = 0; k < 7; ++k) {
        const auto kind = static_cast<source_kind>(k);
        if (node.find(to_string(kind)) == nullptr) continue;
        spec.kind = kind;
        ++count;
    }
    if (count == 1) return source_bit(spec.kind);
    map_reader misspelt(node, at.in.let, at.object);  // which says more than what is missing
    for (const auto& info : subsystem_keys().keys) misspelt.find(info.name);
    misspelt.finish();
    const char* reason =
        count == 0
            ? "one of the keys 'model', 'ode', 'file', 'plugin', 'fmu', 'program', 'system' is missing, which say what "
              "it is."
            : "of the keys 'model', 'ode', 'file', 'plugin', 'fmu', 'program', 'system' only one can say what it is.";
    throw user_error(key.where, fmt::format("{}: {}", at.object, reason));
}

}  // namespace

const key_group& subsystem_keys() {
    static const key_group table = [] {
        auto folder = special<subsystem_spec>(
            "folder", "path", R"({"type": "string", "minLength": 1})",
            "Where a program runs. The path starts at the folder of the scenario.", read_folder,
            [](const subsystem_spec& s, yaml_node& out) { out = scalar_node(absolute_text(s.program.folder)); });
        std::vector<key_info> all = sources();
        all.push_back(special<subsystem_spec>(
                          "include", "file, or list of files", include_fragment,
                          "A file with keys of the subsystem; what the entry says itself comes before them, one by one "
                          "inside 'set'.",
                          {}, {})
                          .by_default("none"));
        all.push_back(folder.of(program_bit).by_default("the folder of the scenario"));
        all.push_back(limits_key());
        all.push_back(limit_key());  // before `isolate`, which may have one, too
        for (auto part : {of_files(), of_fmus(), of_most(), of_all()}) all.insert(all.end(), part.begin(), part.end());
        key_group made = group<subsystem_spec>("subsystem", "One model with its own solver.", std::move(all));
        made.one_of = {"model", "ode", "file", "plugin", "fmu", "program", "system"};
        made.prepare = find_source;
        made.sources_of = [](const void* owner) { return source_bit(static_cast<const subsystem_spec*>(owner)->kind); };
        return made;
    }();
    return table;
}

}  // namespace mdpcosim
