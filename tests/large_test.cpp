#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>

#include "scenario/read.hpp"
#include "simulation/simulation.hpp"
#include "subsystem/factory.hpp"
#include "subsystem/model.hpp"

/// Large and differential-algebraic subsystems from the scenario to the result.
namespace mdpcosim {
namespace {

using testing::HasSubstr;

/// The outputs of all subsystems at the end of a scenario.
std::vector<double> end_of(const std::string& text) {
    simulation all(read_scenario_text(text, "test.yaml"), {.workers = 1});
    all.initialise();
    all.advance_to(all.end());
    return {all.outputs().begin(), all.outputs().end()};
}

std::string chain(int n, const std::string& solver) {
    return "time: {end: 1 ms, step: 50 us}\nsubsystems:\n  c: {model: chain, solver: {" + solver +
           "}, set: {n: " + std::to_string(n) +
           ", left: fixed, right: fixed, stiffness: 1e7 N/m, damping: 1 N.s/m, cubic-stiffness: 1e9 N/m3, "
           "cubic-damping: 0.01 N.s3/m3, x-amplitude: 0.1 m, v-amplitude: 100 m/s}}\n";
}

TEST(large_chain, sparse_and_dense_agree) {
    for (const char* solver : {"ida", "cvode-bdf"}) {
        const std::string options = std::string("name: ") + solver + ", rtol: 1e-8, atol: 1e-8, linear-solver: ";
        const auto dense = end_of(chain(200, options + "dense")), sparse = end_of(chain(200, options + "sparse"));
        ASSERT_EQ(dense.size(), sparse.size());
        for (std::size_t i = 6; i < 406; ++i)  // x in metres, v in metres per second
            EXPECT_NEAR(sparse[i], dense[i], i < 206 ? 1e-5 : 0.1) << solver << ' ' << i;
    }
}

TEST(large_chain, implicit_agrees_with_explicit) {
    const auto implicit = end_of(chain(200, "name: ida, rtol: 1e-9, atol: 1e-9"));
    const auto explicit_one = end_of(chain(200, "name: erk-8, rtol: 1e-10, atol: 1e-10"));
    for (std::size_t i = 6; i < 206; ++i) EXPECT_NEAR(implicit[i], explicit_one[i], 1e-5) << i;
}

TEST(large_chain, structure_holds_all_of_the_jacobian) {
    for (const char* ends : {"", ", left: fixed", ", right: fixed", ", left: fixed, right: fixed"})
        for (const int n : {1, 2, 7}) {
            const model_info* info = model_registry::instance().find("chain");
            parameter_values values(info->parameters);
            values.set("n", {static_cast<double>(n)});
            for (const auto& [name, value] : std::vector<std::pair<const char*, double>>{
                     {"mass", 2}, {"stiffness", 3}, {"damping", 0.7}, {"cubic-stiffness", 5}, {"cubic-damping", 0.3}})
                values.set(name, {value});
            values.set("left", {std::string(ends).find("left") != std::string::npos ? 1.0 : 0.0});
            values.set("right", {std::string(ends).find("right") != std::string::npos ? 1.0 : 0.0});
            const auto model = info->make(values);
            const auto size = static_cast<std::size_t>(2 * n);
            std::mt19937 random(3);
            std::uniform_real_distribution<double> uniform(-1, 1);
            std::vector<double> x(size), u{0.4, -0.2}, J(size * size), plus(size), minus(size);
            for (auto& value : x) value = uniform(random);
            ASSERT_TRUE(model->jacobian(0, x.data(), u.data(), J.data()));
            for (std::size_t j = 0; j < size; ++j) {
                const double h = 1e-5, before = x[j];
                x[j] = before + h;
                model->derivatives(0, x.data(), u.data(), plus.data());
                x[j] = before - h;
                model->derivatives(0, x.data(), u.data(), minus.data());
                x[j] = before;
                for (std::size_t i = 0; i < size; ++i)
                    EXPECT_NEAR(J[i + j * size], (plus[i] - minus[i]) / (2 * h), 1e-7)
                        << n << ends << ' ' << i << ' ' << j;
            }
        }
}

TEST(large_chain, has_7750_masses_in_one_subsystem) {
    auto text = chain(7750, "name: ida, rtol: 1e-6, atol: 1e-6");
    text.replace(text.find("1 ms"), 4, "20 us");
    text.replace(text.find("50 us"), 5, "20 us");
    const auto y = end_of(text);
    ASSERT_EQ(y.size(), 6U + 2 * 7750 + 1);
    for (const double value : y) ASSERT_TRUE(std::isfinite(value));
    // No friction to speak of in 20 us: the energy is that of the start.
    const auto start = read_scenario_text(text, "t");
    const auto object = make_subsystem(start.subsystems[0]);
    object->initialise(0);
    std::vector<double> y0(y.size());
    object->outputs(std::vector{0.0, 0.0}, y0);
    EXPECT_NEAR(y.back() / y0.back(), 1, 0.01);
}

std::string made_by_script(const std::string& arguments, int& status) {
    const std::string command =
        std::string(MDPCOSIM_SOURCE_DIR) + "/examples/oscillator-chain/make_scenario " + arguments + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    char buffer[4096];
    while (const auto n = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
    status = pclose(pipe);
    return text;
}

TEST(large_chain, both_parameter_sets_of_the_script) {
    int status = 0;
    const auto quiet = end_of(made_by_script("40 4 1e-4 1e-5 --solver ida --tolerance 1e-8", status));
    ASSERT_EQ(status, 0);
    const auto hit =
        end_of(made_by_script("40 4 1e-4 1e-5 --model 2 --solver ida --tolerance 1e-8 --stop over", status));
    ASSERT_EQ(status, 0);
    ASSERT_EQ(quiet.size(), hit.size());
    EXPECT_NE(quiet, hit);
    const auto seed = made_by_script(
        "40 4 --model 2 --seed 5 --impact-force 2e6 --impact-duration 2e-4 --extrapolation poly-2", status);
    EXPECT_EQ(status, 0);
    EXPECT_THAT(seed, HasSubstr("seed: 5, impact-share: 0.05, impact-force: 2e6 N, impact-duration: 2e-4 s"));
    EXPECT_THAT(seed, HasSubstr("extrapolation: poly-2"));
    EXPECT_THAT(made_by_script("40 4 --model 3", status), HasSubstr("the parameter sets are 1 and 2"));
    EXPECT_NE(status, 0);
    EXPECT_THAT(made_by_script("40 4 --colour red", status), HasSubstr("unknown option --colour"));
    EXPECT_NE(status, 0);
}

/// Two circuits, each C v' = i, 0 = source - R i - v, whose sources are signals; one follows the other.
const std::string circuits = R"(
time: {end: 1 s, step: 1 ms}
subsystems:
  first:
    ode:
      parameters: {R: 2 ohm, C: 250 mF}
      states: {v: 0 V}
      algebraic: {i: 0 A}
      inputs: {u: 5 V}
      equations: {v: i/C, i: u - R*i - v}
    solver: {name: ida, rtol: 1e-8, atol: 1e-9}
  second:
    ode:
      parameters: {R: 2 ohm, C: 250 mF}
      states: {v: 0 V}
      algebraic: {i: 0 A}
      inputs: {u: 0 V}
      equations: {v: i/C, i: u - R*i - v}
    solver: {name: ida, rtol: 1e-8, atol: 1e-9}
signals:
  - first.v -> second.u
)";

TEST(algebraic_variables, run_from_a_scenario) {
    const auto y = end_of(circuits);
    // v1 = 5 (1 - e^{-2t}); v2' = 2 (v1 - v2): v2 = 5 (1 - e^{-2t} - 2t e^{-2t}).
    const double e = std::exp(-2.0);
    EXPECT_NEAR(y[0], 5 * (1 - e), 1e-5);
    EXPECT_NEAR(y[1], 2.5 * e, 1e-5);
    const auto second = y.size() / 2;
    EXPECT_NEAR(y[second], 5 * (1 - 3 * e), 1e-4);
    EXPECT_NEAR(y[second + 1], 0.5 * (5 * (1 - e) - 5 * (1 - 3 * e)), 1e-4);
}

TEST(algebraic_variables, are_written_and_read_back) {
    const scenario read = read_scenario_text(circuits, "test.yaml");
    ASSERT_EQ(read.subsystems[0].ode.algebraic.size(), 1U);
    const std::string written = write_scenario(read);
    EXPECT_THAT(written, HasSubstr("algebraic:\n        i: 0 A"));
    EXPECT_EQ(write_scenario(read_scenario_text(written, "again.yaml")), written);
    EXPECT_EQ(end_of(written), end_of(circuits));
}

}  // namespace
}  // namespace mdpcosim
