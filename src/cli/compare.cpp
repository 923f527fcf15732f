#include <memory>

#include "api/mdpcosim.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

namespace mdpcosim {

void add_compare(CLI::App& app, int& status) {
    struct options {
        std::string a, b;
        std::vector<std::string> only;
        bool json = false;
    };
    auto o = std::make_shared<options>();
    CLI::App* command = app.add_subcommand("compare", "Errors between two results, per variable, worst first");
    command->add_option("A", o->a, "Folder of a run, or a CSV file: the results to be judged")->required();
    command->add_option("B", o->b, "The same: the results to judge by, for example a reference (run --monolithic)")
        ->required();
    command->add_option("--only", o->only, "Variables to compare, '*' standing for any characters (default: all)")
        ->type_name("PATTERN");
    command->add_flag("--json", o->json, "One JSON document; null stands for what is not a finite number");
    command->callback([o, &status] {
        const comparison c = compare_results(o->a, o->b, o->only);
        show(o->json ? to_json(c) : to_table(c), o->json);
        status = 0;
    });
}

}  // namespace mdpcosim
