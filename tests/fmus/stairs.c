/* Time events: at k times the period the counter becomes k and the level k times the height. No continuous state. */
#include "fmu.h"

enum { time, period, height, count, level };

static double next_event(fmu* m) { return (double)(*fmu_integer(m, count) + 1) * *fmu_real(m, period); }

static void evaluate(fmu* m) { *fmu_real(m, level) = (double)*fmu_integer(m, count) * *fmu_real(m, height); }

static void update(fmu* m, fmu_update* info) {
    if (m->state->time < next_event(m) - 1e-9 * *fmu_real(m, period)) return;
    *fmu_integer(m, count) += 1;
    /* A second pass finds nothing to do: importers have to iterate. */
    info->again = true;
}

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"period", "time between two events", fmu_float64, fmu_parameter, fmu_fixed, "0.1", "s"},
    {"height", "height of a stair", fmu_float64, fmu_parameter, fmu_fixed, "0.5", "m"},
    {"count", "events so far", fmu_int32, fmu_output, fmu_discrete, .dependencies = "", .initial_dependencies = ""},
    {"level", "height so far", fmu_float64, fmu_output, fmu_discrete, .unit = "m", .dependencies = "",
     .initial_dependencies = ""},
};

static const fmu_model model = {
    .name = NAME,
    .description = "counter with time events",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
#if defined REFUSES
    .capabilities = fmu_saves | fmu_event_mode | fmu_early_return | fmu_refuses_event_mode,
#elif defined SILENT
    .capabilities = fmu_silent_start,
#else
    .capabilities = fmu_saves | fmu_event_mode | fmu_early_return,
#endif
    .stop = 1,
    .step = 0.05,
    .evaluate = evaluate,
    .update = update,
    .next_event = next_event,
};

const fmu_model* fmu_get_model(void) { return &model; }
