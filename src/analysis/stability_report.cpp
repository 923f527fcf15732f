#include "analysis/stability_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/requests.hpp"
#include "core/error.hpp"
#include "core/suggest.hpp"

namespace mdpcosim {

namespace {

stability_row analyse(test_system_parameters system, const extrapolation_rule& rule, double F) try {
    system.rule = rule;
    system.F = F;
    stability_scan scan(system);
    stability_row row;
    row.extrapolation = rule.name;
    row.F = F;
    row.limit = scan.limit();
    row.order = scan.order();
    if (row.limit.outcome == stability_limit::kind::none)
        row.crossings = {scan.limit(1e-5).omega_max, row.limit.omega_max, scan.limit(1e-7).omega_max};
    return row;
} catch (const std::invalid_argument& problem) {
    throw user_error(fmt::format("stability: {}.", problem.what()));
}

void add_published(const published_table& table, stability_report& report) {
    for (const auto& printed : table.rows) {
        const extrapolation_rule rule = printed.free.empty()
                                            ? make_extrapolation(table.rule + "-opt-F", printed.F)
                                            : rule_with_free(table.degree, table.K, table.R, printed.free);
        stability_row row = analyse(report.system, rule, printed.F);
        row.extrapolation = table.rule + "-opt";
        row.a = rule.a;
        row.b = rule.b;
        row.printed = printed.omega_max;
        report.rows.push_back(std::move(row));
    }
}

}  // namespace

coupling_variant read_coupling_variant(const std::string& name) {
    const auto names = coupling_variant_names();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
        throw user_error(fmt::format("--variant: {}", unknown_name("variant", name, "The test system", names)));
    return static_cast<coupling_variant>(found - names.begin());
}

stability_report analyse_stability(const std::vector<std::string>& extrapolations, const std::vector<double>& F,
                                   const test_system_parameters& system) {
    stability_report report{"Largest stable macro step", system, {}};
    for (const auto& text : extrapolations)
        for (const double each : F) report.rows.push_back(analyse(system, read_extrapolation(text, each), each));
    return report;
}

stability_report analyse_published_table(const std::string& number, const test_system_parameters& system) {
    stability_report report{"Friedrich 2011, Table " + number, system, {}};
    std::vector<std::string> known;
    for (const auto* tables : {&published_tables(), &published_comparison()})
        for (const auto& table : *tables) {
            if (table.number == number) add_published(table, report);
            if (known.empty() || known.back() != table.number) known.push_back(table.number);
        }
    if (report.rows.empty())
        throw user_error(fmt::format("--table: {}", unknown_name("table", number, "'mdpcosim stability'", known)));
    return report;
}

stability_report analyse_published_figure(const std::string& number, int points, const test_system_parameters& system) {
    if (number != "2.13")
        throw user_error(fmt::format(
            "--figure: {}", unknown_name("figure", number, "'mdpcosim stability'", std::vector<std::string>{"2.13"})));
    std::vector<double> F;
    for (int i = 0; i < points; ++i) F.push_back(std::pow(10, -1 + 3.0 * i / (points - 1)));
    stability_report report{"Friedrich 2011, Fig. 2.13", system, {}};
    for (const auto& name : extrapolation_names()) {
        const extrapolation_rule rule = make_extrapolation(name);
        const std::size_t first = report.rows.size();
        for (const double each : F) {
            report.rows.push_back(analyse(report.system, rule, each));
            if (report.rows.back().limit.outcome == stability_limit::kind::limit) continue;
            report.rows.resize(first);  // a rule without a limit is none at every F
            break;
        }
    }
    return report;
}

std::vector<stability_map> map_stability(const std::vector<std::string>& extrapolations,
                                         const test_system_parameters& system, int points) {
    std::vector<stability_map> maps;
    for (const auto& text : extrapolations) {
        stability_map& map = maps.emplace_back();
        map.extrapolation = text;
        for (int i = 0; i < points; ++i) {
            map.F.push_back(std::pow(10, -1 + 7.0 * i / (points - 1)));
            map.omega.push_back(0.01 * std::pow(300, static_cast<double>(i) / (points - 1)));
        }
        for (const double F : map.F) {
            test_system_parameters p = system;
            p.rule = read_extrapolation(text, F);
            p.F = F;
            stability_scan scan(p);
            for (const double omega : map.omega) map.rho.push_back(scan.radius(omega));
        }
    }
    return maps;
}

std::vector<double> stiff_F() {
    const auto F = published_F();
    return {F[2], F[3], F[4]};
}

optimum optimise_stability(const std::string& name, const std::vector<double>& F, const std::vector<double>& weights,
                           const test_system_parameters& system, std::uint32_t seed,
                           std::function<void(double, double)> progress) {
    optimisation_task task;
    char family[8] = {}, rest = 0;
    if (std::sscanf(name.c_str(), "%7[a-z]-%d-%d%c", family, &task.K, &task.R, &rest) != 3 ||
        (std::string(family) != "const" && std::string(family) != "lin"))
        throw user_error(
            fmt::format("--extrapolation {}: --optimise takes const-K-R or lin-K-R, for example lin-2-3, and "
                        "finds the coefficients that this name leaves free.",
                        name));
    task.degree = std::string(family) == "lin" ? 1 : 0;
    task.F = F;
    task.weights = weights;
    task.system = system;
    task.seed = seed;
    task.progress = std::move(progress);
    try {
        return optimise(task);
    } catch (const std::invalid_argument& problem) {
        throw user_error(fmt::format("--extrapolation {}: {}.", name, problem.what()));
    }
}

}  // namespace mdpcosim
