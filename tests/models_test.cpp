// The shipped models: what they describe against what they compute, and both against exact solutions. The READMEs in
// models/ quote their numbers from here.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <numbers>
#include <set>

#include "core/error.hpp"
#include "scenario/resolve.hpp"
#include "subsystem/model.hpp"

namespace mdpcosim {
namespace {

using std::numbers::pi;
using settings = std::vector<std::pair<std::string, std::string>>;  ///< as a user writes them; a list is "[1, 2]"
using inputs_over_time = std::function<double(int, double)>;
using vec = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

setting written(const std::string& name, const std::string& value) {
    setting s;
    s.name = name;
    s.list = value.front() == '[';
    const std::string body = s.list ? value.substr(1, value.size() - 2) : value;
    for (std::size_t at = 0; at <= body.size();) {
        const std::size_t end = s.list ? std::min(body.find(',', at), body.size()) : body.size();
        s.values.push_back({body.substr(at, end - at), {}});
        at = end + 1;
    }
    return s;
}

std::unique_ptr<equations> make(const std::string& model, const settings& given = {}) {
    const model_info* info = model_registry::instance().find(model);
    if (info == nullptr) throw std::logic_error("no model " + model);
    std::vector<setting> list;
    for (const auto& [name, value] : given) list.push_back(written(name, value));
    return info->make(resolve_parameters(info->parameters, list, {}, "test"));
}

std::string number(double value) { return fmt::format("{:.17g}", value); }

vec initial(const equations& model) {
    vec x(static_cast<std::size_t>(model.state_count()), std::nan(""));
    model.initial_state(0, x.data());
    return x;
}

vec rates(const equations& model, double t, const vec& x, const vec& u) {
    vec dx(x.size(), std::nan(""));
    model.derivatives(t, x.data(), u.data(), dx.data());
    return dx;
}

vec outputs(const equations& model, double t, const vec& x, const vec& u) {
    vec y(static_cast<std::size_t>(model.describe().output_count()), std::nan(""));
    model.outputs(t, x.data(), u.data(), y.data());
    return y;
}

vec inputs_at(const equations& model, const inputs_over_time& u, double t) {
    vec values(static_cast<std::size_t>(model.describe().input_count()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = u ? u(static_cast<int>(i), t) : 0;
    return values;
}

vec sum(const vec& a, double factor, const vec& b) {
    vec c = a;
    for (std::size_t i = 0; i < a.size(); ++i) c[i] += factor * b[i];
    return c;
}

/// Classical Runge-Kutta from `t` to `end`; no events, so that callers split at jumps.
vec integrate(const equations& model, vec x, double t, double end, int steps, const inputs_over_time& u = {}) {
    const double h = (end - t) / steps;
    for (int n = 0; n < steps; ++n) {
        const double begin = t + n * h;
        const auto f = [&](double s, const vec& at) { return rates(model, s, at, inputs_at(model, u, s)); };
        const vec k1 = f(begin, x), k2 = f(begin + h / 2, sum(x, h / 2, k1));
        const vec k3 = f(begin + h / 2, sum(x, h / 2, k2)), k4 = f(begin + h, sum(x, h, k3));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
    return x;
}

// ---------------------------------------------------------------------------------------------------------------------
// Every model, with its defaults and with every term of its equations at work.

struct model_case {
    std::string name;
    std::string model;
    settings set;
};

const std::vector<model_case>& cases() {
    static const std::vector<model_case> list{
        {"free_mass", "mass-spring-damper", {{"x0", "1 mm"}, {"v0", "0.2 m/s"}, {"mass", "2500 g"}}},
        {"oscillator",
         "mass-spring-damper",
         {{"mass", "2"},
          {"stiffness", "30 N/m"},
          {"damping", "0.7 N.s/m"},
          {"cubic-stiffness", "40 N/m3"},
          {"cubic-damping", "3"},
          {"x0", "0.3"},
          {"v0", "-0.8"},
          {"excitation", "harmonic"},
          {"amplitude", "5 N"},
          {"frequency", "1.3 Hz"},
          {"phase", "30 deg"}}},
        {"stepped_mass",
         "mass-spring-damper",
         {{"stiffness", "9"}, {"excitation", "step"}, {"amplitude", "2 kN"}, {"step-time", "100 ms"}, {"x0", "1"}}},
        {"inertia", "inertia", {{"inertia", "0.4 kg.m2"}, {"damping", "0.3"}, {"phi0", "90 deg"}, {"w0", "300 rpm"}}},
        {"free_chain", "chain", {{"n", "4"}, {"x0", "[0.1, -0.2, 0.3, 0]"}, {"v0", "1"}}},
        {"chain",
         "chain",
         {{"n", "7"},
          {"mass", "1.5"},
          {"stiffness", "20"},
          {"damping", "0.4"},
          {"cubic-stiffness", "8"},
          {"cubic-damping", "0.2"},
          {"left", "fixed"},
          {"right", "fixed"},
          {"x-amplitude", "0.5"},
          {"v-amplitude", "2"},
          {"seed", "5"},
          {"first", "11"},
          {"impact-share", "1"},
          {"impact-force", "8"},
          {"impact-duration", "0.2"},
          {"impact-time-max", "0.6"}}},
        {"chain_of_one", "chain", {{"n", "1"}, {"left", "fixed"}, {"cubic-stiffness", "3"}, {"x0", "0.4"}}},
        {"lag_1", "lag-1", {{"time-constant", "300 ms"}, {"gain", "-2"}, {"y0", "0.5"}}},
        {"lag_2",
         "lag-2",
         {{"omega0", "7 rad/s"}, {"damping-ratio", "0.2"}, {"gain", "3"}, {"y0", "0.5"}, {"dy0", "-1"}}},
        {"constant", "source", {{"offset", "4"}}},
        {"step", "source", {{"kind", "step"}, {"offset", "4"}, {"amplitude", "-1"}, {"start", "0.1"}}},
        {"ramp",
         "source",
         {{"kind", "ramp"}, {"offset", "4"}, {"amplitude", "3"}, {"start", "0.1"}, {"duration", "0.9"}}},
        {"sine",
         "source",
         {{"kind", "sine"}, {"amplitude", "3"}, {"start", "0.1"}, {"frequency", "2"}, {"phase", "1"}}},
        {"pulse", "source", {{"kind", "pulse"}, {"start", "0.05"}, {"duration", "0.1"}, {"period", "0.3"}}},
        {"chirp",
         "source",
         {{"kind", "chirp"}, {"duration", "0.5"}, {"frequency", "1"}, {"end-frequency", "4"}, {"phase", "1"}}},
        {"busy", "busy", {{"mass", "3"}, {"work", "17"}, {"x0", "1"}, {"v0", "2"}}},
        {"hydraulic_line",
         "hydraulic-line",
         {{"density", "2"},
          {"length", "0.5"},
          {"area", "0.7"},
          {"linear-loss", "0.4"},
          {"quadratic-loss", "0.9"},
          {"flow0", "1.5"}}},
        {"piston",
         "piston",
         {{"mass", "2"},
          {"head-area", "1.5"},
          {"ring-area", "0.8"},
          {"ambient-pressure", "0.3"},
          {"damping", "0.6"},
          {"friction", "0.9"},
          {"friction-speed", "0.5"},
          {"x0", "0.2"},
          {"v0", "-0.4"}}},
        {"thermal_mass", "thermal-mass", {{"heat-capacity", "3"}, {"temperature0", "20 degC"}}},
        {"rl_branch", "rl-branch", {{"inductance", "0.7"}, {"resistance", "2"}, {"current0", "1.2"}}},
        {"capacitor", "capacitor", {{"capacitance", "0.4"}, {"leakage", "0.3"}, {"potential0", "2"}}},
        {"dc_motor",
         "dc-motor",
         {{"inductance", "0.5"},
          {"resistance", "1.5"},
          {"constant", "0.8"},
          {"inertia", "0.6"},
          {"damping", "0.2"},
          {"current0", "0.3"},
          {"phi0", "90 deg"},
          {"w0", "2"}}},
    };
    return list;
}

class every_model : public testing::TestWithParam<model_case> {
   protected:
    std::unique_ptr<equations> model_ = make(GetParam().model, GetParam().set);
    inputs_over_time u_ = [](int i, double t) { return std::sin(3 * t + i) + 0.5 * i; };
    double t_ = 0.37;
};

INSTANTIATE_TEST_SUITE_P(models, every_model, testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

TEST(registered_models, have_cases_defaults_and_shared_descriptions) {
    std::set<std::string> covered;
    for (const auto& c : cases()) covered.insert(c.model);
    for (const char* model : {"lookup-table", "pid", "pid-sampled", "saturation", "state-space", "transfer-function"})
        covered.insert(model);  // control_models_test.cpp
    for (const char* model : {"fixed-frame", "planar-link", "rigid-body"})
        covered.insert(model);  // body_models_test.cpp
    for (const model_info* info : model_registry::instance().all())
        if (!info->parts.empty())
            covered.insert(info->name);  // made of parts: <name>_test.cpp, contact_models_test.cpp
    EXPECT_THAT(model_registry::instance().names(), testing::ElementsAreArray(covered));
    for (const model_info* info : model_registry::instance().all()) {
        if (info->make_sampled) continue;
        if (info->make) {
            const auto a = make(info->name), b = make(info->name);
            EXPECT_EQ(&a->describe(), &b->describe()) << info->name;
            EXPECT_EQ(a->describe().type, "model " + info->name);
        }
        EXPECT_FALSE(info->summary.empty());
        std::set<std::string> names;
        for (const auto& parameter : info->parameters) {
            EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
            EXPECT_FALSE(parameter.description.empty()) << parameter.name;
        }
    }
    EXPECT_NE(&make("chain", {{"n", "3"}})->describe(), &make("chain", {{"n", "4"}})->describe());
}

/// The rows of the tables in a model's README, so that text and code cannot part.
std::vector<std::string> readme_rows(const model_info& model) {
    const auto unit = [](const std::string& text) { return text.empty() ? "-" : text; };
    std::vector<std::string> rows;
    if (!model.parts.empty()) return rows;
    const auto described = make(model.name);
    for (const auto& v : described->describe().inputs)
        rows.push_back(fmt::format("| `{}` | input | {} | {} |", v.name, unit(v.unit), v.description));
    for (const auto& v : described->describe().outputs)
        rows.push_back(fmt::format("| `{}` | output | {} | {} |", v.name, unit(v.unit), v.description));
    for (const auto& p : model.parameters) {
        const char* const ranges[] = {"any", "> 0", ">= 0", "whole, >= 1"};
        const bool choice = !p.choices.empty();
        rows.push_back(fmt::format(
            "| `{}` | {} | {} | {} | {} |", p.name, unit(p.unit),
            choice ? p.choices[static_cast<std::size_t>(p.default_value)] : fmt::format("{}", p.default_value),
            choice ? fmt::format("{}", fmt::join(p.choices, ", ")) : ranges[static_cast<int>(p.allowed)],
            p.description));
    }
    return rows;
}

TEST(registered_models, are_described_by_their_readmes) {
    for (const model_info* info : model_registry::instance().all()) {
        if (info->make_sampled) continue;
        std::ifstream file(std::string(MDPCOSIM_SOURCE_DIR "/models") + "/" + info->name + "/README.md");
        const std::string text(std::istreambuf_iterator<char>(file), {});
        EXPECT_EQ(text.substr(0, text.find('\n')), "# " + info->name);
        for (const auto& row : readme_rows(*info))
            EXPECT_NE(text.find(row + "\n"), std::string::npos) << info->name << ": " << row;
        // Variables follow the parts; what can be written has its name in the text.
        const auto named = [&](const std::string& name) {
            EXPECT_TRUE(text.find("`" + name + "`") != std::string::npos ||
                        text.find("`" + name + ": ") != std::string::npos)
                << info->name << ": " << name;
        };
        if (info->parts.empty()) continue;
        for (const auto& p : info->parameters) named(p.name);
        for (const auto& kind : info->parts) {
            named(kind.kind);
            for (const auto& p : kind.parameters) named(p.name);
            for (const auto& r : kind.references) named(r.name);
            for (const auto& t : kind.texts) named(t.name);
        }
    }
}

TEST_P(every_model, numbers_slots_without_gaps_and_names_once) {
    const subsystem_description& d = model_->describe();
    std::set<std::string> names;
    int slot = 0;
    for (const auto& input : d.inputs) {
        EXPECT_EQ(input.slot, slot) << input.name;
        EXPECT_TRUE(names.insert(input.name).second) << input.name;
        EXPECT_FALSE(input.description.empty()) << input.name;
        slot += input.size;
    }
    EXPECT_EQ(slot, d.input_count());
    slot = 0;
    for (const auto& output : d.outputs) {
        EXPECT_EQ(output.slot, slot) << output.name;
        EXPECT_TRUE(names.insert(output.name).second) << output.name;
        EXPECT_FALSE(output.description.empty()) << output.name;
        EXPECT_LE(output.rate_slot + output.size, d.output_count()) << output.name;
        slot += output.size;
    }
    EXPECT_EQ(slot, d.output_count());
}

/// The variable at the slot, or one without a name.
template <class Variable>
Variable variable_at(const std::vector<Variable>& variables, int slot) {
    const auto found = std::find_if(variables.begin(), variables.end(), [&](const auto& v) { return v.slot == slot; });
    return found == variables.end() ? Variable() : *found;
}

TEST_P(every_model, has_ports_made_of_its_variables) {
    const subsystem_description& d = model_->describe();
    for (const port& p : d.ports) {
        const port_kind_info& words = info(p.kind);
        const bool takes_load = p.causality == causality::takes_load;
        const auto expect = [&](bool input, int slot, const std::string& name, const std::string& unit) {
            const variable& found = input ? static_cast<const variable&>(variable_at(d.inputs, slot))
                                          : static_cast<const variable&>(variable_at(d.outputs, slot));
            EXPECT_EQ(found.name, p.name + "." + name);
            EXPECT_EQ(found.unit, unit);
        };
        EXPECT_FALSE(p.description.empty());
        expect(takes_load, p.load, words.load, words.load_unit);
        // A port that takes its motion takes the value; one that gives it gives all that the kind has.
        for (std::size_t i = 0; i < 3; ++i) {
            if (words.motion[i].empty() || (!takes_load && i > 0)) {
                EXPECT_EQ(p.motion[i], -1);
                continue;
            }
            expect(!takes_load, p.motion[i], words.motion[i], words.motion_unit[i]);
            if (takes_load) {
                EXPECT_EQ(variable_at(d.outputs, p.motion[i]).rate_slot, i < 2 ? p.motion[i + 1] : -1);
            }
        }
        if (takes_load) {
            EXPECT_EQ(p.load_integral, -1);
            continue;
        }
        expect(false, p.load_integral, words.load_integral, words.load_integral_unit);
        EXPECT_EQ(variable_at(d.outputs, p.load_integral).rate_slot, p.load);
    }
}

TEST_P(every_model, depends_on_inputs_exactly_as_described) {
    const subsystem_description& d = model_->describe();
    const vec x = integrate(*model_, initial(*model_), 0, t_, 200, u_), u = inputs_at(*model_, u_, t_);
    const vec y = outputs(*model_, t_, x, u);
    std::vector<std::set<int>> found(y.size());
    for (std::size_t i = 0; i < u.size(); ++i) {
        vec other = u;
        other[i] += 1;
        const vec changed = outputs(*model_, t_, x, other);
        for (std::size_t k = 0; k < y.size(); ++k)
            if (changed[k] != y[k]) found[k].insert(static_cast<int>(i));
    }
    for (const auto& output : d.outputs)
        for (int k = 0; k < output.size; ++k) {
            EXPECT_THAT(found[static_cast<std::size_t>(output.slot + k)], testing::ElementsAreArray(output.direct))
                << output.name;
            if (output.rate_slot >= 0) {
                EXPECT_EQ(output.rate_needs_input, !found[static_cast<std::size_t>(output.rate_slot + k)].empty())
                    << output.name;
            }
        }
}

TEST_P(every_model, gives_the_rates_of_its_outputs) {
    const double h = 1e-4;
    const vec before = integrate(*model_, initial(*model_), 0, t_ - h, 4000, u_);
    const vec now = integrate(*model_, before, t_ - h, t_, 1, u_), after = integrate(*model_, now, t_, t_ + h, 1, u_);
    const auto y = [&](double t, const vec& x) { return outputs(*model_, t, x, inputs_at(*model_, u_, t)); };
    const vec y0 = y(t_ - h, before), y1 = y(t_, now), y2 = y(t_ + h, after);
    for (const auto& output : model_->describe().outputs)
        for (int k = 0; output.rate_slot >= 0 && k < output.size; ++k) {
            const auto at = static_cast<std::size_t>(output.slot + k),
                       rate = static_cast<std::size_t>(output.rate_slot + k);
            const double difference = (y2[at] - y0[at]) / (2 * h);
            EXPECT_NEAR(y1[rate], difference, 3e-5 * (1 + std::abs(difference))) << output.name;
        }
}

TEST_P(every_model, gives_rates_at_its_ports_that_agree_with_its_derivatives) {
    const vec x = integrate(*model_, initial(*model_), 0, t_, 200, u_), u = inputs_at(*model_, u_, t_);
    const vec dx = rates(*model_, t_, x, u), y = outputs(*model_, t_, x, u);
    // Positions and velocities are linear in the states: their change along x' is exact up to rounding.
    const vec moved = outputs(*model_, t_, sum(x, 1, dx), u);
    const auto expect = [&](int value, int rate, const std::string& name) {
        if (value < 0 || rate < 0) return;
        const auto at = static_cast<std::size_t>(value), its_rate = static_cast<std::size_t>(rate);
        EXPECT_NEAR(moved[at] - y[at], y[its_rate], 1e-12 * (1 + std::abs(y[its_rate]))) << name;
    };
    for (const port& p : model_->describe().ports) {
        if (p.causality == causality::takes_motion)
            expect(p.load_integral, p.load, p.name);
        else
            for (std::size_t i = 0; i < 2; ++i) expect(p.motion[i], p.motion[i + 1], p.name);
    }
}

TEST_P(every_model, gives_the_jacobian_of_its_derivatives) {
    const vec x = integrate(*model_, initial(*model_), 0, t_, 200, u_), u = inputs_at(*model_, u_, t_);
    const std::size_t n = x.size();
    vec exact(n * n, std::nan(""));
    ASSERT_TRUE(model_->jacobian(t_, x.data(), u.data(), exact.data()));
    const double h = 1e-5;
    for (std::size_t j = 0; j < n; ++j) {
        vec low = x, high = x;
        low[j] -= h;
        high[j] += h;
        const vec below = rates(*model_, t_, low, u), above = rates(*model_, t_, high, u);
        for (std::size_t i = 0; i < n; ++i)
            EXPECT_NEAR(exact[i + j * n], (above[i] - below[i]) / (2 * h), 1e-6) << "row " << i << " column " << j;
    }
}

TEST_P(every_model, names_time_events_after_the_present_time) {
    double t = -1;
    for (int n = 0; n < 1000 && t < infinity; ++n) {
        const double next = model_->next_time_event(t);
        ASSERT_GT(next, t);
        t = next;
    }
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(mass_spring_damper, free_mass_under_a_constant_force_moves_on_a_parabola) {
    const auto model = make("mass-spring-damper", {{"mass", "4 kg"}, {"x0", "1 m"}, {"v0", "-2 m/s"}});
    const vec x = integrate(*model, initial(*model), 0, 3, 1, [](int, double) { return 8.0; });
    EXPECT_DOUBLE_EQ(x[0], 1 - 2 * 3.0 + 0.5 * 2 * 9);
    EXPECT_DOUBLE_EQ(x[1], -2 + 2 * 3.0);
}

TEST(mass_spring_damper, harmonic_excitation_follows_the_closed_form) {
    const double m = 2, c = 800, d = 4, F = 10, omega = 2 * pi * 3, phi = 0.4;
    const double real = c - m * omega * omega, imaginary = d * omega;
    const double amplitude = F / std::hypot(real, imaginary), lag = std::atan2(imaginary, real);
    EXPECT_NEAR(amplitude, 0.0855132, 5e-8);
    EXPECT_NEAR(lag * 180 / pi, 40.15, 5e-3);
    // Started on the stationary solution it stays there.
    const auto model = make("mass-spring-damper", {{"mass", "2"},
                                                   {"stiffness", "800"},
                                                   {"damping", "4"},
                                                   {"excitation", "harmonic"},
                                                   {"amplitude", "10 N"},
                                                   {"frequency", "3 Hz"},
                                                   {"phase", "0.4 rad"},
                                                   {"x0", number(amplitude * std::sin(phi - lag))},
                                                   {"v0", number(amplitude * omega * std::cos(phi - lag))}});
    for (const double t : {0.1, 0.7, 2.0}) {
        const vec x = integrate(*model, initial(*model), 0, t, 4000);
        EXPECT_NEAR(x[0], amplitude * std::sin(omega * t + phi - lag), 1e-9 * amplitude);
        EXPECT_NEAR(x[1], amplitude * omega * std::cos(omega * t + phi - lag), 1e-9 * amplitude * omega);
    }
}

TEST(mass_spring_damper, cubic_spring_keeps_the_energy) {
    const auto model =
        make("mass-spring-damper", {{"mass", "2"}, {"stiffness", "30"}, {"cubic-stiffness", "400"}, {"x0", "0.5"}});
    const auto energy = [](const vec& x) { return x[1] * x[1] + 15 * x[0] * x[0] + 100 * std::pow(x[0], 4); };
    const vec start = initial(*model), end = integrate(*model, start, 0, 10, 20000);
    EXPECT_NEAR(energy(end), energy(start), 1e-8 * energy(start));
    EXPECT_NE(end[0], start[0]);
}

TEST(mass_spring_damper, cubic_damping_follows_the_closed_form) {
    const auto model = make("mass-spring-damper", {{"mass", "2"}, {"cubic-damping", "3"}, {"v0", "5"}});
    const vec x = integrate(*model, initial(*model), 0, 2, 20000);
    EXPECT_NEAR(x[1], 5 / std::sqrt(1 + 2 * 3.0 / 2 * 25 * 2), 1e-10);
    EXPECT_NEAR(x[1], 0.407, 5e-4);
}

TEST(mass_spring_damper, step_is_a_time_event_with_the_value_from_the_right) {
    const auto model =
        make("mass-spring-damper", {{"mass", "2"}, {"excitation", "step"}, {"amplitude", "6"}, {"step-time", "0.5"}});
    EXPECT_EQ(model->next_time_event(0), 0.5);
    EXPECT_EQ(model->next_time_event(0.5), infinity);
    const double just_before = std::nextafter(0.5, 0);
    EXPECT_EQ(outputs(*model, just_before, {0, 0}, {0})[2], 0);
    EXPECT_EQ(outputs(*model, 0.5, {0, 0}, {0})[2], 3);
    const vec x = integrate(*model, integrate(*model, initial(*model), 0, just_before, 1), 0.5, 2.5, 1);
    EXPECT_DOUBLE_EQ(x[0], 0.5 * 3 * 4);
    EXPECT_EQ(make("mass-spring-damper")->next_time_event(0), infinity);
}

TEST(mass_spring_damper, refuses_a_mass_of_zero) {
    EXPECT_THROW(make("mass-spring-damper", {{"mass", "0"}}), user_error);
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(inertia, spins_down_by_its_damping) {
    const auto model = make("inertia", {{"inertia", "0.4 kg.m2"}, {"damping", "0.2 N.m.s/rad"}, {"w0", "100 rad/s"}});
    const vec x = integrate(*model, initial(*model), 0, 2, 2000);
    EXPECT_NEAR(x[1], 100 * std::exp(-1), 1e-9);
    EXPECT_NEAR(x[1], 36.788, 5e-4);
    EXPECT_NEAR(x[0], 200 * (1 - std::exp(-1)), 1e-9);
}

TEST(inertia, adds_the_torques_of_both_ports_and_the_signal) {
    const auto model = make("inertia", {{"inertia", "0.5"}});
    const vec y = outputs(*model, 0, {0.25, 3}, {1, 2, 4});
    EXPECT_THAT(y, testing::ElementsAre(0.25, 3, 14, 0.25, 3, 14));
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(chain, swings_in_its_first_mode_with_the_known_frequency) {
    const int n = 9;
    const double omega = 2 * std::sqrt(50.0 / 2.0) * std::sin(pi / (2 * (n + 1)));
    std::string shape;
    for (int i = 1; i <= n; ++i) shape += (i > 1 ? "," : "") + number(std::sin(i * pi / (n + 1)));
    const auto model = make("chain", {{"n", "9"},
                                      {"mass", "2"},
                                      {"stiffness", "50"},
                                      {"left", "fixed"},
                                      {"right", "fixed"},
                                      {"x0", "[" + shape + "]"}});
    const double t = 2 * pi / omega;
    EXPECT_NEAR(t, 4.0165, 5e-5);
    const vec start = initial(*model), x = integrate(*model, start, 0, t, 4000);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], start[i], 1e-9);
}

TEST(chain, keeps_its_energy_without_damping) {
    const auto model = make("chain", {{"n", "50"},
                                      {"stiffness", "1e4"},
                                      {"cubic-stiffness", "1e6"},
                                      {"left", "fixed"},
                                      {"right", "fixed"},
                                      {"x-amplitude", "0.1"},
                                      {"v-amplitude", "10"}});
    const auto energy = [&](const vec& x) { return outputs(*model, 0, x, {0, 0}).back(); };
    const vec start = initial(*model), end = integrate(*model, start, 0, 1, 20000);
    EXPECT_NEAR(energy(end), energy(start), 1e-8 * energy(start));
    EXPECT_GT(energy(start), 100);
}

TEST(chain, loses_the_energy_its_dampers_take) {
    const auto model = make("chain", {{"n", "3"},
                                      {"stiffness", "5"},
                                      {"damping", "0.7"},
                                      {"cubic-damping", "0.3"},
                                      {"left", "fixed"},
                                      {"v0", "[1, -2, 0.5]"},
                                      {"x0", "[0.2, 0.1, 0.3]"}});
    const double h = 1e-5;
    const auto energy = [&](double t) {
        return outputs(*model, 0, integrate(*model, initial(*model), 0, t, 20), {0, 0}).back();
    };
    const vec v = integrate(*model, initial(*model), 0, h, 20);
    const auto taken = [](double r) { return 0.7 * r * r + 0.3 * std::pow(r, 4); };
    EXPECT_NEAR((energy(2 * h) - energy(0)) / (2 * h), -taken(v[1]) - taken(v[3] - v[1]) - taken(v[5] - v[3]), 1e-4);
}

TEST(chain, begins_from_the_same_state_however_it_is_split) {
    const settings common{{"x-amplitude", "0.1"}, {"v-amplitude", "100"}, {"seed", "7"}};
    const auto part = [&](int n, int first) {
        settings set = common;
        set.push_back({"n", std::to_string(n)});
        set.push_back({"first", std::to_string(first)});
        return initial(*make("chain", set));
    };
    const vec whole = part(100, 1);
    vec halves = part(50, 1);
    const vec second = part(50, 51);
    halves.insert(halves.end(), second.begin(), second.end());
    EXPECT_EQ(whole, halves);
    EXPECT_LE(*std::max_element(whole.begin(), whole.end()), 100);
    EXPECT_GE(*std::min_element(whole.begin(), whole.end()), -100);
}

TEST(chain, draws_uniformly_and_on_every_machine_the_same) {
    const auto model = make("chain", {{"n", "100000"}, {"x-amplitude", "1"}, {"v-amplitude", "1"}});
    const vec x = initial(*model);
    double mean = 0, square = 0, product = 0;
    for (std::size_t i = 0; i < x.size(); i += 2) {
        mean += x[i] / 1e5;
        square += x[i] * x[i] / 1e5;
        product += x[i] * x[i + 1] / 1e5;
    }
    EXPECT_NEAR(mean, 0, 0.01);
    EXPECT_NEAR(square, 1.0 / 3, 0.01);
    EXPECT_NEAR(product, 0, 0.01);
    // Integer arithmetic and one exact scaling: the same bits everywhere.
    EXPECT_EQ(x[0], 0.664721900253725);
    EXPECT_EQ(x[1], -0.0512426864283424);
    EXPECT_EQ(x[2], 0.8012218177863168);
}

TEST(chain, moves_as_a_whole_like_two_halves_joined_by_an_element) {
    const settings elements{
        {"mass", "1.5"},          {"stiffness", "20"},        {"damping", "0.4"},        {"cubic-stiffness", "8"},
        {"cubic-damping", "0.2"}, {"x-amplitude", "1"},       {"v-amplitude", "3"},      {"impact-share", "0.5"},
        {"impact-force", "8"},    {"impact-duration", "0.2"}, {"impact-time-max", "0.6"}};
    const auto with = [&](settings more) {
        more.insert(more.end(), elements.begin(), elements.end());
        return make("chain", more);
    };
    const auto whole = with({{"n", "8"}, {"left", "fixed"}, {"right", "fixed"}});
    const auto left = with({{"n", "4"}, {"left", "fixed"}}),
               right = with({{"n", "4"}, {"right", "fixed"}, {"first", "5"}});
    const vec a = initial(*left), b = initial(*right);
    vec x = a;
    x.insert(x.end(), b.begin(), b.end());
    const double q = b[0] - a[6], v = b[1] - a[7], f = 20 * q + 8 * q * q * q + 0.4 * v + 0.2 * v * v * v;
    const double t = 0.3;
    const vec da = rates(*left, t, a, {0, f}), db = rates(*right, t, b, {-f, 0}), dx = rates(*whole, t, x, {0, 0});
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_NEAR(dx[i], da[i], 1e-12 * (1 + std::abs(dx[i])));
        EXPECT_NEAR(dx[i + 8], db[i], 1e-12 * (1 + std::abs(dx[i + 8])));
    }
}

TEST(chain, receives_the_impulse_of_its_impacts) {
    const auto model = make("chain", {{"n", "200"},
                                      {"mass", "2"},
                                      {"stiffness", "100"},
                                      {"impact-share", "0.05"},
                                      {"impact-force", "50 N"},
                                      {"impact-duration", "10 ms"},
                                      {"impact-time-min", "0.3 s"},
                                      {"impact-time-max", "0.5 s"}});
    const vec x = integrate(*model, initial(*model), 0, 1, 2000);
    double momentum = 0;
    for (std::size_t i = 1; i < x.size(); i += 2) momentum += 2 * x[i];
    const double hits = momentum / (50 * 0.01);  // every pulse holds the impulse dF delta
    EXPECT_NEAR(hits, 13, 1e-6);
}

TEST(chain, explains_mistakes) {
    EXPECT_THROW(make("chain", {{"n", "3"}, {"x0", "[1, 2]"}}), std::invalid_argument);
    EXPECT_THROW(make("chain", {{"impact-share", "1.1"}}), std::invalid_argument);
    EXPECT_THROW(make("chain", {{"impact-share", "0.1"}, {"impact-time-min", "2"}, {"impact-time-max", "1"}}),
                 std::invalid_argument);
    EXPECT_THROW(make("chain", {{"n", "2.5"}}), user_error);
    EXPECT_THROW(make("chain", {{"n", "1e9"}}), user_error);
    EXPECT_THROW(make("chain", {{"seed", "1e20"}}), user_error);
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(lag_1, approaches_its_input_exponentially) {
    const auto model = make("lag-1", {{"time-constant", "0.5"}, {"gain", "3"}});
    const auto step = [](int, double) { return 2.0; };
    const vec x = integrate(*model, initial(*model), 0, 0.5, 500, step);
    EXPECT_NEAR(x[0], 6 * (1 - std::exp(-1)), 1e-10);
    EXPECT_NEAR(x[0], 3.7927, 5e-5);
    EXPECT_NEAR(integrate(*model, initial(*model), 0, 20, 2000, step)[0], 6, 1e-12);
    EXPECT_EQ(outputs(*model, 0, {6}, {2})[1], 0);
}

TEST(lag_2, overshoots_as_known_and_settles) {
    const double D = 0.2, omega0 = 10, omega_d = omega0 * std::sqrt(1 - D * D);
    const auto model = make("lag-2", {{"omega0", "10"}, {"damping-ratio", "0.2"}, {"gain", "3"}});
    const auto step = [](int, double) { return 2.0; };
    const vec peak = integrate(*model, initial(*model), 0, pi / omega_d, 2000, step);
    EXPECT_NEAR(peak[0], 6 * (1 + std::exp(-pi * D / std::sqrt(1 - D * D))), 1e-9);
    EXPECT_NEAR(peak[0] / 6, 1.5266, 5e-5);
    EXPECT_NEAR(peak[1], 0, 1e-8);
    EXPECT_NEAR(integrate(*model, initial(*model), 0, 20, 20000, step)[0], 6, 1e-11);
}

TEST(lag_2, without_overshoot_at_the_aperiodic_limit) {
    const auto model = make("lag-2", {{"omega0", "4"}});
    const vec x = integrate(*model, initial(*model), 0, 0.5, 1000, [](int, double) { return 1.0; });
    EXPECT_NEAR(x[0], 1 - std::exp(-2) * (1 + 2), 1e-11);
    EXPECT_NEAR(x[0], 0.59399, 5e-6);
    EXPECT_THROW(make("lag-2", {{"omega0", "1 Hz"}}), user_error);
}

// ---------------------------------------------------------------------------------------------------------------------

vec signal_at(const equations& model, double t) { return outputs(model, t, {}, {}); }

TEST(source, constant) {
    EXPECT_THAT(signal_at(*make("source", {{"offset", "5"}}), -3), testing::ElementsAre(5, 0));
    EXPECT_EQ(make("source")->next_time_event(-1), infinity);
}

TEST(source, step) {
    const auto model = make("source", {{"kind", "step"}, {"offset", "1"}, {"amplitude", "2"}, {"start", "0.3"}});
    EXPECT_THAT(signal_at(*model, std::nextafter(0.3, 0)), testing::ElementsAre(1, 0));
    EXPECT_THAT(signal_at(*model, 0.3), testing::ElementsAre(3, 0));
    EXPECT_EQ(model->next_time_event(0), 0.3);
    EXPECT_EQ(model->next_time_event(0.3), infinity);
}

TEST(source, ramp) {
    const auto model =
        make("source", {{"kind", "ramp"}, {"offset", "1"}, {"amplitude", "8"}, {"start", "2"}, {"duration", "4"}});
    EXPECT_THAT(signal_at(*model, 1), testing::ElementsAre(1, 0));
    EXPECT_THAT(signal_at(*model, 2), testing::ElementsAre(1, 2));
    EXPECT_THAT(signal_at(*model, 5), testing::ElementsAre(7, 2));
    EXPECT_THAT(signal_at(*model, 6), testing::ElementsAre(9, 0));
    EXPECT_EQ(model->next_time_event(0), 2);
    EXPECT_EQ(model->next_time_event(2), 6);
    EXPECT_EQ(model->next_time_event(6), infinity);
}

TEST(source, sine) {
    const auto model = make("source", {{"kind", "sine"},
                                       {"offset", "1"},
                                       {"amplitude", "2"},
                                       {"start", "1"},
                                       {"frequency", "5"},
                                       {"phase", "90 deg"}});
    EXPECT_THAT(signal_at(*model, 0.9), testing::ElementsAre(1, 0));
    EXPECT_THAT(signal_at(*model, 1), testing::ElementsAre(testing::DoubleEq(3), testing::DoubleNear(0, 1e-14)));
    const vec y = signal_at(*model, 1.05);  // a quarter of the period later
    EXPECT_NEAR(y[0], 1, 1e-14);
    EXPECT_NEAR(y[1], -2 * 2 * pi * 5, 1e-12);
}

TEST(source, single_pulse) {
    const auto model = make("source", {{"kind", "pulse"}, {"amplitude", "3"}, {"start", "1"}, {"duration", "2"}});
    for (const auto& [t, y] : {std::pair{0.5, 0.0}, {1.0, 3.0}, {2.9, 3.0}, {3.0, 0.0}, {100.0, 0.0}})
        EXPECT_THAT(signal_at(*model, t), testing::ElementsAre(y, 0)) << t;
    EXPECT_EQ(model->next_time_event(1), 3);
    EXPECT_EQ(model->next_time_event(3), infinity);
}

TEST(source, pulses_jump_exactly_at_their_events) {
    const auto model = make("source", {{"kind", "pulse"}, {"start", "0.1"}, {"duration", "0.03"}, {"period", "0.1"}});
    double t = 0;
    for (int n = 0; n < 200000; ++n) {
        const double next = model->next_time_event(t);
        ASSERT_GT(next, t);
        ASSERT_NEAR(next, 0.1 + (n / 2) * 0.1 + (n % 2) * 0.03, 1e-10);
        ASSERT_EQ(signal_at(*model, std::nextafter(next, 0))[0], n % 2) << n;
        ASSERT_EQ(signal_at(*model, next)[0], 1 - n % 2) << n;
        t = next;
    }
}

TEST(source, chirp_sweeps_linearly_and_goes_on) {
    const auto model =
        make("source", {{"kind", "chirp"}, {"frequency", "2"}, {"end-frequency", "6"}, {"duration", "3"}});
    // The phase after s is 2 pi (f0 s + (f1 - f0) s^2 / (2 T)); over the whole sweep the mean frequency counts: 12
    // turns.
    const vec middle = signal_at(*model, 1.5), end = signal_at(*model, 3), later = signal_at(*model, 4.25);
    EXPECT_NEAR(middle[0], std::sin(2 * pi * 4.5), 1e-13);
    EXPECT_NEAR(middle[1], 2 * pi * 4 * std::cos(2 * pi * 4.5), 1e-11);
    EXPECT_NEAR(end[0], 0, 1e-13);
    EXPECT_NEAR(end[1], 2 * pi * 6, 1e-11);
    EXPECT_NEAR(later[0], std::sin(2 * pi * 6 * 1.25), 1e-12);
    EXPECT_NEAR(later[1], 2 * pi * 6 * std::cos(2 * pi * 6 * 1.25), 1e-11);
}

TEST(source, refuses_a_pulse_longer_than_its_period_and_unknown_kinds) {
    EXPECT_THROW(make("source", {{"kind", "pulse"}, {"duration", "2"}, {"period", "1"}}), std::invalid_argument);
    EXPECT_THROW(make("source", {{"kind", "wobble"}}), user_error);
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(busy, moves_like_a_free_mass_whatever_its_work) {
    const inputs_over_time force = [](int, double t) { return std::sin(t); };
    const auto free_mass = make("mass-spring-damper", {{"mass", "3"}, {"v0", "1"}});
    const vec x = integrate(*free_mass, initial(*free_mass), 0, 1, 100, force);
    for (const char* work : {"1", "1000"}) {
        const auto model = make("busy", {{"mass", "3"}, {"v0", "1"}, {"work", work}});
        EXPECT_EQ(integrate(*model, initial(*model), 0, 1, 100, force), x);
    }
}

TEST(busy, refuses_work_without_end) { EXPECT_THROW(make("busy", {{"work", "1e30"}}), user_error); }

// ---------------------------------------------------------------------------------------------------------------------

TEST(hydraulic_line, fills_and_settles_as_known) {
    // rho L / A = 8.5e6 kg/m4 under 10 bar.
    const double inertia = 8.5e6, R = 2e9, K = 4e12, dp = 1e6;
    const auto pressure = [&](int i, double) { return i == 0 ? dp + 1e5 : 1e5; };
    const auto laminar = make("hydraulic-line", {{"linear-loss", "2e9"}});
    const vec x = integrate(*laminar, initial(*laminar), 0, 5e-3, 1000, pressure);
    EXPECT_NEAR(x[1], dp / R * (1 - std::exp(-R * 5e-3 / inertia)), 1e-15);
    EXPECT_NEAR(x[1], 3.4582e-4, 5e-9);
    const auto turbulent = make("hydraulic-line", {{"quadratic-loss", "4e12"}});
    const vec z = integrate(*turbulent, initial(*turbulent), 0, 5e-3, 1000, pressure);
    EXPECT_NEAR(z[1], std::sqrt(dp / K) * std::tanh(std::sqrt(dp * K) * 5e-3 / inertia), 1e-15);
    EXPECT_NEAR(z[1], 4.1317e-4, 5e-9);
    // What leaves the left node enters the right one.
    const vec y = outputs(*turbulent, 0, z, {0, 0});
    EXPECT_THAT(y, testing::ElementsAre(-z[0], -z[1], z[0], z[1]));
}

TEST(piston, turns_pressure_to_force_and_motion_to_flow) {
    const auto model =
        make("piston", {{"mass", "5 kg"}, {"head-area", "20 cm2"}, {"ring-area", "12 cm2"}, {"damping", "4 kN.s/m"}});
    const vec u{-3000, 50e5, 5e5};  // 9.8 kN - 0.48 kN of pressure against 3 kN
    EXPECT_NEAR(outputs(*model, 0, {0, 0}, u)[2], (9800 - 480 - 3000) / 5.0, 1e-9);
    const vec x =
        integrate(*model, initial(*model), 0, 1, 4000, [&](int i, double) { return u[static_cast<std::size_t>(i)]; });
    EXPECT_NEAR(x[1], 1.58, 1e-9) << "6320 N over 4 kN.s/m";
    const vec y = outputs(*model, 0, {0.1, 0.5}, u);
    EXPECT_NEAR(y[3], -2e-4, 1e-18);
    EXPECT_NEAR(y[4], -1e-3, 1e-18);
    EXPECT_NEAR(y[5], 1.2e-4, 1e-18);
    EXPECT_NEAR(y[6], 6e-4, 1e-18);
    // At ambient pressure in both chambers nothing moves.
    EXPECT_NEAR(outputs(*model, 0, {0, 0}, {0, 1e5, 1e5})[2], 0, 1e-12);
}

TEST(piston, is_held_back_by_coulomb_friction) {
    const auto model = make("piston", {{"mass", "2"}, {"friction", "6 N"}, {"v0", "3 m/s"}, {"head-area", "0"}});
    const vec x = integrate(*model, initial(*model), 0, 0.5, 1000);
    EXPECT_NEAR(x[1], 3 - 6 / 2.0 * 0.5, 1e-9);
}

TEST(thermal_mass, warms_by_heat_over_capacity) {
    const auto model = make("thermal-mass", {{"heat-capacity", "500 J/K"}, {"temperature0", "20 degC"}});
    const vec x = integrate(*model, initial(*model), 0, 60, 10, [](int i, double) { return i == 0 ? -20.0 : 120.0; });
    EXPECT_NEAR(x[0], 293.15 + 100 * 60 / 500.0, 1e-10);
}

TEST(rl_branch, current_rises_exponentially) {
    const auto model = make("rl-branch", {{"inductance", "10 mH"}, {"resistance", "5 Ohm"}});
    const vec e{7, 1, 4};  // 10 V in sum
    const vec x = integrate(*model, initial(*model), 0, 2e-3, 1000,
                            [&](int i, double) { return e[static_cast<std::size_t>(i)]; });
    EXPECT_NEAR(x[1], 2 * (1 - std::exp(-1)), 1e-12);
    EXPECT_NEAR(x[1], 1.26424, 5e-6);
    EXPECT_NEAR(x[0], 2 * (2e-3 - 2e-3 * (1 - std::exp(-1))), 1e-14) << "the charge";
}

TEST(capacitor, leaks_exponentially_and_charges_linearly) {
    const auto leaking = make("capacitor", {{"capacitance", "10 uF"}, {"leakage", "1 mS"}, {"potential0", "12 V"}});
    EXPECT_NEAR(integrate(*leaking, initial(*leaking), 0, 10e-3, 1000)[0], 12 * std::exp(-1), 1e-10);
    const auto tight = make("capacitor", {{"capacitance", "10 uF"}});
    EXPECT_NEAR(integrate(*tight, initial(*tight), 0, 10e-3, 10, [](int i, double) { return i == 0 ? 3e-3 : 2e-3; })[0],
                5, 1e-12);
}

TEST(dc_motor, runs_at_the_known_speed_and_keeps_the_balance_of_power) {
    const double R = 0.5, k = 0.1, d = 1e-3, u = 12, load = -0.2;
    const auto model = make(
        "dc-motor",
        {{"inductance", "1 mH"}, {"resistance", "0.5"}, {"constant", "0.1"}, {"inertia", "2e-4"}, {"damping", "1e-3"}});
    const vec in{load, 9, 3};
    const vec x =
        integrate(*model, initial(*model), 0, 1, 20000, [&](int i, double) { return in[static_cast<std::size_t>(i)]; });
    const double w = (k * u / R + load) / (k * k / R + d), i = (u - k * w) / R;
    EXPECT_NEAR(x[1], w, 1e-8);
    EXPECT_NEAR(w, 104.7619, 5e-5);
    EXPECT_NEAR(x[3], i, 1e-9);
    EXPECT_NEAR(u * i, R * i * i + d * w * w - load * w, 1e-9)
        << "supplied = lost in the winding + friction + delivered";
    EXPECT_EQ(outputs(*model, 0, x, in)[4], -x[3]) << "the motor draws its current out of the node";
}

}  // namespace
}  // namespace mdpcosim
