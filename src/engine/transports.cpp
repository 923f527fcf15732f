#include "engine/transports.hpp"

#include <algorithm>
#include <iterator>

#include "core/suggest.hpp"
#include "engine/engine.hpp"
#include "subsystem/factory.hpp"
#include "transport/groups.hpp"
#include "transport/processes.hpp"
#include "transport/threads.hpp"
#include "transport/worker_pool.hpp"

namespace mdpcosim {

namespace {

/// The scenario's subsystems: those that have a process of their own anyway, started and not introduced yet, and the others.
struct places {
    std::vector<std::string> names;
    std::vector<served_group> elsewhere;
    std::vector<int> here;
};

places place_subsystems(const scenario& s, bool isolated_here) {
    const auto apart = [&](const subsystem_spec& spec) {
        return spec.kind == subsystem_spec::source_kind::program || (spec.fmu.isolate && !isolated_here);
    };
    const auto count = std::ranges::count_if(s.subsystems, apart);
    const bool spin = count < available_cores();
    places all;
    for (const auto& spec : s.subsystems) {
        const int number = static_cast<int>(all.names.size());
        all.names.push_back(spec.name);
        if (apart(spec))
            all.elsewhere.push_back({{number}, make_remote_group(on_macro_grid(spec, s.time.step), spin)});
        else
            all.here.push_back(number);
    }
    return all;
}

std::unique_ptr<transport> make_threads(const scenario& s, int workers) {
    places all = place_subsystems(s, false);
    std::vector<named_subsystem> subsystems;
    subsystems.reserve(all.here.size());
    for (const int i : all.here) {
        const auto& spec = s.subsystems[static_cast<std::size_t>(i)];
        subsystems.push_back({spec.name, make_subsystem(on_macro_grid(spec, s.time.step))});
    }
    auto local = subsystems.empty() ? nullptr : make_thread_transport(std::move(subsystems), workers);
    if (all.elsewhere.empty()) return local;
    return make_group_transport(std::move(all.names), std::move(all.elsewhere),
                                {std::move(all.here), std::move(local)});
}

std::unique_ptr<transport> make_processes(const scenario& s, int workers) {
    places all = place_subsystems(s, true);
    std::vector<subsystem_recipe> recipes(s.subsystems.size());
    for (const int i : all.here) {
        subsystem_spec inside = on_macro_grid(s.subsystems[static_cast<std::size_t>(i)], s.time.step);
        inside.fmu.isolate = false;  // it has its process already
        const double limit = inside.fmu.limit > 0 ? inside.fmu.limit : inside.limit;
        recipes[static_cast<std::size_t>(i)] = {
            inside.name, [inside = std::move(inside)] { return make_subsystem(inside); }, limit};
    }
    std::vector<std::vector<int>> groups;
    const std::size_t n = all.here.size(),
                      processes = workers == 0 ? n : std::min<std::size_t>(n, static_cast<std::size_t>(workers));
    for (std::size_t p = 0; p < processes; ++p)
        groups.emplace_back(all.here.begin() + static_cast<std::ptrdiff_t>(p * n / processes),
                            all.here.begin() + static_cast<std::ptrdiff_t>((p + 1) * n / processes));
    auto made = make_process_groups(recipes, groups, all.elsewhere.size());
    std::ranges::move(made, std::back_inserter(all.elsewhere));
    return make_group_transport(std::move(all.names), std::move(all.elsewhere));
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
