#include "reference/monolithic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "subsystem/factory.hpp"

namespace mdpcosim {

solver_spec reference_solver(const reference_spec& spec) {
    solver_spec chosen = spec.solver;
    if (chosen.name.empty()) chosen.name.value = "erk-8";
    const solver_info* info = solver_registry::instance().find(chosen.name.value);
    const auto add = [&](const char* option, const char* value) {
        const auto named = [&](const auto& o) { return o.name == option; };
        const bool known = info != nullptr && std::any_of(info->options.begin(), info->options.end(), named);
        if (known && std::none_of(chosen.options.begin(), chosen.options.end(), named))
            chosen.options.push_back({option, {}, {{value, {}}}, false});
    };
    add("rtol", "1e-12");
    add("atol", "1e-15");
    add("max-steps", "10000000");
    return with_defaults(chosen, "reference");
}

monolithic_run::monolithic_run(std::unique_ptr<composite_equations> equations, std::unique_ptr<solver> integrator)
    : equations_(std::move(equations)),
      integrator_(std::move(integrator)),
      x_(static_cast<std::size_t>(equations_->state_count())),
      x_row_(x_.size()),
      y_(static_cast<std::size_t>(equations_->describe().output_count())),
      low_(equations_->channel_count(), std::numeric_limits<double>::infinity()),
      high_(equations_->channel_count(), -std::numeric_limits<double>::infinity()),
      none_(equations_->channel_count(), 0.0) {}

void monolithic_run::run(const time_grid& grid, const monolithic_observers& observers, loop_result& result) {
    record_grid rows(grid, observers.record_every);
    pacer pace;
    flush_timer flush;
    std::int64_t stops = 0;
    try {
        result.reached = grid.start();
        equations_->initial_state(grid.start(), x_.data());
        integrator_->initialise(*equations_, grid.start(), x_);
        sample(grid.start());
        rows.due(grid.start());
        look(grid.start(), observers);
        for (std::int64_t n = 1; n <= grid.steps(); ++n) {
            const double t = grid.time(n);
            // The last sample, too, is to be finished at the end.
            const bool last = n == grid.steps(), row = rows.due(t) || last, samples = equations_->samples_at(t) || last;
            if (!row && !samples) continue;
            integrator_->integrate(result.reached, t, {}, x_);
            result.reached = t;
            if (samples) sample(t);
            if (row) look(t, observers);
            // Between the stops the equations look at the same flag.
            if (n < grid.steps() && observers.interrupt != nullptr &&
                observers.interrupt->load(std::memory_order_relaxed))
                throw composite_interrupted();
            if (!pace.due(++stops)) continue;
            pace.looked(stops);
            if (observers.shown != nullptr) observers.shown->update(t);
            if (observers.rows != nullptr) flush.look(*observers.rows, pace.now());
        }
    } catch (const composite_interrupted&) {
        result.interrupted = true;
    }
}

void monolithic_run::sample(double t) {
    equations_->arrive(t);
    integrator_->solve_algebraic(t, nullptr, x_);
    equations_->take_samples(t, x_.data());
    integrator_->reset(t, x_);
}

subsystem_statistics monolithic_run::statistics() const {
    subsystem_statistics all = integrator_->statistics();
    all.events += equations_->samples();
    return all;
}

void monolithic_run::look(double t, const monolithic_observers& observers) {
    x_row_ = x_;
    integrator_->solve_algebraic(t, nullptr, x_row_);
    equations_->outputs(t, x_row_.data(), nullptr, y_.data());
    const auto bad = std::find_if(y_.begin(), y_.end(), [](double v) { return !std::isfinite(v); });
    if (bad != y_.end())
        throw run_error(fmt::format("{} is {} at t = {} s",
                                    equations_->output_name(static_cast<std::size_t>(bad - y_.begin())), *bad, t));
    const auto u = coupling_variables();
    for (std::size_t c = 0; c < u.size(); ++c) {
        low_[c] = std::min(low_[c], u[c]);
        high_[c] = std::max(high_[c], u[c]);
    }
    if (observers.rows != nullptr) observers.rows->row(t, outputs(), u, none_, none_);
}

}  // namespace mdpcosim
