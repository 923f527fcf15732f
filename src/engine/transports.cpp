#include "engine/transports.hpp"

#include <algorithm>

#include "core/suggest.hpp"
#include "engine/engine.hpp"
#include "subsystem/factory.hpp"
#include "transport/processes.hpp"
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
    std::vector<std::vector<int>> groups;
    const std::size_t n = recipes.size(),
                      processes = workers == 0 ? n : std::min<std::size_t>(n, static_cast<std::size_t>(workers));
    for (std::size_t p = 0; p < processes; ++p) {
        groups.emplace_back();
        for (std::size_t i = p * n / processes; i < (p + 1) * n / processes; ++i)
            groups.back().push_back(static_cast<int>(i));
    }
    return make_process_transport(std::move(recipes), groups);
}

}  // namespace

const std::vector<std::string>& transport_names() {
    static const std::vector<std::string> names{"threads", "processes"};
    return names;
}

transport_kind transport_named(const std::string& name) {
    const auto& names = transport_names();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw user_error(unknown_name("transport", name, "mdpcosim", names));
    return static_cast<transport_kind>(found - names.begin());
}

std::unique_ptr<transport> make_transport(const scenario& s, int workers, transport_kind kind) {
    return kind == transport_kind::threads ? make_threads(s, workers) : make_processes(s, workers);
}

}  // namespace mdpcosim
