/* x' = -k x + u by its exact solution, saved and restored; k changes between steps. */
#include <math.h>
#include <stdlib.h>

#include "mdpcosim/plugin.h"

typedef struct decay {
    double k, x;
} decay;

static void* create(const double* parameters, char* message) {
    decay* made = malloc(sizeof *made);
    (void)message;
    made->k = parameters[0];
    return made;
}
static void destroy(void* instance) { free(instance); }
static int initialise(void* instance, double t0, double* x) {
    (void)t0, (void)x;
    ((decay*)instance)->x = 1;
    return 0;
}
static int output_values(void* instance, double t, const double* x, const double* u, double* y) {
    (void)t, (void)x, (void)u;
    y[0] = ((decay*)instance)->x;
    return 0;
}
static int advance(void* instance, double t0, double t1, const double* inputs) {
    decay* d = instance;
    const double u = mdpcosim_input_value(inputs, 0, (t1 - t0) / 2), rest = u / d->k;
    d->x = rest + (d->x - rest) * exp(-d->k * (t1 - t0));
    return 0;
}
static size_t save_size(void* instance) {
    (void)instance;
    return sizeof(double);
}
static int save(void* instance, void* into) {
    *(double*)into = ((decay*)instance)->x;
    return 0;
}
static int restore(void* instance, const void* from) {
    ((decay*)instance)->x = *(const double*)from;
    return 0;
}

static int set_parameter(void* instance, int parameter, double value) {
    (void)parameter;
    if (!(value > 0)) return 1;
    ((decay*)instance)->k = value;
    return 0;
}

static const mdpcosim_input inputs[] = {{"u", "1", "inflow", 1, MDPCOSIM_CONSTANT, 0, MDPCOSIM_REAL}};
static const mdpcosim_output outputs[] = {{"x", "1", "content", 1, NULL, NULL, MDPCOSIM_REAL}};
static const mdpcosim_parameter parameters[] = {{"k", "1/s", "rate", 2, MDPCOSIM_POSITIVE}};
static const mdpcosim_plugin table = {.layout = MDPCOSIM_LAYOUT,
                                      .inputs = inputs,
                                      .outputs = outputs,
                                      .parameters = parameters,
                                      .input_count = 1,
                                      .output_count = 1,
                                      .parameter_count = 1,
                                      .create = create,
                                      .destroy = destroy,
                                      .initialise = initialise,
                                      .output_values = output_values,
                                      .advance = advance,
                                      .save_size = save_size,
                                      .save = save,
                                      .restore = restore,
                                      .set_parameter = set_parameter};

const mdpcosim_plugin* mdpcosim_plugin_entry(int version) { return version == MDPCOSIM_PLUGIN_VERSION ? &table : NULL; }
