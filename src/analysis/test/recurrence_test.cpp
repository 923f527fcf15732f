#include "analysis/recurrence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace mdpcosim {
namespace {

linear_system make(const std::string& rule, double F = 10, coupling_variant variant = coupling_variant::force_force) {
    test_system_parameters p;
    p.rule = make_extrapolation(rule);
    p.F = F;
    p.V = 1.3;
    p.frequency_ratio = 0.8;
    p.damping = 0.01;
    p.variant = variant;
    p.start = {1, 0.3, -0.5, 0.2};
    return make_test_system(p);
}

/// Largest difference over 1000 macro steps between P^n r and the running program, which starts up by itself.
double difference(linear_system& running, linear_system& analysed, double H, int warm_up) {
    recurrence live(running), matrix(analysed);
    const Eigen::MatrixXd P = matrix.matrix(H);
    std::int64_t n = 0;
    const auto step = [&] {
        running.chosen->step(running.system, {static_cast<double>(n) * H, static_cast<double>(n + 1) * H, n});
        ++n;
    };
    while (n < warm_up) step();
    Eigen::VectorXd r(live.size()), now(live.size());
    live.get(static_cast<double>(n) * H, {r.data(), static_cast<std::size_t>(r.size())});
    double largest = 0;
    for (int i = 0; i < 1000; ++i) {
        step();
        live.get(static_cast<double>(n) * H, {now.data(), static_cast<std::size_t>(now.size())});
        r = P * r;
        largest = std::max(largest, (r - now).cwiseAbs().maxCoeff() / std::max(1.0, now.cwiseAbs().maxCoeff()));
    }
    return largest;
}

TEST(recurrence, agrees_with_the_running_program) {
    for (const auto& name : extrapolation_names()) {
        linear_system running = make(name), analysed = make(name);
        EXPECT_LT(difference(running, analysed, 0.01, max_history), 1e-12) << name;
    }
    for (const auto variant : {coupling_variant::force_displacement, coupling_variant::displacement_displacement})
        for (const char* name : {"poly-1", "poly-2", "lin-2-3-opt", "lin-2-4-continuous", "hermite-2"}) {
            linear_system running = make(name, 10, variant), analysed = make(name, 10, variant);
            EXPECT_LT(difference(running, analysed, 0.01, max_history), 1e-12) << name;
        }
}

}  // namespace
}  // namespace mdpcosim
