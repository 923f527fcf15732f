/* The van der Pol oscillator x'' = mu (1 - x^2) x' - x; the states' start values can be set. */
#include "fmu.h"

enum { time, mu, x, v, a };

static void evaluate(fmu* m) {
    const double q = *fmu_real(m, x);
    *fmu_real(m, a) = *fmu_real(m, mu) * ((1 - q * q) * *fmu_real(m, v)) - q;
}

static double partial(fmu* m, unsigned unknown, unsigned known) {
    if (unknown != a) return unknown == known;
    const double q = *fmu_real(m, x);
    if (known == x) return -2 * *fmu_real(m, mu) * q * *fmu_real(m, v) - 1;
    return known == v ? *fmu_real(m, mu) * (1 - q * q) : 0;
}

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"mu", "damping", fmu_float64, fmu_parameter, fmu_tunable, "1"},
    {"x", "first state", fmu_float64, fmu_output, .start = "2", .dependencies = "2", .kinds = "constant"},
    {"der(x)", "second state", fmu_float64, fmu_output, .start = "0", .derivative_of = x, .dependencies = "3",
     .kinds = "constant"},
    {"der(x,2)", "derivative of the second state", fmu_float64, fmu_local, .derivative_of = v, .dependencies = "2 3",
     .initial_dependencies = "1 2 3"},
};

static const fmu_model model = {
    .name = NAME,
    .description = "van der Pol oscillator",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities = fmu_saves | fmu_derives,
    .internal_step = 1e-3,
    .stop = 20,
    .evaluate = evaluate,
    .partial = partial,
};

const fmu_model* fmu_get_model(void) { return &model; }
