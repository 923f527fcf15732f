// m x'' = F - c x - d x' with a solver of its own, in C++20: the classical Runge-Kutta method with micro steps of at most
// `step`. The state lives in the instance; save and restore make trial steps possible.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "mdpcosim/plugin.h"

namespace {

constexpr mdpcosim_parameter parameters[] = {
    {"mass", "kg", "mass m", 1, MDPCOSIM_POSITIVE},
    {"stiffness", "N/m", "stiffness c", 0, MDPCOSIM_NOT_NEGATIVE},
    {"damping", "N.s/m", "damping d", 0, MDPCOSIM_NOT_NEGATIVE},
    {"x0", "m", "position at the start", 0, MDPCOSIM_ANY},
    {"v0", "m/s", "velocity at the start", 0, MDPCOSIM_ANY},
    {"step", "s", "largest micro step", 1e-3, MDPCOSIM_POSITIVE},
};
constexpr mdpcosim_input inputs[] = {{.name = "mass.force", .unit = "N"}};
constexpr mdpcosim_output outputs[] = {
    {.name = "mass.position", .unit = "m", .rate = "mass.velocity"},
    {.name = "mass.velocity", .unit = "m/s", .rate = "mass.acceleration"},
    {.name = "mass.acceleration", .unit = "m/s2", .direct = "mass.force"},
};
constexpr mdpcosim_port ports[] = {{.name = "mass", .kind = "translation"}};

struct state {
    double x, v;
};

struct oscillator {
    double m, c, d, step;
    state start, now;
    char* message;

    state rate(state s, double force) const { return {s.v, (force - c * s.x - d * s.v) / m}; }

    int advance(double t0, double t1, const double* force) {
        const double n = std::max(1.0, std::ceil((t1 - t0) / step - 1e-9)), h = (t1 - t0) / n;
        const auto at = [](state s, state k, double f) { return state{s.x + f * k.x, s.v + f * k.v}; };
        for (double i = 0; i < n; ++i) {
            const double begin = mdpcosim_input_value(force, 0, i * h),
                         middle = mdpcosim_input_value(force, 0, (i + 0.5) * h),
                         end = mdpcosim_input_value(force, 0, (i + 1) * h);
            const state k1 = rate(now, begin), k2 = rate(at(now, k1, h / 2), middle),
                        k3 = rate(at(now, k2, h / 2), middle), k4 = rate(at(now, k3, h), end);
            now.x += h / 6 * (k1.x + 2 * k2.x + 2 * k3.x + k4.x);
            now.v += h / 6 * (k1.v + 2 * k2.v + 2 * k3.v + k4.v);
        }
        if (std::isfinite(now.x)) return 0;
        std::snprintf(message, MDPCOSIM_MESSAGE_SIZE, "the position became %g; take a smaller 'step' than %g s", now.x,
                      step);
        return 1;
    }
};

oscillator& model(void* instance) { return *static_cast<oscillator*>(instance); }

constexpr mdpcosim_plugin plugin = {
    .layout = MDPCOSIM_LAYOUT,
    .inputs = inputs,
    .outputs = outputs,
    .ports = ports,
    .parameters = parameters,
    .input_count = std::size(inputs),
    .output_count = std::size(outputs),
    .port_count = std::size(ports),
    .parameter_count = std::size(parameters),

    .create = [](const double* p, char* message) -> void* {
        return new oscillator{p[0], p[1], p[2], p[5], {p[3], p[4]}, {}, message};
    },
    .destroy = [](void* instance) { delete static_cast<oscillator*>(instance); },
    .initialise =
        [](void* instance, double, double*) {
            model(instance).now = model(instance).start;
            return 0;
        },
    .output_values =
        [](void* instance, double, const double*, const double* u, double* y) {
            const state now = model(instance).now;
            y[0] = now.x;
            y[1] = now.v;
            y[2] = model(instance).rate(now, u[0]).v;
            return 0;
        },
    .advance = [](void* instance, double t0, double t1,
                  const double* force) { return model(instance).advance(t0, t1, force); },
    .save_size = [](void*) { return sizeof(state); },
    .save =
        [](void* instance, void* into) {
            *static_cast<state*>(into) = model(instance).now;
            return 0;
        },
    .restore =
        [](void* instance, const void* from) {
            model(instance).now = *static_cast<const state*>(from);
            return 0;
        },
};

}  // namespace

const mdpcosim_plugin* mdpcosim_plugin_entry(int) { return &plugin; }
