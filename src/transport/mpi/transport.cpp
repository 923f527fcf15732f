#include "transport/mpi/transport.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "transport/groups.hpp"
#include "transport/transport_host.hpp"

namespace mdpcosim {

namespace {

/// "'a', 'b'"
std::string quoted_names(const std::vector<std::string>& names, const std::vector<int>& members) {
    std::string text;
    for (const int i : members)
        text += fmt::format("{}'{}'", text.empty() ? "" : ", ", names[static_cast<std::size_t>(i)]);
    return text;
}

}  // namespace

std::unique_ptr<transport> make_mpi_transport(mpi_ranks& ranks, std::vector<std::string> names,
                                              const std::vector<std::vector<int>>& groups,
                                              const std::function<std::unique_ptr<transport>()>& make_own,
                                              const std::string& word) {
    wire_writer start;
    start.put(word);
    std::vector<served_group> elsewhere;
    for (int k = 1; k < ranks.size(); ++k) {
        const auto& members = groups[static_cast<std::size_t>(k)];
        auto link = ranks.link(k);
        link->send(start.bytes());
        auto group =
            std::make_unique<linked_group>(linked_group::options{ranks.name(k), members.size(), 0}, std::move(link));
        group->set_title(fmt::format("subsystem{} {} ({})", members.size() == 1 ? "" : "s",
                                     quoted_names(names, members), ranks.name(k)));
        elsewhere.push_back({members, std::move(group)});
    }
    return make_group_transport(std::move(names), std::move(elsewhere), {groups[0], make_own()});
}

void serve_mpi_rank(mpi_ranks& ranks,
                    const std::function<std::unique_ptr<transport>(const std::string& word)>& make_own) {
    const auto link = ranks.link(0);
    try {
        std::vector<char> start;
        while (!link->receive(start, std::chrono::minutes(1), longest_introduction)) continue;
        const std::string word = wire_reader(start).get_text();
        wire_writer introduction;
        transport_host host([&] { return make_own(word); }, introduction);
        serve(*link, host, introduction);
    } catch (const run_error&) {
        // The link is lost: rank 0 has ended, and has told why.
    }
}

}  // namespace mdpcosim
