#include "transport/mpi/transport.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "transport/groups.hpp"
#include "transport/threads.hpp"
#include "transport/transport_host.hpp"

namespace mdpcosim {

namespace {

std::unique_ptr<transport> make_group(mpi_ranks& ranks, std::vector<subsystem_recipe> members, int workers) {
    std::vector<named_subsystem> made;
    for (const auto& r : members) made.push_back({r.name, r.make()});
    auto threads = make_thread_transport(std::move(made), workers > 0 ? workers : ranks.fair_share_of_cores());
    ranks.will_work_with(threads->workers());
    return threads;
}

}  // namespace

std::unique_ptr<transport> make_mpi_transport(mpi_ranks& ranks, std::vector<subsystem_recipe> subsystems,
                                              const std::vector<std::vector<int>>& groups, int workers,
                                              const std::string& word) {
    if (static_cast<int>(groups.size()) != ranks.size())
        throw user_error(fmt::format("transport 'mpi': {} ranks were started, but {} groups of subsystems need {}.",
                                     ranks.size(), groups.size(), groups.size()));
    std::vector<std::string> names;
    for (const auto& s : subsystems) names.push_back(s.name);
    wire_writer start;
    start.put(word);
    std::vector<served_group> elsewhere;
    for (int k = 1; k < ranks.size(); ++k) {
        const auto& members = groups[static_cast<std::size_t>(k)];
        auto link = ranks.link(k);
        link->send(start.bytes());
        elsewhere.push_back({members, std::make_unique<linked_group>(
                                          linked_group::options{ranks.name(k), members.size(), 0}, std::move(link))});
    }
    local_group here{groups[0], {}};
    std::vector<subsystem_recipe> own;
    for (const int i : here.members) own.push_back(std::move(subsystems[static_cast<std::size_t>(i)]));
    here.where = make_group(ranks, std::move(own), workers);
    return make_group_transport(std::move(names), std::move(elsewhere), std::move(here));
}

void serve_mpi_rank(mpi_ranks& ranks, const group_maker& make, int workers) {
    const auto link = ranks.link(0);
    try {
        std::vector<char> start;
        while (!link->receive(start, std::chrono::minutes(1), longest_introduction)) continue;
        const std::string word = wire_reader(start).get_text();
        wire_writer introduction;
        transport_host host([&] { return make_group(ranks, make(word), workers); }, introduction);
        serve(*link, host, introduction);
    } catch (const run_error&) {
        // The link is lost: rank 0 has ended, and has told why.
    }
}

}  // namespace mdpcosim
