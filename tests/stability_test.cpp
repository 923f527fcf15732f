// `mdpcosim stability` as a user meets it.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "bad_input.hpp"
#include "core/json.hpp"
#include "process.hpp"
#include "scenario/read.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using test::process;
using testing::HasSubstr;

process::outcome stability(std::vector<std::string> words, bool terminal = false) {
    words.insert(words.begin(), {MDPCOSIM_PROGRAM, "stability"});
    return process(words, {.terminal = terminal, .file_size = {}}).wait();
}

json stability_json(std::vector<std::string> words) {
    words.push_back("--json");
    const auto done = stability(std::move(words));
    EXPECT_EQ(done.exit_status, 0) << done.err;
    return json::parse(done.out);
}

std::string text_of(const std::filesystem::path& file) {
    std::ostringstream all;
    all << std::ifstream(file).rdbuf();
    return all.str();
}

TEST(stability_command, one_limit) {
    const json found = stability_json({"--extrapolation", "lin-2-3-opt-2011", "--F", "100"});
    EXPECT_NEAR(found["omega_max"].get<double>(), 0.13335, 1e-5);
    EXPECT_LE(found["rho_max_below"].get<double>(), 1 + 1e-6);
    EXPECT_EQ(found["order"], 3);
    EXPECT_EQ(found["system"]["method"], "explicit");
    EXPECT_EQ(found["results"].size(), 1u);
}

TEST(stability_command, several_extrapolations_and_F) {
    const json found = stability_json({"--extrapolation", "const-2-4", "lin-3-3-b0", "--F", "10^1/2", "100"});
    ASSERT_EQ(found["results"].size(), 4u);
    EXPECT_EQ(found["results"][0]["extrapolation"], "const-2-4");
    EXPECT_NEAR(found["results"][0]["omega_max"].get<double>(), 0.6064, 1e-4);
    EXPECT_NEAR(found["results"][3]["omega_max"].get<double>(), 0.0690, 1e-4);
    const auto shown = stability({"--extrapolation", "const-2-4", "lin-3-3-b0", "--F", "10^1/2", "100"});
    EXPECT_THAT(shown.out, testing::ContainsRegex("const-2-4 +2 +0.60644 +0.10949\n"));
}

TEST(stability_command, own_coefficients_and_constant_inputs) {
    const json own = stability_json(
        {"--extrapolation", "{degree: 0, a: [0.6666666667, 0.3333333333], b: [0.8333333333, 0]}", "--F", "100"});
    EXPECT_NEAR(own["omega_max"].get<double>(), 0.10949, 1e-5);
    const json mean = stability_json({"--extrapolation", "lin-2-4", "--F", "100", "--input-degree", "0"});
    EXPECT_NEAR(mean["omega_max"].get<double>(), 0.10949, 1e-5);
    EXPECT_EQ(mean["order"], 2);
}

TEST(stability_command, other_systems) {
    const double equal = stability_json({"--extrapolation", "lin-3-3-b0", "--F", "10"})["omega_max"].get<double>();
    const double unequal = stability_json({"--extrapolation", "lin-3-3-b0", "--F", "10", "--V", "2",
                                           "--frequency-ratio", "1.5"})["omega_max"]
                               .get<double>();
    EXPECT_GT(std::abs(equal - unequal), 1e-3);
    const json by_mass = stability_json(
        {"--extrapolation", "lin-3-3-b0", "--F", "10", "--V", "2", "--mass-ratio", "0.8888888888888888"});
    EXPECT_NEAR(by_mass["omega_max"].get<double>(), unequal, 1e-9);
    const double damped =
        stability_json({"--extrapolation", "poly-1", "--F", "10", "--damping", "0.1"})["omega_max"].get<double>();
    EXPECT_GT(damped, 0.001);  // damping gives even this one a limit
    const json displacement = stability_json({"--extrapolation", "poly-1", "--F", "10", "--variant",
                                              "displacement-displacement", "--coupling-damping", "0.3"});
    EXPECT_EQ(displacement["system"]["variant"], "displacement-displacement");
}

TEST(stability_command, no_limit_is_said_with_the_reason) {
    const json found = stability_json({"--extrapolation", "poly-1", "--F", "100"});
    EXPECT_TRUE(found["omega_max"].is_null());
    EXPECT_THAT(found["reason"].get<std::string>(), HasSubstr("no meaningful limit: rho - 1 grows like (omega H)^2.0"));
    EXPECT_GT(found["crossings"]["1e-5"].get<double>(), found["crossings"]["1e-7"].get<double>());
    const auto shown = stability({"--extrapolation", "poly-1", "--F", "100"});
    EXPECT_THAT(shown.out, HasSubstr("poly-1, F = 100: no meaningful limit"));
}

TEST(stability_command, published_tables) {
    const test::temporary_folder folder;
    for (const char* number : {"2.4", "2.5", "2.6", "2.7", "2.8"}) {
        const auto svg = folder.path() / (std::string(number) + ".svg");
        const json found = stability_json({"--table", number, "--svg", svg.string()});
        for (const auto& row : found["results"])
            EXPECT_NEAR(row["omega_max"].get<double>(), row["printed"].get<double>(), 0.009) << number;
        EXPECT_THAT(text_of(svg),
                    testing::AllOf(HasSubstr("<svg"), HasSubstr("Table " + std::string(number)), HasSubstr("L = 2")));
    }
}

TEST(stability_command, published_figure) {
    const test::temporary_folder folder;
    const auto svg = folder.path() / "f.svg";
    const json found = stability_json({"--figure", "2.13", "--points", "4", "--svg", svg.string()});
    std::map<std::string, int> points;
    for (const auto& row : found["results"]) {
        EXPECT_TRUE(row["omega_max"].is_number());
        ++points[row["extrapolation"].get<std::string>()];
    }
    for (const auto& [name, count] : points) EXPECT_EQ(count, 4) << name;
    for (const char* name : {"const-2-3-opt", "lin-2-3-opt", "const-2-2-opt", "lin-2-2-opt", "const-2-4", "lin-3-3-b0",
                             "poly-3", "hermite-2"}) {
        EXPECT_EQ(points.count(name), 1u) << name;
        EXPECT_THAT(text_of(svg), HasSubstr(name));
    }
    for (const char* name : {"poly-1", "lin-2-4"}) EXPECT_EQ(points.count(name), 0u) << name;
}

TEST(stability_command, map_of_the_stable_points) {
    const test::temporary_folder folder;
    const auto svg = folder.path() / "map.svg";
    stability_json({"--method", "one-pass", "--extrapolation", "lin-2-3-opt", "--F", "100", "--map", "--points", "6",
                    "--svg", svg.string()});
    EXPECT_THAT(text_of(svg),
                testing::AllOf(HasSubstr("Method one-pass"), HasSubstr("unstable"), HasSubstr("omega_A H")));
    const auto refused = stability({"--F", "100", "--map"});
    EXPECT_EQ(refused.exit_status, 2);
    EXPECT_THAT(refused.err, HasSubstr("give --svg FILE"));
}

TEST(stability_command, sets_over_F) {
    const json found = stability_json({"--extrapolation", "lin-2-3-opt-F", "lin-2-3-opt", "--F", "0.1", "100"});
    for (const std::size_t i : {0, 1})
        EXPECT_GT(found["results"][i]["omega_max"].get<double>(), found["results"][i + 2]["omega_max"].get<double>());
}

std::string coupled(const std::string& general, const std::string& own) {
    return "time: {end: 10 ms, step: 1 ms}\nextrapolation: " + general +
           "\nsubsystems:\n"
           "  A: {model: mass-spring-damper, set: {mass: 1, stiffness: 100, x0: 0.01}}\n"
           "  B: {model: mass-spring-damper, set: {mass: 1, stiffness: 50}}\n"
           "  C: {model: mass-spring-damper, set: {mass: 1}}\n"
           "  D: {ode: {parameters: {m: 1 kg}, states: {x: 0 m, v: 0 m/s}, inputs: {f: 0 N}, equations: {x: v, v: "
           "f/m}},\n"
           "      ports: {p: {kind: translation, position: x, velocity: v, force: f}}}\n"
           "connections:\n"
           "  known: {law: spring, between: [A.mass, B.mass], stiffness: 1000}\n"
           "  free: {law: spring, between: [B.mass, C.mass], stiffness: 1000}\n"
           "  own: {law: spring, between: [B.mass, D.p], stiffness: 1000, extrapolation: " +
           own +
           "}\n"
           "  unknown: {law: spring, between: [B.mass, D.p], stiffness: 1000}\n"
           "  damped: {law: spring-damper, between: [A.mass, B.mass], stiffness: 1000, damping: 1}\n";
}

TEST(sets_over_F, a_connection_picks_its_own) {
    const std::string text =
        check(read_scenario_text(coupled("lin-2-3-opt-F", "{name: const-2-2-opt-F, F: 20}"), "s.yaml"));
    EXPECT_THAT(text, HasSubstr("extrapolation lin-2-3-opt-F (of the scenario, F = 15)"));
    EXPECT_THAT(text, HasSubstr("extrapolation lin-2-3-opt-F (of the scenario, F = 1000)"));
    EXPECT_THAT(text, HasSubstr("extrapolation const-2-2-opt-F (given, F = 20)"));
    EXPECT_THAT(text, HasSubstr("extrapolation lin-2-3-opt (of the scenario is 'lin-2-3-opt-F', but F is not known)"));
    EXPECT_THAT(text, HasSubstr("spring-damper (stiffness = 1000 N/m, damping = 1 N.s/m), u in N\n"
                                "                 A.mass receives -u (degree 1), B.mass receives +u (degree 1)\n"
                                "                 extrapolation lin-2-3-opt-F (of the scenario, F = 15)"));
}

TEST(sets_over_F, the_resolved_scenario_names_F) {
    const test::temporary_folder folder;
    const run_options quiet{.out = folder.path() / "a"};
    run(read_scenario_text(coupled("lin-2-3-opt-F", "{name: const-2-2-opt-F, F: 20}"), "s.yaml"), quiet);
    const std::string resolved = text_of(folder.path() / "a/scenario.yaml");
    EXPECT_THAT(resolved, HasSubstr("extrapolation: {name: lin-2-3-opt-F, F: 15}"));
    EXPECT_THAT(resolved, HasSubstr("extrapolation: {name: const-2-2-opt-F, F: 20}"));
    run(read_scenario(folder.path() / "a/scenario.yaml"), {.out = folder.path() / "b"});
    EXPECT_EQ(text_of(folder.path() / "a/results.csv"), text_of(folder.path() / "b/results.csv"));
}

TEST(sets_over_F, mistakes) {
    expect_message(message_of(coupled("poly-1", "lin-2-3-opt-F")),
                   "s.yaml:", {"connection 'own'", "needs F", "{name: lin-2-3-opt-F, F: 20}"});
    expect_message(message_of(coupled("poly-1", "{name: lin-2-3-opt-F, F: -2}")),
                   "s.yaml:", {"F is -2", "greater than zero"});
    expect_message(message_of(coupled("poly-1", "{name: lin-2-3-opt, F: 2}")), "s.yaml:", {"does not depend on F"});
    expect_message(message_of(coupled("poly-1", "{name: lin-2-3-opt-G, F: 2}")), "s.yaml:", {"does not"});
    expect_message(message_of(coupled("poly-1", "{name: lin-2-3-opt-F, f: 2}")), "s.yaml:", {"key 'f' is not known"});
}

TEST(stability_command, optimises_with_progress_on_a_terminal) {
    const auto done = stability({"--optimise", "--extrapolation", "lin-2-3", "--F", "100", "--json"}, true);
    ASSERT_EQ(done.exit_status, 0) << done.err;
    const json found = json::parse(done.out);
    EXPECT_GE(found["results"][0]["omega_max"].get<double>(), 0.13335);
    EXPECT_EQ(found["a"].size(), 2u);
    EXPECT_THAT(done.err, HasSubstr("best so far"));
}

TEST(stability_command, mistakes) {
    const auto refused = [](const std::vector<std::string>& words, const std::vector<std::string>& parts) {
        const auto done = stability(words);
        EXPECT_EQ(done.exit_status, 2) << done.out;
        EXPECT_TRUE(done.out.empty());
        expect_message(done.err.substr(0, done.err.find('\n')), "mdpcosim: ", parts);
    };
    refused({"--F", "0"}, {"--F 0: ", "greater than zero"});
    refused({"--F", "-3"}, {"--F -3: "});
    refused({"--F", "stiff"}, {"'stiff' is not a number"});
    refused({"--mass-ratio", "-1"}, {"--mass-ratio -1: "});
    refused({"--V", "0"}, {"--V 0: "});
    refused({"--damping", "-0.1"}, {"--damping -0.1: ", "must not be negative"});
    refused({"--coupling-damping", "-0.1"}, {"--coupling-damping -0.1: "});
    refused({"--coupling-damping", "0.1", "--method", "one-pass"}, {"needs du/dt", "poly-K"});
    refused({"--input-degree", "7"}, {"--input-degree 7: "});
    refused({"--extrapolation", "lin-2-3-opr"}, {"Did you mean 'lin-2-3-opt'?"});
    refused({"--extrapolation", "lin-2-3"}, {"leave 1 free coefficient"});
    refused({"--method", "explicitt"}, {"method 'explicitt' does not exist.", "Did you mean 'explicit'?"});
    refused({"--variant", "force-forse"}, {"Did you mean 'force-force'?"});
    refused({"--table", "2.3"}, {"table '2.3' does not exist.", "2.4"});
    refused({"--table", "2.4", "--F", "3"}, {"leave --extrapolation and --F out"});
    refused({"--figure", "2.14"}, {"figure '2.14' does not exist."});
    refused({"--figure", "2.13", "--points", "1"}, {"--points 1: "});
    refused({"--optimise", "--extrapolation", "lin-2-4"}, {"K = 2 and R = 4"});
    refused({"--optimise", "--extrapolation", "poly-3"}, {"const-K-R or lin-K-R"});
    refused({"--optimise", "--F", "1", "10", "--weight", "1"}, {"2 values of F and 1 weights"});
    refused({"--svg", "/nowhere/at/all.svg", "--F", "100"}, {"/nowhere/at/all.svg"});
}

}  // namespace
}  // namespace mdpcosim
