#include "benchmark/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/plot.hpp"
#include "core/cpu_time.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "core/suggest.hpp"
#include "simulation/verify.hpp"

namespace mdpcosim {

namespace {

using settings = std::vector<std::pair<std::string, std::string>>;

/// The shortest step of the others.
double fast_step(const rates_request& request) {
    const scenario s = request.load({});
    if (s.method.value != "multirate")
        throw user_error(
            fmt::format("bench rates: the scenario's method is '{}'. Steps of their own need "
                        "'method: multirate'; write it there.",
                        s.method.empty() ? "explicit" : s.method.value));
    double shortest = s.time.step;
    bool found = false;
    std::vector<std::string> names;
    for (const auto& one : s.subsystems) {
        names.push_back(one.name);
        if (one.name == request.slow)
            found = true;
        else if (one.step.value)
            shortest = std::min(shortest, *one.step.value);
    }
    if (!found)
        throw user_error("bench rates: --slow: " + unknown_name("subsystem", request.slow, "The scenario", names));
    return shortest;
}

std::size_t column_of(const result_table& t, const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(t.names, name) - t.names.begin());
}

class campaign {
   public:
    explicit campaign(const rates_request& request) : request_(request), fast_step_(fast_step(request)) {
        if (request.watch.empty()) throw user_error("bench rates: name a variable with --watch.");
        figures_.watched = request.watch.front();
    }

    rates_figures run() {
        for (const double ratio : request_.ratios)
            figures_.costs.push_back(measure({.scheme = "slowest-first", .ratio = ratio, .course = {}}));
        fit();
        const double largest = *std::ranges::max_element(request_.ratios);
        for (const char* scheme : {"slowest-first", "fastest-first"})
            for (const bool both : {false, true})
                for (int order = both ? 1 : 0; order <= 3; ++order)
                    figures_.orders.push_back(measure({.scheme = scheme,
                                                       .ratio = largest,
                                                       .slow_order = order,
                                                       .fast_order = both ? order : 0,
                                                       .course = {}}));
        return std::move(figures_);
    }

   private:
    rates_run measure(rates_run one) {
        if (request_.told)
            request_.told(
                fmt::format("{}, FR = {}, orders {} and {}", one.scheme, one.ratio, one.slow_order, one.fast_order));
        settings changes{{"method.scheme", one.scheme},
                         {"method.slow-order", std::to_string(one.slow_order)},
                         {"method.fast-order", std::to_string(one.fast_order)},
                         {request_.slow + ".step", fmt::format("{}", one.ratio * fast_step_)},
                         {"record.only", fmt::format("[\"{}\"]", fmt::join(request_.watch, "\", \""))}};
        const scenario s = request_.load(changes);
        const double before = process_cpu_seconds();
        const kept_run kept = run_in_memory(s);
        one.seconds = process_cpu_seconds() - before;
        one.evaluations = kept.evaluations;
        if (figures_.reference.rows() == 0) {
            if (!kept.done) throw run_error("bench rates: the reference fails: " + kept.message);
            keep(kept.table);
        }
        const std::size_t here = column_of(kept.table, figures_.watched);
        const std::size_t there = column_of(figures_.reference, figures_.watched);
        one.difference = kept.done ? 0 : std::numeric_limits<double>::infinity();
        for (std::size_t row = 0; row < std::min(kept.table.rows(), figures_.reference.rows()); ++row) {
            one.course.push_back(kept.table.value(row, here) - figures_.reference.value(row, there));
            one.difference = std::max(one.difference, std::fabs(one.course.back()));
        }
        return one;
    }

    void keep(const result_table& reference) {
        const std::size_t column = column_of(reference, figures_.watched);
        if (column == reference.names.size())
            throw user_error(fmt::format("bench rates: --watch {}: there is no such variable.", figures_.watched));
        figures_.reference = reference;
        if (column < reference.units.size()) figures_.unit = reference.units[column];
        double low = reference.value(0, column), high = low;
        for (std::size_t row = 0; row < reference.rows(); ++row) {
            low = std::min(low, reference.value(row, column));
            high = std::max(high, reference.value(row, column));
        }
        figures_.range = high - low;
    }

    void fit() {
        const auto n = static_cast<double>(figures_.costs.size());
        double x = 0, y = 0, xx = 0, xy = 0;
        for (const auto& c : figures_.costs) {
            x += 1 / c.ratio / n;
            y += c.seconds / n;
        }
        for (const auto& c : figures_.costs) {
            xx += (1 / c.ratio - x) * (1 / c.ratio - x);
            xy += (1 / c.ratio - x) * (c.seconds - y);
        }
        figures_.b = xx > 0 ? xy / xx : 0;
        figures_.a = y - figures_.b * x;
        for (const auto& c : figures_.costs)
            figures_.residual = std::max(figures_.residual, std::fabs(c.seconds - figures_.a - figures_.b / c.ratio) /
                                                                std::max(c.seconds, 1e-9));
    }

    const rates_request& request_;
    double fast_step_;
    rates_figures figures_;
};

json to_json_object(const rates_run& r) {
    return {{"scheme", r.scheme},
            {"ratio", r.ratio},
            {"slow_order", r.slow_order},
            {"fast_order", r.fast_order},
            {"cpu_seconds", r.seconds},
            {"evaluations", r.evaluations},
            {"difference", std::isfinite(r.difference) ? json(r.difference) : json(nullptr)}};
}

}  // namespace

rates_figures bench_rates(const rates_request& request) { return campaign(request).run(); }

std::string to_table(const rates_figures& f) {
    std::string out =
        fmt::format("{}: range {:.5g} {}\n\nslowest-first, orders 0\n{:>6} {:>13} {:>13} {:>13} {:>11}\n", f.watched,
                    f.range, f.unit, "FR", "CPU time [s]", "evaluations", "difference", "of range");
    const auto part = [&](double difference) { return 100 * difference / f.range; };
    for (const auto& c : f.costs)
        out += fmt::format("{:>6} {:>13.3f} {:>13} {:>13.3e} {:>10.3f}%\n", c.ratio, c.seconds, c.evaluations,
                           c.difference, part(c.difference));
    out += fmt::format(
        "T = a + b/FR: a = {:.3g} s, b = {:.3g} s, off by at most {:.0f} %; share of the slow subsystem at FR = 1: "
        "{:.1f} %; "
        "FR = {} is {:.1f} times as fast\n",
        f.a, f.b, 100 * f.residual, 100 * f.b / (f.a + f.b), f.costs.back().ratio,
        f.costs.front().seconds / f.costs.back().seconds);
    out +=
        fmt::format("\nFR = {}, difference by order of what comes from the slow and from the fast subsystem\n{:>15} ",
                    f.orders.front().ratio, "");
    for (const char* order : {"0, 0", "1, 0", "2, 0", "3, 0", "1, 1", "2, 2", "3, 3"})
        out += fmt::format("{:>11}", order);
    std::string scheme;
    for (const auto& o : f.orders) {
        if (o.scheme != scheme) out += fmt::format("\n{:>15} ", scheme = o.scheme);
        out += fmt::format("{:>11.3e}", o.difference);
    }
    return out + "\n";
}

std::string to_json(const rates_figures& f) {
    json costs = json::array(), orders = json::array();
    for (const auto& c : f.costs) costs.push_back(to_json_object(c));
    for (const auto& o : f.orders) orders.push_back(to_json_object(o));
    return json{{"watched", f.watched},   {"unit", f.unit},  {"range", f.range},
                {"costs", costs},         {"a", f.a},        {"b", f.b},
                {"residual", f.residual}, {"orders", orders}}
               .dump(2) +
           "\n";
}

void write_rates_figure(const std::string& file, const rates_figures& f) {
    plot picture{.title = "", .panels = {}, .columns = 2};
    const std::vector<double>& time = f.reference.time;
    const auto add = [&](const std::string& title, const std::string& label, std::vector<double> y) {
        std::vector<double> x(time.begin(), time.begin() + static_cast<std::ptrdiff_t>(y.size()));
        plot_panel panel;
        panel.title = title;
        panel.x.label = "time [s]";
        panel.y.label = label;
        panel.curves.push_back({.name = "", .x = std::move(x), .y = std::move(y), .colour = 0});
        picture.panels.push_back(std::move(panel));
    };
    const auto reference = [&](std::size_t column) {
        std::vector<double> y;
        for (std::size_t row = 0; row < f.reference.rows(); ++row) y.push_back(f.reference.value(row, column));
        const std::string unit = column < f.reference.units.size() ? f.reference.units[column] : "";
        add(fmt::format("FR = {}", f.costs.front().ratio), fmt::format("{} [{}]", f.reference.names[column], unit),
            std::move(y));
    };
    const std::size_t watched = column_of(f.reference, f.watched);
    for (std::size_t column = 0; column < f.reference.columns(); ++column)
        if (column != watched) reference(column);
    reference(watched);
    for (const auto& o : f.orders)
        if ((o.scheme == "slowest-first" && o.slow_order == 0) ||
            (o.scheme == "fastest-first" && o.slow_order == 1 && o.fast_order == 0))
            add(fmt::format("FR = {}, {}, orders {} and {}", o.ratio, o.scheme, o.slow_order, o.fast_order),
                fmt::format("difference of {} [{}]", f.watched, f.unit), o.course);
    write_svg(file, picture);
}

}  // namespace mdpcosim
