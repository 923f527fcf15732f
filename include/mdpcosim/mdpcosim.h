/* mdpcosim as a library: a scenario that is loaded, stepped, looked at and written to between macro steps. Plain C99; mdpcosim.hpp is the same
 * for C++.
 *
 *     mdpcosim_simulation* s = mdpcosim_load("scenario.yaml", NULL);
 *     if (s == NULL || mdpcosim_initialise(s) != MDPCOSIM_OK) ... mdpcosim_last_error(s) ...
 *     while (mdpcosim_done(s) == 0 && mdpcosim_step(s) == MDPCOSIM_OK) {
 *         mdpcosim_get(s, "body.mass.position", &x);
 *         mdpcosim_set(s, "motor.demand", u);
 *     }
 *     mdpcosim_free(s);
 *
 * Call order
 *   1. load            makes all subsystems
 *   2. set, set_text   before initialise, or between steps; reset begins anew
 *   3. initialise      once
 *   4. step, advance_to, until done; save and load_state between steps, load_state also instead of initialise
 *   5. summary         at any time after initialise
 *   6. free            once; the last call
 *
 * Rules
 *   Units are SI. Addresses are those of scenarios and results: "engine.shaft.angle", "strut.u".
 *   Functions return MDPCOSIM_OK or say by another status what went wrong; last_error() tells it in words. A call out of order, a handle that is
 *   NULL or freed, an unknown address: MDPCOSIM_MISTAKE, and nothing has changed. After MDPCOSIM_FAILED of a step, initialise or load_state the
 *   simulation can only be looked at, reset and freed.
 *   A simulation is used by one thread at a time; several simulations do not know of each other. Texts that are handed out are valid until the next call with
 *   the same simulation.
 *   Nothing is printed, no file is written but by save, no signal handler is set. */
#ifndef MDPCOSIM_H
#define MDPCOSIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MDPCOSIM_API __attribute__((visibility("default")))
#else
#define MDPCOSIM_API
#endif

/* Raised when something here changes its meaning; what is appended does not raise it. */
#define MDPCOSIM_API_VERSION 1

typedef struct mdpcosim_simulation mdpcosim_simulation;

enum {
    MDPCOSIM_OK = 0,
    MDPCOSIM_FAILED = 1,  /* the run: a subsystem failed, a coupling diverged; or a file could not be written */
    MDPCOSIM_MISTAKE = 2, /* in the scenario, or in the call */
    MDPCOSIM_DEFECT = 3   /* in mdpcosim */
};

/* Set to zero what is not used: `mdpcosim_options o = {sizeof o};` */
typedef struct mdpcosim_options {
    size_t size;                 /* sizeof(mdpcosim_options) */
    const char* transport;       /* "threads", "processes", "tcp"; NULL: threads */
    int workers;                 /* threads, or processes; 0: as many as are good */
    int monolithic;              /* 1: the reference, no co-simulation */
    const char* const* settings; /* "object.parameter=value", as after --set; setting_count of them */
    size_t setting_count;
    /* Is told what a user should know (an FMU's log, what was left out), from any thread; NULL: nobody. */
    void (*message)(void* context, const char* text);
    void* context;
    /* 0: FMUs and plugins run in processes of their own, each, where a crash, an exit() or an endless loop of theirs cannot harm this one.
     * 1: in this process, which is faster by some microseconds per macro step and FMU, and ends where they crash. */
    int in_process;
} mdpcosim_options;

/* "0.1.0" */
MDPCOSIM_API const char* mdpcosim_version(void);

/* NULL: it failed, and mdpcosim_last_error(NULL) says why. `options` may be NULL. */
MDPCOSIM_API mdpcosim_simulation* mdpcosim_load(const char* path, const mdpcosim_options* options);
/* From a text; relative paths in it start at `folder`, NULL: the working folder. */
MDPCOSIM_API mdpcosim_simulation* mdpcosim_load_text(const char* text, const char* folder,
                                                     const mdpcosim_options* options);
MDPCOSIM_API void mdpcosim_free(mdpcosim_simulation* s);

/* Why the last call that failed did, of those with this simulation; with NULL: of those of this thread that had no valid simulation. "": none has. */
MDPCOSIM_API const char* mdpcosim_last_error(const mdpcosim_simulation* s);
/* The status that went with it. */
MDPCOSIM_API int mdpcosim_last_status(const mdpcosim_simulation* s);

MDPCOSIM_API int mdpcosim_initialise(mdpcosim_simulation* s);
MDPCOSIM_API int mdpcosim_step(mdpcosim_simulation* s);
/* Macro steps until the time is at least t, or the end. */
MDPCOSIM_API int mdpcosim_advance_to(mdpcosim_simulation* s, double t);
/* Back to before initialise, with what was set; nothing is read again. */
MDPCOSIM_API int mdpcosim_reset(mdpcosim_simulation* s);

MDPCOSIM_API double mdpcosim_time(const mdpcosim_simulation* s); /* s; NAN without a valid simulation */
MDPCOSIM_API double mdpcosim_end(const mdpcosim_simulation* s);
MDPCOSIM_API int64_t mdpcosim_steps(const mdpcosim_simulation* s); /* done so far; -1 without a valid simulation */
MDPCOSIM_API int mdpcosim_done(const mdpcosim_simulation* s);      /* 1: the end is reached, 0: not yet; -1 as above */

/* Outputs, inputs, coupling variables ("strut.u") and what is said of couplings ("strut.jump", "strut.energy-error"). */
MDPCOSIM_API int mdpcosim_get(const mdpcosim_simulation* s, const char* address, double* value);
/* The same for values that are read often: a place, -1 where there is none, stays valid as long as the simulation. */
MDPCOSIM_API int mdpcosim_find(const mdpcosim_simulation* s, const char* address);
MDPCOSIM_API int mdpcosim_read(const mdpcosim_simulation* s, const int* places, size_t count, double* values);
/* An input that nothing drives, or a parameter; from the next macro step on. */
MDPCOSIM_API int mdpcosim_set(mdpcosim_simulation* s, const char* address, double value);

/* Strings and bytes; `size` bytes, and a zero behind them. */
MDPCOSIM_API int mdpcosim_get_text(const mdpcosim_simulation* s, const char* address, const char** text, size_t* size);
MDPCOSIM_API int mdpcosim_set_text(mdpcosim_simulation* s, const char* address, const char* text, size_t size);

/* The whole state, to a file and back, into a simulation of the same scenario on any transport. Who cannot be saved is named. */
MDPCOSIM_API int mdpcosim_save(mdpcosim_simulation* s, const char* path);
MDPCOSIM_API int mdpcosim_load_state(mdpcosim_simulation* s, const char* path);

/* Macro steps until the end, or until so many seconds of wall time have passed (0: only the end counts), so that
 * the caller can look after other things now and then. */
MDPCOSIM_API int mdpcosim_run_for(mdpcosim_simulation* s, double seconds);

/* Rows in memory: what the scenario records, at the times at which it does. Before initialise; reset forgets the rows. */
MDPCOSIM_API int mdpcosim_record(mdpcosim_simulation* s);
MDPCOSIM_API size_t mdpcosim_row_count(const mdpcosim_simulation* s);
/* With the time, which is column 0. */
MDPCOSIM_API size_t mdpcosim_column_count(const mdpcosim_simulation* s);
/* NULL: there is no such column. */
MDPCOSIM_API const char* mdpcosim_column_name(const mdpcosim_simulation* s, size_t column);
MDPCOSIM_API const char* mdpcosim_column_unit(const mdpcosim_simulation* s, size_t column);
/* row_count() numbers, valid until the next step, reset or free. */
MDPCOSIM_API const double* mdpcosim_column(mdpcosim_simulation* s, size_t column);

/* What summary.json of a run would hold; "status" is "running" before the end. */
MDPCOSIM_API int mdpcosim_summary(mdpcosim_simulation* s, const char** json);

#ifdef __cplusplus
}
#endif

#endif
