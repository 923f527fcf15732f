/* w' = u, exactly. In steps it comes back early, in the manner `how`:
 *   0 not at all                       4 after half a step, for an event
 *   1 after half a step                5 from a time before the step
 *   2 without having moved             6 from a time behind the step
 *   3 as 1, and asks for an event      7 at the end, and asks for an event
 *     that it has no mode for */
#include "fmu.h"

enum { time, how, u, w, dw, events };

static void evaluate(fmu* m) { *fmu_real(m, dw) = *fmu_real(m, u); }

static void update(fmu* m, fmu_update* info) {
    (void)info;
    *fmu_integer(m, events) += 1;
}

static double advance(fmu* m, double target, bool* event) {
    const double begin = m->state->time;
    const int64_t manner = *fmu_integer(m, how);
    const bool half = manner == 1 || manner == 3 || manner == 4;
    double reached = half && target - begin > 1e-3 ? begin + (target - begin) / 2 : target;
    if (manner == 2) reached = begin;
    *fmu_real(m, w) += (reached - begin) * *fmu_real(m, u);
    *event = manner == 4 && reached < target;
    /* The framework goes on to the end unless the step is over. */
    m->state->early_return = reached < target;
    return reached;
}

static void tell(fmu* m, double begin, double asked, fmu_told* told) {
    const int64_t manner = *fmu_integer(m, how);
    if (manner == 3 || manner == 7) told->event = true;
    if (manner == 5 || manner == 6) told->early = true;
    if (manner == 5) told->reached = begin - 1;
    if (manner == 6) told->reached = asked + 1;
    m->state->early_return = false;
}

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"how", "it comes back", fmu_int32, fmu_parameter, fmu_fixed, "0"},
    {"u", "what is integrated", fmu_float64, fmu_input, fmu_continuous, "0"},
    {"w", "the integral", fmu_float64, fmu_output, .start = "0", .dependencies = "3"},
    {"der(w)", "its derivative", fmu_float64, fmu_local, .derivative_of = w, .dependencies = "2"},
    {"events", "so far", fmu_int32, fmu_output, fmu_discrete, .dependencies = "", .initial_dependencies = ""},
};

static const fmu_model model = {
    .name = NAME,
    .description = "comes back early from steps",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
#ifdef FIXED_STEP
    .capabilities = fmu_early_return | fmu_fixed_step,
#else
    .capabilities = fmu_early_return | fmu_event_mode,
#endif
    .internal_step = 1e-3,
    .stop = 1,
    .step = 0.05,
    .evaluate = evaluate,
    .update = update,
    .advance = advance,
    .tell = tell,
};

const fmu_model* fmu_get_model(void) { return &model; }
