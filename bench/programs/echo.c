/* The echo of bench/transport.cpp as a program. */
#include "mdpcosim/mdpcosim_subsystem.h"

static int u, y;
static double last;

static int advance(void* own, double t0, double t1) {
    (void)own, (void)t0, (void)t1;
    last = mdpcosim_subsystem_polynomial(u)[0];
    return 0;
}

static int outputs(void* own, double t) {
    (void)own, (void)t;
    return mdpcosim_subsystem_set_output(y, last);
}

int main(void) {
    const mdpcosim_subsystem_calls calls = {0, advance, outputs, 0, 0, 0};
    mdpcosim_subsystem_open();
    u = mdpcosim_subsystem_input("u", 0, 1, 0);
    y = mdpcosim_subsystem_output("y", 0, 1, 0);
    return mdpcosim_subsystem_run(&calls, 0) == 0 ? 0 : 1;
}
