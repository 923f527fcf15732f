#include <csignal>
#include <memory>

#include "api/mdpcosim.hpp"
#include "cli/commands.hpp"
#include "cli/numbers.hpp"
#include "cli/output.hpp"

namespace mdpcosim {

void add_serve(CLI::App& app, int& status) {
    struct options {
        scenario_options scenario;
        serve_options serve;
    };
    auto o = std::make_shared<options>();
    CLI::App* command =
        app.add_subcommand("serve", "Bring subsystems of a scenario to a run elsewhere (run --transport tcp --remote)");
    o->scenario.add_to(*command);
    command->add_option("subsystems", o->serve.names, "Their names")->required();
    command->add_option("--connect", o->serve.connect, "Where the run listens")->required()->type_name("HOST:PORT");
    command
        ->add_option("--token-file", o->serve.token_file,
                     "The file that the run has left its token in (default: the token is in MDPCOSIM_TOKEN)")
        ->type_name("FILE");
    command->add_option("--wait", o->serve.wait, "Seconds to wait for the run to listen (default: 60)")
        ->check(value_not_negative(longest_wait))
        ->type_name("SECONDS");
    command->callback([o, &status] {
        std::signal(SIGPIPE, SIG_IGN);
        status = watched([&] {
            serve_subsystems(o->scenario.load(), o->serve);
            return 0;
        });
    });
}

}  // namespace mdpcosim
