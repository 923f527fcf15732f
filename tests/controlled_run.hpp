#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "controlled_systems.hpp"
#include "master/error_constants.hpp"
#include "scenario/read.hpp"
#include "simulation/simulation.hpp"

/// Runs of controlled_systems.hpp under step control, and their true errors against the reference.
namespace mdpcosim::test {

inline constexpr int points = 25;

/// How a run is looked at: at `points` times, which a sampled subsystem that nobody reads makes macro points, with a short first step; or at its end
/// only, with a long one and nothing that bounds the others.
enum class looked_at { often, at_the_end };

/// Coupled outputs at these times.
struct seen_values {
    std::vector<std::vector<double>> rows;
    std::int64_t steps = 0, rejected = 0, integrations = 0;
};

inline std::string text_of(const controlled_system& of, const std::string& further, looked_at when) {
    std::string text = of.text;
    if (when == looked_at::often)
        text.insert(text.find("subsystems:\n") + 12,
                    fmt::format("  clock: {{model: pid-sampled, sample: {{time: {} s}}}}\n", of.end / points));
    return fmt::format(
        "mdpcosim: 1\nmonitor: {{divergence: note}}\ntime: {{end: {0} s, step: {1} s}}\nrecord: {{every: {2} "
        "s}}\n{3}{4}",
        of.end, of.end / (when == looked_at::often ? 1000 : points), of.end / points, further, text);
}

inline std::vector<std::size_t> coupled_outputs(const simulation& all) {
    const auto levels = output_levels(all.parts().system);
    std::vector<std::size_t> slots;
    for (std::size_t slot = 0; slot < levels.size(); ++slot)
        if (levels[slot] == output_level::value || levels[slot] == output_level::rate) slots.push_back(slot);
    return slots;
}

inline seen_values run(const controlled_system& of, const std::string& further, bool monolithic,
                       looked_at when = looked_at::often) {
    const scenario s = read_scenario_text(text_of(of, further, when), "s.yaml");
    simulation names(s, {.workers = 1});
    const auto slots = coupled_outputs(names);
    simulation all(s, {.workers = 1, .monolithic = monolithic});
    all.initialise();
    seen_values seen;
    int next = 1;
    while (!all.done()) {
        all.step();
        if (when == looked_at::at_the_end) {
            if (!all.done()) continue;
        } else {
            if (all.time() < of.end * next / points * (1 - 1e-12)) continue;
            EXPECT_NEAR(all.time(), of.end * next / points, 1e-9);
            ++next;
        }
        auto& row = seen.rows.emplace_back();
        for (const std::size_t slot : slots) row.push_back(all.outputs()[slot]);
    }
    const run_summary summary = all.finish();
    seen.steps = summary.steps;
    if (summary.control) seen.rejected = summary.control->rejected;
    return seen;
}

/// Largest error of a coupled output where it was looked at, as a multiple of what the tolerance allows.
inline double true_error(const seen_values& is, const seen_values& should, double rtol, double atol) {
    if (is.rows.empty() || is.rows.size() > should.rows.size() || is.rows[0].size() != should.rows[0].size())
        return INFINITY;
    const std::size_t before = should.rows.size() - is.rows.size();
    double worst = 0;
    for (std::size_t k = 0; k < should.rows[0].size(); ++k) {
        double largest = 0, error = 0;
        for (const auto& row : should.rows) largest = std::max(largest, std::abs(row[k]));
        for (std::size_t i = 0; i < is.rows.size(); ++i)
            error = std::max(error, std::abs(is.rows[i][k] - should.rows[before + i][k]));
        worst = std::max(worst, error / (atol + rtol * largest));
    }
    return worst;
}

/// The true error of a run under step control, as a multiple of its tolerance; printed with what it took.
inline double controlled_error(const controlled_system& system, const seen_values& should, const std::string& method,
                               double rtol, looked_at when = looked_at::often) {
    const std::string further = fmt::format(
        "method: {}\nstep-control: {{rtol: {}, atol: {}}}\n",
        method == "iterated" ? "{name: iterated, tolerance: 1e-9, absolute: 1e-12}" : method, rtol, 0.1 * rtol);
    const seen_values is = run(system, further, false, when);
    const double error = true_error(is, should, rtol, 0.1 * rtol);
    std::printf("%-32s %-14s %.0e %8.3g (%s%lld steps, %lld rejected)\n", system.name.c_str(), method.c_str(), rtol,
                error, when == looked_at::often ? "" : "at the end, ", static_cast<long long>(is.steps),
                static_cast<long long>(is.rejected));
    std::fflush(stdout);
    return error;
}

}  // namespace mdpcosim::test
