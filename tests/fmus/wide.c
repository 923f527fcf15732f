/* Many scalar variables: outputs equal to inputs, COUNT of each. */
#include <stdio.h>

#include "fmu.h"

#define NAME_SIZE 16

static fmu_variable variables[2 * COUNT + 1] = {{"time", "time", fmu_float64, fmu_independent, .unit = "s"}};
static char names[2 * COUNT][NAME_SIZE], references[COUNT][NAME_SIZE];

static void evaluate(fmu* m) {
    const double* u = fmu_real(m, 1);
    double* y = fmu_real(m, COUNT + 1);
    for (int i = 0; i < COUNT; ++i) y[i] = u[i];
}

static double partial(fmu* m, unsigned unknown, unsigned known) {
    (void)m;
    return unknown == known + COUNT || unknown == known;
}

static const fmu_model model = {
    .name = NAME,
    .description = "many outputs equal to as many inputs",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities = fmu_saves | fmu_derives,
    .stop = 1,
    .step = 0.1,
    .evaluate = evaluate,
    .partial = partial,
};

__attribute__((constructor)) static void fill(void) {
    for (unsigned i = 0; i < COUNT; ++i) {
        snprintf(names[i], NAME_SIZE, "u[%u]", i + 1);
        snprintf(names[COUNT + i], NAME_SIZE, "y[%u]", i + 1);
        snprintf(references[i], NAME_SIZE, "%u", i + 1);
        variables[1 + i] = (fmu_variable){names[i], NULL, fmu_float64, fmu_input, .start = "0"};
        variables[1 + COUNT + i] = (fmu_variable){names[COUNT + i],
                                                  NULL,
                                                  fmu_float64,
                                                  fmu_output,
                                                  .dependencies = references[i],
                                                  .kinds = "constant",
                                                  .initial_dependencies = references[i]};
    }
}

const fmu_model* fmu_get_model(void) { return &model; }
