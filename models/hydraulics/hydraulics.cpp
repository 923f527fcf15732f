#include <stdexcept>

#include "checks.hpp"
#include "moving_parts.hpp"
#include "network_structure.hpp"
#include "subsystem/model.hpp"

// Hydraulic networks of parts: nodes.hpp has the parts with a pressure, *_parts.hpp what joins them.

namespace mdpcosim {

namespace {

using range = parameter_info::range;

const std::vector<hydraulics::element_kind>& element_kinds() {
    static const std::vector<hydraulics::element_kind> known = [] {
        std::vector<hydraulics::element_kind> all;
        for (const auto* kinds : {&hydraulics::flow_kinds(), &hydraulics::valve_kinds(), &hydraulics::moving_kinds()})
            all.insert(all.end(), kinds->begin(), kinds->end());
        return all;
    }();
    return known;
}

std::vector<part_info> part_kinds() {
    std::vector<part_info> all = hydraulics::node_part_kinds();
    for (const auto& kind : element_kinds()) all.push_back(kind.info);
    return all;
}

hydraulics::compressible fluid_of(const parameter_values& p) {
    const auto model = static_cast<hydraulics::modulus_model>(static_cast<int>(p["fluid"]));
    const bool varies = model != hydraulics::modulus_model::constant;
    if (varies && !p.given("air"))
        throw std::invalid_argument(
            "a modulus that depends on the pressure needs 'air', the volume fraction of air at the reference pressure");
    if (varies && !(p["vapour-pressure"] > 0))
        throw std::invalid_argument("a modulus that depends on the pressure needs a 'vapour-pressure' above zero");
    return {model, fluid(p["modulus"], varies ? p["air"] : 0, p["kappa"], p["reference-pressure"]),
            p["reference-pressure"], p["vapour-pressure"]};
}

std::unique_ptr<equations> make_network(const parameter_values& p, const std::vector<part>& parts) {
    const hydraulics::compressible f = fluid_of(p);
    const hydraulics::surroundings s{p["density"], p["viscosity"], p["transition-pressure"], p["ambient-pressure"]};
    std::vector<hydraulics::node> nodes;
    std::vector<std::unique_ptr<hydraulics::element>> elements;
    for (const part& one : parts)
        if (std::ranges::find(hydraulics::node_kinds, one.kind) != hydraulics::node_kinds.end())
            nodes.push_back(hydraulics::make_node(one, f));
    if (nodes.empty()) throw std::invalid_argument("it has no node; add one under 'parts', a 'node' or a 'tank'");
    const auto ambient = static_cast<int>(nodes.size());
    const auto index_of = [&](const std::string& name) {
        if (!name.empty())
            return static_cast<int>(std::ranges::find(nodes, name, &hydraulics::node::name) - nodes.begin());
        if (nodes.back().name.empty()) return ambient;
        nodes.push_back({.name = "", .where = {}, .kind = hydraulics::node_kind::tank, .pressure = s.ambient});
        return ambient;
    };
    for (const part& one : parts)
        for (const auto& kind : element_kinds())
            if (kind.info.kind == one.kind) {
                elements.push_back(kind.make(one, s));
                for (const auto& name : elements.back()->nodes_called) elements.back()->nodes.push_back(index_of(name));
            }
    check_network(nodes, elements, f);
    return std::make_unique<hydraulics::network>(f, std::move(nodes), std::move(elements));
}

const model_registration registered{{
    .name = "hydraulics",
    .summary = "hydraulic network of parts: nodes, lines, pumps, valves, pistons, cam phasers; with cavitation",
    .parameters =
        {{"density", "kg/m3", "density rho of the fluid", 850, range::positive},
         {"viscosity", "Pa.s", "dynamic viscosity eta", 0.01, range::positive},
         {"modulus", "Pa", "bulk modulus of the fluid, without air", 1.4e9, range::positive},
         {.name = "fluid",
          .unit = "",
          .description = "how the modulus depends on the pressure",
          .choices = {"constant", "stepped", "pressure-dependent"}},
         {"air", "1", "volume fraction of air at the reference pressure; without effect on a constant modulus", 0,
          range::not_negative},
         {"kappa", "1", "isentropic exponent of the air", 1.4, range::positive},
         {"reference-pressure", "Pa", "pressure at which the fraction of air is given", 1e5, range::positive},
         {"vapour-pressure", "Pa", "lowest pressure; where it is reached there is a void", 1000, range::not_negative},
         {"transition-pressure", "Pa", "pressure drop dp_0 below which orifices are laminar", 2000, range::positive},
         {"ambient-pressure", "Pa", "pressure where a part is joined to no node", 1e5, range::not_negative}},
    .parts = part_kinds(),
    .make_of_parts = make_network,
    .solver =
        [](const std::vector<std::string>& kinds) {
            return std::ranges::find(kinds, "rigid-node") != kinds.end() ? "ida" : "dirk-4";
        },
}};

}  // namespace

}  // namespace mdpcosim
