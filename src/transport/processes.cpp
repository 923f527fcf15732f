#include "transport/processes.hpp"

#include <algorithm>

#include "remote/program_group.hpp"
#include "remote/subsystem_process.hpp"
#include "transport/groups.hpp"

namespace mdpcosim {

std::vector<std::vector<int>> complete_groups(std::size_t subsystems, const std::vector<std::vector<int>>& groups) {
    std::vector<std::vector<int>> all = groups;
    std::vector<char> grouped(subsystems, false);
    for (const auto& g : groups)
        for (const int i : g) grouped[static_cast<std::size_t>(i)] = true;
    for (std::size_t i = 0; i < subsystems; ++i)
        if (!grouped[i]) all.push_back({static_cast<int>(i)});
    for (auto& g : all) std::ranges::sort(g);
    std::ranges::sort(all);
    return all;
}

group_recipe gather(const std::vector<int>& members, std::vector<subsystem_recipe>& recipes) {
    group_recipe all;
    bool limited = true;
    for (const int i : members) {
        subsystem_recipe& r = recipes[static_cast<std::size_t>(i)];
        all.name += (all.name.empty() ? "" : ", ") + r.name;
        all.limit += r.limit;
        limited = limited && r.limit > 0;
        all.texts.push_back(std::move(r.text));
        all.program = r.program;
    }
    if (!limited) all.limit = 0;
    return all;
}

std::unique_ptr<transport> make_process_transport(std::vector<subsystem_recipe> subsystems,
                                                  const std::vector<std::vector<int>>& groups, const binding& cores) {
    std::vector<std::string> names;
    for (const auto& s : subsystems) names.push_back(s.name);
    const auto all = complete_groups(subsystems.size(), groups);
    const bool spin = static_cast<int>(all.size()) < available_cores();
    std::vector<served_group> served;
    for (const auto& members : all) {
        group_recipe r = gather(members, subsystems);
        if (r.program) {
            served.push_back({members, r.program->begin(spin)});
            continue;
        }
        served.push_back(
            {members, std::make_unique<subsystem_process>(process_options{r.name, r.limit, spin}, r.texts)});
    }
    return make_group_transport(std::move(names), std::move(served), {}, cores);
}

}  // namespace mdpcosim
