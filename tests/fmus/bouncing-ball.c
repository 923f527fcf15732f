/* A ball that falls on the ground at h = 0: h'' = -g; at an impact v becomes -e v; below v_min it stays on the ground.
 * Impacts are state events. Co-simulation solves every arc exactly. */
#include <float.h>
#include <math.h>

#include "fmu.h"

enum { time, g, e, v_min, h0, v0, h, v, a, distance, resting, impacts };

static void start(fmu* m) {
    *fmu_real(m, h) = *fmu_real(m, h0);
    *fmu_real(m, v) = *fmu_real(m, v0);
    *fmu_integer(m, resting) = 0;
    *fmu_integer(m, impacts) = 0;
}

static void evaluate(fmu* m) {
    *fmu_real(m, a) = *fmu_integer(m, resting) ? 0 : -*fmu_real(m, g);
    *fmu_real(m, distance) = *fmu_integer(m, resting) ? 1 : *fmu_real(m, h);
}

static void update(fmu* m, fmu_update* info) {
    if (*fmu_integer(m, resting) || *fmu_real(m, h) > 0 || *fmu_real(m, v) >= 0) return;
    const double speed = -*fmu_real(m, e) * *fmu_real(m, v);
    *fmu_integer(m, impacts) += 1;
    *fmu_integer(m, resting) = speed < *fmu_real(m, v_min);
    *fmu_real(m, v) = *fmu_integer(m, resting) ? 0 : speed;
    /* The indicator must be positive at once, or leaving the ground would be another event. */
    *fmu_real(m, h) = *fmu_integer(m, resting) ? 0 : DBL_MIN;
    info->states_changed = true;
}

static double advance(fmu* m, double target, bool* event) {
    if (*fmu_integer(m, resting)) return target;
    const double now = m->state->time, gravity = *fmu_real(m, g), height = *fmu_real(m, h), speed = *fmu_real(m, v);
    const double impact = now + (speed + sqrt(speed * speed + 2 * gravity * height)) / gravity;
    *event = impact <= target;
    const double reached = *event ? impact : target, s = reached - now;
    *fmu_real(m, h) = *event ? 0 : height + s * (speed - gravity * s / 2);
    *fmu_real(m, v) = speed - gravity * s;
    return reached;
}

static const fmu_variable variables[] = {
    {"time", "time", fmu_float64, fmu_independent, .unit = "s"},
    {"g", "gravity", fmu_float64, fmu_parameter, fmu_fixed, "9.81", "m/s2"},
    {"e", "coefficient of restitution", fmu_float64, fmu_parameter, fmu_tunable, "0.7"},
    {"v_min", "speed below which the ball stays on the ground", fmu_float64, fmu_parameter, fmu_fixed, "0.1", "m/s"},
    {"h0", "height at the start", fmu_float64, fmu_parameter, fmu_fixed, "1", "m"},
    {"v0", "velocity at the start, upwards", fmu_float64, fmu_parameter, fmu_fixed, "0", "m/s"},
    {"h", "height", fmu_float64, fmu_output, .unit = "m", .dependencies = "6", .kinds = "constant",
     .initial_dependencies = "4", .reinit = true},
    {"v", "velocity, upwards", fmu_float64, fmu_output, .unit = "m/s", .derivative_of = h, .dependencies = "7",
     .kinds = "constant", .initial_dependencies = "5", .reinit = true},
    {"a", "acceleration", fmu_float64, fmu_local, .unit = "m/s2", .derivative_of = v, .dependencies = "",
     .initial_dependencies = "1"},
    {"distance", "event indicator: the height while the ball flies", fmu_float64, fmu_local, .unit = "m",
     .dependencies = "6"},
    {"resting", "whether the ball stays on the ground", fmu_boolean, fmu_output, fmu_discrete, .dependencies = "",
     .initial_dependencies = ""},
    {"impacts", "impacts so far", fmu_int32, fmu_output, fmu_discrete, .dependencies = "", .initial_dependencies = ""},
};

static const fmu_model model = {
    .name = NAME,
    .description = "ball that bounces and comes to rest",
    .variables = variables,
    .variable_count = sizeof variables / sizeof *variables,
    .capabilities = fmu_saves | fmu_event_mode | fmu_early_return,
    .internal_step = 1e-3,
    .stop = 3,
    .step = 1e-2,
    .indicators = {distance},
    .start = start,
    .evaluate = evaluate,
    .update = update,
    .advance = advance,
};

const fmu_model* fmu_get_model(void) { return &model; }
