#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "scenario/read.hpp"
#include "subsystem/factory.hpp"

/// Valve trains for tests, from the parts of a scenario.
namespace mdpcosim::test {
using std::numbers::pi;
using testing::AllOf;
using testing::HasSubstr;

inline constexpr double degree = pi / 180;

inline subsystem_spec valve_train(const std::string& parts, const std::string& more = "",
                                  const std::string& set = "{}") {
    const std::string text = "time: {end: 1, step: 0.1}\nsubsystems:\n  a:\n    model: valve-train\n    set: " + set +
                             "\n" + more + "    parts:\n" + parts;
    return read_scenario_text(text, "s.yaml").subsystems.at(0);
}

inline const std::string exactly = "    solver: {name: erk-5, rtol: 1e-9, atol: 1e-11}\n";

/// Runs alone with constant inputs.
class train {
   public:
    explicit train(const std::string& parts, const std::string& more = exactly, const std::string& set = "{}")
        : subsystem_(make_subsystem(valve_train(parts, more, set))) {
        inputs_.resize(static_cast<std::size_t>(subsystem_->describe().input_count()));
        y_.resize(static_cast<std::size_t>(subsystem_->describe().output_count()));
        for (const auto& o : subsystem_->describe().outputs)
            for (int k = 0; k < o.size; ++k)
                slots_[o.size == 1 ? o.name : fmt::format("{}[{}]", o.name, k)] = static_cast<std::size_t>(o.slot + k);
        for (const auto& u : subsystem_->describe().inputs) inputs_[static_cast<std::size_t>(u.slot)].c[0] = u.start;
        subsystem_->initialise(0);
        std::vector<double> u;
        for (const auto& p : inputs_) u.push_back(p.c[0]);
        subsystem_->outputs(u, y_);
    }
    void set(const std::string& name, double value) {
        for (const auto& u : subsystem_->describe().inputs)
            if (u.name == name) return void(inputs_[static_cast<std::size_t>(u.slot)].c[0] = value);
        throw std::logic_error(name);
    }
    void to(double end) {
        subsystem_->advance({time_, end, step_++}, inputs_, y_);
        time_ = end;
    }
    double operator[](const std::string& name) const { return y_[slots_.at(name)]; }

   private:
    std::unique_ptr<subsystem> subsystem_;
    std::vector<polynomial> inputs_;
    std::vector<double> y_;
    std::map<std::string, std::size_t> slots_;
    double time_ = 0;
    int step_ = 0;
};

/// Equations at any state, by its name.
class equations_at {
   public:
    explicit equations_at(const std::string& parts, const std::string& set = "{}")
        : model_(make_equations(valve_train(parts, "", set))), x_(static_cast<std::size_t>(model_->state_count())) {
        model_->initial_state(0, x_.data());
        for (const auto& input : model_->describe().inputs) {
            u_.resize(static_cast<std::size_t>(input.slot) + 1);
            u_.back() = input.start;
        }
    }
    double& operator[](const std::string& state) {
        for (std::size_t i = 0; i < x_.size(); ++i)
            if (model_->state_name(static_cast<int>(i)) == state) return x_[i];
        throw std::logic_error(state);
    }
    double output(const std::string& name) const {
        std::vector<double> y(static_cast<std::size_t>(model_->describe().output_count()));
        model_->outputs(0, x_.data(), u_.data(), y.data());
        for (const auto& o : model_->describe().outputs)
            if (o.name == name) return y[static_cast<std::size_t>(o.slot)];
        throw std::logic_error(name);
    }
    Eigen::MatrixXd jacobian() const {
        const auto n = static_cast<Eigen::Index>(x_.size());
        Eigen::MatrixXd J(n, n);
        EXPECT_TRUE(model_->jacobian(0, x_.data(), u_.data(), J.data()));
        return J;
    }
    int index(const std::string& state) { return static_cast<int>(&(*this)[state] - x_.data()); }

   private:
    std::unique_ptr<equations> model_;
    std::vector<double> x_, u_;
};

/// Two valves of different cams; the second stands open at the start.
inline const std::string everything =
    "      shaft: {kind: shaft, speed: 150, bearing-friction: 0.05, bearing-damping: 1e-3}\n"
    "      oil: {kind: gallery, pressure: 4 bar}\n"
    "      in: {kind: cam, angle: 70 deg, ramp-lift: 0.2 mm, ramp: 15 deg, dwell: 4 deg, friction: 0.05}\n"
    "      out: {kind: cam, angle: 10 deg, angles: [-60 deg, -50 deg, -40 deg, -20 deg, 0 deg, 25 deg, 40 deg, 60 deg, "
    "75 deg], lifts: [0 mm, 0.3 mm, 1.3 mm, 6 mm, 8 mm, 5.5 mm, 2.5 mm, 0.3 mm, 0 mm]}\n"
    "      rocker: {kind: follower, cam: in}\n"
    "      lash: {kind: adjuster, follower: rocker, ball-mass: 0.1 g}\n"
    "      valve: {kind: valve, follower: rocker, load: 20 N}\n"
    "      spring: {kind: spring, valve: valve, travel: 14 mm, masses: 4}\n"
    "      tappet: {kind: follower, cam: out, ratio: 1}\n"
    "      cup: {kind: adjuster, follower: tappet}\n"
    "      left: {kind: valve, follower: tappet}\n"
    "      right: {kind: valve, follower: tappet}\n"
    "      left-spring: {kind: spring, valve: left, masses: 2}\n"
    "      right-outer: {kind: spring, valve: right, masses: 3}\n"
    "      right-inner: {kind: spring, valve: right, masses: 2, preload: 50 N, stiffness: 1e4}\n"
    "      finger: {kind: follower, cam: out, lash: 0.1 mm}\n"
    "      third: {kind: valve, follower: finger}\n"
    "      third-spring: {kind: spring, valve: third, masses: 1}\n";

inline const std::string one_valve =
    "      rocker: {kind: follower, cam: cam}\n      valve: {kind: valve, follower: rocker}\n"
    "      spring: {kind: spring, valve: valve}\n";

}  // namespace mdpcosim::test
