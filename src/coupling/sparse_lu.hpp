#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Solves A x = b for matrices A of one structurally symmetric pattern, by elimination in an order that keeps the fill low (rows
/// with few neighbours first) without exchanging rows: for A = D S with D diagonal and S symmetric positive definite, and near them. The order and the
/// fill are found once; after it nothing allocates. For chains and trees the cost grows linearly with the rows.
namespace mdpcosim {

struct matrix_entry {
    std::uint32_t row, column;
    double value;
};

class sparse_lu {
   public:
    sparse_lu() = default;
    /// The entries' places, and their mirror images, make the pattern; their values do not matter.
    sparse_lu(std::size_t rows, std::span<const matrix_entry> pattern);

    std::size_t rows() const { return diagonal_.size(); }
    /// Entries of the factors, fill included.
    std::size_t entries() const { return columns_.size(); }

    /// Entries at the same place add. The row whose pivot is lost to rounding, if there is one: A is singular.
    [[nodiscard]] std::optional<std::size_t> factorise(std::span<const matrix_entry> entries);
    /// b becomes x.
    void solve(std::span<double> b);

   private:
    std::vector<std::uint32_t> place_;            ///< row of A -> row of the factors
    std::vector<std::uint32_t> start_, columns_;  ///< of L and U of A = L D U together, columns ascending
    std::vector<std::uint32_t> diagonal_;         ///< where the pivots stand in columns_ and values_
    /// Of a row of the factors: its part of columns_, and the row of A.
    struct extent {
        std::uint32_t begin, diagonal, end, of;
    };
    std::vector<extent> row_;
    std::vector<double> values_, work_;
    std::vector<double> inverse_;  ///< of D
};

}  // namespace mdpcosim
