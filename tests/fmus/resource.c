/* y is the number in the file resources/value.txt; without the file there is no instance. */
#include <stdio.h>

#include "fmu.h"

enum { time, y };

static int load(fmu* m) {
    char path[4096];
    snprintf(path, sizeof path, "%s/value.txt", m->resources ? m->resources : "");
    FILE* file = fopen(path, "r");
    const bool read = file && fscanf(file, "%lf", fmu_real(m, y)) == 1;
    if (file) fclose(file);
    if (read) return fmu_ok;
    fmu_log(m, fmu_error, "logStatusError", path);
    return fmu_error;
}

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"y", "number in the file", fmu_float64, fmu_output, fmu_discrete, .dependencies = "", .initial_dependencies = ""},
};

static const fmu_model model = {
    .name = NAME,
    .description = "a number from a file in the FMU",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .stop = 1,
    .step = 0.1,
    .load = load,
};

const fmu_model* fmu_get_model(void) { return &model; }
