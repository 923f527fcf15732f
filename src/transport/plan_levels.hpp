#pragma once

#include <cstdint>
#include <vector>

#include "remote/group_plan.hpp"
#include "transport/transport.hpp"

/// The evaluations of a step_plan by level, where its subsystems live in groups: what follows from outputs of the same group is of one level,
/// whatever comes from elsewhere is known when a level begins. A level takes one round trip.
namespace mdpcosim {

/// What there is to know about subsystems for that.
struct plan_grounds {
    std::vector<int> group;  ///< by subsystem
    std::vector<char>
        evaluates;  ///< by group: it carries out plans; else its members are asked one by one, after the step
    std::vector<std::uint32_t> owner;   ///< by output: the subsystem
    std::vector<char> direct;           ///< by output: it depends on inputs
    std::vector<std::uint32_t> inputs;  ///< by subsystem: how many
};

struct plan_levels {
    struct place {
        int level = -1;      ///< -1: not evaluated
        bool given = false;  ///< values of all inputs are brought; else they follow within the group
    };
    std::vector<place> of;                          ///< by item
    std::vector<std::vector<std::uint32_t>> items;  ///< by level, in the order of the plan
};

/// Of the same plan on fewer levels there is none: results are, to the bit, those of one evaluation after the other.
plan_levels find_levels(const step_plan& plan, const plan_grounds& grounds);

/// A plan whose values, but for its signals, are there.
class given_plan final : public step_plan {
    void find_values_by_laws(const item&, double) override {}
};
/// A group's plan level by level, for the transport that has its members here.
std::vector<given_plan> by_level(const group_plan& plan, const transport& members);

}  // namespace mdpcosim
