#include <fmt/format.h>

#include <memory>

#include "cli/analysis_options.hpp"
#include "cli/commands.hpp"
#include "report/analysis_page.hpp"

namespace mdpcosim {

void add_order(CLI::App& app, int& status) {
    static const std::vector<std::string> shown{"poly-1",      "const-2-2-opt", "const-2-3-opt", "const-2-4",
                                                "lin-2-2-opt", "lin-2-3-opt",   "lin-2-4",       "quad-2-4"};
    auto o = std::make_shared<analysis_options>();
    CLI::App* command = app.add_subcommand(
        "order", "Measure local and global orders of extrapolations and a method on a nonlinear test system");
    o->add_coupling(*command, fmt::format("{}", fmt::join(shown, " ")));
    o->add_output(*command);
    command->callback([o, &status] {
        const auto results = order(o->extrapolations(shown), o->method(), o->input_degree());
        if (o->svg()) write_svg(*o->svg(), order_plot(results));
        if (o->html()) write_html(*o->html(), results);
        say("{}", o->json() ? to_json(results) : to_table(results));
        status = 0;
    });
}

}  // namespace mdpcosim
