#pragma once

#include <functional>
#include <string>
#include <vector>

#include "supervisor/close_run.hpp"

/// The program watched by a parent of its own (docs/decisions/0034).
///
/// supervised() forks: the work is done in the child, with all its threads and foreign code; the parent holds nothing but memory that both share
/// (core/last_words.hpp), waits, and passes signals on. Whatever ends the child before it has finished (a crash, exit() or
/// _exit() of an FMU, kill -9), the parent says who was in which call, finishes the run's folder, ends all processes that the child has left and
/// removes its temporary files. When the parent is killed, the child ends with it.
///
/// A signal that asks for an end (SIGINT, SIGTERM, SIGHUP) is given to the child; one that has not ended after `patience` seconds, or by
/// the next such signal, is killed, and its run closed as an interrupted one.
namespace mdpcosim {

inline constexpr double default_patience = 10;

/// How a child ended that did not finish.
struct sudden_end {
    std::string message;             ///< who, in which call, when
    std::vector<closed_run> closed;  ///< its runs
    int status = 1;                  ///< 1, or 130 where an end was asked for
};

struct supervision {
    /// What the child does: its exit status. No exception leaves it.
    std::function<int()> work;
    /// What the parent does after a sudden end: tells it. Gives the exit status.
    std::function<int(const sudden_end&)> ended;
    /// What the parent does at the very end with the report that show_at_end() has named.
    std::function<void(const std::string&)> show = {};
};

/// The exit status, in the child as in the parent. To be called before there are threads. With MDPCOSIM_SUPERVISOR=0 (for debuggers), and
/// where no process can be made, the work is done here.
int supervised(const supervision& all);

/// This process has a parent of that kind.
bool is_supervised();

/// Shows the report once nothing of the run is left; true: the parent will.
bool show_at_end(const std::string& path);

/// Seconds that a run has to end in order: the default, or MDPCOSIM_PATIENCE.
double patience();

/// For a child that shares last words but was made elsewhere (a rank of MPI): what the parent does about one that has gone. `how` as waitpid()
/// gives it. Whether it had finished; otherwise its runs are closed, and the end is told unless the child was `told` to end. One that was killed
/// since it had not ended `waited` seconds after it was told to is told in any case.
bool finish_child(int how, bool told, double waited, const std::function<int(const sudden_end&)>& tell);

}  // namespace mdpcosim
