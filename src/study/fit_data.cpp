#include "study/fit_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/suggest.hpp"

namespace mdpcosim {

fit_data::fit_data(const study_spec& s) : where_(s.goal.data_where) {
    try {
        table_ = read_results(s.goal.data, [](std::string_view) { return true; });
    } catch (const user_error& problem) {
        throw user_error(where_, fmt::format("fit: data: {}", problem.what()));
    }
    if (table_.rows() < 2)
        throw user_error(where_, fmt::format("fit: data: {} has no two rows.", s.goal.data.string()));
    for (const setting& entry : s.goal.columns) {
        column c;
        c.variable = {entry.name, entry.where};
        const std::string name = entry.values.empty() ? entry.name : entry.values.front().value;
        const auto found = std::ranges::find(table_.names, name);
        if (found == table_.names.end())
            throw user_error(entry.where, "fit: " + unknown_name("column", name, s.goal.data.string(), table_.names));
        c.index = static_cast<std::size_t>(found - table_.names.begin());
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (std::size_t r = 0; r < table_.rows(); ++r) {
            low = std::min(low, table_.value(r, c.index));
            high = std::max(high, table_.value(r, c.index));
        }
        c.range = high - low;
        if (!(c.range > 0))
            throw user_error(entry.where, fmt::format("fit: column '{}' never changes; it tells nothing.", name));
        columns_.push_back(c);
    }
}

void fit_data::find_in(const simulation& of) {
    for (column& c : columns_) {
        try {
            c.at = of.find(c.variable.value);
        } catch (const user_error& problem) {
            throw user_error(c.variable.where, fmt::format("fit: {}", problem.what()));
        }
    }
    const double tiny = 1e-9 * (of.end() - of.resolved().time.start);
    if (table_.time.back() > of.end() + tiny || table_.time.front() < of.resolved().time.start - tiny)
        throw user_error(where_,
                         fmt::format("fit: data: the rows lead from {:.6g} s to {:.6g} s, the scenario from {:.6g} "
                                     "s to {:.6g} s. Every row must lie in the run: 'set: {{time.end: ...}}'.",
                                     table_.time.front(), table_.time.back(), of.resolved().time.start, of.end()));
}

void fit_data::started(const simulation& of) {
    before_ = of.time();
    next_ = 0;
    for (column& c : columns_) {
        c.last = of.value(c.at);
        c.squares = 0;
    }
    const double tiny = 1e-9 * (of.end() - before_);
    for (; next_ < table_.rows() && table_.time[next_] <= before_ + tiny; ++next_)
        for (column& c : columns_) {
            const double off = (c.last - table_.value(next_, c.index)) / c.range;
            c.squares += off * off;
        }
}

void fit_data::committed(const simulation& of, const macro_step& step) {
    const std::size_t first = next_;
    const double H = step.end - before_, tiny = 1e-9 * H;
    while (next_ < table_.rows() && table_.time[next_] <= step.end + tiny) ++next_;
    for (column& c : columns_) {
        const double now = of.value(c.at);
        for (std::size_t r = first; r < next_; ++r) {
            const double share = std::clamp((table_.time[r] - before_) / H, 0.0, 1.0);
            const double off = (c.last + share * (now - c.last) - table_.value(r, c.index)) / c.range;
            c.squares += off * off;
        }
        c.last = now;
    }
    before_ = step.end;
}

double fit_data::residual() const {
    double sum = 0;
    for (const column& c : columns_) sum += c.squares / static_cast<double>(std::max<std::size_t>(1, next_));
    return std::sqrt(sum / static_cast<double>(columns_.size()));
}

}  // namespace mdpcosim
