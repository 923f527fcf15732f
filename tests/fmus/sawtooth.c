/* Step events: x' = rate; when x is found at 1 or above after an integrator step, 1 is taken off it and counted. */
#include "fmu.h"

enum { time, rate, x, dx, count };

static void evaluate(fmu* m) { *fmu_real(m, dx) = *fmu_real(m, rate); }

static bool completed_step(fmu* m) { return *fmu_real(m, x) >= 1; }

static void update(fmu* m, fmu_update* info) {
    if (!completed_step(m)) return;
    *fmu_real(m, x) -= 1;
    *fmu_integer(m, count) += 1;
    info->states_changed = info->again = true;
}

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"rate", "rate of x", fmu_float64, fmu_parameter, fmu_fixed, "1", "1/s"},
    {"x", "what grows", fmu_float64, fmu_output, .start = "0", .dependencies = "2", .kinds = "constant",
     .reinit = true},
    {"der(x)", "derivative of x", fmu_float64, fmu_local, .unit = "1/s", .derivative_of = x, .dependencies = "",
     .initial_dependencies = "1"},
    {"count", "events so far", fmu_int32, fmu_output, fmu_discrete, .dependencies = "", .initial_dependencies = ""},
};

static const fmu_model model = {
    .name = NAME,
    .description = "integrator with step events",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities = fmu_saves | fmu_needs_completed_step,
    .internal_step = 1e-3,
    .stop = 5,
    .step = 0.1,
    .evaluate = evaluate,
    .update = update,
    .completed_step = completed_step,
};

const fmu_model* fmu_get_model(void) { return &model; }
