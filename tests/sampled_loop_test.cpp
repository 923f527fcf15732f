// Sampled subsystems in scenarios: closed loops against their difference equations, signals, algebraic loops, mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/mdpcosim.hpp"
#include "coupled_run.hpp"

namespace mdpcosim {
namespace {

using test::coupled_run;
using testing::HasSubstr;

/// T y' + y = k u under sampled proportional control; everything in one line per part, so that tests can replace them.
std::string loop_text(const std::string& sample, const std::string& controller = "kp: 4") {
    return "time: {end: 2 s, step: 1 ms}\n"
           "subsystems:\n"
           "  controller: {model: pid-sampled, set: {" +
           controller + "}, sample: " + sample +
           "}\n"
           "  plant: {model: lag-1, set: {time-constant: 0.5 s, gain: 2, y0: 0.3}, solver: {name: rk4, step: 1 ms}}\n"
           "signals:\n"
           "  - 1.5 -> controller.setpoint\n"
           "  - plant.y -> controller.measurement\n"
           "  - controller.y -> plant.u\n";
}

scenario parse(const std::string& text) { return read_scenario_text(text, "loop.yaml"); }

std::string message_of(const std::string& text) {
    try {
        check(parse(text));
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

/// y(t_{k+1}) = a y(t_k) + (1 - a) k v with v = kp (r - y) of the sample `delay` steps ago; a = exp(-H/T), exact for held v.
void expect_difference_equation(int period, int offset, int delay) {
    const double T = 0.5, k = 2, kp = 4, r = 1.5, H = 1e-3, a = std::exp(-H / T);
    coupled_run run(parse(loop_text("{time: " + std::to_string(period) + " ms, offset: " + std::to_string(offset) +
                                    " ms, delay: " + std::to_string(delay) + " ms}")));
    const auto y_slot = run.watch("plant.y"), v_slot = run.watch("controller.y");
    const auto rows = run.rows();
    std::vector<double> y{0.3}, sampled(rows.size() + 1, 0.0);
    double v = 0;
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const int at = static_cast<int>(n);
        sampled[n] = kp * (r - y[n]);
        if (const int from = at - delay; from >= offset && (from - offset) % period == 0)
            v = sampled[static_cast<std::size_t>(from)];
        ASSERT_NEAR(rows[n][y_slot], y[n], 1e-12) << n;
        ASSERT_NEAR(rows[n][v_slot], v, 1e-11) << n;
        y.push_back(a * y[n] + (1 - a) * k * v);
    }
}

TEST(sampled_loop, first_order_plant_follows_the_difference_equation) {
    expect_difference_equation(20, 0, 0);
    expect_difference_equation(1, 0, 0);
    expect_difference_equation(20, 7, 0);
}

TEST(sampled_loop, the_same_with_delay) {
    expect_difference_equation(20, 0, 6);
    expect_difference_equation(20, 3, 20);
    expect_difference_equation(10, 0, 35);
}

TEST(sampled_loop, at_the_sample_times_equals_the_closed_form) {
    // y_{k+1} - y_inf = q (y_k - y_inf), q = a - (1 - a) k kp, y_inf = k kp r/(1 + k kp), over a whole period.
    const double a = std::exp(-0.02 / 0.5), q = a - (1 - a) * 8, y_inf = 8 * 1.5 / 9;
    coupled_run run(parse(loop_text("20 ms")));
    run.watch("plant.y");
    const auto rows = run.rows();
    for (std::size_t k = 0; 20 * k < rows.size(); ++k)
        EXPECT_NEAR(rows[20 * k][0], y_inf + std::pow(q, static_cast<double>(k)) * (0.3 - y_inf), 1e-12) << k;
    EXPECT_NEAR(q, 0.647, 5e-4);
}

TEST(sampled_loop, workers_do_not_matter) {
    const scenario s = parse(loop_text("{time: 20 ms, delay: 3 ms}", "kp: 4, ki: 3, kd: 0.02, lower: -2, upper: 2"));
    const auto rows_with = [&](int workers) {
        coupled_run run(s, workers);
        run.watch("plant.y");
        run.watch("controller.y");
        return run.rows();
    };
    const auto one = rows_with(1);
    EXPECT_EQ(one, rows_with(2));
    EXPECT_EQ(one, rows_with(3));
}

TEST(sampled_loop, an_output_that_nobody_takes_is_shown_with_the_inputs_of_its_time) {
    std::string text = loop_text("20 ms");
    text.erase(text.find("  - controller.y"));
    text += "  - 5 -> plant.u\n";
    coupled_run run(parse(text));
    run.watch("plant.y");
    run.watch("controller.y");
    const auto rows = run.rows();
    for (std::size_t n = 0; n < rows.size(); ++n) EXPECT_EQ(rows[n][1], 4 * (1.5 - rows[n - n % 20][0])) << n;
}

TEST(sampled_loop, last_shorter_step_holds) {
    std::string text = loop_text("20 ms");
    text.replace(text.find("end: 2 s"), 8, "end: 100.4 ms");
    coupled_run run(parse(text));
    run.watch("plant.y");
    run.watch("controller.y");
    const auto rows = run.rows();
    ASSERT_EQ(rows.size(), 102u);
    EXPECT_EQ(rows[101][1], rows[100][1]);
    EXPECT_EQ(rows[100][1], 4 * (1.5 - rows[100][0]));
}

TEST(sampled_loop, signals_of_sampled_subsystems_are_held) {
    const std::string report = check(parse(loop_text("{time: 20 ms, offset: 4 ms, delay: 6 ms}")));
    EXPECT_THAT(report, HasSubstr("every 0.02 s, first at start + 0.004 s, outputs 0.006 s later"));
    EXPECT_THAT(report, HasSubstr("extrapolation poly-1 (default, because the input is sampled)"));
    EXPECT_THAT(report, HasSubstr("extrapolation poly-1 (default, because 'controller.y' is held between samples)"));
    EXPECT_THAT(
        message_of(loop_text("20 ms") + "  - {connect: plant.y -> controller.measurement, extrapolation: poly-2}\n"),
        HasSubstr("driven already"));
    std::string other = loop_text("20 ms");
    other.replace(other.find("plant.y -> controller.measurement"), 33,
                  "{connect: plant.y -> controller.measurement, extrapolation: poly-2}");
    EXPECT_THAT(message_of(other), HasSubstr("Leave 'extrapolation' out instead of 'poly-2'"));
}

TEST(sampled_loop, resolved_scenario_gives_the_same_run) {
    const scenario s = parse(loop_text("{time: 20 ms, delay: 3 ms}", "kp: 4, ki: 3, lower: -2"));
    coupled_run first(s);
    const std::string text = write_scenario(first.all.resolved());
    EXPECT_THAT(text, HasSubstr("sample: {time: 0.02 s, offset: 0 s, delay: 0.003 s}"));
    EXPECT_THAT(text, testing::Not(HasSubstr("inf")));
    coupled_run second(parse(text));
    for (auto* run : {&first, &second}) {
        run->watch("plant.y");
        run->watch("controller.y");
    }
    EXPECT_EQ(first.rows(), second.rows());
}

TEST(sampled_loop, command_line_reaches_the_sample_time) {
    for (const char* sample : {"20 ms", "{time: 20 ms}"}) {
        const scenario s = read_scenario_text(
            loop_text(sample), "loop.yaml", {},
            {{"controller.sample.time", "40 ms", "--set"}, {"controller.sample.delay", "2 ms", "--set"}});
        EXPECT_EQ(s.subsystems[0].sample->time, 0.04);
        EXPECT_EQ(s.subsystems[0].sample->delay, 0.002);
    }
}

// ---------------------------------------------------------------------------------------------------------------------

std::string algebraic_loop(const std::string& sample, const std::string& controller) {
    return "time: {end: 1, step: 0.1}\n"
           "subsystems:\n"
           "  controller: {model: pid-sampled, set: {" +
           controller + "}, sample: " + sample +
           "}\n"
           "  plant: {model: saturation}\n"
           "signals:\n"
           "  - plant.y -> controller.measurement\n"
           "  - controller.y -> plant.u\n";
}

TEST(sampled_loop, algebraic_loops_are_found) {
    EXPECT_THAT(message_of(algebraic_loop("0.2", "kp: 4")), HasSubstr("algebraic loop"));
    EXPECT_THAT(message_of(algebraic_loop("0.2", "kp: 0, ki: 1")),
                HasSubstr("controller.y"));  // backward Euler: direct
    EXPECT_EQ(message_of(algebraic_loop("{time: 0.2, delay: 0.1}", "kp: 4")), "accepted");
    EXPECT_EQ(message_of(algebraic_loop("0.2", "kp: 0")), "accepted");  // no gain, no path
    EXPECT_EQ(message_of(loop_text("20 ms")), "accepted");              // a plant with states
    std::string continuous = algebraic_loop("0.2", "kp: 1");
    continuous.replace(continuous.find("pid-sampled"), 11, "pid");
    continuous.erase(continuous.find(", sample: 0.2"), 13);
    EXPECT_THAT(message_of(continuous), HasSubstr("algebraic loop"));
    continuous.replace(continuous.find("kp: 1"), 5, "kp: 0, ki: 1");
    EXPECT_EQ(message_of(continuous), "accepted");  // the continuous integrator is a state
}

TEST(sampled_loop, mistakes_are_explained) {
    EXPECT_THAT(message_of(loop_text("10.4 ms")), HasSubstr("loop.yaml:3:58: subsystem 'controller': sample time of "
                                                            "0.0104 s is no whole multiple of the macro step 0.001 s. "
                                                            "The nearest allowed: 0.01 s and 0.011 s."));
    EXPECT_THAT(message_of(loop_text("0.2 ms")), HasSubstr("The nearest allowed: 0.001 s."));
    EXPECT_THAT(message_of(loop_text("{time: 10 ms, offset: 0.5 ms}")), HasSubstr("sample offset of 0.0005 s"));
    EXPECT_THAT(message_of(loop_text("{time: 10 ms, delay: 2.5 ms}")), HasSubstr("0.002 s and 0.003 s"));
    EXPECT_THAT(message_of(loop_text("{time: 1 ms, delay: 1.5 s}")), HasSubstr("longer than 1000 sample times"));
    EXPECT_THAT(message_of(loop_text("{time: 0 ms}")), HasSubstr("greater than zero"));
    EXPECT_THAT(message_of(loop_text("{time: 1 ms, delay: -1 ms}")), HasSubstr("zero or greater"));
    EXPECT_THAT(message_of(loop_text("{offset: 1 ms}")), HasSubstr("'time' is missing"));
    EXPECT_THAT(message_of(loop_text("{time: 1 ms, shift: 1 ms}")), HasSubstr("shift"));
    EXPECT_THAT(message_of(loop_text("{time: 1 kg}")), HasSubstr("kg"));

    std::string text = loop_text("20 ms");
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string changed = text;
        changed.replace(changed.find(from), from.size(), to);
        return message_of(changed);
    };
    EXPECT_THAT(with(", sample: 20 ms", ""),
                HasSubstr("model 'pid-sampled' is sampled and needs its sample time. Add for example "
                          "'sample: {time: 10 ms}'"));
    EXPECT_THAT(with("pid-sampled", "pid"), HasSubstr("model 'pid' is continuous and has no sample times. Leave "
                                                      "'sample' out, or take a sampled model: pid-sampled."));
    EXPECT_THAT(with(", sample: 20 ms", ", sample: 20 ms, solver: rk4"), HasSubstr("Leave 'solver' out"));
    EXPECT_THAT(with(", sample: 20 ms", ", sample: 20 ms, input-degree: 0"), HasSubstr("Leave 'input-degree' out"));
    EXPECT_THAT(with("plant: {model: lag-1,", "plant: {sample: 1 ms, ode: {},"), HasSubstr("an 'ode' is continuous"));
    EXPECT_THAT(with("kp: 4", "kp: 0, ki: 1, lower: 0"), HasSubstr("need 'tracking-time'"));
    EXPECT_THAT(with("kp: 4", "lower: 1, upper: 1"), HasSubstr("lower (1) must be less than upper (1)"));
}

}  // namespace
}  // namespace mdpcosim
