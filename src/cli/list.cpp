#include <fmt/format.h>

#include <memory>

#include "api/mdpcosim.hpp"
#include "cli/commands.hpp"

namespace mdpcosim {

void add_list(CLI::App& app, int& status) {
    struct options {
        std::string topic;
        bool json = false;
    };
    auto o = std::make_shared<options>();
    CLI::App* command = app.add_subcommand("list",
                                           "Show what exists: models, laws, joints, extrapolations, methods, solvers; "
                                           "keys of scenario files, their JSON schema");
    command->add_option("topic", o->topic, fmt::format("One of {}", fmt::join(list_topics(), ", ")))->required();
    command->add_flag("--json", o->json, "One JSON document");
    command->callback([o, &status] {
        say("{}", o->json ? list_json(o->topic) : list_text(o->topic));
        status = 0;
    });
}

}  // namespace mdpcosim
