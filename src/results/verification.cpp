#include "results/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "results/compare.hpp"

namespace mdpcosim {

namespace {

constexpr double rounding = 1e-11;  ///< of the range: differences below have no order
constexpr double lowest_order = 0.5, highest_order = 8;

// Of a variable's range.
constexpr double good_below = 0.03, wrong_from = 0.25;

std::optional<double> observed_order(const variable_error& fine, const variable_error& coarse) {
    if (!(fine.relative > rounding) || !(fine.rms > 0) || !std::isfinite(coarse.rms)) return std::nullopt;
    const double order = std::log2(coarse.rms / fine.rms);
    return std::isfinite(order) ? std::optional(order) : std::nullopt;
}

/// What the difference to half the step is multiplied by.
double share_of_error(std::optional<double> order) {
    const double p = std::clamp(order.value_or(1), lowest_order, highest_order);
    return std::exp2(p) / (std::exp2(p) - 1);
}

/// Differences that shrink faster than any method's: the larger step is near the limit of stability or beyond.
bool is_no_order(double order) { return order > highest_order; }

std::string order_text(std::optional<double> order) {
    return order && !is_no_order(*order) ? fmt::format("{:.1f}", *order) : "-";
}

}  // namespace

verification verify(const result_table& run, const result_table& half, const result_table& twice,
                    const std::vector<std::string>& coupled) {
    verification v;
    const std::set<std::string> counts(coupled.begin(), coupled.end());
    std::unordered_map<std::string, variable_error> coarse;
    if (twice.rows() > 0)
        for (auto& e : compare_tables(run, twice).errors) coarse.emplace(e.name, e);
    std::vector<double> orders;
    const comparison with_half = compare_tables(run, half);
    const std::vector<double> relative = errors_among_their_kind(with_half);
    for (std::size_t i = 0; i < relative.size(); ++i) {
        const variable_error& fine = with_half.errors[i];
        verification::variable x;
        x.name = fine.name;
        x.time = fine.time;
        x.coupled = counts.contains(fine.name);
        if (const auto found = coarse.find(fine.name); found != coarse.end())
            x.order = observed_order(fine, found->second);
        x.error = share_of_error(x.order) * fine.max_error;
        x.relative = share_of_error(x.order) * relative[i];
        if (x.coupled && x.order) orders.push_back(*x.order);
        v.variables.push_back(std::move(x));
    }
    std::ranges::stable_sort(v.variables, [](const auto& a, const auto& b) {
        return a.coupled != b.coupled ? a.coupled : a.relative > b.relative;
    });
    if (!orders.empty()) {
        const auto middle = orders.begin() + static_cast<std::ptrdiff_t>(orders.size() / 2);
        std::ranges::nth_element(orders, middle);
        v.order = *middle;
    }
    return v;
}

void judge(const verification& v, verdict& judged) {
    judged.measured = true;
    if (v.half != "done") {
        judged.add(trust::doubtful, fmt::format("with half the macro step: {}", v.half),
                   "the step cannot be judged by it");
        return;
    }
    const verification::variable* worst = v.worst();
    if (worst == nullptr) return;
    const bool converges = !worst->order || *worst->order >= lowest_order;
    // Where differences do not shrink with the step the estimate is a lower bound, and the guesses stay.
    if ((converges || worst->relative < good_below) && v.unmeasured.empty()) judged.drop_guesses();
    if (worst->relative < good_below) return;
    judged.add(worst->relative < wrong_from ? trust::doubtful : trust::wrong,
               fmt::format("'{}' is off by about {:.3g} at t = {:.6g} s, {:.2g} % of its range, as {} "
                           "shows{}",
                           worst->name, worst->error, worst->time, 100 * worst->relative,
                           v.controlled ? "a quarter of the tolerance" : "half the macro step",
                           converges ? "" : "; results of smaller steps do not come nearer to each other"),
               converges
                   ? (v.controlled ? "take smaller tolerances, or another method"
                                   : "take a smaller macro step, or another method")
                   : "take a much smaller macro step; events that come at other times, or chaos, look like this, too");
}

std::string to_table(const verification& v) {
    constexpr std::size_t most = 5;
    const char* change =
        v.controlled ? "tolerances a quarter and four times as large" : "half and twice the macro step";
    std::string out = fmt::format("  verified with {}: ", change);
    if (v.half != "done") return out + fmt::format("no estimate, {}\n", v.half);
    if (!v.order)
        out += "order not known\n";
    else if (is_no_order(*v.order))
        out += "the larger one is far worse, the limit of stability is near\n";
    else
        out += fmt::format("observed order {:.1f}\n", *v.order);
    if (!v.unmeasured.empty())
        out +=
            fmt::format("  nothing of '{}' is recorded: what one run alone shows of it still counts\n", v.unmeasured);
    if (v.twice != "done") out += fmt::format("  with the larger one: {}\n", v.twice);
    std::size_t width = 16;
    const std::size_t shown = std::min(most, v.variables.size());
    for (std::size_t i = 0; i < shown; ++i) width = std::max(width, v.variables[i].name.size());
    out += fmt::format("\n  {:<{}} {:>12} {:>12} {:>12} {:>8}\n", "variable", width, "error about", "at t [s]",
                       "of range", "order");
    for (std::size_t i = 0; i < shown; ++i) {
        const auto& x = v.variables[i];
        out += fmt::format("  {:<{}} {:>12.3g} {:>12.6g} {:>12} {:>8}{}\n", x.name, width, x.error, x.time,
                           fmt::format("{:.2g} %", 100 * x.relative), order_text(x.order),
                           x.coupled ? "" : "  not coupled");
    }
    if (v.variables.size() > shown)
        out += fmt::format("  ... and {} more in summary.json\n", v.variables.size() - shown);
    return out;
}

}  // namespace mdpcosim
