#pragma once

#include "flow_parts.hpp"

/// Openings that move.
///     check-valve   m y'' = A (p_from - p_to) - c y - F_0 - d y' + seat and stop,  A = pi d_s^2/4;  area = pi d_s sin(angle) max(0, y)
///     relief-valve  T s' = clamp((dp - p_open)/(p_full - p_open)) - s;  area = s a
///     spool-valve   xi = 2 spool - 1, o the overlap:  P-A and B-T open by clamp((xi - o)/(1 - o)), P-B and A-T by that of -xi
/// all with the flow of an orifice.
namespace mdpcosim::hydraulics {

class check_valve final : public two_nodes<check_valve, 2, 0> {
   public:
    check_valve(const part& p, const surroundings& s)
        : two_nodes(p),
          area_(std::numbers::pi / 4 * p.values["diameter"] * p.values["diameter"]),
          opening_(std::numbers::pi * p.values["diameter"] * std::sin(p.values["angle"])),
          discharge_(p.values["discharge"]),
          stroke_(p.values["stroke"]),
          mass_(p.values["mass"]),
          stiffness_(p.values["stiffness"]),
          preload_(p.values["preload"]),
          damping_(p.values["damping"]),
          contact_(p.values["contact-stiffness"]),
          contact_damping_(p.values["contact-damping"]),
          lift0_(p.values["lift0"]),
          s_(s) {
        if (lift0_ < 0 || lift0_ > stroke_)
            throw user_error(p.where,
                             fmt::format("check-valve '{}': 'lift0', {:.6g} m, is not between the seat (0) and "
                                         "the stop ('stroke', {:.6g} m).",
                                         p.name, lift0_, stroke_));
    }
    template <class T>
    void equations(const T* z, const T*, T* results) const {
        const T &y = z[2], &v = z[3];
        const T dp = z[0] - z[1];
        results[1] = orifice_flow(T(opening_ * positive(y)), discharge_, dp, s_);
        results[0] = -results[1];
        results[2] = v;
        results[3] = (area_ * dp - stiffness_ * y - preload_ - damping_ * v +
                      contact_force(T(-y), T(-v), contact_, contact_damping_) -
                      contact_force(T(y - stroke_), v, contact_, contact_damping_)) /
                     mass_;
    }
    void start(double* own) const override {
        own[0] = lift0_;
        own[1] = 0;
    }
    double nominal(int own) const override { return own == 0 ? 1e-4 : 1e-1; }
    flow_nature nature(int) const override { return {flow_nature::kind::closing}; }
    void describe(subsystem_description& d, std::vector<shown>& outputs) const override {
        two_nodes::describe(d, outputs);
        add_shown(d, outputs, name + ".lift", "m", "lift of the ball; below zero: pressed into the seat", {{2, 1}});
        add_shown(d, outputs, name + ".velocity", "m/s", "velocity of the ball", {{3, 1}});
    }

   private:
    double area_, opening_, discharge_, stroke_, mass_, stiffness_, preload_, damping_, contact_, contact_damping_,
        lift0_;
    surroundings s_;
};

class relief_valve final : public two_nodes<relief_valve, 1, 0> {
   public:
    relief_valve(const part& p, const surroundings& s)
        : two_nodes(p),
          open_(p.values["opening"]),
          range_(p.values["full"] - open_),
          area_(p.values["area"]),
          discharge_(p.values["discharge"]),
          time_(p.values["time-constant"]),
          s_(s) {
        if (!(range_ > 0))
            throw user_error(p.where,
                             fmt::format("relief-valve '{}': it would be fully open at 'full', {:.6g} Pa, before "
                                         "it begins to open at 'opening', {:.6g} Pa. Raise 'full'.",
                                         p.name, p.values["full"], open_));
    }
    template <class T>
    void equations(const T* z, const T*, T* results) const {
        const T dp = z[0] - z[1];
        results[1] = orifice_flow(T(area_ * positive(z[2])), discharge_, dp, s_);
        results[0] = -results[1];
        results[2] = (limited(T((dp - open_) / range_), 0, 1) - z[2]) / time_;
    }
    double nominal(int) const override { return 1e-3; }
    flow_nature nature(int) const override { return {flow_nature::kind::closing}; }
    void start(double* own) const override { own[0] = 0; }
    void describe(subsystem_description& d, std::vector<shown>& outputs) const override {
        two_nodes::describe(d, outputs);
        add_shown(d, outputs, name + ".opening", "1", "how far it is open, 0 to 1", {{2, 1}});
    }

   private:
    double open_, range_, area_, discharge_, time_;
    surroundings s_;
};

class spool_valve final : public element_of<spool_valve, 4, 0, 1> {
   public:
    spool_valve(const part& p, const surroundings& s)
        : element_of(p, {at(p, "p"), at(p, "t"), at(p, "a"), at(p, "b")}),
          area_(p.values["area"]),
          overlap_(p.values["overlap"]),
          leak_area_(p.values["leak-area"]),
          discharge_(p.values["discharge"]),
          spool_(p.values["spool"]),
          s_(s) {
        if (!(std::fabs(overlap_) < 1))
            throw user_error(p.where, fmt::format("spool-valve '{}': 'overlap' is {:.6g}, a part of the way from the "
                                                  "middle to the end. Allowed: above -1 and below 1.",
                                                  p.name, overlap_));
    }
    template <class T>
    void equations(const T* z, const T* u, T* results) const {
        const T &p = z[0], &t = z[1], &a = z[2], &b = z[3];
        const T xi = 2 * u[0] - 1;
        const auto opening = [&](const T& way) {
            return T(leak_area_ + area_ * limited(T((way - overlap_) / (1 - overlap_)), 0, 1));
        };
        const T forward = opening(xi), back = opening(-xi);
        const T pa = orifice_flow(forward, discharge_, T(p - a), s_),
                bt = orifice_flow(forward, discharge_, T(b - t), s_);
        const T pb = orifice_flow(back, discharge_, T(p - b), s_), at_ = orifice_flow(back, discharge_, T(a - t), s_);
        results[0] = -(pa + pb);
        results[1] = at_ + bt;
        results[2] = pa - at_;
        results[3] = pb - bt;
    }
    flow_nature nature(int) const override {
        return {leak_area_ > 0 ? flow_nature::kind::resistive : flow_nature::kind::closing};
    }
    void describe(subsystem_description& d, std::vector<shown>& outputs) const override {
        add_input(d, name + ".spool", "1", "position of the spool, 0 to 1; P-A and B-T are open above 0.5");
        d.inputs.back().start = spool_;
        const char* const words[] = {"from P", "into T", "into A", "into B"};
        const char* const names[] = {".flow-p", ".flow-t", ".flow-a", ".flow-b"};
        for (int k = 0; k < 4; ++k)
            add_shown(d, outputs, name + names[k], "m3/s", fmt::format("flow {}", words[k]),
                      {{result(k), k == 0 ? -1 : 1}});
    }

   private:
    double area_, overlap_, leak_area_, discharge_, spool_;
    surroundings s_;
};

inline const parameter_info contact_stiffness{"contact-stiffness", "N/m", "stiffness of seat and stops", 1e7,
                                              range::positive};
inline const parameter_info contact_damping{"contact-damping", "s/m", "damping of seat and stops, per force and speed",
                                            1, range::not_negative};

inline const std::vector<element_kind>& valve_kinds() {
    static const std::vector<element_kind> kinds{
        {{.kind = "check-valve",
          .summary = "ball with a spring on a seat, which lets through from 'from' to 'to' only",
          .parameters = {{"diameter", "m", "diameter d_s of the seat", 0, range::positive, true},
                         {"stroke", "m", "lift at which the ball meets its stop", 0, range::positive, true},
                         {"mass", "kg", "mass m of the ball", 0, range::positive, true},
                         {"stiffness", "N/m", "stiffness c of the spring", 0, range::not_negative},
                         {"preload", "N", "force F_0 of the spring on the closed ball", 0, range::not_negative},
                         {"damping", "N.s/m", "damping d of the ball", 0, range::not_negative},
                         {"angle", "rad", "half angle of the seat", std::numbers::pi / 4, range::positive},
                         discharge_parameter,
                         contact_stiffness,
                         contact_damping,
                         {"lift0", "m", "lift at the start", 0}},
          .references = from_and_to},
         made<check_valve>},
        {{.kind = "relief-valve",
          .summary = "opening that a pressure drop makes, with a delay",
          .parameters = {{"opening", "Pa", "pressure drop at which it begins to open", 0, range::positive, true},
                         {"full", "Pa", "pressure drop at which it is fully open", 0, range::positive, true},
                         {"area", "m2", "area when fully open", 0, range::positive, true},
                         {"time-constant", "s", "time constant T of the opening", 1e-3, range::positive},
                         discharge_parameter},
          .references = from_and_to},
         made<relief_valve>},
        {{.kind = "spool-valve",
          .summary = "4/3-way valve whose spool is a signal from 0 to 1",
          .parameters = {{"area", "m2", "area of each opening at the end of the way", 0, range::positive, true},
                         {"overlap", "1",
                          "way around the middle on which all are closed, by half the way; below zero: open", 0},
                         {"leak-area", "m2", "area that every opening keeps", 0, range::not_negative},
                         discharge_parameter,
                         {"spool", "1", "position while nothing is connected to the input 'spool'", 0.5}},
          .references = {node_called("p", "the supply"), node_called("t", "the way back"),
                         node_called("a", "consumer A"), node_called("b", "consumer B")}},
         made<spool_valve>},
    };
    return kinds;
}

}  // namespace mdpcosim::hydraulics
