// Cost of the stability analysis: one largest stable step over K, the whole of Fig. 2.13, and one recurrence with its eigenvalues
// over the number of subsystems in a chain.
#include <benchmark/benchmark.h>

#include "analysis/stability.hpp"
#include "analysis/stability_report.hpp"
#include "transport/threads.hpp"

namespace mdpcosim {
namespace {

void omega_max(benchmark::State& state, const char* name) {
    test_system_parameters p;
    p.rule = make_extrapolation(name);
    p.F = 100;
    for (auto _ : state) benchmark::DoNotOptimize(stability_scan(p).limit().omega_max);
    state.counters["K"] = p.rule.K;
}
BENCHMARK_CAPTURE(omega_max, lin_2_3_opt, "lin-2-3-opt")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(omega_max, const_2_2_opt, "const-2-2-opt")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(omega_max, const_3_6, "const-3-6")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(omega_max, lin_3_3_b0, "lin-3-3-b0")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(omega_max, lin_4_4_b0, "lin-4-4-b0")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(omega_max, const_7_7_b0, "const-7-7-b0")->Unit(benchmark::kMillisecond);

void figure_2_13(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(analyse_published_figure("2.13", 60).rows.size());
}
BENCHMARK(figure_2_13)->Unit(benchmark::kSecond)->Iterations(1);

/// n bodies on springs of stiffness 1, neighbours coupled by springs of stiffness 10.
linear_system chain(int n, const extrapolation_rule& rule) {
    linear_equations body;
    body.A = Eigen::MatrixXd{{0, 1}, {-1, 0}};
    body.B = Eigen::MatrixXd{{0}, {1}};
    body.E = body.D = Eigen::MatrixXd::Zero(2, 1);
    body.C = Eigen::MatrixXd::Identity(2, 2);
    body.inputs = {"force"};
    body.outputs = {"position", "velocity"};
    linear_system made;
    std::vector<named_subsystem> parts;
    for (int i = 0; i < n; ++i) {
        auto part = std::make_unique<linear_subsystem>(body, Eigen::Vector2d(0, 0), max_degree);
        made.parts.push_back(part.get());
        parts.push_back({"body", std::move(part)});
    }
    made.system.subsystems = make_thread_transport(std::move(parts), 1);
    const law_info* info = law_registry::instance().find("spring");
    parameter_values values(info->parameters);
    values.set("stiffness", {10.0});
    network& net = made.system.coupling;
    for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(n); ++i) {
        const auto u = net.add_channel(
            "spring", info->make(values),
            {{output_slot(2 * i), output_slot(2 * i + 1), 1}, {output_slot(2 * i + 2), output_slot(2 * i + 3), -1}},
            rule);
        net.add_delivery(input_slot(i), max_degree, {u, -1});
        net.add_delivery(input_slot(i + 1), max_degree, {u, 1});
    }
    net.finish(std::vector<double>(static_cast<std::size_t>(n), 0.0));
    made.system.finish();
    made.chosen = method_registry::instance().find("explicit")->make();
    made.system.initialise(0);
    return made;
}

void spectral_radius_of_chain(benchmark::State& state) {
    linear_system system = chain(static_cast<int>(state.range(0)), make_extrapolation("lin-2-3-opt"));
    recurrence r(system);
    double H = 0.1;
    for (auto _ : state) benchmark::DoNotOptimize(spectral_radius(r.matrix(H += 1e-6)));
    state.counters["size"] = r.size();
}
BENCHMARK(spectral_radius_of_chain)->RangeMultiplier(2)->Range(2, 64)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace mdpcosim

BENCHMARK_MAIN();
