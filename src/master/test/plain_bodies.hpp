#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "master/method.hpp"
#include "master/port_sensitivities.hpp"
#include "master/test/small_systems.hpp"

/// Subsystems that tell no more than most FMUs do, and a row of them.
namespace mdpcosim::test {

/// m x'' + 2 D omega m x' + m omega^2 x = sum of the forces at its ports, exact under constant forces. Tells x and v at each port.
class plain_body final : public subsystem {
   public:
    struct properties {
        double m = 1, omega = 1, x = 1;
        int ports = 1;
        bool saves = false;
        double noise = 0;   ///< relative error of the velocity it tells
        double growth = 0;  ///< of the mass, per second
        bool answers = true;
        bool in_proportion = true;  ///< else with the square of the load
        enum class derivatives { none, exact, not_a_number, zero };
        derivatives known = derivatives::none;
        bool fixed_step = false;
    };

    explicit plain_body(const properties& p) : p_(p) {
        description_.type = "plain body";
        for (int i = 0; i < p.ports; ++i) {
            const std::string name = "p" + std::to_string(i);
            port added;
            added.name = name;
            added.load = add_input(description_, name + ".force", "N", "");
            description_.inputs.back().max_degree = 0;
            added.motion[0] = add_output(description_, name + ".position", "m", "");
            added.motion[1] = add_output(description_, name + ".velocity", "m/s", "");
            description_.outputs[description_.outputs.size() - 2].rate_slot = added.motion[1];
            description_.outputs.back().rate_sensitivities = p.known != properties::derivatives::none;
            description_.ports.push_back(added);
        }
    }
    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override {
        return {.save_restore = p_.saves,
                .rate_sensitivities = p_.known != properties::derivatives::none,
                .why_no_save_restore = p_.saves ? "" : "plain",
                .why_fixed_step = p_.fixed_step ? "all its steps are equal" : ""};
    }
    void rate_sensitivities(std::span<const double>, int, std::span<double> by_output) override {
        using enum properties::derivatives;
        const double B = p_.known == exact  ? 1 / (p_.m * (1 + p_.growth * now_.t))
                         : p_.known == zero ? 0
                                            : std::nan("");
        for (std::size_t i = 1; i < by_output.size(); i += 2) by_output[i] = B;
    }
    void initialise(double t0) override { now_ = {t0, p_.x, 0, 0}; }
    void outputs(std::span<const double>, std::span<double> y) override {
        for (std::size_t i = 0; i < y.size(); i += 2) {
            y[i] = now_.x;
            y[i + 1] = now_.v * (1 + p_.noise * std::sin(1e3 * static_cast<double>(now_.steps)));
        }
    }
    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        double force = 0;
        for (const polynomial& p : inputs)
            force += !p_.answers ? 0 : p_.in_proportion ? p.c[0] : p.c[0] * std::abs(p.c[0]);
        const double H = step.end - step.begin, omega = p_.omega, decay = 1e-3 * omega;
        const double m = p_.m * (1 + p_.growth * (step.begin + step.end) / 2);
        const double swing = omega * std::sqrt(1 - 1e-6), E = std::exp(-decay * H);
        const double C = std::cos(swing * H), S = std::sin(swing * H) / swing;
        const double rest = force / (m * omega * omega), from = now_.x - rest;
        now_.x = rest + E * (from * (C + decay * S) + now_.v * S);
        now_.v = E * (now_.v * (C - decay * S) - from * omega * omega * S);
        now_.t = step.end;
        ++now_.steps;
        outputs({}, y);
    }
    std::unique_ptr<snapshot> make_snapshot() const override { return std::make_unique<saved>(); }
    void save(snapshot& into) override { static_cast<saved&>(into) = now_; }
    void restore(const snapshot& from) override { now_ = static_cast<const saved&>(from); }

    std::int64_t steps() const { return now_.steps; }

   private:
    struct saved final : snapshot {
        saved() = default;
        saved(double time, double position, double velocity, std::int64_t count)
            : t(time), x(position), v(velocity), steps(count) {}
        double t = 0, x = 0, v = 0;
        std::int64_t steps = 0;
        void state(state_bytes& bytes) override { bytes(t, x, v, steps); }
    };
    properties p_;
    subsystem_description description_;
    saved now_;
};

/// Bodies in a row, a spring between the last port of each and the first of the next.
struct row_of_bodies {
    coupled_system system;
    std::vector<plain_body*> bodies;
    std::unique_ptr<method> chosen = method_registry::instance().find("one-pass")->make();
    std::int64_t n = 0;
    double largest = 0;  ///< displacement

    row_of_bodies(const std::vector<plain_body::properties>& which, double c) {
        std::vector<named_subsystem> parts;
        for (const auto& p : which) {
            auto made = std::make_unique<plain_body>(p);
            bodies.push_back(made.get());
            parts.push_back({"body" + std::to_string(parts.size()), std::move(made)});
        }
        system.subsystems = make_thread_transport(std::move(parts), 1);
        transport& t = *system.subsystems;
        std::vector<double> start(t.inputs().size(), 0.0);
        for (std::size_t i = 0; i + 1 < which.size(); ++i) {
            const subsystem_index left(i), right(i + 1);
            const std::size_t last = static_cast<std::size_t>(which[i].ports) - 1;
            const std::size_t out = t.output_offset(left) + 2 * last, in = t.output_offset(right);
            const auto channel = system.coupling.add_channel(
                "spring" + std::to_string(i), spring(c),
                {{output_slot(out), output_slot(out + 1), 1}, {output_slot(in), output_slot(in + 1), -1}},
                make_extrapolation("lin-2-3-opt"));
            system.coupling.add_delivery(input_slot(t.input_offset(left) + last), 0, {channel, -1});
            system.coupling.add_delivery(input_slot(t.input_offset(right)), 0, {channel, 1});
        }
        system.coupling.finish(start);
        system.finish();
    }
    void give_inertias(const std::vector<double>& m) {
        given_sensitivities given;
        for (std::size_t i = 0; i < m.size(); ++i) given.push_back({input_slot(i), output_slot(2 * i + 1), 1 / m[i]});
        hand_over(*chosen, std::move(given));
    }
    void run(double H, int steps) {
        if (n == 0) {
            system.initialise(0);
            chosen->prepare(system);
        }
        for (int i = 0; i < steps; ++i, ++n) {
            const auto k = static_cast<double>(n);
            chosen->step(system, {k * H, (k + 1) * H, n});
            for (std::size_t s = 0; s < system.subsystems->outputs().size(); s += 2)
                largest = std::max(largest, std::abs(system.subsystems->outputs()[s]));
        }
    }
    double x(std::size_t body) const {
        return system.subsystems->outputs()[system.subsystems->output_offset(subsystem_index(body))];
    }
};

}  // namespace mdpcosim::test
