#include "simulation/reference_run.hpp"

#include <fmt/format.h>

#include "assembly/multirate.hpp"
#include "simulation/statistics.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

reference_run::reference_run(const scenario& s, assembly& a) : subsystems_(s.subsystems.size()) {
    refuse_delays(s, "cannot be part of one system of equations (--monolithic)");
    const transport& subsystems = *a.system.subsystems;
    for (std::size_t i = 0; i < subsystems_; ++i) {
        const subsystem_spec& spec = s.subsystems[i];
        composite_parts::part& part = parts_.subsystems.emplace_back();
        part.name = spec.name;
        part.input_offset = subsystems.input_offset(subsystem_index(i));
        part.output_offset = subsystems.output_offset(subsystem_index(i));
        if (is_sampled(spec)) {
            const subsystem_spec on_grid = on_macro_grid(spec, s.time.step);
            part.sampled = make_subsystem(on_grid);
            part.clock = sampling_of(on_grid);
        } else {
            part.model = make_equations(spec);
        }
    }
    for (const auto& e : a.system.at_each_step) parts_.order.push_back({e.subsystem, e.channels, e.loop});
    // Beside the errors of the solver those of loops are nothing.
    for (const auto& loop : a.system.loops)
        parts_.loops.emplace_back(loop.torn(), loop.path(), fixed_point_options{.tolerance = 1e-12});
    for (joint_connection& j : a.system.joints) {
        composite_joint& same = parts_.joints.emplace_back();
        same.name = j.name;
        same.what = std::move(j.what);
        same.multipliers = j.multipliers;
        for (std::size_t e = 0; e < 2; ++e)
            same.ends[e] = {j.ends[e].subsystem, j.ends[e].motion, j.ends[e].input, j.ends[e].load};
    }
    parts_.coupling = std::move(a.system.coupling);
    const solver_spec chosen = reference_solver(s.reference);
    solver_name_ = chosen.name.value;
    integrator_ = make_solver(chosen, s.reference.where, "reference");
    for (const auto& p : parts_.subsystems)
        if (const std::string reason = p.model ? integrator_->why_not(*p.model) : ""; !reason.empty())
            throw user_error(s.reference.where,
                             fmt::format("reference: solver {} cannot integrate subsystem '{}': {}. Choose another "
                                         "with 'reference: {{solver: ...}}'.",
                                         solver_name_, p.name, reason));
}

void reference_run::run(const time_grid& grid, const monolithic_observers& observers, loop_result& result) {
    try {
        auto equations = std::make_unique<composite_equations>(std::move(parts_), grid.start(), observers.interrupt);
        whole_ = std::make_unique<monolithic_run>(std::move(equations), std::move(integrator_));
        whole_->run(grid, observers, result);
    } catch (const run_error& problem) {
        throw run_error(fmt::format("reference: {}", problem.what()));
    }
}

void reference_run::describe(run_summary& summary, const assembly& a) const {
    summary.method = monolithic_method;
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
