/* m x'' = F - c x - d x' as equations, in C: mdpcosim integrates them. */
#include <stdlib.h>

#include "mdpcosim/plugin.h"

#define COUNT(list) (int)(sizeof(list) / sizeof(*(list)))

static const mdpcosim_parameter parameters[] = {
    {"mass", "kg", "mass m", 1, MDPCOSIM_POSITIVE},
    {"stiffness", "N/m", "stiffness c", 0, MDPCOSIM_NOT_NEGATIVE},
    {"damping", "N.s/m", "damping d", 0, MDPCOSIM_NOT_NEGATIVE},
    {"x0", "m", "position at the start", 0, MDPCOSIM_ANY},
    {"v0", "m/s", "velocity at the start", 0, MDPCOSIM_ANY},
};
static const mdpcosim_input inputs[] = {{.name = "mass.force", .unit = "N"}};
static const mdpcosim_output outputs[] = {
    {.name = "mass.position", .unit = "m", .rate = "mass.velocity"},
    {.name = "mass.velocity", .unit = "m/s", .rate = "mass.acceleration"},
    {.name = "mass.acceleration", .unit = "m/s2", .direct = "mass.force"},
};
static const mdpcosim_port ports[] = {{.name = "mass", .kind = "translation"}};

typedef struct oscillator {
    double inverse_mass, c, d, x0, v0;
} oscillator;

static double acceleration(const oscillator* o, const double* x, const double* u) {
    return (u[0] - o->c * x[0] - o->d * x[1]) * o->inverse_mass;
}

static void* create(const double* p, char* message) {
    oscillator* o = malloc(sizeof *o);
    (void)message;
    if (o != NULL) *o = (oscillator){1 / p[0], p[1], p[2], p[3], p[4]};
    return o;
}

static int initialise(void* instance, double t0, double* x) {
    const oscillator* o = instance;
    (void)t0;
    x[0] = o->x0;
    x[1] = o->v0;
    return 0;
}

static int derivatives(void* instance, double t, const double* x, const double* u, double* dx) {
    (void)t;
    dx[0] = x[1];
    dx[1] = acceleration(instance, x, u);
    return 0;
}

static int output_values(void* instance, double t, const double* x, const double* u, double* y) {
    (void)t;
    y[0] = x[0];
    y[1] = x[1];
    y[2] = acceleration(instance, x, u);
    return 0;
}

const mdpcosim_plugin* mdpcosim_plugin_entry(int version) {
    static const mdpcosim_plugin plugin = {
        .layout = MDPCOSIM_LAYOUT,
        .inputs = inputs,
        .outputs = outputs,
        .ports = ports,
        .parameters = parameters,
        .input_count = COUNT(inputs),
        .output_count = COUNT(outputs),
        .port_count = COUNT(ports),
        .parameter_count = COUNT(parameters),
        .state_count = 2,
        .create = create,
        .destroy = free,
        .initialise = initialise,
        .output_values = output_values,
        .derivatives = derivatives,
    };
    (void)version;
    return &plugin;
}
