#include <fmt/format.h>

#include <memory>

#include "api/mdpcosim.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "core/error.hpp"
#include "core/files.hpp"
#include "urdf/urdf.hpp"

namespace mdpcosim {

namespace {

struct urdf_settings {
    std::string file, out;
    bool free = false;
};

}  // namespace

void add_import(CLI::App& app, int& status) {
    CLI::App* command = app.add_subcommand("import", "Make parts of a scenario from files of other tools");
    command->require_subcommand(1);
    auto o = std::make_shared<urdf_settings>();
    CLI::App* urdf = command->add_subcommand(
        "urdf", "A robot (URDF) as a subsystem of the model multibody, a file for 'include:' in a scenario");
    urdf->add_option("file", o->file, "The .urdf file")->required();
    urdf->add_option("--out", o->out, "The file (default: the name of the URDF with .yaml)");
    urdf->add_flag("--free", o->free, "The root link moves freely; without it stands on the ground");
    urdf->callback([o, &status] {
        status = guarded([&] {
            const urdf_parts made = read_urdf(o->file, o->free);
            std::filesystem::path file = o->out;
            if (file.empty()) file = std::filesystem::path(o->file).stem().string() + ".yaml";
            if (find_same_file(file, {o->file}) != nullptr)
                throw user_error(fmt::format("--out {}: the parts would be written over the URDF.", file.string()));
            if (std::filesystem::exists(file) &&
                read_input(file, 64 << 20).find("\nmodel: multibody\nparts:\n") == std::string::npos)
                throw user_error(
                    fmt::format("--out {}: there is a file that was not made so; it is left alone. Give another name.",
                                file.string()));
            write_output(file, made.yaml);
            std::string text = fmt::format("{}: {} bodies, {:.6g} kg\n", file.string(), made.bodies, made.mass);
            for (const auto& note : made.notes) text += fmt::format("note: {}\n", note);
            show(text);
            return 0;
        });
    });
}

}  // namespace mdpcosim
