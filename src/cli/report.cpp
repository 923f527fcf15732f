#include "report/report.hpp"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "supervisor/supervisor.hpp"

namespace mdpcosim {

void show_report(const std::string& path) {
    if (show_at_end(path)) return;
    if (!open_in_browser(path)) tell("mdpcosim: no browser could be started; open {} yourself\n", path);
}

void add_report(CLI::App& app, int& status) {
    struct options {
        std::string folder, with, out;
        bool open = false;
    };
    auto o = std::make_shared<options>();
    CLI::App* command =
        app.add_subcommand("report", "The report of a finished run: one HTML file that opens in any browser");
    command->add_option("DIR", o->folder, "Folder of a run")->required();
    command
        ->add_option("--with", o->with,
                     "A second run's folder, or a CSV file: overlaid, with the error below; for example a reference "
                     "(run --monolithic)")
        ->type_name("DIR_B");
    command->add_option("--out", o->out, "The file to write (default: report.html in the folder)")->type_name("FILE");
    command->add_flag("--open", o->open, "Show it in the browser");
    command->callback([o, &status] {
        const std::string path = write_report(o->folder, o->with, o->out).string();
        say("report in {}\n", path);
        flush_output();
        if (o->open) show_report(path);
        status = 0;
    });
}

}  // namespace mdpcosim
