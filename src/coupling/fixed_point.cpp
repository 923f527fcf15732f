#include "coupling/fixed_point.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

namespace mdpcosim {

/// Where to look next, from the last look: `r` = g - x, all in units of `scale`.
class fixed_point::accelerator {
   public:
    struct look {
        std::span<const double> g, r, scale;
    };

    virtual ~accelerator() = default;
    virtual void begin() {}
    /// False: there is no way on.
    virtual bool step(std::span<double> x, const look& at) = 0;
    /// The last look of a problem, which tells as much as any other.
    virtual void end(const look& /*at*/) {}
    /// Before any other use of an evaluation: true where it was one for differences.
    virtual bool measured(std::span<double> /*x*/, std::span<const double> /*g*/) { return false; }
    /// What one problem leaves to the next.
    virtual void state(state_bytes& /*bytes*/) {}
};

namespace {

using options = fixed_point_options;
using accelerator = fixed_point::accelerator;

double scaled_norm(std::span<const double> r, std::span<const double> scale) {
    double sum = 0;
    for (std::size_t i = 0; i < r.size(); ++i) sum += r[i] / scale[i] * (r[i] / scale[i]);
    return std::sqrt(sum);
}

void relaxed_step(std::span<double> x, std::span<const double> r, double relaxation) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += relaxation * r[i];
}

class plain final : public accelerator {
   public:
    explicit plain(double relaxation) : relaxation_(relaxation) {}
    bool step(std::span<double> x, const look& at) override {
        relaxed_step(x, at.r, relaxation_);
        return true;
    }

   private:
    double relaxation_;
};

/// Columns dr, dg: changes of residual and value from iterate to iterate. x = g - sum c dg with the smallest |r - sum c dr|.
class secants final : public accelerator {
   public:
    secants(std::size_t n, std::size_t columns, std::int64_t reuse, const options& o)
        : columns_(columns),
          reuse_(reuse),
          relaxation_(o.relaxation),
          least_(o.tolerance),
          r_last_(n),
          g_last_(n),
          work_(n),
          dr_(columns, std::vector<double>(n)),
          dg_(dr_),
          q_(dr_),
          of_problem_(columns),
          kept_(columns),
          triangle_(columns * columns),
          c_(columns) {}

    void begin() override {
        has_last_ = false;
        ++problem_;
        while (count_ > 0 && of_problem_[at(count_ - 1)] + reuse_ < problem_) --count_;
    }

    bool step(std::span<double> x, const look& now) override {
        const double norm = scaled_norm(now.r, now.scale);
        if (has_last_) {
            // What earlier problems have shown is of no use here.
            if (!(norm < 0.5 * norm_last_))
                while (count_ > 0 && of_problem_[at(count_ - 1)] < problem_) --count_;
            remember(now);
        }
        norm_last_ = norm;
        std::ranges::copy(now.r, r_last_.begin());
        std::ranges::copy(now.g, g_last_.begin());
        has_last_ = true;
        if (orthogonalise(now.scale) == 0) {
            relaxed_step(x, now.r, relaxation_);
            return true;
        }
        for (std::size_t k = 0; k < used_; ++k) {
            double sum = 0;
            for (std::size_t i = 0; i < x.size(); ++i) sum += q_[k][i] * now.r[i] / now.scale[i];
            c_[k] = sum;
        }
        for (std::size_t k = used_; k-- > 0;) {
            for (std::size_t j = k + 1; j < used_; ++j) c_[k] -= triangle_[k * columns_ + j] * c_[j];
            c_[k] /= triangle_[k * columns_ + k];
        }
        std::ranges::copy(now.g, x.begin());
        for (std::size_t k = 0; k < used_; ++k)
            for (std::size_t i = 0; i < x.size(); ++i) x[i] -= c_[k] * dg_[kept_[k]][i];
        return true;
    }

    void end(const look& now) override {
        if (has_last_) remember(now);
    }

    void state(state_bytes& bytes) override {
        bytes(r_last_, g_last_, dr_, dg_, of_problem_, newest_, count_, problem_, norm_last_, has_last_);
    }

   private:
    /// The k-th newest column.
    std::size_t at(std::size_t k) const { return (newest_ + columns_ - k) % columns_; }

    void remember(const look& now) {
        for (std::size_t i = 0; i < work_.size(); ++i) work_[i] = now.r[i] - r_last_[i];
        if (!(scaled_norm(work_, now.scale) > least_)) return;  // below it there is noise
        newest_ = (newest_ + 1) % columns_;
        count_ = std::min(count_ + 1, columns_);
        std::ranges::copy(work_, dr_[newest_].begin());
        for (std::size_t i = 0; i < work_.size(); ++i) dg_[newest_][i] = now.g[i] - g_last_[i];
        of_problem_[newest_] = problem_;
    }

    /// Gram and Schmidt, twice, newest first; columns that newer ones almost make up are left out. How many are used.
    std::size_t orthogonalise(std::span<const double> scale) {
        constexpr double independent = 1e-6;
        used_ = 0;
        for (std::size_t k = 0; k < count_ && used_ < work_.size(); ++k) {
            std::vector<double>& q = q_[used_];
            for (std::size_t i = 0; i < q.size(); ++i) q[i] = dr_[at(k)][i] / scale[i];
            const double before = norm(q);
            for (std::size_t j = 0; j < used_; ++j) triangle_[j * columns_ + used_] = 0;
            for (int twice = 0; twice < 2; ++twice)
                for (std::size_t j = 0; j < used_; ++j) {
                    double part = 0;
                    for (std::size_t i = 0; i < q.size(); ++i) part += q_[j][i] * q[i];
                    for (std::size_t i = 0; i < q.size(); ++i) q[i] -= part * q_[j][i];
                    triangle_[j * columns_ + used_] += part;
                }
            const double left = norm(q);
            if (!(left > independent * before)) continue;
            for (double& value : q) value /= left;
            triangle_[used_ * columns_ + used_] = left;
            kept_[used_++] = at(k);
        }
        return used_;
    }

    static double norm(const std::vector<double>& v) {
        double sum = 0;
        for (const double value : v) sum += value * value;
        return std::sqrt(sum);
    }

    std::size_t columns_;
    std::int64_t reuse_;
    double relaxation_, least_;
    std::vector<double> r_last_, g_last_, work_;
    std::vector<std::vector<double>> dr_, dg_, q_;  ///< by place in the ring; q_: orthonormal, in the order of use
    std::vector<std::int64_t> of_problem_;
    std::vector<std::size_t> kept_;  ///< places of the columns in use
    std::vector<double> triangle_, c_;
    std::size_t newest_ = 0, count_ = 0, used_ = 0;
    std::int64_t problem_ = 0;
    double norm_last_ = 0;
    bool has_last_ = false;
};

class newton final : public accelerator {
   public:
    newton(std::size_t n, double disturbance)
        : disturbance_(disturbance), slope_(n, n), lu_(static_cast<Eigen::Index>(n)), r_(n), dx_(n) {
        for (auto* v : {&x_, &g_, &scale_}) v->resize(n);
        slope_.setZero();  // states have the same bytes, measured or not
    }

    void begin() override {
        has_base_ = false;
        column_ = -1;
    }

    bool step(std::span<double> x, const look& at) override {
        const double norm = scaled_norm(at.r, at.scale);
        if (has_base_ && !(norm <= norm_)) {
            if (!fresh_) return measure(x);
            if (halvings_++ < 12) {
                for (std::size_t i = 0; i < x.size(); ++i) x[i] = x_[i] + (x[i] - x_[i]) / 2;
                return true;
            }
        }
        if (!std::isfinite(norm)) return false;
        const bool slow = has_base_ && norm > 0.25 * norm_;
        if (has_base_ && !slow) update(x, at);
        std::ranges::copy(x, x_.begin());
        std::ranges::copy(at.g, g_.begin());
        std::ranges::copy(at.scale, scale_.begin());
        norm_ = norm;
        halvings_ = 0;
        has_base_ = true;
        fresh_ = false;
        return slow || !measured_ ? measure(x) : go(x);
    }

    bool measured(std::span<double> x, std::span<const double> g) override {
        if (column_ < 0) return false;
        const double by = x[index(column_)] - x_[index(column_)];
        for (Eigen::Index i = 0; i < r_.size(); ++i) slope_(i, column_) = (g[index(i)] - g_[index(i)]) / by;
        std::ranges::copy(x_, x.begin());
        if (++column_ < r_.size()) {
            disturb(x);
            return true;
        }
        column_ = -1;
        measured_ = fresh_ = slope_.allFinite();
        if (!measured_ || !go(x)) std::ranges::fill(x, std::numeric_limits<double>::quiet_NaN());
        return true;
    }

    void state(state_bytes& bytes) override {
        bytes.raw(slope_.data(), static_cast<std::size_t>(slope_.size()) * sizeof(double));
        bytes(measured_);
    }

   private:
    static std::size_t index(Eigen::Index i) { return static_cast<std::size_t>(i); }

    bool measure(std::span<double> x) {
        std::ranges::copy(x_, x.begin());
        column_ = 0;
        disturb(x);
        return true;
    }
    void disturb(std::span<double> x) const { x[index(column_)] += disturbance_ * scale_[index(column_)]; }

    /// Broyden's rank-one update: what the last step has shown.
    void update(std::span<const double> x, const look& at) {
        double square = 0;
        for (Eigen::Index i = 0; i < dx_.size(); ++i) {
            dx_[i] = x[index(i)] - x_[index(i)];
            square += std::pow(dx_[i] / at.scale[index(i)], 2);
        }
        if (!(square > 0)) return;
        for (Eigen::Index i = 0; i < r_.size(); ++i) r_[i] = at.g[index(i)] - g_[index(i)];
        r_.noalias() -= slope_ * dx_;
        for (Eigen::Index k = 0; k < dx_.size(); ++k)
            slope_.col(k) += r_ * (dx_[k] / std::pow(at.scale[index(k)], 2) / square);
    }

    bool go(std::span<double> x) {
        for (Eigen::Index i = 0; i < r_.size(); ++i) r_[i] = g_[index(i)] - x_[index(i)];
        lu_.compute(Eigen::MatrixXd::Identity(slope_.rows(), slope_.cols()) - slope_);
        dx_ = lu_.solve(r_);
        if (!dx_.allFinite()) return false;
        for (Eigen::Index i = 0; i < r_.size(); ++i) x[index(i)] = x_[index(i)] + dx_[i];
        return true;
    }

    double disturbance_;
    Eigen::MatrixXd slope_;  ///< dg/dx
    Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
    Eigen::VectorXd r_, dx_;
    std::vector<double> x_, g_, scale_;  ///< of the last iterate that was kept
    double norm_ = 0;
    Eigen::Index column_ = -1;  ///< that is being measured
    int halvings_ = 0;
    bool has_base_ = false, measured_ = false;
    bool fresh_ = false;  ///< the slopes belong to the last iterate
};

/// Where combinations of iterates do not get on: near the solution their differences are noise of those who evaluate g. Differences by
/// disturbances of a known size are not. More unknowns than that are too many to measure one by one.
constexpr std::size_t most_measured = 64;
constexpr int patience = 10;

std::unique_ptr<accelerator> make_rescue(std::size_t n, const options& o) {
    const bool combines = o.algorithm == options::solver::iqn_ils || o.algorithm == options::solver::anderson;
    if (!combines || n > most_measured) return nullptr;
    return std::make_unique<newton>(n, o.disturbance);
}

constexpr const char* singular = "the equations are singular: 1 - dg/dx has no inverse";

std::unique_ptr<accelerator> make_accelerator(std::size_t n, const options& o) {
    const auto depth = static_cast<std::size_t>(o.depth);
    switch (o.algorithm) {
        case options::solver::newton:
            return std::make_unique<newton>(n, o.disturbance);
        case options::solver::anderson:
            return std::make_unique<secants>(n, depth, 0, o);
        case options::solver::iqn_ils:
            return std::make_unique<secants>(n, std::clamp<std::size_t>(2 * n, 20, 100), o.reuse, o);
        case options::solver::fixed_point:
            break;
    }
    return std::make_unique<plain>(o.relaxation);
}

/// Registrations ask for them before main().
const std::vector<std::string>& solver_names() {
    static const std::vector<std::string> names{"newton", "anderson", "iqn-ils", "fixed-point"};
    return names;
}

}  // namespace

std::vector<parameter_info> fixed_point_parameters(const fixed_point_options& defaults) {
    using range = parameter_info::range;
    const auto number = [](const char* name, const char* text, double value, range allowed) {
        return parameter_info{.name = name,
                              .unit = "1",
                              .description = text,
                              .default_value = value,
                              .allowed = allowed,
                              .choices = {},
                              .symbol = {}};
    };
    parameter_info solver =
        number("solver", "how the next iterate is found", static_cast<double>(defaults.algorithm), range::any);
    solver.choices = solver_names();
    return {
        solver,
        number("tolerance", "of what an iteration changes, relative to the variable's largest value",
               defaults.tolerance, range::positive),
        number("absolute", "the same for values near zero, in SI units", defaults.absolute, range::not_negative),
        number("limit", "most iterations", defaults.limit, range::whole),
        number("relaxation", "part of the change that is made: by fixed-point always, by anderson and iqn-ils first",
               defaults.relaxation, range::positive),
        number("depth", "iterates that anderson combines", defaults.depth, range::whole),
        number("reuse", "earlier solutions whose iterates iqn-ils combines, too", defaults.reuse, range::not_negative)};
}

fixed_point_options fixed_point_options_of(const parameter_values& values) {
    fixed_point_options o;
    o.algorithm = static_cast<options::solver>(values["solver"]);
    o.tolerance = values["tolerance"];
    o.absolute = values["absolute"];
    o.limit = static_cast<int>(values["limit"]);
    o.relaxation = values["relaxation"];
    o.depth = static_cast<int>(values["depth"]);
    o.reuse = static_cast<int>(values["reuse"]);
    return o;
}

const char* name_of(fixed_point_options::solver algorithm) {
    return solver_names()[static_cast<std::size_t>(algorithm)].c_str();
}

void iteration_counts::add(const fixed_point& solved) {
    ++solutions;
    iterations += solved.iterations();
    evaluations += solved.evaluations();
    largest = std::max(largest, solved.iterations());
    residual = solved.residual();
}

fixed_point::fixed_point(std::size_t unknowns, const fixed_point_options& options)
    : options_(options),
      accelerator_(make_accelerator(unknowns, options)),
      rescue_(make_rescue(unknowns, options)),
      residuals_(unknowns),
      scale_(unknowns),
      size_(unknowns) {}
fixed_point::fixed_point(fixed_point&&) noexcept = default;
fixed_point& fixed_point::operator=(fixed_point&&) noexcept = default;
fixed_point::~fixed_point() = default;

void fixed_point::begin() {
    iterations_ = evaluations_ = 0;
    why_ = "";
    accelerator_->begin();
    acting_ = accelerator_.get();
}

/// Residuals; whether all are small enough.
bool fixed_point::look(std::span<const double> x, std::span<const double> g) {
    bool small = true;
    residual_ = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        residuals_[i] = g[i] - x[i];
        // An iterate that runs away is no measure: x = x + 1 has no solution at 1e10.
        const double size = std::max(std::min(std::abs(g[i]), 1e3 * scale_[i]), size_[i]), r = std::abs(residuals_[i]);
        const double relative = !std::isfinite(r) ? std::numeric_limits<double>::infinity()
                                : r == 0          ? 0
                                                  : r / std::max({size, std::abs(x[i]), options_.absolute});
        if (relative > residual_) {
            residual_ = relative;
            worst_ = i;
        }
        small = small && r <= options_.tolerance * size + options_.absolute;
    }
    return small;
}

fixed_point::outcome fixed_point::next(std::span<double> x, std::span<const double> g) {
    ++evaluations_;
    if (acting_->measured(x, g)) {
        if (std::isfinite(x[0])) return outcome::more;
        why_ = singular;
        return outcome::failed;
    }
    if (iterations_++ == 0)
        for (std::size_t i = 0; i < x.size(); ++i) {
            scale_[i] = std::max({size_[i], std::abs(g[i]), std::abs(x[i])});
            if (!(scale_[i] > 0) || !std::isfinite(scale_[i])) scale_[i] = 1;
        }
    const bool small = look(x, g);
    if (small) {
        acting_->end({g, residuals_, scale_});
        for (std::size_t i = 0; i < x.size(); ++i) size_[i] = std::max(size_[i], std::abs(g[i]));
        return outcome::done;
    }
    const bool finite = std::isfinite(residual_);
    why_ = finite ? "the limit is reached" : "values are not finite";
    const bool combining = acting_ == accelerator_.get();
    if (iterations_ >= options_.limit || (!finite && combining && options_.algorithm != options::solver::newton))
        return outcome::failed;
    if (rescue_ && combining && iterations_ >= patience + static_cast<int>(x.size())) {
        acting_ = rescue_.get();
        acting_->begin();
    }
    if (acting_->step(x, {g, residuals_, scale_})) return outcome::more;
    if (finite) why_ = singular;
    return outcome::failed;
}

void fixed_point::state(state_bytes& bytes) {
    bytes(residuals_, scale_, size_, iterations_, evaluations_, residual_, worst_);
    accelerator_->state(bytes);
    if (rescue_) rescue_->state(bytes);
}

}  // namespace mdpcosim
