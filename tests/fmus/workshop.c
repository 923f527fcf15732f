/* A rotor in the units of a workshop: angle in deg, speed in rpm, torque in kN.m, temperature in degC; the friction's heat
 * warms it. The model structure does not say what depends on what. */
#include "fmu.h"

enum {
    time,
    torque,
    moment_of_inertia,
    phi0,
    n0,
    friction,
    angle,
    speed,
    temperature,
    d_angle,
    d_speed,
    d_temperature
};

static const double degrees_per_turn = 360, seconds_per_minute = 60, pi = 3.14159265358979323846;

static void start(fmu* m) {
    *fmu_real(m, angle) = *fmu_real(m, phi0);
    *fmu_real(m, speed) = *fmu_real(m, n0);
    *fmu_real(m, temperature) = 20;
}

static void evaluate(fmu* m) {
    const double w = *fmu_real(m, speed) * 2 * pi / seconds_per_minute;
    *fmu_real(m, d_angle) = *fmu_real(m, speed) * degrees_per_turn / seconds_per_minute;
    *fmu_real(m, d_speed) = (1000 * *fmu_real(m, torque) - *fmu_real(m, friction) * w) /
                            *fmu_real(m, moment_of_inertia) * seconds_per_minute / (2 * pi);
    *fmu_real(m, d_temperature) = *fmu_real(m, friction) * w * w / 500;
}

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"shaft.tau", "torque on the rotor", fmu_float64, fmu_input, .start = "0", .unit = "kN.m"},
    {"J", "moment of inertia", fmu_float64, fmu_parameter, fmu_fixed, "1", "kg.m2"},
    {"phi0", "angle at the start", fmu_float64, fmu_parameter, fmu_fixed, "0", "deg"},
    {"n0", "speed at the start", fmu_float64, fmu_parameter, fmu_fixed, "0", "rpm"},
    {"d", "damping against the ground", fmu_float64, fmu_parameter, fmu_fixed, "0", "N.m.s/rad"},
    {"shaft.phi", "angle", fmu_float64, fmu_output, .unit = "deg"},
    {"shaft.n", "speed", fmu_float64, fmu_output, .unit = "rpm"},
    {"T", "temperature", fmu_float64, fmu_local, .unit = "degC"},
    {"der(shaft.phi)", "derivative of the angle", fmu_float64, fmu_local, .unit = "deg/s", .derivative_of = angle},
    {"der(shaft.n)", "derivative of the speed", fmu_float64, fmu_local, .unit = "rpm/s", .derivative_of = speed},
    {"der(T)", "derivative of the temperature", fmu_float64, fmu_local, .unit = "K/s", .derivative_of = temperature},
};

static const fmu_model model = {
    .name = NAME,
    .description = "rotor in units of a workshop",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities = fmu_saves,
    .internal_step = 1e-3,
    .stop = 1,
    .step = 1e-2,
    .start = start,
    .evaluate = evaluate,
};

const fmu_model* fmu_get_model(void) { return &model; }
