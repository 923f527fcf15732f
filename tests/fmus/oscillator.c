/* A mass on a spring and a damper against the ground, with an external force: m x'' = F - c x - d v. The operations have
 * the order of the native model mass-spring-damper. Variants: PLAIN offers nothing but steps and derivatives, FIXED_STEP,
 * ONE_INSTANCE and LIMITED have the limit of their name, BUSY costs a chosen time per communication step. */
#include "fmu.h"

enum { time, force, mass, stiffness, damping, x0, v0, position, velocity, acceleration, work };

static double acceleration_of(fmu* m) {
    const double c = *fmu_real(m, stiffness), d = *fmu_real(m, damping), f = *fmu_real(m, force);
    const double inverse_mass = 1 / *fmu_real(m, mass);
    if (c == 0 && d == 0) return f * inverse_mass;
    return (f - c * *fmu_real(m, position) - d * *fmu_real(m, velocity) + 0.0) * inverse_mass;
}

static void start(fmu* m) {
    *fmu_real(m, position) = *fmu_real(m, x0);
    *fmu_real(m, velocity) = *fmu_real(m, v0);
}

static void evaluate(fmu* m) { *fmu_real(m, acceleration) = acceleration_of(m); }

#ifdef PLAIN
#define CAPABILITIES 0
#else
static double partial(fmu* m, unsigned unknown, unsigned known) {
    if (unknown != acceleration) return unknown == known;
    const double inverse_mass = 1 / *fmu_real(m, mass);
    switch (known) {
        case force:
            return inverse_mass;
        case position:
            return -*fmu_real(m, stiffness) * inverse_mass;
        case velocity:
            return -*fmu_real(m, damping) * inverse_mass;
        default:
            return 0;
    }
}

static double rate(fmu* m, unsigned output) {
    if (output == position) return *fmu_real(m, velocity);
    if (output == velocity) return *fmu_real(m, acceleration);
    return (fmu_input_rate(m, force) - *fmu_real(m, stiffness) * *fmu_real(m, velocity) -
            *fmu_real(m, damping) * *fmu_real(m, acceleration)) /
           *fmu_real(m, mass);
}

#if defined FIXED_STEP
#define CAPABILITIES fmu_saves | fmu_fixed_step
#elif defined ONE_INSTANCE
#define CAPABILITIES fmu_saves | fmu_one_instance
#elif defined LIMITED
#define CAPABILITIES fmu_saves | fmu_early_return
#else
#define CAPABILITIES \
    fmu_saves | fmu_derives | fmu_gives_rates | fmu_takes_rates | fmu_intermediate_update | fmu_early_return
#endif
#endif

#ifdef BUSY
/* Every iteration waits for the one before; the iterates tend to 2. */
static double advance(fmu* m, double target, bool* event) {
    double z = *fmu_real(m, position);
    for (int64_t i = *fmu_integer(m, work); i > 0; --i) z = 0.5 * z + 1;
    *fmu_real(m, position) += 0.0 * z;
    return fmu_integrate(m, target, event);
}
#endif

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"force", "force on the mass", fmu_float64, fmu_input, .start = "0", .unit = "N"},
    {"m", "mass", fmu_float64, fmu_parameter, fmu_fixed, "1", "kg"},
    {"c", "stiffness", fmu_float64, fmu_parameter, fmu_fixed, "100", "N/m"},
    {"d", "damping", fmu_float64, fmu_parameter, fmu_fixed, "0", "N.s/m"},
    {"x0", "position at the start", fmu_float64, fmu_parameter, fmu_fixed, "0", "m", "mm"},
    {"v0", "velocity at the start", fmu_float64, fmu_parameter, fmu_fixed, "0", "m/s", .negated = "approach0"},
    {"position", "position of the mass", fmu_float64, fmu_output, .unit = "m", .display_unit = "mm",
     .dependencies = "7", .kinds = "constant", .initial_dependencies = "5", .alias = "x"},
    {"velocity", "velocity of the mass", fmu_float64, fmu_output, .unit = "m/s", .derivative_of = position,
     .dependencies = "8", .kinds = "constant", .initial_dependencies = "6", .alias = "v", .negated = "approach"},
    {"acceleration", "acceleration of the mass", fmu_float64, fmu_output, .unit = "m/s2", .derivative_of = velocity,
     .dependencies = "1 7 8", .kinds = "fixed fixed fixed", .initial_dependencies = "1 2 3 4 5 6"},
#ifdef BUSY
    {"work", "iterations of idle arithmetic per communication step", fmu_int32, fmu_parameter, fmu_fixed, "2400"},
#endif
};

static const fmu_model model = {
    .name = NAME,
    .description = "mass on a spring and a damper against the ground",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities = CAPABILITIES,
    .internal_step = 1e-3,
#ifdef LIMITED
    .max_step = 5e-3,
#endif
    .stop = 2,
    .step = 1e-2,
    .start = start,
    .evaluate = evaluate,
#ifndef PLAIN
    .terminal = {"flange",
                 "Modelica.Mechanics.Translational.Interfaces.Flange_a",
                 {{"s", position, false}, {"v", velocity, false}, {"a", acceleration, false}, {"f", force, true}}},
    .partial = partial,
    .rate = rate,
#endif
#ifdef BUSY
    .advance = advance,
#endif
};

const fmu_model* fmu_get_model(void) { return &model; }
