#pragma once

#include <span>
#include <vector>

#include "fmi/instance.hpp"
#include "subsystem/fmu_layout.hpp"

namespace mdpcosim {

/// Some slots of a subsystem as variables of an FMU: one call per base type, units converted on the way. Made when the sizes of
/// arrays are fixed (after configuration); allocates nothing later.
class fmu_values {
   public:
    fmu_values() = default;
    fmu_values(const fmi::instance& instance, std::span<const fmu_use> uses, std::span<const int> slots);

    bool empty() const { return groups_.empty(); }

    /// values[slot] = the FMU's value.
    fmi::status get(fmi::instance& instance, std::span<double> values);
    /// values[slot] = the rate that the FMU gives as output derivative.
    void get_derivatives(fmi::instance& instance, std::span<double> values);

    /// The FMU's value = value_of(slot).
    template <class Function>
    fmi::status set(fmi::instance& instance, const Function& value_of) {
        fmi::status worst = fmi::status::ok;
        for (group& g : groups_) {
            for (std::size_t k = 0; k < g.slots.size(); ++k) g.buffer[k] = value_of(g.slots[k]);
            if (!g.plain) to_fmu(g);
            if (instance.set(g.block, g.buffer) != fmi::status::ok) worst = fmi::status::discard;
        }
        return worst;
    }

    /// The derivative of that order of the FMU's inputs = value_of(slot).
    template <class Function>
    void set_derivatives(fmi::instance& instance, int order, const Function& value_of) {
        for (group& g : groups_) {
            for (std::size_t k = 0; k < g.slots.size(); ++k) g.buffer[k] = value_of(g.slots[k]) / g.factor[k];
            instance.set_input_derivatives(g.block, order, g.buffer);
        }
    }

   private:
    /// Variables of one base type; buffer[k] belongs to slots[k].
    struct group {
        fmi::value_block block;
        std::vector<int> slots;
        std::vector<double> factor, offset, buffer;
        bool plain = true;    ///< values pass as they are
        bool in_row = false;  ///< the slots follow each other, so that plain values need no copy
    };

    static void to_fmu(group& g);
    void scatter(const group& g, std::span<double> values, bool rates) const;

    std::vector<group> groups_;
};

}  // namespace mdpcosim
