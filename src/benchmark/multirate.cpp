#include "benchmark/multirate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "analysis/plot.hpp"
#include "core/cpu_time.hpp"
#include "core/json.hpp"
#include "scenario/read.hpp"
#include "simulation/row_recorder.hpp"

namespace mdpcosim {

namespace {

constexpr double cycles = 100;  // of the fast mass, one second each
constexpr double steps_per_cycle = 100;
constexpr double m1 = 1, m2 = 100;
constexpr double fast = 2 * std::numbers::pi;

/// The modes are (1, -0.01) with the fast frequency and (1, 1) with the slow one; all springs follow from them.
struct two_masses {
    double slow, k1, k2, k3, delta;
    explicit two_masses(const multirate_run& variant)
        : slow(fast / variant.frequency_ratio),
          k1(slow * slow * m1),
          k2((fast * fast - slow * slow) * m1 / 1.01),
          k3(slow * slow * m2),
          delta(variant.damping * slow) {}

    /// A mode of amplitude 1 that starts at rest.
    double mode(double omega, double t) const {
        const double damped = std::sqrt(omega * omega - delta * delta);
        return std::exp(-delta * t) * (std::cos(damped * t) + delta / damped * std::sin(damped * t));
    }
    double x1(double t) const { return mode(fast, t) + 10 * mode(slow, t); }
    double energy(double x, double v, double y, double w) const {
        return (m1 * v * v + m2 * w * w + k1 * x * x + k3 * y * y + k2 * (x - y) * (x - y)) / 2;
    }
};

/// Keeps all rows.
class row_sink final : public result_sink {
   public:
    explicit row_sink(std::vector<std::vector<double>>& into) : into_(into) {}
    void write(std::span<const double> values, std::size_t length) override {
        for (std::size_t at = 0; at < values.size(); at += length) {
            const auto row = values.subspan(at, length);
            into_.emplace_back(row.begin(), row.end());
        }
    }
    void flush() override {}

   private:
    std::vector<std::vector<double>>& into_;
};

/// Rows of time and what the scenario records; fewer where it fails.
std::vector<std::vector<double>> rows_of(const std::string& text) {
    const scenario s = read_scenario_text(text, "multirate");
    simulation all(s, {.workers = 1, .watch = false, .writable = false});
    std::vector<std::vector<double>> rows;
    recorder recorded(all.parts().columns, std::make_unique<row_sink>(rows));
    row_recorder each(recorded, time_grid(s.time.start, s.time.end, s.time.step), s.record.every);
    all.add(each);
    all.initialise();
    try {
        all.advance_to(all.end());
    } catch (const run_error&) {
    }
    recorded.finish();
    return rows;
}

/// A costly slow mass on a spring to a light one, as in section 4 of the source.
std::string costly_scenario(double frequency_ratio) {
    return fmt::format(R"(time: {{end: 1, step: 0.01}}
method: {{name: multirate, scheme: slowest-first, slow-order: 0, fast-order: 0}}
subsystems:
  light: {{model: mass-spring-damper, set: {{mass: 0.01, stiffness: 100, damping: 0.5, x0: 0.01}}, solver: rk4, step: 1e-4}}
  heavy: {{model: busy, set: {{mass: 10, work: 3000, v0: 0.1}}, solver: rk4, step: {}}}
connections:
  spring: {{law: spring, between: [light.mass, heavy.mass], stiffness: 100}}
record: {{only: [heavy.mass.position]}}
)",
                       1e-4 * frequency_ratio);
}

const std::vector<double> frequency_ratios{1.5, 2,  3,  5,  7,  10, 15, 20, 25, 30, 33, 36, 38, 40, 42,
                                           44,  47, 50, 52, 55, 58, 60, 65, 70, 75, 80, 85, 90, 95, 100};

std::string order_name(const multirate_run& variant) {
    return variant.smoothing ? fmt::format("smoothing, O{}", variant.slow_order)
                             : fmt::format("O{}", variant.slow_order);
}

std::vector<multirate_run> multirate_variants(double damping) {
    std::vector<multirate_run> all;
    for (const char* scheme : {"slowest-first", "fastest-first"})
        for (int order = 0; order <= 4; ++order)
            all.push_back({.scheme = scheme, .slow_order = order, .fast_order = order, .damping = damping});
    all.push_back({.scheme = "fastest-first", .slow_order = 3, .fast_order = 0, .smoothing = true, .damping = damping});
    return all;
}

}  // namespace

std::string multirate_scenario(const multirate_run& variant, double end) {
    const two_masses p(variant);
    const double h = 1 / steps_per_cycle;
    const std::string delay = variant.delay > 0 ? fmt::format(", delay: {}", variant.delay) : "";
    return fmt::format(R"(time: {{end: {0}, step: {1}}}
method: {{name: multirate, scheme: {2}, slow-order: {3}, fast-order: {4}, smoothing: {5}, fit: {6}}}
subsystems:
  fast:
    ode:
      states: {{x: 11, v: 0}}
      inputs: {{y: 9.99}}
      equations: {{x: v, v: "-{7}*x - {8}*(x - y) - {10}*v"}}
    solver: rk4
    step: {1}
  slow:
    ode:
      states: {{x: 9.99, v: 0}}
      inputs: {{y: 11}}
      equations: {{x: v, v: "(-{9}*x - {8}*(x - y))/{12} - {10}*v"}}
    solver: trapezoidal
    step: {11}
signals:
  - {{connect: slow.x -> fast.y}}
  - {{connect: fast.x -> slow.y{13}}}
record: {{only: [fast.x, fast.v, slow.x, slow.v]}}
)",
                       end, h, variant.scheme, variant.slow_order, variant.fast_order,
                       variant.smoothing ? "mean" : "none", variant.smoothing ? "least-squares" : "interpolation",
                       p.k1 / m1, p.k2, p.k3, 2 * p.delta, variant.frequency_ratio * h, m2, delay);
}

multirate_result run_multirate(const multirate_run& variant) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const two_masses p(variant);
    const auto rows = rows_of(multirate_scenario(variant, cycles));
    if (rows.size() < static_cast<std::size_t>(cycles * steps_per_cycle))
        return {variant, infinite, infinite, infinite};
    double missed = 0, size = 0, lost = 0;
    const double E0 = p.energy(11, 0, 9.99, 0);
    for (const auto& row : rows) {
        const double exact = p.x1(row[0]);
        missed += (row[1] - exact) * (row[1] - exact);
        size += exact * exact;
        const double part = (p.energy(row[1], row[2], row[3], row[4]) - E0) / E0;
        lost += part * part;
    }
    const double scale = variant.frequency_ratio / cycles;
    multirate_result result{variant, scale * std::sqrt(missed / size),
                            variant.damping > 0 ? 0 : scale * std::sqrt(lost / static_cast<double>(rows.size())), 0};
    const auto& end = rows.back();
    const double damped = std::sqrt(fast * fast - p.delta * p.delta);
    const double a = (end[1] - end[3]) / 1.01, b = ((end[2] - end[4]) / 1.01 + p.delta * a) / damped;
    result.gain = std::hypot(a, b) / (std::exp(-p.delta * end[0]) * fast / damped);
    return result;
}

multirate_figures bench_multirate(std::vector<double> ratios, const std::function<void(const std::string&)>& told) {
    multirate_figures figures;
    if (ratios.empty()) ratios = frequency_ratios;
    for (const double damping : {0.0, 0.5})
        for (multirate_run variant : multirate_variants(damping)) {
            told(fmt::format("{}, {}, damping {}", variant.scheme, order_name(variant), damping));
            for (const double ratio : ratios) {
                variant.frequency_ratio = ratio;
                figures.results.push_back(run_multirate(variant));
            }
        }
    std::vector<std::vector<double>> reference;
    for (const double ratio : {1.0, 5.0, 10.0, 50.0, 100.0}) {
        told(fmt::format("costly slow subsystem, FR = {}", ratio));
        const double before = process_cpu_seconds();
        const auto rows = rows_of(costly_scenario(ratio));
        multirate_cost cost{ratio, process_cpu_seconds() - before, 0};
        if (reference.empty()) reference = rows;
        double low = reference[0][1], high = low;
        for (std::size_t k = 0; k < rows.size(); ++k) {
            low = std::min(low, reference[k][1]);
            high = std::max(high, reference[k][1]);
            cost.difference = std::max(cost.difference, std::abs(rows[k][1] - reference[k][1]));
        }
        cost.difference /= high - low;
        figures.costs.push_back(cost);
    }
    return figures;
}

std::string to_table(const multirate_figures& figures) {
    std::string out;
    std::vector<double> ratios;
    for (const auto& r : figures.results)
        if (std::ranges::find(ratios, r.variant.frequency_ratio) == ratios.end())
            ratios.push_back(r.variant.frequency_ratio);
    struct part {
        const char* title;
        double multirate_result::*value;
        bool undamped_only;
    };
    for (const double damping : {0.0, 0.5})
        for (const part& shown :
             {part{"position error of the fast mass", &multirate_result::position_error, false},
              part{"energy error", &multirate_result::energy_error, true},
              part{"fast oscillation at the end over the exact one", &multirate_result::gain, false}}) {
            if (shown.undamped_only && damping > 0) continue;
            out += fmt::format("{}{}, damping {}\n{:>6}", out.empty() ? "" : "\n", shown.title, damping, "FR");
            for (const auto& variant : multirate_variants(damping))
                out += fmt::format(" {:>9}", (variant.scheme[0] == 's' ? "SF " : "FF ") +
                                                 (variant.smoothing ? "smooth" : order_name(variant)));
            for (const double ratio : ratios) {
                out += fmt::format("\n{:>6}", ratio);
                for (const auto& r : figures.results)
                    if (r.variant.damping == damping && r.variant.frequency_ratio == ratio)
                        out += fmt::format(" {:>9.2e}", r.*shown.value);
            }
            out += "\n";
        }
    out += fmt::format("\ncostly slow subsystem, slowest-first, O0\n{:>6} {:>12} {:>12}\n", "FR", "CPU time [s]",
                       "difference");
    for (const auto& c : figures.costs)
        out += fmt::format("{:>6} {:>12.3f} {:>12.2e}\n", c.frequency_ratio, c.seconds, c.difference);
    return out;
}

std::string to_json(const multirate_figures& figures) {
    const auto number = [](double value) { return std::isfinite(value) ? json(value) : json(nullptr); };
    json results = json::array(), costs = json::array();
    for (const auto& r : figures.results)
        results.push_back({{"scheme", r.variant.scheme},
                           {"slow_order", r.variant.slow_order},
                           {"fast_order", r.variant.fast_order},
                           {"smoothing", r.variant.smoothing},
                           {"damping", r.variant.damping},
                           {"frequency_ratio", r.variant.frequency_ratio},
                           {"position_error", number(r.position_error)},
                           {"energy_error", number(r.energy_error)},
                           {"gain", number(r.gain)}});
    for (const auto& c : figures.costs)
        costs.push_back(
            {{"frequency_ratio", c.frequency_ratio}, {"cpu_seconds", c.seconds}, {"difference", c.difference}});
    return json{{"results", results}, {"costs", costs}}.dump(2) + "\n";
}

void write_multirate_figure(const std::string& file, const multirate_figures& figures) {
    plot picture{.title = "Two masses with steps of their own", .panels = {}, .columns = 2};
    for (const double damping : {0.0, 0.5})
        for (const char* scheme : {"slowest-first", "fastest-first"}) {
            plot_panel panel{
                .title = fmt::format("{}, damping {}", scheme, damping),
                .x = {.label = "frequency ratio FR", .logarithmic = false, .low = 0, .high = 100},
                .y = {.label = "position error of the fast mass", .logarithmic = true, .low = 1e-5, .high = 10},
                .curves = {},
                .references = {}};
            int colour = 0;
            for (const auto& variant : multirate_variants(damping)) {
                if (variant.scheme != scheme) continue;
                plot_curve curve{.name = order_name(variant), .x = {}, .y = {}, .colour = colour++};
                for (const auto& r : figures.results)
                    if (r.variant.scheme == scheme && r.variant.damping == damping &&
                        order_name(r.variant) == curve.name) {
                        curve.x.push_back(r.variant.frequency_ratio);
                        curve.y.push_back(r.position_error);
                    }
                panel.curves.push_back(std::move(curve));
            }
            picture.panels.push_back(std::move(panel));
        }
    write_svg(file, picture);
}

}  // namespace mdpcosim
