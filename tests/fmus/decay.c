/* x' = -k x, solved exactly in co-simulation: x(t + H) = exp(-k H) x(t). ONLY_STEPS and ONLY_EQUATIONS offer one
 * interface, the library then lacks the functions of the other. NOMINAL is the usual size of x. */
#include <math.h>

#include "fmu.h"

#if defined ONLY_STEPS
#define CAPABILITIES fmu_no_model_exchange
#elif defined ONLY_EQUATIONS
#define CAPABILITIES fmu_no_co_simulation
#else
#define CAPABILITIES fmu_saves | fmu_derives | fmu_gives_rates
#endif

enum { time, k, x, dx };

static void evaluate(fmu* m) { *fmu_real(m, dx) = -*fmu_real(m, k) * *fmu_real(m, x); }

static double advance(fmu* m, double target, bool* event) {
    (void)event;
    *fmu_real(m, x) *= exp(-*fmu_real(m, k) * (target - m->state->time));
    return target;
}

static double partial(fmu* m, unsigned unknown, unsigned known) {
    if (unknown == known) return 1;
    return unknown == dx && known == x ? -*fmu_real(m, k) : 0;
}

static double rate(fmu* m, unsigned output) {
    (void)output;
    return *fmu_real(m, dx);
}

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"k", "rate of the decay", fmu_float64, fmu_parameter, fmu_tunable, "1", "1/s"},
    {"x", "what decays", fmu_float64, fmu_output, .start = "1", .dependencies = "2", .kinds = "constant"},
    {"der(x)", "derivative of x", fmu_float64, fmu_local, .unit = "1/s", .derivative_of = x, .dependencies = "2",
     .kinds = "tunable", .initial_dependencies = "1 2"},
};

static const fmu_model model = {
    .name = NAME,
    .description = "exponential decay",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities = CAPABILITIES,
    .internal_step = 1e-3,
    .stop = 10,
    .step = 0.1,
#ifdef NOMINAL
    .nominal = NOMINAL,
#endif
    .evaluate = evaluate,
    .partial = partial,
    .rate = rate,
    .advance = advance,
};

const fmu_model* fmu_get_model(void) { return &model; }
