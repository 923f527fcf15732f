#include "assembly/mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "assembly/fingerprint.hpp"
#include "assembly/signal_targets.hpp"
#include "assembly/transports.hpp"
#include "core/error.hpp"
#include "transport/affinity.hpp"
#include "transport/mpi/launch.hpp"
#include "transport/mpi/transport.hpp"

namespace mdpcosim {

namespace {

/// "subsystems 'a', 'b'"
std::string group_text(const scenario& s, const std::vector<int>& members) {
    std::string text = members.size() == 1 ? "subsystem" : "subsystems";
    for (const int i : members)
        text += fmt::format("{} '{}'", i == members[0] ? "" : ",", s.subsystems[static_cast<std::size_t>(i)].name);
    return text;
}

/// One rank per core of this machine, or as many as Slurm has been asked for.
std::vector<std::vector<int>> default_groups(const scenario& s) {
    const char* tasks = std::getenv("SLURM_NTASKS");
    const int wished = tasks == nullptr ? available_cores() : std::atoi(tasks);
    return groups_of(s, std::max(1, wished), false);
}

}  // namespace

std::vector<std::string> mpi_modules() {
    std::vector<std::string> found;
    for (const mpi_implementation& each : mpi_implementations())
        if (!mpi_module_file(each).empty()) found.push_back(each.title);
    return found;
}

bool is_mpi_rank() { return told_by_launcher().has_value(); }

int mpi_rank_number() { return told_by_launcher()->rank; }

void watch_mpi_rank(double patience, const std::function<bool(const rank_end&)>& ended) {
    watch_rank(mpi_rank_number(), patience, ended);
}

void greet_mpi_launcher() { greet_launcher(); }
void tell_mpi_launcher(int status) { tell_launcher(status); }

mpi_rank::mpi_rank(const std::atomic<bool>& hurry) : ranks_(std::make_unique<mpi_ranks>(*told_by_launcher(), hurry)) {}

mpi_rank::~mpi_rank() = default;

void mpi_rank::serve(const std::function<scenario()>& load, int workers, bool pin) {
    const auto make = [&](const std::string& text) {
        const rank_briefing word(text);
        scenario s;
        try {
            s = with_signal_targets(load(), true);
        } catch (const user_error& problem) {  // rank 0 has read it
            throw user_error(fmt::format("{}: {}", ranks_->name(ranks_->rank()), problem.what()));
        }
        if (fingerprint(s) != word.fingerprint)
            throw user_error(
                fmt::format("{}: its '{}' is not the scenario of rank 0. Every rank needs the same file, under the "
                            "same path, and the same options.",
                            ranks_->name(ranks_->rank()), s.path.string()));
        for (auto& entry : s.subsystems) entry.fmu.trace = word.trace, entry.tunable = word.tunable;
        const auto groups = groups_of_ranks(s, ranks_->size(), "mpiexec -n");
        return make_rank_group(*ranks_, std::move(s), groups[static_cast<std::size_t>(ranks_->rank())],
                               {.workers = workers, .pin = pin});
    };
    serve_mpi_rank(*ranks_, make);
}

int launch_mpi(const scenario& s, const std::string& hosts, const std::vector<std::string>& command,
               const std::atomic<int>& interrupts) {
    mpi_launch launch;
    launch.command = command;
    auto groups = default_groups(s);
    if (!hosts.empty()) {
        launch.hosts = parse_hosts(hosts);
        const int ranks = std::accumulate(launch.hosts.begin(), launch.hosts.end(), 0,
                                          [](int sum, const mpi_host& h) { return sum + h.ranks; });
        groups = groups_of_ranks(s, ranks, "--hosts");
    }
    for (const auto& members : groups) launch.groups.push_back(group_text(s, members));
    return launch_ranks(launch, interrupts);
}

}  // namespace mdpcosim
