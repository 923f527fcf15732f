#include "coupling/extrapolation.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "core/suggest.hpp"

/// Every weight set solves one kind of linear system. A functional L (the mean over the step, or the n-th coefficient
/// of the interpolating polynomial) is written as sum_k (a_k u(tau_k) + b_k u'(tau_k)) and made exact for the
/// monomials s^r, r = 0 .. R-1:
///     sum_k ( tau_k^r a_k + r tau_k^(r-1) b_k ) = L[s^r] ,
/// the confluent Vandermonde system; for the mean L[s^r] = 1/(r+1), which is r! times (2.28). Solved in extended
/// precision with complete pivoting and fixed maximal sizes, so that nothing allocates.
namespace mdpcosim {

namespace {

using real = long double;
using family = extrapolation_rule::family;

constexpr int max_unknowns = 2 * max_history;
using small_matrix = Eigen::Matrix<real, Eigen::Dynamic, Eigen::Dynamic, 0, max_unknowns, max_unknowns>;
using coefficients = std::array<double, max_history>;

constexpr double condition_tolerance = 1e-6;

/// Column of `tau_k^r` (values) or `r tau_k^(r-1)` (rates) for r = 0 .. R-1; columns 0 .. K-1 are values, then rates.
real moment(std::span<const double> tau, int column, int r) {
    const int K = static_cast<int>(tau.size());
    const real t = tau[column % K];
    const int exponent = column < K ? r : r - 1;
    if (exponent < 0) return 0;
    real power = column < K ? 1 : r;
    for (int i = 0; i < exponent; ++i) power *= t;
    return power;
}

small_matrix moments(std::span<const double> tau, int R) {
    small_matrix m(R, R);
    for (int r = 0; r < R; ++r)
        for (int column = 0; column < R; ++column) m(r, column) = moment(tau, column, r);
    return m;
}

/// The first R of a_0 .. a_{K-1}, b_0 .. b_{K-1} from the R order conditions, the others as they are.
void solve_mean(std::span<const double> tau, int R, std::span<double> a, std::span<double> b) {
    const int K = static_cast<int>(tau.size());
    small_matrix rhs(R, 1);
    for (int r = 0; r < R; ++r) {
        rhs(r, 0) = real{1} / (r + 1);
        for (int column = R; column < 2 * K; ++column)
            rhs(r, 0) -= moment(tau, column, r) * (column < K ? a[column] : b[column - K]);
    }
    const small_matrix x = moments(tau, R).fullPivLu().solve(rhs);
    for (int column = 0; column < R; ++column)
        (column < K ? a[column] : b[column - K]) = static_cast<double>(x(column, 0));
}

/// Interpolation of K values and, with rates, K rates: weights of all monomial coefficients.
void interpolation_weights(std::span<const double> tau, bool rates, extrapolation_weights& w) {
    const int K = static_cast<int>(tau.size());
    const int R = rates ? 2 * K : K;
    const small_matrix inverse = moments(tau, R).fullPivLu().inverse();
    w.degree = R - 1;
    for (int n = 0; n < R; ++n)
        for (int column = 0; column < R; ++column)
            (column < K ? w.A[n][column] : w.B[n][column - K]) = static_cast<double>(inverse(column, n));
}

/// (2.10), (2.34) to (2.36) and (2.38): the polynomial whose mean is sum_k (a_k u + b_k H du).
void mean_weights(const extrapolation_rule& rule, const coefficients& a, const coefficients& b,
                  extrapolation_weights& w) {
    const int n = rule.degree;
    w.degree = n;
    const double scale = n + 1;
    for (int k = 0; k < w.points; ++k) {
        w.A[n][k] = scale * a[k];
        w.B[n][k] = scale * b[k];
    }
    if (n == 0) return;
    if (rule.continuous) {
        w.C[0] = 1;
        w.C[n] = -scale;
    } else {
        w.A[0][0] = 1;
        w.A[n][0] = scale * (a[0] - 1);
    }
    if (n == 2) {
        w.B[1][0] = 1;
        w.B[2][0] = scale * (b[0] - 0.5);
    }
}

// ---- names ----------------------------------------------------------------------------------------------------------

constexpr int max_rate_points = 3;  // K of the families that use rates: beyond, stability is poor

std::string_view family_name(family kind) {
    constexpr std::array<std::string_view, 5> names{"poly", "hermite", "const", "lin", "quad"};
    return names[static_cast<std::size_t>(kind)];
}

std::array<double, max_history> constant_grid() {
    std::array<double, max_history> tau{};
    for (int k = 0; k < max_history; ++k) tau[k] = -k;
    return tau;
}

/// The published free coefficients b_k of the optimised rules: (2.64), (2.65), (2.67), (2.68); b_0 is free for R = 2
/// only.
struct optimised {
    family kind;
    int R;
    double b_0, b_1;
};
constexpr std::array<optimised, 4> optimised_2011{{
    {family::constant, 2, 0.363, -0.2},
    {family::constant, 3, 0, 0},
    {family::linear, 2, 0.667, -0.0069},
    {family::linear, 3, 0, -0.20322},
}};

/// A rule of the named kind with its mean coefficients on the constant grid; b holds the free ones.
extrapolation_rule named(std::string name, family kind, int K, int R, bool rates, std::vector<double> b) {
    extrapolation_rule rule;
    rule.name = std::move(name);
    rule.kind = kind;
    rule.K = K;
    rule.R = R;
    rule.uses_rates = rates;
    rule.a.assign(K, 0.0);
    rule.b = std::move(b);
    rule.b.resize(K, 0.0);
    const auto tau = constant_grid();
    solve_mean(std::span(tau).first(K), R, rule.a, rule.b);
    switch (kind) {
        case family::poly:
        case family::hermite:
            rule.degree = R - 1;
            break;
        case family::constant:
            rule.degree = 0;
            break;
        case family::linear:
            rule.degree = 1;
            break;
        case family::quadratic:
            rule.degree = 2;
            break;
    }
    return rule;
}

std::vector<extrapolation_rule> make_table() {
    std::vector<extrapolation_rule> table;
    for (int K = 1; K <= max_history; ++K)
        table.push_back(named(fmt::format("poly-{}", K), family::poly, K, K, false, {}));
    for (int K = 1; K <= max_rate_points; ++K)
        table.push_back(named(fmt::format("hermite-{}", K), family::hermite, K, 2 * K, true, {}));
    for (const family kind : {family::constant, family::linear, family::quadratic}) {
        std::vector<extrapolation_rule> rules;
        for (int K = 1; K <= max_rate_points; ++K)
            rules.push_back(named(fmt::format("{}-{}-{}", family_name(kind), K, 2 * K), kind, K, 2 * K, true, {}));
        for (int K = 1; kind != family::quadratic && K <= max_history; ++K)
            rules.push_back(named(fmt::format("{}-{}-{}-b0", family_name(kind), K, K), kind, K, K, false, {}));
        for (const char* suffix : {"opt", "opt-2011"})
            for (const auto& o : optimised_2011)
                if (o.kind == kind)
                    rules.push_back(named(fmt::format("{}-2-{}-{}", family_name(kind), o.R, suffix), kind, 2, o.R, true,
                                          {o.b_0, o.b_1}));
        table.insert(table.end(), rules.begin(), rules.end());
        if (kind != family::linear) continue;
        for (auto& rule : rules) {
            rule.name += "-continuous";
            rule.continuous = true;
            table.push_back(std::move(rule));
        }
    }
    return table;
}

const std::vector<extrapolation_rule>& rule_table() {
    static const std::vector<extrapolation_rule> table = make_table();
    return table;
}

// ---- why a name is refused ------------------------------------------------------------------------------------------

/// "const-2-3-b0" -> const, {2, 3}, "b0"; nothing when the text is no family with numbers.
struct name_parts {
    std::string_view family_text;
    std::vector<int> numbers;
    std::string_view suffix;
};

std::optional<name_parts> split(std::string_view name) {
    const auto dash = name.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    name_parts parts{name.substr(0, dash), {}, {}};
    std::string_view rest = name.substr(dash);
    while (rest.size() > 1 && rest.front() == '-') {
        int number = 0;
        const auto [end, status] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
        if (status != std::errc{} || (end != rest.data() + rest.size() && *end != '-')) break;
        parts.numbers.push_back(number);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    }
    if (!rest.empty()) parts.suffix = rest.substr(1);
    return parts;
}

std::vector<std::string> variants_of(std::string_view family_text, int K) {
    std::vector<std::string> names;
    for (const auto& rule : rule_table())
        if (family_name(rule.kind) == family_text && rule.K == K) names.push_back(rule.name);
    return names;
}

/// The reason why const-K-R, lin-K-R or quad-K-R is no rule, or an empty text.
std::string reason(const name_parts& parts) {
    const auto& [family_text, numbers, suffix] = parts;
    if (family_text == "poly" && numbers.size() == 1)
        return fmt::format("poly-K interpolates K values, K = 1 to {}", max_history);
    if (family_text == "hermite" && numbers.size() == 1)
        return fmt::format("hermite-K interpolates K values and rates, K = 1 to {}", max_rate_points);
    if ((family_text != "const" && family_text != "lin" && family_text != "quad") || numbers.size() != 2) return {};
    const int K = numbers[0], R = numbers[1];
    if (K < 1) return "K must be at least 1";
    if (family_text == "quad" && suffix == "b0")
        return "a quadratic extrapolation needs du/dt for its slope (2.38b), so that b = 0 saves nothing; a coupling "
               "without rates takes poly-3";
    if (suffix.starts_with("b0") && R != K)
        return fmt::format("without rates the {} coefficients a_k satisfy exactly K = {} conditions", K, K);
    if (R > 2 * K) return fmt::format("{} coefficients a_k, b_k cannot satisfy {} order conditions", 2 * K, R);
    if (suffix.empty() && R >= 1 && R < 2 * K)
        return fmt::format(
            "K = {} and R = {} leave {} free coefficient{}, which the name does not fix; give own coefficients "
            "a and b for others",
            K, R, 2 * K - R, 2 * K - R == 1 ? "" : "s");
    if (K > max_rate_points && !suffix.starts_with("b0"))
        return fmt::format("with rates K is 1 to {}", max_rate_points);
    return {};
}

[[noreturn]] void refuse(std::string_view name) {
    const auto names = extrapolation_names();
    const auto parts = split(name);
    const std::string why = parts ? reason(*parts) : std::string{};
    if (why.empty())
        throw std::invalid_argument(
            fmt::format("extrapolation '{}' does not exist. The families are poly-K, hermite-K, const-K-R, "
                        "lin-K-R and quad-K-R.{}",
                        name, did_you_mean(name, names)));
    std::vector<std::string> allowed = variants_of(parts->family_text, parts->numbers[0]);
    if (allowed.empty())
        for (int K = 1; K <= max_history; ++K)
            for (auto& other : variants_of(parts->family_text, K)) allowed.push_back(std::move(other));
    throw std::invalid_argument(
        fmt::format("extrapolation '{}' does not exist: {}. Allowed: {}.", name, why, name_list(allowed)));
}

}  // namespace

extrapolation_rule make_extrapolation(std::string_view name) {
    for (const auto& rule : rule_table())
        if (rule.name == name) return rule;
    refuse(name);
}

std::vector<std::string> extrapolation_names() {
    std::vector<std::string> names;
    for (const auto& rule : rule_table()) names.push_back(rule.name);
    return names;
}

extrapolation_rule make_extrapolation(int degree, std::vector<double> a, std::vector<double> b, bool continuous) {
    if (degree < 0 || degree > 2)
        throw std::invalid_argument(
            fmt::format("own coefficients a, b fix the mean of degree 0, 1 or 2, not of degree {}", degree));
    if (a.empty() || a.size() > max_history || a.size() != b.size())
        throw std::invalid_argument(fmt::format(
            "a has {} coefficients and b has {}; both need the same number, 1 to {}", a.size(), b.size(), max_history));
    if (continuous && degree != 1)
        throw std::invalid_argument(
            fmt::format("forced continuity is a variant of degree 1, not of degree {}", degree));
    for (const auto& list : {a, b})
        for (const double value : list)
            if (!std::isfinite(value)) throw std::invalid_argument("the coefficients a and b must be finite numbers");

    extrapolation_rule rule;
    rule.kind = degree == 0 ? family::constant : degree == 1 ? family::linear : family::quadratic;
    rule.degree = degree;
    rule.K = static_cast<int>(a.size());
    rule.continuous = continuous;
    rule.a = std::move(a);
    rule.b = std::move(b);
    const bool b_is_zero = std::all_of(rule.b.begin(), rule.b.end(), [](double value) { return value == 0; });
    rule.uses_rates = degree == 2 || !b_is_zero;

    const auto grid = constant_grid();
    const auto tau = std::span(grid).first(rule.K);
    const auto holds = [&](int r) {
        real sum = -real{1} / (r + 1), size = real{1} / (r + 1);
        for (int column = 0; column < 2 * rule.K; ++column) {
            const real term = moment(tau, column, r) * (column < rule.K ? rule.a[column] : rule.b[column - rule.K]);
            sum += term;
            size += std::abs(term);
        }
        return std::abs(sum) <= condition_tolerance * size;
    };
    rule.R = 0;
    const int most = b_is_zero ? rule.K : 2 * rule.K;
    while (rule.R < most && holds(rule.R)) ++rule.R;
    if (rule.R == 0) {
        double sum = 0;
        for (const double value : rule.a) sum += value;
        throw std::invalid_argument(fmt::format(
            "the coefficients a must add up to 1 (2.28a), otherwise a constant u is not kept; their sum is {}", sum));
    }
    rule.name = fmt::format("{}-{}-{}-own{}", family_name(rule.kind), rule.K, rule.R, continuous ? "-continuous" : "");
    return rule;
}

void solve_order_conditions(std::span<const double> tau, int R, bool without_rates, std::vector<double>& a,
                            std::vector<double>& b) {
    const int K = static_cast<int>(tau.size());
    if (K < 1 || K > max_history || R < 1 || R > (without_rates ? K : 2 * K))
        throw std::invalid_argument(fmt::format("{} points cannot satisfy {} order conditions", K, R));
    a.resize(K, 0.0);
    b.resize(K, 0.0);
    if (without_rates) std::fill(b.begin(), b.end(), 0.0);
    solve_mean(tau, R, a, b);
}

double order_condition(std::span<const double> tau, std::span<const double> a, std::span<const double> b, int r) {
    const int K = static_cast<int>(tau.size());
    real sum = -real{1} / (r + 1);
    for (int column = 0; column < 2 * K; ++column)
        sum += moment(tau, column, r) * (column < K ? a[column] : b[column - K]);
    return static_cast<double>(sum / std::tgamma(real(r) + 1));
}

bool on_constant_grid(std::span<const double> tau) {
    for (std::size_t k = 0; k < tau.size(); ++k)
        if (!(std::abs(tau[k] + static_cast<double>(k)) < 1e-9)) return false;
    return true;
}

extrapolation_weights make_weights(const extrapolation_rule& rule, std::span<const double> tau) {
    extrapolation_weights w;
    w.points = std::min(rule.K, static_cast<int>(tau.size()));
    w.uses_rates = rule.uses_rates;
    w.uses_end = rule.continuous;
    tau = tau.first(w.points);
    const auto grid = constant_grid();
    const bool constant = on_constant_grid(tau);
    if (constant) tau = std::span(grid).first(w.points);

    if (rule.kind == family::poly || rule.kind == family::hermite) {
        interpolation_weights(tau, rule.uses_rates, w);
        return w;
    }
    coefficients a{}, b{};
    if (w.points < rule.K) {  // start: as many conditions as the points can satisfy
        const bool rates = rule.uses_rates;
        solve_mean(tau, rates ? 2 * w.points : w.points, std::span(a).first(w.points), std::span(b).first(w.points));
    } else {
        std::copy(rule.a.begin(), rule.a.end(), a.begin());
        std::copy(rule.b.begin(), rule.b.end(), b.begin());
        if (!constant) solve_mean(tau, rule.R, std::span(a).first(w.points), std::span(b).first(w.points));
    }
    mean_weights(rule, a, b, w);
    return w;
}

}  // namespace mdpcosim
