#include <fmt/format.h>

#include <memory>

#include "api/mdpcosim.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "core/files.hpp"
#include "simulation/simulation.hpp"

namespace mdpcosim {

namespace {

struct new_settings {
    std::string name;
    std::vector<std::string> from;
};

/// The folder, which must not be there, with the scenario in it.
std::filesystem::path write_new(const std::filesystem::path& folder, const std::string& text) {
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);
    if (problem) throw user_error(fmt::format("'{}' cannot be made: {}.", folder.string(), problem.message()));
    const auto file = folder / "scenario.yaml";
    write_output(file, text);
    return file;
}

int make_new(const new_settings& o) {
    const std::filesystem::path folder = o.name;
    std::error_code none;
    if (std::filesystem::exists(folder, none) &&
        !(std::filesystem::is_directory(folder, none) && std::filesystem::is_empty(folder, none)))
        throw user_error(
            fmt::format("new {}: this is there already, and is not replaced. Choose another name.", o.name));
    const new_scenario made = make_new_scenario({o.from.begin(), o.from.end()}, folder);
    const auto file = write_new(folder, made.text);
    std::string text = fmt::format("{}: {} subsystems, {} ports, {} signals, {} free inputs\n", file.string(),
                                   made.subsystems, made.ports, made.signals, made.free_inputs);
    for (const auto& note : made.notes) text += fmt::format("note: {}\n", note);
    // Whether it runs shows when it is put together.
    try {
        simulation(load_scenario(file), {.workers = 1});
        text += fmt::format("run it: mdpcosim run {}\n", file.string());
    } catch (const user_error& problem) {
        text += fmt::format("note: before it runs there is something to do: {}\n", problem.what());
    }
    show(text);
    return 0;
}

}  // namespace

void add_new(CLI::App& app, int& status) {
    auto o = std::make_shared<new_settings>();
    CLI::App* command = app.add_subcommand(
        "new", "A scenario to begin with, in a new folder: of FMUs, of a system of SSP, or of two masses");
    command->add_option("name", o->name, "The folder, which gets a scenario.yaml")->required();
    command
        ->add_option(
            "--from", o->from,
            "FMUs (several), or one .ssp or .ssd: their ports, parameters and likely connections, with comments")
        ->type_name("FILE");
    command->callback([o, &status] { status = watched([&] { return make_new(*o); }); });
}

}  // namespace mdpcosim
