#include "assembly/iteration.hpp"

#include <fmt/format.h>

#include <chrono>

#include "scenario/resolve.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

std::optional<fixed_point_options> loop_options(const scenario& s) {
    if (!s.iteration.given) return std::nullopt;
    const auto infos = fixed_point_parameters({});
    return fixed_point_options_of(resolve_parameters(infos, s.iteration.options, s.iteration.where, "iteration"));
}

iteration_spec with_defaults(const iteration_spec& spec) {
    iteration_spec full = spec;
    if (full.given) full.options = with_defaults(fixed_point_parameters({}), spec.options);
    return full;
}

std::vector<std::string> variables_of(const algebraic_loop& loop, const network& coupling) {
    std::vector<std::string> names;
    for (const channel_index c : loop.torn()) names.push_back(coupling.name(c));
    return names;
}

namespace {

run_summary::iteration entry_of(const algebraic_loop& loop, const network& coupling) {
    const iteration_counts& n = loop.so_far();
    return {"algebraic loop " + loop.path(),
            name_of(loop.options().algorithm),
            variables_of(loop, coupling),
            n.solutions,
            n.iterations,
            n.evaluations,
            n.largest,
            n.residual};
}

}  // namespace

run_summary::initialisation_phase initialise(coupled_system& system, double t0) {
    const auto begin = std::chrono::steady_clock::now();
    try {
        system.initialise(t0);
    } catch (const run_error& problem) {
        throw run_error(fmt::format("initialisation: {}", problem.what()));
    }
    run_summary::initialisation_phase phase;
    phase.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    phase.evaluations = system.evaluations;
    for (auto& loop : system.loops) {
        phase.loops.push_back(entry_of(loop, system.coupling));
        loop.count_anew();
    }
    return phase;
}

std::vector<run_summary::iteration> iterations_of(const coupled_system& system, const method& chosen) {
    std::vector<run_summary::iteration> all;
    for (const auto& loop : system.loops)
        if (loop.so_far().solutions > 0) all.push_back(entry_of(loop, system.coupling));
    if (const iteration_counts* n = chosen.iterations(); n != nullptr && n->solutions > 0)
        all.push_back({"macro steps",
                       chosen.iterates_by(),
                       {},
                       n->solutions,
                       n->iterations,
                       n->evaluations,
                       n->largest,
                       n->residual});
    return all;
}

}  // namespace mdpcosim
