#include <cctype>
#include <cmath>

#include "scenario/key_builders.hpp"

/// Keys at the top of a scenario, and those of the sections about the whole run.
namespace mdpcosim {

using namespace keys;

namespace {

const key_group& time_keys() {
    static const key_group table = group<time_spec>(
        "time", "The span of the run and the macro step.",
        {number<time_spec>("start", &time_spec::start, "s", "Where the run starts.").by_default("0 s"),
         then<time_spec>(
             number<time_spec>("end", &time_spec::end, "s", "Where the run ends, after the start.").needed(),
             [](time_spec& time, const yaml_node& node, const key_place&) {
                 if (!(time.end > time.start))
                     throw user_error(node.where,
                                      fmt::format("time: end {} s must lie after start {} s.", time.end, time.start));
             }),
         then<time_spec>(number<time_spec>("step", &time_spec::step, "s",
                                           "Macro step H: the time between two exchanges; the last one may be shorter.")
                             .positive()
                             .needed(),
                         [](time_spec& time, const yaml_node& node, const key_place&) {
                             // Neighbouring macro points must differ by more than rounding.
                             if (!(time.step > 1e-14 * std::max(std::abs(time.start), std::abs(time.end))))
                                 throw user_error(
                                     node.where,
                                     fmt::format("time: step {} s is too small for {} s to {} s: numbers have 16 "
                                                 "digits.",
                                                 time.step, time.start, time.end));
                         })});
    return table;
}

const key_group& method_keys() {
    static const key_group table = group<scenario>(
        "method", "A method of the macro step with its options.",
        {word<scenario>("name", &scenario::method, "A name out of 'mdpcosim list methods'.")
             .from(catalogue::methods)
             .by_default("explicit")},
        {settings<scenario>("option", &scenario::method_options, setting_values::any, "An option of the method.")
             .from(catalogue::methods)});
    return table;
}

const key_group& iteration_keys() {
    static const key_group table = group<iteration_spec>(
        "iteration", "How algebraic loops are solved.", {},
        {settings<iteration_spec>("option", &iteration_spec::options, setting_values::any, "An option.")
             .from(catalogue::iteration)});
    return table;
}

/// `smallest` and `largest` lie around the first step.
key_info step_bound(const char* name, std::optional<double> step_control_spec::*bound, bool below,
                    const char* description) {
    return then<step_control_spec>(
        number<step_control_spec>(name, bound, "s", description).positive(),
        [=](step_control_spec& control, const yaml_node& node, const key_place& at) {
            const double first = at.in.whole->time.step, value = *(control.*bound);
            if (below ? value > first : value < first)
                throw user_error(node.where,
                                 fmt::format("step-control: {} {} s is {} the first step, 'time: step', of {} s.", name,
                                             value, below ? "above" : "below", first));
        });
}

const key_group& step_control_keys() {
    using spec = step_control_spec;
    static const key_group table = group<spec>(
        "step-control", "Macro steps that follow an estimate of the coupling error; 'time: step' is the first one.",
        {number<spec>("rtol", &spec::rtol, "1", "Relative tolerance of coupled outputs.").positive().needed(),
         then<spec>(number<spec>("atol", &spec::atol, "1", "Absolute tolerance of values, in SI units.")
                        .positive()
                        .by_default("1e-6"),
                    [](spec& control, const yaml_node&, const key_place&) { control.atol_rate = control.atol; }),
         number<spec>("atol-rate", &spec::atol_rate, "1", "Absolute tolerance of rates, in SI units.")
             .positive()
             .by_default("as `atol`"),
         word<spec>("estimate", &spec::estimate,
                    "How the error is estimated: by a second integration, from what extrapolations missed, or from "
                    "the energy that couplings make.",
                    {"trial", "jump", "energy"})
             .by_default("`trial`"),
         word<spec>("level", &spec::level, "What is held to the tolerances.", {"value", "rate", "both"})
             .by_default("`both`"),
         word<spec>("over", &spec::over,
                    "What tolerances speak of: errors over the whole run, or those that one macro step adds.",
                    {"run", "step"})
             .by_default("`run`"),
         step_bound("smallest", &spec::smallest, true, "Smallest macro step.").by_default("1e-10 of the first step"),
         step_bound("largest", &spec::largest, false, "Largest macro step.").by_default("a twentieth of the run")});
    return table;
}

const key_group& record_keys() {
    static const key_group table = [] {
        key_info only = words<record_spec>("only", &record_spec::only,
                                           "Addresses to record, one pattern or a list; '*' stands for any text.");
        only.when_empty = "Leave it out to record everything.";
        return group<record_spec>(
            "record", "What the results keep.",
            {number<record_spec>("every", &record_spec::every, "s", "Time between two recorded rows.")
                 .positive()
                 .by_default("every macro step"),
             only.by_default("everything but `der(...)`"),
             word<record_spec>("units", &record_spec::units,
                               "Units in the first line of results.csv, `a.x [m]`: `header` in SI, `display` with "
                               "variables of FMUs in their display units.",
                               {"none", "header", "display"})
                 .by_default("`none`"),
             flag<record_spec>("csv", &record_spec::csv, "Whether rows go into results.csv, as text.", true)
                 .by_default("`true`"),
             flag<record_spec>("hdf5", &record_spec::hdf5, "Whether rows go into results.h5, as numbers.", true)
                 .by_default("`true`")});
    }();
    return table;
}

const key_group& reference_keys() {
    static const key_group table =
        group<reference_spec>("reference", "How 'mdpcosim run --monolithic' integrates the scenario as one system.",
                              {map<reference_spec>("solver", &reference_spec::solver, solver_keys,
                                                   "The one solver of the whole system.", "name")
                                   .from(catalogue::solvers)
                                   .by_default("erk-6, rtol 1e-12, atol 1e-15")});
    return table;
}

const key_group& monitor_keys() {
    static const key_group table = group<monitor_spec>(
        "monitor", "What is made of a coupling that diverges.",
        {word<monitor_spec>("divergence", &monitor_spec::divergence,
                            "A diverging coupling ends the run, or is noted in the summary.", {"stop", "note"})
             .by_default("`stop`")});
    return table;
}

/// A number with a unit that only the results know.
key_info expected_number(const char* name, text expectation_spec::*value, const char* description) {
    return special<expectation_spec>(
        name, "number with unit", R"({"$ref": "#/definitions/quantity"})", description,
        [=](expectation_spec& e, const yaml_node& node, const key_place& at) {
            e.*value = read_text(node, at.in.let, at.whole());
        },
        [=](const expectation_spec& e, yaml_node& out) {
            if (!(e.*value).empty()) out = scalar_node((e.*value).value);
        });
}

void check_expectation(void* owner, const yaml_node& node, const key_place& at) {
    const auto& e = *static_cast<const expectation_spec*>(owner);
    const auto refuse = [&](const char* reason) {
        throw user_error(node.where, fmt::format("{}: {}.", at.object, reason));
    };
    if (!e.file.empty() && !e.variable.empty()) refuse("give 'variable' or 'file', not both");
    const bool bounds = !e.min.empty() || !e.max.empty();
    if (e.file.empty()) {
        if (e.end.empty() && !bounds) refuse("give 'end' with 'within', 'min', 'max', or some of them");
        if (e.end.empty() != e.within.empty()) refuse("'end' and 'within' go together");
        if (!e.only.empty()) refuse("'only' chooses columns of a 'file'");
    } else {
        if (!e.end.empty() || bounds) refuse("'end', 'min' and 'max' belong to a 'variable', not to a 'file'");
        if (e.within.empty()) refuse("key 'within' is missing: the share of each column's range, for example '1 %'");
    }
}

const key_group& expectation_keys() {
    using spec = expectation_spec;
    static const key_group table = [] {
        key_group made = group<spec>(
            "expect", "What the results must be; otherwise the run is judged wrong.",
            {word<spec>("variable", &spec::variable, "A recorded variable, by its address."),
             expected_number("end", &spec::end, "Its value at the end of the run."),
             expected_number("min", &spec::min, "What it must not fall below at any recorded time."),
             expected_number("max", &spec::max, "What it must not exceed at any recorded time."),
             special<spec>(
                 "file", "path", R"({"type": "string", "minLength": 1})",
                 "A CSV file with a column 'time', as results.csv. The path starts at the folder of the scenario.",
                 [](spec& e, const yaml_node& node, const key_place& at) {
                     e.file = read_text(node, at.in.let, at.whole());
                     e.path = at.in.folder_of(node.where) / e.file.value;
                 },
                 [](const spec& e, yaml_node& out) {
                     if (!e.file.empty())
                         out = scalar_node(std::filesystem::absolute(e.path).lexically_normal().string());
                 }),
             words<spec>("only", &spec::only, "Columns of the file to compare; '*' stands for any text.")
                 .by_default("all that the results have, too"),
             expected_number("within", &spec::within,
                             "How far 'end' may be off; of a file, the share of each column's range.")});
        made.one_of = {"variable", "file"};
        made.check = check_expectation;
        return made;
    }();
    return table;
}

/// Names of subsystems, each at most once.
class roll_call {
   public:
    roll_call(const std::vector<subsystem_spec>& subsystems, std::vector<std::string> further, const char* object)
        : known_(std::move(further)), object_(object) {
        for (const auto& s : subsystems) known_.push_back(s.name);
        missing_ = known_;
    }
    void call(const std::string& name, const location& where, const std::string& owner) {
        if (std::ranges::find(known_, name) == known_.end())
            throw user_error(where, fmt::format("{}: {}", object_, unknown_name("subsystem", name, owner, known_)));
        if (std::erase(missing_, name) == 0)
            throw user_error(where, fmt::format("{}: subsystem '{}' is named twice.", object_, name));
    }
    const std::vector<std::string>& missing() const { return missing_; }

   private:
    std::vector<std::string> known_, missing_;
    const char* object_;
};

void read_groups(placement_spec& placement, const yaml_node& node, const key_place& at) {
    if (node.kind != yaml_node::type::list)
        throw user_error(node.where, fmt::format("placement: 'groups' is a list of lists of subsystems, not {}.",
                                                 describe(node.kind)));
    roll_call names(at.in.whole->subsystems, {}, "placement: groups");
    for (const auto& item : node.items) {
        if (item.kind != yaml_node::type::list || item.items.empty())
            throw user_error(item.where, "placement: a group is a list of subsystems, for example [a, b].");
        placement.groups.push_back(read_setting({"groups", item.where}, item, at.in.let, "placement: groups").values);
        for (const auto& name : placement.groups.back()) names.call(name.value, name.where, "The scenario");
    }
}

void check_cores(placement_spec& placement, const yaml_node&, const key_place& at) {
    roll_call names(at.in.whole->subsystems, {"master"}, "placement: cores");
    for (const auto& entry : placement.cores) {
        names.call(entry.name, entry.where, "The scenario");
        const std::string& number = entry.values.empty() ? entry.name : entry.values[0].value;
        if (entry.list || number.empty() || number.size() > 5 || !std::ranges::all_of(number, ::isdigit))
            throw user_error(entry.where,
                             fmt::format("placement: cores: '{}' needs the number of one processing unit, for example "
                                         "'{}: 0'.",
                                         entry.name, entry.name));
    }
}

const key_group& placement_keys() {
    using spec = placement_spec;
    static const key_group table = group<spec>(
        "placement", "Who works where; results do not depend on it.",
        {special<spec>(
             "groups", "lists of subsystems",
             R"({"type": "array", "items": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}}})",
             "Subsystems that share a process ('processes', 'tcp') or a rank ('mpi').", read_groups,
             [](const spec& placement, yaml_node& out) {
                 if (!placement.groups.empty()) out.kind = yaml_node::type::list;
                 for (const auto& names : placement.groups) out.items.push_back(list_node(names));
             })
             .by_default("neighbours together, `--workers` of them"),
         then<spec>(settings<spec>("cores", &spec::cores, setting_values::whole,
                                   "The processing unit that a subsystem, or 'master' (the thread that couples), is "
                                   "bound to.")
                        .by_default("by measured cost"),
                    check_cores)});
    return table;
}

void check_order(scenario& s, const yaml_node& node, const key_place&) {
    s.order.where = node.where;
    roll_call names(s.subsystems, {}, "order");
    for (const text& name : s.order.names) names.call(name.value, name.where, "The scenario");
    if (!names.missing().empty())
        throw user_error(node.where, fmt::format("order: all subsystems are named, those are missing: {}.",
                                                 name_list(names.missing())));
}

void read_version(scenario&, const yaml_node& node, const key_place& at) {
    const text version = read_text(node, at.in.let, at.whole());
    if (version.value != "1")
        throw user_error(version.where,
                         fmt::format("scenario: this program reads version 1, not '{}'.", version.value));
}

std::string title_of_signal(const yaml_node& item, std::size_t) {
    const yaml_node* connect = item.kind == yaml_node::type::map ? item.find("connect") : &item;
    return connect == nullptr || connect->scalar.empty() ? "signal" : fmt::format("signal '{}'", connect->scalar);
}

std::vector<key_info> what_is_coupled() {
    auto subsystems = entries<scenario>("subsystems", &scenario::subsystems, subsystem_keys, "subsystem",
                                        "What is coupled: models, each with its own solver.")
                          .needed();
    return {then<scenario>(subsystems,
                           [](scenario& s, const yaml_node& node, const key_place&) {
                               if (s.subsystems.empty())
                                   throw user_error(node.where, "subsystems: at least one subsystem is needed.");
                           }),
            entries<scenario>("connections", &scenario::connections, connection_keys, "connection",
                              "Physical couplings between ports, by name.")
                .by_default("none"),
            list<scenario>("signals", &scenario::signals, signal_keys, title_of_signal, "'- a.y -> b.u'",
                           "One-way couplings of outputs to inputs; every input takes at most one.", "connect")
                .by_default("none"),
            entries<scenario>("bonds", &scenario::bonds, bond_keys, "bond",
                              "Pairs of signals that exchange power: their energy is watched, and corrected if wanted.")
                .by_default("none")
                .more_in("bonds.md")};
}

std::vector<key_info> how_it_is_run() {
    auto method = map<scenario>("method", std::identity{}, method_keys,
                                "How one macro step is done: a name out of 'mdpcosim list methods', or its name and "
                                "options.",
                                "name")
                      .by_default("`explicit`")
                      .from(catalogue::methods);
    method.before_objects = true;
    auto time = map<scenario>("time", &scenario::time, time_keys, "The span of the run and the macro step.").needed();
    time.before_objects = true;
    return {time, method,
            map<scenario>("extrapolation", &scenario::extrapolation, extrapolation_keys,
                          "How coupling variables are continued over a macro step, for connections without a rule of "
                          "their own.",
                          "name")
                .from(catalogue::extrapolations)
                .by_default("by law")
                .more_in("methods/extrapolations.md")};
}

std::vector<key_info> sections() {
    const auto first = [](key_info k) {
        k.before_objects = true;
        return k;
    };
    auto order = words<scenario>(
        "order", [](auto& s) -> auto& { return s.order.names; },
        "Who goes first: all subsystems, for 'method: {name: multirate, scheme: sequential}'.", "all subsystems",
        ", [first, second]");
    auto replicas = whole<scenario>("replicas", &scenario::replicas, 0,
                                    "More instances of every model, 'ode' and 'file', so that trial steps are done at "
                                    "the same time.")
                        .by_default("0")
                        .more_in("methods/semi-implicit.md");
    replicas.most = most_replicas;
    replicas.derived = true;  // written at the subsystems
    return {
        then<scenario>(order.by_default("from the graph of couplings").more_in("methods/multirate.md"), check_order),
        map<scenario>("iteration", &scenario::iteration, iteration_keys,
                      "Algebraic loops are solved at the start and at every macro point, instead of refused: a "
                      "solver, or options.",
                      "solver")
            .from(catalogue::iteration)
            .by_default("refused")
            .more_in("methods/iteration.md"),
        first(map<scenario>("step-control", &scenario::step_control, step_control_keys,
                            "Macro steps that follow the coupling error.")
                  .by_default("equal steps")
                  .more_in("methods/step-control.md")),
        map<scenario>("placement", &scenario::placement, placement_keys, "Who works where.")
            .by_default("by measured cost")
            .more_in("transports.md")
            .over_lines(),
        map<scenario>("monitor", &scenario::monitor, monitor_keys, "What is made of a coupling that diverges.")
            .by_default("the run ends"),
        list<scenario>(
            "expect", &scenario::expect, expectation_keys,
            [](const yaml_node&, std::size_t number) { return fmt::format("expectation {}", number); },
            "'- {variable: a.y, end: 1 m, within: 1 mm}'",
            "What the results must be; a run that does not meet it is judged wrong and ends with status 3.")
            .by_default("nothing")
            .more_in("trust.md"),
        first(map<scenario>("record", &scenario::record, record_keys, "What the results keep.")
                  .by_default("everything, at every macro step")),
        map<scenario>("reference", &scenario::reference, reference_keys, "The one solver of 'run --monolithic'.")
            .by_default("erk-6, rtol 1e-12, atol 1e-15")
            .more_in("reference.md"),
        replicas};
}

/// The file itself, and what it takes from others.
std::vector<key_info> preliminaries() {
    const auto version = [](const scenario&, yaml_node& out) { out = scalar_node("1"); };
    auto let = settings<scenario>("let", &scenario::let, setting_values::word,
                                  "Names with values for use as '$name' anywhere below; a value may refer to an "
                                  "earlier one.")
                   .by_default("none")
                   .over_lines();
    let.name_pattern = "^[A-Za-z_][A-Za-z0-9_-]*$";
    let.read = {};  // before everything else: read_tree()
    return {special<scenario>("mdpcosim", "`1`", R"({"const": 1})", "Version of the scenario format.", read_version,
                              version)
                .by_default("1"),
            special<scenario>(
                "include", "file, or list of files", include_fragment,
                "Files whose 'let', 'subsystems', 'connections', 'signals' and 'bonds' are part of the scenario. "
                "Paths start at the folder of the file they stand in.",
                {}, {})
                .by_default("none"),
            let};
}

}  // namespace

const key_group& scenario_keys() {
    static const key_group table = [] {
        std::vector<key_info> all;
        for (auto part : {preliminaries(), how_it_is_run(), what_is_coupled(), sections()})
            all.insert(all.end(), part.begin(), part.end());
        return group<scenario>("scenario",
                               "A coupled simulation: subsystems with their own solvers, the connections and signals "
                               "that couple them, the macro step and the method.",
                               std::move(all));
    }();
    return table;
}

}  // namespace mdpcosim
