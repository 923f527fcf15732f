// examples/v6-timing-drive and examples/chain-drive: what their READMEs say of accuracy and work, over the first milliseconds. Work is counted: evaluations times links.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "scenario/read.hpp"
#include "simulation/simulation.hpp"

namespace mdpcosim {
namespace {

using settings = std::vector<std::pair<std::string, std::string>>;

struct ran {
    std::vector<std::vector<double>> columns;
    run_summary summary;
};

ran run_example(const std::string& file, const std::vector<std::string>& watched, bool monolithic,
                const settings& changes) {
    std::vector<scenario_override> overrides;
    for (const auto& [address, value] : changes)
        overrides.push_back({address, value, "--set " + address + "=" + value});
    simulation all(read_scenario(std::string(MDPCOSIM_SOURCE_DIR) + "/examples/" + file, overrides),
                   {.workers = 1, .monolithic = monolithic, .writable = false});
    all.initialise();
    ran result;
    std::vector<simulation::place> places;
    for (const auto& name : watched) places.push_back(all.find(name));
    result.columns.resize(watched.size());
    while (!all.done()) {
        all.step();
        for (std::size_t i = 0; i < places.size(); ++i) result.columns[i].push_back(all.value(places[i]));
    }
    result.summary = all.finish();
    return result;
}

/// The largest difference over the range of b.
double error(const std::vector<double>& a, const std::vector<double>& b) {
    EXPECT_EQ(a.size(), b.size());
    double largest = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
    const auto [low, high] = std::ranges::minmax(b);
    return largest / (high - low);
}

const std::vector<std::string> cams{"right.exhaust.shaft.angle", "right.intake.shaft.angle", "left.exhaust.shaft.angle",
                                    "left.intake.shaft.angle"};

TEST(v6_timing_drive, cam_angles_and_work) {
    const settings time{{"time.end", "3 ms"}};
    settings exactly = time;
    exactly.insert(exactly.end(), {{"reference.solver.rtol", "1e-7"}, {"reference.solver.atol", "1e-8"}});
    const ran coupled = run_example("v6-timing-drive/scenario.yaml", cams, false, time),
              whole = run_example("v6-timing-drive/scenario.yaml", cams, true, time),
              exact = run_example("v6-timing-drive/scenario.yaml", cams, true, exactly);
    for (std::size_t i = 0; i < cams.size(); ++i)
        EXPECT_LT(error(coupled.columns[i], exact.columns[i]), 0.003) << cams[i];

    const std::array<double, 3> links{153, 103, 103};
    std::array<double, 3> work{};
    for (std::size_t i = 0; i < 3; ++i)
        work[i] = links[i] * static_cast<double>(coupled.summary.subsystems[i].evaluations);
    const double all = 359 * static_cast<double>(whole.summary.subsystems[0].evaluations);
    const double two = all / std::max(work[0], work[1] + work[2]), four = all / std::max({work[0], work[1], work[2]});
    fmt::print("counted work: {:.2f} on one core, {:.2f} on two, {:.2f} on more\n", all / (work[0] + work[1] + work[2]),
               two, four);
    EXPECT_GT(two, 2.0);
    EXPECT_GT(four, 2.4);
}

/// The cut of 6.6e9 N/m: twice the step of the best explicit rule and more; the bearings' displacements can be read, the force of the cut cannot.
TEST(v6_timing_drive, stiff_cut_in_one_pass) {
    const std::vector<std::string> watched{"right.exhaust.shaft.angle", "main.right.x.position", "main.left.y.position",
                                           "right-x.u"};
    const settings time{{"time.end", "3 ms"}, {"time.step", "20 us"}};
    settings one_pass = time;
    one_pass.insert(one_pass.end(), {{"method", "one-pass"}, {"record.every", "20 us"}});
    settings whole = time;
    whole.insert(whole.end(), {{"record.every", "20 us"}});
    const ran coupled = run_example("v6-timing-drive/bearings.yaml", watched, false, one_pass),
              exact = run_example("v6-timing-drive/bearings.yaml", watched, true, whole);
    EXPECT_LT(error(coupled.columns[0], exact.columns[0]), 0.003);
    EXPECT_LT(error(coupled.columns[1], exact.columns[1]), 0.1);
    EXPECT_LT(error(coupled.columns[2], exact.columns[2]), 0.1);
    EXPECT_GT(error(coupled.columns[3], exact.columns[3]), 0.2);
}

TEST(v6_timing_drive, other_variants_run) {
    const settings time{{"time.end", "1 ms"}};
    const ran apart = run_example("v6-timing-drive/rigid.yaml", {"left.exhaust.shaft.angle"}, false, time),
              together =
                  run_example("v6-timing-drive/rigid-together.yaml", {"all.left-exhaust.shaft.angle"}, false, time);
    EXPECT_LT(error(apart.columns[0], together.columns[0]), 0.003);
    const ran springs = run_example("v6-timing-drive/scenario.yaml", {"left.exhaust.shaft.angle"}, false, time),
              one = run_example("v6-timing-drive/together.yaml", {"all.left-exhaust.shaft.angle"}, false, time);
    EXPECT_LT(error(springs.columns[0], one.columns[0]), 0.003);
}

TEST(chain_drive_example, cam_angle) {
    const std::vector<std::string> watched{"drive.cam.shaft.angle", "shaft.u"};
    const ran coupled = run_example("chain-drive/scenario.yaml", watched, false, {}),
              whole = run_example("chain-drive/scenario.yaml", watched, true, {});
    EXPECT_LT(error(coupled.columns[0], whole.columns[0]), 1e-4);
    EXPECT_LT(error(coupled.columns[1], whole.columns[1]), 0.01);
}

}  // namespace
}  // namespace mdpcosim
