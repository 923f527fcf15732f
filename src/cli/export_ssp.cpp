#include <fmt/format.h>

#include <memory>

#include "api/mdpcosim.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

namespace mdpcosim {

namespace {

struct ssp_settings {
    scenario_options scenario;
    std::string out;
    bool annotated = false;
};

}  // namespace

void add_export_ssp(CLI::App& command, int& status) {
    auto o = std::make_shared<ssp_settings>();
    CLI::App* ssp = command.add_subcommand("ssp",
                                           "The scenario as a System Structure Package: its FMUs, recorded signals, "
                                           "parameters and signals for other tools, and how it is run "
                                           "in an annotation, from which mdpcosim reads back the same run");
    o->scenario.add_to(*ssp);
    ssp->add_option("--out", o->out, "The file (default: the scenario's name with .ssp)");
    ssp->add_flag(
        "--annotated", o->annotated,
        "Also models, equations, laws, joints and sums of signals, in annotations that other tools do not read");
    ssp->callback([o, &status] {
        status = watched([&] {
            const scenario s = o->scenario.load();
            std::filesystem::path file = o->out;
            if (file.empty()) file = default_folder(s, false).stem().string() + ".ssp";
            const exported_ssp made = export_ssp(s, file, o->annotated);
            std::string text = fmt::format("{}: {} components, {} connections\n", made.file.string(), made.components,
                                           made.connections);
            for (const auto& note : made.notes) text += fmt::format("note: {}\n", note);
            show(text);
            return 0;
        });
    });
}

}  // namespace mdpcosim
