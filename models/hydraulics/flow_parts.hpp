#pragma once

#include <numbers>

#include "element.hpp"

/// Parts through which fluid flows from one node to another: z = (p_from, p_to, ...), positive from `from` to `to`.
///     line         (rho L / A) Q' = p_from - p_to - R Q - K Q |Q|
///     orifice      Q = alpha a dp sqrt(2/rho / (|dp| + dp_0))
///     gap          Q = pi D h^3 dp / (12 eta l)
///     pump         Q = D n - leak (p_to - p_from),  D the displacement per angle
///     flow-source  Q given
namespace mdpcosim::hydraulics {

using range = parameter_info::range;

inline const std::vector<part_reference> from_and_to{node_called("from", "the node where it begins"),
                                                     node_called("to", "the node where it ends")};

template <class Part, std::size_t States, std::size_t Inputs>
class two_nodes : public element_of<Part, 2, States, Inputs> {
   public:
    explicit two_nodes(const part& p) : element_of<Part, 2, States, Inputs>(p, {at(p, "from"), at(p, "to")}) {}
    void describe(subsystem_description& d, std::vector<shown>& outputs) const override {
        add_shown(d, outputs, this->name + ".flow", "m3/s", "flow from 'from' to 'to'", {{this->result(1), 1}});
    }
};

class line final : public two_nodes<line, 1, 0> {
   public:
    line(const part& p, const surroundings& s)
        : two_nodes(p),
          inverse_inertia_(p.values["area"] / (s.density * p.values["length"])),
          R_(p.values["linear-loss"]),
          K_(p.values["quadratic-loss"]),
          Q0_(p.values["flow0"]) {}

    template <class T>
    void equations(const T* z, const T*, T* results) const {
        const T& Q = z[2];
        results[0] = -Q;
        results[1] = Q;
        results[2] = (z[0] - z[1] - (R_ + K_ * magnitude(Q)) * Q) * inverse_inertia_;
    }
    void start(double* own) const override { own[0] = Q0_; }
    double nominal(int) const override { return 1e-4; }
    flow_nature nature(int terminal) const override {
        return {flow_nature::kind::inertial, 0, terminal == 0 ? -1.0 : 1.0};
    }

   private:
    double inverse_inertia_, R_, K_, Q0_;
};

class orifice final : public two_nodes<orifice, 0, 0> {
   public:
    orifice(const part& p, const surroundings& s)
        : two_nodes(p), area_(p.values["area"]), discharge_(p.values["discharge"]), s_(s) {}
    template <class T>
    void equations(const T* z, const T*, T* results) const {
        results[1] = orifice_flow(T(area_), discharge_, T(z[0] - z[1]), s_);
        results[0] = -results[1];
    }

   private:
    double area_, discharge_;
    surroundings s_;
};

class gap final : public two_nodes<gap, 0, 0> {
   public:
    gap(const part& p, const surroundings& s)
        : two_nodes(p),
          conductance_(std::numbers::pi * p.values["diameter"] * std::pow(p.values["height"], 3) /
                       (12 * s.viscosity * p.values["length"])) {}
    template <class T>
    void equations(const T* z, const T*, T* results) const {
        results[1] = conductance_ * (z[0] - z[1]);
        results[0] = -results[1];
    }

   private:
    double conductance_;
};

class pump final : public two_nodes<pump, 0, 1> {
   public:
    pump(const part& p, const surroundings&)
        : two_nodes(p),
          displacement_(p.values["displacement"] / (2 * std::numbers::pi)),
          leak_(p.values["leak"]),
          speed_(p.values["speed"]) {}
    template <class T>
    void equations(const T* z, const T* u, T* results) const {
        results[1] = displacement_ * u[0] - leak_ * (z[1] - z[0]);
        results[0] = -results[1];
    }
    flow_nature nature(int) const override {
        return {leak_ > 0 ? flow_nature::kind::resistive : flow_nature::kind::given};
    }
    void describe(subsystem_description& d, std::vector<shown>& outputs) const override {
        add_input(d, name + ".speed", "rad/s", "speed of the pump '" + name + "'");
        d.inputs.back().start = speed_;
        two_nodes::describe(d, outputs);
    }

   private:
    double displacement_, leak_, speed_;
};

class flow_source final : public two_nodes<flow_source, 0, 1> {
   public:
    flow_source(const part& p, const surroundings&) : two_nodes(p), flow_(p.values["flow"]) {}
    template <class T>
    void equations(const T*, const T* u, T* results) const {
        results[1] = u[0];
        results[0] = -u[0];
    }
    flow_nature nature(int) const override { return {flow_nature::kind::given}; }
    void describe(subsystem_description& d, std::vector<shown>& outputs) const override {
        add_input(d, name + ".flow-set", "m3/s", "flow that the source '" + name + "' gives");
        d.inputs.back().start = flow_;
        two_nodes::describe(d, outputs);
    }

   private:
    double flow_;
};

template <class Part>
std::unique_ptr<element> made(const part& p, const surroundings& s) {
    return std::make_unique<Part>(p, s);
}

inline const parameter_info discharge_parameter{"discharge", "1", "discharge coefficient alpha", 0.7, range::positive};

inline const std::vector<element_kind>& flow_kinds() {
    static const std::vector<element_kind> kinds{
        {{.kind = "line",
          .summary = "fluid that moves as one body, with losses",
          .parameters = {{"length", "m", "length L", 1, range::positive},
                         {"area", "m2", "cross section A", 1e-4, range::positive},
                         {"linear-loss", "Pa.s/m3", "laminar loss R", 0, range::not_negative},
                         {"quadratic-loss", "Pa.s2/m6", "turbulent loss K", 0, range::not_negative},
                         {"flow0", "m3/s", "flow from 'from' to 'to' at the start", 0}},
          .references = from_and_to},
         made<line>},
        {{.kind = "orifice",
          .summary = "sharp opening: the flow grows with the root of the pressure drop",
          .parameters = {{"area", "m2", "area of the opening", 0, range::positive, true}, discharge_parameter},
          .references = from_and_to},
         made<orifice>},
        {{.kind = "gap",
          .summary = "annular gap: the flow grows with the pressure drop",
          .parameters = {{"diameter", "m", "diameter D", 0, range::positive, true},
                         {"height", "m", "height h", 0, range::positive, true},
                         {"length", "m", "length l in the direction of the flow", 0, range::positive, true}},
          .references = from_and_to},
         made<gap>},
        {{.kind = "pump",
          .summary = "flow that grows with a speed, less a leak",
          .parameters = {{"displacement", "m3", "volume per revolution", 0, range::positive, true},
                         {"leak", "m3/(s.Pa)", "flow back per pressure difference", 0, range::not_negative},
                         {"speed", "rad/s", "speed while nothing is connected to the input 'speed'", 0}},
          .references = from_and_to},
         made<pump>},
        {{.kind = "flow-source",
          .summary = "a given flow",
          .parameters = {{"flow", "m3/s", "flow while nothing is connected to the input 'flow-set'", 0}},
          .references = from_and_to},
         made<flow_source>},
    };
    return kinds;
}

}  // namespace mdpcosim::hydraulics
