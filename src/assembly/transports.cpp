#include "assembly/transports.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "assembly/fingerprint.hpp"
#include "assembly/serve.hpp"
#include "core/suggest.hpp"
#include "remote/host_task.hpp"
#include "remote/place.hpp"
#include "remote/program_group.hpp"
#include "subsystem/factory.hpp"
#include "transport/groups.hpp"
#include "transport/mpi/transport.hpp"
#include "transport/tcp.hpp"
#include "transport/threads.hpp"

namespace mdpcosim {

namespace {

std::size_t number_of(const scenario& s, const std::string& subsystem) {
    const auto named = [&](const subsystem_spec& spec) { return spec.name == subsystem; };
    return static_cast<std::size_t>(std::ranges::find_if(s.subsystems, named) - s.subsystems.begin());
}

bool is_program(const subsystem_spec& spec) { return spec.kind == subsystem_spec::source_kind::program; }

bool needs_own_process(const subsystem_spec& spec) { return is_program(spec) || spec.limits.any(); }

/// Programs that are sampled are served by who samples them.
bool served_apart(const subsystem_spec& spec) { return lives_apart(spec) && !(is_program(spec) && spec.sample); }

/// The subsystems of this process, by number, which threads serve.
std::unique_ptr<transport> make_local(const scenario& s, const std::vector<int>& members,
                                      const transport_options& options, binding cores) {
    std::vector<named_subsystem> subsystems;
    subsystems.reserve(members.size());
    std::vector<int> units;
    for (const int i : members) {
        const auto& spec = s.subsystems[static_cast<std::size_t>(i)];
        const subsystem_spec on_grid = on_macro_grid(spec, s.time.step, s.time.end - s.time.start);
        subsystems.push_back({spec.name, make_subsystem(on_grid)});
        for (int k = 0; k < spec.replicas; ++k) subsystems.back().replicas.push_back(make_subsystem(on_grid));
        units.push_back(cores.of(static_cast<std::size_t>(i)));
    }
    cores.units = std::move(units);
    return make_thread_transport(std::move(subsystems), options.workers, true, cores);
}

/// How many different units are asked for by the master and those that live here.
int units_of_threads(const scenario& s, const binding& cores) {
    std::set<int> units{cores.master};
    for (std::size_t i = 0; i < s.subsystems.size(); ++i)
        if (!served_apart(s.subsystems[i])) units.insert(cores.of(i));
    units.erase(-1);
    return static_cast<int>(units.size());
}

/// Those that live apart work at the same time as the threads, whatever the number of these. The ranks of a machine share its cores,
/// so that their processes do not spin.
std::unique_ptr<transport> make_threads(const scenario& s, const transport_options& options) {
    std::vector<std::string> names;
    std::vector<served_group> elsewhere;
    local_group here;
    binding cores = binding_of(s, options);
    const bool spin =
        options.kind != transport_kind::mpi && std::ranges::count_if(s.subsystems, served_apart) < available_cores();
    for (const auto& spec : s.subsystems) {
        const int number = static_cast<int>(names.size());
        names.push_back(spec.name);
        if (!served_apart(spec)) {
            here.members.push_back(number);
            continue;
        }
        elsewhere.push_back(
            {{number}, make_remote_group(on_macro_grid(spec, s.time.step, s.time.end - s.time.start), spin)});
    }
    if (!here.members.empty()) {
        const int threads =
            std::min(options.workers > 0 ? options.workers : available_cores(), static_cast<int>(here.members.size()));
        if (units_of_threads(s, cores) > threads)
            throw user_error(
                s.placement.cores.front().values[0].where,
                fmt::format("placement: cores: {} units are asked for, but the number of threads is {}, the "
                            "master's among them, for {} subsystems. Take more --workers, or fewer units.",
                            units_of_threads(s, cores), threads, here.members.size()));
        here.transport = make_local(s, here.members, options, cores);
        cores.master = -1;  // it is bound there
    }
    if (elsewhere.empty()) return std::move(here.transport);
    return make_group_transport(std::move(names), std::move(elsewhere), std::move(here), cores);
}

std::vector<subsystem_recipe> recipes_of(const scenario& s) {
    std::vector<subsystem_recipe> recipes;
    for (const auto& spec : s.subsystems) {
        recipes.push_back({spec.name, text_for_process(spec, s), spec.limit});
        recipes.back().fingerprint = fingerprint(s, spec);
        if (is_program(spec) && !spec.sample) recipes.back().program = std::make_shared<program_launcher>(spec);
    }
    return recipes;
}

/// Those that programs elsewhere bring, rising.
std::vector<int> remote_ones(const scenario& s, const std::vector<std::string>& names) {
    std::vector<int> numbers;
    for (const auto& name : names) {
        try {
            numbers.push_back(static_cast<int>(&subsystem_named(name, s) - s.subsystems.data()));
        } catch (const user_error& problem) {
            throw user_error(fmt::format("--remote: {}", problem.what()));
        }
    }
    std::ranges::sort(numbers);
    const auto twice = std::ranges::adjacent_find(numbers);
    if (twice != numbers.end())
        throw user_error(fmt::format("--remote: subsystem '{}' is named twice. Once is enough.",
                                     s.subsystems[static_cast<std::size_t>(*twice)].name));
    return numbers;
}

std::unique_ptr<transport> make_tcp(const scenario& s, const transport_options& options) {
    tcp_options reach{.listen = options.remote.listen,
                      .token = given_token(),
                      .remote = remote_ones(s, options.remote.names),
                      .wait = options.remote.wait,
                      .announce = {},
                      .interrupt = options.interrupt,
                      .cores = binding_of(s, options)};
    auto groups = groups_of(s, options.workers);
    for (auto& g : groups) std::erase_if(g, [&](int i) { return std::ranges::binary_search(reach.remote, i); });
    std::erase_if(groups, [](const auto& g) { return g.empty(); });
    std::unique_ptr<token_file> left;
    reach.announce = [&](const listener& door) { left = announce(s, options.remote, door); };
    return make_tcp_transport(recipes_of(s), groups, reach);
}

std::unique_ptr<transport> make_mpi(const scenario& s, const transport_options& options) {
    mpi_ranks* ranks = mpi_ranks::joined();
    if (ranks == nullptr) throw user_error("transport 'mpi': this process is not a rank. Start it with mpiexec.");
    const auto groups = groups_of_ranks(s, ranks->size(), "mpiexec -n");
    std::vector<std::string> names;
    for (const auto& spec : s.subsystems) names.push_back(spec.name);
    return make_mpi_transport(
        *ranks, std::move(names), groups, [&] { return make_rank_group(*ranks, s, groups[0], options); },
        rank_briefing{fingerprint(s), s.subsystems[0].tunable, s.subsystems[0].fmu.trace.string()}.text());
}

}  // namespace

std::vector<std::vector<int>> groups_of_ranks(const scenario& s, int ranks, const std::string& option) {
    const auto count = s.subsystems.size();
    if (static_cast<std::size_t>(ranks) > count)
        throw user_error(
            fmt::format("transport 'mpi': {} ranks are more than the scenario's {} subsystem{}, the last of which is "
                        "'{}'. Ask for at "
                        "most {} with {}.",
                        ranks, count, count == 1 ? "" : "s", s.subsystems.back().name, count, option));
    auto groups = groups_of(s, ranks, false);
    if (static_cast<int>(groups.size()) != ranks)
        throw user_error(
            fmt::format("transport 'mpi': {} ranks do not fit the scenario's 'placement: groups', which make {} of "
                        "them. Ask for {} with "
                        "{}.",
                        ranks, groups.size(), groups.size(), option));
    return groups;
}

std::string rank_briefing::text() const { return fmt::format("{} {:d}{}", fingerprint, tunable, trace); }

rank_briefing::rank_briefing(const std::string& text)
    : rank_briefing(std::strtoull(text.c_str(), nullptr, 10), text[text.find(' ') + 1] == '1',
                    text.substr(text.find(' ') + 2)) {}

std::unique_ptr<transport> make_rank_group(mpi_ranks& ranks, scenario s, const std::vector<int>& members,
                                           transport_options options) {
    std::vector<subsystem_spec> own;
    for (const int i : members) own.push_back(std::move(s.subsystems[static_cast<std::size_t>(i)]));
    s.subsystems = std::move(own);
    s.placement.groups.clear();
    std::erase_if(s.placement.cores, [&](const setting& entry) {
        return entry.name == "master" ? ranks.rank() != 0 : number_of(s, entry.name) == s.subsystems.size();
    });
    options.kind = transport_kind::mpi;
    if (options.workers == 0)
        options.workers = std::max(ranks.fair_share_of_cores(), units_of_threads(s, binding_of(s, options)));
    auto group = make_threads(s, options);
    ranks.will_work_with(group->workers());
    return group;
}

subsystem_text text_for_process(const subsystem_spec& spec, const scenario& s) {
    return text_of(on_macro_grid(spec, s.time.step, s.time.end - s.time.start));
}

std::vector<std::vector<int>> groups_of(const scenario& s, int parties, bool processes) {
    std::vector<std::vector<int>> groups;
    std::vector<bool> grouped(s.subsystems.size(), false);
    for (const auto& names : s.placement.groups) {
        groups.emplace_back();
        for (const auto& name : names) {
            groups.back().push_back(static_cast<int>(number_of(s, name.value)));
            const auto& spec = s.subsystems[number_of(s, name.value)];
            if (names.size() > 1 && needs_own_process(spec))
                throw user_error(name.where,
                                 fmt::format("placement: groups: '{}' {} and shares its process "
                                             "with nobody. Leave it out.",
                                             name.value, is_program(spec) ? "is a program" : "has 'limits'"));
            grouped[static_cast<std::size_t>(groups.back().back())] = true;
        }
        std::ranges::sort(groups.back());
    }
    std::vector<int> rest;
    std::vector<std::vector<int>> programs;  // beside the parties
    for (std::size_t i = 0; i < grouped.size(); ++i)
        if (!grouped[i] && processes && needs_own_process(s.subsystems[i]))
            programs.push_back({static_cast<int>(i)});
        else if (!grouped[i])
            rest.push_back(static_cast<int>(i));
    const std::size_t given = groups.size(), n = rest.size();
    const std::size_t left = static_cast<std::size_t>(parties) > given ? static_cast<std::size_t>(parties) - given : 1;
    const std::size_t lists = parties == 0 ? n : std::min(n, left);
    for (std::size_t p = 0; p < lists; ++p)
        groups.emplace_back(rest.begin() + static_cast<std::ptrdiff_t>(p * n / lists),
                            rest.begin() + static_cast<std::ptrdiff_t>((p + 1) * n / lists));
    groups.insert(groups.end(), programs.begin(), programs.end());
    return groups;
}

binding binding_of(const scenario& s, const transport_options& options) {
    binding cores;
    if (!options.pin) return cores;
    cores.automatic = options.kind != transport_kind::mpi;  // the ranks of a machine would choose the same
    for (const auto& entry : s.placement.cores) {
        const int unit = std::stoi(entry.values[0].value);
        const auto& units = processing_units();
        if (std::find(units.begin(), units.end(), unit) == units.end())
            throw user_error(entry.values[0].where,
                             fmt::format("placement: cores: '{}' cannot be bound to unit {}: this process may use {}.",
                                         entry.name, unit, fmt::join(units, ", ")));
        if (entry.name == "master") {
            cores.master = unit;
            continue;
        }
        cores.units.resize(s.subsystems.size(), -1);
        cores.units[number_of(s, entry.name)] = unit;
    }
    return cores;
}

const std::vector<std::string>& transport_names() {
    static const std::vector<std::string> names{"threads", "processes", "tcp", "mpi"};
    return names;
}

transport_kind transport_named(const std::string& name) {
    const auto& names = transport_names();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw user_error(unknown_name("transport", name, "mdpcosim", names));
    return static_cast<transport_kind>(found - names.begin());
}

std::unique_ptr<transport> make_transport(const scenario& s, const transport_options& options) {
    if (options.writable) {
        scenario marked = s;
        for (auto& entry : marked.subsystems) entry.tunable = true;
        transport_options inner = options;
        inner.writable = false;
        return make_transport(marked, inner);
    }
    if (options.kind != transport_kind::tcp && (!options.remote.listen.empty() || !options.remote.names.empty()))
        throw user_error("--listen and --remote belong to the transport 'tcp': give --transport tcp, too.");
    switch (options.kind) {
        case transport_kind::threads:
            return make_threads(s, options);
        case transport_kind::processes:
            return make_process_transport(recipes_of(s), groups_of(s, options.workers), binding_of(s, options));
        case transport_kind::tcp:
            return make_tcp(s, options);
        case transport_kind::mpi:
            return make_mpi(s, options);
    }
    return {};
}

}  // namespace mdpcosim
