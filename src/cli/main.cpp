#include <fmt/format.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>

#include "api/version.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "core/error.hpp"
#include "core/file_handle.hpp"
#include "core/messages.hpp"
#include "core/suggest.hpp"
#include "supervisor/supervisor.hpp"

namespace {

sigset_t held{};  ///< signals that wait until the run has its handlers

/// Before everything else, the constructors of libraries included: until `run` can end in order, signals that ask for it wait. One that comes before,
/// while the system still loads the program, ends it as any other: nothing has begun. A system call of its own, as sanitizers are not ready, either.
__attribute__((no_sanitize("address", "undefined", "thread"))) void hold_signals(int argc, char** argv, char**) {
    if (argc < 2 || argv[1][0] != 'r' || argv[1][1] != 'u' || argv[1][2] != 'n' || argv[1][3] != '\0') return;
    constexpr std::size_t size = 8;  // of the kernel's set, the first bytes of ours
    sigset_t wanted{}, before{};
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
        wanted.__val[0] |= 1UL << static_cast<unsigned>(number - 1);
    if (::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &wanted, &before, size) == 0)
        held.__val[0] = wanted.__val[0] & ~before.__val[0];
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const hold_first)(int, char**, char**) = hold_signals;

std::vector<std::string> option_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

/// What is wrong with the command line, in the words of all our messages.
std::string explain(const CLI::ParseError& problem, const CLI::App& app) {
    std::vector<CLI::App*> chosen = app.get_subcommands();
    std::string words;  // "fmu info"
    for (auto inner = chosen; !inner.empty(); inner = inner.front()->get_subcommands()) {
        words += (words.empty() ? "" : " ") + inner.front()->get_name();
        chosen = inner;
    }
    const CLI::App& command = chosen.empty() ? app : *chosen.front();
    const std::string name = chosen.empty() ? "mdpcosim" : "mdpcosim " + words;
    const std::string prefix = chosen.empty() ? "" : words + ": ";
    const std::string help = fmt::format(" '{} --help' shows how it is used.", name);
    const auto rest = app.remaining(true);
    std::vector<std::string> commands;
    for (const CLI::App* each : command.get_subcommands({}))
        if (!each->get_group().empty()) commands.push_back(each->get_name());  // not those between our own processes
    if (rest.empty() && !commands.empty())
        return fmt::format("a subcommand is missing. {} has: {}.{}", name, mdpcosim::name_list(commands), help);
    if (rest.empty() || problem.get_name() == "ValidationError") {
        const std::string message = problem.what();
        if (problem.get_name() == "ArgumentMismatch")
            return fmt::format("{}option '{}' takes one value.{}", prefix, message.substr(0, message.find(':')), help);
        return prefix + message + (message.ends_with('.') ? "" : ".") + help;
    }
    if (rest.front().starts_with('-'))
        return fmt::format(
            "{}option '{}' does not exist.{}{}", prefix, rest.front(),
            mdpcosim::did_you_mean(rest.front().substr(0, rest.front().find('=')), option_names(command)), help);
    if (commands.empty()) return fmt::format("{}'{}' is one argument too many.{}", prefix, rest.front(), help);
    return mdpcosim::unknown_name("subcommand", rest.front(), name, commands) + help;
}

// Exit status: 0 done, 1 the run failed, 2 the input is wrong, 3 the result is judged wrong, 130 interrupted.
int run_program(int argc, char** argv) {
    const mdpcosim::message_scope to_user([](const std::string& text) { mdpcosim::tell("mdpcosim: {}\n", text); });
    CLI::App app{"mdpcosim: parallel co-simulation of models that each bring their own solver"};
    app.require_subcommand(1);
    app.set_version_flag("--version", mdpcosim::about_this_build());
    int status = 0;
    mdpcosim::add_run(app, status);
    mdpcosim::add_serve(app, status);
    mdpcosim::add_check(app, status);
    mdpcosim::add_advise(app, status);
    mdpcosim::add_list(app, status);
    mdpcosim::add_compare(app, status);
    mdpcosim::add_report(app, status);
    mdpcosim::add_fmu(app, status);
    mdpcosim::add_import(app, status);
    mdpcosim::add_export(app, status);
    mdpcosim::add_new(app, status);
    mdpcosim::add_stability(app, status);
    mdpcosim::add_order(app, status);
    mdpcosim::add_longtime(app, status);
    mdpcosim::add_study(app, status);
    mdpcosim::add_bench(app, status);
    try {
        mdpcosim::refuse_empty_values(app);
        app.parse(argc, argv);
        return status;
    } catch (const CLI::ParseError& problem) {
        if (problem.get_exit_code() == 0) return app.exit(problem);  // --help, --version
        mdpcosim::tell("mdpcosim: {}\n", mdpcosim::presentable(explain(problem, app)));
        return 2;
    }
}

}  // namespace

void mdpcosim::release_signals() { ::sigprocmask(SIG_UNBLOCK, &held, nullptr); }

int mdpcosim::guarded(const std::function<int()>& work) {
    try {
        return work();
    } catch (const user_error& problem) {
        tell("mdpcosim: {}\n", problem.what());
        return 2;
    } catch (const std::exception& problem) {
        tell("mdpcosim: {}\n", presentable(problem.what()));
        return 1;
    }
}

int mdpcosim::tell_end(const sudden_end& end) {
    if (::isatty(STDERR_FILENO) != 0) tell("\r\033[K");  // the bar
    tell("mdpcosim: {}\n", end.message);
    for (const closed_run& run : end.closed)
        tell("mdpcosim: what was recorded is in {} ({} rows)\n", run.folder.string(), run.rows);
    return end.status;
}

int mdpcosim::watched(const std::function<int()>& work, const std::function<int(const sudden_end&)>& ended) {
    return supervised({.work = [&] { return finish_output(guarded(work)); },
                       .ended = [&](const sudden_end& end) { return ended ? ended(end) : tell_end(end); },
                       .show = show_report});
}

int main(int argc, char** argv) {
    mdpcosim::occupy_standard_files();
    // A file that grows too large is an error of who writes it, not the end of the program.
    std::signal(SIGXFSZ, SIG_IGN);
    return mdpcosim::finish_output(mdpcosim::guarded([&] { return run_program(argc, argv); }));
}
