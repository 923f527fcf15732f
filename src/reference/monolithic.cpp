#include "reference/monolithic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "subsystem/factory.hpp"
#include "subsystem/native_subsystem.hpp"

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
    : equations_(equations.get()),
      whole_(make_native_subsystem(std::move(equations), std::move(integrator))),
      y_(static_cast<std::size_t>(whole_->describe().output_count())),
      low_(equations_->channel_count(), std::numeric_limits<double>::infinity()),
      high_(equations_->channel_count(), -std::numeric_limits<double>::infinity()),
      none_(equations_->channel_count(), 0.0) {}

void monolithic_run::run(const time_grid& grid, const monolithic_observers& observers, loop_result& result) {
    record_grid rows(grid, observers.record_every);
    pacer pace;
    flush_timer flush;
    std::int64_t row = 0;
    try {
        result.reached = grid.start();
        whole_->initialise(grid.start());
        whole_->outputs({}, y_);
        rows.due(grid.start());
        look(grid.start(), observers);
        for (std::int64_t n = 1; n <= grid.steps(); ++n) {
            const double t = grid.time(n);
            if (!rows.due(t) && n < grid.steps()) continue;
            whole_->advance({result.reached, t, row++}, {}, y_);
            result.reached = t;
            look(t, observers);
            // Between the rows the equations look at the same flag.
            if (n < grid.steps() && observers.interrupt != nullptr &&
                observers.interrupt->load(std::memory_order_relaxed))
                throw composite_interrupted();
            if (!pace.due(row)) continue;
            pace.looked(row);
            if (observers.shown != nullptr) observers.shown->update(t);
            if (observers.rows != nullptr) flush.look(*observers.rows, pace.now());
        }
    } catch (const composite_interrupted&) {
        result.interrupted = true;
    }
}

void monolithic_run::look(double t, const monolithic_observers& observers) {
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
