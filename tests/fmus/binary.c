/* Binary variables (FMI 3.0): a parameter and an output with the same bytes, an input and an output with the same. */
#include <string.h>

#include "fmu.h"

enum { time, data, copy, given, told };

static void evaluate(fmu* m) {
    memcpy(fmu_text(m, copy), fmu_text(m, data), FMU_TEXT_SIZE);
    memcpy(fmu_text(m, told), fmu_text(m, given), FMU_TEXT_SIZE);
}

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"data", "bytes", fmu_binary, fmu_parameter, fmu_fixed, "00ff10"},
    {"copy", "the same bytes", fmu_binary, fmu_output, fmu_discrete, .dependencies = "", .initial_dependencies = "1"},
    {"given", "bytes", fmu_binary, fmu_input, fmu_discrete, "61"},
    {"told", "the same bytes", fmu_binary, fmu_output, fmu_discrete, .dependencies = "3", .initial_dependencies = "3"},
};

static const fmu_model model = {
    .name = NAME,
    .description = "binary variables",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities = fmu_saves,
    .stop = 1,
    .evaluate = evaluate,
};

const fmu_model* fmu_get_model(void) { return &model; }
