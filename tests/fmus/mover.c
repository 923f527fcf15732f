/* A mass on a spring and a damper against the ground that tells where it is and how fast it moves, not how its velocity changes:
 * m x'' = F - c x - d v. It cannot go back. Variants: IN_MM counts in mm and kN, REFUSES promises directional derivatives and has none,
 * FIXED_STEP has none and takes communication steps of one length only. */
#include "fmu.h"

enum { time, force, mass, stiffness, damping, x0, position, velocity, lever, acceleration };

#ifdef IN_MM
#define LENGTH "mm"
#define FORCE "kN"
#define PER_FORCE 1e6 /* mm/s2 kg/kN */
#else
#define LENGTH "m"
#define FORCE "N"
#define PER_FORCE 1.0
#endif

static void start(fmu* m) {
    *fmu_real(m, position) = *fmu_real(m, x0);
    *fmu_real(m, velocity) = 0;
}

static void evaluate(fmu* m) {
    *fmu_real(m, acceleration) = (PER_FORCE * *fmu_real(m, force) - *fmu_real(m, stiffness) * *fmu_real(m, position) -
                                  *fmu_real(m, damping) * *fmu_real(m, velocity)) /
                                 *fmu_real(m, mass);
    *fmu_real(m, lever) = 3 * *fmu_real(m, velocity);
}

#ifdef FIXED_STEP
#define CAPABILITIES fmu_fixed_step
#else
#define CAPABILITIES fmu_derives
static double partial(fmu* m, unsigned unknown, unsigned known) {
    const double inverse_mass = 1 / *fmu_real(m, mass);
    if (unknown == lever) return known == velocity ? 3 : 0;
    if (unknown != acceleration) return unknown == known;
    switch (known) {
        case force:
            return PER_FORCE * inverse_mass;
        case position:
            return -*fmu_real(m, stiffness) * inverse_mass;
        case velocity:
            return -*fmu_real(m, damping) * inverse_mass;
        default:
            return 0;
    }
}
#endif

#ifdef REFUSES
static int enter(fmu* m, fmu_call call) {
    if (call != fmu_call_directional) return fmu_ok;
    fmu_log(m, fmu_error, "logStatusError", "there are no derivatives");
    return fmu_error;
}
#endif

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"force", "force on the mass", fmu_float64, fmu_input, .start = "0", .unit = FORCE},
    {"m", "mass", fmu_float64, fmu_parameter, fmu_fixed, "1", "kg"},
    {"c", "stiffness", fmu_float64, fmu_parameter, fmu_fixed, "100", "N/m"},
    {"d", "damping", fmu_float64, fmu_parameter, fmu_fixed, "0", "N.s/m"},
    {"x0", "position at the start", fmu_float64, fmu_parameter, fmu_fixed, "0", LENGTH},
    {"position", "position of the mass", fmu_float64, fmu_output, .unit = LENGTH, .dependencies = "6",
     .initial_dependencies = "5"},
    {"velocity", "velocity of the mass", fmu_float64, fmu_output, .unit = LENGTH "/s", .derivative_of = position,
     .dependencies = "7", .initial_dependencies = ""},
    {"lever", "velocity at the end of a lever", fmu_float64, fmu_output, .unit = LENGTH "/s", .dependencies = "7",
     .initial_dependencies = ""},
    {"der(velocity)", "derivative of the velocity", fmu_float64, fmu_local, .derivative_of = velocity},
};

static const fmu_model model = {
    .name = NAME,
    .description = "mass that tells its position and velocity only",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities = CAPABILITIES,
    .internal_step = 1e-3,
    .stop = 2,
    .step = 1e-2,
    .start = start,
    .evaluate = evaluate,
#ifndef FIXED_STEP
    .partial = partial,
#endif
#ifdef REFUSES
    .enter = enter,
#endif
};

const fmu_model* fmu_get_model(void) { return &model; }
