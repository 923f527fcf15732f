#include "benchmark/joints.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "core/cpu_time.hpp"
#include "core/json.hpp"
#include "core/text_table.hpp"
#include "scenario/read.hpp"
#include "simulation/simulation.hpp"

namespace mdpcosim {

namespace {

constexpr int chain_steps = 50;
constexpr double rod_length = 0.1, joint_step = 1e-3;

/// At rest, in a zigzag of 45 degrees about the vertical.
std::string hanging_chain(int joints) {
    std::string text = fmt::format("time: {{end: {}, step: {}}}\nmethod: index-1\nsubsystems:\n",
                                   (chain_steps + 1) * joint_step, joint_step);
    double x = 0, y = 0;
    for (int k = 0; k <= joints; ++k) {
        const double angle = std::numbers::pi * (k % 2 == 0 ? -0.25 : -0.75);
        text += fmt::format(
            "  rod{}: {{model: planar-link, set: {{support: {}, mass: 0.1, length: {}, angle: {}, position: [{}, "
            "{}]}}, "
            "solver: {{name: erk-5, rtol: 1e-8, atol: 1e-10}}}}\n",
            k, k == 0 ? "hinged" : "free", rod_length, angle, x, y);
        x += rod_length * std::cos(angle);
        y += rod_length * std::sin(angle);
    }
    text += "connections:\n";
    for (int k = 0; k < joints; ++k)
        text += fmt::format("  pin{0}: {{joint: planar-revolute, between: [rod{0}.second, rod{1}.first]}}\n", k, k + 1);
    return text;
}

joints_result run_chain(int joints) {
    const scenario s = read_scenario_text(hanging_chain(joints), "chain of rods");
    simulation all(s, {.workers = 1, .watch = false, .writable = false});
    all.initialise();
    const std::int64_t& integrations = all.parts().system.integrations;
    joints_result found;
    found.joints = joints;
    const double begin = process_cpu_seconds();
    all.step();
    const double first = process_cpu_seconds();
    found.first_seconds = first - begin;
    const auto before = integrations;
    for (int n = 1; n <= chain_steps; ++n) all.step();
    found.seconds = (process_cpu_seconds() - first) / chain_steps;
    found.integrations = static_cast<double>(integrations - before) / chain_steps;
    return found;
}

}  // namespace

std::vector<joints_result> bench_joints(const std::vector<int>& joints,
                                        const std::function<void(const std::string&)>& told) {
    std::vector<joints_result> results;
    for (const int n : joints) {
        told(fmt::format("{} joints", n));
        results.push_back(run_chain(n));
    }
    return results;
}

std::string to_table(const std::vector<joints_result>& results) {
    text_table table(
        {"joints", "equations", "CPU time per step", "per joint", "growth", "integrations per step", "first step"});
    for (std::size_t i = 0; i < results.size(); ++i) {
        const joints_result& r = results[i];
        const std::string growth = i == 0
                                       ? ""
                                       : fmt::format("{:.2f}", std::log(r.seconds / results[i - 1].seconds) /
                                                                   std::log(double(r.joints) / results[i - 1].joints));
        table.add({fmt::format("{}", r.joints), fmt::format("{}", 2 * r.joints),
                   fmt::format("{:.4g} us", 1e6 * r.seconds), fmt::format("{:.3g} us", 1e6 * r.seconds / r.joints),
                   growth, fmt::format("{:.2f}", r.integrations), fmt::format("{:.4g} us", 1e6 * r.first_seconds)});
    }
    return table.text() + "  growth: power of the number of joints that the time grew with\n";
}

std::string to_json(const std::vector<joints_result>& results) {
    json out = json::array();
    for (const auto& r : results)
        out.push_back({{"joints", r.joints},
                       {"cpu_seconds_per_step", r.seconds},
                       {"first_step_seconds", r.first_seconds},
                       {"integrations_per_step", r.integrations}});
    return out.dump(2) + "\n";
}

}  // namespace mdpcosim
