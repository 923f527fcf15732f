/* x' = A x + B u, y = C x with arrays (FMI 3.0): n states, r inputs and outputs, structural parameters from 1 to 8. */
#include "fmu.h"

enum { time, n, r, A, B, C, x0, u, x, dx, y };

/* result = M v, row by row; with `add` on top of what is there. */
static void multiply(fmu* m, unsigned matrix, unsigned vector, unsigned result, bool add) {
    const unsigned rows = m->size[result], columns = m->size[vector];
    const double *M = fmu_real(m, matrix), *v = fmu_real(m, vector);
    double* w = fmu_real(m, result);
    for (unsigned i = 0; i < rows; ++i) {
        double sum = add ? w[i] : 0;
        for (unsigned k = 0; k < columns; ++k) sum += M[i * columns + k] * v[k];
        w[i] = sum;
    }
}

static void start(fmu* m) {
    for (unsigned i = 0; i < m->size[x]; ++i) fmu_real(m, x)[i] = fmu_real(m, x0)[i];
}

static void evaluate(fmu* m) {
    multiply(m, A, x, dx, false);
    multiply(m, B, u, dx, true);
    multiply(m, C, x, y, false);
}

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"n", "number of states", fmu_uint64, fmu_structural, fmu_fixed, "2"},
    {"r", "number of inputs and outputs", fmu_uint64, fmu_structural, fmu_fixed, "1"},
    {"A", "matrix A", fmu_float64, fmu_parameter, fmu_fixed, "0 1 -100 0", .dimensions = {n, n}},
    {"B", "matrix B", fmu_float64, fmu_parameter, fmu_fixed, "0 1", .dimensions = {n, r}},
    {"C", "matrix C", fmu_float64, fmu_parameter, fmu_fixed, "1 0", .dimensions = {r, n}},
    {"x0", "states at the start", fmu_float64, fmu_parameter, fmu_fixed, "1 0", .dimensions = {n}},
    {"u", "inputs", fmu_float64, fmu_input, .start = "0", .dimensions = {r}},
    {"x", "states", fmu_float64, fmu_local, .initial_dependencies = "6", .dimensions = {n}},
    {"der(x)", "derivatives of the states", fmu_float64, fmu_local, .derivative_of = x, .dependencies = "7 8",
     .kinds = "fixed fixed", .initial_dependencies = "3 4 6 7", .dimensions = {n}},
    {"y", "outputs", fmu_float64, fmu_output, .dependencies = "8", .kinds = "fixed", .initial_dependencies = "5 6",
     .dimensions = {r}},
};

static const fmu_model model = {
    .name = NAME,
    .description = "linear system with arrays",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities = fmu_saves,
    .internal_step = 1e-3,
    .stop = 1,
    .step = 1e-2,
    .start = start,
    .evaluate = evaluate,
};

const fmu_model* fmu_get_model(void) { return &model; }
