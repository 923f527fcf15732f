// Fails on demand: in function `where`, from time `when` on, in the manner `how`. x' = u and a bouncing ball's worth of events.
// Compiled as equations; with OWN_SOLVER with a solver of its own; with NO_SAVE also without save and restore.
#include "plugin/test/plugins/faulty.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>

#include "mdpcosim/plugin.h"
#include "support/commit_fault.h"

namespace {

using namespace mdpcosim::test;

constexpr mdpcosim_parameter parameters[] = {
    {"where", "1", "function that fails", 0, MDPCOSIM_ANY},
    {"how", "1", "how it fails", 0, MDPCOSIM_ANY},
    {"when", "s", "from this time on", 0, MDPCOSIM_ANY},
    {"needed", "m", "has to be set", std::numeric_limits<double>::quiet_NaN(), MDPCOSIM_POSITIVE},
};
constexpr mdpcosim_input inputs[] = {{"u", "m/s", nullptr, 0, 2, 0, MDPCOSIM_REAL}};
constexpr mdpcosim_output outputs[] = {{"x", "m", nullptr, 0, nullptr, nullptr, MDPCOSIM_REAL}};

struct model {
    fault_place where;
    fault how;
    double when;
    char* message;
    double x = 1;
    double t = 0;
};

model& self(void* instance) { return *static_cast<model*>(instance); }

/// Recursion as deep as `depth`, which is deeper than any stack.
int bottomless(long depth) {
    volatile char room[4096];
    room[depth % 4096] = 1;
    return depth == 0 ? 0 : bottomless(depth - 1) + room[0];
}

/// The status to return; `result` becomes NaN where that is the fault.
int failing(const model& m, fault_place place, double t, double* result = nullptr) {
    if (m.where != place || t < m.when) return 0;
    note_fault_moment();
    switch (m.how) {
        case fault::none:
            return 0;
        case fault::segv:
            *static_cast<volatile int*>(nullptr) = 1;
            return 0;
        case fault::fpe:
            std::raise(SIGFPE);
            return 0;
        case fault::abort:
            std::abort();
        case fault::stack:
            return bottomless(1L << 40);
        case fault::message:
            std::snprintf(m.message, MDPCOSIM_MESSAGE_SIZE, "no licence for %g users\n", 3.0);
            return 1;
        case fault::endless_message:
            std::memset(m.message, 'x', MDPCOSIM_MESSAGE_SIZE);
            return 1;
        case fault::no_message:
            return 7;
        case fault::exception:
            throw std::runtime_error("table is empty");
        case fault::odd_exception:
            throw 42;
        case fault::nan:
            if (result != nullptr) *result = std::numeric_limits<double>::quiet_NaN();
            return 0;
        case fault::exit:
            std::fputs("the paper is out\n", stderr);
            std::fflush(stderr);
            _exit(5);
        case fault::hang:
            for (;;) pause();
        case fault::as_told:
            commit_fault();
            return 0;
    }
    return 0;
}

void* create(const double* p, char* message) {
    std::unique_ptr<model> made(new model{static_cast<fault_place>(static_cast<int>(p[0])),
                                          static_cast<fault>(static_cast<int>(p[1])), p[2], message});
    return failing(*made, fault_place::create, p[2]) == 0 ? made.release() : nullptr;
}

void destroy(void* instance) {
    const model copy = self(instance);
    delete &self(instance);
    failing(copy, fault_place::destroy, copy.when);
}

int initialise(void* instance, double t0, double* x) {
    if (x == nullptr) x = &self(instance).x;
    *x = 1;
    self(instance).t = t0;
    return failing(self(instance), fault_place::initialise, self(instance).when, x);
}

int output_values(void* instance, double t, const double* x, const double*, double* y) {
    y[0] = x == nullptr ? self(instance).x : x[0];
    return failing(self(instance), fault_place::output_values, t, y);
}

#ifdef OWN_SOLVER

int advance(void* instance, double t0, double t1, const double* u) {
    model& m = self(instance);
    if (t0 != m.t) {
        std::snprintf(m.message, MDPCOSIM_MESSAGE_SIZE, "advance from %.17g s, but the present time is %.17g s", t0,
                      m.t);
        return 1;
    }
    double power = 1;
    for (int k = 0; k < MDPCOSIM_COEFFICIENTS; ++k) m.x += u[k] * (power *= t1 - t0) / (k + 1);
    m.t = t1;
    return failing(m, fault_place::advance, t1, &m.x);
}

[[maybe_unused]] std::size_t save_size(void* instance) {
    failing(self(instance), fault_place::save_size, self(instance).t);
    return 2 * sizeof(double);
}

[[maybe_unused]] int save(void* instance, void* into) {
    const double numbers[] = {self(instance).x, self(instance).t};
    std::memcpy(into, numbers, sizeof numbers);
    return failing(self(instance), fault_place::save, self(instance).t);
}

[[maybe_unused]] int restore(void* instance, const void* from) {
    double numbers[2];
    std::memcpy(numbers, from, sizeof numbers);
    self(instance).x = numbers[0], self(instance).t = numbers[1];
    return failing(self(instance), fault_place::restore, numbers[1]);
}

#else

int derivatives(void* instance, double t, const double*, const double* u, double* dx) {
    dx[0] = u[0];
    return failing(self(instance), fault_place::derivatives, t, dx);
}

int jacobian(void* instance, double t, const double*, const double*, double* dfdx) {
    dfdx[0] = 0;
    return failing(self(instance), fault_place::jacobian, t, dfdx);
}

int event_indicators(void* instance, double t, const double*, const double*, double* z) {
    z[0] = t - 0.25;
    return failing(self(instance), fault_place::event_indicators, t, z);
}

int apply_event(void* instance, int, int, double t, double* x, const double*) {
    x[0] += 1;
    return failing(self(instance), fault_place::apply_event, t, x);
}

int next_time_event(void* instance, double t, double* next) {
    if (t < 0.125) *next = 0.125;
    return failing(self(instance), fault_place::next_time_event, t, next);
}

#endif

constexpr mdpcosim_plugin plugin = [] {
    mdpcosim_plugin p{};
    p.layout = MDPCOSIM_LAYOUT;
    p.inputs = inputs, p.input_count = std::size(inputs);
    p.outputs = outputs, p.output_count = std::size(outputs);
    p.parameters = parameters, p.parameter_count = std::size(parameters);
    p.create = create, p.destroy = destroy, p.initialise = initialise, p.output_values = output_values;
#ifdef OWN_SOLVER
    p.advance = advance;
#ifndef NO_SAVE
    p.save_size = save_size, p.save = save, p.restore = restore;
#endif
#else
    p.state_count = 1, p.event_count = 1;
    p.derivatives = derivatives, p.jacobian = jacobian;
    p.event_indicators = event_indicators, p.apply_event = apply_event, p.next_time_event = next_time_event;
#endif
    return p;
}();

}  // namespace

const mdpcosim_plugin* mdpcosim_plugin_entry(int) { return &plugin; }
