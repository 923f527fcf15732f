#include "reference/monolithic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "subsystem/factory.hpp"

namespace mdpcosim {

solver_spec reference_solver(const reference_spec& spec) {
    solver_spec chosen = spec.solver;
    if (chosen.name.empty()) chosen.name.value = "erk-6";
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
      high_(equations_->channel_count(), -std::numeric_limits<double>::infinity()) {}

void monolithic_run::start(const time_grid& grid, std::optional<double> record_every) {
    grid_ = grid;
    rows_.emplace(grid, record_every);
    next_ = 1;
    reached_ = grid.start();
    equations_->initial_state(reached_, x_.data());
    integrator_->initialise(*equations_, reached_, x_);
    sample(reached_);
    rows_->due(reached_);
    look(reached_);
}

void monolithic_run::step() {
    while (!done()) {
        const double t = grid_->time(next_);
        // The last sample, too, is to be finished at the end.
        const bool last = next_ == grid_->steps(), row = rows_->due(t) || last,
                   samples = equations_->samples_at(t) || last;
        ++next_;
        if (!row && !samples) continue;
        integrator_->integrate(reached_, t, {}, x_);
        reached_ = t;
        if (samples) sample(t);
        if (row) look(t);
        return;
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

void monolithic_run::look(double t) {
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
}

}  // namespace mdpcosim
