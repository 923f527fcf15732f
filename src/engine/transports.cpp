#include "engine/transports.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/suggest.hpp"
#include "engine/engine.hpp"
#include "subsystem/factory.hpp"
#include "transport/mpi/transport.hpp"
#include "transport/threads.hpp"

namespace mdpcosim {

namespace {

std::unique_ptr<transport> make_threads(const scenario& s, int workers) {
    std::vector<named_subsystem> subsystems;
    subsystems.reserve(s.subsystems.size());
    for (const auto& spec : s.subsystems)
        subsystems.push_back({spec.name, make_subsystem(on_macro_grid(spec, s.time.step))});
    return make_thread_transport(std::move(subsystems), workers);
}

std::unique_ptr<transport> make_processes(const scenario& s, int workers) {
    std::vector<subsystem_recipe> recipes;
    for (const auto& spec : s.subsystems) {
        subsystem_spec inside = on_macro_grid(spec, s.time.step);
        inside.fmu.isolate = false;  // it has its process already
        const double limit = inside.fmu.limit;
        recipes.push_back({spec.name, [inside = std::move(inside)] { return make_subsystem(inside); }, limit});
    }
    const std::size_t n = recipes.size();
    return make_process_transport(
        std::move(recipes),
        neighbours(n, workers == 0 ? n : std::min<std::size_t>(n, static_cast<std::size_t>(workers))));
}

/// The word to the other ranks is where the calls of FMUs go.
std::unique_ptr<transport> make_mpi(const scenario& s, int workers) {
    mpi_ranks* ranks = mpi_ranks::joined();
    if (ranks == nullptr) throw user_error("transport 'mpi': this process is not a rank. Start it with mpiexec.");
    check_ranks(s, ranks->size(), "mpiexec -n");
    std::vector<subsystem_recipe> recipes;
    for (const auto& spec : s.subsystems) recipes.push_back(recipe(s, spec));
    return make_mpi_transport(*ranks, std::move(recipes),
                              neighbours(s.subsystems.size(), static_cast<std::size_t>(ranks->size())), workers,
                              s.subsystems[0].fmu.trace.string());
}

}  // namespace

std::vector<std::vector<int>> neighbours(std::size_t subsystems, std::size_t groups) {
    std::vector<std::vector<int>> all(groups);
    for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t i = g * subsystems / groups; i < (g + 1) * subsystems / groups; ++i)
            all[g].push_back(static_cast<int>(i));
    return all;
}

subsystem_recipe recipe(const scenario& s, const subsystem_spec& spec) {
    return {spec.name, [inside = on_macro_grid(spec, s.time.step)] { return make_subsystem(inside); }};
}

void check_ranks(const scenario& s, int ranks, const std::string& option) {
    if (static_cast<std::size_t>(ranks) <= s.subsystems.size()) return;
    throw user_error(fmt::format("transport 'mpi': {} ranks are more than the scenario's {} subsystem{}, the last of which is "
                                 "'{}'. Ask for at most {} with {}.",
                                 ranks, s.subsystems.size(), s.subsystems.size() == 1 ? "" : "s",
                                 s.subsystems.back().name, s.subsystems.size(), option));
}

const std::vector<std::string>& transport_names() {
    static const std::vector<std::string> names{"threads", "processes", "mpi"};
    return names;
}

transport_kind transport_named(const std::string& name) {
    const auto& names = transport_names();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw user_error(unknown_name("transport", name, "mdpcosim", names));
    return static_cast<transport_kind>(found - names.begin());
}

std::unique_ptr<transport> make_transport(const scenario& s, int workers, transport_kind kind) {
    if (kind == transport_kind::mpi) return make_mpi(s, workers);
    return kind == transport_kind::threads ? make_threads(s, workers) : make_processes(s, workers);
}

}  // namespace mdpcosim
