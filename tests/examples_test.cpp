// Every example through the whole engine, against its exact solution or its monolithic reference. The numbers here are
// those of examples/*/README.md; the tests print them.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/mdpcosim.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "core/port_kind.hpp"
#include "expression/expression.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::content;
using test::temporary_folder;

const fs::path source_dir = MDPCOSIM_SOURCE_DIR;
const fs::path examples = source_dir / "examples";

using column = std::vector<double>;
using settings = std::vector<std::pair<std::string, std::string>>;

/// What a run left in results.csv, by column.
class results {
   public:
    explicit results(const fs::path& file) {
        std::ifstream in(file);
        std::string line;
        std::getline(in, line);
        std::vector<column*> order;
        std::stringstream header(line);
        for (std::string name; std::getline(header, name, ',');) order.push_back(&columns_[name]);
        while (std::getline(in, line)) {
            const char* at = line.data();
            const char* const end = at + line.size();
            for (column* c : order) {
                double value = NAN;
                at = std::from_chars(at, end, value).ptr + 1;
                c->push_back(value);
            }
        }
    }

    const column& operator[](const std::string& name) const {
        const auto found = columns_.find(name);
        if (found == columns_.end()) throw std::runtime_error("no column " + name);
        return found->second;
    }
    bool has(const std::string& name) const { return columns_.contains(name); }
    std::size_t rows() const { return (*this)["time"].size(); }

   private:
    std::unordered_map<std::string, column> columns_;
};

std::vector<scenario_override> overrides(const settings& changes) {
    std::vector<scenario_override> list;
    for (const auto& [address, value] : changes) list.push_back({address, value, "--set " + address + "=" + value});
    return list;
}

/// The scenario in `file`; plugins are those of this build, which need not be in build/.
scenario read_example(const fs::path& file, const settings& changes = {}) {
    std::ifstream in(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::string written = "../../build/";
    for (auto at = text.find(written); at != std::string::npos; at = text.find(written))
        text.replace(at, written.size(), MDPCOSIM_BINARY_DIR "/");
    return read_scenario_text(text, file.string(), file.parent_path(), overrides(changes));
}

results run_file(const fs::path& file, const settings& changes = {}) {
    const temporary_folder out;
    const run_summary summary = run(read_scenario(file, overrides(changes)), {out.path(), 0});
    EXPECT_EQ(summary.status, "done") << summary.message;
    return results(out.path() / "results.csv");
}

/// `name` below examples/.
results run_example(const std::string& name, const settings& changes = {}) {
    return run_file(examples / name, changes);
}

double largest_difference(const column& a, const column& b) {
    EXPECT_EQ(a.size(), b.size());
    double largest = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

double largest_size(const column& a) { return largest_difference(a, column(a.size(), 0.0)); }

/// Relative to the first value.
double drift(const column& energy) { return largest_difference(energy, column(energy.size(), energy[0])) / energy[0]; }

/// The number that the README states, within a factor of 1.5 both ways.
void expect_stated(const std::string& what, double measured, double stated) {
    fmt::print("{:<48} {:.3g}\n", what, measured);
    EXPECT_LT(measured, 1.5 * stated) << what;
    EXPECT_GT(measured, stated / 1.5) << what;
}

/// A number near the rounding of the machine: the README states a bound.
void expect_below(const std::string& what, double measured, double bound) {
    fmt::print("{:<48} {:.3g}\n", what, measured);
    EXPECT_LT(measured, bound) << what;
}

void expect_order(const std::string& what, double coarse, double fine, double stated) {
    const double order = std::log2(coarse / fine);
    fmt::print("{:<48} {:.2f}\n", what, order);
    EXPECT_NEAR(order, stated, 0.1) << what;
}

// two-mass

constexpr double two_mass_x0 = 0.01;

double two_mass_error(const settings& changes = {}) {
    const results r = run_example("two-mass/scenario.yaml", changes);
    const double w1 = 10, w2 = 10 * std::sqrt(21.0);
    column a, b;
    for (const double t : r["time"]) {
        a.push_back(two_mass_x0 * (std::cos(w1 * t) + std::cos(w2 * t)) / 2);
        b.push_back(two_mass_x0 * (std::cos(w1 * t) - std::cos(w2 * t)) / 2);
    }
    return std::max(largest_difference(r["A.mass.position"], a), largest_difference(r["B.mass.position"], b));
}

TEST(two_mass, follows_the_exact_solution_with_order_3) {
    const double e1 = two_mass_error(), e2 = two_mass_error({{"time.step", "0.5 ms"}}),
                 e4 = two_mass_error({{"time.step", "0.25 ms"}});
    expect_stated("error at 1 ms [m]", e1, 2.40e-6);
    expect_stated("error at 0.5 ms [m]", e2, 2.99e-7);
    expect_stated("error at 0.25 ms [m]", e4, 3.74e-8);
    expect_order("order 1 to 0.5 ms", e1, e2, 3.0);
    expect_order("order 0.5 to 0.25 ms", e2, e4, 3.0);
}

TEST(two_mass, other_extrapolations_differ_as_stated) {
    const std::vector<std::tuple<const char*, double, double>> stated{{"poly-1", 8.50e-3, 3.21e-3},
                                                                      {"const-2-2-opt", 3.11e-5, 7.77e-6},
                                                                      {"lin-3-3-b0", 7.53e-6, 9.42e-7},
                                                                      {"lin-2-3-opt", 2.40e-6, 2.99e-7},
                                                                      {"hermite-2", 3.94e-8, 2.47e-9}};
    for (const auto& [name, at_1, at_half] : stated) {
        expect_stated(fmt::format("{} at 1 ms [m]", name), two_mass_error({{"extrapolation", name}}), at_1);
        expect_stated(fmt::format("{} at 0.5 ms [m]", name),
                      two_mass_error({{"extrapolation", name}, {"time.step", "0.5 ms"}}), at_half);
    }
}

TEST(two_mass, the_largest_stable_step_is_41_ms) {
    const auto size_at_end = [](const char* step) {
        const results r = run_example("two-mass/scenario.yaml",
                                      {{"time.end", "400 s"}, {"record.every", "0.5 s"}, {"time.step", step}});
        const column& x = r["A.mass.position"];
        return largest_size(column(x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end()));
    };
    // The fast mode has died out; the slow one, whose relative motion is zero, keeps half of the start.
    expect_stated("largest x_A from 200 s to 400 s at 41 ms [m]", size_at_end("41 ms"), two_mass_x0 / 2);
    const temporary_folder out;
    const run_summary unstable = run(read_scenario(examples / "two-mass/scenario.yaml",
                                                   overrides({{"time.end", "400 s"}, {"time.step", "41.5 ms"}})),
                                     {out.path(), 0});
    EXPECT_EQ(unstable.status, "failed");
    EXPECT_NE(unstable.message.find("connection 'spring' diverges at t = "), std::string::npos) << unstable.message;
}

// two-mass-nonlinear

double nonlinear_error(const results& reference, const settings& changes) {
    const results r = run_example("two-mass-nonlinear/scenario.yaml", changes);
    return std::max(largest_difference(r["A.mass.position"], reference["both.xA"]),
                    largest_difference(r["B.mass.position"], reference["both.xB"]));
}

TEST(two_mass_nonlinear, errors_and_orders_as_stated) {
    const results reference = run_example("two-mass-nonlinear/monolithic.yaml");
    const auto error = [&](const char* name, const char* step) {
        return nonlinear_error(reference, {{"extrapolation", name}, {"time.step", step}});
    };
    struct row {
        const char* name;
        double stated[3];
        double order;
    };
    const std::vector<row> table{{"const-2-2-opt", {3.06e-4, 7.64e-5, 1.91e-5}, 2},
                                 {"lin-2-3-opt", {7.87e-5, 9.92e-6, 1.24e-6}, 3},
                                 {"lin-3-3-b0", {2.45e-4, 3.11e-5, 3.90e-6}, 3},
                                 {"hermite-2", {1.70e-6, 1.04e-7, 6.38e-9}, 4}};
    for (const auto& [name, stated, order] : table) {
        const double errors[3] = {error(name, "2.5 ms"), error(name, "1.25 ms"), error(name, "0.625 ms")};
        expect_stated(fmt::format("{} at 2.5 ms [m]", name), errors[0], stated[0]);
        expect_stated(fmt::format("{} at 1.25 ms [m]", name), errors[1], stated[1]);
        expect_stated(fmt::format("{} at 0.625 ms [m]", name), errors[2], stated[2]);
        expect_order(fmt::format("{} order", name), errors[1], errors[2], order);
    }
}

TEST(two_mass_nonlinear, hermite_2_has_order_4_from_rest_too) {
    const results reference = run_example("two-mass-nonlinear/monolithic.yaml", {{"both.xA", "0"}, {"both.xB", "0"}});
    const auto error = [&](const char* step) {
        return nonlinear_error(reference,
                               {{"extrapolation", "hermite-2"}, {"time.step", step}, {"A.x0", "0"}, {"B.x0", "0"}});
    };
    const double e10 = error("10 ms"), e5 = error("5 ms");
    expect_stated("from rest, at 10 ms [m]", e10, 7.36e-6);
    expect_stated("from rest, at 5 ms [m]", e5, 4.85e-7);
    expect_order("order", e10, e5, 3.92);
}

// oscillator-chain

constexpr double chain_c = 1e7, chain_c3 = 1e9;

std::string output_of(const std::string& command) {
    std::string text;
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot start " + command);
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
    const int status = ::pclose(pipe);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command;
    return text;
}

std::string made_chain(const std::string& arguments) {
    return output_of(fmt::format("'{}' {}", (examples / "oscillator-chain" / "make_scenario").string(), arguments));
}

/// The parts' energies and what the joints store.
column chain_energy(const results& r, int parts) {
    column energy(r.rows(), 0.0);
    for (std::size_t i = 0; i < energy.size(); ++i) {
        for (int p = 1; p <= parts; ++p) energy[i] += r[fmt::format("part{}.energy", p)][i];
        for (int p = 1; p < parts; ++p) {
            const double q =
                r[fmt::format("part{}.right.position", p)][i] - r[fmt::format("part{}.left.position", p + 1)][i];
            energy[i] += chain_c * q * q / 2 + chain_c3 * q * q * q * q / 4;
        }
    }
    return energy;
}

/// Positions of all masses, one after the other.
column chain_positions(const results& r, int masses, int parts) {
    column all;
    for (int p = 1; p <= parts; ++p)
        for (int i = 0; i < masses / parts; ++i) {
            const column& x = r[fmt::format("part{}.x[{}]", p, i)];
            all.insert(all.end(), x.begin(), x.end());
        }
    return all;
}

settings all_positions(const char* step) {
    return {{"record.only", "['*.x*', '*.energy', '*.left.position', '*.right.position']"}, {"time.step", step}};
}

TEST(oscillator_chain, files_are_what_make_scenario_writes) {
    EXPECT_EQ(made_chain("30 3"), content(examples / "oscillator-chain/scenario.yaml"));
    EXPECT_EQ(made_chain("30 1"), content(examples / "oscillator-chain/monolithic.yaml"));
}

TEST(oscillator_chain, three_parts_against_one) {
    const results whole = run_example("oscillator-chain/monolithic.yaml", all_positions("10 us"));
    const column x = chain_positions(whole, 30, 1);
    const auto run_cut = [](const char* step) {
        return run_example("oscillator-chain/scenario.yaml", all_positions(step));
    };
    const auto error = [&](const results& r) { return largest_difference(chain_positions(r, 30, 3), x); };
    const results at_10 = run_cut("10 us");
    const double e20 = error(run_cut("20 us")), e10 = error(at_10), e5 = error(run_cut("5 us")),
                 e2 = error(run_cut("2.5 us"));
    expect_stated("error at 20 us [m]", e20, 3.94e-5);
    expect_stated("error at 10 us [m]", e10, 4.13e-6);
    expect_stated("error at 5 us [m]", e5, 4.57e-7);
    expect_stated("error at 2.5 us [m]", e2, 5.32e-8);
    expect_order("order 5 to 2.5 us", e5, e2, 3.1);
    expect_stated("energy against the whole chain's at 10 us [J]",
                  largest_difference(chain_energy(at_10, 3), whole["part1.energy"]), 21.8);
    EXPECT_NEAR(chain_energy(at_10, 3)[0], 1.74622e6, 5);
    EXPECT_NEAR(chain_energy(at_10, 3).back(), 1.6252e5, 5);
}

TEST(oscillator_chain, without_damping_the_energy_stays) {
    const auto measured = [](const char* step) {
        settings changes = all_positions(step);
        changes.insert(changes.end(), {{"d", "0"}, {"d3", "0"}});
        return drift(chain_energy(run_example("oscillator-chain/scenario.yaml", changes), 3));
    };
    const double e10 = measured("10 us"), e5 = measured("5 us");
    expect_stated("drift of the energy at 10 us", e10, 1.42e-5);
    expect_stated("drift of the energy at 5 us", e5, 1.72e-6);
    expect_order("order", e10, e5, 3.0);
}

TEST(oscillator_chain, sixty_masses_in_six_parts) {
    const temporary_folder folder;
    const auto run_made = [&](const char* arguments) {
        const fs::path file = folder.path() / "chain.yaml";
        std::ofstream(file) << made_chain(arguments);
        return run_file(file, all_positions("10 us"));
    };
    const results cut = run_made("60 6"), whole = run_made("60 1");
    expect_stated("error at 10 us [m]", largest_difference(chain_positions(cut, 60, 6), chain_positions(whole, 60, 1)),
                  1.72e-5);
    expect_stated("energy against the whole chain's [J]",
                  largest_difference(chain_energy(cut, 6), whole["part1.energy"]), 79.7);
}

// pendulum-ode

constexpr double pendulum_g = 9.81, pendulum_c = 2;

column pendulum_energy(const results& r) {
    column energy;
    for (std::size_t i = 0; i < r.rows(); ++i) {
        const double twist = r["left.phi"][i] - r["right.phi"][i];
        energy.push_back(r["left.energy"][i] + r["right.energy"][i] + pendulum_c * twist * twist / 2);
    }
    return energy;
}

TEST(pendulum_ode, total_energy_stays) {
    const auto measured = [](const char* step) {
        return drift(pendulum_energy(run_example("pendulum-ode/scenario.yaml", {{"time.step", step}})));
    };
    const double e10 = measured("10 ms"), e5 = measured("5 ms"), e2 = measured("2.5 ms");
    expect_stated("drift of the energy at 10 ms", e10, 6.53e-5);
    expect_stated("drift of the energy at 5 ms", e5, 8.17e-6);
    expect_stated("drift of the energy at 2.5 ms", e2, 1.02e-6);
    expect_order("order", e5, e2, 3.0);
}

TEST(pendulum_ode, the_swing_wanders_to_the_other_pendulum) {
    const results r = run_example("pendulum-ode/scenario.yaml");
    const column& left = r["left.energy"];
    const auto first_8_s = left.begin() + 400;
    const auto least = std::min_element(left.begin(), first_8_s);
    const double at = r["time"][static_cast<std::size_t>(least - left.begin())];
    fmt::print("{:<48} {:.4g} s\n", "left stands still at", at);
    EXPECT_NEAR(at, 5.22, 0.021);
    expect_below("energy left in 'left' then [J]", *least, 1.5e-4);
}

TEST(pendulum_ode, wall_takes_its_part_at_every_impact) {
    const results r = run_example("pendulum-ode/wall.yaml");
    const double omega = std::sqrt(pendulum_g), restitution = 0.8, k = std::sin(std::numbers::pi / 6);
    const double before_first = 2 * omega * k;  // speed at the lowest point, from the energy at 60 degrees
    double exact_time = std::comp_ellint_1(k) / omega;
    double worst_time = 0, worst_speed = 0, worst_energy = 0;
    int seen = 0;
    for (std::size_t i = 1; i < r.rows(); ++i) {
        const double power = std::pow(restitution, r["pendulum.impacts"][i]);
        worst_energy =
            std::max(worst_energy, std::abs(r["pendulum.energy"][i] / (r["pendulum.energy"][0] * power * power) - 1));
        if (r["pendulum.impacts"][i] < seen + 0.5) continue;
        ++seen;
        worst_time = std::max(worst_time, std::abs(r["pendulum.last_impact"][i] - exact_time));
        worst_speed = std::max(worst_speed, std::abs(r["pendulum.rebound"][i] / (before_first * power) - 1));
        if (seen == 1) fmt::print("{:<48} {:.10g} s\n", "first impact", r["pendulum.last_impact"][i]);
        exact_time += 2 * std::comp_ellint_1(k * power) / omega;
    }
    EXPECT_EQ(seen, 5);
    expect_below("impact times against the elliptic integral [s]", worst_time, 2e-11);
    expect_below("speeds after an impact, relative", worst_speed, 1.4e-10);
    expect_below("energy after n impacts, relative", worst_energy, 3e-10);
}

// driven-shaft

TEST(driven_shaft, follows_the_reference_with_order_3) {
    const results reference = run_example("driven-shaft/monolithic.yaml");
    const auto error = [&](const char* step, const char* variable, const char* name) {
        const results r = run_example("driven-shaft/scenario.yaml", {{"time.step", step}});
        return largest_difference(r[variable], reference[name]);
    };
    const double e200 = error("200 us", "motor.shaft.speed", "both.w1"),
                 e100 = error("100 us", "motor.shaft.speed", "both.w1");
    expect_stated("motor speed at 200 us [rad/s]", e200, 2.16e-4);
    expect_stated("motor speed at 100 us [rad/s]", e100, 2.71e-5);
    expect_stated("load speed at 200 us [rad/s]", error("200 us", "load.shaft.speed", "both.w2"), 3.46e-5);
    expect_order("order", e200, e100, 3.0);
}

/// d/dt (i J1 w1 + J2 w2) = i T - d w2, whatever the gear's torque u is: -u on the motor and +i u on the load cancel.
TEST(driven_shaft, angular_momentum_is_balanced) {
    const results r = run_example("driven-shaft/scenario.yaml");
    const double ratio = 4, J1 = 0.02, J2 = 0.5, d = 0.8;
    const column& T = r["cycle.torque"];
    const column& t = r["time"];
    double impulse = 0, worst = 0, largest = 0;
    for (std::size_t i = 0; i < r.rows(); ++i) {
        if (i > 0) impulse += (t[i] - t[i - 1]) * (T[i] + T[i - 1]) / 2;  // exact: T is linear between rows
        const double momentum = ratio * J1 * r["motor.shaft.speed"][i] + J2 * r["load.shaft.speed"][i];
        worst = std::max(worst, std::abs(momentum - ratio * impulse + d * r["load.shaft.angle"][i]));
        largest = std::max(largest, momentum);
    }
    fmt::print("{:<48} {:.4g} N.m.s\n", "largest angular momentum", largest);
    expect_below("balance of the angular momentum [N.m.s]", worst, 4e-13);
}

// the folders

std::vector<fs::path> example_folders() {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(examples))
        if (entry.is_directory() && entry.path().extension() != ".out") folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    EXPECT_GE(folders.size(), 5U);
    return folders;
}

TEST(examples, every_folder_has_a_readme_and_a_scenario) {
    for (const auto& folder : example_folders()) {
        EXPECT_TRUE(fs::is_regular_file(folder / "README.md")) << folder.string();
        EXPECT_TRUE(fs::is_regular_file(folder / "scenario.yaml")) << folder.string();
    }
}

TEST(examples, every_scenario_passes_the_check) {
    for (const auto& folder : example_folders())
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.path().extension() == ".yaml") {
                EXPECT_NO_THROW(check(read_example(entry.path()))) << entry.path().string();
            }
}

/// Words of a command line; quotes keep blanks together.
std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words;
    std::string word;
    char quote = 0;
    bool open = false;
    for (const char c : line + ' ') {
        if (quote != 0 || (c != ' ' && c != '\'' && c != '"')) {
            if (c == quote)
                quote = 0;
            else
                word += c;
            open = true;
        } else if (c != ' ') {
            quote = c;
            open = true;
        } else if (open) {
            words.push_back(std::move(word));
            word.clear();
            open = false;
        }
    }
    return words;
}

/// `run FILE --step H --set a.b=c ...` as the settings that the command line makes of it.
settings settings_of(const std::vector<std::string>& words) {
    static const std::unordered_map<std::string, std::string> addresses{{"--step", "time.step"},
                                                                        {"--start", "time.start"},
                                                                        {"--end", "time.end"},
                                                                        {"--method", "method"},
                                                                        {"--extrapolation", "extrapolation"}};
    settings changes;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (const auto found = addresses.find(words[i]); found != addresses.end())
            changes.emplace_back(found->second, words[i + 1]);
        if (words[i] != "--set") continue;
        const std::size_t equals = words[i + 1].find('=');
        changes.emplace_back(words[i + 1].substr(0, equals), words[i + 1].substr(equals + 1));
    }
    return changes;
}

/// The commands `build/mdpcosim run ...` and `check ...` shown in a page, checked: their files exist, their options fit.
/// Files that an earlier command of the page made with make_scenario count as well.
int check_commands(const fs::path& page) {
    std::ifstream in(page);
    const temporary_folder made;
    std::unordered_map<std::string, fs::path> written;
    int commands = 0;
    for (std::string line; std::getline(in, line);) {
        const std::vector<std::string> words = words_of(line);
        if (words.size() < 3) continue;
        if (words[0].ends_with("/make_scenario") && words[words.size() - 2] == ">") {
            std::string arguments;
            for (std::size_t i = 1; i + 2 < words.size(); ++i) arguments += words[i] + " ";
            written[words.back()] = made.path() / words.back();
            std::ofstream(written[words.back()]) << made_chain(arguments);
        }
        if (words[0] != "build/mdpcosim" || (words[1] != "run" && words[1] != "check")) continue;
        const auto found = written.find(words[2]);
        const fs::path file = found != written.end() ? found->second : source_dir / words[2];
        EXPECT_TRUE(fs::is_regular_file(file)) << page.string() << ": " << line;
        EXPECT_NO_THROW(check(read_example(file, settings_of(words)))) << page.string() << ": " << line;
        ++commands;
    }
    return commands;
}

TEST(examples, commands_in_the_readmes_work) {
    for (const auto& folder : example_folders()) EXPECT_GE(check_commands(folder / "README.md"), 1) << folder.string();
}

// docs/scenario.md

const fs::path guide = source_dir / "docs" / "scenario.md";

TEST(guide, commands_work) { EXPECT_GE(check_commands(guide), 1); }

TEST(guide, complete_scenarios_run) {
    std::ifstream in(guide);
    std::string block;
    bool inside = false;
    int scenarios = 0;
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("```")) {
            if (inside) block += line + "\n";
            continue;
        }
        if (inside && block.starts_with("mdpcosim: 1")) {
            const temporary_folder out;
            const scenario s = read_scenario_text(block, "guide", guide.parent_path());
            EXPECT_EQ(run(s, {out.path(), 1}).status, "done") << block;
            // The scenario that a run leaves gives the same results.
            const temporary_folder again;
            run(read_scenario(out.path() / "scenario.yaml"), {again.path(), 1});
            EXPECT_EQ(content(out.path() / "results.csv"), content(again.path() / "results.csv")) << block;
            ++scenarios;
        }
        inside = line == "```yaml";
        block.clear();
    }
    EXPECT_GE(scenarios, 2);
}

/// Nothing that a user can name is missing in the guide.
TEST(guide, names_everything) {
    const std::string text = content(guide);
    const auto expect_named = [&](const std::string& name) {
        EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << name;
    };
    for (const char* topic : {"solvers", "laws", "methods"})
        for (const auto& entry : json::parse(list_json(topic))) {
            expect_named(entry.at("name").get<std::string>());
            if (!entry.contains("parameters")) continue;
            for (const auto& parameter : entry.at("parameters")) expect_named(parameter.at("name").get<std::string>());
        }
    for (const auto& kind : port_kinds()) {
        if (kind.kind == port_kind::signal || kind.kind == port_kind::frame) continue;
        expect_named(kind.name);
        expect_named(kind.load);
        for (const auto& motion : kind.motion)
            if (!motion.empty()) expect_named(motion);
    }
    const std::size_t functions = text.find("Functions: `");
    const std::string list = text.substr(functions, text.find("`;", functions) - functions);
    for (const auto& name : function_names()) EXPECT_TRUE(list.find(name) != std::string::npos) << "function " << name;
}

}  // namespace
}  // namespace mdpcosim
