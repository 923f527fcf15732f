#include "transport/mpi/hosts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <memory>

#include "core/error.hpp"
#include "remote/child_process.hpp"

namespace mdpcosim {

namespace {

constexpr int most_ranks = 100'000;

std::string last_line(const std::string& text) { return text.substr(text.find_last_of('\n') + 1); }

}  // namespace

bool is_this_machine(const mpi_host& host) {
    char own[256] = "";
    gethostname(own, sizeof own - 1);
    const std::string whole = own;
    return host.name == "localhost" || host.name == "127.0.0.1" || host.name == whole ||
           host.name == whole.substr(0, whole.find('.'));
}

std::vector<mpi_host> parse_hosts(const std::string& text) {
    const auto refuse = [&] {
        throw user_error(
            fmt::format("--hosts {}: write the machines with commas, each with its number of ranks if it is not one: "
                        "node1:4,node2.",
                        text));
    };
    std::vector<mpi_host> hosts;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        const std::string entry = text.substr(from, comma - from);
        const std::size_t colon = entry.find(':');
        mpi_host host{entry.substr(0, colon)};
        if (host.name.empty() || host.name[0] == '-' || host.name.find_first_of(" \t'\"") != std::string::npos)
            refuse();
        if (colon != std::string::npos) {
            const char *begin = entry.data() + colon + 1, *end = entry.data() + entry.size();
            const auto [stop, status] = std::from_chars(begin, end, host.ranks);
            if (status != std::errc{} || stop != end || host.ranks < 1 || host.ranks > most_ranks) refuse();
        }
        hosts.push_back(std::move(host));
        from = comma + 1;
    }
    return hosts;
}

void check_hosts(const std::vector<mpi_host>& hosts) {
    constexpr double patience = 10;
    std::vector<std::pair<std::string, std::unique_ptr<child_process>>> asked;
    for (const auto& host : hosts)
        if (!is_this_machine(host))
            asked.emplace_back(
                host.name,
                std::make_unique<child_process>(child_process::program{
                    {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", host.name, "true"}, {}, {}, {}}));
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& [name, ssh] : asked) {
        const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin;
        const std::string ending = ssh->ended(std::max(0.0, patience - used.count()));
        if (ssh->succeeded()) continue;
        const std::string reason =
            ending.empty() ? fmt::format("nothing came within {:g} s", patience) : ssh->last_text();
        throw user_error(
            fmt::format("transport 'mpi': host '{}' does not answer: {}. 'ssh {} true' must work without a password; "
                        "or leave '{}' out "
                        "of --hosts.",
                        name, reason.empty() ? ending : last_line(reason), name, name));
    }
}

}  // namespace mdpcosim
