#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mdpcosim {

/// A number as a user writes it: `6.3e4 N.m/rad`. An empty unit means a bare number, which is SI.
struct quantity {
    double value = 0;
    std::string unit;
};

/// Splits `text` into number and unit; nothing when it does not start with a finite number.
/// The unit is not yet known to exist: convert() says so.
std::optional<quantity> parse_quantity(std::string_view text);

/// What is wrong with a unit, or with a conversion; the caller adds place and object.
class unit_error;

/// `value` of `from` expressed in `to`. An empty `from` or `to` takes the number as it is. Throws unit_error for an
/// unknown unit, units of different dimension, and a mixture of Hz with rad/s, which differ by 2 pi although both
/// are 1/s to the unit library.
double convert(double value, std::string_view from, std::string_view to);

/// Factor and offset of the conversion: `to = factor * from + offset`.
struct conversion {
    double factor = 1;
    double offset = 0;
    double operator()(double value) const;
};
conversion find_conversion(std::string_view from, std::string_view to);

/// True when `unit` is known and convertible to `other`; empty (unknown) units fit everything.
bool units_fit(std::string_view unit, std::string_view other);

/// The product of two units as text, `N/m` and `m` to `N/m.m`; empty when one of them is unknown.
std::string unit_product(std::string_view a, std::string_view b);

/// The coherent SI unit of the dimension of `unit`, angles kept: `deg` to `rad`, `rpm` to `rad/s`, `kN.m` to `N.m`. A unit
/// that is coherent already stays as written; empty stays empty. Throws unit_error for an unknown or logarithmic unit.
std::string si_unit(std::string_view unit);

/// The customary name of a coherent SI unit, `kg.m2.s-2` to `N.m`; as written where it has none.
std::string customary_unit(std::string_view unit);

/// The SI unit of the time derivative of something in the SI unit `unit`: `rad` to `rad/s`; empty when that is unknown.
std::string rate_unit(std::string_view unit);

/// Whether one counts cycles and the other angle, which no conversion hides: Hz against rad/s.
bool cycles_against_angle(std::string_view a, std::string_view b);

/// Knows the units that common_units.hpp does not; the room units/ has one. Without any, products of coherent SI units are known.
class unit_library {
   public:
    /// Is asked from now on.
    unit_library();
    unit_library(const unit_library&) = delete;
    unit_library& operator=(const unit_library&) = delete;
    virtual ~unit_library() = default;

    static const unit_library* installed();

    virtual conversion find_conversion(std::string_view from, std::string_view to) const = 0;
    /// The product of base units that `unit` is a multiple of, `m.kg.s-2` for kN; it tells dimensions apart, angles too.
    virtual std::string base_units(std::string_view unit) const = 0;
};

class unit_error : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
    std::string message() const { return what(); }
};

}  // namespace mdpcosim
