/* x takes u at events, y = x; a clock `tock` ticks with every change of x. The clock `tick`, which others let tick, lets v in: sum of v, n ticks;
 * w' = x, z' = sum. Nothing follows an input without an event. */
#include "fmu.h"

enum { time, u, x, changes, tock, tick, v, n, sum, w, dw, z, dz };

static void evaluate(fmu* m) {
    *fmu_real(m, dw) = *fmu_real(m, x);
    *fmu_real(m, dz) = *fmu_real(m, sum);
}

static void update(fmu* m, fmu_update* info) {
    if (*fmu_integer(m, tick)) {
        *fmu_integer(m, n) += 1;
        *fmu_real(m, sum) += *fmu_real(m, v);
    }
    if (*fmu_real(m, x) == *fmu_real(m, u)) return;
    *fmu_real(m, x) = *fmu_real(m, u);
    *fmu_integer(m, changes) += 1;
    *fmu_integer(m, tock) = 1;
    info->again = true;
}

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"u", "taken at events", fmu_float64, fmu_input, fmu_discrete, "0"},
    {"x", "u, since the last event", fmu_float64, fmu_output, fmu_discrete, .start = "0", .dependencies = "",
     .initial_dependencies = ""},
    {"changes", "of x so far", fmu_int32, fmu_output, fmu_discrete, .dependencies = "", .initial_dependencies = ""},
    {"tock", "ticks when x changes", fmu_clock, fmu_output, fmu_discrete, .interval = "triggered", .dependencies = ""},
    {"tick", "lets v in", fmu_clock, fmu_input, fmu_discrete, .interval = "triggered"},
    {"v", "what is summed", fmu_float64, fmu_input, fmu_discrete, "0", .clock = tick},
    {"n", "ticks so far", fmu_int32, fmu_output, fmu_discrete, .dependencies = "", .initial_dependencies = ""},
    {"sum", "of v at ticks", fmu_float64, fmu_output, fmu_discrete, .dependencies = "", .initial_dependencies = ""},
    {"w", "integral of x", fmu_float64, fmu_output, .start = "0", .dependencies = "9"},
    {"der(w)", "derivative of w", fmu_float64, fmu_local, .derivative_of = w, .dependencies = "2"},
    {"z", "integral of the sum", fmu_float64, fmu_output, .start = "0", .dependencies = "11"},
    {"der(z)", "derivative of z", fmu_float64, fmu_local, .derivative_of = z, .dependencies = "8"},
};

static const fmu_model model = {
    .name = NAME,
    .description = "takes its input at events",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities = fmu_saves | fmu_event_mode,
    .internal_step = 1e-3,
    .stop = 1,
    .step = 0.05,
    .evaluate = evaluate,
    .update = update,
};

const fmu_model* fmu_get_model(void) { return &model; }
