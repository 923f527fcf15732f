#include <memory>

#include "api/mdpcosim.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

namespace mdpcosim {

namespace {

struct fmu_settings {
    std::string path;
    bool all = false;
    bool json = false;
};

}  // namespace

void add_fmu(CLI::App& app, int& status) {
    auto o = std::make_shared<fmu_settings>();
    CLI::App* command = app.add_subcommand("fmu", "Look into an FMU: info, validate");
    command->require_subcommand(1);
    CLI::App* info = command->add_subcommand("info", "What is in an FMU and what mdpcosim makes of it, run nothing");
    info->add_option("fmu", o->path, "The FMU")->required();
    info->add_flag("--all", o->all, "Lists of variables in full");
    info->add_flag("--json", o->json, "One JSON document, lists in full");
    info->callback([o, &status] {
        status = watched([&] {
            show(o->json ? fmu_info_json(o->path) : fmu_info_text(o->path, o->all), o->json);
            return 0;
        });
    });
    CLI::App* validate = command->add_subcommand(
        "validate",
        "Check archive, description, binaries and a short run (in a process of its own) with every interface; exit "
        "status 0 no errors (warnings and notes may be there), 1 errors were found, 2 no such file or no archive");
    validate->add_option("fmu", o->path, "The FMU")->required();
    validate->add_flag("--json", o->json, "One JSON document");
    validate->callback([o, &status] {
        status = watched([&] {
            const fmu_verdict verdict = fmu_validate(o->path);
            show(o->json ? to_json(verdict) : to_text(verdict), o->json);
            return verdict.valid() ? 0 : 1;
        });
    });
}

}  // namespace mdpcosim
