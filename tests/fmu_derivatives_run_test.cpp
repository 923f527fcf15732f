// Directional derivatives of FMUs through the whole engine: the methods one-pass and semi-implicit take them for how ports answer to loads.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "bad_input.hpp"
#include "process.hpp"
#include "support/temporary_folder.hpp"
#include "support/told_messages.hpp"

namespace mdpcosim::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Two bodies on a spring of 1e4 times the stiffness of their own springs, 100 N/m.
std::string bodies(const std::string& fmu, const std::string& version, const std::string& method,
                   const std::string& of_a = "", const std::string& of_b = "") {
    const auto body = [&](const char* name, const char* set, const std::string& more) {
        return fmt::format(
            "  {}: {{fmu: {}/fmus/{}-{}.fmu, set: {{{}}}, {}ports: {{mass: {{kind: translation, position: position, "
            "velocity: velocity, force: force}}}}}}\n",
            name, MDPCOSIM_BINARY_DIR, fmu, version, set, more);
    };
    return fmt::format(
        "mdpcosim: 1\ntime: {{end: 1 s, step: 10 ms}}\nmethod: {}\nsubsystems:\n{}{}connections:\n  k: {{law: spring, "
        "between: [a.mass, b.mass], stiffness: 1e6 N/m}}\n",
        method, body("a", "x0: 10 mm", of_a), body("b", "m: 3 kg, x0: 10 mm", of_b));
}

struct finished {
    run_summary summary;
    std::string results;
};

finished run_all(const std::string& text, const std::string& transport = "threads") {
    const temporary_folder folder;
    run_options options{.out = folder / "out"};
    options.transport = transport;
    finished done{run(read_scenario_text(text, "s.yaml"), options), {}};
    EXPECT_EQ(done.summary.status, "done") << done.summary.message;
    done.results = content(folder / "out" / "results.csv");
    return done;
}

class fmu_derivatives_run : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(versions, fmu_derivatives_run, testing::Values("2", "3"));

TEST_P(fmu_derivatives_run, one_pass_equals_given_inertias_bit_by_bit_on_every_transport) {
    const std::string derivatives = bodies("mover", GetParam(), "one-pass");
    EXPECT_THAT(check(read_scenario_text(derivatives, "s.yaml")),
                HasSubstr("sensitivity from its directional derivatives"));
    const finished given =
        run_all(bodies("mover", GetParam(), "one-pass", "inertia: {mass: 1 kg}, ", "inertia: {mass: 3 kg}, "));
    EXPECT_EQ(given.summary.steps, 100);
    for (const char* transport : {"threads", "processes", "tcp"}) {
        const finished found = run_all(derivatives, transport);
        EXPECT_EQ(found.results, given.results) << transport;
        for (const auto& s : found.summary.subsystems) EXPECT_EQ(s.micro_steps, 100) << "no short steps";
    }
    EXPECT_EQ(run_all(bodies("mover", GetParam(), "one-pass", "isolate: true, ")).results, given.results);
}

TEST_P(fmu_derivatives_run, one_pass_in_other_units_and_through_model_exchange) {
    const finished in_mm = run_all(bodies("mover-in-mm", GetParam(), "one-pass"));
    for (const auto& s : in_mm.summary.subsystems) EXPECT_EQ(s.micro_steps, 100);
    const std::string exchange = bodies("mover", GetParam(), "one-pass", "interface: model-exchange, ");
    EXPECT_THAT(check(read_scenario_text(exchange, "s.yaml")),
                HasSubstr("sensitivity from its directional derivatives"));
    run_all(exchange);
}

TEST_P(fmu_derivatives_run, one_pass_measures_where_they_are_promised_only) {
    const test::told_messages messages;
    const finished found = run_all(bodies("refusing-mover", GetParam(), "one-pass"));
    EXPECT_THAT(messages.text(), HasSubstr("subsystem 'a' (fmu refusing-mover-"));
    for (const auto& s : found.summary.subsystems) EXPECT_GT(s.micro_steps, 100);
    EXPECT_LT(std::abs(found.summary.connections.at(0).u_end), 1e3);
}

TEST_P(fmu_derivatives_run, short_steps_that_an_fmu_says_it_cannot_take_are_refused) {
    const std::string fixed = bodies("fixed-step-mover", GetParam(), "one-pass");
    const auto message = AllOf(HasSubstr("how 'a.mass' answers to loads"), HasSubstr("subsystem 'a' takes none"),
                               HasSubstr("canHandleVariableCommunicationStepSize"),
                               HasSubstr("'inertia: {mass: 1 kg}' of subsystem 'a'"), HasSubstr("'method: explicit'"));
    EXPECT_THAT(message_of(fixed), message);
    const temporary_folder folder;
    std::ofstream(folder / "s.yaml") << fixed;
    process refused({MDPCOSIM_PROGRAM, "run", (folder / "s.yaml").string(), "--out", (folder / "out").string()}, {});
    const process::outcome told = refused.wait();
    EXPECT_EQ(told.exit_status, 2);
    EXPECT_THAT(told.err, message);
    run_all(bodies("fixed-step-mover", GetParam(), "one-pass", "inertia: {mass: 1 kg}, ", "inertia: {mass: 3 kg}, "));
}

TEST_P(fmu_derivatives_run, semi_implicit_needs_no_trial_steps) {
    const std::string further = "extrapolation: poly-1\nrecord: {only: [k.*]}\n";
    const finished found = run_all(bodies("oscillator", GetParam(), "semi-implicit") + further);
    EXPECT_EQ(found.summary.integrations, 200);
    // The limited one has no derivatives, and nobody reads its acceleration.
    const finished measured = run_all(bodies("limited-oscillator", GetParam(), "semi-implicit") + further);
    EXPECT_EQ(measured.summary.integrations, 201);
    EXPECT_NEAR(found.summary.connections.at(0).u_end, measured.summary.connections.at(0).u_end,
                1e-3 * measured.summary.connections.at(0).u_max);
}

}  // namespace
}  // namespace mdpcosim::test
