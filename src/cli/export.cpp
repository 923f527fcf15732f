#include "cli/commands.hpp"

namespace mdpcosim {

void add_export(CLI::App& app, int& status) {
    CLI::App* command = app.add_subcommand("export", "Take a coupled system into other tools");
    command->require_subcommand(1);
    add_export_fmu(*command, status);
    add_export_ssp(*command, status);
}

}  // namespace mdpcosim
