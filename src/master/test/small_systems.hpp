#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coupling/extrapolation.hpp"
#include "coupling/law.hpp"
#include "master/method.hpp"
#include "subsystem/description_parts.hpp"
#include "subsystem/native_subsystem.hpp"
#include "transport/threads.hpp"

/// Coupled systems with known solutions, put together by hand: the master's room knows no scenarios and no models.
namespace mdpcosim::test {

/// m x'' + c x = F with the port's outputs x, v, a.
class oscillator final : public equations {
   public:
    /// `tells`: that a follows F at once.
    oscillator(double m, double c, std::function<std::array<double, 2>(double)> start, bool tells = true)
        : m_(m), c_(c), start_(std::move(start)) {
        description_.type = "oscillator";
        add_mechanical_port(description_, "mass", port_kind::translation, "");
        if (!tells) description_.outputs[2].direct.clear();
    }
    const subsystem_description& describe() const noexcept override { return description_; }
    int state_count() const override { return 2; }
    void initial_state(double t0, double* x) const override {
        const auto [q, v] = start_(t0);
        x[0] = q;
        x[1] = v;
    }
    void derivatives(double, const double* x, const double* u, double* dx) const override {
        dx[0] = x[1];
        dx[1] = (u[0] - c_ * x[0]) / m_;
    }
    void outputs(double, const double* x, const double* u, double* y) const override {
        y[0] = x[0];
        y[1] = x[1];
        y[2] = (u[0] - c_ * x[0]) / m_;
    }

   private:
    double m_, c_;
    std::function<std::array<double, 2>(double)> start_;
    subsystem_description description_;
};

inline std::unique_ptr<subsystem> with_rk4(std::unique_ptr<equations> model, double micro_step) {
    const solver_info* info = solver_registry::instance().find("rk4");
    parameter_values options(info->options);
    if (micro_step > 0) options.set("step", {micro_step});
    return make_native_subsystem(std::move(model), info->make(options));
}

inline std::unique_ptr<law> spring(double stiffness) {
    const law_info* info = law_registry::instance().find("spring");
    parameter_values values(info->parameters);
    values.set("stiffness", {stiffness});
    return info->make(values);
}

/// Two equal oscillators (m = 1 kg, c = 1 N/m) with a spring of 4 N/m between them, in both modes at once:
///     x_A = (cos t + cos 3t) / 2 ,    x_B = (cos t - cos 3t) / 2 .
struct two_mass {
    static constexpr double m = 1, c = 1, c_c = 4;

    static std::array<double, 4> exact(double t) {
        const double s = std::cos(t), a = std::cos(3 * t), ds = -std::sin(t), da = -3 * std::sin(3 * t);
        return {(s + a) / 2, (ds + da) / 2, (s - a) / 2, (ds - da) / 2};
    }

    static coupled_system make(const extrapolation_rule& rule, double micro_step, int workers = 1, int replicas = 0,
                               bool tells = true) {
        std::vector<named_subsystem> parts;
        for (const std::size_t body : {0, 1}) {
            const auto start = [body](double t) {
                const auto x = exact(t);
                return std::array{x[2 * body], x[2 * body + 1]};
            };
            const auto made = [&] { return with_rk4(std::make_unique<oscillator>(m, c, start, tells), micro_step); };
            parts.push_back({body == 0 ? "A" : "B", made()});
            for (int k = 0; k < replicas; ++k) parts.back().replicas.push_back(made());
        }
        coupled_system system;
        system.subsystems = make_thread_transport(std::move(parts), workers);
        const auto channel = system.coupling.add_channel(
            "spring", spring(c_c), {{output_slot(0), output_slot(1), 1}, {output_slot(3), output_slot(4), -1}}, rule);
        system.coupling.add_delivery(input_slot(0), max_degree, {channel, -1});
        system.coupling.add_delivery(input_slot(1), max_degree, {channel, 1});
        system.coupling.finish(std::vector<double>{0, 0});
        for (const std::size_t body : {0, 1}) system.at_start.push_back({subsystem_index(body), {channel}});
        system.finish();
        return system;
    }

    /// Largest error of x_A, v_A, x_B, v_B.
    static double error(const coupled_system& system, double t) {
        const auto x = exact(t);
        const auto y = system.subsystems->outputs();
        return std::max(std::max(std::abs(y[0] - x[0]), std::abs(y[1] - x[1])),
                        std::max(std::abs(y[3] - x[2]), std::abs(y[4] - x[3])));
    }
};

/// From the present time of an initialised system over all steps of the grid.
inline void run_steps(coupled_system& system, method& chosen, const time_grid& grid) {
    chosen.prepare(system);
    for (std::int64_t n = 0; n < grid.steps(); ++n) chosen.step(system, grid.step(n));
}

/// A subsystem without a state: y from the time and the inputs, by a function.
class algebraic final : public subsystem {
   public:
    using function = std::function<double(double t, std::span<const double> u)>;

    algebraic(int inputs, bool feed_through, function f) : f_(std::move(f)), u_(static_cast<std::size_t>(inputs)) {
        description_.type = "algebraic";
        for (int i = 0; i < inputs; ++i) add_input(description_, "u" + std::to_string(i), "1", "");
        add_output(description_, "y", "1", "");
        if (feed_through)
            for (int i = 0; i < inputs; ++i) description_.outputs[0].direct.push_back(i);
    }
    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override { return {}; }
    void initialise(double t0) override { t_ = t0; }
    void outputs(std::span<const double> u, std::span<double> y) override {
        ++evaluations;
        y[0] = f_(t_, u);
    }
    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        t_ = step.end;
        for (std::size_t i = 0; i < inputs.size(); ++i) u_[i] = inputs[i](step.end - step.begin);
        if (on_advance) on_advance(step);
        y[0] = f_(t_, u_);
    }

    std::function<void(const macro_step&)> on_advance;
    int evaluations = 0;

   private:
    subsystem_description description_;
    function f_;
    std::vector<double> u_;
    double t_ = 0;
};

}  // namespace mdpcosim::test
