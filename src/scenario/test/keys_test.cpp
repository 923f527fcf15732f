#include "scenario/keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "scenario/read.hpp"

// The contract of the tables of keys: every key is read, written, read again as the same, and reached by `--set`.

namespace mdpcosim {
namespace {

/// Every key of every group at least once.
const char* const everything = R"y(
mdpcosim: 1
let: {c: 1 kN/m, word: rk4}
time: {start: -1 ms, end: 2 s, step: 20 us}
method: {name: iterated, points: 2}
extrapolation: {degree: 1, a: [1.5, -0.5], b: [0, 0.1], continuous: true}
subsystems:
  m:
    model: chain
    set: {n: 3, x0: [1 mm, -2e-3, 3 mm], left: fixed}
    solver: {name: rk4, step: 1 us}
    input-degree: 2
    initial: equilibrium
    inertia: {left: 2 kg, left+right: 3 kg}
    limit: 5 s
    replicas: 2
    step: solver
    sample: {time: 10 ms, offset: 20 ms, delay: 5 ms}
    parts:
      wheel: {kind: sprocket, teeth: 19, parts: {hub: {kind: bearing, on: wheel}}}
    scene:
      - {ball: [0, x], size: 0.1, port: p}
      - {box: [0, 0, 0], size: [1, 2, 3], quaternion: [q0, q1, q2, q3]}
      - {disc: [0, 0], angle: phi}
      - {rod: [[0, 0], [1, x]]}
      - {spring: [[0, 0], [1, x]]}
      - {line: [[0, 0], [1, x], [2, 3]]}
      - {outline: [[0, 0], [1, 0], [1, 1]], at: [1, x], angle: phi, closed: no}
      - {chain: [pins.x, pins.y], size: 5 mm}
  e:
    ode:
      parameters: {L: 1 m}
      states: {phi: 60 deg, w: 0}
      algebraic: {z: 1}
      inputs: {T: 0 N.m}
      equations: {phi: w, w: "-$c/L*sin(phi) + T", z: z - phi}
      outputs: {x: L*sin(phi), E: {value: w^2, unit: 1/s2}}
      events: [{when: phi - 1, direction: rising, set: {w: -w}}]
      contacts: {stop: {gap: 2 - phi, impulse: {w: -1/L}, restitution: 0.5, rest-speed: 1e-3}}
    ports: {shaft: {kind: rotation, causality: takes-load, angle: phi, torque: T}}
    step: 40 us
  d: {file: run.csv, units: {demand: N.m}, kinds: {on: boolean}, interpolation: hold, outside: repeat}
  p: {plugin: pump.so, set: {volume: 1}}
  f: {fmu: a.fmu, interface: model-exchange, tolerance: 1e-5, outputs: [x, y], continuous: [u], driven: [k], exact: [n], log: all, isolate: {limit: 10 s, apart: true, because: crashes},
      limits: {memory: 2 GB, cpu: 10 s, system-calls: compute}}
  g: {program: [./valve, --fast], folder: programs}
  s: {system: other.yaml, set: {c: 2}, initial: equilibrium}
connections:
  k: {law: spring, between: [m.right, e.shaft], stiffness: $c, extrapolation: {name: lin-2-3-opt-F, F: 20}, delay: 1 ms}
  j: {joint: revolute, between: [m.left, e.shaft]}
signals:
  - e.x -> f.u
  - {connect: "2 kN/m*d.x - 3 kN -> f.v", name: demand, extrapolation: poly-1, delay: 2 ms}
bonds:
  shaft: {flow: f.u, effort: demand, correct: true}
order: [e, m, d, p, f, g, s]
iteration: {solver: newton, limit: 20}
step-control: {rtol: 1e-3, atol: 1e-5, atol-rate: 1e-4, estimate: jump, level: value, over: step, smallest: 1 us, largest: 1 ms}
placement: {groups: [[m, e], [d]], cores: {m: 1, master: 0}}
monitor: {divergence: note}
expect:
  - {variable: k.u, end: 3 N, within: 1 N, min: -1 kN, max: 1 kN}
  - {file: expected.csv, only: ["m.*"], within: 1 %}
record: {every: 1 ms, only: [m.*, "*.u"], units: header, csv: false, hdf5: false}
reference: {solver: {name: dirk-5, rtol: 1e-9}}
replicas: 1
)y";

scenario read_tree_text(const yaml_node& root, const std::vector<scenario_override>& overrides = {}) {
    return read_scenario_text(write_yaml(root), "keys.yaml", "/data", overrides);
}

std::string flow_text(const yaml_node& node) {
    yaml_node map;
    map.kind = yaml_node::type::map;
    map.entries.push_back({yaml_key{"x", {}}, node});
    const std::string text = write_yaml(map);
    return text.substr(3, text.size() - 4);
}

/// One key somewhere in the tree: the map that holds it, and its address for `--set`.
struct found_key {
    const key_group* group;
    const key_info* info;
    yaml_node* map;
    std::string address;
};

using found_keys = std::vector<found_key>;

void walk(yaml_node& map, const key_group& group, const std::string& prefix, found_keys& found);

/// Named signals are objects; other items of lists have numbers.
std::string title(yaml_node& item, const std::string& address, std::size_t number) {
    const yaml_node* name = address == "signals" ? item.find("name") : nullptr;
    return name != nullptr ? name->scalar : address + "." + std::to_string(number);
}

void walk_value(yaml_node& value, const key_info& info, const std::string& address, found_keys& found) {
    if (info.inner == nullptr) return;
    const bool objects = address == "subsystems" || address == "connections";
    if (info.kind == key_info::type::entries) {
        for (auto& [key, entry] : value.entries)
            if (entry.kind == yaml_node::type::map)
                walk(entry, info.inner(), (objects ? "" : address + ".") + key.name + ".", found);
    } else if (info.kind == key_info::type::list) {
        for (std::size_t i = 0; i < value.items.size(); ++i)
            if (yaml_node& item = value.items[i]; item.kind == yaml_node::type::map)
                walk(item, info.inner(), title(item, address, i + 1) + ".", found);
    } else if (value.kind == yaml_node::type::map) {
        walk(value, info.inner(), address + ".", found);
    }
}

void walk(yaml_node& map, const key_group& group, const std::string& prefix, found_keys& found) {
    for (auto& [key, value] : map.entries) {
        const key_info* info = group.find(key.name);
        if (info == nullptr) continue;
        found.push_back({&group, info, &map, prefix + info->name});
        walk_value(value, *info, prefix + info->name, found);
    }
}

std::set<std::string> names(const found_keys& found) {
    std::set<std::string> all;
    for (const auto& k : found) all.insert(k.group->name + "." + k.info->name);
    return all;
}

TEST(keys, the_scenario_of_these_tests_has_every_key_and_all_are_written) {
    yaml_node root = read_yaml_text(everything, "keys.yaml");
    yaml_node again = read_yaml_text(write_scenario(read_tree_text(root)), "again.yaml");
    found_keys given, written;
    walk(root, scenario_keys(), "", given);
    walk(again, scenario_keys(), "", written);
    for (const key_group* group : all_key_groups())
        for (const auto& info : group->keys) {
            if (info.name == "include") continue;
            const std::string name = group->name + "." + info.name;
            EXPECT_TRUE(names(given).contains(name)) << name;
            EXPECT_TRUE(names(written).contains(name) || info.derived) << name;
        }
}

TEST(keys, what_is_written_reads_back_as_the_same) {
    const std::string first = write_scenario(read_scenario_text(everything, "keys.yaml", "/data"));
    EXPECT_EQ(write_scenario(read_scenario_text(first, "again.yaml", "/elsewhere")), first);
}

TEST(keys, every_example_is_written_and_read_back_as_the_same) {
    int examples = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(MDPCOSIM_SOURCE_DIR "/examples")) {
        if (file.path().extension() != ".yaml" || !exists(file.path().parent_path() / "README.md"))
            continue;  // included parts, results
        const scenario s = read_scenario(file.path());
        const std::string first = write_scenario(s);
        const scenario t = read_scenario_text(first, "again.yaml", "/elsewhere");
        EXPECT_EQ(write_scenario(t), first) << file.path();
        EXPECT_EQ(t.subsystems.size(), s.subsystems.size());
        EXPECT_EQ(t.connections.size(), s.connections.size());
        EXPECT_EQ(t.signals.size(), s.signals.size());
        ++examples;
    }
    EXPECT_GT(examples, 20);
}

TEST(keys, every_key_is_reached_by_set) {
    const std::string expected = write_scenario(read_scenario_text(everything, "keys.yaml", "/data"));
    yaml_node all = read_yaml_text(everything, "keys.yaml");
    found_keys found;
    walk(all, scenario_keys(), "", found);
    ASSERT_GT(found.size(), 100U);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::string& name = found[i].info->name;
        // Whole objects are made in the file; the name of a signal is how it is found.
        if (name == "subsystems" || name == "connections" || name == "signals" || found[i].address == "demand.name")
            continue;
        yaml_node without = read_yaml_text(everything, "keys.yaml");
        found_keys here;
        walk(without, scenario_keys(), "", here);
        auto& entries = here[i].map->entries;
        const auto place =
            std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.key.name == name; });
        const std::string value = flow_text(place->value);
        entries.erase(place);
        const std::string option = "--set " + here[i].address + "=" + value;
        try {
            EXPECT_EQ(write_scenario(read_tree_text(without, {{here[i].address, value, option}})), expected) << option;
        } catch (const user_error& problem) {
            ADD_FAILURE() << option << "\n" << problem.what();
        }
    }
}

TEST(keys, settings_are_reached_by_name) {
    const auto with = [](const std::string& address, const std::string& value) {
        return read_scenario_text(everything, "keys.yaml", "/data", {{address, value, "--set " + address}});
    };
    EXPECT_EQ(with("m.set.n", "4").subsystems[0].set[0].values[0].value, "4");
    EXPECT_EQ(with("m.n", "4").subsystems[0].set[0].values[0].value, "4");
    EXPECT_EQ(with("m.inertia", "4").subsystems[0].set.back().name, "inertia");
    EXPECT_EQ(with("m.inertia.left", "4 kg").subsystems[0].inertia[0].values[0].value, "4 kg");
    EXPECT_EQ(with("m.inertia", "{left: 4 kg}").subsystems[0].inertia.size(), 1U);
    EXPECT_EQ(with("e.ode.states.phi", "1").subsystems[1].ode.states[0].values[0].value, "1");
    EXPECT_EQ(with("e.ode.events.1.set.w", "0").subsystems[1].ode.events[0].set[0].values[0].value, "0");
    EXPECT_EQ(with("e.ode.contacts.stop.restitution", "0").subsystems[1].ode.contacts[0].restitution.value, "0");
    EXPECT_EQ(with("e.ports.shaft.angle", "x").subsystems[1].ports[0].variables[0].values[0].value, "x");
    EXPECT_EQ(with("placement.cores.m", "3").placement.cores[0].values[0].value, "3");
    EXPECT_EQ(with("iteration.limit", "7").iteration.options[1].values[0].value, "7");
    EXPECT_EQ(with("monitor.divergence", "stop").monitor.divergence.value, "stop");
    EXPECT_EQ(with("demand.delay", "3 ms").signals[1].delay.value, 3e-3);
    EXPECT_EQ(with("let.word", "euler").let[1].values[0].value, "euler");
    EXPECT_EQ(with("order", "[m, e, d, p, f, g, s]").order.names[0].value, "m");
}

TEST(keys, every_key_has_a_sentence) {
    for (const key_group* group : all_key_groups()) {
        EXPECT_TRUE(group->description.ends_with('.')) << group->name;
        for (const auto& info : group->keys) EXPECT_TRUE(info.description.ends_with('.')) << group->name << info.name;
    }
}

}  // namespace
}  // namespace mdpcosim
