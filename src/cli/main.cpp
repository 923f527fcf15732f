#include <fmt/format.h>

#include <exception>

#include "cli/commands.hpp"
#include "core/error.hpp"

// Exit status: 0 done, 1 the run failed, 2 the input is wrong, 130 interrupted.
int main(int argc, char** argv) {
    CLI::App app{"mdpcosim: parallel co-simulation of models that each bring their own solver"};
    app.require_subcommand(1);
    app.set_version_flag("--version", MDPCOSIM_VERSION);
    int status = 0;
    mdpcosim::add_run(app, status);
    mdpcosim::add_check(app, status);
    mdpcosim::add_list(app, status);
    mdpcosim::add_compare(app, status);
    try {
        app.parse(argc, argv);
        return status;
    } catch (const CLI::ParseError& problem) {
        return app.exit(problem) == 0 ? 0 : 2;
    } catch (const mdpcosim::user_error& problem) {
        fmt::print(stderr, "mdpcosim: {}\n", problem.what());
        return 2;
    } catch (const std::exception& problem) {
        fmt::print(stderr, "mdpcosim: {}\n", problem.what());
        return 1;
    }
}
