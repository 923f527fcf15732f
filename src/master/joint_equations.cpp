#include "master/joint_equations.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

namespace mdpcosim {

namespace {

constexpr std::size_t largest_dense = 60;
constexpr double lost_pivot = 1e-14;  // of the largest
constexpr double tiny = std::numeric_limits<double>::min();

}  // namespace

struct joint_equations::dense_lu {
    explicit dense_lu(std::size_t n) : matrix(n, n), lu(static_cast<Eigen::Index>(n)), work(n), rows(n), columns(n) {}
    Eigen::MatrixXd matrix;
    Eigen::PartialPivLU<Eigen::MatrixXd> lu;
    Eigen::VectorXd work, rows, columns;  ///< the latter: what the largest entry of each is
};

void joint_equations::drop::operator()(dense_lu* factors) const { delete factors; }

polynomial multiplier_basis(int degree, int which, double H) {
    static constexpr double quadratic[3][3] = {{12, -48, 36}, {-6, 30, -24}, {1, -6, 6}};
    static constexpr double cubic[3][3] = {{60, -180, 120}, {-24, 84, -60}, {3, -12, 10}};
    polynomial p{.degree = degree};
    double power = degree == 3 ? H : 1;
    for (int n = 0; n < 3; ++n, power *= H) p.c[n + degree - 2] = (degree == 3 ? cubic : quadratic)[which][n] / power;
    return p;
}

polynomial as_effective(const polynomial& p, int degree, double start, double H) {
    std::array<double, 3> moves{};
    double power = 1;
    for (int n = 0; n <= p.degree; ++n, power *= H) {
        moves[0] += p.c[n] * power / ((n + 1) * (n + 2));
        moves[1] += p.c[n] * power / (n + 1);
        moves[2] += p.c[n] * power;
    }
    polynomial made{.degree = degree};
    if (degree == 3) {
        made.c[0] = start;
        moves[0] -= start / 2;
        moves[1] -= start;
        moves[2] -= start;
    }
    for (int which = 0; which < 3; ++which) {
        const polynomial part = multiplier_basis(degree, which, H);
        for (int n = 0; n <= degree; ++n) made.c[n] += moves[static_cast<std::size_t>(which)] * part.c[n];
    }
    return made;
}

joint_equations::joint_equations(const coupled_system& system, const joint_loads& loads)
    : multipliers_(loads.multipliers()) {
    std::vector<std::int64_t> block_of(system.subsystems->size(), -1);
    std::vector<std::string> units;
    for (std::size_t j = 0; j < system.joints.size(); ++j) {
        equations_.push_back(system.joints[j].joint->equations());
        for (int i = 0; i < equations_.back(); ++i) {
            const std::string unit = system.joints[j].joint->multiplier_unit(i);
            const auto known = std::ranges::find(units, unit);
            unit_of_.push_back(static_cast<std::uint32_t>(known - units.begin()));
            if (known == units.end()) units.push_back(unit);
        }
        for (const auto& end : system.joints[j].ends) {
            auto& at = block_of[end.subsystem.value()];
            if (at < 0) {
                at = static_cast<std::int64_t>(blocks_.size());
                blocks_.push_back({end.subsystem, {}, {}});
            }
            auto& joints = blocks_[static_cast<std::size_t>(at)].joints;
            if (joints.empty() || joints.back() != j) joints.push_back(static_cast<std::uint32_t>(j));
        }
    }
    for (auto& b : blocks_) {
        for (const std::uint32_t j : b.joints) {
            const std::size_t first = loads.first_multiplier(j);
            for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(equations_[j]); ++i)
                for (std::uint32_t p = 0; p < levels; ++p)
                    b.columns.push_back({j, i, p, static_cast<std::uint32_t>(levels * (first + i) + p)});
        }
        for (auto& c : b.columns) {
            c.entries = entries_.size();
            for (const column& row : b.columns) entries_.push_back({row.unknown, c.unknown, 0});
        }
        rounds_ = std::max(rounds_, b.columns.size());
    }
    if (size() <= largest_dense)
        dense_.reset(new dense_lu(size()));
    else
        lu_ = sparse_lu(size(), entries_);
    row_work_.resize(size());
    largest_.resize(units.size());
    size_.assign(size(), 0.0);
}

void joint_equations::residuals(const joint_state& at, double H, std::span<double> into) const {
    for (std::size_t i = 0; i < multipliers_; ++i) {
        const jet& g = at.residuals[i];
        into[levels * i] = g.x / (H * H);
        into[levels * i + 1] = g.v / H;
        into[levels * i + 2] = g.a;
    }
}

void joint_equations::disturb(std::size_t round, const coupled_system& system, const joint_loads& loads, int degree,
                              double H, std::span<const polynomial> multipliers, std::span<polynomial> inputs,
                              std::span<double> u) {
    // A multiplier that happens to be zero is disturbed as much as others of its unit.
    std::ranges::fill(largest_, 0.0);
    for (std::size_t i = 0; i < multipliers_; ++i)
        largest_[unit_of_[i]] =
            std::max({largest_[unit_of_[i]], std::abs(multipliers[i].c[0]), std::abs(multipliers[i](H))});
    for (auto& b : blocks_) {
        if (round >= b.columns.size()) continue;
        column& c = b.columns[round];
        const joint_connection& joint = system.joints[c.joint];
        // Small against the multiplier for models that are not linear, and far above the noise of solvers.
        c.disturbance = std::max(1e-3 * largest_[unit_of_[c.unknown / levels]], size_[c.unknown]);
        if (c.disturbance == 0) c.disturbance = 1;
        polynomial part = multiplier_basis(degree, static_cast<int>(c.parameter), H);
        for (double& coefficient : part.c) coefficient *= c.disturbance;
        for (int e = 0; e < 2; ++e) {
            const auto& end = joint.ends[static_cast<std::size_t>(e)];
            if (end.subsystem != b.subsystem) continue;
            for (std::size_t l = 0; l < end.input.size(); ++l) {
                polynomial more = loads.load_of(c.joint, e, static_cast<int>(l), static_cast<int>(c.equation), part);
                if (more.degree > end.degree) more = project(more, H, end.degree);
                polynomial& p = inputs[end.input[l].value()];
                for (std::size_t n = 0; n < p.c.size(); ++n) p.c[n] += more.c[n];
                p.degree = std::max(p.degree, more.degree);
                u[end.load[l].value()] += more(H);
            }
        }
    }
}

void joint_equations::measured(std::size_t round, const coupled_system& system, const joint_loads& loads, double H,
                               std::span<const double> y, std::span<const double> undisturbed,
                               std::span<const double> base, joint_state& scratch) {
    for (auto& b : blocks_) {
        if (round >= b.columns.size()) continue;
        const column& c = b.columns[round];
        for (const std::uint32_t j : b.joints) loads.evaluate(system, j, undisturbed, y, b.subsystem, scratch);
        residuals(scratch, H, row_work_);
        for (std::size_t k = 0; k < b.columns.size(); ++k) {
            const std::uint32_t row = b.columns[k].unknown;
            entries_[c.entries + k].value = (row_work_[row] - base[row]) / c.disturbance;
        }
    }
    factorised_ = false;
}

std::optional<std::size_t> joint_equations::factorise() {
    if (!dense_) return lu_.factorise(entries_);
    Eigen::MatrixXd& A = dense_->matrix;
    A.setZero();
    for (const matrix_entry& e : entries_) A(e.row, e.column) += e.value;
    dense_->rows = A.rowwise().lpNorm<Eigen::Infinity>().cwiseMax(tiny);
    A.array().colwise() /= dense_->rows.array();
    dense_->columns = A.colwise().lpNorm<Eigen::Infinity>().cwiseMax(tiny).transpose();
    A.array().rowwise() /= dense_->columns.transpose().array();
    dense_->lu.compute(A);
    const auto pivots = dense_->lu.matrixLU().diagonal().cwiseAbs();
    Eigen::Index smallest = 0;
    if (pivots.minCoeff(&smallest) > lost_pivot * pivots.maxCoeff()) return std::nullopt;
    return static_cast<std::size_t>(smallest);
}

std::optional<std::size_t> joint_equations::solve(std::span<const double> residuals, std::span<double> change) {
    if (!factorised_) {
        if (const auto row = factorise()) return *row / levels;
        factorised_ = true;
    }
    for (std::size_t i = 0; i < change.size(); ++i) change[i] = -residuals[i];
    if (dense_) {
        Eigen::Map<Eigen::VectorXd> x(change.data(), static_cast<Eigen::Index>(change.size()));
        x.array() /= dense_->rows.array();
        dense_->work.noalias() = dense_->lu.permutationP() * x;
        dense_->lu.matrixLU().triangularView<Eigen::UnitLower>().solveInPlace(dense_->work);
        dense_->lu.matrixLU().triangularView<Eigen::Upper>().solveInPlace(dense_->work);
        x = dense_->work.array() / dense_->columns.array();
    } else {
        lu_.solve(change);
    }
    for (std::size_t i = 0; i < change.size(); ++i)
        if (std::abs(change[i]) > 1e-9 * size_[i]) size_[i] = std::abs(change[i]);
    return std::nullopt;
}

double joint_equations::size_of(std::span<const polynomial> multipliers, double H) const {
    double most = 0;
    for (const matrix_entry& e : entries_)
        if (e.row == e.column && e.row % levels == 2)
            most = std::max(most, std::abs(e.value * multipliers[e.row / levels](H)));
    return most;
}

void joint_equations::learn(std::span<const double> change, std::span<const double> left) {
    std::ranges::fill(row_work_, 0.0);
    for (const matrix_entry& e : entries_) row_work_[e.row] += change[e.column] * change[e.column];
    for (matrix_entry& e : entries_)
        if (row_work_[e.row] > 0) e.value += left[e.row] * change[e.column] / row_work_[e.row];
    factorised_ = false;
}

}  // namespace mdpcosim
