#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "scenario/read.hpp"
#include "subsystem/factory.hpp"

/// Hydraulic networks for tests, from the parts of a scenario.
namespace mdpcosim::test {

using std::numbers::pi;
using testing::AllOf;
using testing::HasSubstr;

inline constexpr double E = 1.4e9, rho = 850, bar = 1e5;

inline subsystem_spec entry(const std::string& parts, const std::string& set = "{}", const std::string& solver = "") {
    const std::string text = "time: {end: 1, step: 0.1}\nsubsystems:\n  a:\n    model: hydraulics\n    set: " + set +
                             "\n" + (solver.empty() ? "" : "    solver: " + solver + "\n") + "    parts:\n" + parts;
    return read_scenario_text(text, "s.yaml").subsystems.at(0);
}

/// Runs alone with constant inputs.
class network {
   public:
    explicit network(const std::string& parts, const std::string& set = "{}",
                     const std::string& solver = "{name: dirk-5, rtol: 1e-10, atol: 1e-12}")
        : subsystem_(make_subsystem(entry(parts, set, solver))) {
        inputs_.resize(static_cast<std::size_t>(subsystem_->describe().input_count()));
        y_.resize(static_cast<std::size_t>(subsystem_->describe().output_count()));
        for (const auto& o : subsystem_->describe().outputs) slots_[o.name] = static_cast<std::size_t>(o.slot);
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
    /// In `steps` macro steps.
    void to(double end, int steps = 1) {
        const double begin = time_, H = (end - begin) / steps;
        for (int n = 0; n < steps; ++n) {
            const double next = n + 1 == steps ? end : begin + (n + 1) * H;
            subsystem_->advance({time_, next, step_++}, inputs_, y_);
            time_ = next;
        }
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

inline const std::string everything =
    "      supply: {kind: source, pressure: 8 bar, per-speed: 2000, most: 9 bar, ripple: 0.5 bar, frequency: 80 Hz}\n"
    "      tank: {kind: tank}\n"
    "      out: {kind: port, pressure: 2 bar}\n"
    "      one: {kind: node, volume: 20 cm3, pressure: 6 bar}\n"
    "      two: {kind: node, volume: 30 cm3, pressure: 3 bar}\n"
    "      a: {kind: node, volume: 8 cm3, pressure: 4 bar}\n"
    "      b: {kind: node, volume: 9 cm3, pressure: 5 bar}\n"
    "      store: {kind: accumulator, volume: 50 cm3, charge: 4 bar, pressure: 5 bar}\n"
    "      feed: {kind: line, from: supply, to: one, length: 0.4 m, area: 50 mm2, quadratic-loss: 1e13 Pa.s2/m6}\n"
    "      away: {kind: line, from: two, to: out, length: 0.6 m, linear-loss: 5e9 Pa.s/m3}\n"
    "      hole: {kind: orifice, from: one, to: two, area: 1.5 mm2}\n"
    "      slit: {kind: gap, from: two, to: tank, diameter: 12 mm, height: 40 um, length: 2 cm}\n"
    "      wheel: {kind: pump, from: tank, to: two, displacement: 3 cm3, leak: 1e-12, speed: 100 rad/s}\n"
    "      drip: {kind: flow-source, from: two, to: one, flow: 0.001 l/s}\n"
    "      ball: {kind: check-valve, from: one, to: store, diameter: 6 mm, stroke: 1 mm, mass: 0.5 g, stiffness: 500 "
    "N/m, preload: 1 N, damping: 0.3 N.s/m, contact-stiffness: 1e6 N/m, lift0: 0.1 mm}\n"
    "      relief: {kind: relief-valve, from: store, to: tank, opening: 3 bar, full: 9 bar, area: 4 mm2}\n"
    "      ram: {kind: piston, head: two, rod: one, mass: 0.2 kg, head-area: 2 cm2, rod-area: 1.2 cm2, preload: -20 N, "
    "stiffness: 3000 N/m, damping: 40 N.s/m, low: -5 mm, high: 6 mm, x0: 1 mm, v0: 0.1 m/s}\n"
    "      valve: {kind: spool-valve, p: one, t: tank, a: a, b: b, area: 3 mm2, overlap: 0.05, leak-area: 0.01 mm2, "
    "spool: 0.7}\n"
    "      vanes: {kind: phaser, a: a, b: b, volume-per-angle: 9 cm3, rotor-inertia: 1e-3, stator-inertia: 2e-3, "
    "limit: "
    "20 deg, damping: 0.1, leak: 2e-12, theta0: 3 deg, speed0: 50 rad/s, stop-stiffness: 1e4}\n";

/// Lines at nodes that are not compressed, of both kinds.
inline const std::string rigid =
    "      supply: {kind: source, pressure: 8 bar, ripple: 1 bar, frequency: 30 Hz}\n"
    "      feed: {kind: line, from: supply, to: fork, length: 0.4 m}\n"
    "      fork: {kind: rigid-node, pressure: 8 bar}\n"
    "      left: {kind: line, from: fork, to: end, length: 0.5 m}\n"
    "      right: {kind: line, from: fork, to: tank, length: 2 m, linear-loss: 1e10 Pa.s/m3}\n"
    "      end: {kind: rigid-node, pressure: 8 bar}\n"
    "      hole: {kind: orifice, from: end, to: tank, area: 2 mm2}\n"
    "      tank: {kind: tank}\n";

}  // namespace mdpcosim::test
