#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "fmi/instance.hpp"
#include "fmu/layout.hpp"

namespace mdpcosim {

/// Some slots of a subsystem as variables of an FMU: one call per base type, units converted on the way. Made when the sizes of
/// arrays are fixed (after configuration); allocates nothing later. What a call needs lies in one piece of memory: with one
/// variable in one cache line of this object.
class fmu_values {
   public:
    fmu_values() = default;
    fmu_values(const fmu_values&) = delete;
    fmu_values& operator=(const fmu_values&) = delete;
    void assign(const fmi::instance& instance, std::span<const fmu_use> uses, std::span<const int> slots);

    bool empty() const { return first_ == last_; }

    /// Variables of one base type. The k-th of `count` values belongs to slots[k], which is -1 for an element that nobody
    /// wants (of an array that is read).
    struct group {
        double* numbers;  ///< all in SI, then all in the FMU's units
        fmi::value_reference* variables;
        int* slots;
        std::uint32_t count, variable_count;
        bool plain = true;    ///< SI is the FMU's unit
        bool known = false;   ///< si() is what the FMU has
        bool direct = false;  ///< of type float64

        std::span<double> si() const { return {numbers, count}; }
        std::span<double> in_fmu_unit() const { return {numbers + count, count}; }
        std::span<const fmi::value_reference> references() const { return {variables, variable_count}; }
        /// si() = value_of(slot); false: all is as it was.
        template <class Function>
        [[gnu::always_inline]] bool take(const Function& value_of) {
            std::uint64_t different = known ? 0 : 1;
            std::uint32_t k = 0;
            do {
                const double value = value_of(slots[k]);
                different |= std::bit_cast<std::uint64_t>(value) ^ std::bit_cast<std::uint64_t>(numbers[k]);
                numbers[k] = value;
            } while (++k < count);
            return different != 0;
        }
        void give(double* values) const {
            for (std::uint32_t k = 0; k < count; ++k)
                if (slots[k] >= 0) values[slots[k]] = numbers[k];
        }

        // For simple_group().
        [[gnu::always_inline]] void get(fmi::instance& instance, double* values) const {
            static_cast<void>(instance.get_directly(references(), si()));
            give(values);
        }
        template <class Function>
        [[gnu::always_inline]] void set(fmi::instance& instance, const Function& value_of) {
            if (!take(value_of)) return;
            try {
                static_cast<void>(instance.set_directly(references(), si()));
            } catch (...) {
                known = false;
                throw;
            }
            known = true;
        }
    };

    /// The only group, where the calls of co-simulation need nothing else: float64 in SI units, nobody traces the calls.
    group* simple_group() { return last_ - first_ == 1 && first_->direct && first_->plain ? first_ : nullptr; }

    /// values[slot] = the FMU's value.
    fmi::status get(fmi::instance& instance, std::span<double> values) {
        fmi::status worst = fmi::status::ok;
        for (group* g = first_; g != last_; ++g) {
            const std::span<double> numbers = g->plain ? g->si() : g->in_fmu_unit();
            const fmi::status status =
                g->direct ? instance.get_directly(g->references(), numbers) : instance.get(part(g).block, numbers);
            if (status != fmi::status::ok) worst = fmi::status::discard;
            if (!g->plain) from_fmu(*g);
            g->give(values.data());
        }
        return worst;
    }
    /// values[slot] = what the last get() gave.
    void get_again(std::span<double> values) const {
        for (const group* g = first_; g != last_; ++g) g->give(values.data());
    }
    /// values[slot] = the rate that the FMU gives as output derivative.
    void get_derivatives(fmi::instance& instance, std::span<double> values) {
        for (group* g = first_; g != last_; ++g) get_derivatives(*g, instance, values);
    }

    /// The FMU's value = value_of(slot). Variables of a type are not set when all are as they were set last; `changed` says
    /// whether any were.
    template <class Function>
    fmi::status set(fmi::instance& instance, const Function& value_of, bool* changed = nullptr) {
        fmi::status worst = fmi::status::ok;
        for (group* g = first_; g != last_; ++g) {
            if (!g->take(value_of)) continue;
            g->known = false;  // also if the call fails
            if (changed != nullptr) *changed = true;
            if (!g->plain) to_fmu(*g);
            const std::span<const double> numbers = g->plain ? g->si() : g->in_fmu_unit();
            const fmi::status status =
                g->direct ? instance.set_directly(g->references(), numbers) : instance.set(part(g).block, numbers);
            g->known = status == fmi::status::ok;
            if (!g->known) worst = fmi::status::discard;
        }
        return worst;
    }

    /// What the FMU's inputs are is no longer known: the next set() sets all.
    void forget() {
        for (group* g = first_; g != last_; ++g) g->known = false;
    }

    /// The derivative of that order of the FMU's inputs = value_of(slot).
    template <class Function>
    void set_derivatives(fmi::instance& instance, int order, const Function& value_of) {
        for (group* g = first_; g != last_; ++g) {
            const std::span<double> rates = g->in_fmu_unit();
            for (std::size_t k = 0; k < rates.size(); ++k) rates[k] = value_of(g->slots[k]) / part(g).units[k].factor;
            instance.set_input_derivatives(part(g).block, order, rates);
        }
    }

   private:
    struct unit {
        double factor = 1, offset = 0;  ///< as in fmu_unit
    };

    /// What few calls need of a group.
    struct group_part {
        fmi::value_block block;
        std::vector<unit> units;
    };

    struct alignas(64) cache_line {
        std::byte bytes[64];
    };

    void lay_out();
    group_part& part(const group* g) { return parts_[static_cast<std::size_t>(g - first_)]; }
    void to_fmu(group& g);
    void from_fmu(group& g);
    void get_derivatives(group& g, fmi::instance& instance, std::span<double> values);

    cache_line small_;  ///< groups, then the numbers, references and slots of all, where they fit
    group *first_ = nullptr, *last_ = nullptr;
    std::vector<cache_line> large_;  ///< where they do not
    std::vector<group_part> parts_;
};

}  // namespace mdpcosim
