/* Brings functions along that have the names of a solver library which its importer may have loaded, too: y is what its own one says. */
#include "fmu.h"

enum { time, y };

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"y", "42 from the FMU's own function", fmu_float64, fmu_output, .dependencies = "", .initial_dependencies = ""},
};

/* As in a static library that was linked into the FMU without hiding its names. */
FMU_EXPORT void* CVodeCreate(int method, void* context);
void* CVodeCreate(int method, void* context) {
    static double answer;
    (void)context;
    answer = method;
    return &answer;
}

static void evaluate(fmu* m) {
    double* answer = CVodeCreate(42, 0);
    *fmu_real(m, y) = answer ? *answer : 0;
}

static const fmu_model model = {
    .name = NAME,
    .description = "has functions with names of a solver library",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .stop = 1,
    .step = 0.1,
    .evaluate = evaluate,
};

const fmu_model* fmu_get_model(void) { return &model; }
