#pragma once

#include "core/hydraulics.hpp"
#include "terms.hpp"
#include "train.hpp"

/// The laws of a valve train, as terms. Every disc of a shaft but its end is told by its angle and speed against the end: what twists keeps its
/// digits, however often the shaft has turned.
namespace mdpcosim::valve_train {

using namespace differentiable;

/// Friction changes its sign over this speed.
inline constexpr double creep = 0.5;  // rad/s

template <class T>
T direction(const T& speed) {
    return speed / root(speed * speed + creep * creep);
}

/// Section of a shaft: z = (theta_a, nu_a, theta_b, nu_b), r = torque on a, less that on b.
struct torsion {
    static constexpr std::size_t variables = 4, inputs = 0, results = 1;
    double stiffness, damping;

    template <class T>
    void operator()(const T* z, const T*, T* r) const {
        r[0] = stiffness * (z[2] - z[0]) + damping * (z[3] - z[1]);
    }
    double energy(const double* z) const { return stiffness / 2 * (z[2] - z[0]) * (z[2] - z[0]); }
};

/// z = (w of the end, nu), r = torque on the disc.
struct bearing {
    static constexpr std::size_t variables = 2, inputs = 0, results = 1;
    double friction, drag;

    template <class T>
    void operator()(const T* z, const T*, T* r) const {
        const T w = z[0] + z[1];
        r[0] = -friction * direction(w) - drag * w;
    }
    double energy(const double*) const { return 0; }
};

/// z = (phi, w of the end, theta, nu of the disc, y, y'), r = (force on the follower, torque on the disc, lift).
struct cam_contact {
    static constexpr std::size_t variables = 6, inputs = 0, results = 3;
    const lift_law* law;
    double angle, stiffness, damping, friction, base_radius;

    template <class T>
    void operator()(const T* z, const T*, T* r) const {
        const T w = z[1] + z[3];
        const lift_of<T> cam = lift(*law, T(z[0] + z[2] - angle));
        r[0] = contact_force(T(cam.h - z[4]), T(cam.slope * w - z[5]), stiffness, damping);
        r[1] = -(r[0] * cam.slope);
        if (friction > 0) r[1] = r[1] - friction * r[0] * (base_radius + cam.h) * direction(w);
        r[2] = cam.h;
    }
    double energy(const double* z) const {
        const double depth = positive(law->at(z[0] + z[2] - angle).h - z[4]);
        return stiffness / 2 * depth * depth;
    }
};

/// z = (v), r = force.
struct drag {
    static constexpr std::size_t variables = 1, inputs = 0, results = 1;
    double damping;

    template <class T>
    void operator()(const T* z, const T*, T* r) const {
        r[0] = -damping * z[0];
    }
    double energy(const double*) const { return 0; }
};

/// What pushes a valve against the valve: z = (a, a', x, x'), depth = ratio a - lash - x, r = force on the valve.
struct tip_contact {
    static constexpr std::size_t variables = 4, inputs = 0, results = 1;
    double ratio, lash, stiffness, damping;

    template <class T>
    void operator()(const T* z, const T*, T* r) const {
        r[0] = contact_force(T(ratio * z[0] - lash - z[2]), T(ratio * z[1] - z[3]), stiffness, damping);
    }
    double energy(const double* z) const {
        const double depth = positive(ratio * z[0] - lash - z[2]);
        return stiffness / 2 * depth * depth;
    }
};

/// z = (x, x'), u = load that closes the valve, r = (force of the seat, load).
struct seat_contact {
    static constexpr std::size_t variables = 2, inputs = 1, results = 2;
    double stiffness, damping;

    template <class T>
    void operator()(const T* z, const T* u, T* r) const {
        r[0] = contact_force(T(-z[0]), T(-z[1]), stiffness, damping);
        r[1] = -u[0];
    }
    double energy(const double* z) const { return stiffness / 2 * positive(-z[0]) * positive(-z[0]); }
};

/// A part of a spring between two of its masses: z = (a, a', b, b'), r = (force on b, less that on a; what of it is of coils that touch).
/// At the ends it lies on plates, on which it cannot pull.
struct coil {
    static constexpr std::size_t variables = 4, inputs = 0, results = 2;
    double preload, stiffness, damping, travel, contact_stiffness, contact_damping;
    bool at_end;

    template <class T>
    void operator()(const T* z, const T*, T* r) const {
        const T closer = z[0] - z[2], rate = z[1] - z[3];
        r[1] = contact_force(T(closer - travel), rate, contact_stiffness, contact_damping);
        const T wire = preload + stiffness * closer + damping * rate;
        r[0] = (at_end ? positive(wire) : wire) + r[1];
    }
    double energy(const double* z) const {
        const double closer = z[0] - z[2], depth = positive(closer - travel);
        return (preload + stiffness / 2 * closer) * closer + contact_stiffness / 2 * depth * depth;
    }
};

/// An adjuster: z = (y, y', z, z', e, and of a ball with mass b, b'), u = pressure of the gallery. s = z - i y is how far the plunger stands out.
///     r = (force between plunger and follower, e', flow from the gallery, pressure, leak, void, and the force on the ball)
template <bool HasBall>
struct adjuster_law {
    static constexpr std::size_t variables = HasBall ? 7 : 5, inputs = 1, results = HasBall ? 7 : 6;
    const adjuster_data* a;
    const hydraulics::compressible* oil;
    hydraulics::surroundings around;
    double ratio;
    const char* shut;  ///< not zero: nothing flows in or out, while the start is sought

    template <class T>
    void operator()(const T* z, const T* u, T* r) const {
        const T s = z[2] - ratio * z[0], rate = z[3] - ratio * z[1];
        const T volume = a->volume + a->area * s;
        r[3] = pressure(T(z[4] / volume));
        const T dp = u[0] - r[3];
        r[2] = hydraulics::orifice_flow(T(a->opening * ball_lift(z, dp)), a->discharge, dp, around);
        r[4] = a->leak * (r[3] - around.ambient);
        r[1] = (*shut != 0 ? T(0) : T(r[2] - r[4])) - a->area * rate;
        r[0] = a->area * (r[3] - around.ambient) + a->preload - a->stiffness * s +
               stop_force(s, rate, -a->inwards, a->outwards, a->stop_stiffness, a->contact_damping);
        r[5] = positive(T(oil->strain_vapour * volume - z[4]));
        if constexpr (HasBall)
            r[6] = a->seat_area * dp - a->ball_stiffness * z[5] - a->ball_preload - a->ball_drag * z[6] +
                   stop_force(z[5], z[6], 0, a->stroke, a->ball_contact, a->contact_damping);
    }
    double energy(const double* z) const {
        const double s = z[2] - ratio * z[0];
        double sum = (a->stiffness / 2 * s - a->preload) * s + stops(s, -a->inwards, a->outwards, a->stop_stiffness);
        if constexpr (HasBall)
            sum += (a->ball_preload + a->ball_stiffness / 2 * z[5]) * z[5] + stops(z[5], 0, a->stroke, a->ball_contact);
        return sum;
    }

   private:
    /// A ball without mass is where spring and pressure hold it.
    template <class T>
    T ball_lift(const T* z, const T& dp) const {
        if constexpr (HasBall)
            return positive(z[5]);
        else
            return limited(T((a->seat_area * dp - a->ball_preload) / a->ball_stiffness), 0, a->stroke);
    }
    double pressure(double strain) const { return oil->pressure_or_void(strain).p; }
    template <std::size_t N>
    dual<N> pressure(const dual<N>& strain) const {
        const auto [p, slope] = oil->pressure_or_void(strain.v);
        return strain.with(p, slope);
    }
    dependence pressure(const dependence& strain) const { return strain; }
    static double stops(double s, double low, double high, double stiffness) {
        const double in = positive(low - s), out = positive(s - high);
        return stiffness / 2 * (in * in + out * out);
    }
};

/// What a port puts on a disc.
struct applied {
    static constexpr std::size_t variables = 1, inputs = 1, results = 1;

    template <class T>
    void operator()(const T*, const T* u, T* r) const {
        r[0] = u[0];
    }
    double energy(const double*) const { return 0; }
};

}  // namespace mdpcosim::valve_train
