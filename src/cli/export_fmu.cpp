#include <fmt/format.h>

#include <memory>

#include "api/mdpcosim.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

namespace mdpcosim {

namespace {

struct fmu_export_settings {
    scenario_options scenario;
    std::string out, version = "2", subsystem;
};

}  // namespace

void add_export_fmu(CLI::App& command, int& status) {
    auto o = std::make_shared<fmu_export_settings>();
    CLI::App* fmu = command.add_subcommand(
        "fmu",
        "The coupled scenario, with its method, as one FMU for co-simulation: inputs that nothing drives are its "
        "inputs, "
        "what is recorded its outputs, parameters its parameters. It needs no mdpcosim where it runs");
    o->scenario.add_to(*fmu);
    fmu->add_option("--out", o->out, "The file (default: the scenario's name with .fmu)");
    fmu->add_option("--fmi", o->version, "Version of FMI")->check(CLI::IsMember({"2", "3"}))->capture_default_str();
    fmu->add_option("--subsystem", o->subsystem,
                    "One subsystem (a model, an ode, a plugin) in place of the whole scenario, for co-simulation and, "
                    "where it is made of equations, model exchange")
        ->type_name("NAME");
    fmu->callback([o, &status] {
        status = watched([&] {
            const scenario s = o->scenario.load();
            std::filesystem::path file = o->out;
            if (file.empty())
                file = (o->subsystem.empty() ? default_folder(s, false).stem().string() : o->subsystem) + ".fmu";
            const exported_fmu made =
                export_fmu(s, file, o->version == "3" ? fmi::version::v3 : fmi::version::v2, o->subsystem);
            std::string text = fmt::format(
                "{}: FMI {}.0, co-simulation{}, {} inputs, {} outputs, {} parameters\n", made.file.string(), o->version,
                made.exchange ? fmt::format(" and model exchange ({} states)", made.states) : "", made.inputs,
                made.outputs, made.parameters);
            for (const auto& note : made.notes) text += fmt::format("note: {}\n", note);
            show(text);
            return 0;
        });
    });
}

}  // namespace mdpcosim
