#include <benchmark/benchmark.h>

#include <cmath>

#include "coupling/network.hpp"

/// A chain of n springs between n + 1 bodies, lin-2-3-opt: one macro step of the network (evaluate, accept,
/// extrapolate, deliver) without the subsystems. The counter `per_channel` is the time per spring and macro step.
///     build/bench/bench_network
namespace {

using namespace mdpcosim;

network make_chain(std::size_t springs, const char* extrapolation, int input_degree) {
    network net;
    const law_info& spring = *law_registry::instance().find("spring");
    parameter_values values(spring.parameters);
    values.set("stiffness", {1e4});
    const auto rule = make_extrapolation(extrapolation);
    for (std::size_t i = 0; i < springs; ++i) {
        const auto channel = net.add_channel(
            "spring" + std::to_string(i), spring.make(values),
            {{output_slot(2 * i), output_slot(2 * i + 1), 1}, {output_slot(2 * i + 2), output_slot(2 * i + 3), -1}},
            rule);
        net.add_delivery(input_slot(i), input_degree, {channel, -1});
        net.add_delivery(input_slot(i + 1), input_degree, {channel, 1});
    }
    net.finish(std::vector<double>(springs + 1, 0.0));
    return net;
}

void chain(benchmark::State& state, const char* extrapolation, int input_degree) {
    const auto springs = static_cast<std::size_t>(state.range(0));
    network net = make_chain(springs, extrapolation, input_degree);
    std::vector<double> y(2 * springs + 2), u(springs), du(springs);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::sin(0.1 * static_cast<double>(i));
    std::vector<polynomial> inputs(springs + 1);
    const double H = 1e-5;
    double step = 0;
    for (auto _ : state) {
        net.evaluate(0, y, u, du);
        net.accept(step * H, y, u, du);
        step += 1;
        net.extrapolate(step * H);
        net.deliver(H, inputs);
        benchmark::ClobberMemory();
    }
    state.counters["per_channel"] = benchmark::Counter(
        static_cast<double>(springs), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(chain, lin_2_3_opt, "lin-2-3-opt", max_degree)->RangeMultiplier(10)->Range(1, 10000);
BENCHMARK_CAPTURE(chain, lin_2_3_opt_to_mean, "lin-2-3-opt", 0)->RangeMultiplier(10)->Range(1, 10000);
BENCHMARK_CAPTURE(chain, hermite_3, "hermite-3", max_degree)->Arg(10000);

}  // namespace

BENCHMARK_MAIN();
