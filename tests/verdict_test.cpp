// The verdict on a run against the truth: known findings, and generated systems whose error is known from a reference.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "api/mdpcosim.hpp"
#include "process.hpp"
#include "results/compare.hpp"
#include "results/result_table.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using test::process;
using test::temporary_folder;
using testing::HasSubstr;

struct judged_run {
    std::string status, message;
    trust level = trust::good;
    std::string text;
};

judged_run judge_text(const std::string& text, const std::filesystem::path& out) {
    const run_summary s = run(read_scenario_text(text, "v.yaml"), {out, 1});
    return {s.status, s.message, s.judged ? s.judged->level : trust::good, s.judged ? to_text(*s.judged) : ""};
}

judged_run judge_text(const std::string& text) {
    const temporary_folder folder;
    return judge_text(text, folder / "out");
}

bool is_green(const judged_run& r) { return r.status == "done" && r.level != trust::wrong; }

std::string quarter(const std::string& step, const std::string& more = {}) {
    return fmt::format(
        "time: {{end: 1 s, step: {}}}\n{}subsystems:\n"
        "  wheel: {{model: mass-spring-damper, set: {{mass: 40 kg, stiffness: 200 kN/m}}}}\n"
        "  body: {{model: mass-spring-damper, set: {{mass: 400 kg, x0: 20 mm}}}}\nconnections:\n"
        "  strut: {{law: spring-damper, between: [wheel.mass, body.mass], stiffness: 20 kN/m, damping: 1500 N.s/m}}\n",
        step, more);
}

TEST(verdict, a_diverged_strut_is_never_green) {
    for (const char* step : {"14 ms", "16 ms", "18 ms", "20 ms", "25 ms", "40 ms", "50 ms"})
        EXPECT_FALSE(is_green(judge_text(quarter(step)))) << step;
    for (const char* step : {"0.5 ms", "1 ms"})
        EXPECT_EQ(judge_text(quarter(step)).level, trust::good) << judge_text(quarter(step)).text;
}

/// The same strut in the hands of the body's model, which tells its force as a signal.
std::string quarter_by_signals(const std::string& step) {
    return fmt::format(
        "time: {{end: 1 s, step: {}}}\nsubsystems:\n"
        "  wheel: {{ode: {{states: {{x: 0, v: 0}}, inputs: {{F: 0}}, equations: {{x: v, v: (F - 2e5*x)/40}}}}}}\n"
        "  body: {{ode: {{states: {{x: 0.02, v: 0}}, inputs: {{xw: 0, vw: 0}}, outputs: {{F: 2e4*(x - xw) + 1500*(v - "
        "vw)}}, "
        "equations: {{x: v, v: -(2e4*(x - xw) + 1500*(v - vw))/400}}}}}}\n"
        "signals: [body.F -> wheel.F, wheel.x -> body.xw, wheel.v -> body.vw]\n",
        step);
}

TEST(verdict, signals_are_judged_too) {
    for (const char* step : {"20 ms", "30 ms", "50 ms"}) {
        const judged_run r = judge_text(quarter_by_signals(step));
        EXPECT_FALSE(is_green(r)) << step;
        if (r.status == "done") {
            EXPECT_THAT(r.text, HasSubstr("signal to '")) << step;
        }
    }
    const judged_run fine = judge_text(quarter_by_signals("0.1 ms"));
    EXPECT_EQ(fine.level, trust::good) << fine.text;
}

/// What nothing comes back from is late by a step at its edges, which neither adds up nor diverges: 11 % is the truth here.
TEST(verdict, square_waves_of_sources_are_neither_stopped_nor_wrong) {
    const auto driven = [](const char* step) {
        return fmt::format(
            "time: {{end: 5 s, step: {}}}\nsubsystems:\n"
            "  s: {{model: source, set: {{kind: pulse, amplitude: 100, duration: 20 ms, period: 50 ms}}}}\n"
            "  a: {{model: lag-1, set: {{time-constant: 10 ms}}}}\nsignals: [s.y -> a.u]\n",
            step);
    };
    const judged_run coarse = judge_text(driven("1 ms")), fine = judge_text(driven("0.01 ms"));
    EXPECT_EQ(coarse.status, "done") << coarse.message;
    EXPECT_EQ(coarse.level, trust::doubtful) << coarse.text;
    EXPECT_NE(fine.level, trust::wrong) << fine.text;
    EXPECT_EQ(judge_text(driven("12.5 ms")).status, "done");
}

TEST(verdict, statuses_of_the_program) {
    const temporary_folder folder;
    const auto status = [&](const std::string& text, const std::vector<std::string>& more) {
        test::write_file(folder / "s.yaml", text);
        std::vector<std::string> words{MDPCOSIM_PROGRAM, "run", (folder / "s.yaml").string(), "--out",
                                       (folder / "out").string()};
        words.insert(words.end(), more.begin(), more.end());
        return process(words, {}).wait();
    };
    const auto good = status(quarter("1 ms"), {});
    EXPECT_EQ(good.exit_status, 0);
    EXPECT_THAT(good.out, testing::EndsWith("verdict: good\n"));
    const auto doubtful = status(quarter("4 ms"), {});
    EXPECT_EQ(doubtful.exit_status, 0) << doubtful.out;
    EXPECT_THAT(doubtful.out, HasSubstr("verdict: doubtful\n  doubtful: connection 'strut': "));
    EXPECT_EQ(status(quarter("4 ms"), {"--strict"}).exit_status, 3);
    const auto wrong = status(quarter("12 ms"), {"--quiet"});
    EXPECT_EQ(wrong.exit_status, 3) << wrong.err;
    EXPECT_THAT(wrong.err, HasSubstr("verdict: wrong\n"));
    EXPECT_THAT(test::content(folder / "out/summary.json"), HasSubstr("\"level\": \"wrong\""));
}

/// A chain of oscillators with random masses, stiffnesses, laws, methods, numbers of steps and steps from tiny to unstable.
struct generated {
    std::string text, about;
};

generated generate(unsigned seed) {
    std::mt19937 random(seed);
    const auto uniform = [&](double a, double b) { return std::uniform_real_distribution(a, b)(random); };
    const auto power = [&](double a, double b) { return std::pow(10, uniform(a, b)); };
    const auto pick = [&](auto... choices) {
        const std::common_type_t<decltype(choices)...> list[]{choices...};
        return list[random() % sizeof...(choices)];
    };
    const int n = pick(2, 2, 3, 5);
    const std::string law = pick("spring", "spring", "spring-damper", "stop", "signals", "grows", "forced");
    std::string method = pick("explicit", "explicit", "one-pass", "semi-implicit", "iterated");
    if (law == "signals" && method != "iterated") method = "explicit";
    std::vector<double> m, c, k;
    for (int i = 0; i < n; ++i) {
        m.push_back(power(-0.5, 1));
        c.push_back(i == 0 || uniform(0, 1) < 0.6 ? power(1, 3) : 0);
        k.push_back(i + 1 < n ? power(1, 4) : 0);
    }
    const double zeta = pick(0.0, 0.0, 0.02, 0.1);
    double omega = 0;
    for (std::size_t i = 0; i < m.size(); ++i)
        omega = std::max(omega, 1.2 * std::sqrt((c[i] + k[i] + (i > 0 ? k[i - 1] : 0)) / m[i]));
    std::string subsystems, connections, signals;
    for (std::size_t i = 0; i < m.size(); ++i) {
        double d = 2 * zeta * std::sqrt(c[i] * m[i]);
        if (law == "grows" && i == 0) d = -0.3 * std::sqrt(c[i] * m[i]);
        const bool forced = law == "forced";
        const std::string load = forced && i == 0 ? fmt::format(" + 3*sin({}*t)", omega * uniform(0.05, 0.4)) : "";
        const double x = forced ? 0 : uniform(-0.1, 0.1), v = forced ? 0 : uniform(-1, 1);
        const std::string own = fmt::format("states: {{x: {}, v: {}}}, ", x, v);
        if (law == "signals") {
            const std::string left = i > 0 ? fmt::format("{}*(x - xl)", k[i - 1]) : "0";
            subsystems += fmt::format(
                "  s{}: {{ode: {{{}inputs: {{{}fr: 0}}, outputs: {{fl: {}}}, equations: {{x: v, v: (fr - {}*x - {}*v - "
                "{})/{}}}}}}}\n",
                i, own, i > 0 ? "xl: 0, " : "", left, c[i], d, left, m[i]);
            if (i > 0) signals += fmt::format("  - s{0}.x -> s{1}.xl\n  - s{1}.fl -> s{0}.fr\n", i - 1, i);
            continue;
        }
        subsystems += fmt::format(
            "  s{}: {{ode: {{{}inputs: {{F: 0}}, equations: {{x: v, v: (F - {}*x - {}*v)/{}{}}}}}, "
            "ports: {{p: {{kind: translation, position: x, velocity: v, force: F}}}}}}\n",
            i, own, c[i], d, m[i], load);
        if (i == 0) continue;
        std::string rest;
        if (law == "spring-damper")
            rest = fmt::format(", damping: {}", 0.2 * std::sqrt(k[i - 1] * std::min(m[i], m[i - 1])));
        if (law == "stop") rest = ", upper: 0.02, lower: -0.02";
        connections += fmt::format("  c{0}: {{law: {1}, between: [s{2}.p, s{0}.p], stiffness: {3}{4}}}\n", i,
                                   law == "stop" || law == "spring-damper" ? law : "spring", i - 1, k[i - 1], rest);
    }
    const double H = power(-2.2, 0.3) / omega;
    const int steps = pick(20, 60, 200, 1000);
    std::string text = fmt::format(
        "time: {{end: {} s, step: {} s}}\nmethod: {}\nreference: {{solver: {{name: erk-5, rtol: 1e-10, atol: "
        "1e-13}}}}\nsubsystems:\n{}",
        steps * H, H, method, subsystems);
    if (!connections.empty()) text += "connections:\n" + connections;
    if (!signals.empty()) text += "signals:\n" + signals;
    return {text,
            fmt::format("seed {}: {} x {}, {}, {} steps, omega H = {:.2f}", seed, n, law, method, steps, omega * H)};
}

/// The largest error of a variable, of its range; infinite where the run did not reach its end.
double true_error(const generated& g, const judged_run& r, const std::filesystem::path& folder) {
    if (r.status != "done") return std::numeric_limits<double>::infinity();
    run(read_scenario_text(g.text, "v.yaml"), {.out = folder / "reference", .workers = 1, .monolithic = true});
    const auto all = [](std::string_view) { return true; };
    const comparison c = compare_tables(read_results(folder / "out", all), read_results(folder / "reference", all));
    double worst = 0;
    for (const auto& e : c.errors)
        if (e.name.find("acceleration") == std::string::npos && e.range > 1e-12)
            worst = std::max(worst, e.max_error / e.range);
    return std::isfinite(worst) ? worst : std::numeric_limits<double>::infinity();
}

/// Thresholds and figures were drawn from other systems (docs/trust.md).
TEST(verdict, is_right_on_generated_systems) {
    int small = 0, small_good = 0, small_wrong = 0, large = 0, large_wrong = 0, deceived = 0;
    for (unsigned seed = 500; seed < 620; ++seed) {
        const temporary_folder folder;
        const generated g = generate(seed);
        const judged_run r = judge_text(g.text, folder / "out");
        const double error = true_error(g, r, folder.path());
        const bool good = r.status == "done" && r.level == trust::good,
                   wrong = r.status != "done" || r.level == trust::wrong;
        if (good && error > 0.05) {
            ++deceived;
            fmt::print("good, but off by {:.2g}: {}\n", error, g.about);
        }
        if (error < 0.01) {
            ++small;
            small_good += good ? 1 : 0;
            small_wrong += wrong ? 1 : 0;
        }
        if (error > 0.5) {
            ++large;
            large_wrong += wrong ? 1 : 0;
        }
    }
    fmt::print("below 1 %: {} of {} good, {} wrong; above 50 %: {} of {} wrong; good above 5 %: {}\n", small_good,
               small, small_wrong, large_wrong, large, deceived);
    EXPECT_GE(small, 40);
    EXPECT_GE(large, 10);
    EXPECT_EQ(deceived, 0);
    EXPECT_LE(small_wrong, small / 100);
    EXPECT_GE(small_good, 0.9 * small);
    EXPECT_GE(large_wrong, 0.95 * large);
}

}  // namespace
}  // namespace mdpcosim
