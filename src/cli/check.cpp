#include <fmt/format.h>

#include <memory>

#include "analysis/advice_line.hpp"
#include "api/mdpcosim.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

namespace mdpcosim {

void add_check(CLI::App& app, int& status) {
    auto o = std::make_shared<scenario_options>();
    CLI::App* command =
        app.add_subcommand("check", "Validate a scenario, or an FMU as one, and show the coupled system, run nothing");
    o->add_to(*command);
    command->callback([o, &status] {
        status = watched([&] {
            const scenario s = o->load();
            show(check(s));
            if (const std::string line = advice_line(s); !line.empty()) show(fmt::format("\n{}\n", line));
            return 0;
        });
    });
}

}  // namespace mdpcosim
