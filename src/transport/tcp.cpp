#include "transport/tcp.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "subsystem/remote/listener.hpp"
#include "subsystem/remote/program_group.hpp"
#include "transport/groups.hpp"
#include "transport/worker_pool.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

struct party {
    std::vector<int> members;
    std::string name;
    double limit = 0;
    std::unique_ptr<child_process> process;  ///< none: somebody elsewhere brings it
    std::shared_ptr<const program_launcher> program;
};

[[noreturn]] void nobody_came(const std::vector<party>& parties, const listener& door, double wait) {
    std::vector<std::string> missing = door.missing();
    std::erase_if(missing, [&](const std::string& name) {
        return std::any_of(parties.begin(), parties.end(), [&](const party& p) { return p.name == name && p.process; });
    });
    throw user_error(
        fmt::format("no program brought subsystem '{}' within {:g} s. Start 'mdpcosim serve SCENARIO {} --connect "
                    "HOST:{}' with this "
                    "run's token on a machine that reaches this one, or wait longer (--wait).",
                    fmt::join(missing, "', '"), wait, fmt::join(missing, " "), door.port()));
}

void check_alive(party& p) {
    const std::string how = p.process->ended();
    if (how.empty()) return;
    if (p.program)
        p.program->refuse(fmt::format("its process {} at its start; it wrote last: {}", how, p.process->last_text()));
    throw run_error(fmt::format("subsystem '{}' failed at its start: its process {}; it wrote last: {}", p.name, how,
                                p.process->last_text()));
}

void wait_for_all(std::vector<party>& parties, listener& door, const tcp_options& how) {
    const auto begin = clock::now();
    const bool others = !how.remote.empty();
    for (auto missing = door.missing(); !missing.empty(); missing = door.missing()) {
        door.work(remote_group::look_after);
        if (how.interrupt != nullptr && *how.interrupt)
            throw run_error(fmt::format("interrupted while waiting for subsystem '{}'", missing.front()));
        for (party& p : parties)
            if (p.process && std::find(missing.begin(), missing.end(), p.name) != missing.end()) check_alive(p);
        for (const party& p : parties)
            if (p.program && p.process &&
                clock::now() - begin > std::chrono::duration<double>(p.program->start_limit) &&
                std::find(missing.begin(), missing.end(), p.name) != missing.end())
                p.program->refuse(fmt::format("it did not connect within {:g} s", p.program->start_limit));
        if (others && clock::now() - begin > std::chrono::duration<double>(how.wait))
            nobody_came(parties, door, how.wait);
    }
}

}  // namespace

std::unique_ptr<transport> make_tcp_transport(std::vector<subsystem_recipe> subsystems,
                                              const std::vector<std::vector<int>>& groups, const tcp_options& how) {
    std::vector<std::string> names;
    for (const auto& s : subsystems) names.push_back(s.name);
    const auto all = complete_groups(subsystems.size(), groups);
    const auto elsewhere = [&](const std::vector<int>& members) {
        return std::find(how.remote.begin(), how.remote.end(), members.front()) != how.remote.end();
    };
    const auto here = static_cast<int>(all.size()) - static_cast<int>(std::count_if(all.begin(), all.end(), elsewhere));
    const bool spin = here < available_cores();
    listener door({.address = how.listen, .token = how.token, .spin = spin});
    std::vector<party> parties;
    for (const auto& members : all) {
        group_recipe r = gather(members, subsystems);
        door.expect(r.name);
        parties.push_back({members, r.name, r.limit, nullptr, r.program});
        if (elsewhere(members)) continue;
        if (r.program) {
            parties.back().process = r.program->start(door, spin);
            continue;
        }
        parties.back().process = std::make_unique<child_process>([&] {
            door.close();
            const auto link = connect_to_master(door.address(), {door.token(), r.name}, spin);
            wire_writer introduction;
            subsystem_host host(r.make, introduction);
            serve(*link, host, introduction);
        });
    }
    if (!how.remote.empty() && how.announce) how.announce(door);
    wait_for_all(parties, door, how);
    door.close();
    std::vector<served_group> served;
    for (party& p : parties) {
        if (p.program) {
            served.push_back({p.members, p.program->meet(door.take(p.name), std::move(p.process))});
            continue;
        }
        const linked_group::options options{p.name, p.members.size(), p.limit};
        served.push_back({p.members, std::make_unique<linked_group>(options, door.take(p.name), std::move(p.process))});
    }
    return make_group_transport(std::move(names), std::move(served));
}

}  // namespace mdpcosim
