#include "simulation/parallel_figures.hpp"

#include <algorithm>
#include <numeric>

#include "transport/schedule.hpp"

namespace mdpcosim {

namespace {

/// Means per sampled macro step.
struct sampled {
    double advance = 0;        ///< until all were done
    std::vector<double> work;  ///< by subsystem
    std::int64_t steps = 0;
};

sampled read(const transport& subsystems) {
    sampled mean;
    mean.work.resize(subsystems.size());
    for (const auto& log : subsystems.profile())
        for (const auto& e : log.events()) {
            if (e.subsystem >= 0) {
                mean.work[static_cast<std::size_t>(e.subsystem)] += e.end - e.begin;
            } else {
                mean.advance += e.end - e.begin;
                ++mean.steps;
            }
        }
    if (mean.steps == 0) return mean;
    mean.advance /= static_cast<double>(mean.steps);
    for (double& w : mean.work) w /= static_cast<double>(mean.steps);
    return mean;
}

/// Wall time of one step's work on that many cores, longest first.
double busiest_of(int cores, const std::vector<double>& work) {
    schedule s(work.size(), cores);
    s.decide(work);
    return s.busiest(work);
}

}  // namespace

std::optional<run_summary::parallel> parallel_figures(const transport& subsystems, double seconds_per_step,
                                                      double cpu_seconds) {
    const sampled mean = read(subsystems);
    if (mean.steps == 0) return {};
    run_summary::parallel p;
    p.cpu_seconds = cpu_seconds;
    p.advance_per_step = mean.advance;
    p.work_per_step = std::accumulate(mean.work.begin(), mean.work.end(), 0.0);
    p.master_per_step = std::max(0.0, seconds_per_step - mean.advance);
    const auto longest = std::max_element(mean.work.begin(), mean.work.end());
    p.critical_subsystem = subsystems.name(subsystem_index(static_cast<std::size_t>(longest - mean.work.begin())));
    p.critical_path = p.master_per_step + *longest;
    const double serial = p.master_per_step + p.work_per_step, wall = p.master_per_step + mean.advance;
    const double n = subsystems.workers();
    p.idle_share = std::clamp(1 - p.work_per_step / (n * mean.advance), 0.0, 1.0);
    if (!(serial > 0) || !(wall > 0)) return p;
    p.speed_up = serial / wall;
    p.perfect_balance = serial / (p.master_per_step + std::max(*longest, p.work_per_step / n));
    const double f = p.master_per_step / serial;
    p.amdahl = 1 / (f + (1 - f) / n);
    p.gustafson = n - (p.master_per_step / wall) * (n - 1);
    p.on_4 = serial / (p.master_per_step + busiest_of(4, mean.work));
    p.on_8 = serial / (p.master_per_step + busiest_of(8, mean.work));
    return p;
}

}  // namespace mdpcosim
