#include "study/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/suggest.hpp"
#include "core/units.hpp"
#include "study/formula.hpp"

namespace mdpcosim {

namespace {

using kind = measure_spec::kind;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

bool is_gathered(const measure_spec& m) { return m.what != kind::energy && m.what != kind::value; }

std::string object_of(const measure_spec& m) { return fmt::format("measure '{}'", m.name); }

/// Of the run, that values must have stayed within the band at its end: what just swings through it has not settled.
constexpr double least_rest = 0.05;

/// Time since the start after which the values stay within the band around where they end.
double settling_time(const std::vector<double>& t, const std::vector<double>& x, double within,
                     std::optional<double> to) {
    const double target = to.value_or(x.back()), band = within * std::fabs(target - x.front());
    std::size_t k = x.size();
    while (k > 0 && std::fabs(x[k - 1] - target) <= band) --k;
    if (k == x.size() || t.back() - t[k] < least_rest * (t.back() - t.front())) return none;
    if (k == 0) return 0;
    // Where the last way into the band crosses its edge.
    const double edge = x[k - 1] > target ? target + band : target - band;
    const double share = (edge - x[k - 1]) / (x[k] - x[k - 1]);
    return t[k - 1] + share * (t[k] - t[k - 1]) - t.front();
}

}  // namespace

double measure_set::gathered::now(const simulation& of) {
    if (formula.empty()) return of.value(places.front());
    for (std::size_t k = 0; k < places.size(); ++k) read[k] = of.value(places[k]);
    double result = 0;
    formula.evaluate({read.data(), nullptr, nullptr}, &result);
    return result;
}

measure_set::measure_set(std::vector<measure_spec> specs, const std::vector<study_parameter>& parameters)
    : specs_(std::move(specs)), gathered_(specs_.size()), formulas_(specs_.size()) {
    for (const study_parameter& p : parameters) parameters_.push_back(p.address);
    for (std::size_t m = 0; m < specs_.size(); ++m)
        if (specs_[m].what == kind::value) find_value(m);
}

void measure_set::find_value(std::size_t measure) {
    const measure_spec& spec = specs_[measure];
    const auto find = [&](const std::string& name) {
        for (std::size_t k = 0; k < measure; ++k)
            if (specs_[k].name == name) return static_cast<int>(k);
        const auto p = std::ranges::find(parameters_, name);
        return p == parameters_.end()
                   ? -1
                   : static_cast<int>(specs_.size() + static_cast<std::size_t>(p - parameters_.begin()));
    };
    const auto unknown = [&](const std::string& name) {
        std::vector<std::string> names;
        for (std::size_t k = 0; k < measure; ++k) names.push_back(specs_[k].name);
        names.insert(names.end(), parameters_.begin(), parameters_.end());
        return unknown_name("name", name, "Before it the study", names);
    };
    const assignment all[] = {{parse_formula(spec.of, object_of(spec), find, unknown), 0}};
    formulas_[measure] = program(all);
}

void measure_set::find_connection(const simulation& of, const measure_spec& spec) const {
    std::vector<std::string> names;
    for (const auto& channel : of.parts().channels)
        if (!channel.internal && !channel.is_signal) names.push_back(channel.name);
    if (std::ranges::find(names, spec.of.value) == names.end())
        throw user_error(spec.of.where, fmt::format("{}: {}", object_of(spec),
                                                    unknown_name("connection", spec.of.value, "The scenario", names)));
}

void measure_set::find_formula(const simulation& of, const measure_spec& spec, gathered& into) const {
    into.places.clear();
    into.unit.clear();
    std::vector<std::string> known;
    const auto find = [&](const std::string& name) {
        if (const auto before = std::ranges::find(known, name); before != known.end())
            return static_cast<int>(before - known.begin());
        if (name.find('.') == std::string::npos) return -1;
        try {
            into.places.push_back(of.find(name));
        } catch (const user_error&) {
            return -1;
        }
        known.push_back(name);
        return static_cast<int>(known.size()) - 1;
    };
    const auto unknown = [&](const std::string& name) {
        try {
            of.find(name);
        } catch (const user_error& problem) {
            const std::string why = problem.what();
            constexpr std::string_view by = "simulation: ";
            return why.starts_with(by) ? why.substr(by.size()) : why;
        }
        return fmt::format("'{}' is no address of a value.", name);
    };
    const expression formula = parse_formula(spec.of, object_of(spec), find, unknown);
    const bool alone = formula.op() == operation::variable;
    const assignment all[] = {{formula, 0}};
    into.formula = alone ? program() : program(all);
    into.read.assign(into.places.size(), 0);
    if (!alone) return;
    for (const recorded_column& column : of.parts().columns)
        if (column.name == spec.of.value) into.unit = column.unit;
}

void measure_set::find_in(const simulation& of) {
    for (std::size_t m = 0; m < specs_.size(); ++m)
        if (specs_[m].what == kind::energy)
            find_connection(of, specs_[m]);
        else if (is_gathered(specs_[m]))
            find_formula(of, specs_[m], gathered_[m]);
}

void measure_set::started(const simulation& of) {
    begin_ = before_ = of.time();
    for (std::size_t m = 0; m < specs_.size(); ++m) {
        if (!is_gathered(specs_[m])) continue;
        gathered& g = gathered_[m];
        g.start = g.last = g.min = g.max = g.now(of);
        g.integral = g.squares = 0;
        g.crossings = 0;
        g.times.assign(1, begin_);
        g.values.assign(1, g.start);
    }
}

void measure_set::committed(const simulation& of, const macro_step& step) {
    const double H = step.end - before_;
    for (std::size_t m = 0; m < specs_.size(); ++m) {
        const measure_spec& spec = specs_[m];
        if (!is_gathered(spec)) continue;
        gathered& g = gathered_[m];
        const double a = g.last, b = g.now(of);
        switch (spec.what) {
            case kind::min:
            case kind::max:
            case kind::overshoot:
                g.min = std::min(g.min, b);
                g.max = std::max(g.max, b);
                break;
            case kind::mean:
            case kind::integral:
                g.integral += 0.5 * H * (a + b);
                break;
            case kind::rms:
                g.squares += H * (a * a + a * b + b * b) / 3;
                break;
            case kind::settling_time:
                g.times.push_back(step.end);
                g.values.push_back(b);
                break;
            case kind::crossing: {
                const bool rising = a < spec.level && b >= spec.level, falling = a > spec.level && b <= spec.level;
                if ((rising && spec.direction >= 0) || (falling && spec.direction <= 0))
                    if (++g.crossings == spec.number) g.crossed_at = before_ + H * (spec.level - a) / (b - a);
                break;
            }
            default:
                break;
        }
        g.last = b;
    }
    before_ = step.end;
}

double measure_set::value(std::size_t measure, const run_summary& summary) const {
    const measure_spec& spec = specs_[measure];
    const gathered& g = gathered_[measure];
    const double span = before_ - begin_;
    switch (spec.what) {
        case kind::start:
            return g.start;
        case kind::end:
            return g.last;
        case kind::min:
            return g.min;
        case kind::max:
            return g.max;
        case kind::mean:
            return span > 0 ? g.integral / span : g.last;
        case kind::rms:
            return span > 0 ? std::sqrt(g.squares / span) : std::fabs(g.last);
        case kind::integral:
            return g.integral;
        case kind::settling_time:
            return settling_time(g.times, g.values, *spec.within, spec.to);
        case kind::overshoot: {
            const double change = g.last - g.start;
            if (change == 0) return none;
            return change > 0 ? (g.max - g.last) / change : (g.min - g.last) / change;
        }
        case kind::crossing:
            return g.crossings >= spec.number ? g.crossed_at : none;
        case kind::energy:
            for (const auto& connection : summary.connections)
                if (connection.name == spec.of.value) return connection.energy;
            return none;
        case kind::value:
            break;
    }
    return none;
}

std::vector<double> measure_set::values(const run_summary& summary, std::span<const double> parameters) const {
    std::vector<double> all(specs_.size() + parameters.size(), none);
    std::ranges::copy(parameters, all.begin() + static_cast<std::ptrdiff_t>(specs_.size()));
    for (std::size_t m = 0; m < specs_.size(); ++m) {
        if (specs_[m].what == kind::value)
            formulas_[m].evaluate({all.data(), nullptr, nullptr}, &all[m]);
        else
            all[m] = value(m, summary);
    }
    all.resize(specs_.size());
    return all;
}

std::vector<std::string> measure_set::units() const {
    std::vector<std::string> all;
    for (std::size_t m = 0; m < specs_.size(); ++m) {
        switch (specs_[m].what) {
            case kind::settling_time:
            case kind::crossing:
                all.emplace_back("s");
                break;
            case kind::overshoot:
                all.emplace_back("1");
                break;
            case kind::energy:
                all.emplace_back("J");
                break;
            case kind::value:
                all.emplace_back();
                break;
            case kind::integral:
                all.push_back(gathered_[m].unit.empty() ? "" : unit_product(gathered_[m].unit, "s"));
                break;
            default:
                all.push_back(gathered_[m].unit);
        }
    }
    return all;
}

}  // namespace mdpcosim
