// Misbehaves on command: in the function `where`, from time `when` on, in the manner `how`; `nan` makes y and the
// derivative NaN, wherever. Otherwise x' = u - x, y = x, and an event indicator that never changes its sign. With
// CRASH_AT_LOAD the library crashes when it is loaded; with UNRESOLVED it misses a function of another library.
#include <csignal>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

#include <unistd.h>

#include "fmu.h"
#include "support/commit_fault.h"

#ifndef WHERE  // where and how from the start
#define WHERE "1"
#define HOW "1"
#endif

extern "C" int mdpcosim_absent_function();

namespace {

enum { simulation_time, where, how, when, u, x, dx, y, indicator };

// The items of `where` are those of fmu_call, the items of `how` these.
constexpr const char* places =
    "nowhere set-up enter-initialization exit-initialization set get step set-time set-states derivatives indicators "
    "update "
    "completed-step save restore directional terminate reset free instantiate";
constexpr const char* manners =
    "nothing warning discard error fatal unknown-status throw throw-int abort crash hang exit nan terminate-simulation "
    "log-format log-format-without-arguments log-null log-long as-told exit-0 raw-exit-0 overflow throw-in-thread kill "
    "loop daemon daemon-and-hang";
enum class manner : int64_t {
    nothing = 1,
    warning,
    discard,
    error,
    fatal,
    unknown_status,
    throw_exception,
    throw_int,
    abort,
    crash,
    hang,
    exit,
    nan,
    terminate_simulation,
    log_format,
    log_format_without_arguments,
    log_null,
    log_long,
    as_told,  ///< see commit_fault.h
    exit_0,
    raw_exit_0,
    overflow,
    throw_in_thread,
    kill,
    loop,
    daemon,
    daemon_and_hang
};

/// Recursion deeper than any stack.
int bottomless(long depth) {
    volatile char room[4096];
    room[depth % 4096] = 1;
    return depth == 0 ? 0 : bottomless(depth - 1) + room[0];
}

/// A process that nobody waits for, in a session of its own.
void leave_daemon() {
    if (fork() != 0) return;
    setsid();
    if (fork() != 0) _exit(0);
    for (;;) sleep(1000);
}

bool applies(fmu* m) { return m->state->time >= *fmu_real(m, when); }

int enter(fmu* m, fmu_call call) {
    if (*fmu_integer(m, where) - 1 != call || call == fmu_call_none || !applies(m)) return fmu_ok;
    const auto chosen = static_cast<manner>(*fmu_integer(m, how));
    switch (chosen) {
        case manner::nothing:
        case manner::nan:
            return fmu_ok;
        case manner::warning:
        case manner::discard:
        case manner::error:
        case manner::fatal: {
            const int status = static_cast<int>(chosen) - 1;
            fmu_log(m, status, "logStatusError", "as commanded");
            return status;
        }
        case manner::unknown_status:
            return 42;
        case manner::throw_exception:
            throw std::runtime_error("thrown as commanded");
        case manner::throw_int:
            throw 7;
        case manner::abort:
            std::abort();
        case manner::crash:
            std::raise(SIGSEGV);
            return fmu_ok;
        case manner::hang:
            for (;;) sleep(1);
        case manner::exit:
            std::exit(3);
        case manner::exit_0:
            std::exit(0);
        case manner::raw_exit_0:
            _exit(0);
        case manner::overflow:
            return bottomless(1L << 40);
        case manner::throw_in_thread:
            std::thread([] { throw std::runtime_error("thrown where nobody catches"); }).join();
            return fmu_ok;
        case manner::kill:
            std::raise(SIGKILL);
            return fmu_ok;
        case manner::daemon:
        case manner::daemon_and_hang:
            if (static bool left = false; !std::exchange(left, true)) leave_daemon();
            if (chosen == manner::daemon) return fmu_ok;
            for (;;) sleep(1);
        case manner::loop:
            for (volatile bool ever = true; ever;) continue;
            return fmu_ok;
        case manner::terminate_simulation:
            m->state->terminate = true;
            return fmu_ok;
        case manner::as_told:
            commit_fault();
            return fmu_ok;
        default:
            fmu_log_badly(m, static_cast<fmu_bad_log>(static_cast<int>(chosen) - static_cast<int>(manner::log_format)));
            return fmu_ok;
    }
}

void evaluate(fmu* m) {
    const bool poisoned = static_cast<manner>(*fmu_integer(m, how)) == manner::nan && applies(m);
    *fmu_real(m, dx) = poisoned ? std::numeric_limits<double>::quiet_NaN() : *fmu_real(m, u) - *fmu_real(m, x);
    *fmu_real(m, y) = poisoned ? std::numeric_limits<double>::quiet_NaN() : *fmu_real(m, x);
    *fmu_real(m, indicator) = 1;
}

double partial(fmu*, unsigned unknown, unsigned known) {
    if (unknown == dx) return known == u ? 1 : known == x ? -1 : 0;
    return (unknown == y && known == x) || unknown == known;
}

#ifdef CRASH_AT_LOAD
const int crash = std::raise(SIGSEGV);
#endif
#ifdef UNRESOLVED
[[gnu::used]] const int unresolved = mdpcosim_absent_function();
#endif

fmu_variable variable(const char* name, const char* description, fmu_type type, fmu_causality causality,
                      fmu_variability variability, const char* start) {
    fmu_variable v{};
    v.name = name;
    v.description = description;
    v.type = type;
    v.causality = causality;
    v.variability = variability;
    v.start = start;
    return v;
}

fmu_model make() {
    static fmu_variable variables[] = {
        variable("time", "time", fmu_float64, fmu_independent, fmu_continuous, nullptr),
        variable("where", "function that misbehaves", fmu_enumeration, fmu_parameter, fmu_tunable, WHERE),
        variable("how", "how it misbehaves", fmu_enumeration, fmu_parameter, fmu_tunable, HOW),
        variable("when", "from this time on", fmu_float64, fmu_parameter, fmu_tunable, "0"),
        variable("u", "input", fmu_float64, fmu_input, fmu_continuous, "0"),
        variable("x", "state", fmu_float64, fmu_local, fmu_continuous, "1"),
        variable("der(x)", "derivative of the state", fmu_float64, fmu_local, fmu_continuous, nullptr),
        variable("y", "output", fmu_float64, fmu_output, fmu_continuous, nullptr),
        variable("indicator", "event indicator", fmu_float64, fmu_local, fmu_continuous, nullptr),
    };
    variables[where].items = places;
    variables[how].items = manners;
    variables[when].unit = "s";
    variables[dx].derivative_of = x;
    variables[dx].dependencies = "4 5";
    variables[dx].kinds = "constant constant";
    variables[dx].initial_dependencies = "4 5";
    variables[y].dependencies = variables[y].initial_dependencies = "5";
    variables[y].kinds = "constant";
    variables[indicator].dependencies = "";
    fmu_model model{};
    model.name = NAME;
    model.description = "misbehaves on command";
    model.variables = variables;
    model.variable_count = sizeof variables / sizeof *variables;
    model.capabilities = fmu_saves | fmu_derives;
    model.internal_step = 1e-3;
    model.stop = 1;
    model.step = 0.1;
    model.indicators[0] = indicator;
    model.evaluate = evaluate;
    model.partial = partial;
    model.enter = enter;
    return model;
}

}  // namespace

const fmu_model* fmu_get_model() {
    static const fmu_model model = make();
    return &model;
}
