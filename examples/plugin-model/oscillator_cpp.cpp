// m x'' = F - c x - d x' as equations with their Jacobian, in C++20: mdpcosim integrates them.
#include <iterator>

#include "mdpcosim/plugin.h"

namespace {

constexpr mdpcosim_parameter parameters[] = {
    {"mass", "kg", "mass m", 1, MDPCOSIM_POSITIVE},
    {"stiffness", "N/m", "stiffness c", 0, MDPCOSIM_NOT_NEGATIVE},
    {"damping", "N.s/m", "damping d", 0, MDPCOSIM_NOT_NEGATIVE},
    {"x0", "m", "position at the start", 0, MDPCOSIM_ANY},
    {"v0", "m/s", "velocity at the start", 0, MDPCOSIM_ANY},
};
constexpr mdpcosim_input inputs[] = {{.name = "mass.force", .unit = "N"}};
constexpr mdpcosim_output outputs[] = {
    {.name = "mass.position", .unit = "m", .rate = "mass.velocity"},
    {.name = "mass.velocity", .unit = "m/s", .rate = "mass.acceleration"},
    {.name = "mass.acceleration", .unit = "m/s2", .direct = "mass.force"},
};
constexpr mdpcosim_port ports[] = {{.name = "mass", .kind = "translation"}};

struct oscillator {
    double inverse_mass, c, d, x0, v0;

    double acceleration(const double* x, const double* u) const { return (u[0] - c * x[0] - d * x[1]) * inverse_mass; }
};

const oscillator& model(void* instance) { return *static_cast<const oscillator*>(instance); }

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
    .state_count = 2,

    .create = [](const double* p, char*) -> void* {
        return new oscillator{1 / p[0], p[1], p[2], p[3], p[4]};
    },
    .destroy = [](void* instance) { delete static_cast<oscillator*>(instance); },
    .initialise =
        [](void* instance, double, double* x) {
            x[0] = model(instance).x0;
            x[1] = model(instance).v0;
            return 0;
        },
    .output_values =
        [](void* instance, double, const double* x, const double* u, double* y) {
            y[0] = x[0];
            y[1] = x[1];
            y[2] = model(instance).acceleration(x, u);
            return 0;
        },
    .derivatives =
        [](void* instance, double, const double* x, const double* u, double* dx) {
            dx[0] = x[1];
            dx[1] = model(instance).acceleration(x, u);
            return 0;
        },
    .jacobian =
        [](void* instance, double, const double*, const double*, double* dfdx) {
            const oscillator& o = model(instance);
            dfdx[0] = 0, dfdx[1] = -o.c * o.inverse_mass;
            dfdx[2] = 1, dfdx[3] = -o.d * o.inverse_mass;
            return 0;
        },
};

}  // namespace

const mdpcosim_plugin* mdpcosim_plugin_entry(int) { return &plugin; }
