/* Outputs equal to inputs, one pair of every type, and parameters that reach an output: y = gain u. SILENT does not say what y depends
 * on. */
#include <string.h>

#include "fmu.h"

#define LEVELS "low middle high"
#define PAIR(name, type, start, number, ...)                                                                       \
    {name "_in", name " input", type, fmu_input, fmu_discrete, start, __VA_ARGS__}, {                              \
        name "_out", name " output", type, fmu_output, fmu_discrete, .dependencies = number, .kinds = "dependent", \
                                                                     .initial_dependencies = number, __VA_ARGS__   \
    }
#define NEWER .only = 3

enum { time, gain, u, y, text, first_pair };

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"gain", "gain of the real pair", fmu_float64, fmu_parameter, fmu_tunable, "1"},
    {"u", "real input", fmu_float64, fmu_input, .start = "0"},
#ifdef SILENT
    {"y", "real output", fmu_float64, fmu_output},
#else
    {"y", "real output", fmu_float64, fmu_output, .dependencies = "2", .kinds = "tunable",
     .initial_dependencies = "1 2"},
#endif
    {"text", "a text with characters that XML escapes", fmu_string, fmu_parameter, fmu_fixed, "a <b> & \"c\""},
    PAIR("int32", fmu_int32, "-3", "5", .unit = NULL),
    PAIR("boolean", fmu_boolean, "0", "7", .unit = NULL),
    PAIR("string", fmu_string, "text", "9", .unit = NULL),
    PAIR("enumeration", fmu_enumeration, "1", "11", .items = LEVELS),
    PAIR("float32", fmu_float32, "0.5", "13", NEWER),
    PAIR("int8", fmu_int8, "-8", "15", NEWER),
    PAIR("uint8", fmu_uint8, "8", "17", NEWER),
    PAIR("int16", fmu_int16, "-16", "19", NEWER),
    PAIR("uint16", fmu_uint16, "16", "21", NEWER),
    PAIR("uint32", fmu_uint32, "32", "23", NEWER),
    PAIR("int64", fmu_int64, "-9007199254740993", "25", NEWER),
    PAIR("uint64", fmu_uint64, "64", "27", NEWER),
};

static void evaluate(fmu* m) {
    *fmu_real(m, y) = *fmu_real(m, gain) * *fmu_real(m, u);
    for (unsigned r = first_pair; r < sizeof variables / sizeof *variables; r += 2)
        memcpy(&m->value[m->offset[r + 1]], &m->value[m->offset[r]],
               (m->offset[r + 1] - m->offset[r]) * sizeof *m->value);
}

static double partial(fmu* m, unsigned unknown, unsigned known) {
    return unknown == y && known == u ? *fmu_real(m, gain) : 0;
}

static const fmu_model model = {
    .name = NAME,
    .description = "outputs equal to inputs, of every type",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities = fmu_saves | fmu_derives,
    .stop = 1,
    .step = 0.1,
    .evaluate = evaluate,
    .partial = partial,
};

const fmu_model* fmu_get_model(void) { return &model; }
