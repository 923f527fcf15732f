#pragma once

#include <fmt/format.h>

#include <numbers>

#include "core/error.hpp"
#include "element.hpp"

/// Parts that have a pressure. Each has one state x, with x' = the sum of the flows in; only a rigid node's is its pressure.
///     node         x = e, the fluid beyond what fills the volume V at the reference pressure:  integral of dp/E from there to p = e/V,
///                  p = the vapour pressure while e < e_v, the e of that pressure: e_v - e is missing, as a void
///     accumulator  x = w, the fluid taken up:  p = p_0 (V_0 / (V_0 - w))^n, and below w = 0, p = p_0 + E w/V_d
///     tank, source, port  x = the volume that flowed in; p constant, of a speed and the time, an input
/// So fluid is neither made nor lost, in a void either: the sum of x + V over all nodes changes by flow sources alone.
namespace mdpcosim::hydraulics {

enum class node_kind { elastic, rigid, tank, source, port, accumulator };
/// Of a stepped modulus: the pressure at the begin of the macro step, its strain and the modulus there.
struct modulus_step {
    double p = 0, strain = 0, E = 0;
};

struct node {
    std::string name;
    location where;
    node_kind kind = node_kind::tank;
    double volume = 0, pressure = 0, dead_volume = 0, exponent = 0, charge = 0;
    double per_speed = 0, speed = 0, most = 0, ripple = 0, frequency = 0;
    int input = -1;  ///< slot of a port's pressure, a source's speed
    int state = -1;
    struct sweep {
        int state;
        double area;
    };
    std::vector<sweep> swept = {};

    bool has_input() const { return kind == node_kind::port || kind == node_kind::source; }
    bool is_elastic() const { return kind == node_kind::elastic; }

    double volume_at(const double* x) const {
        double V = volume;
        for (const auto& s : swept) V += s.area * x[s.state];
        return V;
    }
};

inline pressure_value elastic_pressure(const compressible& f, const modulus_step& step, double strain) {
    if (f.model == modulus_model::stepped) {
        const double p = step.p + step.E * (strain - step.strain);
        return p > f.vapour ? pressure_value{p, step.E} : pressure_value{f.vapour, 0};
    }
    return f.pressure_or_void(strain);
}

/// Where its pressure becomes that of the vapour.
inline double void_strain(const compressible& f, const modulus_step& step) {
    return f.model == modulus_model::stepped ? step.strain + (f.vapour - step.p) / step.E : f.strain_vapour;
}

/// Slope by w.
inline pressure_value accumulator_pressure(const compressible& f, const node& n, double w) {
    if (w < 0) {
        const double stiffness = f.law.a / n.dead_volume, p = n.charge + stiffness * w;
        return p > f.vapour ? pressure_value{p, stiffness} : pressure_value{f.vapour, 0};
    }
    // Iterates may ask for more than there is room: the last thousandth of it has a straight line.
    const double left = std::max(n.volume - w, 1e-3 * n.volume);
    const double p = n.charge * std::pow(n.volume / left, n.exponent), slope = n.exponent * p / left;
    return {p + slope * (left - (n.volume - w)), slope};
}

inline double source_pressure(const node& n, double t, double speed) {
    return std::min(n.pressure + n.per_speed * speed, n.most) +
           n.ripple * std::sin(2 * std::numbers::pi * n.frequency * t);
}

/// The state of that pressure at the start.
inline double state_of_pressure(const compressible& f, const node& n, const double* x) {
    if (n.kind == node_kind::elastic) return n.volume_at(x) * f.strain(n.pressure);
    if (n.kind == node_kind::rigid) return n.pressure;
    if (n.kind != node_kind::accumulator) return 0;
    if (n.pressure < n.charge) return (n.pressure - n.charge) / f.law.a * n.dead_volume;
    return n.volume * (1 - std::pow(n.charge / n.pressure, 1 / n.exponent));
}

inline std::vector<part_info> node_part_kinds() {
    using range = parameter_info::range;
    const parameter_info pressure{"pressure", "Pa", "pressure at the start", 1e5, range::not_negative};
    const auto constant = [](const char* text) {
        return parameter_info{"pressure", "Pa", text, 1e5, range::not_negative};
    };
    return {
        {.kind = "node",
         .summary =
             "elastic node: the pressure of fluid in a volume, with a void where it falls to the vapour pressure",
         .parameters = {{"volume", "m3", "volume V while pistons and phasers stand at zero", 0, range::positive, true},
                        pressure}},
        {.kind = "rigid-node",
         .summary = "node without compression: as much flows in as out; asks for the solver ida",
         .parameters = {{"pressure", "Pa", "first guess of the pressure at the start", 1e5, range::not_negative}}},
        {.kind = "tank", .summary = "constant pressure", .parameters = {constant("pressure")}},
        {.kind = "source",
         .summary = "pressure that grows with a speed, with a ripple over time",
         .parameters = {constant("pressure at standstill"),
                        {"per-speed", "Pa.s/rad", "pressure per speed", 0},
                        {"most", "Pa", "highest pressure that the speed makes", INFINITY, range::positive},
                        {"speed", "rad/s", "speed while nothing is connected to the input 'speed'", 0},
                        {"ripple", "Pa", "amplitude of the ripple", 0, range::not_negative},
                        {"frequency", "Hz", "frequency of the ripple", 0, range::not_negative}}},
        {.kind = "port",
         .summary = "node outside: takes its pressure, gives volume and flow into it; a law 'node' joins it",
         .parameters = {constant("pressure while nothing is connected")}},
        {.kind = "accumulator",
         .summary = "node with gas behind a bag, which opens above the charge",
         .parameters = {{"volume", "m3", "volume of the gas at its charge", 0, range::positive, true},
                        {"charge", "Pa", "pressure of the gas while there is no fluid", 0, range::positive, true},
                        {"exponent", "1", "polytropic exponent n of the gas", 1.4, range::positive},
                        {"dead-volume", "m3", "volume of fluid that stays below the charge", 1e-6, range::positive},
                        pressure}},
    };
}

inline node make_node(const part& p, const compressible& f) {
    node n{.name = p.name, .where = p.where};
    n.pressure = p.values["pressure"];
    if (p.kind == "node") {
        n.kind = node_kind::elastic;
        n.volume = p.values["volume"];
    } else if (p.kind == "rigid-node") {
        n.kind = node_kind::rigid;
    } else if (p.kind == "source") {
        n.kind = node_kind::source;
        n.per_speed = p.values["per-speed"];
        n.speed = p.values["speed"];
        n.most = p.values["most"];
        n.ripple = p.values["ripple"];
        n.frequency = p.values["frequency"];
        if (n.per_speed == 0 && n.pressure - n.ripple < f.vapour)
            throw user_error(
                p.where, fmt::format("source '{}': its pressure would fall to {:.6g} Pa, below the vapour pressure of "
                                     "{:.6g} Pa. Raise 'pressure', or lower 'ripple'.",
                                     p.name, n.pressure - n.ripple, f.vapour));
    } else if (p.kind == "port") {
        n.kind = node_kind::port;
    } else if (p.kind == "accumulator") {
        n.kind = node_kind::accumulator;
        n.volume = p.values["volume"];
        n.charge = p.values["charge"];
        n.exponent = p.values["exponent"];
        n.dead_volume = p.values["dead-volume"];
    }
    const bool has_fluid = n.is_elastic() || n.kind == node_kind::accumulator;
    if (has_fluid && n.pressure < f.vapour)
        throw user_error(p.where, fmt::format("node '{}': the pressure at the start, {:.6g} Pa, is below the vapour "
                                              "pressure {:.6g} Pa. Raise 'pressure', or lower 'vapour-pressure'.",
                                              p.name, n.pressure, f.vapour));
    return n;
}

}  // namespace mdpcosim::hydraulics
