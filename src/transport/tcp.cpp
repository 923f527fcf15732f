#include "transport/tcp.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "remote/listener.hpp"
#include "remote/program_group.hpp"
#include "transport/groups.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

std::string own_key(const std::vector<int>& members) { return fmt::format("own process {}", members.front()); }

struct party {
    std::vector<int> members;
    std::string name;
    double limit = 0;
    std::unique_ptr<child_process> process;  ///< none: somebody elsewhere brings it
    std::shared_ptr<const program_launcher> program;

    /// What it says at the door: nobody else can take the place of a process that is started here.
    std::string key() const { return process ? own_key(members) : name; }
};

[[noreturn]] void nobody_came(const std::vector<std::string>& missing, int port, double wait) {
    throw user_error(
        fmt::format("no program brought subsystem '{}' within {:g} s. Start 'mdpcosim serve SCENARIO {} --connect "
                    "HOST:{}' with this "
                    "run's token on a machine that reaches this one, or wait longer (--wait).",
                    fmt::join(missing, "', '"), wait, fmt::join(missing, " "), port));
}

void check_alive(party& p, clock::time_point begin) {
    const std::string ending = p.process->ended();
    if (ending.empty()) {
        if (p.program && clock::now() - begin > std::chrono::duration<double>(p.program->start_limit))
            p.program->refuse(fmt::format("it did not connect within {:g} s", p.program->start_limit));
        return;
    }
    if (p.program)
        p.program->refuse(
            fmt::format("its process {} at its start; it wrote last: {}", ending, p.process->last_text()));
    throw run_error(fmt::format("subsystem '{}' failed at its start: its process {}; it wrote last: {}", p.name, ending,
                                p.process->last_text()));
}

void wait_for_all(std::vector<party>& parties, listener& door, const tcp_options& options) {
    const auto begin = clock::now();
    for (auto missing = door.missing(); !missing.empty(); missing = door.missing()) {
        door.work(remote_group::look_after);
        if (options.interrupt != nullptr && *options.interrupt)
            throw run_error(fmt::format("interrupted while waiting for subsystem '{}'", missing.front()));
        std::vector<std::string> elsewhere;
        for (party& p : parties) {
            if (std::find(missing.begin(), missing.end(), p.key()) == missing.end()) continue;
            if (p.process)
                check_alive(p, begin);
            else
                elsewhere.push_back(p.name);
        }
        if (!elsewhere.empty() && clock::now() - begin > std::chrono::duration<double>(options.wait))
            nobody_came(elsewhere, door.port(), options.wait);
    }
}

}  // namespace

std::unique_ptr<transport> make_tcp_transport(std::vector<subsystem_recipe> subsystems,
                                              const std::vector<std::vector<int>>& groups, const tcp_options& options) {
    std::vector<std::string> names;
    for (const auto& s : subsystems) names.push_back(s.name);
    const auto all = complete_groups(subsystems.size(), groups);
    const auto elsewhere = [&](const std::vector<int>& members) {
        return std::find(options.remote.begin(), options.remote.end(), members.front()) != options.remote.end();
    };
    const auto here = static_cast<int>(all.size()) - static_cast<int>(std::count_if(all.begin(), all.end(), elsewhere));
    const bool spin = here < available_cores();
    listener door({.address = options.listen, .token = options.token, .spin = spin});
    std::vector<party> parties;
    for (const auto& members : all) {
        const std::uint64_t fingerprint = subsystems[static_cast<std::size_t>(members.front())].fingerprint;
        const group_recipe r = gather(members, subsystems);
        party& p = parties.emplace_back(party{members, r.name, r.limit, nullptr, r.program});
        if (elsewhere(members)) {
            door.expect(r.name, fingerprint);
            continue;
        }
        door.expect_own(own_key(members));
        p.process = r.program ? r.program->start(door, own_key(members), spin)
                              : start_connecting(door, own_key(members), r.texts, spin);
    }
    if (!options.remote.empty() && options.announce) options.announce(door);
    wait_for_all(parties, door, options);
    door.close();
    std::vector<served_group> served;
    for (party& p : parties) {
        auto link = door.take(p.key());
        if (p.program) {
            served.push_back({p.members, p.program->meet(std::move(link), std::move(p.process))});
            continue;
        }
        const linked_group::options of_link{p.name, p.members.size(), p.limit, p.process ? 0 : options.wait};
        served.push_back({p.members, std::make_unique<linked_group>(of_link, std::move(link), std::move(p.process))});
    }
    return make_group_transport(std::move(names), std::move(served), {}, options.cores);
}

}  // namespace mdpcosim
