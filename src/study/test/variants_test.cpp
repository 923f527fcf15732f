#include "study/variants.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <numbers>

#include "study/sampling.hpp"
#include "study/sensitivity.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim::test {
namespace {

study_spec read(const std::string& text) {
    const temporary_folder folder;
    std::ofstream(folder.path() / "study.yaml") << text;
    std::ofstream(folder.path() / "s.yaml") << "time: {end: 1 s}";
    return read_study(folder.path() / "study.yaml");
}

std::vector<std::vector<double>> all_values(const study_spec& s) {
    const variant_plan plan(s);
    std::vector<std::vector<double>> all;
    for (std::int64_t v = 0; v < plan.size(); ++v) {
        all.emplace_back();
        for (std::size_t p = 0; p < plan.parameters().size(); ++p) all.back().push_back(plan.value(v, p));
    }
    return all;
}

TEST(variants, in_a_grid_the_last_parameter_changes_fastest) {
    const auto all = all_values(
        read("scenario: s.yaml\nvary:\n  a.m: [1 kg, 2000 g]\n  b.k: {from: 1 kN/m, to: 3 kN/m, count: 3}\n"));
    EXPECT_EQ(all,
              (std::vector<std::vector<double>>{{1, 1000}, {1, 2000}, {1, 3000}, {2, 1000}, {2, 2000}, {2, 3000}}));
}

TEST(variants, zipped_ones_take_one_of_each) {
    const auto all = all_values(
        read("scenario: s.yaml\nvary: {a.m: [1, 2, 3], method: [explicit, one-pass, explicit]}\ncombine: zip\n"));
    EXPECT_EQ(all, (std::vector<std::vector<double>>{{1, 0}, {2, 1}, {3, 2}}));
}

TEST(variants, logarithmic_ranges_have_equal_ratios_and_exact_ends) {
    const auto all =
        all_values(read("scenario: s.yaml\nvary: {a.d: {from: 0.1, to: 100, count: 7, scale: logarithmic}}\n"));
    ASSERT_EQ(all.size(), 7U);
    EXPECT_EQ(all.front()[0], 0.1);
    EXPECT_EQ(all.back()[0], 100);
    for (std::size_t k = 1; k < all.size(); ++k) EXPECT_NEAR(all[k][0] / all[k - 1][0], std::sqrt(10), 1e-12);
}

TEST(variants, settings_have_all_digits_units_and_places) {
    const study_spec s = read("scenario: s.yaml\nvary: {a.T: [20 degC, 0.1 K], method: [explicit, one-pass]}\n");
    const variant_plan plan(s);
    const auto settings = plan.settings({plan.value(0, 0), plan.value(1, 1)});
    EXPECT_EQ(settings[0].value, "293.15 K");
    EXPECT_EQ(settings[1].value, "one-pass");
    EXPECT_THAT(settings[0].option, testing::HasSubstr("study.yaml:2:8: a.T=293.15 K"));
}

TEST(variants, samples_follow_their_distributions) {
    const study_spec s = read(
        "scenario: s.yaml\nsample:\n  count: 20000\n  seed: 4\n  parameters:\n    a.u: {uniform: [2, 4]}\n"
        "    a.n: {normal: [10, 2]}\n    a.t: {triangular: [0, 1, 4]}\n    a.l: {log-normal: [5, 2]}\n");
    const variant_plan plan(s);
    const auto moments = [&](std::size_t p, const auto& f) {
        double sum = 0, squares = 0;
        for (std::int64_t v = 0; v < plan.size(); ++v) {
            const double x = f(plan.value(v, p));
            sum += x, squares += x * x;
        }
        const double n = static_cast<double>(plan.size()), mean = sum / n;
        return std::pair(mean, std::sqrt(squares / n - mean * mean));
    };
    const auto same = [](double x) { return x; };
    const auto [um, us] = moments(0, same);
    EXPECT_NEAR(um, 3, 1e-3);
    EXPECT_NEAR(us, 2 / std::sqrt(12.0), 1e-3);
    const auto [nm, ns] = moments(1, same);
    EXPECT_NEAR(nm, 10, 2e-3);
    EXPECT_NEAR(ns, 2, 5e-3);
    const auto [tm, ts] = moments(2, same);
    EXPECT_NEAR(tm, 5.0 / 3, 2e-3);
    EXPECT_NEAR(ts, std::sqrt((16 + 1 - 4) / 18.0), 3e-3);  // (a2 + b2 + c2 - ab - ac - bc)/18
    const auto [lm, ls] = moments(3, [](double x) { return std::log(x); });
    EXPECT_NEAR(lm, std::log(5), 1e-3);
    EXPECT_NEAR(ls, std::log(2), 2e-3);
}

TEST(sampling, quantiles_of_the_normal_distribution) {
    EXPECT_NEAR(normal_quantile(0.5), 0, 1e-15);
    EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
    EXPECT_NEAR(normal_quantile(0.001), -3.090232306167813, 1e-13);
    EXPECT_NEAR(normal_quantile(1e-10), -6.361340902404056, 1e-12);
    EXPECT_NEAR(normal_quantile(0.84134474606854295), 1, 1e-14);
}

TEST(sampling, every_slice_of_a_latin_hypercube_has_one_point) {
    constexpr std::size_t n = 37, d = 5;
    const auto points = sample_points("latin-hypercube", n, d, 11);
    for (std::size_t k = 0; k < d; ++k) {
        std::vector<int> hits(n);
        for (std::size_t i = 0; i < n; ++i) ++hits[static_cast<std::size_t>(points[i * d + k] * n)];
        EXPECT_EQ(hits, std::vector<int>(n, 1));
    }
    EXPECT_EQ(points, sample_points("latin-hypercube", n, d, 11));
    EXPECT_NE(points, sample_points("latin-hypercube", n, d, 12));
}

/// What makes it Sobol's: 2^k points, shifted or not, put one into each of 2^k slices of every dimension; and in the first two dimensions one into each box
/// of every dyadic division of the square.
TEST(sampling, dyadic_boxes_have_their_share_of_a_sobol_sequence) {
    constexpr std::size_t n = 256;
    const auto points = sample_points("sobol", n, most_sobol_dimensions, 3);
    for (std::size_t k = 0; k < most_sobol_dimensions; ++k) {
        std::vector<int> hits(n);
        for (std::size_t i = 0; i < n; ++i) ++hits[static_cast<std::size_t>(points[i * most_sobol_dimensions + k] * n)];
        EXPECT_EQ(hits, std::vector<int>(n, 1)) << k;
    }
    for (std::size_t a = 1; a <= n; a *= 2) {
        std::vector<int> hits(n);
        for (std::size_t i = 0; i < n; ++i) {
            const double* x = &points[i * most_sobol_dimensions];
            ++hits[static_cast<std::size_t>(x[0] * static_cast<double>(a)) * (n / a) +
                   static_cast<std::size_t>(x[1] * static_cast<double>(n / a))];
        }
        EXPECT_EQ(hits, std::vector<int>(n, 1)) << a;
    }
}

/// The integral of a product over the unit cube in 8 dimensions is 1; independent points would miss it by some 1e-2.
TEST(sampling, sobol_integrates_a_smooth_function_of_many_numbers) {
    constexpr std::size_t n = 8192, d = 8;
    const auto points = sample_points("sobol", n, d, 1);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        double product = 1;
        for (std::size_t k = 0; k < d; ++k) product *= 1 + 0.5 * (points[i * d + k] - 0.5);
        sum += product / n;
    }
    EXPECT_NEAR(sum, 1, 2e-4);
}

/// Ishigami's function, whose first-order indices are known in closed form (Ishigami and Homma 1990).
TEST(sensitivity, first_order_indices_of_ishigamis_function) {
    constexpr std::size_t n = 20000;
    constexpr double a = 7, b = 0.1, pi = std::numbers::pi;
    const auto points = sample_points("random", n, 3, 9);
    std::vector<double> x[3], y;
    for (std::size_t i = 0; i < n; ++i) {
        double z[3];
        for (std::size_t k = 0; k < 3; ++k) x[k].push_back(z[k] = pi * (2 * points[3 * i + k] - 1));
        y.push_back(std::sin(z[0]) + a * std::sin(z[1]) * std::sin(z[1]) + b * std::pow(z[2], 4) * std::sin(z[0]));
    }
    EXPECT_NEAR(first_order_index(x[0], y), 0.3139, 0.015);
    EXPECT_NEAR(first_order_index(x[1], y), 0.4424, 0.015);
    EXPECT_NEAR(first_order_index(x[2], y), 0, 0.01);
    EXPECT_NEAR(correlation(x[1], y), 0, 0.03);
    EXPECT_NEAR(correlation(x[0], x[0]), 1, 1e-12);
    EXPECT_TRUE(std::isnan(first_order_index(std::vector<double>(49, 1.0), std::vector<double>(49, 1.0))));
}

struct wrong_study {
    const char* text;
    const char* message;
};
class wrong_studies : public testing::TestWithParam<wrong_study> {};

TEST_P(wrong_studies, are_refused) {
    try {
        const study_spec s = read(GetParam().text);
        const variant_plan plan(s);
        FAIL() << "accepted, " << plan.size() << " variants";
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(), testing::HasSubstr(GetParam().message));
        EXPECT_THAT(problem.what(), testing::HasSubstr("study.yaml:"));
    }
}

INSTANTIATE_TEST_SUITE_P(
    all, wrong_studies,
    testing::Values(
        wrong_study{"vary: {a.m: [1]}\n", "scenario"},
        wrong_study{"scenario: s.yaml\n", "none of 'vary', 'sample', 'optimise' and 'fit' is given"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: []}\n", "2:13: vary 'a.m': the list is empty"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: 3}\n", "must be a list of values or a range"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: [1 kg, 2 N]}\n",
                    "'2 N' does not fit the values before, which are in kg"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: [1 kgg]}\n", "kgg"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: [1, fast]}\n", "'fast' is not a number"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: [fast, 1]}\n", "'1' is a number among words"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: {from: 2, to: 1, count: 3}}\n", "upside down"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: {from: 2, to: 2, count: 3}}\n", "is empty"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: {from: 1, to: 2, count: 1}}\n", "count"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: {from: 0, to: 2, count: 3, scale: logarithmic}}\n", "above zero"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: {from: 0, to: 2, count: 3, scale: log}}\n", "logarithmic"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: [1], b.m: [1, 2]}\ncombine: zip\n",
                    "'b.m' has 2 values and 'a.m' has 1"},
        wrong_study{"scenario: s.yaml\nsample: {count: 3, parameters: {a.m: {normal: [1, -1]}}}\n",
                    "is not above zero"},
        wrong_study{"scenario: s.yaml\nsample: {count: 3, parameters: {a.m: {normal: [1]}}}\n",
                    "[mean, standard deviation]"},
        wrong_study{"scenario: s.yaml\nsample: {count: 3, parameters: {a.m: {gauss: [1, 1]}}}\n", "'gauss'"},
        wrong_study{"scenario: s.yaml\nsample: {count: 3, parameters: {a.m: {uniform: [2, 1]}}}\n", "upside down"},
        wrong_study{"scenario: s.yaml\nsample: {count: 3, parameters: {a.m: {triangular: [0, 5, 1]}}}\n",
                    "the mode 5 lies outside"},
        wrong_study{"scenario: s.yaml\nsample: {count: 3, parameters: {a.m: {log-normal: [1, 0.5]}}}\n",
                    "not above one"},
        wrong_study{"scenario: s.yaml\nsample: {count: 0, parameters: {a.m: {uniform: [0, 1]}}}\n", "count"},
        wrong_study{"scenario: s.yaml\nsample: {count: 3, by: sobl, parameters: {a.m: {uniform: [0, 1]}}}\n",
                    "Did you mean 'sobol'?"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: [1]}\nmeasure: {p: {maxx: a.x}}\n", "Did you mean 'max'?"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: [1]}\nmeasure: {p: {max: a.x, min: a.x}}\n", "must say one thing"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: [1]}\nmeasure: {p: {crossing: a.x}}\n", "level"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: [1]}\nmeasure: {p: {settling-time: a.x, within: 2}}\n", "no share"},
        wrong_study{"scenario: s.yaml\nvary: {a.m: [1]}\nmesure: {p: {max: a.x}}\n", "Did you mean 'measure'?"},
        wrong_study{"scenario: s.yaml\noptimise: {parameters: {a.m: {from: 0, to: 1}}}\n",
                    "either 'minimise' or 'maximise'"},
        wrong_study{"scenario: s.yaml\noptimise: {minimise: p, parameters: {a.m: {from: 0, to: 1, start: 2}}}\n",
                    "outside 0 to 1"},
        wrong_study{"scenario: t.yaml\nvary: {a.m: [1]}\n", "study.yaml:1:11: scenario: there is no file"},
        wrong_study{"scenario: s.yaml\nstudy: 2\nvary: {a.m: [1]}\n", "version '2' is not known"}));

}  // namespace
}  // namespace mdpcosim::test
