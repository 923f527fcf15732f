#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/output.hpp"

/// One file per subcommand: each adds itself to the command line and sets `status` to the exit code when it ran.
namespace mdpcosim {

/// Does it and gives its exit status; what is thrown is told on standard error.
int guarded(const std::function<int()>& work);

/// Work with foreign code, watched by a parent of this process (supervisor/supervisor.hpp): the exit status. `ended` replaces what the parent
/// says after a sudden end.
int watched(const std::function<int()>& work, const std::function<int(const struct sudden_end&)>& ended = {});

/// Signals that came since the program's start, and have waited for the handlers of `run`, are heard from now on.
void release_signals();

/// A sudden end in words, on standard error; gives its status.
int tell_end(const struct sudden_end& end);

/// In the browser, once nothing else is left to be done; says so where there is none.
void show_report(const std::string& path);

void add_run(CLI::App& app, int& status);
void add_serve(CLI::App& app, int& status);
void add_check(CLI::App& app, int& status);
void add_advise(CLI::App& app, int& status);
void add_list(CLI::App& app, int& status);
void add_compare(CLI::App& app, int& status);
void add_report(CLI::App& app, int& status);
void add_fmu(CLI::App& app, int& status);
void add_export(CLI::App& app, int& status);
void add_export_fmu(CLI::App& command, int& status);
void add_export_ssp(CLI::App& command, int& status);
void add_stability(CLI::App& app, int& status);
void add_order(CLI::App& app, int& status);
void add_longtime(CLI::App& app, int& status);
void add_bench(CLI::App& app, int& status);

/// The options that stand for settings of the scenario (--set, --step, --end ...), the same in every subcommand.
class scenario_options {
   public:
    void add_to(CLI::App& command);
    /// Without --method and --extrapolation, of which the command takes several.
    void add_without_method(CLI::App& command);
    struct scenario load(const std::vector<struct scenario_override>& more = {}) const;

   private:
    std::vector<struct scenario_override> overrides() const;

    std::string path_, input_;
    std::vector<std::string> set_;
    std::optional<std::string> start_, end_, step_, method_, extrapolation_;
};

}  // namespace mdpcosim
