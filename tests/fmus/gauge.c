/* x' = -k x with an output that is neither a state nor has a derivative variable, y = gain x: its rate is known through the
 * output derivatives only. LATE_RATES makes them as FMUs do that divide by the length of their last step: by zero before the first one. */
#include <math.h>

#include "fmu.h"

enum { time, k, gain, x, dx, y };

static void evaluate(fmu* m) {
    *fmu_real(m, dx) = -*fmu_real(m, k) * *fmu_real(m, x);
    *fmu_real(m, y) = *fmu_real(m, gain) * *fmu_real(m, x);
}

static double rate(fmu* m, unsigned output) {
    (void)output;
#ifdef LATE_RATES
    if (m->state->time <= 0) return HUGE_VAL;
#endif
    return *fmu_real(m, gain) * *fmu_real(m, dx);
}

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"k", "rate of the decay", fmu_float64, fmu_parameter, fmu_fixed, "1", "1/s"},
    {"gain", "gain of the output", fmu_float64, fmu_parameter, fmu_fixed, "1"},
    {"x", "what decays", fmu_float64, fmu_local, .start = "1"},
    {"der(x)", "derivative of x", fmu_float64, fmu_local, .unit = "1/s", .derivative_of = x, .dependencies = "3",
     .kinds = "fixed", .initial_dependencies = "1 3"},
    {"y", "what the gauge shows", fmu_float64, fmu_output, .unit = "deg", .dependencies = "3", .kinds = "fixed",
     .initial_dependencies = "2 3"},
};

static const fmu_model model = {
    .name = NAME,
    .description = "decay seen through a gauge",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities = fmu_saves | fmu_gives_rates,
    .internal_step = 1e-3,
    .stop = 1,
    .step = 1e-2,
    .evaluate = evaluate,
    .rate = rate,
};

const fmu_model* fmu_get_model(void) { return &model; }
