/* x' = -k x + u by its exact solution, saved and restored, compiled with the interface of before. */
#include <math.h>

#include "before/mdpcosim_subsystem.h"

typedef struct decay {
    double k, x;
    int u, y;
} decay;

static int initialise(void* own, double t0) {
    (void)t0;
    ((decay*)own)->x = 1;
    return 0;
}
static int advance(void* own, double t0, double t1) {
    decay* d = own;
    const double u = mdpcosim_subsystem_input_after(d->u, (t1 - t0) / 2), rest = u / d->k;
    d->x = rest + (d->x - rest) * exp(-d->k * (t1 - t0));
    return 0;
}
static int outputs(void* own, double t) {
    (void)t;
    return mdpcosim_subsystem_set_output(((decay*)own)->y, ((decay*)own)->x);
}
static size_t save_size(void* own) {
    (void)own;
    return sizeof(double);
}
static int save(void* own, void* into) {
    *(double*)into = ((decay*)own)->x;
    return 0;
}
static int restore(void* own, const void* from) {
    ((decay*)own)->x = *(const double*)from;
    return 0;
}

int main(void) {
    decay d = {0};
    const mdpcosim_subsystem_calls calls = {initialise, advance, outputs, save_size, save, restore};
    mdpcosim_subsystem_open();
    d.k = mdpcosim_subsystem_parameter("k", "1/s", 2, "rate");
    d.u = mdpcosim_subsystem_input("u", "1", 1, "inflow");
    mdpcosim_subsystem_max_degree(d.u, 0);
    d.y = mdpcosim_subsystem_output("x", "1", 1, "content");
    return mdpcosim_subsystem_run(&calls, &d);
}
