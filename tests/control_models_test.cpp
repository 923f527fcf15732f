// The models for control: what they describe against what they compute, and both against exact solutions. The READMEs in
// models/ quote their numbers from here.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <set>

#include "core/error.hpp"
#include "scenario/resolve.hpp"
#include "subsystem/model.hpp"

namespace mdpcosim {
namespace {

using settings = std::vector<std::pair<std::string, std::string>>;  ///< as a user writes them; a list is "[1, 2]"
using inputs_over_time = std::function<double(int, double)>;
using vec = std::vector<double>;

const std::set<std::string> continuous_models{"lookup-table", "pid", "saturation", "state-space", "transfer-function"};

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

const model_info& info_of(const std::string& model) {
    const model_info* found = model_registry::instance().find(model);
    if (found == nullptr) throw std::logic_error("no model " + model);
    return *found;
}

parameter_values values(const model_info& info, const settings& given) {
    std::vector<setting> list;
    for (const auto& [name, value] : given) list.push_back(written(name, value));
    return resolve_parameters(info.parameters, list, {}, "test");
}

std::unique_ptr<equations> make(const std::string& model, const settings& given = {}) {
    return info_of(model).make(values(info_of(model), given));
}

std::unique_ptr<sampled_equations> make_sampled(const std::string& model, double period, const settings& given = {}) {
    return info_of(model).make_sampled(values(info_of(model), given), {period, 0, 0});
}

vec initial(const equations& model) {
    vec x(static_cast<std::size_t>(model.state_count()), std::nan(""));
    model.initial_state(0, x.data());
    return x;
}

vec rates(const equations& model, const vec& x, const vec& u) {
    vec dx(x.size(), std::nan(""));
    model.derivatives(0, x.data(), u.data(), dx.data());
    return dx;
}

template <class Model>
vec outputs(const Model& model, const vec& x, const vec& u) {
    vec y(static_cast<std::size_t>(model.describe().output_count()), std::nan(""));
    model.outputs(0, x.data(), u.data(), y.data());
    return y;
}

vec inputs_at(const equations& model, const inputs_over_time& u, double t) {
    vec now(static_cast<std::size_t>(model.describe().input_count()));
    for (std::size_t i = 0; i < now.size(); ++i) now[i] = u(static_cast<int>(i), t);
    return now;
}

vec sum(const vec& a, double factor, const vec& b) {
    vec c = a;
    for (std::size_t i = 0; i < a.size(); ++i) c[i] += factor * b[i];
    return c;
}

/// Classical Runge-Kutta.
vec integrate(const equations& model, vec x, double t, double end, int steps, const inputs_over_time& u) {
    const double h = (end - t) / steps;
    for (int n = 0; n < steps; ++n) {
        const double begin = t + n * h;
        const auto f = [&](double s, const vec& at) { return rates(model, at, inputs_at(model, u, s)); };
        const vec k1 = f(begin, x), k2 = f(begin + h / 2, sum(x, h / 2, k1));
        const vec k3 = f(begin + h / 2, sum(x, h / 2, k2)), k4 = f(begin + h, sum(x, h, k3));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
    return x;
}

// ---------------------------------------------------------------------------------------------------------------------
// Every continuous model, with every structure that its parameters give it.

struct model_case {
    std::string name;
    std::string model;
    settings set;
    std::vector<std::string> direct;  ///< `output<-input slot`, and for rates `der(output)<-input slot`
};

const std::vector<model_case>& cases() {
    static const std::vector<model_case> list{
        {"pid",
         "pid",
         {{"kp", "2"},
          {"ki", "3"},
          {"kd", "0.4"},
          {"filter-time", "100 ms"},
          {"setpoint-weight", "0.7"},
          {"lower", "-100"},
          {"upper", "100"},
          {"integral0", "1"},
          {"filtered0", "0.2"}},
         {"y<-0", "y<-1"}},
        {"pid_at_its_limit",
         "pid",
         {{"kp", "2"}, {"ki", "3"}, {"kd", "0.4"}, {"filter-time", "1"}, {"upper", "-100"}, {"tracking-time", "0.2"}},
         {}},
        {"i_controller", "pid", {{"kp", "0"}, {"ki", "3"}}, {}},
        {"i_p_controller", "pid", {{"ki", "3"}, {"setpoint-weight", "0"}}, {"y<-1"}},
        {"gain", "transfer-function", {{"num", "3"}, {"den", "2"}}, {"y<-0"}},
        {"relative_degree_0",
         "transfer-function",
         {{"num", "[3, 0, 1]"}, {"den", "[2, 1, 5]"}, {"x0", "0.3"}},
         {"y<-0"}},
        {"relative_degree_1",
         "transfer-function",
         {{"num", "[0, 4, 1]"}, {"den", "[2, 1, 5]"}, {"x0", "[0.3, -1]"}},
         {"der(y)<-0"}},
        {"relative_degree_2", "transfer-function", {{"num", "7"}, {"den", "[2, 1, 5]"}, {"x0", "0.3"}}, {}},
        {"relative_degree_2_of_3", "transfer-function", {{"num", "[7, 1]"}, {"den", "[1, 2, 3, 4]"}}, {}},
        {"one_state", "state-space", {{"A", "-2"}, {"x0", "1"}}, {"der(y)<-0"}},
        {"several",
         "state-space",
         {{"n", "3"},
          {"m", "2"},
          {"p", "4"},
          {"A", "[0,1,0, -4,-0.5,1, 0,0,-1]"},
          {"B", "[0,0, 1,0, 0,2]"},
          {"C", "[1,0,0, 0,1,0, 0,0,1, 1,1,1]"},
          {"D", "[0,0, 0,0, 3,0, 0,5]"},
          {"x0", "[0.1, 0.2, 0.3]"}},
         {"der(y[1])<-0", "y[2]<-0", "y[3]<-1"}},
        {"saturation", "saturation", {{"lower", "-10"}, {"upper", "10"}}, {"y<-0"}},
        {"table", "lookup-table", {{"x", "[-10, 0, 1, 10]"}, {"y", "[1, 2, 0, 7]"}}, {"y<-0"}},
        {"table_of_one", "lookup-table", {{"y", "4"}}, {}},
    };
    return list;
}

class every_control_model : public testing::TestWithParam<model_case> {
   protected:
    std::unique_ptr<equations> model_ = make(GetParam().model, GetParam().set);
    inputs_over_time u_ = [](int i, double t) { return std::sin(3 * t + i) + 0.5 * i; };
    double t_ = 0.37;
};

INSTANTIATE_TEST_SUITE_P(models, every_control_model, testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(every_control_model, numbers_slots_without_gaps_and_names_once) {
    const subsystem_description& d = model_->describe();
    std::set<std::string> names;
    int slot = 0;
    for (const auto& input : d.inputs) {
        EXPECT_EQ(input.slot, slot) << input.name;
        EXPECT_TRUE(names.insert(input.name).second) << input.name;
        slot += input.size;
    }
    slot = 0;
    for (const auto& output : d.outputs) {
        EXPECT_EQ(output.slot, slot) << output.name;
        EXPECT_TRUE(names.insert(output.name).second) << output.name;
        EXPECT_LT(output.rate_slot, d.output_count()) << output.name;
        slot += output.size;
    }
    EXPECT_EQ(&make(GetParam().model, GetParam().set)->describe(), &d);
}

TEST_P(every_control_model, depends_on_inputs_exactly_as_described) {
    const subsystem_description& d = model_->describe();
    const vec x = integrate(*model_, initial(*model_), 0, t_, 200, u_), u = inputs_at(*model_, u_, t_);
    const vec y = outputs(*model_, x, u);
    std::set<std::string> described, found, needing;
    for (const auto& output : d.outputs) {
        for (const int i : output.direct) described.insert(fmt::format("{}<-{}", output.name, i));
        for (std::size_t i = 0; i < u.size(); ++i) {
            vec other = u;
            other[i] += 1;
            const auto slot = static_cast<std::size_t>(output.slot);
            if (outputs(*model_, x, other)[slot] != y[slot]) found.insert(fmt::format("{}<-{}", output.name, i));
        }
        if (output.rate_slot >= 0) {
            EXPECT_TRUE(output.direct.empty()) << output.name << " jumps with its input and has no rate";
            EXPECT_EQ(output.rate_needs_input, !d.outputs[static_cast<std::size_t>(output.rate_slot)].direct.empty());
        }
    }
    EXPECT_THAT(found, testing::ElementsAreArray(std::set(GetParam().direct.begin(), GetParam().direct.end())));
    if (GetParam().name != "pid_at_its_limit") {
        EXPECT_EQ(described, found);
    }
}

TEST_P(every_control_model, gives_the_rates_of_its_outputs) {
    const double h = 1e-4;
    const vec before = integrate(*model_, initial(*model_), 0, t_ - h, 2000, u_);
    const vec now = integrate(*model_, before, t_ - h, t_, 1, u_), after = integrate(*model_, now, t_, t_ + h, 1, u_);
    const vec y0 = outputs(*model_, before, inputs_at(*model_, u_, t_ - h)),
              y1 = outputs(*model_, now, inputs_at(*model_, u_, t_)),
              y2 = outputs(*model_, after, inputs_at(*model_, u_, t_ + h));
    for (const auto& output : model_->describe().outputs) {
        if (output.rate_slot < 0) continue;
        const auto at = static_cast<std::size_t>(output.slot);
        EXPECT_NEAR(y1[static_cast<std::size_t>(output.rate_slot)], (y2[at] - y0[at]) / (2 * h), 1e-5) << output.name;
    }
}

TEST_P(every_control_model, gives_the_jacobian_of_its_derivatives) {
    const vec x = integrate(*model_, initial(*model_), 0, t_, 200, u_), u = inputs_at(*model_, u_, t_);
    const std::size_t n = x.size();
    vec exact(n * n, std::nan(""));
    ASSERT_TRUE(model_->jacobian(t_, x.data(), u.data(), exact.data()));
    const double h = 1e-5;
    for (std::size_t j = 0; j < n; ++j) {
        vec low = x, high = x;
        low[j] -= h;
        high[j] += h;
        const vec below = rates(*model_, low, u), above = rates(*model_, high, u);
        for (std::size_t i = 0; i < n; ++i)
            EXPECT_NEAR(exact[i + j * n], (above[i] - below[i]) / (2 * h), 1e-6) << "row " << i << " column " << j;
    }
}

TEST(control_models, have_cases_here) {
    std::set<std::string> covered;
    for (const auto& c : cases()) covered.insert(c.model);
    EXPECT_EQ(covered, continuous_models);
}

TEST(control_models, sampled_ones_are_described_by_their_readmes) {
    const auto unit = [](const std::string& text) { return text.empty() ? "-" : text; };
    const model_info& info = info_of("pid-sampled");
    EXPECT_FALSE(info.make);
    std::ifstream file(MDPCOSIM_SOURCE_DIR "/models/pid-sampled/README.md");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_EQ(text.substr(0, text.find('\n')), "# " + info.name);
    const auto model = make_sampled("pid-sampled", 0.1);
    std::vector<std::string> rows;
    for (const auto& v : model->describe().inputs)
        rows.push_back(fmt::format("| `{}` | input | - | {} |", v.name, v.description));
    for (const auto& v : model->describe().outputs)
        rows.push_back(fmt::format("| `{}` | output | - | {} |", v.name, v.description));
    for (const auto& p : info.parameters)
        rows.push_back(fmt::format("| `{}` | {} | {} | {} | {} |", p.name, unit(p.unit), p.default_value,
                                   p.allowed == parameter_info::range::positive ? "> 0" : "any", p.description));
    for (const auto& row : rows) EXPECT_NE(text.find(row + "\n"), std::string::npos) << row;
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(pid, answers_a_step_of_the_error_with_its_three_parts) {
    // e = 1 from t = 0: v = kp + ki t + kd/Tf exp(-t/Tf).
    const auto model = make("pid", {{"kp", "2"}, {"ki", "3"}, {"kd", "0.4"}, {"filter-time", "0.1 s"}});
    const inputs_over_time step = [](int i, double) { return i == 0 ? 1.0 : 0.0; };
    for (const double t : {0.0, 0.05, 0.2, 1.0}) {
        const vec x = t == 0 ? initial(*model) : integrate(*model, initial(*model), 0, t, 2000, step);
        EXPECT_NEAR(outputs(*model, x, {1, 0})[0], 2 + 3 * t + 4 * std::exp(-t / 0.1), 1e-9) << t;
    }
    const vec x = integrate(*model, initial(*model), 0, 0.2, 2000, step);
    EXPECT_NEAR(outputs(*model, x, {1, 0})[0], 3.1413, 5e-5);
}

TEST(pid, weights_of_the_setpoint) {
    const auto model = make(
        "pid",
        {{"kp", "2"}, {"kd", "0.4"}, {"filter-time", "0.1"}, {"setpoint-weight", "0.5"}, {"derivative-weight", "0"}});
    EXPECT_DOUBLE_EQ(outputs(*model, {0, 0}, {1, 0})[0], 1);
    EXPECT_DOUBLE_EQ(outputs(*model, {0, 0}, {0, 1})[0], -6);
}

TEST(pid, back_calculation_stops_the_windup) {
    // A constant error at the upper limit: I tends to where v - upper = Tt ki e, with the time constant Tt.
    const auto model = make("pid", {{"kp", "2"}, {"ki", "4"}, {"upper", "3"}});  // Tt = kp/ki = 0.5 s
    const inputs_over_time error = [](int i, double) { return i == 0 ? 2.0 : 0.0; };
    const vec x = integrate(*model, initial(*model), 0, 1, 2000, error);
    const double end = 3 - 4 + 0.5 * 4 * 2;  // I = upper - kp e + Tt ki e
    EXPECT_NEAR(x[0], end * (1 - std::exp(-1 / 0.5)), 1e-9);
    EXPECT_EQ(outputs(*model, x, {2, 0})[0], 3);
    const auto without = make("pid", {{"kp", "2"}, {"ki", "4"}});
    EXPECT_NEAR(integrate(*without, initial(*without), 0, 1, 10, error)[0], 8, 1e-12);
    EXPECT_NEAR(x[0], 2.594, 5e-4);
}

TEST(pid, refuses_limits_that_cross_and_a_windup_without_time) {
    for (const auto& wrong :
         {settings{{"lower", "1"}, {"upper", "0"}}, settings{{"kp", "0"}, {"ki", "1"}, {"upper", "0"}}}) {
        EXPECT_THROW(make("pid", wrong), std::invalid_argument);
        EXPECT_THROW(make_sampled("pid-sampled", 0.1, wrong), std::invalid_argument);
    }
    EXPECT_NO_THROW(make("pid", {{"kp", "0"}, {"ki", "1"}, {"upper", "0"}, {"tracking-time", "1"}}));
    EXPECT_THROW(make("pid", {{"filter-time", "0"}}), user_error);
}

/// Runs a sampled model with inputs of the sample number; the outputs by sample.
std::vector<vec> samples(const sampled_equations& model, int count, const std::function<vec(int)>& u) {
    vec x(static_cast<std::size_t>(model.state_count())), next(x.size());
    model.initial_state(0, x.data());
    std::vector<vec> y;
    for (int k = 0; k < count; ++k) {
        y.push_back(outputs(model, x, u(k)));
        model.update(0, x.data(), u(k).data(), next.data());
        x = next;
    }
    return y;
}

TEST(pid_sampled, answers_a_step_of_the_error_with_its_three_parts) {
    // y_k = kp + (k + 1) ki T + kd/(Tf + T) (Tf/(Tf + T))^k
    const double T = 0.05, Tf = 0.1;
    const auto model =
        make_sampled("pid-sampled", T, {{"kp", "2"}, {"ki", "3"}, {"kd", "0.4"}, {"filter-time", "0.1 s"}});
    const auto y = samples(*model, 40, [](int) { return vec{1, 0}; });
    for (int k = 0; k < 40; ++k)
        EXPECT_NEAR(y[static_cast<std::size_t>(k)][0],
                    2 + (k + 1) * 3 * T + 0.4 / (Tf + T) * std::pow(Tf / (Tf + T), k), 1e-12)
            << k;
    EXPECT_NEAR(y[4][0], 3.2767, 5e-5);
}

TEST(pid_sampled, approaches_the_continuous_controller_with_first_order) {
    const settings set{
        {"kp", "2"},       {"ki", "3"},    {"kd", "0.4"},     {"filter-time", "0.1"}, {"setpoint-weight", "0.6"},
        {"lower", "-1.5"}, {"upper", "4"}, {"integral0", "1"}};
    const inputs_over_time u = [](int i, double t) { return i == 0 ? 1.0 + t : std::sin(4 * t); };
    const auto continuous = make("pid", set);
    const vec x = integrate(*continuous, initial(*continuous), 0, 1, 20000, u);
    const double exact = outputs(*continuous, x, inputs_at(*continuous, u, 1))[0];
    double last = 0;
    for (const int n : {200, 400, 800}) {
        const double T = 1.0 / n;
        const auto model = make_sampled("pid-sampled", T, set);
        const auto y = samples(*model, n + 1, [&](int k) { return vec{u(0, k * T), u(1, k * T)}; });
        const double error = std::abs(y.back()[0] - exact);
        if (last > 0) {
            EXPECT_NEAR(last / error, 2, 0.1);
        }
        last = error;
    }
    EXPECT_LT(last, 0.01);
}

TEST(pid_sampled, back_calculation_stops_the_windup) {
    // At the limit I_k^+ - I_end = (1 - T/Tt)(I_{k-1}^+ - I_end), the fixed point being v - upper = Tt ki e.
    const double T = 0.05, Tt = 0.5;
    const auto model = make_sampled("pid-sampled", T, {{"kp", "2"}, {"ki", "4"}, {"upper", "3"}});
    vec x{0, 0}, next(2), u{2, 0};
    const double end = 3 - 4 + (Tt - T) * 4 * 2;  // I before the sample, hence Tt - T
    for (int k = 1; k <= 40; ++k) {
        model->update(0, x.data(), u.data(), next.data());
        x = next;
        EXPECT_NEAR(x[0], end * (1 - std::pow(1 - T / Tt, k)), 1e-12) << k;
    }
    EXPECT_EQ(outputs(*model, x, u)[0], 3);
    vec y(1);
    model->initial_outputs(0, vec{5, 0}.data(), y.data());
    EXPECT_EQ(y[0], 3);
}

TEST(transfer_function, second_order_lag_answers_a_step_as_known) {
    // 1/(s^2/omega0^2 + 2 D s/omega0 + 1), D = 0.2, omega0 = 10: the overshoot is exp(-pi D/sqrt(1 - D^2)) = 52.66 %.
    const auto model = make("transfer-function", {{"num", "6"}, {"den", "[0.01, 0.04, 1]"}});
    const double peak = M_PI / (10 * std::sqrt(1 - 0.04));
    const vec x = integrate(*model, initial(*model), 0, peak, 2000, [](int, double) { return 1.0; });
    const vec y = outputs(*model, x, {1});
    EXPECT_NEAR(y[0] / 6, 1 + std::exp(-M_PI * 0.2 / std::sqrt(1 - 0.04)), 1e-9);
    EXPECT_NEAR(y[0] / 6, 1.5266, 5e-5);
    EXPECT_NEAR(y[1], 0, 1e-7);
}

TEST(transfer_function, lead_lag_answers_a_step_as_known) {
    // (2 s + 1)/(s/2 + 1): from 4 down to 1 with the time constant 0.5 s.
    const auto model = make("transfer-function", {{"num", "[2, 1]"}, {"den", "[0.5, 1]"}});
    EXPECT_EQ(model->describe().output_count(), 1);
    for (const double t : {0.0, 0.5, 2.0}) {
        const vec x =
            t == 0 ? initial(*model) : integrate(*model, initial(*model), 0, t, 2000, [](int, double) { return 1.0; });
        EXPECT_NEAR(outputs(*model, x, {1})[0], 1 + 3 * std::exp(-t / 0.5), 1e-10) << t;
    }
}

TEST(transfer_function, refuses_what_has_no_states) {
    EXPECT_THAT(
        [] {
            make("transfer-function", {{"num", "[1, 0]"}, {"den", "1"}});
        },
        testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("num has the degree 1 and den the degree 0")));
    EXPECT_THROW(make("transfer-function", {{"den", "0"}}), std::invalid_argument);
    EXPECT_THROW(make("transfer-function", {{"den", "[1, 1, 1]"}, {"x0", "[1, 2, 3]"}}), std::invalid_argument);
}

TEST(state_space, moves_like_the_transfer_function_of_its_matrices) {
    // C (sI - A)^-1 B of the first output: 1/(s^2 + 0.5 s + 4).
    const auto space = make("state-space", {{"n", "2"}, {"A", "[0,1, -4,-0.5]"}, {"B", "[0, 1]"}, {"C", "[1, 0]"}});
    const auto function = make("transfer-function", {{"den", "[1, 0.5, 4]"}});
    const inputs_over_time u = [](int, double t) { return std::cos(t); };
    const vec a = integrate(*space, initial(*space), 0, 3, 1000, u),
              b = integrate(*function, initial(*function), 0, 3, 1000, u);
    EXPECT_NEAR(outputs(*space, a, {0})[0], outputs(*function, b, {0})[0], 1e-14);
    EXPECT_NEAR(outputs(*space, a, {0})[1], outputs(*function, b, {0})[1], 1e-14);
}

TEST(state_space, explains_sizes) {
    EXPECT_THAT(
        [] {
            make("state-space", {{"n", "2"}, {"A", "[1, 2, 3]"}});
        },
        testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("A has 3 numbers; 2 rows of 2 are 4")));
    EXPECT_THROW(make("state-space", {{"n", "2"}, {"B", "[1]"}}), std::invalid_argument);
    EXPECT_THROW(make("state-space", {{"n", "2"}, {"x0", "[1, 2, 3]"}}), std::invalid_argument);
    EXPECT_THROW(make("state-space", {{"n", "1e6"}}), user_error);
}

TEST(saturation, keeps_between_its_limits) {
    const auto model = make("saturation", {{"lower", "-2"}, {"upper", "3"}});
    for (const auto& [u, y] : {std::pair{-5.0, -2.0}, {-2.0, -2.0}, {0.5, 0.5}, {3.0, 3.0}, {1e300, 3.0}})
        EXPECT_EQ(outputs(*model, {}, {u})[0], y);
    EXPECT_THROW(make("saturation", {{"lower", "3"}, {"upper", "3"}}), std::invalid_argument);
}

TEST(lookup_table, is_linear_between_its_points_and_constant_outside) {
    const auto model = make("lookup-table", {{"x", "[-1, 0, 4]"}, {"y", "[10, 20, 0]"}});
    for (const auto& [u, y] :
         {std::pair{-7.0, 10.0}, {-1.0, 10.0}, {-0.5, 15.0}, {0.0, 20.0}, {1.0, 15.0}, {4.0, 0.0}, {9.0, 0.0}})
        EXPECT_EQ(outputs(*model, {}, {u})[0], y) << u;
    EXPECT_TRUE(std::isnan(outputs(*model, {}, {std::nan("")})[0]));
    EXPECT_THROW(make("lookup-table", {{"x", "[1, 2]"}, {"y", "1"}}), std::invalid_argument);
    EXPECT_THROW(make("lookup-table", {{"x", "[1, 1]"}, {"y", "[1, 2]"}}), std::invalid_argument);
}

}  // namespace
}  // namespace mdpcosim
