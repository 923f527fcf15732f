#include "simulation/expectations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "archive/local_file.hpp"
#include "core/pattern.hpp"
#include "core/suggest.hpp"
#include "core/units.hpp"
#include "results/compare.hpp"
#include "scenario/resolve.hpp"

namespace mdpcosim {

namespace {

std::vector<std::string> names_of(const std::vector<recorded_column>& columns) {
    std::vector<std::string> names;
    for (const auto& column : columns) names.push_back(column.name);
    return names;
}

std::optional<double> number_of(const text& value, const std::string& unit, const std::string& object) {
    if (value.empty()) return std::nullopt;
    return read_number(value, unit, object);
}

double tolerance_of(const text& value, const std::string& unit, const std::string& object) {
    double within = number_of(value, unit, object).value_or(0);
    // A difference: 1 degC is 1 K.
    if (const auto q = parse_quantity(value.value); q && !q->unit.empty())
        within = q->value * find_conversion(q->unit, unit).factor;
    if (within < 0) throw user_error(value.where, fmt::format("{} is negative.", object));
    return within;
}

std::string place_of(const location& where) { return fmt::format("expectation in {}", to_string(where)); }

}  // namespace

expectations::expectations(const scenario& s, const std::vector<recorded_column>& columns) {
    for (const auto& spec : s.expect) {
        if (!spec.file.empty()) {
            files_.push_back(read_file(spec, s.time, columns));
            continue;
        }
        const std::string& name = spec.variable.value;
        const auto column = std::ranges::find(columns, name, &recorded_column::name);
        if (column == columns.end())
            throw user_error(spec.variable.where,
                             fmt::format("expect: variable '{}' is not recorded.{} Name an output or a connection's u "
                                         "(<name>.u); 'record: {{only: ...}}' must match it, where that is given.",
                                         name, did_you_mean(name, names_of(columns))));
        const auto object = [&](const char* key) { return fmt::format("expect: variable '{}': '{}'", name, key); };
        variables_.push_back({spec.where, name, column->unit, number_of(spec.end, column->unit, object("end")),
                              number_of(spec.min, column->unit, object("min")),
                              number_of(spec.max, column->unit, object("max")),
                              tolerance_of(spec.within, column->unit, object("within"))});
        const variable& made = variables_.back();
        if (made.min && made.max && *made.min > *made.max)
            throw user_error(spec.where, fmt::format("expect: variable '{}': min {} lies above max {}.", name,
                                                     *made.min, *made.max));
    }
}

expectations::file expectations::read_file(const expectation_spec& spec, const time_spec& time,
                                           const std::vector<recorded_column>& columns) {
    std::vector<char> hit(spec.only.size(), 0);
    std::vector<std::string> there;
    const auto keep = [&](std::string_view name) {
        there.emplace_back(name);
        bool wanted = spec.only.empty();
        for (std::size_t i = 0; i < spec.only.size(); ++i)
            if (matches_pattern(spec.only[i].value, name)) {
                wanted = true;
                hit[i] = 1;
            }
        return wanted;
    };
    const auto read = [&] {
        try {
            auto table = read_results(archive::local_file(spec.path).path(), keep);
            table.path = spec.path;
            return table;
        } catch (const user_error& problem) {
            throw user_error(spec.file.where, fmt::format("expect: {}", problem.what()));
        }
    };
    file made{spec.where, read(),
              tolerance_of(spec.within, "1", fmt::format("expect: file '{}': 'within'", spec.file.value)), ""};
    for (std::size_t i = 0; i < hit.size(); ++i)
        if (!hit[i])
            throw user_error(spec.only[i].where,
                             fmt::format("expect: only '{}': no column of {} has such a name.{}", spec.only[i].value,
                                         spec.file.value, did_you_mean(spec.only[i].value, there)));
    const auto& times = made.expected.time;
    if (times.empty() || times.front() > time.end || times.back() < time.start)
        throw user_error(spec.file.where,
                         fmt::format("expect: file '{}' has no row between {} s and {} s, the times of the run.",
                                     spec.file.value, time.start, time.end));
    const double slack = time.step;
    if (times.front() > time.start + slack || times.back() < time.end - slack)
        made.note = fmt::format("expect: file '{}' has rows from {} s to {} s; the rest of the run is not compared",
                                spec.file.value, std::max(times.front(), time.start), std::min(times.back(), time.end));
    if (std::ranges::any_of(made.expected.values, [](double x) { return !std::isfinite(x); }))
        throw user_error(spec.file.where,
                         fmt::format("expect: file '{}' has values that are no finite numbers.", spec.file.value));
    const auto recorded = names_of(columns);
    const auto is_recorded = [&](const std::string& name) {
        return std::ranges::find(recorded, name) != recorded.end();
    };
    if (std::ranges::none_of(made.expected.names, is_recorded))
        throw user_error(spec.file.where,
                         fmt::format("expect: file '{}' has no variable that is recorded. It has: {}. Recorded: {}.",
                                     spec.file.value, name_list(made.expected.names), name_list(recorded)));
    for (std::size_t i = 0; i < made.expected.names.size(); ++i) {
        const auto column = std::ranges::find(columns, made.expected.names[i], &recorded_column::name);
        if (column != columns.end() && !units_fit(made.expected.units[i], column->unit))
            throw user_error(spec.file.where,
                             fmt::format("expect: column '{}' of '{}' is in '{}', but the variable is in '{}'.",
                                         column->name, spec.file.value, made.expected.units[i], column->unit));
    }
    if (!spec.only.empty())
        for (const auto& name : made.expected.names)
            if (!is_recorded(name))
                throw user_error(spec.file.where, fmt::format("expect: column '{}' of '{}' is not recorded.{}", name,
                                                              spec.file.value, did_you_mean(name, recorded)));
    return made;
}

std::vector<std::string> expectations::notes() const {
    std::vector<std::string> found;
    for (const file& f : files_)
        if (!f.note.empty()) found.push_back(f.note);
    return found;
}

std::size_t expectations::check(const std::filesystem::path& results, verdict& judged) const {
    const auto wanted = [&](std::string_view name) {
        return std::ranges::any_of(variables_, [&](const variable& v) { return v.name == name; }) ||
               std::ranges::any_of(files_, [&](const file& f) {
                   return std::ranges::find(f.expected.names, name) != f.expected.names.end();
               });
    };
    const result_table table = read_results(results, wanted);
    std::size_t met = 0;
    const auto miss = [&](const location& where, const std::string& text) {
        judged.add(trust::wrong, fmt::format("{}: {}", place_of(where), text), {});
    };
    for (const variable& v : variables_) {
        const auto column = static_cast<std::size_t>(std::ranges::find(table.names, v.name) - table.names.begin());
        const std::string unit = v.unit.empty() ? "" : " " + v.unit;
        double low = table.value(0, column), high = low;
        double at_low = table.time[0], at_high = table.time[0];
        for (std::size_t row = 0; row < table.rows(); ++row) {
            const double value = table.value(row, column);
            if (value < low) {
                low = value;
                at_low = table.time[row];
            }
            if (value > high) {
                high = value;
                at_high = table.time[row];
            }
        }
        const double end = table.value(table.rows() - 1, column);
        const std::size_t missed = judged.reasons.size();
        if (v.end && !(std::abs(end - *v.end) <= v.within))
            miss(v.where, fmt::format("'{}' is {}{u} at the end, off by {:.4g}{u}; {}{u} within {}{u} was expected",
                                      v.name, end, std::abs(end - *v.end), *v.end, v.within, fmt::arg("u", unit)));
        if (v.min && !(low >= *v.min))
            miss(v.where, fmt::format("'{}' falls to {}{u} at t = {} s, below the expected {}{u}", v.name, low, at_low,
                                      *v.min, fmt::arg("u", unit)));
        if (v.max && !(high <= *v.max))
            miss(v.where, fmt::format("'{}' rises to {}{u} at t = {} s, above the expected {}{u}", v.name, high,
                                      at_high, *v.max, fmt::arg("u", unit)));
        if (judged.reasons.size() == missed) ++met;
    }
    for (const file& f : files_) {
        const comparison c = compare_tables(table, f.expected);
        const auto worst =
            std::ranges::find_if(c.errors, [&](const variable_error& e) { return !(e.relative <= f.within); });
        const double covered = f.expected.time.back();
        if (worst != c.errors.end())
            miss(f.where, fmt::format("'{}' is off by {:.4g} at t = {} s, {:.3g} % of the range that {} gives; {:.3g} "
                                      "% was allowed",
                                      worst->name, worst->max_error, worst->time, 100 * worst->relative,
                                      f.expected.path.string(), 100 * f.within));
        else if (table.time.back() < covered)
            miss(f.where, fmt::format("the results end at t = {} s, {} goes on to {} s", table.time.back(),
                                      f.expected.path.string(), covered));
        else
            ++met;
    }
    return met;
}

}  // namespace mdpcosim
