#include "subsystem/solvers/sparse_jacobian.hpp"

#include <algorithm>
#include <numeric>

#include "subsystem/solvers/jacobian.hpp"

namespace mdpcosim {

std::vector<int> column_colours(const sparsity& s) {
    const int n = static_cast<int>(s.start.size()) - 1;
    const auto at = [](const std::vector<int>& v, int i) { return v[static_cast<std::size_t>(i)]; };
    // The columns of each row, by counting.
    std::vector<int> row_start(static_cast<std::size_t>(n) + 1, 0), columns(s.entries());
    for (const int row : s.rows) ++row_start[static_cast<std::size_t>(row) + 1];
    std::partial_sum(row_start.begin(), row_start.end(), row_start.begin());
    std::vector<int> next(row_start.begin(), row_start.end());
    for (int j = 0; j < n; ++j)
        for (int k = at(s.start, j); k < at(s.start, j + 1); ++k)
            columns[static_cast<std::size_t>(next[static_cast<std::size_t>(at(s.rows, k))]++)] = j;

    std::vector<int> colour(static_cast<std::size_t>(n), -1);
    std::vector<int> taken_by(static_cast<std::size_t>(n), -1);  // colour -> last column that found it taken
    for (int j = 0; j < n; ++j) {
        for (int k = at(s.start, j); k < at(s.start, j + 1); ++k)
            for (int m = at(row_start, at(s.rows, k)); m < at(row_start, at(s.rows, k) + 1); ++m)
                if (const int c = at(colour, at(columns, m)); c >= 0) taken_by[static_cast<std::size_t>(c)] = j;
        int c = 0;
        while (at(taken_by, c) == j) ++c;
        colour[static_cast<std::size_t>(j)] = c;
    }
    return colour;
}

void sparse_jacobian_source::prepare(const equations& model, double t, const double* x, const double* u) {
    model_ = &model;
    structure_ = model.structure();
    std::vector<double> trial(structure_->entries());
    exact_ = model.sparse_jacobian(t, x, u, trial.data());
    if (exact_) return;
    const auto colour = column_colours(*structure_);
    columns_.resize(colour.size());
    std::iota(columns_.begin(), columns_.end(), 0);
    std::ranges::stable_sort(columns_, {}, [&](int j) { return colour[static_cast<std::size_t>(j)]; });
    groups_.assign(1, 0);
    for (std::size_t k = 1; k <= columns_.size(); ++k)
        if (k == columns_.size() ||
            colour[static_cast<std::size_t>(columns_[k])] != colour[static_cast<std::size_t>(columns_[k - 1])])
            groups_.push_back(static_cast<int>(k));
    x_.resize(colour.size());
    f_.resize(colour.size());
    delta_.resize(colour.size());
}

int sparse_jacobian_source::evaluate(double t, const double* x, const double* u, const double* f, double h,
                                     double* values) {
    if (exact_) {
        model_->sparse_jacobian(t, x, u, values);
        return 0;
    }
    std::copy_n(x, x_.size(), x_.begin());
    for (std::size_t g = 0; g + 1 < groups_.size(); ++g) {
        const std::span group(columns_.data() + groups_[g], columns_.data() + groups_[g + 1]);
        for (const int column : group) {
            const auto j = static_cast<std::size_t>(column);
            x_[j] = x[j] + difference_step(x[j], h * f[j]);
            delta_[j] = x_[j] - x[j];
        }
        model_->derivatives(t, x_.data(), u, f_.data());
        for (const int column : group) {
            const auto j = static_cast<std::size_t>(column);
            for (auto k = static_cast<std::size_t>(structure_->start[j]);
                 k < static_cast<std::size_t>(structure_->start[j + 1]); ++k) {
                const auto row = static_cast<std::size_t>(structure_->rows[k]);
                values[k] = (f_[row] - f[row]) / delta_[j];
            }
            x_[j] = x[j];
        }
    }
    return colours();
}

}  // namespace mdpcosim
