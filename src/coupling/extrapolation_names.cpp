#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "core/suggest.hpp"
#include "coupling/extrapolation.hpp"
#include "coupling/optimised.hpp"

/// Extrapolations by name, and why a name is refused.
namespace mdpcosim {

namespace {

using family = extrapolation_rule::family;

constexpr int max_rate_points = 3;  // K of the families that use rates: beyond, stability is poor

/// A rule of the named kind with its mean coefficients on the constant grid; b holds the free ones.
extrapolation_rule named(std::string name, family kind, int K, int R, bool rates, std::vector<double> b) {
    extrapolation_rule rule;
    rule.name = std::move(name);
    rule.kind = kind;
    rule.K = K;
    rule.R = R;
    rule.uses_rates = rates;
    rule.b = std::move(b);
    std::vector<double> tau;
    for (int k = 0; k < K; ++k) tau.push_back(-k);
    solve_order_conditions(tau, R, !rates, rule.a, rule.b);
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

extrapolation_rule optimised(const optimised_set& set, std::string_view suffix) {
    return named(fmt::format("{}-2-{}-{}", family_name(set.kind), set.R, suffix), set.kind, 2, set.R, true,
                 {set.b[0], set.b[1]});
}

/// `opt-F` rules by name, for a given F.
std::optional<extrapolation_rule> rule_over_F(std::string_view name, double F) {
    for (const auto& o : optimised_for_stiff())
        if (const auto set = optimised_for(o.kind, o.R, F)) {
            extrapolation_rule rule = optimised(*set, "opt-F");
            if (rule.name == name) return rule;
        }
    return std::nullopt;
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
        for (const auto& [suffix, sets] : {std::pair("opt", optimised_for_stiff()), {"opt-2011", optimised_2011()}})
            for (const auto& o : sets)
                if (o.kind == kind) rules.push_back(optimised(o, suffix));
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
    auto names = extrapolation_names();
    for (auto& other : extrapolation_names_over_F()) names.push_back(std::move(other));
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
    if (needs_stiffness_ratio(name))
        throw std::invalid_argument(fmt::format(
            "extrapolation '{}' needs F, the stiffness of the connection over that of its ports, which is not "
            "known here: write {{name: {}, F: 20}}, or take '{}'.",
            name, name, name.substr(0, name.size() - 2)));
    refuse(name);
}

extrapolation_rule make_extrapolation(std::string_view name, double F) {
    if (!(F > 0)) throw std::invalid_argument(fmt::format("F is {}; a ratio of stiffnesses is greater than zero", F));
    if (auto rule = rule_over_F(name, F)) return *std::move(rule);
    return make_extrapolation(name);
}

bool needs_stiffness_ratio(std::string_view name) {
    static const std::vector<std::string> names = extrapolation_names_over_F();
    return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> extrapolation_names_over_F() {
    std::vector<std::string> names;
    for (const auto& o : optimised_for_stiff())
        if (const auto set = optimised_for(o.kind, o.R, 1)) names.push_back(optimised(*set, "opt-F").name);
    return names;
}

std::vector<std::string> extrapolation_names() {
    std::vector<std::string> names;
    for (const auto& rule : rule_table()) names.push_back(rule.name);
    return names;
}

}  // namespace mdpcosim
