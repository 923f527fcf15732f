// schema/scenario.schema.json against the examples, which must be valid, and against wrong scenarios, which must not. The schema
// and the tables of docs/scenario.md are those that the program makes (tools/keys).
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#include <vector>

#include "api/key_tables.hpp"
#include "process.hpp"

namespace mdpcosim {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const fs::path source_dir = MDPCOSIM_SOURCE_DIR;

/// A plain scalar as YAML's core schema types it; quoted ones (tag "!") are strings.
json typed(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    if (node.Tag() == "!") return text;
    if (text == "true" || text == "false") return text == "true";
    const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
    const char* last = text.data() + text.size();
    std::int64_t whole = 0;
    if (const auto [end, error] = std::from_chars(first, last, whole); error == std::errc() && end == last)
        return whole;
    double number = 0;
    const bool digits = std::any_of(first, last, [](char c) { return c >= '0' && c <= '9'; });
    if (const auto [end, error] = std::from_chars(first, last, number); digits && error == std::errc() && end == last)
        return number;
    return text;
}

json to_json(const YAML::Node& node) {
    if (node.IsScalar()) return typed(node);
    if (node.IsSequence()) {
        json list = json::array();
        for (const auto& item : node) list.push_back(to_json(item));
        return list;
    }
    if (node.IsMap()) {
        json map = json::object();
        for (const auto& entry : node) map[entry.first.Scalar()] = to_json(entry.second);
        return map;
    }
    return nullptr;
}

class scenario_schema {
   public:
    scenario_schema() {
        std::ifstream in(source_dir / "schema" / "scenario.schema.json");
        const json document = json::parse(in);
        valijson::SchemaParser parser;
        parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(document), schema_);
    }

    /// What is wrong with the document, one finding per line; empty when it is valid.
    std::string findings(const json& document) const {
        valijson::Validator validator(valijson::Validator::kStrongTypes);
        valijson::ValidationResults results;
        if (validator.validate(schema_, valijson::adapters::NlohmannJsonAdapter(document), &results)) return {};
        std::string text;
        for (valijson::ValidationResults::Error error; results.popError(error);) {
            for (const auto& place : error.context) text += place;
            text += ": " + error.description + "\n";
        }
        return text;
    }

   private:
    valijson::Schema schema_;
};

const scenario_schema& schema() {
    static const scenario_schema only;
    return only;
}

std::vector<fs::path> example_files() {
    std::vector<fs::path> files;
    if (fs::is_directory(source_dir / "examples"))
        for (const auto& folder : fs::directory_iterator(source_dir / "examples"))
            if (folder.is_directory() && folder.path().extension() != ".out")
                for (const auto& file : fs::directory_iterator(folder))
                    if (file.path().extension() == ".yaml") files.push_back(file.path());
    std::sort(files.begin(), files.end());
    return files;
}

TEST(schema, every_example_is_valid) {
    const bool folders = fs::is_directory(source_dir / "examples") &&
                         std::any_of(fs::directory_iterator(source_dir / "examples"), fs::directory_iterator{},
                                     [](const auto& entry) { return entry.is_directory(); });
    const auto files = example_files();
    EXPECT_EQ(folders, !files.empty()) << "examples/ has folders, but none of them holds a scenario";
    for (const auto& file : files)
        EXPECT_EQ(schema().findings(to_json(YAML::LoadFile(file.string()))), "") << file.string();
}

TEST(schema, plain_scalars_are_typed_as_yaml_says) {
    const json document = to_json(YAML::Load("[1, -2.5e3, .5, +3, true, 20 us, '1', 1.2.3, -, yes, e, 1e400x]"));
    EXPECT_EQ(document, json::parse(R"([1, -2.5e3, 0.5, 3, true, "20 us", "1", "1.2.3", "-", "yes", "e", "1e400x"])"));
}

constexpr const char* minimal = "{time: {end: 1, step: 0.1}, subsystems: {a: {model: inertia}}}";

constexpr const char* complete = R"(
mdpcosim: 1
let: {c: 6.3e4 N.m/rad, half: 0.5, rule: poly-1, twice: $c}
time: {start: 0, end: 2 s, step: 20 us}
method: {name: iterated, points: 2, solver: newton}
include: [more.yaml]
extrapolation: {degree: 1, a: [1.5, -0.5], b: [0, 0], continuous: true}
subsystems:
  engine:
    ode:
      parameters: {J: 0.12 kg.m2, d: $half}
      states: {phi: 0 rad, w: 3000 rpm}
      algebraic: {heat: 0 W}
      inputs: {tau: 0 N.m}
      equations: {phi: w, w: (tau - d*w)/J, heat: d*w^2 - heat}
      outputs: {power: {value: tau*w, unit: W}, twice: 2*w, one: 1}
      events: [{when: w - 400, direction: rising, set: {w: 0.5*w}}, {when: phi, set: {phi: 0}}]
      contacts: {stop: {gap: 2 - phi, impulse: {w: -1/J}, restitution: 0.5, rest-speed: 1e-3}}
    set: {J: 0.13 kg.m2}
    solver: {name: cvode-bdf, rtol: 1e-8}
    input-degree: 2
    step: 40 us
    ports:
      shaft: {kind: rotation, causality: takes-load, angle: phi, speed: w, torque: tau}
      tip: {kind: frame, position: [x, y, z], orientation: [a, b, c, d], angular-velocity: [o, o, w], force: [F, G, H], torque: [S, T, U]}
    scene:
      - {rod: [[0, 0], [sin(phi), -cos(phi)]], port: shaft}
      - {box: [0, 0, 0], size: [1, 2, $half], quaternion: [cos(phi/2), 0, 0, sin(phi/2)]}
      - {disc: [0, 0], size: 0.2, angle: phi}
  brake: {model: inertia, set: {inertia: 0.4 kg.m2, w0: $half}, solver: erk-5, limit: 5 s, input-degree: $half}
  row: {model: chain, set: {n: 3, x0: [1, 2 mm, $half], left: fixed}, solver: {name: rk4, step: 1 us}, replicas: 2}
  unknown: {model: $half, set: {anything: 3}}
  taken: {include: taken.yaml, set: {J: 3}}
  pump: {plugin: libraries/pump.so, set: {volume: 28e-6 m3}, solver: rk4, input-degree: 1}
  valve: {program: ./valve --fast, set: {gain: 3, law: linear}, folder: programs, limit: 5 s, limits: {memory: 2 GB, cpu: 10 s, system-calls: compute}}
  rest: {system: rest.yaml, set: {c: 3 kN/m}, solver: {name: erk-5, rtol: 1e-8}, initial: equilibrium}
  guard: {program: [python3, guard.py, 7], step: solver}
  pid: {model: pid-sampled, sample: {time: 10 ms, offset: $half, delay: 2 ms}}
  relay: {model: pid-sampled, sample: 5 ms}
  cycle: {file: run42.csv, units: {demand: N.m}, interpolation: cubic, outside: repeat}
connections:
  coupling: {law: spring, between: [engine.shaft, brake.shaft], stiffness: $c, extrapolation: $rule, delay: 1 ms}
  node: {law: capacitance, between: [a.p, b.p, c.p], capacitance: 1 uF}
  hinge: {joint: revolute, between: [engine.tip, row.right]}
signals:
  - cycle.demand -> engine.demand
  - 2 N/m*a.x - b.y + 3 -> c.u
  - {connect: cycle.demand -> brake.demand, name: demand, extrapolation: poly-1, delay: $half}
record: {every: 1 ms, only: [engine.*, coupling.*]}
reference: {solver: {name: dirk-5, rtol: 1e-9}}
order: [brake, engine]
iteration: {solver: anderson, limit: 20}
step-control: {rtol: 1e-3, estimate: jump, level: both, smallest: 1 us}
placement: {groups: [[engine, brake]], cores: {engine: 1, master: 0}}
monitor: {divergence: note}
replicas: 1
)";

TEST(schema, takes_the_smallest_and_the_fullest_scenario) {
    EXPECT_EQ(schema().findings(to_json(YAML::Load(minimal))), "");
    EXPECT_EQ(schema().findings(to_json(YAML::Load(complete))), "");
}

/// `complete` with one place replaced by what must be refused.
struct wrong {
    const char* what;
    const char* from;
    const char* to;
};

class wrong_scenario : public testing::TestWithParam<wrong> {};

TEST_P(wrong_scenario, is_refused) {
    std::string text = complete;
    const std::size_t at = text.find(GetParam().from);
    ASSERT_NE(at, std::string::npos) << GetParam().from;
    text.replace(at, std::string(GetParam().from).size(), GetParam().to);
    EXPECT_NE(schema().findings(to_json(YAML::Load(text))), "") << text;
}

INSTANTIATE_TEST_SUITE_P(
    schema, wrong_scenario,
    testing::Values(
        wrong{"version", "mdpcosim: 1", "mdpcosim: 2"}, wrong{"unknown_section", "record:", "recrd:"},
        wrong{"no_time", "time: {start: 0, end: 2 s, step: 20 us}", ""}, wrong{"no_step", ", step: 20 us", ""},
        wrong{"time_without_number", "end: 2 s", "end: soon"}, wrong{"unknown_time_key", "start: 0", "begin: 0"},
        wrong{"bond_without_effort", "record:", "bonds: {a: {flow: x.y}}\nrecord:"},
        wrong{"bond_with_a_number", "record:", "bonds: {a: {flow: x.y, effort: y.x, correct: 2}}\nrecord:"},
        wrong{"list_in_let", "half: 0.5", "half: [0.5]"}, wrong{"name_with_blank", "  brake:", "  my brake:"},
        wrong{"name_with_dot", "  brake:", "  my.brake:"}, wrong{"no_source", "model: inertia, ", ""},
        wrong{"two_sources", "model: inertia,", "model: inertia, file: a.csv,"},
        wrong{"model_and_program", "program: ./valve", "model: inertia, program: ./valve"},
        wrong{"model_and_system", "system: rest.yaml", "model: inertia, system: rest.yaml"},
        wrong{"system_without_file", "system: rest.yaml", "system: ''"},
        wrong{"program_without_file", "program: ./valve --fast", "program: ''"},
        wrong{"solver_of_a_program", "program: ./valve --fast", "program: ./valve, solver: rk4"},
        wrong{"folder_of_a_plugin", "plugin: libraries/pump.so", "plugin: libraries/pump.so, folder: x"},
        wrong{"shape_of_nothing", "{disc: [0, 0], ", "{"},
        wrong{"point_with_one_coordinate", "{disc: [0, 0]", "{disc: [0]"},
        wrong{"outline_with_two_points", "{rod: [[0, 0], [sin(phi), -cos(phi)]], port: shaft}",
              "{outline: [[0, 0], [1, 1]]}"},
        wrong{"outline_at_one_coordinate", "{rod: [[0, 0], [sin(phi), -cos(phi)]], port: shaft}",
              "{outline: [[0, 0], [1, 1], [0, 1]], at: [1]}"},
        wrong{"closed_neither_yes_nor_no", "{rod: [[0, 0], [sin(phi), -cos(phi)]], port: shaft}",
              "{chain: [x, y], closed: 3}"},
        wrong{"chain_of_four_vectors", "{rod: [[0, 0], [sin(phi), -cos(phi)]], port: shaft}", "{chain: [a, b, c, d]}"},
        wrong{"rod_with_one_point", "rod: [[0, 0], [sin(phi), -cos(phi)]]", "rod: [[0, 0]]"},
        wrong{"unknown_shape", "{disc:", "{cone:"},
        wrong{"ports_of_a_model", "model: inertia,", "model: inertia, ports: {p: {kind: rotation}},"},
        wrong{"ports_of_a_plugin", "plugin: libraries/pump.so,",
              "plugin: libraries/pump.so, ports: {p: {kind: rotation}},"},
        wrong{"plugin_without_file", "plugin: libraries/pump.so", "plugin: ''"},
        wrong{"units_of_a_model", "model: inertia,", "model: inertia, units: {p: m},"},
        wrong{"solver_of_a_file", "file: run42.csv,", "file: run42.csv, solver: erk-5,"},
        wrong{"interpolation", "interpolation: cubic", "interpolation: spline"},
        wrong{"outside", "outside: repeat", "outside: mirror"},
        wrong{"sample_without_time", "time: 10 ms, offset", "offset"},
        wrong{"sample_key", "delay: 2 ms", "latency: 2 ms"},
        wrong{"sample_of_a_file", "outside: repeat", "sample: 5 ms"},
        wrong{"step_without_number", "step: 40 us", "step: soon"},
        wrong{"delay_without_number", "delay: $half", "delay: late"},
        wrong{"order_of_a_name", "order: [brake, engine]", "order: brake"},
        wrong{"limit_in_a_list", "limit: 5 s", "limit: [5 s]"},
        wrong{"system_calls_of_another_name", "system-calls: compute", "system-calls: some"},
        wrong{"limits_of_another_name", "cpu: 10 s", "time: 10 s"},
        wrong{"degree_too_high", "input-degree: 2", "input-degree: 7"},
        wrong{"degree_not_whole", "input-degree: 2", "input-degree: 1.5"},
        wrong{"port_kind", "kind: rotation", "kind: rotational"}, wrong{"port_without_kind", "kind: rotation, ", ""},
        wrong{"frame_of_a_scalar", "position: [x, y, z]", "position: x"},
        wrong{"frame_of_three", "orientation: [a, b, c, d]", "orientation: [a, b, c]"},
        wrong{"list_of_a_shaft", "angle: phi", "angle: [phi, phi, phi]"},
        wrong{"port_variable_of_another_kind", "angle: phi", "position: phi"},
        wrong{"causality", "takes-load", "takes_load"}, wrong{"ode_key", "equations:", "equation:"},
        wrong{"ode_name", "{J: 0.12 kg.m2,", "{J-x: 0.12 kg.m2,"},
        wrong{"ode_state_without_number", "phi: 0 rad", "phi: zero"},
        wrong{"output_without_value", "{value: tau*w, unit: W}", "{unit: W}"},
        wrong{"event_without_set", ", set: {phi: 0}", ""},
        wrong{"event_direction", "direction: rising", "direction: up"}, wrong{"no_law", "law: spring, ", ""},
        wrong{"no_ports", "between: [engine.shaft, brake.shaft], ", ""},
        wrong{"ports_not_a_list", "[engine.shaft, brake.shaft]", "engine.shaft"},
        wrong{"extrapolation_without_a", "a: [1.5, -0.5], ", ""},
        wrong{"extrapolation_key", "continuous: true", "smooth: true"},
        wrong{"continuous_not_bool", "continuous: true", "continuous: maybe"},
        wrong{"signal_without_arrow", "cycle.demand -> engine.demand", "cycle.demand"},
        wrong{"signal_without_target", "cycle.demand -> engine.demand", "cycle.demand ->"},
        wrong{"signal_without_source", "cycle.demand -> engine.demand", "'-> engine.demand'"},
        wrong{"signal_key", "connect:", "from:"}, wrong{"record_key", "every:", "each:"},
        wrong{"reference_key", "reference: {solver:", "reference: {solvers:"},
        wrong{"reference_solver", "{name: dirk-5, rtol: 1e-9}", "[dirk-5]"},
        wrong{"record_without_number", "every: 1 ms", "every: step"}),
    [](const auto& instance) { return std::string(instance.param.what); });

/// A wrong entry of a scenario, and what the finding must name: the place, and where a key is at fault the key.
struct placed {
    const char* what;
    const char* text;
    const char* place;
    const char* key;
};

class placed_mistake : public testing::TestWithParam<placed> {};

/// Every line of `text` is a part of the file; the rest is as in the smallest scenario.
std::string around(const std::string& text) {
    std::string whole = text + "\n";
    if (!text.starts_with("time:")) whole = "time: {end: 1, step: 0.1}\n" + whole;
    if (text.find("subsystems:") == std::string::npos) whole += "subsystems: {a: {model: inertia}}\n";
    return whole;
}

TEST_P(placed_mistake, is_found_where_it_is) {
    const std::string found = schema().findings(to_json(YAML::Load(around(GetParam().text))));
    EXPECT_NE(found.find(GetParam().place), std::string::npos) << found;
    EXPECT_NE(found.find(GetParam().key), std::string::npos) << found;
}

INSTANTIATE_TEST_SUITE_P(
    schema, placed_mistake,
    testing::Values(
        placed{"parameter_of_a_law", "connections: {k: {law: spring, between: [a.x, b.x], stifness: 1}}",
               "[connections][k]", "stifness"},
        placed{"needed_parameter_of_a_law", "connections: {k: {law: spring, between: [a.x, b.x]}}", "[connections][k]",
               "stiffness"},
        placed{"value_of_a_law", "connections: {k: {law: spring, between: [a.x, b.x], stiffness: stiff}}",
               "[connections][k][stiffness]", ""},
        placed{"law", "connections: {k: {law: sprng, between: [a.x, b.x]}}", "[connections][k][law]", ""},
        placed{"joint", "connections: {k: {joint: revolut, between: [a.x, b.x]}}", "[connections][k][joint]", ""},
        placed{"parameter_of_a_joint", "connections: {k: {joint: revolute, between: [a.x, b.x], axs: [0, 0, 1]}}",
               "[connections][k]", "axs"},
        placed{"model", "subsystems: {a: {model: msd}}", "[subsystems][a][model]", ""},
        placed{"parameter_of_a_model", "subsystems: {a: {model: inertia, set: {inerta: 1}}}", "[subsystems][a][set]",
               "inerta"},
        placed{"word_of_a_model", "subsystems: {a: {model: chain, set: {left: fixd}}}", "[subsystems][a][set][left]",
               ""},
        placed{"range_of_a_model", "subsystems: {a: {model: inertia, set: {inertia: -1}}}",
               "[subsystems][a][set][inertia]", ""},
        placed{"sample_of_a_continuous_model", "subsystems: {a: {model: inertia, sample: 1 ms}}", "[subsystems][a]",
               "sample"},
        placed{"solver", "subsystems: {a: {model: inertia, solver: rk5}}", "[subsystems][a][solver]", ""},
        placed{"solver_in_a_map", "subsystems: {a: {model: inertia, solver: {name: rk5}}}",
               "[subsystems][a][solver][name]", ""},
        placed{"option_of_a_solver", "subsystems: {a: {model: inertia, solver: {name: rk4, rtol: 1}}}",
               "[subsystems][a][solver]", "rtol"},
        placed{"option_of_the_default_solver", "subsystems: {a: {model: inertia, solver: {rtoll: 1}}}",
               "[subsystems][a][solver]", "rtoll"},
        placed{"method", "method: explict", "[method]", ""},
        placed{"option_of_a_method", "method: {name: iterated, pionts: 2}", "[method]", "pionts"},
        placed{"extrapolation", "extrapolation: ploy-1", "[extrapolation]", ""},
        placed{"extrapolation_of_a_signal", "signals: [{connect: a.y -> b.u, extrapolation: ploy-1}]",
               "[signals][0][extrapolation]", ""},
        placed{"option_of_iteration", "iteration: {solver: newton, limt: 3}", "[iteration]", "limt"},
        placed{"key_of_monitor", "monitor: {divergenc: stop}", "[monitor]", "divergenc"},
        placed{"word_of_monitor", "monitor: {divergence: stopp}", "[monitor][divergence]", ""},
        placed{"variable_of_a_port", "subsystems: {a: {ode: {}, ports: {p: {kind: rotation, angel: x}}}}",
               "[subsystems][a][ports][p]", "angel"},
        placed{"parts_of_a_model_without", "subsystems: {a: {model: inertia, parts: {x: {kind: y}}}}",
               "[subsystems][a]", "parts"},
        placed{"step", "time: {end: 1, step: -1}", "[time][step]", ""}),
    [](const auto& instance) { return std::string(instance.param.what); });

class right_scenario : public testing::TestWithParam<const char*> {};

TEST_P(right_scenario, is_accepted) {
    EXPECT_EQ(schema().findings(to_json(YAML::Load(around(GetParam())))), "") << GetParam();
}

INSTANTIATE_TEST_SUITE_P(
    schema, right_scenario,
    testing::Values(
        "connections: {k: {law: spring, between: [a.x, b.x], stiffness: 2 kN/m, length: 1}}",
        "connections: {k: {law: $law, between: [a.x, b.x], anything: 1}}",
        "connections: {k: {law: stop, between: [a.x, b.x], stiffness: $c, upper: 1 mm}}",
        "connections: {k: {joint: revolute, between: [a.x, b.x]}}",
        "subsystems: {a: {model: inertia, set: {inertia: 1 kg.m2, w0: 60 rpm}}}",
        "subsystems: {a: {model: inertia, set: }}",
        "subsystems: {a: {model: chain, set: {n: 2, x0: [1 mm, 2], left: $side}}}",
        "subsystems: {a: {model: pid-sampled, sample: 1 ms}}",
        "subsystems: {a: {model: pid-sampled, sample: {time: 1 ms, delay: 0}, set: {kp: 3}}}",
        "subsystems: {a: {model: inertia, solver: {rtol: 1e-8}}}",
        "subsystems: {a: {model: inertia, solver: {name: $s, anything: 1}}}",
        "subsystems: {a: {fmu: a.fmu, set: {body.mass: 3, text: word}, isolate: {limit: 3 s}}}",
        "subsystems: {a: {program: [./a, 3], folder: x}}",
        "subsystems: {a: {include: a.yaml, set: {J: 3}, ports: {p: {kind: thermal, temperature: T, heat-flow: Q}}}}",
        "include: a.yaml", "method: semi-implicit", "method: {name: $m, anything: 2}",
        "method: {name: multirate, scheme: sequential}\norder: [a]", "extrapolation: hermite-2",
        "extrapolation: {name: lin-2-3-opt-F, F: 3}", "extrapolation: {degree: 0, a: 1}", "iteration: iqn-ils",
        "iteration: {}", "record: {only: a.*}", "replicas: 0",
        "signals: [2*a.y - b.y + 3 -> c.u, {connect: a.y -> b.u, name: n, delay: 1 ms}]",
        "reference: {solver: {name: cvode-bdf, rtol: 1e-9}}"));

std::string content_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

TEST(schema, is_the_one_that_the_program_makes) {
    test::process list({MDPCOSIM_PROGRAM, "list", "schema"}, {});
    EXPECT_TRUE(list.wait().out == content_of(source_dir / "schema" / "scenario.schema.json"))
        << "run 'tools/keys " MDPCOSIM_PROGRAM "'";
}

TEST(guide, has_the_tables_of_keys_that_the_program_makes) {
    std::istringstream lines(content_of(source_dir / "docs" / "scenario.md"));
    std::vector<std::string> seen;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("<!-- keys: ")) continue;
        seen.push_back(line.substr(11, line.size() - 15));
        std::string table;
        while (std::getline(lines, line) && line != "<!-- end of keys -->") table += line + "\n";
        EXPECT_EQ(table, key_table(seen.back())) << "run 'tools/keys " MDPCOSIM_PROGRAM "'";
    }
    EXPECT_GE(seen.size(), 15U);
}

}  // namespace
}  // namespace mdpcosim
