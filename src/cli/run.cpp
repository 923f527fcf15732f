#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "analysis/advice_line.hpp"
#include "api/mdpcosim.hpp"
#include "assembly/mpi.hpp"
#include "cli/commands.hpp"
#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "core/error.hpp"
#include "core/foreign_call.hpp"
#include "core/last_words.hpp"
#include "report/report.hpp"
#include "supervisor/supervisor.hpp"

namespace mdpcosim {

namespace {

std::atomic<bool> interrupted{false};

/// The first signal asks the run to end in order; without a parent that knows when to end it otherwise, a second one finds the default action.
extern "C" void on_signal(int number) {
    interrupted.store(true);
    if (!is_supervised()) std::signal(number, SIG_DFL);
}

std::atomic<int> interrupts{0};    ///< of the process that launches ranks
std::atomic<bool> hurried{false};  ///< of a rank: the launcher is going to kill it

/// From the terminal, from the parent and from `timeout`: what comes at the same time is one.
extern "C" void on_signal_to_launcher(int) {
    static std::atomic<std::int64_t> last{-1};
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t ms = std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
    if (last >= 0 && ms - last < 500) return;
    last = ms;
    interrupts.fetch_add(1);
}

/// `nohup` means it. What came before is heard now.
void end_in_order_on(std::initializer_list<int> signals, void (*handler)(int)) {
    for (const int number : signals)
        if (std::signal(number, handler) == SIG_IGN && number == SIGHUP) std::signal(number, SIG_IGN);
    release_signals();
}

/// Ranks get signals more than once: from the terminal and from the launcher.
extern "C" void on_signal_to_rank(int number) {
    interrupted.store(true);
    if (number == SIGTERM || number == SIGUSR2) hurried.store(true);
}

struct run_settings {
    scenario_options scenario;
    std::string out;
    std::string transport = "threads";
    std::string hosts;
    int workers = 0;
    bool monolithic = false;
    bool quiet = false;
    bool json = false;
    bool fmi_log = false;
    bool no_pin = false;
    bool report = false;
    bool open = false;
    bool strict = false;
    bool verify = false, no_verify = false;
    bool no_supervisor = false;
    remote_options remote;
};

std::string known_transport(const std::string& value) {
    const auto& names = transport_names();
    if (std::find(names.begin(), names.end(), value) != names.end()) return {};
    return fmt::format("transport '{}' is not available in this version. Available: {}.", value,
                       fmt::join(names, ", "));
}

/// Of this process, as it was started.
std::vector<std::string> own_command_line() {
    std::vector<std::string> words{std::filesystem::read_symlink("/proc/self/exe").string()};
    std::ifstream in("/proc/self/cmdline", std::ios::binary);
    std::string word;
    std::getline(in, word, '\0');
    while (std::getline(in, word, '\0')) words.push_back(word);
    return words;
}

/// A failed run has a report, too.
void tell_report(const std::string& folder, const run_settings& o) {
    const std::string path = write_report(folder).string();
    if (!o.quiet && !o.json) say("report in {}\n", path);
    flush_output();
    if (o.open) show_report(path);
}

/// "results.csv and results.h5 (5 rows), summary.json, ...", those that are there: a run that did not start has few.
std::string files_of(const std::filesystem::path& folder, const run_summary& summary) {
    std::vector<std::string> there;
    std::error_code none;
    std::vector<std::string> tables;
    for (const char* name : {"results.csv", "results.h5"})
        if (std::filesystem::exists(folder / name, none)) tables.emplace_back(name);
    if (!tables.empty()) there.push_back(fmt::format("{} ({} rows)", fmt::join(tables, " and "), summary.rows));
    for (const char* name : {"summary.json", "profile.json", "scenario.yaml"})
        if (std::filesystem::exists(folder / name, none)) there.emplace_back(name);
    return fmt::format("{}", fmt::join(there, ", "));
}

/// A run that diverged or is wrong: whether its macro step is why.
void tell_limit(const run_settings& o) {
    if (o.monolithic) return;
    if (const std::string line = advice_line(o.scenario.load()); !line.empty()) tell("mdpcosim: {}\n", line);
}

/// Runs the scenario in this process, the master.
int run_here(const run_settings& o) {
    mdpcosim::scenario s = o.scenario.load();
    if ((o.report || o.open) && !s.record.csv)
        throw user_error(s.record.where, "--report: the page shows results.csv. Leave out 'csv: no' of 'record'.");
    std::error_code gone;
    const std::filesystem::path working_folder = std::filesystem::current_path(gone);  // foreign code may change it
    progress shown(progress::fitting(o.quiet || o.json), s.time.start, s.time.end, [](const std::string& text) {
        std::fputs(text.c_str(), stderr);
        std::fflush(stderr);
    });
    run_options options{.out = o.out,
                        .workers = o.workers,
                        .interrupt = &interrupted,
                        .monolithic = o.monolithic,
                        .transport = o.transport,
                        .fmi_log = o.fmi_log,
                        .pin = !o.no_pin,
                        .remote = o.remote,
                        .shown = &shown};
    const bool built_in = std::ranges::all_of(s.subsystems, &subsystem_spec::built_in);
    if (!o.no_verify && built_in && o.remote.names.empty())
        options.ended = [&, all = s](run_summary& ended) { verify_small_run(all, ended, &interrupted); };
    run_summary summary;
    try {
        summary = o.verify ? run_verified(s, options) : run(std::move(s), options);
    } catch (const run_error& problem) {
        if (!interrupted) throw;
        tell("mdpcosim: {}\n", problem.what());
        return 130;
    }
    const std::filesystem::path folder = working_folder / summary.folder;
    if (o.json)
        say("{}", to_json(summary));
    else if (!o.quiet)
        say("{}\nresults in {}: {}\n", to_table(summary), summary.folder, files_of(folder, summary));
    if (o.report || o.open) tell_report(folder, o);
    const trust level = summary.judged ? summary.judged->level : trust::good;
    if (summary.judged && summary.status != "failed" && !o.json && (!o.quiet || level != trust::good))
        o.quiet ? tell("{}", to_text(*summary.judged)) : say("{}", to_text(*summary.judged));
    flush_output();
    if (summary.status == "failed") {
        tell("mdpcosim: {}\n", summary.message);
        if (summary.message.find("diverge") != std::string::npos) tell_limit(o);
        return 1;
    }
    if (summary.status == "interrupted") {
        tell("mdpcosim: {}\n", summary.message);
        return 130;
    }
    if (level == trust::wrong) tell_limit(o);
    return level == trust::wrong || (o.strict && level == trust::doubtful) ? 3 : 0;
}

int run_as_rank(const run_settings& o) {
    watch_mpi_rank(patience(), [](const rank_end& e) { return finish_child(e.how, e.told, e.waited, tell_end); });
    watch_crashes();
    end_in_order_on({SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}, on_signal_to_rank);
    greet_mpi_launcher();
    // Messages come before the farewell to the other ranks, which may take its time.
    std::optional<mpi_rank> rank;
    const int status = guarded([&] {
        const auto load = [&] { return o.scenario.load(); };
        rank.emplace(hurried);
        if (mpi_rank_number() == 0) return run_here(o);
        rank->serve(load, o.workers, !o.no_pin);
        return 0;
    });
    if (mpi_rank_number() == 0) tell_mpi_launcher(status);
    // The farewell to a lost rank ends this process.
    if (last_words* words = last_words::shared()) words->status = status;
    return status;
}

int run_on_mpi(const run_settings& o) {
    if (is_mpi_rank()) return run_as_rank(o);
    end_in_order_on({SIGINT, SIGTERM, SIGHUP}, on_signal_to_launcher);
    return launch_mpi(o.scenario.load(), o.hosts, own_command_line(), interrupts);
}

int run_command(const run_settings& o) {
    if (!o.hosts.empty() && o.transport != "mpi")
        throw user_error("--hosts: only ranks of MPI run on other hosts. Add --transport mpi.");
    if (o.transport == "mpi" && !o.monolithic) return run_on_mpi(o);
    if (o.transport == "mpi" && is_mpi_rank() && mpi_rank_number() != 0) return 0;  // one system needs one process
    end_in_order_on({SIGINT, SIGTERM, SIGHUP}, on_signal);
    return run_here(o);
}

/// In the parent of a run that has gone: the same as after one that failed.
int tell_sudden_end(const run_settings& o, const sudden_end& end) {
    if (o.json && !end.closed.empty()) say("{}", end.closed.front().summary);
    const int status = tell_end(end);
    if ((o.report || o.open) && !end.closed.empty())
        guarded([&] {
            tell_report(end.closed.front().folder.string(), o);
            return 0;
        });
    return finish_output(status);
}

int run_watched(const run_settings& o) {
    std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is no reason to end
    if (o.json && (o.transport != "mpi" || is_mpi_rank())) keep_output();
    if (o.transport == "mpi" && is_mpi_rank()) return run_command(o);  // watched by who has started it
    if (o.no_supervisor) ::setenv("MDPCOSIM_SUPERVISOR", "0", 1);
    return watched([&] { return run_command(o); }, [&](const sudden_end& end) { return tell_sudden_end(o, end); });
}

}  // namespace

void add_run(CLI::App& app, int& status) {
    auto o = std::make_shared<run_settings>();
    CLI::App* command = app.add_subcommand("run", "Run a scenario, or a single FMU with its default experiment");
    o->scenario.add_to(*command);
    command->add_option("--out", o->out,
                        "Folder for the results (default: <scenario>.out, with --monolithic <scenario>.reference.out)");
    command
        ->add_option(
            "--transport", o->transport,
            "How subsystems are reached: threads, processes of their own over shared memory, tcp: processes that "
            "connect to this one, also from elsewhere, or mpi: ranks on this and other machines, started by this "
            "program, mpiexec or srun (default: threads)")
        ->check(known_transport);
    command
        ->add_option("--hosts", o->hosts,
                     "With --transport mpi: the machines that get a rank, or several: node1:4,node2 (default: this "
                     "machine, one rank per core)")
        ->type_name("HOST[:RANKS],...");
    command
        ->add_option(
            "--workers", o->workers,
            "Threads that serve subsystems, with mpi in each rank (default: one per core), or processes (default: one "
            "per subsystem)")
        ->transform(whole_number(1, 4096));
    command
        ->add_option("--remote", o->remote.names,
                     "With --transport tcp: subsystems, with commas, that 'mdpcosim serve' brings from elsewhere")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("NAMES");
    command
        ->add_option("--listen", o->remote.listen,
                     "With --transport tcp: address and port for those that connect (default: this machine only, any "
                     "free port)")
        ->type_name("HOST:PORT");
    command
        ->add_option("--token-file", o->remote.token_file,
                     "Where the token of the run is left for --remote subsystems until they have come (default: "
                     "mdpcosim-PORT.token; none where MDPCOSIM_TOKEN holds a token)")
        ->type_name("FILE");
    command->add_option("--wait", o->remote.wait, "Seconds to wait for --remote subsystems (default: 60)")
        ->check(positive_value(longest_wait))
        ->type_name("SECONDS");
    command->add_flag(
        "--no-pin", o->no_pin,
        "Leave it to the system on which cores threads and processes run (see 'placement' in the scenario)");
    command->add_flag(
        "--monolithic", o->monolithic,
        "The reference: integrate the scenario as one system with one solver (key 'reference'), no co-simulation");
    command->add_flag("--fmi-log", o->fmi_log,
                      "Every call of every FMU, with its arguments and status, into fmi.log in the folder");
    command->add_flag("--report", o->report,
                      "Also write report.html into the folder: everything about the run in one page for the browser");
    command->add_flag("--open", o->open, "The same, and show it in the browser");
    command->add_flag("--strict", o->strict,
                      "A result that is judged doubtful ends with status 3, too, as one that is judged wrong does");
    command
        ->add_flag("--verify", o->verify,
                   "At the same time the scenario with half and with twice the macro step: an error estimate and "
                   "the observed order "
                   "of every variable, and a verdict that rests on them")
        ->excludes(command->add_flag("--no-verify", o->no_verify,
                                     "Judge by this run alone. Otherwise a run without FMUs, plugins and programs is "
                                     "verified by itself, in memory, "
                                     "where it is small (macro steps times subsystems at most 100000)"));
    command->add_flag("--quiet", o->quiet, "No progress and no table");
    command->add_flag("--json", o->json, "The summary as one JSON document on standard output");
    command->add_flag("--no-supervisor", o->no_supervisor,
                      "No parent process that watches the run, for debuggers (also MDPCOSIM_SUPERVISOR=0)");
    command->callback([o, &status] { status = run_watched(*o); });
}

}  // namespace mdpcosim
