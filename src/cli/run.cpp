#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "engine/engine.hpp"

namespace mdpcosim {

namespace {

std::atomic<bool> interrupted{false};

/// The first signal asks the run to end in order; a second one finds the default action and ends the process.
extern "C" void on_signal(int number) {
    interrupted.store(true);
    std::signal(number, SIG_DFL);
}

struct run_settings {
    scenario_options scenario;
    std::string out;
    std::string transport = "threads";
    int workers = 0;
    bool monolithic = false;
    bool quiet = false;
    bool json = false;
    bool fmi_log = false;
    bool no_pin = false;
};

std::string known_transport(const std::string& value) {
    const auto& names = transport_names();
    if (std::find(names.begin(), names.end(), value) != names.end()) return {};
    return fmt::format("transport '{}' is not available in this version. Available: {}.", value,
                       fmt::join(names, ", "));
}

std::string worker_count(const std::string& value) {
    int count = 0;
    const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), count);
    if (status == std::errc{} && end == value.data() + value.size() && count >= 1 && count <= 4096) return {};
    return fmt::format("'{}' must be a whole number from 1 to 4096.", value);
}

int run_command(const run_settings& o) {
    mdpcosim::scenario s = o.scenario.load();
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    const run_summary summary = run(std::move(s), {o.out, o.workers, o.quiet || o.json, &interrupted, o.monolithic,
                                                   o.transport, o.fmi_log, !o.no_pin});
    if (o.json)
        fmt::print("{}", to_json(summary));
    else if (!o.quiet)
        fmt::print(
            "{}\nresults in {}: results.csv and results.h5 ({} rows), summary.json, profile.json, scenario.yaml\n",
            to_table(summary), summary.folder, summary.rows);
    std::fflush(stdout);
    if (summary.status == "failed") {
        fmt::print(stderr, "mdpcosim: {}\n", summary.message);
        return 1;
    }
    if (summary.status == "interrupted") {
        fmt::print(stderr, "mdpcosim: {}\n", summary.message);
        return 130;
    }
    return 0;
}

}  // namespace

void add_run(CLI::App& app, int& status) {
    auto o = std::make_shared<run_settings>();
    CLI::App* command = app.add_subcommand("run", "Run a scenario, or a single FMU with its default experiment");
    o->scenario.add_to(*command);
    command->add_option("--out", o->out,
                        "Folder for the results (default: <scenario>.out, with --monolithic <scenario>.reference.out)");
    command
        ->add_option("--transport", o->transport,
                     "How subsystems are reached: threads, or processes of their own (default: threads)")
        ->check(known_transport);
    command
        ->add_option("--workers", o->workers,
                     "Threads that serve subsystems (default: one per core), or processes (default: one per subsystem)")
        ->check(worker_count);
    command->add_flag(
        "--no-pin", o->no_pin,
        "Leave it to the system on which cores threads and processes run (see 'placement' in the scenario)");
    command->add_flag(
        "--monolithic", o->monolithic,
        "The reference: integrate the scenario as one system with one solver (key 'reference'), no co-simulation");
    command->add_flag("--fmi-log", o->fmi_log,
                      "Every call of every FMU, with its arguments and status, into fmi.log in the folder");
    command->add_flag("--quiet", o->quiet, "No progress and no table");
    command->add_flag("--json", o->json, "The summary as one JSON document on standard output");
    command->callback([o, &status] { status = run_command(*o); });
}

}  // namespace mdpcosim
