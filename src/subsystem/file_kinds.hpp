#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenario/spec.hpp"

namespace mdpcosim {

/// What the values of a column of a CSV file are. In a scenario (`kinds:` of a file) a word, or a list that begins with it:
/// `n: int64`, `u: [real, 3]` an array of three numbers with blanks between, `x: [real, held]` kept until the next row,
/// `mode: [enumeration, off=1, eco=2]`; `skip` for a column that nobody reads.
struct column_kind {
    enum class type { real, whole, digits, boolean, enumeration, string, skip };
    type is = type::real;
    std::string word = "real";
    bool held = false;                                             ///< until the next row; all but reals are
    int count = -1;                                                ///< of the elements of an array; -1: a single value
    std::vector<std::pair<std::string, std::int64_t>> items = {};  ///< of an enumeration

    bool is_text() const { return is == type::digits || is == type::string; }
    /// A number, as most columns have nothing else.
    bool plain() const { return is == type::real && count < 0; }

    /// What a field, or an element of it, says; nothing where it does not fit.
    std::optional<double> number(std::string_view field) const;
    std::optional<std::string> text(std::string_view field) const;
    std::string expected() const;  ///< "a whole number from -128 to 127 (int8)"
};

/// User errors at their places; `object` names the owner.
column_kind read_column_kind(const setting& written, const std::string& object);

}  // namespace mdpcosim
