#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "core/units.hpp"
#include "subsystem/factory.hpp"
#include "subsystem/ode_equations.hpp"

namespace mdpcosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

text written(std::string value, int line = 1, int column = 1) { return {std::move(value), {"s.yaml", line, column}}; }

setting entry(const std::string& name, const std::string& value, int line = 1) {
    return {name, {"s.yaml", line, 3}, {written(value, line, 10)}, false};
}

ode_output output(const std::string& name, const std::string& expression, const std::string& unit = "", int line = 40) {
    return {name, {"s.yaml", line, 3}, written(expression, line, 10), unit.empty() ? text{} : written(unit, line, 30)};
}

port_spec make_port(const std::string& name, const std::string& kind, std::vector<setting> variables) {
    return {name, {"s.yaml", 60, 3}, written(kind, 60, 10), {}, std::move(variables)};
}

/// phi'' = -g/L sin(phi) + tau/(m L^2)
subsystem_spec pendulum() {
    subsystem_spec spec;
    spec.name = "p";
    spec.where = {"s.yaml", 5, 3};
    spec.kind = subsystem_spec::source_kind::ode;
    spec.ode.parameters = {entry("g", "9.81 m/s2", 10), entry("L", "800 mm", 11), entry("m", "2 kg", 12)};
    spec.ode.states = {entry("phi", "30 deg", 20), entry("omega", "0 rad/s", 21)};
    spec.ode.inputs = {entry("tau", "0 N.m", 25)};
    spec.ode.equations = {entry("phi", "omega", 30), entry("omega", "-g/L*sin(phi) + tau/(m*L^2)", 31)};
    spec.ode.outputs = {output("energy", "m*L^2*omega^2/2 + m*g*L*(1 - cos(phi))", "J"),
                        output("x", "L*sin(phi)", "m", 41)};
    spec.ports = {make_port("shaft", "rotation", {entry("angle", "phi", 61), entry("torque", "tau", 62)})};
    return spec;
}

template <class Variables>
const auto& find(const Variables& variables, const std::string& name) {
    const auto found = std::find_if(variables.begin(), variables.end(), [&](const auto& v) { return v.name == name; });
    if (found == variables.end()) throw std::runtime_error("no variable " + name);
    return *found;
}

std::vector<double> start_of(const equations& model) {
    std::vector<double> x(static_cast<std::size_t>(model.state_count()));
    model.initial_state(0, x.data());
    return x;
}

std::vector<double> outputs_of(const equations& model, double t, const std::vector<double>& x,
                               const std::vector<double>& u) {
    std::vector<double> y(static_cast<std::size_t>(model.describe().output_count()));
    model.outputs(t, x.data(), u.data(), y.data());
    return y;
}

double output_of(const equations& model, const std::string& name, const std::vector<double>& x,
                 const std::vector<double>& u = {0}, double t = 0) {
    return outputs_of(model, t, x, u)[static_cast<std::size_t>(find(model.describe().outputs, name).slot)];
}

void rk4_step(const equations& model, double t, double h, std::vector<double>& x, const std::vector<double>& u) {
    const std::size_t n = x.size();
    std::vector<double> k(n), sum(n, 0), at = x;
    const double share[]{1, 2, 2, 1}, next[]{0.5, 0.5, 1, 0};
    double time = t;
    for (int stage = 0; stage < 4; ++stage) {
        model.derivatives(time, at.data(), u.data(), k.data());
        for (std::size_t i = 0; i < n; ++i) {
            sum[i] += share[stage] * k[i] * h / 6;
            at[i] = x[i] + next[stage] * h * k[i];
        }
        time = t + next[stage] * h;
    }
    for (std::size_t i = 0; i < n; ++i) x[i] += sum[i];
}

void expect_error(const subsystem_spec& spec, const std::vector<std::string>& parts) {
    try {
        make_ode_equations(spec);
        ADD_FAILURE() << "no error; expected " << parts.front();
    } catch (const user_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("subsystem 'p'"));
        for (const auto& part : parts) EXPECT_THAT(error.what(), HasSubstr(part));
    }
}

TEST(ode, description) {
    const auto model = make_ode_equations(pendulum());
    const auto& d = model->describe();
    EXPECT_EQ(d.type, "ode");
    std::vector<std::string> names;
    for (const auto& o : d.outputs) names.push_back(o.name);
    EXPECT_THAT(names, ElementsAre("phi", "omega", "energy", "x", "der(omega)", "der(energy)", "der(x)"));
    EXPECT_EQ(find(d.outputs, "phi").unit, "rad");
    EXPECT_EQ(find(d.outputs, "omega").unit, "rad/s");
    EXPECT_EQ(find(d.outputs, "der(omega)").unit, "rad/s2");
    EXPECT_EQ(find(d.outputs, "energy").unit, "J");
    EXPECT_EQ(find(d.outputs, "der(energy)").unit, "W");
    EXPECT_EQ(find(d.outputs, "der(x)").unit, "m/s");
    ASSERT_EQ(d.inputs.size(), 1U);
    EXPECT_EQ(d.inputs[0].unit, "N.m");
    for (std::size_t i = 0; i < d.outputs.size(); ++i) EXPECT_EQ(d.outputs[i].slot, static_cast<int>(i));
    EXPECT_DOUBLE_EQ(start_of(*model)[0], std::numbers::pi / 6);
}

TEST(ode, rates_and_direct_dependence) {
    const auto model = make_ode_equations(pendulum());
    const auto& all = model->describe().outputs;
    // phi' is omega, which exists already.
    EXPECT_EQ(find(all, "phi").rate_slot, find(all, "omega").slot);
    EXPECT_FALSE(find(all, "phi").rate_needs_input);
    EXPECT_EQ(find(all, "omega").rate_slot, find(all, "der(omega)").slot);
    EXPECT_TRUE(find(all, "omega").rate_needs_input);
    EXPECT_TRUE(find(all, "energy").rate_needs_input);
    EXPECT_FALSE(find(all, "x").rate_needs_input);
    EXPECT_THAT(find(all, "omega").direct, IsEmpty());
    EXPECT_THAT(find(all, "der(omega)").direct, ElementsAre(0));
    EXPECT_THAT(find(all, "der(x)").direct, IsEmpty());
    const std::vector<double> x{0.4, -1.5}, u{3};
    EXPECT_DOUBLE_EQ(output_of(*model, "x", x, u), 0.8 * std::sin(0.4));
    EXPECT_DOUBLE_EQ(output_of(*model, "der(x)", x, u), 0.8 * std::cos(0.4) * -1.5);
    EXPECT_DOUBLE_EQ(output_of(*model, "der(omega)", x, u), -9.81 / 0.8 * std::sin(0.4) + 3 / 1.28);
    // The power of the torque is all that changes the energy.
    EXPECT_NEAR(output_of(*model, "der(energy)", x, u), 3 * -1.5, 1e-13);
}

TEST(ode, energy_is_kept_to_fourth_order) {
    const auto model = make_ode_equations(pendulum());
    const auto drift = [&](int steps) {
        auto x = start_of(*model);
        const double before = output_of(*model, "energy", x);
        for (int i = 0; i < steps; ++i) rk4_step(*model, i * 2.0 / steps, 2.0 / steps, x, {0});
        return std::abs(output_of(*model, "energy", x) - before) / before;
    };
    EXPECT_LT(drift(2000), 1e-10);
    EXPECT_GT(std::log2(drift(100) / drift(200)), 3.7);
}

TEST(ode, rate_is_the_derivative_along_the_solution) {
    auto spec = pendulum();
    spec.ode.outputs.push_back(output("f", "exp(-t)*phi^2 + if(omega > 0, omega, 2*omega)*t", "", 42));
    const auto model = make_ode_equations(spec);
    std::vector<double> x{0.7, -0.4};
    const double t = 0.3, h = 1e-3;
    auto up = x, down = x;
    rk4_step(*model, t, h, up, {1.5});
    rk4_step(*model, t, -h, down, {1.5});
    for (const std::string name : {"f", "x", "energy", "phi", "omega"}) {
        const double difference =
            (output_of(*model, name, up, {1.5}, t + h) - output_of(*model, name, down, {1.5}, t - h)) / (2 * h);
        const auto rate = static_cast<std::size_t>(find(model->describe().outputs, name).rate_slot);
        EXPECT_NEAR(outputs_of(*model, t, x, {1.5})[rate], difference, 2e-5) << name;
    }
}

TEST(ode, jacobian_against_differences) {
    auto spec = pendulum();
    spec.ode.states.push_back(entry("z", "1", 22));
    spec.ode.equations.push_back(entry("z", "-z^3 + phi*omega*t - tau*z", 32));
    const auto model = make_ode_equations(spec);
    std::mt19937 random(3);
    std::uniform_real_distribution<double> any(-2, 2);
    for (int sample = 0; sample < 20; ++sample) {
        const std::vector<double> u{any(random)};
        const double t = any(random);
        std::vector<double> x{any(random), any(random), any(random)}, jacobian(9, 77.0), up(3), down(3);
        ASSERT_TRUE(model->jacobian(t, x.data(), u.data(), jacobian.data()));
        for (std::size_t j = 0; j < 3; ++j) {
            auto shifted = x;
            shifted[j] = x[j] + 1e-5;
            model->derivatives(t, shifted.data(), u.data(), up.data());
            shifted[j] = x[j] - 1e-5;
            model->derivatives(t, shifted.data(), u.data(), down.data());
            for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(jacobian[i + 3 * j], (up[i] - down[i]) / 2e-5, 1e-8);
        }
        EXPECT_EQ(jacobian[0], 0);
        EXPECT_EQ(jacobian[3], 1);
    }
}

TEST(ode, port_takes_missing_motion_from_derivatives) {
    const auto model = make_ode_equations(pendulum());
    const auto& d = model->describe();
    ASSERT_EQ(d.ports.size(), 1U);
    EXPECT_EQ(d.ports[0].kind, port_kind::rotation);
    EXPECT_EQ(d.ports[0].motion[0], find(d.outputs, "phi").slot);
    EXPECT_EQ(d.ports[0].motion[1], find(d.outputs, "omega").slot);
    EXPECT_EQ(d.ports[0].motion[2], find(d.outputs, "der(omega)").slot);
    EXPECT_EQ(d.ports[0].load, 0);
}

TEST(ode, port_at_an_output_has_exact_speed_and_acceleration) {
    auto spec = pendulum();
    spec.ode.inputs.push_back(entry("F", "0 N", 26));
    spec.ports.push_back(make_port("tip", "translation", {entry("position", "x"), entry("force", "F")}));
    const auto model = make_ode_equations(spec);
    const auto& d = model->describe();
    const auto& tip = d.ports[1];
    EXPECT_EQ(d.outputs[static_cast<std::size_t>(tip.motion[1])].name, "der(x)");
    const auto& acceleration = d.outputs[static_cast<std::size_t>(tip.motion[2])];
    EXPECT_EQ(acceleration.name, "der(der(x))");
    EXPECT_EQ(acceleration.unit, "m/s2");
    EXPECT_THAT(acceleration.direct, ElementsAre(0));
    const double phi = 0.4, omega = -1.5, tau = 3;
    const double alpha = -9.81 / 0.8 * std::sin(phi) + tau / 1.28;
    EXPECT_NEAR(output_of(*model, "der(der(x))", {phi, omega}, {tau, 0}),
                0.8 * (std::cos(phi) * alpha - std::sin(phi) * omega * omega), 1e-13);
}

TEST(ode, port_that_takes_motion) {
    subsystem_spec spec;
    spec.name = "p";
    spec.ode.parameters = {entry("c", "100 N/m")};
    spec.ode.inputs = {entry("s", "0"), entry("v", "0")};
    spec.ode.outputs = {output("F", "c*s + 2*v")};
    spec.ports = {
        make_port("end", "translation", {entry("position", "s"), entry("velocity", "v"), entry("force", "F")})};
    spec.ports[0].causality = written("takes-motion");
    const auto model = make_ode_equations(spec);
    const auto& d = model->describe();
    EXPECT_EQ(model->state_count(), 0);
    EXPECT_EQ(d.ports[0].causality, causality::takes_motion);
    EXPECT_EQ(d.ports[0].motion, (std::array<int, 3>{0, 1, -1}));
    EXPECT_EQ(d.ports[0].load, 0);
    EXPECT_EQ(d.outputs[0].rate_slot, -1);
    EXPECT_THAT(d.outputs[0].direct, ElementsAre(0, 1));
    // Without units of their own the variables have those of the port.
    EXPECT_EQ(d.inputs[0].unit, "m");
    EXPECT_EQ(d.inputs[1].unit, "m/s");
    EXPECT_EQ(d.outputs[0].unit, "N");
    EXPECT_EQ(output_of(*model, "F", {}, {0.5, 1}), 52);
}

TEST(ode, hydraulic_port_may_give_only_its_flow) {
    subsystem_spec spec;
    spec.name = "p";
    spec.ode.states = {entry("q", "0 m3/s")};
    spec.ode.inputs = {entry("pr", "1 bar")};
    spec.ode.equations = {entry("q", "-q + pr*1e-8")};
    spec.ports = {make_port("a", "hydraulic", {entry("flow", "q"), entry("pressure", "pr")})};
    const auto model = make_ode_equations(spec);
    EXPECT_EQ(model->describe().ports[0].motion, (std::array<int, 3>{-1, 0, -1}));
    EXPECT_EQ(model->describe().inputs[0].start, 1e5);
    EXPECT_EQ(model->describe().inputs[0].unit, "Pa");
}

TEST(ode, electric_port_that_takes_the_potential_gives_charge_or_current) {
    subsystem_spec spec;
    spec.name = "p";
    spec.ode.states = {entry("q", "0"), entry("i", "0")};
    spec.ode.inputs = {entry("u", "0")};
    spec.ode.equations = {entry("q", "i"), entry("i", "u - 2*i")};
    const auto port_of = [&](std::vector<setting> variables) {
        spec.ports = {make_port("end", "electric", std::move(variables))};
        spec.ports[0].causality = written("takes-motion");
        return make_ode_equations(spec)->describe().ports[0];
    };
    const port both = port_of({entry("potential", "u"), entry("current", "i"), entry("charge", "q")});
    EXPECT_EQ(both.load, 1);
    EXPECT_EQ(both.load_integral, 0);
    const port charge = port_of({entry("potential", "u"), entry("charge", "q")});
    EXPECT_EQ(charge.load, 1) << "the current is the rate of the charge";
    EXPECT_EQ(charge.load_integral, 0);
    const port current = port_of({entry("potential", "u"), entry("current", "i")});
    EXPECT_EQ(current.load, 1);
    EXPECT_EQ(current.load_integral, -1);
    EXPECT_EQ(make_ode_equations(spec)->describe().outputs[1].unit, "A");
    spec.ports = {make_port("end", "electric", {entry("potential", "u")})};
    spec.ports[0].causality = written("takes-motion");
    expect_error(spec, {"'current' is missing", "charge"});
    spec.ports = {make_port("end", "electric", {entry("potential", "q"), entry("current", "u"), entry("charge", "q")})};
    expect_error(spec, {"'charge' is the integral of the current that the port gives", "takes-motion"});
}

TEST(ode, settings_override_in_the_declared_unit) {
    auto spec = pendulum();
    spec.set = {entry("L", "50 cm", 50), entry("phi", "90 deg", 51), entry("omega", "60 rpm", 52),
                entry("tau", "2 kN.mm", 53), entry("m", "3", 54)};
    const auto model = make_ode_equations(spec);
    EXPECT_DOUBLE_EQ(start_of(*model)[0], std::numbers::pi / 2);
    EXPECT_DOUBLE_EQ(start_of(*model)[1], 2 * std::numbers::pi);
    EXPECT_DOUBLE_EQ(model->describe().inputs[0].start, 2);
    EXPECT_DOUBLE_EQ(output_of(*model, "x", {std::numbers::pi / 2, 0}), 0.5);
    EXPECT_NEAR(output_of(*model, "energy", {std::numbers::pi / 2, 0}), 3 * 9.81 * 0.5, 1e-12);
}

TEST(ode, a_setting_with_unit_gives_a_bare_variable_its_unit) {
    auto spec = pendulum();
    spec.ode.states[0] = entry("phi", "0.5", 20);
    spec.set = {entry("phi", "90 deg", 50)};
    spec.ports.clear();
    const auto model = make_ode_equations(spec);
    EXPECT_DOUBLE_EQ(start_of(*model)[0], std::numbers::pi / 2);
    EXPECT_EQ(model->describe().outputs[0].unit, "rad");
}

TEST(ode, lets_time_and_outputs_in_expressions) {
    auto spec = pendulum();
    spec.ode.lets = {{"c", 4.0}};
    spec.ode.outputs = {output("a", "2*b + t"), output("b", "$c*phi")};
    spec.ode.equations[1] = entry("omega", "-a", 31);
    const auto model = make_ode_equations(spec);
    EXPECT_EQ(output_of(*model, "a", {3, 0}, {0}, 0.5), 24.5);
    std::vector<double> x{3, 0}, dx(2);
    const double u = 0;
    model->derivatives(0.5, x.data(), &u, dx.data());
    EXPECT_EQ(dx[1], -24.5);
}

TEST(ode, an_output_may_show_a_state_under_its_name) {
    auto spec = pendulum();
    spec.ode.states[1] = entry("omega", "0", 21);
    spec.ode.outputs.push_back(output("omega", "omega", "rad/s", 42));
    const auto model = make_ode_equations(spec);
    EXPECT_EQ(model->describe().outputs[1].name, "omega");
    EXPECT_EQ(model->describe().outputs[1].unit, "rad/s");
    EXPECT_EQ(model->describe().outputs[2].name, "energy");
}

TEST(ode, input_degree_limits_polynomials) {
    auto spec = pendulum();
    spec.input_degree = 1;
    EXPECT_EQ(make_ode_equations(spec)->describe().inputs[0].max_degree, 1);
}

subsystem_spec bouncing_ball() {
    subsystem_spec spec;
    spec.name = "p";
    spec.ode.parameters = {entry("e", "0.8")};
    spec.ode.states = {entry("h", "1 m"), entry("v", "0 m/s"), entry("n", "0")};
    spec.ode.equations = {entry("h", "v"), entry("v", "-9.81"), entry("n", "0")};
    spec.ode.events = {{{"s.yaml", 50, 5},
                        written("h", 50, 11),
                        written("falling", 51, 16),
                        {entry("v", "-e*v", 52), entry("n", "n + v", 53)}}};
    return spec;
}

TEST(ode, events) {
    const auto model = make_ode_equations(bouncing_ball());
    ASSERT_EQ(model->event_count(), 1);
    std::vector<double> x{0.25, -2, 5};
    double z = 0;
    model->event_indicators(0, x.data(), nullptr, &z);
    EXPECT_EQ(z, 0.25);
    EXPECT_FALSE(model->apply_event(0, true, 0, x.data(), nullptr));
    EXPECT_THAT(x, ElementsAre(0.25, -2, 5));
    EXPECT_TRUE(model->apply_event(0, false, 0, x.data(), nullptr));
    EXPECT_THAT(x, ElementsAre(0.25, 1.6, 3)) << "all new values see the state before the event";
}

TEST(ode, event_direction_is_both_by_default) {
    auto spec = bouncing_ball();
    spec.ode.events[0].direction = {};
    const auto model = make_ode_equations(spec);
    std::vector<double> x{0, 1, 0};
    EXPECT_TRUE(model->apply_event(0, true, 0, x.data(), nullptr));
    EXPECT_TRUE(model->apply_event(0, false, 0, x.data(), nullptr));
}

TEST(ode, conditions_on_time_are_time_events) {
    auto spec = pendulum();
    spec.ode.equations[1] = entry("omega", "if(t < L and not t >= 0.25, 1, 0) - if(phi > 3, 1, 0)", 31);
    const auto model = make_ode_equations(spec);
    EXPECT_EQ(model->next_time_event(-1), 0.25);
    EXPECT_EQ(model->next_time_event(0.25), 0.8);
    EXPECT_EQ(model->next_time_event(0.8), std::numeric_limits<double>::infinity());
}

TEST(ode_mistakes, expressions) {
    auto spec = pendulum();
    spec.ode.equations[1] = {"omega", {"s.yaml", 12, 5}, {written("-g/L*sin(* phi)", 12, 11)}, false};
    expect_error(spec, {"s.yaml:12:20: ", "equation of 'omega'",
                        "expected a value but found '*' at position 9 of '-g/L*sin(* phi)'."});
    spec.ode.equations[1].values[0].value = "-g/L*sin(phj)";
    expect_error(
        spec, {"s.yaml:12:20: ", "name 'phj' does not exist", "position 9 of '-g/L*sin(phj)'", "Did you mean 'phi'?"});
    spec.ode.equations[1].values[0].value = "phi/(L - 0.8)";
    expect_error(spec, {"s.yaml:12:11: ", "equation of 'omega'", "not a finite number"});
    spec = pendulum();
    spec.ode.outputs[0].expression.value = "m*";
    expect_error(spec, {"s.yaml:40:12: ", "output 'energy'", "found the end"});
    spec.ode.outputs[0].expression.value = "";
    expect_error(spec, {"s.yaml:40:10: ", "output 'energy'", "empty"});
}

TEST(ode_mistakes, equations) {
    auto spec = pendulum();
    spec.ode.equations.pop_back();
    expect_error(spec, {"s.yaml:21:3: ", "state 'omega' has no equation"});
    spec.ode.equations.push_back(entry("omga", "0", 33));
    expect_error(spec, {"s.yaml:33:3: ", "state 'omga' does not exist", "phi, omega", "Did you mean 'omega'?"});
    spec.ode.equations.back() = entry("phi", "0", 34);
    expect_error(spec, {"s.yaml:34:3: ", "equation of 'phi'", "twice", "s.yaml:30:3"});
    spec = pendulum();
    spec.ode.equations[0].list = true;
    expect_error(spec, {"s.yaml:30:3: ", "equation of 'phi'", "single value"});
}

TEST(ode_mistakes, names) {
    auto spec = pendulum();
    spec.ode.inputs.push_back(entry("L", "0", 27));
    expect_error(spec, {"s.yaml:27:3: ", "input 'L'", "already that of a parameter (s.yaml:11:3)"});
    spec.ode.inputs.back() = entry("t", "0", 27);
    expect_error(spec, {"s.yaml:27:3: ", "input 't'", "reserved for time"});
    spec.ode.inputs.back() = entry("sin", "0", 27);
    expect_error(spec, {"s.yaml:27:3: ", "input 'sin'", "reserved"});
    spec.ode.inputs.back() = entry("a-b", "0", 27);
    expect_error(spec, {"s.yaml:27:3: ", "input 'a-b'", "letters"});
    spec.ode.inputs.pop_back();
    spec.ode.outputs.push_back(output("phi", "2*phi", "", 43));
    expect_error(spec, {"s.yaml:43:3: ", "output 'phi'", "state (s.yaml:20:3)"});
    spec.ode.outputs.back() = output("x", "phi", "", 43);
    expect_error(spec, {"s.yaml:43:3: ", "output 'x'", "already that of an output (s.yaml:41:3)"});
    spec = {};
    spec.name = "p";
    spec.where = {"s.yaml", 5, 3};
    expect_error(spec, {"s.yaml:5:3: ", "neither states nor outputs"});
}

TEST(ode_mistakes, numbers_and_units) {
    auto spec = pendulum();
    spec.ode.states[0] = entry("phi", "half", 20);
    expect_error(spec, {"s.yaml:20:10: ", "state 'phi'", "'half' is not a number"});
    spec.ode.states[0] = entry("phi", "1 parsnip", 20);
    expect_error(spec, {"s.yaml:20:10: ", "state 'phi'", "'1 parsnip'", "unit 'parsnip' is not known"});
    spec.ode.states[0].list = true;
    expect_error(spec, {"s.yaml:20:3: ", "state 'phi'", "single value"});
    spec = pendulum();
    spec.set = {entry("L", "3 kg", 50)};
    expect_error(spec, {"s.yaml:50:10: ", "parameter 'L'", "unit 'kg' does not fit"});
    spec.set = {entry("Lx", "3 m", 50)};
    expect_error(spec, {"s.yaml:50:3: ", "'Lx' does not exist", "g, L, m, phi, omega, tau", "Did you mean 'L'?"});
    spec = pendulum();
    spec.ode.outputs[1].unit = written("mm", 41, 30);
    expect_error(spec, {"s.yaml:41:30: ", "output 'x'", "unit 'mm'", "Write 'm'"});
    spec.ode.outputs[1].unit = written("parsnip", 41, 30);
    expect_error(spec, {"s.yaml:41:30: ", "output 'x'", "'parsnip' is not known"});
    spec = pendulum();
    spec.ode.outputs.push_back(output("phi", "phi", "m", 44));
    expect_error(spec, {"s.yaml:44:30: ", "output 'phi'", "unit 'm' does not fit 'rad'"});
}

TEST(ode_mistakes, circles_of_outputs) {
    auto spec = pendulum();
    spec.ode.outputs = {output("a", "b + 1", "", 40), output("b", "2*c", "", 41), output("c", "a", "", 42)};
    expect_error(spec, {"s.yaml:40:3: ", "circle: a -> b -> c -> a"});
    spec.ode.outputs = {output("a", "a + 1", "", 40)};
    expect_error(spec, {"s.yaml:40:3: ", "circle: a -> a"});
    spec.ode.outputs.clear();
    for (int i = 5000; i > 0; --i)
        spec.ode.outputs.push_back(output("a" + std::to_string(i), "a" + std::to_string(i - 1)));
    spec.ode.outputs.push_back(output("a0", "phi"));
    expect_error(spec, {"s.yaml:40:3: ", "output 'a4", "more than 200 levels"});
}

TEST(ode_mistakes, events) {
    auto spec = bouncing_ball();
    spec.ode.events[0].direction.value = "faling";
    expect_error(spec, {"s.yaml:51:16: ", "event 1", "direction 'faling'", "Did you mean 'falling'?"});
    spec = bouncing_ball();
    spec.ode.events[0].when.value = "h > 0";
    expect_error(spec, {"s.yaml:50:11: ", "event 1: when", "condition"});
    spec.ode.events[0].when.value = "";
    expect_error(spec, {"s.yaml:50:5: ", "event 1", "'when' is missing"});
    spec = bouncing_ball();
    spec.ode.events[0].set[0].name = "vv";
    expect_error(spec, {"s.yaml:52:3: ", "event 1", "state 'vv' does not exist", "Did you mean 'v'?"});
    spec.ode.events[0].set[0] = entry("v", "-e*w", 52);
    expect_error(spec, {"s.yaml:52:13: ", "new value of 'v'", "name 'w' does not exist"});
    spec.ode.events[0].set[0] = entry("n", "0", 52);
    expect_error(spec, {"s.yaml:53:3: ", "state 'n' is given twice"});
    spec.ode.events[0].set.clear();
    expect_error(spec, {"s.yaml:50:5: ", "event 1", "'set' is missing"});
}

setting list_entry(const std::string& name, const std::vector<std::string>& values, int line) {
    setting s{name, {"s.yaml", line, 3}, {}, true};
    for (const auto& value : values) s.values.push_back(written(value, line, 10));
    return s;
}

/// A pendulum whose end is a frame.
subsystem_spec pendulum_with_frame() {
    auto spec = pendulum();
    for (const char* name : {"Fx", "Fy", "Fz", "Tx", "Ty"}) spec.ode.inputs.push_back(entry(name, "0", 25));
    spec.ode.equations[1] = entry("omega", "-g/L*sin(phi) + tau/(m*L^2) + (Fx*cos(phi) + Fy*sin(phi))/(m*L)", 31);
    spec.ode.outputs.push_back(output("y", "-L*cos(phi)", "m"));
    spec.ode.outputs.push_back(output("c", "cos(phi/2)"));
    spec.ode.outputs.push_back(output("s", "sin(phi/2)"));
    spec.ode.outputs.push_back(output("zero", "0"));
    spec.ports = {make_port(
        "end", "frame",
        {list_entry("position", {"x", "y", "zero"}, 61), list_entry("orientation", {"c", "zero", "zero", "s"}, 62),
         list_entry("angular-velocity", {"zero", "zero", "omega"}, 63), list_entry("force", {"Fx", "Fy", "Fz"}, 64),
         list_entry("torque", {"Tx", "Ty", "tau"}, 65)})};
    return spec;
}

TEST(ode, frames_find_their_rates) {
    const auto model = make_equations(pendulum_with_frame());
    const subsystem_description& d = model->describe();
    const port& p = d.ports.at(0);
    EXPECT_EQ(p.kind, port_kind::frame);
    EXPECT_THAT(p.load_slots,
                ElementsAre(find(d.inputs, "Fx").slot, find(d.inputs, "Fy").slot, find(d.inputs, "Fz").slot,
                            find(d.inputs, "Tx").slot, find(d.inputs, "Ty").slot, find(d.inputs, "tau").slot));
    const double phi = 0.4, w = 1.3, L = 0.8, Fx = 3;
    const std::vector<double> u{0, Fx, 0, 0, 0, 0};
    const std::vector<double> y = outputs_of(*model, 0, {phi, w}, u);
    const double alpha = -9.81 / L * std::sin(phi) + Fx * std::cos(phi) / (2 * L);
    const std::vector<double> motion{L * std::sin(phi),
                                     -L * std::cos(phi),
                                     0,  // position
                                     std::cos(phi / 2),
                                     0,
                                     0,
                                     std::sin(phi / 2),
                                     L * w * std::cos(phi),
                                     L * w * std::sin(phi),
                                     0,  // velocity
                                     0,
                                     0,
                                     w,
                                     L * (alpha * std::cos(phi) - w * w * std::sin(phi)),
                                     L * (alpha * std::sin(phi) + w * w * std::cos(phi)),
                                     0,
                                     0,
                                     0,
                                     alpha};
    ASSERT_EQ(p.motion_slots.size(), motion.size());
    for (std::size_t k = 0; k < motion.size(); ++k) {
        ASSERT_GE(p.motion_slots[k], 0) << k;
        EXPECT_NEAR(y[static_cast<std::size_t>(p.motion_slots[k])], motion[k], 1e-14) << k;
    }
}

TEST(ode_mistakes, frames) {
    auto spec = pendulum_with_frame();
    auto& variables = spec.ports[0].variables;
    variables[1].values.pop_back();
    expect_error(spec, {"s.yaml:62:3: ", "port 'end': 'orientation': a list of 4 variables is expected, not of 3"});
    variables[1].name = "orientaton";
    expect_error(spec, {"s.yaml:62:3: ", "variable 'orientaton' does not exist", "Did you mean 'orientation'?"});
    variables.erase(variables.begin() + 1);
    expect_error(spec,
                 {"s.yaml:60:3: ", "'orientation' is missing", "A frame port maps: position, orientation, velocity"});
    spec = pendulum_with_frame();
    spec.ports[0].variables[4].values[0] = written("Fx", 65, 10);
    expect_error(spec, {"s.yaml:65:10: ", "input 'Fx' already belongs to port 'end'"});
    spec = pendulum_with_frame();
    spec.ports[0].variables[0].values[2] = written("omega", 61, 10);
    expect_error(spec, {"s.yaml:61:10: ", "'position' needs a variable in 'm', but 'omega' is in 'rad/s'"});
    spec.ports[0].causality = written("takes-motion", 66, 9);
    expect_error(spec, {"s.yaml:66:9: ", "'takes-motion' is not allowed: a frame gives its motion"});
}

TEST(ode_mistakes, port_kind_and_causality) {
    auto spec = pendulum();
    auto& port = spec.ports[0];
    port.kind.value = "rotatoin";
    expect_error(spec,
                 {"s.yaml:60:10: ", "port 'shaft'", "kind 'rotatoin' does not exist", "Did you mean 'rotation'?"});
    port.kind.value = "signal";
    expect_error(spec, {"s.yaml:60:10: ", "port 'shaft'", "'signal' is not allowed"});
    port.kind.value = "frame";
    expect_error(spec,
                 {"s.yaml:61:3: ", "port 'shaft'", "variable 'angle' does not exist", "A frame port has: position"});
    port.kind.value = "";
    expect_error(spec, {"s.yaml:60:3: ", "port 'shaft'", "'kind' is missing", "translation, rotation"});
    port.kind.value = "rotation";
    port.causality = written("takes-moton", 63, 9);
    expect_error(spec, {"s.yaml:63:9: ", "causality 'takes-moton'", "Did you mean 'takes-motion'?"});
    port.causality = written("takes-motion", 63, 9);
    expect_error(spec, {"s.yaml:61:10: ", "'angle' is mapped to 'phi', which is a state", "takes its motion"});
}

TEST(ode_mistakes, port_variables) {
    auto spec = pendulum();
    auto& variables = spec.ports[0].variables;
    variables[0].name = "position";
    expect_error(spec, {"s.yaml:61:3: ", "variable 'position' does not exist", "angle, speed, acceleration, torque"});
    variables[0] = entry("angle", "phj", 61);
    expect_error(spec, {"s.yaml:61:10: ", "'angle'", "'phj' does not exist", "Did you mean 'phi'?"});
    variables[0] = entry("angle", "tau", 61);
    expect_error(spec, {"s.yaml:61:10: ", "'angle' is mapped to 'tau', which is an input", "takes-motion"});
    variables[0] = entry("angle", "L", 61);
    expect_error(spec, {"s.yaml:61:10: ", "which is a parameter"});
    variables[0] = entry("angle", "x", 61);
    expect_error(spec, {"s.yaml:61:10: ", "'angle' needs a variable in 'rad', but 'x' is in 'm'"});
    variables[0] = entry("torque", "tau", 61);
    expect_error(spec, {"s.yaml:62:3: ", "'torque' is given twice"});
    variables = {entry("angle", "phi", 61)};
    expect_error(spec, {"s.yaml:60:3: ", "'torque' is missing"});
    variables = {entry("torque", "tau", 61), entry("speed", "omega", 62)};
    expect_error(spec, {"s.yaml:60:3: ", "'angle' is missing"});
    variables = {entry("angle", "phi", 61), entry("torque", "energy", 62)};
    expect_error(spec, {"s.yaml:62:10: ", "'torque' is mapped to 'energy', which is an output"});
    variables = {entry("angle", "phi", 61), entry("torque", "tua", 62)};
    expect_error(spec, {"s.yaml:62:10: ", "input 'tua' does not exist", "Did you mean 'tau'?"});
    variables = {entry("angle", "", 61), entry("torque", "tau", 62)};
    expect_error(spec, {"s.yaml:61:3: ", "'angle'", "one variable"});
}

TEST(ode_mistakes, one_input_for_two_ports) {
    auto spec = pendulum();
    spec.ports.push_back(make_port("end", "rotation", {entry("angle", "phi", 71), entry("torque", "tau", 72)}));
    expect_error(spec, {"s.yaml:72:10: ", "port 'end'", "'tau' already belongs to port 'shaft'"});
}

TEST(units, coherent_si) {
    const std::pair<const char*, const char*> known[]{{"", ""},
                                                      {"deg", "rad"},
                                                      {"rpm", "rad/s"},
                                                      {"rad", "rad"},
                                                      {"kN.m", "N.m"},
                                                      {"kJ", "J"},
                                                      {"bar", "Pa"},
                                                      {"degC", "K"},
                                                      {"percent", "1"},
                                                      {"km/h", "m/s"},
                                                      {"l/min", "m3/s"},
                                                      {"N.m", "N.m"},
                                                      {"N.m/rad", "N.m/rad"},
                                                      {"N.mm/deg", "N.m/rad"},
                                                      {"Hz", "Hz"},
                                                      {"N/mm", "N/m"},
                                                      {"kg.m2", "kg.m2"},
                                                      {"g.cm2", "kg.m2"},
                                                      {"1", "1"}};
    for (const auto& [unit, si] : known) EXPECT_EQ(si_unit(unit), si) << unit;
    EXPECT_THROW(si_unit("parsnip"), unit_error);
    EXPECT_THROW(si_unit("lg(re 1 mW)"), unit_error);
    const std::pair<const char*, const char*> rates[]{
        {"", ""},     {"rad", "rad/s"}, {"rad/s", "rad/s2"}, {"m", "m/s"},     {"J", "W"},          {"K", "K/s"},
        {"1", "1/s"}, {"m3", "m3/s"},   {"N", "N/s"},        {"N.m", "N.m/s"}, {"W/m2", "(W/m2)/s"}};
    for (const auto& [unit, rate] : rates) EXPECT_EQ(rate_unit(unit), rate) << unit;
}

/// C v' = i, 0 = u - R i - v.
subsystem_spec circuit() {
    subsystem_spec spec;
    spec.name = "p";
    spec.where = {"s.yaml", 5, 3};
    spec.kind = subsystem_spec::source_kind::ode;
    spec.ode.parameters = {entry("R", "2 ohm", 10), entry("C", "250 mF", 11)};
    spec.ode.states = {entry("v", "0 V", 20)};
    spec.ode.algebraic = {entry("i", "0 A", 22)};
    spec.ode.inputs = {entry("u", "0 V", 25)};
    spec.ode.equations = {entry("v", "i/C", 30), entry("i", "u - R*i - v", 31)};
    spec.ode.outputs = {output("power", "u*i", "W"), output("charge", "C*v", "C", 41),
                        output("loss", "R*i^2", "W", 42)};
    return spec;
}

TEST(ode_algebraic, equations_and_structure) {
    const auto model = make_ode_equations(circuit());
    ASSERT_EQ(model->state_count(), 2);
    EXPECT_FALSE(model->is_algebraic(0));
    EXPECT_TRUE(model->is_algebraic(1));
    const std::vector<double> x{3, 0.5}, u{7};
    std::vector<double> f(2), values(4);
    model->derivatives(0, x.data(), u.data(), f.data());
    EXPECT_THAT(f, ElementsAre(2, 3));
    ASSERT_NE(model->structure(), nullptr);
    EXPECT_THAT(model->structure()->start, ElementsAre(0, 1, 3));
    EXPECT_THAT(model->structure()->rows, ElementsAre(1, 0, 1));
    ASSERT_TRUE(model->sparse_jacobian(0, x.data(), u.data(), values.data()));
    EXPECT_DOUBLE_EQ(values[0], -1);
    EXPECT_DOUBLE_EQ(values[1], 4);
    EXPECT_DOUBLE_EQ(values[2], -2);
    ASSERT_TRUE(model->jacobian(0, x.data(), u.data(), values.data()));
    EXPECT_THAT(values, ElementsAre(0, -1, 4, -2));
}

TEST(ode_algebraic, inputs_act_through_algebraic_variables) {
    const auto model = make_ode_equations(circuit());
    const auto& all = model->describe().outputs;
    EXPECT_EQ(find(all, "i").description, "algebraic variable");
    EXPECT_EQ(find(all, "i").unit, "A");
    EXPECT_THAT(find(all, "i").direct, ElementsAre(0));
    EXPECT_THAT(find(all, "loss").direct, ElementsAre(0));
    EXPECT_THAT(find(all, "v").direct, IsEmpty());
    // The rate of v is i/C, which needs the input; the rate of i is not known.
    EXPECT_TRUE(find(all, "v").rate_needs_input);
    EXPECT_TRUE(find(all, "charge").rate_needs_input);
    EXPECT_EQ(find(all, "i").rate_slot, -1);
    EXPECT_EQ(find(all, "loss").rate_slot, -1);
    // Algebraic variables that no input reaches do not depend on it.
    auto spec = circuit();
    spec.ode.algebraic.push_back(entry("w", "1", 23));
    spec.ode.equations.push_back(entry("w", "w^3 + w - v", 32));
    const auto larger = make_ode_equations(spec);
    EXPECT_THAT(find(larger->describe().outputs, "w").direct, IsEmpty());
    EXPECT_EQ(find(larger->describe().outputs, "w").rate_slot, -1);
}

TEST(ode_algebraic, set_changes_guesses) {
    auto spec = circuit();
    spec.set = {entry("i", "30 mA", 50)};
    EXPECT_THAT(start_of(*make_ode_equations(spec)), ElementsAre(0, 0.03));
}

TEST(ode_algebraic, mistakes) {
    auto spec = circuit();
    spec.ode.equations.pop_back();
    expect_error(spec, {"s.yaml:22:3", "algebraic variable 'i' has no equation", "what must be zero"});
    spec = circuit();
    spec.ode.states.push_back(entry("i", "0 A", 21));
    expect_error(spec, {"s.yaml:22:3", "algebraic variable 'i': the name is already that of a state (s.yaml:21:3)"});
    spec = circuit();
    spec.ode.outputs.push_back(output("i", "2*i", "A", 43));
    expect_error(spec, {"s.yaml:43:3", "already that of an algebraic variable"});
    spec = circuit();
    spec.ode.events = {{{"s.yaml", 50, 3}, written("v - 1", 50, 5), {}, {entry("i", "0", 51)}}};
    expect_error(spec, {"s.yaml:51:3", "algebraic variable 'i' cannot be set"});
    spec = circuit();
    spec.ode.equations.push_back(entry("j", "0", 33));
    expect_error(spec, {"s.yaml:33:3", "state or algebraic variable 'j'"});
}

TEST(ode_algebraic, only_ida_integrates_them) {
    auto spec = circuit();
    for (const char* name : {"", "erk-5", "rk4", "dirk-4", "cvode-bdf", "trapezoidal"}) {
        spec.solver.name = *name ? written(name, 7, 12) : text{};
        try {
            make_subsystem(spec);
            ADD_FAILURE() << name;
        } catch (const user_error& error) {
            EXPECT_THAT(error.what(), HasSubstr(*name ? "s.yaml:7:12" : "s.yaml:5:3"));
            EXPECT_THAT(error.what(), HasSubstr("subsystem 'p': solver "));
            EXPECT_THAT(error.what(), HasSubstr("write solver: ida"));
        }
    }
    spec.solver.name = written("ida", 7, 12);
    spec.set = {entry("u", "5 V", 50)};
    const auto made = make_subsystem(spec);
    made->initialise(0);
    std::vector<double> y(static_cast<std::size_t>(made->describe().output_count()));
    polynomial u;
    u.c[0] = 5;
    made->advance({0, 1, 0}, std::vector{u}, y);
    EXPECT_NEAR(y[0], 5 * (1 - std::exp(-2)), 1e-4);
    EXPECT_NEAR(y[1], (5 - y[0]) / 2, 1e-12);
}

TEST(ode_algebraic, contradicting_solver_options) {
    auto spec = circuit();
    spec.solver.name = written("ida", 7, 12);
    spec.solver.options = {entry("stop", "over", 8), entry("restart", "yes", 9)};
    try {
        make_subsystem(spec);
        ADD_FAILURE();
    } catch (const user_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("contradict each other"));
    }
}

}  // namespace
}  // namespace mdpcosim
