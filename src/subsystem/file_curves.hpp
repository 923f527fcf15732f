#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "subsystem/file_csv.hpp"

namespace mdpcosim {

/// The columns of a table as functions of time with exact rates.
///
/// Between rows: `linear`; `hold` keeps the last row; `cubic` is the monotone piecewise cubic of Fritsch and Butland
/// (SIAM J. Sci. Stat. Comput. 5 (1984) 300), which has a continuous rate and never overshoots the data. A jump (two
/// rows of equal time) separates smooth pieces. Outside: `hold` keeps the first and the last row with rate zero;
/// `repeat` continues with the period last - first time. Values and rates are those of the right side wherever the
/// sides differ, so that a macro step that begins at a corner sees what is coming. Columns that the table says are held keep the last
/// row in any case.
class sampled_curves {
   public:
    enum class interpolation { linear, hold, cubic };
    enum class outside { hold, repeat };

    sampled_curves(csv_table table, interpolation between, outside beyond);

    std::size_t count() const { return table_.columns(); }

    /// The row that counts at t, as for evaluate().
    std::size_t row(double t) const;
    const csv_table& table() const { return table_; }

    /// values and rates have count() elements. One thread at a time: the last place is remembered for a fast search.
    void evaluate(double t, double* values, double* rates) const;

    /// The first time after t from which evaluate() sees another row: a corner or a jump. Infinity after the last one.
    double next_break(double t) const;

    /// A corner or a jump after `begin` and not after `end`, the last one where there are several; infinity: there is none. Smooth curves
    /// have jumps only. Quicker than next_break(), and no more exact than the rounding of times.
    double break_between(double begin, double end) const;

   private:
    /// Which row evaluate() takes at a time, counted through all repetitions; -1 before the first row.
    std::int64_t place(double t) const;
    double to_period(double& t) const;
    std::size_t row_at(double t) const;
    void copy_row(std::size_t row, double* values, double* rates) const;
    void find_slopes();
    void find_slopes(std::size_t begin, std::size_t end, std::size_t column);

    csv_table table_;
    interpolation between_;
    outside beyond_;
    std::vector<double> slopes_;  // cubic: by row and column, like the values
    bool smooth_ = false;         // cubic, without jumps
    mutable std::size_t cursor_ = 0;
};

}  // namespace mdpcosim
