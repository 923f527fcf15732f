#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <memory>

#include "analysis/largest_step.hpp"
#include "api/mdpcosim.hpp"
#include "benchmark/advise.hpp"
#include "benchmark/extrapolations.hpp"
#include "benchmark/fmu.hpp"
#include "benchmark/joints.hpp"
#include "benchmark/loops.hpp"
#include "benchmark/methods.hpp"
#include "benchmark/multirate.hpp"
#include "benchmark/rates.hpp"
#include "benchmark/transport.hpp"
#include "benchmark/trust.hpp"
#include "benchmark/trust_systems.hpp"
#include "cli/commands.hpp"
#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "core/error.hpp"
#include "core/files.hpp"

namespace mdpcosim {

namespace {

/// What is tried when nobody says what.
std::vector<step_choice> choices_of(const std::vector<std::string>& methods,
                                    const std::vector<std::string>& extrapolations) {
    if (methods.empty() && extrapolations.empty())
        return {{"explicit", ""},
                {"explicit", "const-2-3-opt"},
                {"explicit", "lin-2-3-opt"},
                {"explicit", "quad-2-4"},
                {"explicit", "poly-3"},
                {"one-pass", ""},
                {"semi-implicit", ""},
                {"iterated", ""}};
    std::vector<step_choice> all;
    for (const std::string& method : methods.empty() ? std::vector<std::string>{"explicit"} : methods)
        for (const std::string& rule : extrapolations.empty() ? std::vector<std::string>{""} : extrapolations)
            all.push_back({method, rule});
    return all;
}

std::string trimmed(const std::string& s) {
    const std::size_t begin = s.find_first_not_of(" \t\n");
    return begin == std::string::npos ? "" : s.substr(begin, s.find_last_not_of(" \t\n") + 1 - begin);
}

/// `method=one-pass`, `damped: extrapolation=poly-1; shaft.law=spring-damper; shaft.damping=50`.
step_choice row_of(const std::string& row) {
    step_choice choice;
    std::size_t begin = 0;
    if (const std::size_t colon = row.find(": "); colon < row.find('=')) {
        choice.label = trimmed(row.substr(0, colon));
        begin = colon + 2;
    }
    while (begin <= row.size()) {
        const std::size_t end = std::min(row.find(';', begin), row.size());
        const std::string entry = trimmed(row.substr(begin, end - begin));
        begin = end + 1;
        if (entry.empty()) continue;
        const std::size_t equals = entry.find('=');
        const std::string address = trimmed(entry.substr(0, equals));
        if (equals == std::string::npos || address.empty())
            throw user_error(fmt::format(
                "--row '{}': '{}' is no change. Write object.parameter=value, several with ';' between them, for "
                "example --row 'method=one-pass; shaft.stiffness=2 kN.m/rad'.",
                row, entry));
        const std::string value = trimmed(entry.substr(equals + 1));
        if (address == "method")
            choice.method = value;
        else if (address == "extrapolation")
            choice.extrapolation = value;
        else
            choice.changes.emplace_back(address, value);
    }
    return choice;
}

void add_largest_step(CLI::App& bench, int& status) {
    CLI::App* command = bench.add_subcommand("largest-step",
                                             "The largest macro steps of a scenario that are stable and that keep an "
                                             "error, found by running it with several "
                                             "methods and extrapolations");
    auto options = std::make_shared<scenario_options>();
    options->add_without_method(*command);
    struct wishes {
        std::vector<std::string> methods, extrapolations, rows;
        double error = 0.01, seconds = 600;
        bool json = false;
        std::string figure;
    };
    auto wanted = std::make_shared<wishes>();
    command->add_option("--method", wanted->methods, "These methods (mdpcosim list methods)");
    command->add_option(
        "--extrapolation", wanted->extrapolations,
        "With each of these (mdpcosim list extrapolations); without both options: explicit with several, "
        "one-pass, semi-implicit and iterated with their own. Connections that name one keep it, which is told");
    command
        ->add_option(
            "--row", wanted->rows,
            "One line more, by changes of the scenario with ';' between them, method and extrapolation among "
            "them, and a name before them if you like: 'damped: extrapolation=poly-1; shaft.law=spring-damper; "
            "shaft.damping=50'")
        ->type_name("CHANGES")
        ->allow_extra_args(false);
    command
        ->add_option("--error", wanted->error,
                     "Largest error of a coupled variable, relative to its range, that the fastest step may make; "
                     "default: 0.01")
        ->check(positive_value(1e6));
    command
        ->add_option("--seconds", wanted->seconds,
                     "Most time for the search with one method; no run is begun that would exceed it. Default: 600")
        ->check(positive_value(1e9));
    command->add_flag("--json", wanted->json, "One JSON document on standard output");
    command->add_option("--svg", wanted->figure, "Write the figure: error over step");
    command->callback([options, wanted, &status] {
        status = watched([&] {
            largest_step_request request;
            request.load = [&](const step_choice& choice) {
                std::vector<scenario_override> changes;
                if (!choice.method.empty()) changes.push_back({"method", choice.method, "--method " + choice.method});
                if (!choice.extrapolation.empty())
                    changes.push_back(
                        {"extrapolation", choice.extrapolation, "--extrapolation " + choice.extrapolation});
                for (const auto& [address, value] : choice.changes)
                    changes.push_back({address, value, fmt::format("--row {}={}", address, value)});
                return options->load(changes);
            };
            if (wanted->rows.empty() || !wanted->methods.empty() || !wanted->extrapolations.empty())
                request.choices = choices_of(wanted->methods, wanted->extrapolations);
            for (const std::string& row : wanted->rows) request.choices.push_back(row_of(row));
            request.error = wanted->error;
            request.most_seconds = wanted->seconds;
            request.told = [](const std::string& next) { tell("{}\n", next); };
            const auto found = find_largest_steps(request);
            say("{}", wanted->json ? to_json(found) : to_table(found));
            if (!wanted->figure.empty()) write_largest_steps(wanted->figure, found);
            return 0;
        });
    });
}

void add_rates(CLI::App& bench, int& status) {
    CLI::App* command = bench.add_subcommand("rates",
                                             "A scenario with the method multirate: what longer steps of one subsystem "
                                             "save, and what every scheme and order misses");
    auto options = std::make_shared<scenario_options>();
    options->add_without_method(*command);
    auto request = std::make_shared<rates_request>();
    auto json = std::make_shared<bool>(false);
    auto figure = std::make_shared<std::string>();
    command->add_option("--slow", request->slow, "The subsystem whose step is varied")->required();
    command
        ->add_option("--watch", request->watch,
                     "Variables as they are recorded; the first one is compared, all are drawn")
        ->required();
    command
        ->add_option("--ratio", request->ratios,
                     "Its step over the shortest one of the others, the reference first; default: 1 5 10 50 100")
        ->check(CLI::Range(1.0, 1e6))
        ->type_name("FR");
    command->add_flag("--json", *json, "One JSON document on standard output");
    command->add_option("--svg", *figure, "Write the figure: time courses and differences");
    command->callback([options, request, json, figure, &status] {
        status = watched([&] {
            request->load = [&](const std::vector<std::pair<std::string, std::string>>& changes) {
                std::vector<scenario_override> all;
                for (const auto& [address, value] : changes) all.push_back({address, value, address});
                return options->load(all);
            };
            request->told = [](const std::string& next) { tell("{}\n", next); };
            const auto figures = bench_rates(*request);
            say("{}", *json ? to_json(figures) : to_table(figures));
            if (!figure->empty()) write_rates_figure(*figure, figures);
            return 0;
        });
    });
}

void add_advise_bench(CLI::App& bench, int& status) {
    CLI::App* command = bench.add_subcommand(
        "advise", "What 'advise' predicts, against the largest stable steps that runs of generated systems find");
    auto request = std::make_shared<advise_bench_request>();
    auto json = std::make_shared<bool>(false);
    command->add_option("--systems", request->systems, "So many systems, two methods or rules each (default: 40)")
        ->transform(whole_number(1, 10000));
    command->add_option("--seed", request->seed, "Others of the same kinds (default: 1)")
        ->transform(whole_number(0, 40000));
    command->add_option("--kind", request->kinds, "Only these kinds")->check(CLI::IsMember(advise_bench_kinds()));
    command->add_option("--fmus", request->fmus, "Folder with the test FMUs (build/fmus), for the kind 'fmus'")
        ->check(CLI::ExistingDirectory);
    command->add_flag("--json", *json, "One JSON document on standard output");
    command->callback([json, request, &status] {
        status = watched([&] {
            const auto results = bench_advise(*request, [](const std::string& next) { tell("{}\n", next); });
            say("{}", *json ? to_json(results) : to_table(results));
            return 0;
        });
    });
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
    CLI::App* command = app.add_subcommand("bench", "Measure this machine");
    command->require_subcommand(1);
    CLI::App* transport = command->add_subcommand(
        "transport", "What a macro step costs on every transport, beside the bare round trip of its medium");
    auto json = std::make_shared<bool>(false);
    transport->add_flag("--json", *json, "Seconds as one JSON document on standard output");
    auto runs = std::make_shared<int>(3);
    transport->add_option("--runs", *runs, "The best of so many runs counts; default: 3")
        ->transform(whole_number(1, 100));
    transport->callback([json, runs, &status] {
        const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
        const auto timings = bench_transports(self, *runs, [](const std::string& next) { tell("{}\n", next); });
        say("{}", *json ? to_json(timings) : to_table(timings));
        status = 0;
    });
    CLI::App* fmu = command->add_subcommand(
        "fmu", "FMUs coupled both ways, in a chain and in a ring, beside a bare loop over the same FMUs' functions");
    fmu->add_flag("--json", *json, "Seconds as one JSON document on standard output");
    auto repetitions = std::make_shared<int>(5);
    fmu->add_option("--repetitions", *repetitions, "Measurements of each, in turns; default: 5")
        ->transform(whole_number(1, 1000))
        ->type_name("N");
    auto fmus = std::make_shared<std::string>();
    fmu->add_option("--fmus", *fmus, "Folder with the shipped FMUs, where they are not beside the program")
        ->check(CLI::ExistingDirectory);
    fmu->callback([json, repetitions, fmus, &status] {
        status = watched([&] {
            const auto timings =
                bench_fmu(shipped_fmus(*fmus), *repetitions, [](const std::string& next) { tell("{}\n", next); });
            say("{}", *json ? to_json(timings) : to_table(timings));
            return 0;
        });
    });
    CLI::App* methods = command->add_subcommand("methods",
                                                "Work and precision of every method: error against integrations and "
                                                "time, on nine systems or on your scenario");
    auto figure = std::make_shared<std::string>();
    auto systems = std::make_shared<std::vector<std::string>>();
    methods
        ->add_option(
            "--system", *systems,
            "Only these: two-mass-1, two-mass-100, two-mass-1e4, quarter-car, oscillator-chain, oscillator-pair, "
            "crane, stops, sampled")
        ->check(CLI::IsMember(bench_systems()));
    auto scenario_file = std::make_shared<std::string>();
    methods
        ->add_option("--scenario", *scenario_file,
                     "This scenario instead, with an eighth of its macro step to eight times as much; its subsystems "
                     "need equations (see 'run --monolithic')")
        ->check(CLI::ExistingFile);
    methods->add_flag("--json", *json, "One JSON document on standard output");
    methods->add_option("--svg", *figure, "Write the figure");
    methods->callback([json, figure, systems, scenario_file, &status] {
        if (find_same_file(*figure, {*scenario_file}) != nullptr)
            throw user_error(fmt::format("--svg {}: the figure would be written over the scenario.", *figure));
        status = watched([&] {
            const auto results =
                bench_methods(*systems, *scenario_file, [](const std::string& next) { tell("{}\n", next); });
            say("{}", *json ? to_json(results) : to_table(results));
            if (!figure->empty()) write_work_precision(*figure, results);
            return 0;
        });
    });
    add_largest_step(*command, status);
    add_rates(*command, status);
    CLI::App* multirate = command->add_subcommand(
        "multirate",
        "Steps of their own: errors of two masses over the ratio of their frequencies, and what longer steps save");
    multirate->add_flag("--json", *json, "One JSON document on standard output");
    multirate->add_option("--svg", *figure, "Write the figure");
    auto ratios = std::make_shared<std::vector<double>>();
    multirate->add_option("--frequency-ratio", *ratios, "Only these ratios of the fast to the slow frequency")
        ->check(positive_value(1000))
        ->check(CLI::Range(1.1, 1000.0))
        ->type_name("FR");
    multirate->callback([json, figure, ratios, &status] {
        const auto figures = bench_multirate(*ratios, [](const std::string& next) { tell("{}\n", next); });
        say("{}", *json ? to_json(figures) : to_table(figures));
        if (!figure->empty()) write_multirate_figure(*figure, figures);
        status = 0;
    });
    CLI::App* loops = command->add_subcommand(
        "loops",
        "Iterations that every solver of algebraic loops and of iterated macro steps needs, from weak to stiff");
    loops->add_flag("--json", *json, "One JSON document on standard output");
    loops->callback([json, &status] {
        const auto results = bench_loops();
        say("{}", *json ? to_json(results) : to_table(results));
        status = 0;
    });
    CLI::App* joints =
        command->add_subcommand("joints", "What a macro step of the index-1 method costs over the number of joints");
    joints->add_flag("--json", *json, "One JSON document on standard output");
    auto counts = std::make_shared<std::vector<int>>(std::vector<int>{2, 5, 10, 20, 50});
    joints->add_option("--joints", *counts, "These numbers of joints (default: 2 5 10 20 50)")
        ->transform(whole_number(1, 1000))
        ->type_name("N");
    joints->callback([json, counts, &status] {
        const auto results = bench_joints(*counts, [](const std::string& next) { tell("{}\n", next); });
        say("{}", *json ? to_json(results) : to_table(results));
        status = 0;
    });
    CLI::App* rules = command->add_subcommand(
        "extrapolations",
        "Errors and largest stable step of every extrapolation that could be a default, on generated systems of every "
        "kind of coupling");
    auto wanted = std::make_shared<extrapolation_request>();
    rules->add_option("--each", wanted->each, "Systems of every kind (default: 6)")->transform(whole_number(1, 10000));
    rules->add_option("--seed", wanted->seed, "Others of the same kinds (default: 1)")
        ->transform(whole_number(0, std::numeric_limits<unsigned>::max()));
    rules->add_option("--method", wanted->method, "With this method (default: explicit)");
    rules->add_option("--fmus", wanted->fmus, "Folder with the test FMUs (build/fmus), for systems made of FMUs")
        ->check(CLI::ExistingDirectory);
    rules->add_flag("--json", *json, "One JSON document on standard output");
    rules->callback([json, wanted, &status] {
        const auto results = bench_extrapolations(*wanted, [](const std::string& next) { tell("{}\n", next); });
        say("{}", *json ? to_json(results) : to_table(results));
        status = 0;
    });
    CLI::App* trusted = command->add_subcommand(
        "trust", "The verdict against the truth: generated systems whose errors are known from a reference");
    auto request = std::make_shared<trust_request>();
    trusted->add_option("--each", request->each, "Systems of every kind (default: 30)")
        ->transform(whole_number(1, 10000));
    trusted->add_option("--seed", request->seed, "Others of the same kinds (default: 1)")
        ->transform(whole_number(0, std::numeric_limits<unsigned>::max()));
    trusted->add_option("--kind", request->kinds, "Only these kinds")->check(CLI::IsMember(trust_kinds()));
    trusted->add_option("--fmus", request->fmus, "Folder with the test FMUs (build/fmus), for the kind 'fmus'")
        ->check(CLI::ExistingDirectory);
    trusted->add_option("--write", request->write, "Folder that gets the scenarios: <kind>-<number>.yaml");
    trusted->add_flag("--json", *json, "One JSON document on standard output");
    trusted->callback([json, request, &status] {
        const auto results = bench_trust(*request, [](const std::string& next) { tell("{}\n", next); });
        if (*json)
            say("{}", to_json(results));
        else
            say("{}\n{}", to_table(results, false), to_table(results, true));
        status = 0;
    });
    add_advise_bench(*command, status);
    CLI::App* rank = command->add_subcommand("mpi-ping-pong")->group("");
    auto file = std::make_shared<std::string>();
    rank->add_option("file", *file)->required();
    rank->callback([file, &status] { status = mpi_ping_pong(*file); });
}

}  // namespace mdpcosim
