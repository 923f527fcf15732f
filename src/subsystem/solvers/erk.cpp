#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "subsystem/solvers/adaptive_options.hpp"
#include "subsystem/solvers/erk_pairs.hpp"
#include "subsystem/solvers/one_step.hpp"

/// Explicit Runge-Kutta methods with error control (erk-2 to erk-8; the pairs: erk_pairs.hpp). With the error e relative to the
/// tolerance, the root of the mean square of (b_j - b*_j) h k_j / (rtol |x| + atol), the next micro step is
///     h 0.9 e^(-1/(p+1)),  between a tenth and ten times the last one,
/// p being the order of b*. This controller has no memory, so that (x, t, h) is the whole state of the solver. k_1 is never
/// taken over from before the macro step, where the inputs jump. The first step: Hairer, Norsett, Wanner: Solving Ordinary
/// Differential Equations I, II.4.
namespace mdpcosim {

namespace {

using two_doubles = double __attribute__((vector_size(2 * sizeof(double))));

template <class V>
V load(const double* from) {
    V v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

template <class V>
void store(V v, double* to) {
    std::memcpy(to, &v, sizeof v);
}

inline double magnitude(double x) { return std::fabs(x); }
inline two_doubles magnitude(two_doubles x) { return x < 0 ? -x : x; }

/// work(j, V) for all of 0 ... n - 1: by two, or one by one and unrolled where N = n is known when compiling. A model writes its few
/// derivatives one by one, and loads that span two stores wait for both.
template <std::size_t N, class Work>
[[gnu::always_inline]] inline void for_states(std::size_t n, const Work& work) {
    if constexpr (N > 0) {
        [&]<std::size_t... j>(std::index_sequence<j...>) { (work(j, double{}), ...); }
        (std::make_index_sequence<N>{});
    } else {
        std::size_t j = 0;
        for (; j + 2 <= n; j += 2) work(j, two_doubles{});
        if (j < n) work(j, double{});
    }
}

/// What does not depend on the pair.
class adaptive_solver : public one_step_solver {
   public:
    adaptive_solver(const char* name, const adaptive_options& options) : one_step_solver(name), options_(options) {}

    void initialise(equations& model, double t0, std::span<double> x) override;

    std::size_t memory_size() const override { return 1 + one_step_solver::memory_size(); }
    void memory(std::span<double> into) const override {
        into[0] = step_.size;
        one_step_solver::memory(into.subspan(1));
    }
    void set_memory(std::span<const double> from) override {
        step_.size = from[0];
        one_step_solver::set_memory(from.subspan(1));
    }

    bool chooses_step() const override { return true; }
    double next_step() const override { return step_.size; }

    subsystem_statistics statistics() const override {
        subsystem_statistics all = one_step_solver::statistics();
        all.rejected = rejected_;
        return all;
    }

   protected:
    virtual std::size_t stages() const = 0;

    /// (rtol |x| + atol) of states j, j + 1.
    template <class V>
    V tolerance(const double* x, std::size_t j) const {
        const V part = options_.rtol * magnitude(load<V>(x + j));
        return atol_ ? part + load<V>(atol_ + j) : part + options_.atol;
    }
    double norm(const double* x, const double* v) const;
    double first_step(double s, double end, double* k, double* z, int order);
    /// Whether the step has to be taken again, with which one is the growth; throws where that would be in vain.
    double growth_after_failure(double s, double h, double square, const double* k, const double* c, int failures,
                                double exponent);
    [[noreturn]] void fail(double s, const std::string& reason) const;

    adaptive_options options_;
    remembered_step step_;
    const double* atol_ = nullptr;  ///< of each state; nullptr: one for all
    std::int64_t rejected_ = 0;
    std::int64_t last_allowed_ = 0;  ///< micro steps at which there are too many of them in this macro step
};

void adaptive_solver::initialise(equations& model, double t0, std::span<double> x) {
    one_step_solver::initialise(model, t0, x);
    const std::size_t n = x.size();
    reserve(static_cast<std::size_t>(model.describe().input_count()), (stages() + 3) * n, true);
    double* atol = now_.work + (stages() + 2) * n;
    for (std::size_t i = 0; i < n; ++i) {
        const double nominal = model.nominal(static_cast<int>(i));
        atol[i] = options_.atol * nominal;
        if (nominal != 1) atol_ = atol;
    }
}

double adaptive_solver::norm(const double* x, const double* v) const {
    double sum = 0;
    for (std::size_t i = 0; i < now_.n; ++i) {
        const double e = v[i] / tolerance<double>(x, i);
        sum += e * e;
    }
    return now_.n == 0 ? 0 : std::sqrt(sum / static_cast<double>(now_.n));
}

/// From k = f at s and a step of Euler's method of a size that changes the state by 1 %.
double adaptive_solver::first_step(double s, double end, double* k, double* z, int order) {
    const double *x = now_.x, d_0 = norm(x, x), d_1 = norm(x, k);
    if (!std::isfinite(d_1)) return end - s;
    double *k_2 = k + now_.n, h_0 = d_0 < 1e-5 || d_1 < 1e-5 ? 1e-6 : 0.01 * d_0 / d_1;
    h_0 = std::min(h_0, end - s);
    for (std::size_t i = 0; i < now_.n; ++i) z[i] = x[i] + h_0 * k[i];
    now_.derivatives(s + h_0, z, k_2);
    for (std::size_t i = 0; i < now_.n; ++i) k_2[i] -= k[i];
    const double d_2 = norm(x, k_2) / h_0, d = std::max(d_1, d_2);
    if (!std::isfinite(d)) return h_0;
    const double h_1 = d <= 1e-15 ? std::max(1e-6, h_0 * 1e-3) : std::pow(0.01 / d, 1.0 / order);
    return std::min(100 * h_0, h_1);
}

double adaptive_solver::growth_after_failure(double s, double h, double square, const double* k, const double* c,
                                             int failures, double exponent) {
    constexpr int most_failures = 25;
    ++rejected_;
    const std::size_t n = now_.n;
    const bool hopeless = failures > most_failures || h <= time_resolution(now_.begin + s);
    if (!std::isfinite(square)) {
        // A right-hand side that is not finite at an accepted state cannot be cured by a smaller step.
        for (std::size_t row = 0; row < (hopeless ? stages() : 1); ++row)
            for (std::size_t i = 0; i < n; ++i)
                if (!std::isfinite(k[row * n + i]))
                    fail(s, not_finite_right_hand_side(now_.model->state_name(static_cast<int>(i)),
                                                       now_.begin + s + c[row] * h));
    } else if (norm(now_.x, now_.x) * std::numeric_limits<double>::epsilon() > 1) {
        fail(s, tolerances_too_tight(options_));
    }
    if (hopeless) {
        // What rounding leaves of an increment is more than a tolerance of next to nothing allows to a state at zero.
        double rate = 0;  // of the first stage that moves
        for (std::size_t j = 0; j < stages() * n && (j % n > 0 || rate == 0); ++j)
            rate = std::max(rate, std::fabs(k[j]) / tolerance<double>(now_.x, j % n));
        if (h * rate * std::numeric_limits<double>::epsilon() > 1) fail(s, tolerances_too_tight(options_));
        fail(s, error_test_fails(true));
    }
    const double factor = std::isfinite(square) ? remembered_step::safety * std::pow(square, exponent) : 0;
    return std::clamp(factor, remembered_step::least_growth, failures > 1 ? 0.3 : 1.0);
}

void adaptive_solver::fail(double s, const std::string& reason) const {
    throw run_error(fmt::format("{} at t = {:.9g}: {}", name_, now_.begin + s, reason));
}

template <const auto& pair>
class erk_solver final : public adaptive_solver {
   public:
    explicit erk_solver(const adaptive_options& options) : adaptive_solver(pair.name, options) {}

    void integrate(double begin, double end, std::span<const polynomial> inputs, std::span<double> x) override {
        few_numbers numbers;
        const lending here(*this, numbers);
        start(begin, inputs, x);
        last_allowed_ = micro_steps_ + options_.max_steps;
        if (undisturbed(end)) [[likely]]
            run(0, end - begin);
        else
            integrate_watched(end);
    }

   private:
    static constexpr std::size_t last = pair.stages - 1;

    std::size_t stages() const override { return pair.stages; }

    double run(double s, double end) override {
        if (has_to_cover()) return cover(s, end);
        switch (now_.n) {
            case 0:
                ++micro_steps_;
                break;
            case 1:
                run_all<1>(s, end);
                break;
            case 2:
                run_all<2>(s, end);
                break;
            case 3:
                run_all<3>(s, end);
                break;
            case 4:
                run_all<4>(s, end);
                break;
            default:
                run_all<0>(s, end);
        }
        return end;
    }

    double micro(double s, double end) override {
        const double h = step<0>(s, end, now_.work, known_);
        known_ = pair.last_is_first();
        return h;
    }
    void again(double s, double h) override {
        const std::size_t n = now_.n;
        double* z = now_.work + pair.stages * n;
        if (n > 0) attempt<0>(s, h, now_.work, z);
        std::copy_n(z, n, now_.x);
    }
    void forget_derivative() override { known_ = false; }

    /// The stages of few states live on the stack.
    template <std::size_t N>
    void run_all(double s, double end) {
        double few[N > 0 ? (pair.stages + 2) * N : 1];
        double* k = N > 0 ? few : now_.work;
        for (bool known = false; s < end; known = pair.last_is_first()) {
            const double h = step<N>(s, end, k, known);
            s = h == end - s ? end : s + h;
        }
    }

    template <std::size_t N>
    double step(double s, double end, double* k, bool known);
    template <std::size_t N>
    double attempt(double s, double h, double* k, double* z);
    template <std::size_t N, std::size_t I>
    void stage(double s, double h, double* k, double* z);
    template <std::size_t I, class V>
    [[gnu::always_inline]] static inline V increment(const double* k, std::size_t n, std::size_t j);

    bool known_ = false;  ///< the last stage is f at the present state
};

/// One micro step that passes the error test; how long it is. k are the stages, x the state before and after. `known`: the last
/// stage is f there.
template <const auto& pair>
template <std::size_t N>
double erk_solver<pair>::step(double s, double end, double* k, bool known) {
    constexpr double exponent = -0.5 / (pair.embedded + 1);
    // From here on the step grows tenfold.
    constexpr double negligible = [] {
        double e = 1;
        for (int i = 0; i < 2 * (pair.embedded + 1); ++i) e *= remembered_step::safety / remembered_step::most_growth;
        return e;
    }();
    const std::size_t n = N > 0 ? N : now_.n;
    double* z = k + pair.stages * n;
    if (micro_steps_ >= last_allowed_) [[unlikely]]
        fail(s, too_many_steps(options_, true));
    if (n == 0) {
        ++micro_steps_;
        return options_.max_step > 0 ? std::min(options_.max_step, end - s) : end - s;
    }
    if (known)
        std::copy_n(k + last * n, n, k);
    else
        now_.derivatives(s, now_.x, k);
    double h = step_.size;
    if (h == 0) [[unlikely]] {
        h = first_step(s, end, k, z, pair.order);
        if (options_.max_step > 0) h = std::min(h, options_.max_step);
    }
    double most_growth = remembered_step::most_growth;
    for (int failures = 1;; ++failures) {
        // No tiny rest remains.
        const double stretched = h == options_.max_step ? (1 + 1e-10) * h : 1.01 * h;
        if (stretched >= end - s) h = end - s;
        const double square = attempt<N>(s, h, k, z);
        if (square <= 1) [[likely]] {
            const double factor =
                square <= negligible ? most_growth : remembered_step::safety * std::pow(square, exponent);
            step_.learn(h, std::min(factor, most_growth), options_.max_step);
            break;
        }
        const double factor = growth_after_failure(s, h, square, k, pair.c.data(), failures, exponent);
        step_.learn(h, factor, options_.max_step);
        h *= factor;
        most_growth = 1;
    }
    ++micro_steps_;
    std::copy_n(z, n, now_.x);
    return h;
}

/// k_2, k_3 ... from k_1, and the state after h in z. The square of the error.
template <const auto& pair>
template <std::size_t N>
double erk_solver<pair>::attempt(double s, double h, double* k, double* z) {
    const std::size_t n = N > 0 ? N : now_.n;
    const double* x = now_.x;
    [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
        (stage<N, I + 1>(s, h, k, z), ...);
    }
    (std::make_index_sequence<last>{});
    two_doubles sums{};
    double sum = 0;
    for_states<N>(
        n, [&]<class V>(std::size_t j, V) __attribute__((always_inline)) {
            if constexpr (!pair.last_is_first()) store(load<V>(x + j) + h * increment<pair.stages, V>(k, n, j), z + j);
            const V e = h * increment<pair.stages + 1, V>(k, n, j) / tolerance<V>(x, j);
            if constexpr (sizeof(V) == sizeof(double))
                sum += e * e;
            else
                sums += e * e;
        });
    return (sums[0] + sums[1] + sum) / static_cast<double>(n);
}

template <const auto& pair>
template <std::size_t N, std::size_t I>
void erk_solver<pair>::stage(double s, double h, double* k, double* z) {
    const std::size_t n = N > 0 ? N : now_.n;
    const double* x = now_.x;
    for_states<N>(
        n, [&]<class V>(std::size_t j, V)
               __attribute__((always_inline)) { store(load<V>(x + j) + h * increment<I, V>(k, n, j), z + j); });
    now_.derivatives(s + pair.c[I] * h, z, k + I * n);
}

/// sum_j a_Ij k_j; of b in the row behind the last stage, of b - b* in the next.
template <const auto& pair>
template <std::size_t I, class V>
[[gnu::always_inline]] inline V erk_solver<pair>::increment(const double* k, std::size_t n, std::size_t j) {
    constexpr auto weights = [] {
        if constexpr (I < pair.stages) return pair.a[I];
        auto row = pair.b;
        if (I > pair.stages)
            for (std::size_t i = 0; i < pair.stages; ++i) row[i] = pair.error(i);
        return row;
    }();
    V sum{};
    [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
        const auto add = [&]<std::size_t m>(std::integral_constant<std::size_t, m>) __attribute__((always_inline)) {
            if constexpr (weights[m] != 0) sum += weights[m] * load<V>(k + m * n + j);
        };
        (add(std::integral_constant<std::size_t, i>{}), ...);
    }
    (std::make_index_sequence<pair.stages>{});
    return sum;
}

template <const auto&... pairs>
bool register_pairs() {
    (solver_registry::instance().add({pairs.name, pairs.summary, adaptive_option_list(),
                                      [](const parameter_values& values) {
                                          return std::make_unique<erk_solver<pairs>>(read_adaptive_options(values));
                                      }}),
     ...);
    return true;
}

const bool registered = register_pairs<heun_euler, bogacki_shampine, zonneveld, dormand_prince, verner_6, verner_8>();

}  // namespace

}  // namespace mdpcosim
