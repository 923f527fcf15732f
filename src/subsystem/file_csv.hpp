#pragma once

#include <string>
#include <vector>

#include "scenario/spec.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// Recorded data in SI. Times increase; two rows of equal time are a jump, left value then right value.
struct csv_table {
    std::vector<std::string> names;  ///< without `time`; elements of arrays one by one, `u[0]`
    std::vector<std::string> units;  ///< SI; empty: not given
    std::vector<double> time;
    std::vector<double> values;  ///< row after row
    std::vector<variable_type> types = {};
    std::vector<bool> held = {};  ///< by column: until the next row, whatever the interpolation; empty: none is
    /// Columns of strings, and of whole numbers by their digits.
    std::vector<text_variable> text_columns = {};
    std::vector<std::string> texts = {};  ///< row after row

    std::size_t columns() const { return names.size(); }
    std::size_t rows() const { return time.size(); }
};

/// Reads the CSV file of a file subsystem: a header row with a column `time`, then numbers. Separator comma, semicolon
/// or tab, found in the header; a header field may be quoted and may carry a unit, `demand [N.m]`, which
/// spec.file.units overrides; blank lines and lines that begin with # are skipped. Columns of other kinds than numbers are those
/// that spec.file.kinds names. Mistakes are user errors at their place in the CSV file.
csv_table read_csv(const subsystem_spec& spec);

struct csv_header {
    std::vector<std::string> names;  ///< as they stand there, without `time`
    std::vector<std::string> units;  ///< SI; empty: not given
};
csv_header read_csv_header(const subsystem_spec& spec);

}  // namespace mdpcosim
