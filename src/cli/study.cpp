#include "study/study.hpp"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/numbers.hpp"
#include "cli/output.hpp"

namespace mdpcosim {

namespace {

std::atomic<bool> study_interrupted{false};

extern "C" void on_signal_to_study(int number) {
    study_interrupted.store(true);
    std::signal(number, SIG_DFL);
}

void end_study_in_order() {
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        if (std::signal(number, on_signal_to_study) == SIG_IGN) std::signal(number, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

void add_study(CLI::App& app, int& status) {
    struct wishes {
        std::string file, out, on = "local", hosts;
        int workers = 0;
        bool resume = false, many = false, quiet = false, json = false;
    };
    auto o = std::make_shared<wishes>();
    CLI::App* command = app.add_subcommand(
        "study", "Many variants of a scenario: grids, samples, optimisation, fits to data; one table, one report");
    command->add_option("STUDY", o->file, "The study file (docs/study.md)")->required();
    command->add_option("--out", o->out, "Folder for the table (default: <study>.study)");
    command
        ->add_option("--on", o->on,
                     "Where variants run: local, processes of this machine; mpi, ranks of mpiexec; slurm, a job array")
        ->check(CLI::IsMember({"local", "mpi", "slurm"}));
    command->add_option("--workers", o->workers, "Processes, ranks or tasks (default: one per core)")
        ->transform(whole_number(1, 100000));
    command->add_option("--hosts", o->hosts, "With --on mpi: the machines, as for 'run --hosts'");
    command->add_flag("--resume", o->resume, "Go on with the study in the folder: only what is missing is run");
    command->add_flag("--many", o->many, "More than a million variants are meant");
    command->add_flag("--quiet", o->quiet, "No progress and no table");
    command->add_flag("--json", o->json, "The summary as one JSON document on standard output");
    command->callback([o, &status] {
        status = watched([&] {
            if (!o->hosts.empty() && o->on != "mpi") throw user_error("--hosts: only with --on mpi.");
            end_study_in_order();
            study_options options{.out = o->out, .workers = o->workers, .resume = o->resume, .many = o->many};
            options.on = o->on == "mpi" ? study_place::mpi : o->on == "slurm" ? study_place::slurm : study_place::local;
            options.program = std::filesystem::read_symlink("/proc/self/exe").string();
            options.hosts = o->hosts;
            options.interrupt = &study_interrupted;
            options.shown = progress::fitting(o->quiet || o->json);
            options.show = [](const std::string& text) { tell("{}", text); };
            const study_summary summary = run_study(read_study(o->file), options);
            if (o->json)
                say("{}", to_json(summary));
            else if (!o->quiet)
                show(to_table(summary));
            if (summary.status != "done") return 130;
            if (summary.done > 0) return 0;
            tell("mdpcosim: every variant failed; {}\n", summary.first_failure);
            return 1;
        });
    });
    CLI::App* worker = app.add_subcommand("study-worker")->group("");
    auto folder = std::make_shared<std::string>();
    worker->add_option("folder", *folder)->required();
    worker->callback([folder, &status] {
        end_study_in_order();
        status = guarded([&] { return serve_study(*folder, study_interrupted); });
    });
}

}  // namespace mdpcosim
