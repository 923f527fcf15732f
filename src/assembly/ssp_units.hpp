#pragma once

#include <optional>

#include "fmu/units.hpp"
#include "ssp/flatten.hpp"

/// What becomes of a value on its way through connections and mappings of SSP: units and transformations. Private to assembly/.
namespace mdpcosim {

/// By its definition, or its name; an empty `si`: nobody knows what it is.
fmu_unit unit_of(const ssp::unit& unit);

/// Of the same quantity, and equal numbers mean the same.
bool same_unit(const fmu_unit& a, const fmu_unit& b);

/// `gain * x + offset` of the number x that the way began with. The value is kept in SI, so that a change of units leaves gain and offset as
/// they are; in a unit that is not known it is the number itself.
class value_way {
   public:
    /// `in_si`: the numbers come out of the engine, in SI; else they are in `unit`.
    value_way(const fmu_unit& unit, bool in_si);

    /// Over one connection or mapping, into `unit` where it is known. `object` names it in messages: units that do not fit and transformations
    /// that cannot be written as a gain and an offset are user errors.
    void pass(const ssp::hop& over, const fmu_unit& unit, const std::string& object);

    /// Ends the way: in SI, or as a number in the present unit.
    void finish(bool in_si);

    double gain() const { return gain_; }
    double offset() const { return offset_; }
    bool plain() const { return gain_ == 1 && offset_ == 0; }

   private:
    void scale(double factor, double offset);
    void to_number();
    void from_number(const fmu_unit& unit);

    fmu_unit unit_;
    double gain_ = 1, offset_ = 0;
};

/// What a Boolean, integer or enumeration mapping makes of a value as it is written.
std::string mapped(const ssp::transformation& how, const std::string& value);

}  // namespace mdpcosim
