// Advice as a user asks for it: on shipped examples, on FMUs that offer nothing but steps, in the output of check and run.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "process.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim::test {
namespace {

using testing::HasSubstr;
using testing::Not;

nlohmann::json advise(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {MDPCOSIM_PROGRAM, "advise"});
    arguments.insert(arguments.end(), {"--json", "--quiet"});
    const auto outcome = process(arguments, {}).wait();
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
}

nlohmann::json choice(const nlohmann::json& found, const std::string& method, const std::string& extrapolation) {
    for (const auto& one : found["choices"])
        if (one["method"] == method && one["extrapolation"] == extrapolation) return one;
    ADD_FAILURE() << method << " " << extrapolation << " is not there";
    return {};
}

const std::string two_mass = MDPCOSIM_SOURCE_DIR "/examples/two-mass/scenario.yaml";

/// omega_A = 10/s, F = 10: the limits that `stability` has for this system (docs/methods/stability.md).
TEST(advise_command, limits_of_the_example_are_those_of_the_spectral_radius) {
    const auto found = advise({two_mass});
    for (const auto& [rule, exact] : {std::pair("lin-2-3-opt", 0.41326), std::pair("const-2-3-opt", 0.34469),
                                      std::pair("quad-2-4", 0.26926), std::pair("poly-3", 0.21288)})
        EXPECT_NEAR(choice(found, "explicit", rule)["largest_stable_step"].get<double>(), exact / 10,
                    0.005 * exact / 10)
            << rule;
    const auto& best = found["choices"][found["recommended"].get<std::size_t>()];
    EXPECT_TRUE(best["confirmed"]["stable"].get<bool>());
    EXPECT_LT(best["confirmed"]["measured_error"].get<double>(),
              3 * best["confirmed"]["predicted_error"].get<double>());
}

/// Without saved states, derivatives or equations, and with constant inputs as co-simulation FMUs without input derivatives take them: fresh instances give what the equations of the same masses give.
TEST(advise_command, plain_fmus_have_the_limits_of_their_equations) {
    const temporary_folder folder;
    const auto write = [&](const std::string& name, const std::string& a, const std::string& b) {
        std::ofstream(folder.path() / name)
            << "time: {end: 5 s, step: 5 ms}\nsubsystems:\n  a: " << a << "\n  b: " << b
            << "\nconnections:\n  c: {law: spring, between: [a.mass, b.mass], stiffness: 900}\n";
        return (folder.path() / name).string();
    };
    const auto fmu = [](double m, double c, double d, double x) {
        return fmt::format(
            "{{fmu: {}/fmus/plain-oscillator-2.fmu, set: {{m: {}, c: {}, d: {}, x0: {}, v0: 0}}, ports: {{mass: "
            "{{kind: translation, position: position, "
            "velocity: velocity, force: force}}}}}}",
            MDPCOSIM_BINARY_DIR, m, c, d, x);
    };
    const auto model = [](double m, double c, double d, double x) {
        return fmt::format(
            "{{model: mass-spring-damper, set: {{mass: {}, stiffness: {}, damping: {}, x0: {}}}, input-degree: 0}}", m,
            c, d, x);
    };
    const auto fmus = advise({write("fmus.yaml", fmu(1, 50, 0.1, 0.1), fmu(3, 20, 0, 0)), "--no-confirm"});
    const auto models = advise({write("models.yaml", model(1, 50, 0.1, 0.1), model(3, 20, 0, 0)), "--no-confirm"});
    for (const auto& one : fmus["subsystems"]) EXPECT_EQ(one["way"], "trials") << one;
    EXPECT_LE(fmus["advances"].get<int>(), 1000);
    for (const char* rule : {"poly-1", "const-2-3-opt", "lin-3-3-b0", "poly-3"}) {
        const auto a = choice(fmus, "explicit", rule), b = choice(models, "explicit", rule);
        ASSERT_EQ(a["outcome"], b["outcome"]) << rule;
        EXPECT_NEAR(a["largest_stable_step"].get<double>() / b["largest_stable_step"].get<double>(), 1, 0.03) << rule;
    }
    EXPECT_EQ(choice(fmus, "semi-implicit", "")["outcome"], "refused");
    EXPECT_THAT(choice(fmus, "semi-implicit", "")["why"], HasSubstr("repeats every macro step"));
}

TEST(advise_command, check_and_run_say_where_the_step_stands) {
    const auto check = [](const std::string& step) {
        return process({MDPCOSIM_PROGRAM, "check", two_mass, "--step", step}, {}).wait();
    };
    const auto below = check("1 ms"), above = check("60 ms");
    EXPECT_EQ(below.exit_status, 0) << below.err;
    EXPECT_THAT(below.out, HasSubstr("macro step 0.001 s, method explicit: stable to 0.041"));
    EXPECT_EQ(above.exit_status, 0) << above.err;
    EXPECT_THAT(above.out, HasSubstr("macro step 0.06 s, method explicit: ABOVE the limit of 0.041"));
    const temporary_folder folder;
    const auto run = process({MDPCOSIM_PROGRAM, "run", two_mass, "--step", "60 ms", "--end", "20 s", "--out",
                              (folder.path() / "out").string()},
                             {})
                         .wait();
    EXPECT_NE(run.exit_status, 0);
    EXPECT_THAT(run.err, HasSubstr("ABOVE the limit of 0.041"));
    EXPECT_THAT(run.err, HasSubstr("mdpcosim advise "));
}

TEST(advise_command, writes_what_it_recommends) {
    const temporary_folder folder;
    const std::filesystem::path file = folder.path() / "mine.yaml";
    std::filesystem::copy_file(two_mass, file);
    const auto outcome =
        process({MDPCOSIM_PROGRAM, "advise", file.string(), "--write", file.string(), "--quiet"}, {}).wait();
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("written to"));
    const auto check = process({MDPCOSIM_PROGRAM, "check", file.string()}, {}).wait();
    EXPECT_EQ(check.exit_status, 0) << check.err;
    EXPECT_THAT(check.out, Not(HasSubstr("ABOVE")));
    const auto elsewhere = process({MDPCOSIM_PROGRAM, "advise", two_mass, "--write", file.string()}, {}).wait();
    EXPECT_EQ(elsewhere.exit_status, 2);
    EXPECT_THAT(elsewhere.err, HasSubstr("write it into the scenario's folder"));
}

TEST(advise_command, refuses_joints_with_the_way_that_is_left) {
    const auto outcome =
        process({MDPCOSIM_PROGRAM, "advise", MDPCOSIM_SOURCE_DIR "/examples/double-pendulum/scenario.yaml"}, {}).wait();
    EXPECT_EQ(outcome.exit_status, 2);
    EXPECT_THAT(outcome.err, HasSubstr("advice is not found for joints"));
    EXPECT_THAT(outcome.err, HasSubstr("bench largest-step"));
}

/// A small sample of `bench advise`; its goals on many systems stand in docs/advise.md.
TEST(advise_command, agrees_with_runs_of_generated_systems) {
    const auto outcome = process({MDPCOSIM_PROGRAM, "bench", "advise", "--systems", "3", "--seed", "3", "--kind",
                                  "inner-modes", "heat", "controllers", "--json"},
                                 {})
                             .wait();
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    int compared = 0, within = 0;
    for (const auto& r : nlohmann::json::parse(outcome.out)) {
        const double truth = r["by_runs"].get<double>();
        if (r["failure"] != "" || !(truth > 0) || r["unbounded"].get<bool>() || r["by_runs_unbounded"].get<bool>())
            continue;
        ++compared;
        EXPECT_LT(r["confirmed"].get<double>(), 1.1 * truth) << r;
        within += std::abs(r["predicted"].get<double>() / truth - 1) <= 0.05 ? 1 : 0;
    }
    EXPECT_GE(compared, 4);
    EXPECT_GE(within, compared - 2);
}

}  // namespace
}  // namespace mdpcosim::test
