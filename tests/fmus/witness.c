/* Tells what the importer did: which stop time it set, whether the last step may be taken back, with which input the initialisation ended. Setting
 * the experiment up (2.0) puts the gain back to its start value, as FMUs of some tools do. Of a FORGETFUL one this is not the value that its description says: it waits until it is set.
 * A CONVERTING one gives its gain in thousandths once it is initialised, and computes as it should. */
#include "fmu.h"

#ifdef FORGETFUL
#define OWN_GAIN 0
#else
#define OWN_GAIN 2
#endif

enum { time, gain, u, k, x, dx, y, d, stop, keeps };

static void start(fmu* m) { *fmu_real(m, x) = *fmu_real(m, u); }

static void evaluate(fmu* m) {
    *fmu_real(m, dx) = 0;
    *fmu_real(m, y) = *fmu_real(m, gain) * *fmu_real(m, u);
#ifdef CONVERTING
    if (!(m->state->mode & (fmu_instantiated | fmu_initialization))) *fmu_real(m, y) *= 1e3;
#endif
    *fmu_integer(m, d) = 10 * *fmu_integer(m, k);
    *fmu_real(m, stop) = m->state->stop;
    *fmu_real(m, keeps) = m->state->keeps_state;
}

static int enter(fmu* m, fmu_call call) {
    if (call == fmu_call_set_up) *fmu_real(m, gain) = OWN_GAIN;
#ifdef CONVERTING
    if (call == fmu_call_exit_initialization) *fmu_real(m, gain) *= 1e-3;
#endif
    return fmu_ok;
}

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"gain", "gain of y", fmu_float64, fmu_parameter, fmu_fixed, "2"},
    {"u", "what y and the initial x follow", fmu_float64, fmu_input, .start = "1"},
    {"k", "what d follows", fmu_int32, fmu_input, fmu_discrete, "1"},
    {"x", "the input at the end of the initialisation", fmu_float64, fmu_output, .dependencies = "4",
     .initial_dependencies = "2"},
    {"der(x)", "derivative of x", fmu_float64, fmu_local, .derivative_of = x, .dependencies = ""},
    {"y", "gain u", fmu_float64, fmu_output, .dependencies = "2"},
    {"d", "ten times k", fmu_int32, fmu_output, fmu_discrete, .dependencies = "3"},
    {"stop", "the stop time that was set; -1: none", fmu_float64, fmu_output, .dependencies = ""},
    {"keeps", "1: the last step may be taken back", fmu_float64, fmu_output, .dependencies = ""},
};

static const fmu_model model = {
    .name = NAME,
    .description = "what the importer did",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities = fmu_saves | fmu_needs_completed_step,
    .internal_step = 1e-3,
    .stop = 1,
    .step = 1e-2,
    .start = start,
    .evaluate = evaluate,
    .enter = enter,
};

const fmu_model* fmu_get_model(void) { return &model; }
