#pragma once

#include "valve_parts.hpp"

/// Bodies that pressures move; the volumes of their nodes follow them.
///     piston  m x'' = A_h p_h - A_r p_r - (A_h - A_r) p_amb + F_0 - c x - d x' + stops + F,   V_h = V + A_h x,  V_r = V - A_r x
///     phaser  J_r phi_r'' = D (p_a - p_b) - d theta' + stops + M_r,   J_s phi_s'' = -(...) + M_s,   theta = phi_r - phi_s,
///             V_a = V + D theta,  V_b = V - D theta,  leak Q_ab = G (p_a - p_b)
/// A chamber takes up A x' of fluid from its node's point of view: its flow in is -A x'.
namespace mdpcosim::hydraulics {

class piston final : public element_of<piston, 2, 2, 1> {
   public:
    piston(const part& p, const surroundings& s)
        : element_of(p, {at(p, "head"), at(p, "rod")}),
          mass_(p.values["mass"]),
          head_(p.values["head-area"]),
          rod_(p.values["rod-area"]),
          preload_(p.values["preload"] - (head_ - rod_) * s.ambient),
          stiffness_(p.values["stiffness"]),
          damping_(p.values["damping"]),
          low_(p.values["low"]),
          high_(p.values["high"]),
          contact_(p.values["contact-stiffness"]),
          contact_damping_(p.values["contact-damping"]),
          x0_(p.values["x0"]),
          v0_(p.values["v0"]) {
        if (nodes_called[0].empty() && nodes_called[1].empty())
            throw user_error(p.where,
                             fmt::format("piston '{}' is joined to no node. Name one by 'head' or 'rod'.", p.name));
        for (int k = 0; k < 2; ++k)
            if (!nodes_called[static_cast<std::size_t>(k)].empty() && !((k == 0 ? head_ : rod_) > 0))
                throw user_error(p.where,
                                 fmt::format("piston '{}' has no area at '{}', but is joined to node '{}' there. "
                                             "Give '{}-area'.",
                                             p.name, k == 0 ? "head" : "rod", nodes_called[static_cast<std::size_t>(k)],
                                             k == 0 ? "head" : "rod"));
        if (!(low_ <= x0_ && x0_ <= high_))
            throw user_error(p.where,
                             fmt::format("piston '{}': its position at the start, 'x0' = {:.6g} m, is beyond its "
                                         "stops ({:.6g} m to {:.6g} m). Move it between them.",
                                         p.name, x0_, low_, high_));
    }
    template <class T>
    void equations(const T* z, const T* u, T* results) const {
        const T &x = z[2], &v = z[3];
        results[0] = -head_ * v;
        results[1] = rod_ * v;
        results[2] = v;
        results[3] = (head_ * z[0] - rod_ * z[1] + preload_ - stiffness_ * x - damping_ * v +
                      stop_force(x, v, low_, high_, contact_, contact_damping_) + u[0]) /
                     mass_;
    }
    void start(double* own) const override {
        own[0] = x0_;
        own[1] = v0_;
    }
    double nominal(int own) const override { return own == 0 ? 1e-3 : 1e-1; }
    flow_nature nature(int terminal) const override {
        return {flow_nature::kind::inertial, 1, terminal == 0 ? -head_ : rod_};
    }
    std::vector<swept_volume> swept() const override {
        return {{0, 0, head_, low_, high_}, {1, 0, -rod_, low_, high_}};
    }
    void describe(subsystem_description& d, std::vector<shown>& outputs) const override {
        const int slot = add_mechanical_port(d, name, port_kind::translation, "the piston's rod");
        for (int k = 0; k < 2; ++k) outputs.push_back({slot + k, {{2 + k, 1}}});
        outputs.push_back({slot + 2, {{result(3), 1}}});
    }

   private:
    double mass_, head_, rod_, preload_, stiffness_, damping_, low_, high_, contact_, contact_damping_, x0_, v0_;
};

class phaser final : public element_of<phaser, 2, 4, 2> {
   public:
    phaser(const part& p, const surroundings&)
        : element_of(p, {at(p, "a"), at(p, "b")}),
          volume_(p.values["volume-per-angle"]),
          rotor_(p.values["rotor-inertia"]),
          stator_(p.values["stator-inertia"]),
          damping_(p.values["damping"]),
          leak_(p.values["leak"]),
          limit_(p.values["limit"]),
          contact_(p.values["stop-stiffness"]),
          contact_damping_(p.values["stop-damping"]),
          theta0_(p.values["theta0"]),
          speed0_(p.values["speed0"]) {
        if (!(std::fabs(theta0_) <= limit_))
            throw user_error(p.where,
                             fmt::format("phaser '{}' is beyond its stop at the start: 'theta0' is {:.6g} rad, "
                                         "the stops ('limit') are at {:.6g} and {:.6g} rad. Begin between them.",
                                         p.name, theta0_, -limit_, limit_));
    }
    /// The rotor is told by its angle and speed against the stator: tolerances are theirs, however often both have turned.
    template <class T>
    void equations(const T* z, const T* u, T* results) const {
        const T &theta = z[2], &rate = z[3];
        const T leak = leak_ * (z[0] - z[1]);
        const T torque = volume_ * (z[0] - z[1]) - damping_ * rate +
                         stop_force(theta, rate, -limit_, limit_, contact_, contact_damping_);
        results[0] = -volume_ * rate - leak;
        results[1] = volume_ * rate + leak;
        results[2] = rate;
        results[4] = z[5];
        results[5] = (u[1] - torque) / stator_;
        results[3] = (torque + u[0]) / rotor_ - results[5];
    }
    void start(double* own) const override {
        own[0] = theta0_;
        own[1] = own[2] = 0;
        own[3] = speed0_;
    }
    double nominal(int own) const override { return own % 2 == 0 ? 1e-2 : 1; }
    /// Both may turn.
    bool rests(int own) const override { return own < 2; }
    flow_nature nature(int) const override {
        return {leak_ > 0 ? flow_nature::kind::resistive : flow_nature::kind::given};
    }
    std::vector<swept_volume> swept() const override {
        return {{0, 0, volume_, -limit_, limit_}, {1, 0, -volume_, -limit_, limit_}};
    }
    void describe(subsystem_description& d, std::vector<shown>& outputs) const override {
        int slot = add_mechanical_port(d, name + ".rotor", port_kind::rotation, "the vanes, with the camshaft");
        for (int k = 0; k < 2; ++k) outputs.push_back({slot + k, {{2 + k, 1}, {4 + k, 1}}});
        outputs.push_back({slot + 2, {{result(3), 1}, {result(5), 1}}});
        slot = add_mechanical_port(d, name + ".stator", port_kind::rotation, "the housing, with its wheel");
        for (int k = 0; k < 2; ++k) outputs.push_back({slot + k, {{4 + k, 1}}});
        outputs.push_back({slot + 2, {{result(5), 1}}});
        add_shown(d, outputs, name + ".theta", "rad", "angle of the rotor against the stator", {{2, 1}});
    }

   private:
    double volume_, rotor_, stator_, damping_, leak_, limit_, contact_, contact_damping_, theta0_, speed0_;
};

inline const std::vector<element_kind>& moving_kinds() {
    static const std::vector<element_kind> kinds{
        {{.kind = "piston",
          .summary = "piston with one or two chambers, a spring and stops",
          .parameters = {{"mass", "kg", "mass m", 0, range::positive, true},
                         {"head-area", "m2", "area A_h, which pushes outwards (positive)", 0, range::positive},
                         {"rod-area", "m2", "area A_r, which pushes inwards", 0, range::positive},
                         {"stiffness", "N/m", "stiffness c of the spring", 0, range::not_negative},
                         {"preload", "N", "force F_0 of the spring outwards, at position zero", 0},
                         {"damping", "N.s/m", "damping d", 0, range::not_negative},
                         {"low", "m", "position of the inner stop", -INFINITY},
                         {"high", "m", "position of the outer stop", INFINITY},
                         contact_stiffness,
                         contact_damping,
                         {"x0", "m", "position at the start", 0},
                         {"v0", "m/s", "velocity at the start", 0}},
          .references = {node_called("head", "node of the chamber that grows with the position", false),
                         node_called("rod", "node of the chamber that shrinks", false)}},
         made<piston>},
        {{.kind = "phaser",
          .summary = "vane cam phaser: rotor and stator with two chambers between them",
          .parameters = {{"volume-per-angle", "m3", "D: growth of chamber A per angle, torque per pressure", 0,
                          range::positive, true},
                         {"rotor-inertia", "kg.m2", "inertia J_r of the rotor", 0, range::positive, true},
                         {"stator-inertia", "kg.m2", "inertia J_s of the stator", 0, range::positive, true},
                         {"limit", "rad", "angle of the stops on both sides", 0, range::positive, true},
                         {"damping", "N.m.s/rad", "damping d between rotor and stator", 0, range::not_negative},
                         {"leak", "m3/(s.Pa)", "G: leak between the chambers", 0, range::not_negative},
                         {"stop-stiffness", "N.m/rad", "stiffness of the stops", 1e5, range::positive},
                         {"stop-damping", "s/rad", "damping of the stops, per torque and speed", 0.1,
                          range::not_negative},
                         {"theta0", "rad", "angle of the rotor against the stator at the start", 0},
                         {"speed0", "rad/s", "speed of both at the start", 0}},
          .references = {node_called("a", "chamber that grows with the angle"),
                         node_called("b", "chamber that shrinks")}},
         made<phaser>},
    };
    return kinds;
}

}  // namespace mdpcosim::hydraulics
