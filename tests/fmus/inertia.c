/* A rigid rotor: J phi'' = T - d w. The operations have the order of the native model inertia. */
#include "fmu.h"

enum { time, torque, moment_of_inertia, damping, phi0, w0, angle, speed, acceleration };

static void start(fmu* m) {
    *fmu_real(m, angle) = *fmu_real(m, phi0);
    *fmu_real(m, speed) = *fmu_real(m, w0);
}

static void evaluate(fmu* m) {
    *fmu_real(m, acceleration) =
        (*fmu_real(m, torque) - *fmu_real(m, damping) * *fmu_real(m, speed)) * (1 / *fmu_real(m, moment_of_inertia));
}

static double partial(fmu* m, unsigned unknown, unsigned known) {
    if (unknown != acceleration) return unknown == known;
    const double inverse_inertia = 1 / *fmu_real(m, moment_of_inertia);
    if (known == torque) return inverse_inertia;
    return known == speed ? -*fmu_real(m, damping) * inverse_inertia : 0;
}

static double rate(fmu* m, unsigned output) {
    if (output == angle) return *fmu_real(m, speed);
    if (output == speed) return *fmu_real(m, acceleration);
    return (fmu_input_rate(m, torque) - *fmu_real(m, damping) * *fmu_real(m, acceleration)) /
           *fmu_real(m, moment_of_inertia);
}

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"tau", "torque on the rotor", fmu_float64, fmu_input, .start = "0", .unit = "N.m"},
    {"J", "moment of inertia", fmu_float64, fmu_parameter, fmu_fixed, "1", "kg.m2"},
    {"d", "damping against the ground", fmu_float64, fmu_parameter, fmu_fixed, "0", "N.m.s/rad"},
    {"phi0", "angle at the start", fmu_float64, fmu_parameter, fmu_fixed, "0", "rad", "deg"},
    {"w0", "speed at the start", fmu_float64, fmu_parameter, fmu_fixed, "0", "rad/s", "rpm"},
    {"phi", "angle", fmu_float64, fmu_output, .unit = "rad", .display_unit = "deg", .dependencies = "6",
     .kinds = "constant", .initial_dependencies = "4"},
    {"w", "speed", fmu_float64, fmu_output, .unit = "rad/s", .display_unit = "rpm", .derivative_of = angle,
     .dependencies = "7", .kinds = "constant", .initial_dependencies = "5"},
    {"a", "acceleration", fmu_float64, fmu_output, .unit = "rad/s2", .derivative_of = speed, .dependencies = "1 7",
     .kinds = "fixed fixed", .initial_dependencies = "1 2 3 5"},
};

static const fmu_model model = {
    .name = NAME,
    .description = "rigid rotor",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities =
        fmu_saves | fmu_derives | fmu_gives_rates | fmu_takes_rates | fmu_intermediate_update | fmu_early_return,
    .internal_step = 1e-3,
    .stop = 1,
    .step = 1e-3,
    .terminal = {"shaft",
                 "Modelica.Mechanics.Rotational.Interfaces.Flange_a",
                 {{"phi", angle, false}, {"w", speed, false}, {"a", acceleration, false}, {"tau", torque, true}}},
    .start = start,
    .evaluate = evaluate,
    .partial = partial,
    .rate = rate,
};

const fmu_model* fmu_get_model(void) { return &model; }
