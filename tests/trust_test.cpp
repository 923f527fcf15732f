// Divergence is told on unstable couplings and on no stable one; killed runs are readable.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <sstream>
#include <thread>

#include "api/mdpcosim.hpp"
#include "process.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using test::content;
using test::process;
using test::temporary_folder;

struct variant {
    std::string name;
    std::string text;
};

std::string oscillators(double F, double omega_H, const std::string& extrapolation, const std::string& more = {}) {
    // omega = 10 rad/s, m = 1 kg, c = 100 N/m, coupling stiffness F*c.
    return fmt::format(
        "time: {{end: {} s, step: {} s}}\nextrapolation: {}\nsubsystems:\n"
        "  A: {{model: mass-spring-damper, solver: erk-5, set: {{mass: 1, stiffness: 100, x0: 0.01{}}}}}\n"
        "  B: {{model: mass-spring-damper, solver: erk-5, set: {{mass: 1, stiffness: 100, v0: 0.1}}}}\n"
        "connections:\n  spring: {{law: spring, between: [A.mass, B.mass], stiffness: {}}}\nrecord: {{every: 1 s}}\n",
        20000 * omega_H / 10, omega_H / 10, extrapolation, more, 100 * F);
}

/// The limits of lin-2-3-opt, const-2-2-opt and lin-2-2-opt at F = 10^1/2, 10^5/4, 100 (docs/methods/stability.md).
struct limit {
    const char* extrapolation;
    double F, omega_H;
};
const std::vector<limit> limits{
    {"lin-2-3-opt", std::sqrt(10), 0.7095},
    {"lin-2-3-opt", std::pow(10, 1.25), 0.3107},
    {"lin-2-3-opt", 100, 0.1314},
    {"const-2-2-opt", std::sqrt(10), 0.7493},
    {"const-2-2-opt", std::pow(10, 1.25), 0.3256},
    {"const-2-2-opt", 100, 0.1378},
    {"lin-2-2-opt", std::sqrt(10), 0.7273},
    {"lin-2-2-opt", std::pow(10, 1.25), 0.3194},
    {"lin-2-2-opt", 100, 0.1351},
};

run_summary run_quietly(const variant& v) {
    const temporary_folder folder;
    return run(read_scenario_text(v.text, v.name), {folder / "out", 1});
}

std::vector<variant> unstable_variants() {
    std::vector<variant> list;
    for (const auto& l : limits)
        for (const double factor : {1.02, 1.3})
            list.push_back({fmt::format("{} F={:.3g} x{}", l.extrapolation, l.F, factor),
                            oscillators(l.F, factor * l.omega_H, l.extrapolation)});
    list.push_back(
        {"driven", oscillators(100, 0.15, "lin-2-3-opt", ", excitation: harmonic, amplitude: 5, frequency: 1")});
    list.push_back({"spring-damper",
                    "time: {end: 20 s, step: 20 ms}\nextrapolation: lin-3-3-b0\nsubsystems:\n  w: {model: "
                    "mass-spring-damper, set: {mass: 40, "
                    "stiffness: 2e5}}\n"
                    "  b: {model: mass-spring-damper, set: {mass: 400, x0: 0.02}}\nconnections:\n"
                    "  s: {law: spring-damper, between: [w.mass, b.mass], stiffness: 2e4, damping: 1500}\n"});
    return list;
}

std::vector<variant> stable_variants() {
    std::vector<variant> list;
    for (const auto& l : limits)
        list.push_back({fmt::format("{} F={:.3g} x0.97", l.extrapolation, l.F),
                        oscillators(l.F, 0.97 * l.omega_H, l.extrapolation)});
    list.push_back({"small steps", oscillators(10, 0.01, "lin-2-3-opt")});
    list.push_back({"driven in resonance",
                    oscillators(10, 0.02, "lin-2-3-opt", ", excitation: harmonic, amplitude: 5, frequency: 1.591549")});
    list.push_back(
        {"step load", oscillators(10, 0.2, "lin-2-3-opt", ", excitation: step, amplitude: 500, step-time: 3 s")});
    list.push_back({"from rest, step load",
                    oscillators(50, 0.1, "const-2-2-opt", ", excitation: step, amplitude: 1e4, step-time: 7 s")});
    // Physical instability: negative stiffness against the ground, resolved by the steps.
    list.push_back({"inverted",
                    "time: {end: 3 s, step: 2 ms}\nsubsystems:\n"
                    "  a: {ode: {states: {x: 1e-6, v: 0}, inputs: {F: 0}, equations: {x: v, v: 100*x + F}}, "
                    "ports: {p: {kind: translation, position: x, force: F}}}\n"
                    "  b: {ode: {states: {x: 0, v: 0}, inputs: {F: 0}, equations: {x: v, v: 100*x + F}}, "
                    "ports: {p: {kind: translation, position: x, force: F}}}\n"
                    "connections: {c: {law: spring, between: [a.p, b.p], stiffness: 20}}\n"});
    list.push_back(
        {"stop with impacts",
         "time: {end: 4 s, step: 0.5 ms}\nsubsystems:\n"
         "  a: {model: mass-spring-damper, set: {mass: 1, v0: 2}}\n"
         "  b: {model: mass-spring-damper, set: {mass: 3, stiffness: 300}}\n"
         "connections: {c: {law: stop, between: [a.mass, b.mass], upper: 0.01, lower: -0.01, stiffness: 1e5}}\n"});
    list.push_back(
        {"backlash",
         "time: {end: 2 s, step: 0.2 ms}\nsubsystems:\n"
         "  s: {model: source, set: {kind: sine, amplitude: 5, frequency: 2}}\n"
         "  a: {model: inertia, set: {inertia: 0.01}}\n  b: {model: inertia, set: {inertia: 0.1, damping: 0.1}}\n"
         "connections: {g: {law: gear, between: [a.shaft, b.shaft], ratio: 2, stiffness: 1e3, backlash: 0.01}}\n"
         "signals: [s.y -> a.torque]\n"});
    list.push_back({"spring-damper",
                    "time: {end: 20 s, step: 5 ms}\nsubsystems:\n  w: {model: mass-spring-damper, set: {mass: 40, "
                    "stiffness: 2e5}}\n"
                    "  b: {model: mass-spring-damper, set: {mass: 400, x0: 0.02}}\nconnections:\n"
                    "  s: {law: spring-damper, between: [w.mass, b.mass], stiffness: 2e4, damping: 1500}\n"});
    list.push_back({"square command",
                    "time: {end: 5 s, step: 1 ms}\nsubsystems:\n"
                    "  s: {model: source, set: {kind: pulse, amplitude: 100, duration: 20 ms, period: 50 ms}}\n"
                    "  a: {model: lag-1, set: {time-constant: 10 ms}}\nsignals: [s.y -> a.u]\n"});
    list.push_back({"nothing moves",
                    "time: {end: 1 s, step: 1 ms}\nsubsystems:\n  a: {model: mass-spring-damper}\n  b: {model: "
                    "mass-spring-damper}\n"
                    "connections: {c: {law: spring, between: [a.mass, b.mass], stiffness: 100}}\n"});
    list.push_back({"preloaded",
                    "time: {end: 10 s, step: 2 ms}\nsubsystems:\n"
                    "  a: {model: mass-spring-damper, set: {stiffness: 1e3}}\n  b: {model: mass-spring-damper, set: "
                    "{stiffness: 1e3}}\n"
                    "connections: {c: {law: spring, between: [a.mass, b.mass], stiffness: 1e4, length: 0.5}}\n"});
    return list;
}

TEST(divergence, is_told_on_unstable_couplings) {
    const auto variants = unstable_variants();
    EXPECT_GE(variants.size(), 20u);
    for (const auto& v : variants) {
        const run_summary s = run_quietly(v);
        EXPECT_EQ(s.status, "failed") << v.name;
        EXPECT_NE(s.message.find("connection 's"), std::string::npos) << v.name << ": " << s.message;
        EXPECT_NE(s.message.find("diverges at t = "), std::string::npos) << v.name << ": " << s.message;
        EXPECT_LT(s.reached, s.end) << v.name;
        EXPECT_GT(s.rows, 0) << v.name;
    }
}

TEST(divergence, is_not_told_on_stable_couplings) {
    const auto variants = stable_variants();
    EXPECT_GE(variants.size(), 20u);
    for (const auto& v : variants) {
        const run_summary s = run_quietly(v);
        EXPECT_EQ(s.status, "done") << v.name << ": " << s.message;
    }
}

TEST(divergence, can_be_noted_only) {
    const run_summary s =
        run_quietly({"noted", oscillators(100, 0.15, "lin-2-3-opt") + "monitor: {divergence: note}\n"});
    ASSERT_FALSE(s.notes.empty());
    EXPECT_NE(s.notes.back().find("connection 'spring' diverges"), std::string::npos);
}

/// Two oscillators at a step far below the limit: the energy error is a small share of what is exchanged and falls with H.
TEST(energy_error, falls_with_the_step) {
    const auto share = [](double omega_H) {
        const run_summary s = run_quietly({"energy", oscillators(10, omega_H, "lin-2-3-opt")});
        return std::abs(s.connections.front().energy_error) / s.connections.front().energy;
    };
    const double coarse = share(0.04), fine = share(0.02);
    EXPECT_LT(coarse, 1.5e-3);
    EXPECT_GT(coarse / fine, 4) << coarse << " " << fine;
}

TEST(energy_error, is_zero_where_nothing_is_exchanged) {
    const run_summary s =
        run_quietly({"gap",
                     "time: {end: 1 s, step: 1 ms}\nsubsystems:\n  a: {model: mass-spring-damper, set: {v0: 0.1}}\n"
                     "  b: {model: mass-spring-damper}\nconnections:\n"
                     "  c: {law: stop, between: [a.mass, b.mass], upper: 1, lower: -1, stiffness: 1e4}\n"});
    EXPECT_EQ(s.connections.front().energy_error, 0);
    EXPECT_EQ(s.connections.front().jump_max, 0);
}

/// A dataset as doubles; `rows`, too, is one.
std::vector<double> dataset(const std::filesystem::path& path, const std::string& name) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // at first there is no file
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) return {};
    std::vector<double> values;
    if (const hid_t set = H5Dopen2(file, name.c_str(), H5P_DEFAULT); set >= 0) {
        const hid_t space = H5Dget_space(set);
        values.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
        EXPECT_GE(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        H5Sclose(space);
        H5Dclose(set);
    }
    H5Fclose(file);
    return values;
}

/// SIGKILL at any moment: the CSV has whole rows, but for one that was being written, and the HDF5 file as many as it says.
TEST(killed_runs, are_readable) {
    const temporary_folder folder;
    test::write_file(
        folder / "test.yaml",
        "time: {end: 1e7 s, step: 1 ms}\nsubsystems:\n"
        "  A: {model: mass-spring-damper, solver: rk4, set: {stiffness: 100, x0: 0.01}}\n"
        "  B: {model: mass-spring-damper, solver: rk4, set: {stiffness: 100}}\n"
        "connections: {c: {law: spring, between: [A.mass, B.mass], stiffness: 100}}\nrecord: {every: 10 ms}\n");
    for (const int milliseconds : {1300, 2100}) {
        process p(
            {MDPCOSIM_PROGRAM, "run", (folder / "test.yaml").string(), "--out", (folder / "out").string(), "--quiet"},
            {});
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        p.send(SIGKILL);
        p.wait();
        std::istringstream csv(content(folder / "out/results.csv"));
        std::string line;
        std::size_t rows = 0;
        while (std::getline(csv, line) && !csv.eof()) {
            EXPECT_EQ(std::count(line.begin(), line.end(), ','), 7) << line;
            ++rows;
        }
        EXPECT_GT(rows, 1u);
        const auto count = dataset(folder / "out/results.h5", "rows"), t = dataset(folder / "out/results.h5", "time");
        ASSERT_EQ(count.size(), 1u);
        for (std::size_t i = 0; i < static_cast<std::size_t>(count[0]); i += 97)
            EXPECT_NEAR(t[i], 0.01 * static_cast<double>(i), 1e-6);
    }
}

/// The same with 20007 columns, as soon as there are some rows: both files hold the same numbers.
TEST(killed_runs, with_many_columns_are_readable) {
    const temporary_folder folder;
    test::write_file(folder / "test.yaml",
                     "time: {end: 1e7 s, step: 1 ms}\nsubsystems:\n"
                     "  a: {model: chain, solver: rk4, set: {n: 10000, stiffness: 100, x-amplitude: 1 mm}}\n");
    const auto h5 = folder / "out/results.h5";
    process p({MDPCOSIM_PROGRAM, "run", (folder / "test.yaml").string(), "--out", (folder / "out").string(), "--quiet"},
              {});
    std::vector<double> count;
    for (int i = 0; i < 3000 && (count.empty() || count[0] < 10); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        count = dataset(h5, "rows");
    }
    p.send(SIGKILL);
    p.wait();
    count = dataset(h5, "rows");
    ASSERT_EQ(count.size(), 1u);
    ASSERT_GE(count[0], 10);

    std::istringstream csv(content(folder / "out/results.csv"));
    std::string line, field;
    std::getline(csv, line);
    std::vector<std::string> names;
    for (std::istringstream header(line); std::getline(header, field, ',');) names.push_back(field);
    EXPECT_EQ(names.size(), 20008u);
    std::vector<std::vector<double>> columns;
    for (std::size_t k = 0; k < names.size(); k += 1000) columns.push_back(dataset(h5, names[k]));
    std::size_t row = 0;
    for (; row < static_cast<std::size_t>(count[0]) && std::getline(csv, line) && !csv.eof(); ++row) {
        std::istringstream fields(line);
        for (std::size_t k = 0; std::getline(fields, field, ','); ++k) {
            if (k % 1000 != 0) continue;
            ASSERT_EQ(columns[k / 1000].at(row), std::stod(field)) << names[k] << ", row " << row;
        }
    }
    EXPECT_GE(row, 10u);
}

}  // namespace
}  // namespace mdpcosim
