/* A mass on a spring against the ground, m x'' = F - c x - d v, as a program with functions that the library calls. */
#include <stdio.h>

#include "mdpcosim/mdpcosim_subsystem.h"

typedef struct body {
    double inverse_mass, stiffness, damping, x0, v0;
    double state[2]; /* x, v */
    int force, position, velocity, acceleration;
} body;

static double acceleration(const body* b, const double* x, double force) {
    return (force - b->stiffness * x[0] - b->damping * x[1]) * b->inverse_mass;
}

static int initialise(void* own, double t0) {
    body* b = own;
    (void)t0;
    b->state[0] = b->x0;
    b->state[1] = b->v0;
    return 0;
}

/* One step of the classical Runge-Kutta method. */
static int advance(void* own, double t0, double t1) {
    body* b = own;
    const double h = t1 - t0, after[4] = {0, 0.5 * h, 0.5 * h, h}, reach[4] = {0.5 * h, 0.5 * h, h, 0},
                 weight[4] = {1, 2, 2, 1};
    double sum[2] = {0, 0}, z[2] = {b->state[0], b->state[1]};
    int stage, i;
    for (stage = 0; stage < 4; ++stage) {
        const double k[2] = {z[1], acceleration(b, z, mdpcosim_subsystem_input_after(b->force, after[stage]))};
        for (i = 0; i < 2; ++i) {
            sum[i] += weight[stage] * k[i];
            z[i] = b->state[i] + reach[stage] * k[i];
        }
    }
    for (i = 0; i < 2; ++i) b->state[i] += h / 6 * sum[i];
    return 0;
}

static int outputs(void* own, double t) {
    const body* b = own;
    mdpcosim_subsystem_set_output(b->position, b->state[0]);
    mdpcosim_subsystem_set_output(b->velocity, b->state[1]);
    mdpcosim_subsystem_set_output(b->acceleration, acceleration(b, b->state, mdpcosim_subsystem_input_at(b->force, t)));
    return 0;
}

static size_t save_size(void* own) { return sizeof ((body*)own)->state; }
static int save(void* own, void* into) {
    const body* b = own;
    ((double*)into)[0] = b->state[0];
    ((double*)into)[1] = b->state[1];
    return 0;
}
static int restore(void* own, const void* from) {
    body* b = own;
    b->state[0] = ((const double*)from)[0];
    b->state[1] = ((const double*)from)[1];
    return 0;
}

int main(void) {
    static body b;
    const mdpcosim_subsystem_calls calls = {initialise, advance, outputs, save_size, save, restore};
    double mass;
    if (mdpcosim_subsystem_open() != 0) {
        fprintf(stderr, "mass: %s\n", mdpcosim_subsystem_message());
        return 2;
    }
    mass = mdpcosim_subsystem_parameter("mass", "kg", 1, "mass m");
    if (!(mass > 0)) return mdpcosim_subsystem_fail("parameter 'mass' must be greater than zero.") != 0;
    b.inverse_mass = 1 / mass;
    b.stiffness = mdpcosim_subsystem_parameter("stiffness", "N/m", 0, "stiffness c");
    b.damping = mdpcosim_subsystem_parameter("damping", "N.s/m", 0, "damping d");
    b.x0 = mdpcosim_subsystem_parameter("x0", "m", 0, "position at the start");
    b.v0 = mdpcosim_subsystem_parameter("v0", "m/s", 0, "velocity at the start");
    b.force = mdpcosim_subsystem_input("mass.force", "N", 1, "force on the mass");
    b.position = mdpcosim_subsystem_output("mass.position", "m", 1, NULL);
    b.velocity = mdpcosim_subsystem_output("mass.velocity", "m/s", 1, NULL);
    b.acceleration = mdpcosim_subsystem_output("mass.acceleration", "m/s2", 1, NULL);
    mdpcosim_subsystem_rate(b.position, b.velocity);
    mdpcosim_subsystem_rate(b.velocity, b.acceleration);
    mdpcosim_subsystem_direct(b.acceleration, b.force);
    mdpcosim_subsystem_port("mass", "translation", NULL, NULL, "the mass");
    return mdpcosim_subsystem_run(&calls, &b) == 0 ? 0 : 1;
}
