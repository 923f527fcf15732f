#pragma once

#include <bit>
#include <cstdint>
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
    fmi::status get(fmi::instance& instance, std::span<double> values) {
        fmi::status worst = fmi::status::ok;
        for (group& g : groups_) {
            if (instance.get(g.block, g.plain ? g.si() : g.in_fmu_unit()) != fmi::status::ok)
                worst = fmi::status::discard;
            if (!g.plain) from_fmu(g);
            g.give(values);
        }
        return worst;
    }
    /// values[slot] = what the last get() gave.
    void get_again(std::span<double> values) const {
        for (const group& g : groups_) g.give(values);
    }
    /// values[slot] = the rate that the FMU gives as output derivative.
    void get_derivatives(fmi::instance& instance, std::span<double> values) {
        for (group& g : groups_) get_derivatives(g, instance, values);
    }

    /// The FMU's value = value_of(slot). Variables of a type are not set when all are as they were set last; `changed` says
    /// whether any were.
    template <class Function>
    fmi::status set(fmi::instance& instance, const Function& value_of, bool* changed = nullptr) {
        fmi::status worst = fmi::status::ok;
        for (group& g : groups_) {
            std::uint64_t different = g.known ? 0 : 1;
            const std::span<double> si = g.si();
            for (std::size_t k = 0; k < si.size(); ++k) {
                const double value = value_of(g.slots[k]);
                different |= std::bit_cast<std::uint64_t>(value) ^ std::bit_cast<std::uint64_t>(si[k]);
                si[k] = value;
            }
            if (different == 0) continue;
            g.known = false;  // also if the call fails
            if (changed != nullptr) *changed = true;
            if (!g.plain) to_fmu(g);
            g.known = instance.set(g.block, g.plain ? si : g.in_fmu_unit()) == fmi::status::ok;
            if (!g.known) worst = fmi::status::discard;
        }
        return worst;
    }

    /// What the FMU's inputs are is no longer known: the next set() sets all.
    void forget() {
        for (group& g : groups_) g.known = false;
    }

    /// The derivative of that order of the FMU's inputs = value_of(slot).
    template <class Function>
    void set_derivatives(fmi::instance& instance, int order, const Function& value_of) {
        for (group& g : groups_) {
            const std::span<double> rates = g.in_fmu_unit();
            for (std::size_t k = 0; k < rates.size(); ++k) rates[k] = value_of(g.slots[k]) / g.units[k].factor;
            instance.set_input_derivatives(g.block, order, rates);
        }
    }

   private:
    struct unit {
        double factor = 1, offset = 0;  ///< as in fmu_unit
    };

    /// Variables of one base type. The k-th value belongs to slots[k], which is -1 for an element that nobody wants (of an
    /// array that is read).
    struct group {
        bool plain = true;   ///< SI is the FMU's unit
        bool known = false;  ///< si() is what the FMU has
        std::vector<int> slots;
        std::vector<double> numbers;  ///< all in SI, then all in the FMU's units
        fmi::value_block block;
        std::vector<unit> units;

        std::span<double> si() { return {numbers.data(), slots.size()}; }
        std::span<double> in_fmu_unit() { return {numbers.data() + slots.size(), slots.size()}; }
        void give(std::span<double> values) const {
            for (std::size_t k = 0; k < slots.size(); ++k)
                if (slots[k] >= 0) values[static_cast<std::size_t>(slots[k])] = numbers[k];
        }
    };

    static void to_fmu(group& g);
    static void from_fmu(group& g);
    static void get_derivatives(group& g, fmi::instance& instance, std::span<double> values);

    std::vector<group> groups_;
};

}  // namespace mdpcosim
