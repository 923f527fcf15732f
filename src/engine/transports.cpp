#include "engine/transports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/suggest.hpp"
#include "engine/remote.hpp"
#include "subsystem/factory.hpp"
#include "subsystem/remote/program_group.hpp"
#include "transport/groups.hpp"
#include "transport/tcp.hpp"
#include "transport/threads.hpp"
#include "transport/worker_pool.hpp"

namespace mdpcosim {

namespace {

bool is_program(const subsystem_spec& spec) { return spec.kind == subsystem_spec::source_kind::program; }

/// Those that live apart work at the same time as the threads, whatever the number of these. Their processes come first: a copy of
/// this one should have no threads.
std::unique_ptr<transport> make_threads(const scenario& s, int workers) {
    std::vector<std::string> names;
    std::vector<served_group> elsewhere;
    local_group here;
    const bool spin = std::ranges::count_if(s.subsystems, lives_apart) < available_cores();
    for (const auto& spec : s.subsystems) {
        const int number = static_cast<int>(names.size());
        names.push_back(spec.name);
        if (lives_apart(spec))
            elsewhere.push_back({{number}, make_remote_group(on_macro_grid(spec, s.time.step), spin)});
        else
            here.members.push_back(number);
    }
    std::vector<named_subsystem> subsystems;
    subsystems.reserve(here.members.size());
    for (const int i : here.members) {
        const auto& spec = s.subsystems[static_cast<std::size_t>(i)];
        subsystems.push_back({spec.name, make_subsystem(on_macro_grid(spec, s.time.step))});
    }
    if (!subsystems.empty()) here.where = make_thread_transport(std::move(subsystems), workers);
    if (elsewhere.empty()) return std::move(here.where);
    return make_group_transport(std::move(names), std::move(elsewhere), std::move(here));
}

std::vector<subsystem_recipe> recipes_of(const scenario& s) {
    std::vector<subsystem_recipe> recipes;
    for (const auto& spec : s.subsystems) {
        recipes.push_back({spec.name, maker_of(spec, s.time.step), spec.limit});
        if (is_program(spec)) recipes.back().program = std::make_shared<program_launcher>(spec);
    }
    return recipes;
}

/// `subsystems` in so many groups of neighbours.
std::vector<std::vector<int>> neighbours(const std::vector<int>& subsystems, int groups) {
    const std::size_t n = subsystems.size(),
                      count = groups == 0 ? n : std::min<std::size_t>(n, static_cast<std::size_t>(groups));
    std::vector<std::vector<int>> all;
    for (std::size_t g = 0; g < count; ++g)
        all.emplace_back(subsystems.begin() + static_cast<std::ptrdiff_t>(g * n / count),
                         subsystems.begin() + static_cast<std::ptrdiff_t>((g + 1) * n / count));
    return all;
}

/// Those that may share a process.
std::vector<int> models_of(const scenario& s) {
    std::vector<int> numbers;
    for (std::size_t i = 0; i < s.subsystems.size(); ++i)
        if (!is_program(s.subsystems[i])) numbers.push_back(static_cast<int>(i));
    return numbers;
}

/// Their numbers, rising.
std::vector<int> numbers_of(const std::vector<std::string>& names, const scenario& s) {
    std::vector<int> numbers;
    for (const auto& name : names) numbers.push_back(static_cast<int>(&subsystem_named(name, s) - s.subsystems.data()));
    std::ranges::sort(numbers);
    const auto twice = std::ranges::adjacent_find(numbers);
    if (twice != numbers.end())
        throw user_error(fmt::format("subsystem '{}' is named twice. Once is enough.",
                                     s.subsystems[static_cast<std::size_t>(*twice)].name));
    return numbers;
}

std::unique_ptr<transport> make_tcp(const scenario& s, int workers, const remote_options& remote,
                                    const std::atomic<bool>* interrupt) {
    tcp_options how{.listen = remote.listen,
                    .token = given_token(),
                    .remote = numbers_of(remote.names, s),
                    .wait = remote.wait,
                    .announce = {},
                    .interrupt = interrupt};
    std::vector<int> here;
    std::ranges::set_difference(models_of(s), how.remote, std::back_inserter(here));
    std::unique_ptr<token_file> left;
    how.announce = [&](const listener& door) { left = announce(s, remote, door); };
    return make_tcp_transport(recipes_of(s), neighbours(here, workers), how);
}

}  // namespace

subsystem_maker maker_of(const subsystem_spec& spec, double macro_step) {
    subsystem_spec inside = on_macro_grid(spec, macro_step);
    inside.fmu.isolate = false;  // it has its process already
    inside.limit = 0;
    return [inside = std::move(inside)] { return make_subsystem(inside); };
}

const std::vector<std::string>& transport_names() {
    static const std::vector<std::string> names{"threads", "processes", "tcp"};
    return names;
}

transport_kind transport_named(const std::string& name) {
    const auto& names = transport_names();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw user_error(unknown_name("transport", name, "mdpcosim", names));
    return static_cast<transport_kind>(found - names.begin());
}

std::unique_ptr<transport> make_transport(const scenario& s, int workers, transport_kind kind,
                                          const remote_options& remote, const std::atomic<bool>* interrupt) {
    if (kind != transport_kind::tcp && (!remote.listen.empty() || !remote.names.empty()))
        throw user_error("--listen and --remote belong to the transport 'tcp': give --transport tcp, too.");
    switch (kind) {
        case transport_kind::threads:
            return make_threads(s, workers);
        case transport_kind::processes:
            return make_process_transport(recipes_of(s), neighbours(models_of(s), workers));
        case transport_kind::tcp:
            return make_tcp(s, workers, remote, interrupt);
    }
    return {};
}

}  // namespace mdpcosim
