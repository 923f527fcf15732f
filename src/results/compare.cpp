#include "results/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/pattern.hpp"
#include "core/suggest.hpp"
#include "core/units.hpp"

namespace mdpcosim {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// ---- times ----------------------------------------------------------------------------------------------------------

/// One compared time: a row of A against a row of B, or against a place between two rows of B.
struct pairing {
    std::size_t a = 0;
    std::size_t b = 0;  ///< the row of B, or the last row before the time
    bool between = false;
};

/// Times of equal meaning made from different steps (start + n*H) differ by rounding.
bool same_time(double x, double y) {
    return std::abs(x - y) <= 16 * std::numeric_limits<double>::epsilon() * std::max(std::abs(x), std::abs(y));
}

struct time_matching {
    std::vector<pairing> all;  ///< every row of A within the common interval
    std::size_t hits = 0;      ///< of these, on a row of B
    std::size_t rows_b = 0;    ///< rows of B within the common interval
};

time_matching match_times(const std::vector<double>& a, const std::vector<double>& b) {
    time_matching m;
    if (a.empty() || b.empty()) return m;
    const double begin = std::max(a.front(), b.front());
    const double end = std::min(a.back(), b.back());
    const auto inside = [&](double t) {
        return (t >= begin || same_time(t, begin)) && (t <= end || same_time(t, end));
    };
    m.rows_b = static_cast<std::size_t>(std::count_if(b.begin(), b.end(), inside));
    std::size_t next = 0;  // first row of B that is not yet behind
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!inside(a[i])) continue;
        while (next < b.size() && b[next] < a[i] && !same_time(b[next], a[i])) ++next;
        if (next < b.size() && same_time(b[next], a[i])) {
            m.all.push_back({i, next++, false});
            ++m.hits;
        } else if (next > 0 && next < b.size()) {
            m.all.push_back({i, next - 1, true});
        }
    }
    return m;
}

// ---- interpolation --------------------------------------------------------------------------------------------------

/// Weights of the rows `first` .. `first + 3` of B for one time; the same for all variables but for jumps.
struct stencil {
    std::size_t first = 0;
    int points = 0;  ///< 4: cubic, with `line` where the values jump; 2: straight line
    std::array<double, 4> cubic{};
    std::array<double, 4> slope{};  ///< 1 / (t[k+1] - t[k])
    std::size_t left = 0;           ///< row before the time
    double share = 0;               ///< of the interval after it
};

stencil make_stencil(const std::vector<double>& time, std::size_t left, double t) {
    stencil s;
    s.left = left;
    s.share = (t - time[left]) / (time[left + 1] - time[left]);
    // The smooth piece around the time: rows of equal time are a jump.
    std::size_t low = left, high = left + 1;
    for (int k = 0; k < 3 && low > 0 && time[low - 1] < time[low]; ++k) --low;
    for (int k = 0; k < 3 && high + 1 < time.size() && time[high] < time[high + 1]; ++k) ++high;
    s.points = high - low >= 3 ? 4 : 2;
    if (s.points == 2) return s;
    s.first = std::clamp(left == 0 ? 0 : left - 1, low, high - 3);
    for (std::size_t i = 0; i < 4; ++i) {
        double weight = 1;
        for (std::size_t j = 0; j < 4; ++j)
            if (j != i) weight *= (t - time[s.first + j]) / (time[s.first + i] - time[s.first + j]);
        s.cubic[i] = weight;
    }
    for (std::size_t i = 0; i < 3; ++i) s.slope[i] = 1 / (time[s.first + i + 1] - time[s.first + i]);
    return s;
}

double interpolate(const result_table& b, const stencil& s, std::size_t column) {
    const auto line = [&] {
        const double y0 = b.value(s.left, column);
        return y0 + s.share * (b.value(s.left + 1, column) - y0);
    };
    if (s.points == 2) return line();
    std::array<double, 4> y;
    for (std::size_t i = 0; i < 4; ++i) y[i] = b.value(s.first + i, column);
    std::array<double, 3> d;
    for (std::size_t i = 0; i < 3; ++i) d[i] = std::abs((y[i + 1] - y[i]) * s.slope[i]);
    const double largest = std::max({d[0], d[1], d[2]});
    if (largest > 8 * (d[0] + d[1] + d[2] - largest)) return line();
    return s.cubic[0] * y[0] + s.cubic[1] * y[1] + s.cubic[2] * y[2] + s.cubic[3] * y[3];
}

// ---- errors ---------------------------------------------------------------------------------------------------------

class accumulator {
   public:
    void add(double t, double a, double b) {
        const bool same = a == b || (std::isnan(a) && std::isnan(b));
        double e = same ? 0 : std::abs(a - b);
        if (std::isnan(e)) e = infinite;
        if (e > max_ || count_ == 0) {
            max_ = e;
            time_ = t;
        }
        sum_ += e * e;
        ++count_;
        low_ = std::min(low_, b);
        high_ = std::max(high_, b);
    }

    /// Of B.
    double largest() const { return high_ >= low_ ? std::max(std::abs(high_), std::abs(low_)) : 0; }

    /// What rounding leaves of the largest number of all, for a constant, and of those with the same last name, which have the same unit.
    variable_error result(std::string name, double noise_of_all, double noise_of_kind) const {
        variable_error r{std::move(name), max_, time_, std::sqrt(sum_ / static_cast<double>(count_)), 0, 0};
        r.range = high_ >= low_ ? high_ - low_ : 0;
        const bool constant = r.range <= constant_below * largest();
        const double scale = constant ? std::max(largest(), noise_of_all) : std::max(r.range, noise_of_kind);
        r.relative = max_ == 0 ? 0 : scale > 0 ? max_ / scale : infinite;
        return r;
    }

   private:
    static constexpr double constant_below = 1e-13;

    double max_ = 0, time_ = 0, sum_ = 0, low_ = infinite, high_ = -infinite;
    std::size_t count_ = 0;
};

std::string span_text(const result_table& x) {
    return x.rows() == 0 ? std::string("no rows")
                         : fmt::format("{} rows from {} s to {} s", x.rows(), x.time.front(), x.time.back());
}

/// Columns of both, as pairs of column numbers in the order of A.
std::vector<std::pair<std::size_t, std::size_t>> common_columns(const result_table& a, const result_table& b,
                                                                comparison& c) {
    std::unordered_map<std::string, std::size_t> in_b;
    for (std::size_t i = 0; i < b.columns(); ++i) in_b.emplace(b.names[i], i);
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t i = 0; i < a.columns(); ++i) {
        const auto found = in_b.find(a.names[i]);
        if (found == in_b.end()) {
            c.only_a.push_back(a.names[i]);
        } else {
            pairs.emplace_back(i, found->second);
            in_b.erase(found);
        }
    }
    for (const auto& name : b.names)
        if (in_b.contains(name)) c.only_b.push_back(name);
    return pairs;
}

/// Columns and times of both.
struct common_part {
    std::vector<std::pair<std::size_t, std::size_t>> columns;
    std::vector<pairing> times;
};

/// Tells in `c` what the two have in common.
/// Both are in SI by now, which may still be metres here and seconds there.
void check_units(const result_table& a, std::size_t in_a, const result_table& b, std::size_t in_b) {
    if (a.units.empty() || b.units.empty() || units_fit(a.units[in_a], b.units[in_b])) return;
    throw user_error(fmt::format(
        "variable '{}' is in '{}' in {}, but in '{}' in {}, which cannot be compared. Mend the unit in the header of "
        "one of them, or leave the variable out with --only.",
        a.names[in_a], a.units[in_a], a.path.string(), b.units[in_b], b.path.string()));
}

common_part find_common(const result_table& a, const result_table& b, comparison& c) {
    c.a = a.path.string();
    c.b = b.path.string();
    c.rows_a = a.rows();
    c.rows_b = b.rows();
    auto columns = common_columns(a, b, c);
    if (columns.empty())
        throw user_error(fmt::format("{} and {} have no variable in common. The first has: {}. The second has: {}.",
                                     c.a, c.b, name_list(a.names), name_list(b.names)));
    for (const auto& [in_a, in_b] : columns) check_units(a, in_a, b, in_b);
    time_matching m = match_times(a.time, b.time);
    if (m.all.empty())
        throw user_error(
            fmt::format("{} and {} have no time in common: {}, and {}.", c.a, c.b, span_text(a), span_text(b)));

    const bool nested = m.hits == std::min(m.all.size(), m.rows_b);
    if (nested) std::erase_if(m.all, [](const pairing& p) { return p.between; });
    c.times = !nested                                    ? comparison::grid::interpolated
              : m.hits == a.rows() && m.hits == b.rows() ? comparison::grid::equal
                                                         : comparison::grid::common;
    c.compared = m.all.size();
    c.interpolated =
        static_cast<std::size_t>(std::count_if(m.all.begin(), m.all.end(), [](const pairing& p) { return p.between; }));
    c.begin = a.time[m.all.front().a];
    c.end = a.time[m.all.back().a];
    return {std::move(columns), std::move(m.all)};
}

/// use(k, t, value of A, value of B) for every common column k, time after time.
template <class Use>
void visit(const result_table& a, const result_table& b, const common_part& common, const Use& use) {
    for (const pairing& p : common.times) {
        const double t = a.time[p.a];
        const stencil s = p.between ? make_stencil(b.time, p.b, t) : stencil{};
        for (std::size_t k = 0; k < common.columns.size(); ++k) {
            const auto [in_a, in_b] = common.columns[k];
            use(k, t, a.value(p.a, in_a), p.between ? interpolate(b, s, in_b) : b.value(p.b, in_b));
        }
    }
}

/// Of the largest number: below it, a variable is rounding noise.
constexpr double noise_share = 1e-12;

}  // namespace

std::string_view kind_of(std::string_view name) { return name.substr(name.rfind('.') + 1); }

std::vector<double> errors_among_their_kind(const comparison& c) {
    constexpr double least_share = 1e-6;
    std::unordered_map<std::string_view, double> ranges;
    for (const variable_error& e : c.errors) {
        double& largest = ranges[kind_of(e.name)];
        largest = std::max(largest, e.range);
    }
    std::vector<double> relative;
    for (const variable_error& e : c.errors) {
        const double least = least_share * ranges[kind_of(e.name)];
        relative.push_back(e.range < least && e.max_error < least ? e.max_error / least : e.relative);
    }
    return relative;
}

comparison compare_tables(const result_table& a, const result_table& b) {
    comparison c;
    const common_part common = find_common(a, b, c);
    std::vector<accumulator> sums(common.columns.size());
    visit(a, b, common, [&](std::size_t k, double t, double x, double y) { sums[k].add(t, x, y); });
    const auto kind = [&](std::size_t k) { return kind_of(a.names[common.columns[k].first]); };
    double largest = 0;
    std::unordered_map<std::string_view, double> largest_of_kind;
    for (std::size_t k = 0; k < sums.size(); ++k) {
        if (!std::isfinite(sums[k].largest())) continue;
        largest = std::max(largest, sums[k].largest());
        double& of_kind = largest_of_kind[kind(k)];
        of_kind = std::max(of_kind, sums[k].largest());
    }
    for (std::size_t k = 0; k < sums.size(); ++k)
        c.errors.push_back(sums[k].result(a.names[common.columns[k].first], noise_share * largest,
                                          noise_share * largest_of_kind[kind(k)]));
    std::stable_sort(c.errors.begin(), c.errors.end(), [](const variable_error& x, const variable_error& y) {
        return x.relative != y.relative ? x.relative > y.relative : x.max_error > y.max_error;
    });
    for (const result_table* x : {&a, &b})
        if (x->cut) c.notes.push_back(fmt::format("{}: the last line has no end and was left out.", x->path.string()));
    return c;
}

result_table difference(const result_table& a, const result_table& b) {
    comparison c;
    const common_part common = find_common(a, b, c);
    result_table out;
    for (const auto& [in_a, in_b] : common.columns) out.names.push_back(a.names[in_a]);
    for (const pairing& p : common.times) out.time.push_back(a.time[p.a]);
    out.values.reserve(out.time.size() * out.names.size());
    visit(a, b, common, [&](std::size_t, double, double x, double y) { out.values.push_back(x - y); });
    return out;
}

comparison compare_results(const std::filesystem::path& a, const std::filesystem::path& b,
                           const std::vector<std::string>& only) {
    std::vector<char> hit(only.size(), 0);
    std::vector<std::string> names;
    const auto keep = [&](std::string_view name) {
        names.emplace_back(name);
        bool wanted = only.empty();
        for (std::size_t i = 0; i < only.size(); ++i)
            if (matches_pattern(only[i], name)) {
                wanted = true;
                hit[i] = 1;
            }
        return wanted;
    };
    const result_table first = read_results(a, keep);
    const result_table second = read_results(b, keep);
    for (std::size_t i = 0; i < only.size(); ++i)
        if (!hit[i])
            throw user_error(fmt::format("--only {}: no variable of {} or {} has such a name.{}", only[i],
                                         first.path.string(), second.path.string(), did_you_mean(only[i], names)));
    return compare_tables(first, second);
}

// ---- text -----------------------------------------------------------------------------------------------------------

namespace {

const char* grid_word(comparison::grid g) {
    switch (g) {
        case comparison::grid::equal:
            return "equal";
        case comparison::grid::common:
            return "common";
        case comparison::grid::interpolated:
            return "interpolated";
    }
    return "";
}

std::string grid_text(const comparison& c) {
    switch (c.times) {
        case comparison::grid::equal:
            return "both have the same times";
        case comparison::grid::common:
            return fmt::format("the times that both have (A: {} rows, B: {} rows)", c.rows_a, c.rows_b);
        case comparison::grid::interpolated:
            return fmt::format(
                "the times differ: at {} of them B is interpolated (cubic through four rows; a straight line at jumps)",
                c.interpolated);
    }
    return "";
}

std::string number_text(double value) { return std::isfinite(value) ? fmt::format("{:.3e}", value) : "not a number"; }

}  // namespace

std::string to_json(const comparison& c) {
    json errors = json::array();
    for (const auto& e : c.errors)
        errors.push_back({{"name", e.name},
                          {"max_error", e.max_error},
                          {"time", e.time},
                          {"rms", e.rms},
                          {"range", e.range},
                          {"relative", e.relative}});
    const json document{{"a", c.a},
                        {"b", c.b},
                        {"rows_a", c.rows_a},
                        {"rows_b", c.rows_b},
                        {"times", grid_word(c.times)},
                        {"compared_times", c.compared},
                        {"interpolated_times", c.interpolated},
                        {"begin", c.begin},
                        {"end", c.end},
                        {"variables", errors},
                        {"only_a", c.only_a},
                        {"only_b", c.only_b},
                        {"notes", c.notes}};
    return document.dump(2) + "\n";
}

std::string to_table(const comparison& c) {
    constexpr std::size_t most = 40;
    std::string out = fmt::format("A  {}\nB  {}\n{} times from {} s to {} s; {}\n", c.a, c.b, c.compared, c.begin,
                                  c.end, grid_text(c));
    std::size_t width = 16;
    const std::size_t shown = std::min(most, c.errors.size());
    for (std::size_t i = 0; i < shown; ++i) width = std::max(width, c.errors[i].name.size());
    out += fmt::format("\n  {:<{}} {:>12} {:>12} {:>12} {:>12} {:>14}\n", "variable", width, "max error", "at t [s]",
                       "rms", "range of B", "max / range");
    for (std::size_t i = 0; i < shown; ++i) {
        const variable_error& e = c.errors[i];
        out += fmt::format("  {:<{}} {:>12} {:>12.6g} {:>12} {:>12.4g} {:>14}\n", e.name, width,
                           number_text(e.max_error), e.time, number_text(e.rms), e.range, number_text(e.relative));
    }
    if (c.errors.size() > shown)
        out += fmt::format("  ... and {} more, all with smaller errors (--json shows them)\n", c.errors.size() - shown);
    if (!c.only_a.empty()) out += fmt::format("\n  only in A: {}\n", name_list(c.only_a));
    if (!c.only_b.empty()) out += fmt::format("\n  only in B: {}\n", name_list(c.only_b));
    for (const auto& note : c.notes) out += fmt::format("\n  note: {}\n", note);
    return out;
}

}  // namespace mdpcosim
