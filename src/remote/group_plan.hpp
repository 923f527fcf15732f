#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/plain_signal.hpp"
#include "remote/wire.hpp"

/// What members that live together do of a step_plan (transport/transport.hpp) among themselves: evaluations, level by level. Values that come from elsewhere are known
/// when their level begins, all others follow from outputs of the group itself: one request per level, however many members are evaluated.
namespace mdpcosim {

struct group_plan {
    /// An input's value from an output of the group, by slots of their members.
    struct signal {
        std::int32_t member;  ///< whose output it is
        plain_signal how;
    };
    struct item {
        std::int32_t member;
        bool given;                 ///< the request brings the values of all its inputs
        std::uint32_t first, last;  ///< of its signals
    };

    bool advances = false;     ///< level 0 begins with a step of all members
    bool provisional = false;  ///< outputs may be no numbers
    std::vector<item> items;   ///< level by level
    std::vector<signal> signals;
    std::vector<std::uint32_t> ends;  ///< of the levels, in items

    std::size_t levels() const { return ends.size(); }
    std::span<const item> level(std::size_t n) const {
        const std::size_t first = n == 0 ? 0 : ends[n - 1];
        return std::span(items).subspan(first, ends[n] - first);
    }
    std::span<const signal> signals_of(const item& i) const {
        return std::span(signals).subspan(i.first, i.last - i.first);
    }
};

/// One of the subsystems that live together.
struct remote_member {
    subsystem_description description;
    capabilities offers;
};

void put(wire_writer& to, const group_plan& plan);
/// Throws run_error for a plan that does not fit the members.
group_plan get_group_plan(wire_reader& from, std::span<const remote_member> members);

}  // namespace mdpcosim
