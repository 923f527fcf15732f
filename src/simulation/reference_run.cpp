#include "simulation/reference_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "assembly/described_subsystems.hpp"
#include "simulation/statistics.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

namespace {

/// Failures say that they are those of the reference.
template <class Work>
void told(const Work& work) {
    try {
        work();
    } catch (const composite_interrupted&) {
        throw;
    } catch (const run_error& problem) {
        throw run_error(fmt::format("reference: {}", problem.what()));
    }
}

}  // namespace

reference_run::reference_run(const scenario& s, assembly& a)
    : parts_{std::move(static_cast<coupling_structure&>(a.system)),
             static_cast<described_subsystems&>(*a.system.subsystems).take_parts()},
      subsystems_(s.subsystems.size()) {
    // Beside the errors of the solver those of loops are nothing.
    for (algebraic_loop& loop : parts_.loops)
        loop = algebraic_loop(loop.torn(), loop.path(), fixed_point_options{.tolerance = 1e-12});
    const solver_spec chosen = reference_solver(s.reference);
    solver_name_ = chosen.name.value;
    const solver_info* info = solver_registry::instance().find(solver_name_);
    const bool controls_error =
        info != nullptr && std::ranges::any_of(info->options, [](const auto& o) { return o.name == "rtol"; });
    if (!parts_.coupling.corners().empty() && !controls_error)
        note_ = fmt::format(
            "reference: laws have corners (stops, backlash), and {} has no error estimate. Use erk-6 or dirk-5 where "
            "that matters.",
            solver_name_);
    integrator_ = make_solver(chosen, s.reference.where, "reference");
    for (const auto& p : parts_.subsystems)
        if (const std::string reason = p.model ? integrator_->why_not(*p.model) : ""; !reason.empty())
            throw user_error(s.reference.where,
                             fmt::format("reference: solver {} cannot integrate subsystem '{}': {}. Choose another "
                                         "with 'reference: {{solver: ...}}'.",
                                         solver_name_, p.name, reason));
}

void reference_run::start(const time_grid& grid, std::optional<double> record_every,
                          const std::atomic<bool>* interrupt) {
    for (const auto& p : parts_.subsystems)
        if (p.model) p.model->expect({.goes_back = false, .end = grid.end()});
    told([&] {
        auto equations = std::make_unique<composite_equations>(std::move(parts_), grid.start(), interrupt);
        whole_ = std::make_unique<monolithic_run>(std::move(equations), std::move(integrator_));
        whole_->start(grid, record_every);
    });
}

bool reference_run::step() {
    try {
        told([&] { whole_->step(); });
    } catch (const composite_interrupted&) {
        return false;
    }
    return true;
}

void reference_run::describe(run_summary& summary, const assembly& a) const {
    summary.method = "monolithic";
    if (!note_.empty() && std::ranges::find(summary.notes, note_) == summary.notes.end())
        summary.notes.push_back(note_);
    summary.reference = true;
    summary.subsystems.assign(1, {});
    run_summary::subsystem& entry = summary.subsystems.front();
    entry.name = "reference";
    entry.type = fmt::format("{} subsystem{} as one", subsystems_, subsystems_ == 1 ? "" : "s");
    entry.solver = solver_name_;
    if (!whole_) return;  // failed before the first step
    entry.type += fmt::format(", {} states", whole_->states());
    enter(whole_->statistics(), entry);
    for (std::size_t c = 0; c < a.channels.size(); ++c) {
        if (a.channels[c].is_signal || a.channels[c].internal) continue;
        run_summary::connection& connection = summary.connections.emplace_back();
        connection.name = a.channels[c].name;
        connection.law = a.channels[c].law_name;
        connection.extrapolation = "none";
        connection.unit = a.channels[c].unit;
        connection.u_min = whole_->low()[c];
        connection.u_max = whole_->high()[c];
        connection.u_end = whole_->coupling_variables()[c];
    }
}

}  // namespace mdpcosim
