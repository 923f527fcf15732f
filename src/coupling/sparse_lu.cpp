#include "coupling/sparse_lu.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <set>

namespace mdpcosim {

namespace {

constexpr double lost = 1e-13;  // of a pivot, relative to the largest number it was made of

std::vector<std::uint32_t> minimum_degree(std::size_t n, std::span<const matrix_entry> pattern) {
    std::vector<Eigen::Triplet<double>> places;
    for (const auto& e : pattern) {
        places.emplace_back(e.row, e.column, 1.0);
        places.emplace_back(e.column, e.row, 1.0);
    }
    for (std::size_t i = 0; i < n; ++i) places.emplace_back(i, i, 1.0);
    const auto size = static_cast<Eigen::Index>(n);
    Eigen::SparseMatrix<double> A(size, size);
    A.setFromTriplets(places.begin(), places.end());
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
    Eigen::AMDOrdering<int>()(A, order);
    std::vector<std::uint32_t> place(n);
    for (std::size_t k = 0; k < n; ++k)
        place[static_cast<std::size_t>(order.indices()[static_cast<Eigen::Index>(k)])] = static_cast<std::uint32_t>(k);
    return place;
}

}  // namespace

sparse_lu::sparse_lu(std::size_t rows, std::span<const matrix_entry> pattern)
    : place_(minimum_degree(rows, pattern)), diagonal_(rows), row_(rows), work_(rows, 0.0), inverse_(rows, 0.0) {
    std::vector<std::set<std::uint32_t>> after(rows);  // columns behind the diagonal, the same as rows below it
    const auto join = [&after](std::uint32_t i, std::uint32_t j) {
        if (i != j) after[std::min(i, j)].insert(std::max(i, j));
    };
    for (const auto& e : pattern) join(place_[e.row], place_[e.column]);
    // Eliminating a row joins the rows it is joined with; the first of them hands that on.
    for (const auto& joined : after)
        if (!joined.empty()) after[*joined.begin()].insert(std::next(joined.begin()), joined.end());

    std::vector<std::vector<std::uint32_t>> full(rows);
    for (std::uint32_t i = 0; i < rows; ++i) {
        full[i].push_back(i);
        full[i].insert(full[i].end(), after[i].begin(), after[i].end());
        for (const std::uint32_t j : after[i]) full[j].push_back(i);
    }
    start_.push_back(0);
    for (std::uint32_t i = 0; i < rows; ++i) {
        std::sort(full[i].begin(), full[i].end());
        const auto at = std::lower_bound(full[i].begin(), full[i].end(), i) - full[i].begin();
        diagonal_[i] = start_.back() + static_cast<std::uint32_t>(at);
        columns_.insert(columns_.end(), full[i].begin(), full[i].end());
        start_.push_back(static_cast<std::uint32_t>(columns_.size()));
    }
    values_.assign(columns_.size(), 0.0);
    for (std::uint32_t i = 0; i < rows; ++i) {
        const std::uint32_t k = place_[i];
        row_[k] = {start_[k], diagonal_[k], start_[k + 1], i};
    }
}

std::optional<std::size_t> sparse_lu::factorise(std::span<const matrix_entry> entries) {
    std::fill(values_.begin(), values_.end(), 0.0);
    for (const auto& e : entries) {
        const std::uint32_t row = place_[e.row];
        const auto first = columns_.begin() + start_[row], last = columns_.begin() + start_[row + 1];
        values_[static_cast<std::size_t>(std::lower_bound(first, last, place_[e.column]) - columns_.begin())] +=
            e.value;
    }
    for (std::uint32_t i = 0; i < rows(); ++i) {
        for (std::uint32_t k = start_[i]; k < start_[i + 1]; ++k) work_[columns_[k]] = values_[k];
        double largest = std::abs(work_[i]);
        for (std::uint32_t k = start_[i]; k < diagonal_[i]; ++k) {
            const std::uint32_t above = columns_[k];
            const double factor = work_[above] / values_[diagonal_[above]];
            work_[above] = factor;
            for (std::uint32_t j = diagonal_[above] + 1; j < start_[above + 1]; ++j)
                work_[columns_[j]] -= factor * values_[j];
            largest = std::max(largest, std::abs(work_[i]));
        }
        for (std::uint32_t k = start_[i]; k < start_[i + 1]; ++k) values_[k] = work_[columns_[k]];
        if (!(std::abs(work_[i]) > lost * largest)) return row_[i].of;
        inverse_[i] = 1 / work_[i];
    }
    return std::nullopt;
}

void sparse_lu::solve(std::span<double> b) {
    const double* values = values_.data();
    const std::uint32_t* columns = columns_.data();
    double* x = work_.data();
    for (std::size_t i = 0; i < row_.size(); ++i) {
        const auto [begin, diagonal, end, of] = row_[i];
        double sum = b[of];
        for (std::uint32_t k = begin; k < diagonal; ++k) sum -= values[k] * x[columns[k]];
        x[i] = sum;
    }
    for (std::size_t i = row_.size(); i-- > 0;) {
        const auto [begin, diagonal, end, of] = row_[i];
        double sum = x[i];
        for (std::uint32_t k = diagonal + 1; k < end; ++k) sum -= values[k] * x[columns[k]];
        x[i] = b[of] = sum * inverse_[i];
    }
}

}  // namespace mdpcosim
