#include <fmt/format.h>

#include <memory>

#include "analysis/advice.hpp"
#include "api/mdpcosim.hpp"
#include "cli/commands.hpp"
#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "core/error.hpp"
#include "core/files.hpp"

namespace mdpcosim {

namespace {

struct advise_options {
    scenario_options of_scenario;
    std::vector<std::string> methods, extrapolations;
    double error = 0.01;
    bool json = false, confirm_all = false, no_confirm = false, no_errors = false, quiet = false;
    std::string svg, write;
};

/// The scenario's own first.
std::vector<step_choice> choices_for(const advise_options& o) {
    std::vector<step_choice> all{{"", ""}};
    if (o.methods.empty() && o.extrapolations.empty()) {
        for (const char* rule : {"poly-1", "const-2-3-opt", "lin-2-3-opt", "quad-2-4", "poly-3", "lin-3-3-b0"})
            all.push_back({"explicit", rule});
        for (const char* method : {"one-pass", "semi-implicit", "iterated"}) all.push_back({method, ""});
        return all;
    }
    for (const std::string& method : o.methods.empty() ? std::vector<std::string>{"explicit"} : o.methods)
        for (const std::string& rule : o.extrapolations.empty() ? std::vector<std::string>{""} : o.extrapolations)
            all.push_back({method, rule});
    return all;
}

advice_request request_of(const advise_options& o) {
    advice_request request;
    request.load = [&o](const step_choice& choice) {
        std::vector<scenario_override> changes;
        if (!choice.method.empty()) changes.push_back({"method", choice.method, "--method " + choice.method});
        if (!choice.extrapolation.empty())
            changes.push_back({"extrapolation", choice.extrapolation, "--extrapolation " + choice.extrapolation});
        return o.of_scenario.load(changes);
    };
    request.choices = choices_for(o);
    request.error = o.error;
    request.errors = !o.no_errors;
    request.confirm = !o.no_confirm;
    request.confirm_all = o.confirm_all;
    if (!o.quiet) request.told = [](const std::string& next) { tell("{}\n", next); };
    return request;
}

/// Relative paths in a scenario start where it is.
void check_place(const advise_options& o) {
    const scenario s = o.of_scenario.load();
    const auto folder = [](const std::filesystem::path& file) {
        return std::filesystem::weakly_canonical(file).parent_path();
    };
    if (s.path.extension() != ".yaml" && s.path.extension() != ".yml")
        throw user_error(fmt::format("--write: {} is no YAML file that advice could be put into.", s.path.string()));
    if (folder(o.write) != folder(s.path))
        throw user_error(fmt::format("--write {}: write it into the scenario's folder, {}, where its paths start.",
                                     o.write, folder(s.path).string()));
}

void write_advice(const advise_options& o, const advice& found) {
    constexpr std::size_t most = 1 << 24;
    const std::filesystem::path path = o.of_scenario.load().path;
    try {
        write_output(o.write, with_advice(read_input(path, most), o.write, found));
    } catch (const file_problem& problem) {
        throw user_error(fmt::format("--write {}: {}", o.write, problem.what()));
    }
    if (!o.json) say("written to {}\n", o.write);
}

}  // namespace

void add_advise(CLI::App& app, int& status) {
    CLI::App* command = app.add_subcommand(
        "advise",
        "Which macro step is stable and accurate enough, with which method, before the run; confirmed by short runs");
    auto o = std::make_shared<advise_options>();
    o->of_scenario.add_without_method(*command);
    command->add_option("--method", o->methods,
                        "Look at these methods besides the scenario's own (mdpcosim list methods)");
    command->add_option("--extrapolation", o->extrapolations,
                        "With each of these (mdpcosim list extrapolations); without both options: explicit with six, "
                        "one-pass, semi-implicit and "
                        "iterated. Connections that name one keep it");
    command
        ->add_option("--error", o->error,
                     "Wanted: the largest error of a coupled variable, relative to its range. Default: 0.01")
        ->check(positive_value(1e6));
    command->add_flag("--no-errors", o->no_errors, "Find what is stable only");
    command->add_flag("--no-confirm", o->no_confirm, "Do not run the scenario with what is recommended");
    command->add_flag("--confirm-all", o->confirm_all, "Run it with every method's limit");
    command->add_flag("--json", o->json, "One JSON document on standard output");
    command->add_option("--svg", o->svg, "Write the figure: limits over methods, error over step")->type_name("FILE");
    command
        ->add_option("--write", o->write,
                     "Write the scenario with what is recommended in it, in the scenario's own folder (it may be the "
                     "scenario itself)")
        ->type_name("FILE");
    command->add_flag("--quiet", o->quiet, "Do not tell what is being done");
    command->callback([o, &status] {
        status = watched([&] {
            if (o->json) keep_output();
            if (!o->write.empty()) check_place(*o);
            const advice found = find_advice(request_of(*o));
            show(o->json ? to_json(found) + "\n" : to_table(found), o->json);
            if (!o->svg.empty()) write_svg(o->svg, advice_plot(found));
            if (!o->write.empty()) write_advice(*o, found);
            return 0;
        });
    });
}

}  // namespace mdpcosim
