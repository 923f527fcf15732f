/* A discrete integrator of u that its clock `tick` lets go on, with a continuous one behind it: at a tick y = sum + u, then sum = y;
 * z' = sum. At every third tick the clock `alarm` ticks. */
#include <math.h>

#include "fmu.h"

#ifndef INTERVAL
#define INTERVAL "constant"
#endif
#ifndef SHIFT
#define SHIFT NULL
#endif

enum { time, tick, period, u, n, sum, y, z, dz, alarm };

static void evaluate(fmu* m) {
    if (*fmu_integer(m, tick)) *fmu_real(m, y) = *fmu_real(m, sum) + *fmu_real(m, u);
    *fmu_real(m, dz) = *fmu_real(m, sum);
}

static void update(fmu* m, fmu_update* info) {
    if (!*fmu_integer(m, tick)) return;
    *fmu_real(m, sum) = *fmu_real(m, y);
    *fmu_integer(m, n) += 1;
    if (*fmu_integer(m, n) % 3) return;
    *fmu_integer(m, alarm) = 1;
    info->again = true;
}

/* A countdown runs from the start and from every tick on; a changing interval grows by a tenth of the period with every tick. */
static double interval(fmu* m, unsigned clock) {
    const double ticks = (double)*fmu_integer(m, n), T = *fmu_real(m, period);
    if (m->model->variables[clock].interval[1] == 'h') return T * (1 + 0.1 * ticks);
    if (m->model->variables[clock].interval[1] != 'o') return T;
    const bool counts = *fmu_integer(m, clock) == 0 && fabs(m->state->time - ticks * T) < 1e-9;
    return counts ? T : NAN;
}

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"tick", "lets u in", fmu_clock, fmu_input, fmu_discrete, .interval = INTERVAL, .shift = SHIFT, .only = 3},
    {"period", "of the clock, unless it is constant", fmu_float64, fmu_parameter, fmu_fixed, "0.1", "s"},
    {"u", "what is summed", fmu_float64, fmu_input, fmu_discrete, "0", .clock = tick},
    {"n", "ticks so far", fmu_int32, fmu_output, fmu_discrete, .dependencies = "", .initial_dependencies = ""},
    {"sum", "of all u at ticks", fmu_float64, fmu_output, fmu_discrete, .dependencies = "", .initial_dependencies = ""},
    {"y", "the same with the present u", fmu_float64, fmu_output, fmu_discrete, .dependencies = "3",
     .initial_dependencies = "", .clock = tick},
    {"z", "integral of the sum", fmu_float64, fmu_output, .start = "0", .dependencies = "7"},
    {"der(z)", "derivative of z", fmu_float64, fmu_local, .derivative_of = z, .dependencies = "5"},
    {"alarm", "ticks with every third tick", fmu_clock, fmu_output, fmu_discrete, .interval = "triggered",
     .dependencies = "", .only = 3},
};

static const fmu_model model = {
    .name = NAME,
    .description = "sum at the ticks of a clock",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities = fmu_saves
#ifdef FIXED_STEP
                    | fmu_fixed_step
#endif
#ifndef NO_EVENT_MODE
                    | fmu_event_mode
#endif
    ,
    .internal_step = 1e-3,
    .stop = 1,
    .step = 0.05,
    .evaluate = evaluate,
    .update = update,
    .interval = interval,
};

const fmu_model* fmu_get_model(void) { return &model; }
