#include "coupling/sparse_lu.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <set>

namespace mdpcosim {

namespace {

constexpr double lost = 1e-13;  // of a pivot, relative to the largest number it was made of

using graph = std::vector<std::set<std::uint32_t>>;

/// Minimum degree for the rows that are left, behind those that have their place.
void order_rest(const graph& joined, std::vector<std::uint32_t>& order, const std::vector<bool>& placed) {
    std::vector<std::uint32_t> rest, number(joined.size(), 0);
    for (std::uint32_t i = 0; i < joined.size(); ++i)
        if (!placed[i]) {
            number[i] = static_cast<std::uint32_t>(rest.size());
            rest.push_back(i);
        }
    if (rest.empty()) return;
    std::vector<Eigen::Triplet<double>> places;
    for (const std::uint32_t i : rest) {
        places.emplace_back(number[i], number[i], 1.0);
        for (const std::uint32_t k : joined[i]) places.emplace_back(number[i], number[k], 1.0);
    }
    const auto size = static_cast<Eigen::Index>(rest.size());
    Eigen::SparseMatrix<double> A(size, size);
    A.setFromTriplets(places.begin(), places.end());
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> found;
    Eigen::AMDOrdering<int>()(A, found);
    for (Eigen::Index k = 0; k < size; ++k) order.push_back(rest[static_cast<std::size_t>(found.indices()[k])]);
}

/// Place of each row in the order of elimination: round after round rows with at most two neighbours that are no neighbours of each
/// other, so that in chains and trees hardly a row waits for the one before; then minimum degree.
std::vector<std::uint32_t> find_places(std::size_t n, std::span<const matrix_entry> pattern) {
    graph joined(n);
    for (const auto& e : pattern)
        if (e.row != e.column) {
            joined[e.row].insert(e.column);
            joined[e.column].insert(e.row);
        }
    std::vector<std::uint32_t> order;
    std::vector<bool> placed(n, false);
    for (bool more = true; more;) {
        more = false;
        std::vector<bool> waiting(n, false);
        for (std::uint32_t i = 0; i < n; ++i) {
            if (placed[i] || waiting[i] || joined[i].size() > 2) continue;
            more = placed[i] = true;
            order.push_back(i);
            for (const std::uint32_t k : joined[i]) {
                waiting[k] = true;
                joined[k].erase(i);
                for (const std::uint32_t other : joined[i])
                    if (other != k) joined[k].insert(other);
            }
        }
    }
    order_rest(joined, order, placed);
    std::vector<std::uint32_t> place(n);
    for (std::uint32_t k = 0; k < n; ++k) place[order[k]] = k;
    return place;
}

}  // namespace

sparse_lu::sparse_lu(std::size_t rows, std::span<const matrix_entry> pattern)
    : place_(find_places(rows, pattern)), diagonal_(rows), row_(rows), work_(rows, 0.0), inverse_(rows, 0.0) {
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
            const double factor = work_[above];
            work_[above] = factor * inverse_[above];
            for (std::uint32_t j = diagonal_[above] + 1; j < start_[above + 1]; ++j)
                work_[columns_[j]] -= factor * values_[j];
            largest = std::max(largest, std::abs(work_[i]));
        }
        if (!(std::abs(work_[i]) > lost * largest)) return row_[i].of;
        inverse_[i] = 1 / work_[i];
        for (std::uint32_t k = start_[i]; k < diagonal_[i]; ++k) values_[k] = work_[columns_[k]];
        for (std::uint32_t k = diagonal_[i] + 1; k < start_[i + 1]; ++k) values_[k] = work_[columns_[k]] * inverse_[i];
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
        double sum = x[i] * inverse_[i];
        for (std::uint32_t k = diagonal + 1; k < end; ++k) sum -= values[k] * x[columns[k]];
        x[i] = b[of] = sum;
    }
}

}  // namespace mdpcosim
