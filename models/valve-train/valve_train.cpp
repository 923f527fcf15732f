#include "equations_of_train.hpp"
#include "subsystem/model.hpp"

// Valve trains of parts: laws.hpp has their equations, parts.cpp their kinds.

namespace mdpcosim {

namespace {

const model_registration registered{{
    .name = "valve-train",
    .summary = "camshafts with cams, followers, hydraulic lash adjusters, valves and springs that surge",
    .parameters = valve_train::oil_parameters(),
    .parts = valve_train::part_kinds(),
    .make_of_parts = [](const parameter_values& p, const std::vector<part>& parts) -> std::unique_ptr<equations> {
        return std::make_unique<valve_train::train>(valve_train::read_train(p, parts));
    },
    .scene_of_parts =
        [](const parameter_values& p, const std::vector<part>& parts) {
            return valve_train::draw(valve_train::read_train(p, parts));
        },
    .solver = [](const std::vector<std::string>&) { return "erk-5"; },
}};

}  // namespace

}  // namespace mdpcosim
