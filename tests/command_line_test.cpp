// The program as a user meets it: a mistake ends with status 2, one message on standard error, nothing on standard output and
// no run folder.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "bad_input.hpp"
#include "core/json.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;

const std::string good_ = R"(let: {c: 1 kN/m}
time: {end: 10 ms, step: 1 ms}
subsystems:
  a: {model: mass-spring-damper, set: {mass: 1 kg}, solver: rk4}
  b: {model: mass-spring-damper, solver: rk4}
connections:
  k: {law: spring, between: [a.mass, b.mass], stiffness: $c}
)";

struct outcome {
    int status = -1;
    std::string out, err;
};

class command_line : public testing::Test {
   protected:
    command_line() { test::write_file(folder_ / "s.yaml", good_); }

    /// Runs the program in the test's folder, as a shell would.
    outcome run(const std::string& arguments) {
        const fs::path logs = folder_.path() / "logs";
        fs::create_directories(logs);
        const std::string command = "cd '" + folder_.path().string() + "' && '" MDPCOSIM_PROGRAM "' " + arguments +
                                    " >'" + (logs / "out").string() + "' 2>'" + (logs / "err").string() + "'";
        const int status = std::system(command.c_str());
        outcome result{WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(logs / "out"), content(logs / "err")};
        fs::remove_all(logs);
        return result;
    }

    void expect_refused(const std::string& arguments, const std::string& begin, const std::vector<std::string>& parts) {
        const std::vector<std::string> before = entries();
        const outcome result = run(arguments);
        SCOPED_TRACE(arguments);
        EXPECT_EQ(result.status, 2) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_TRUE(result.err.ends_with("\n"));
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
        expect_message(result.err.substr(0, result.err.find_last_not_of('\n') + 1), "mdpcosim: " + begin, parts);
        EXPECT_EQ(entries(), before) << "a run folder is left behind";
    }

    /// `run` and `check` say the same about a scenario.
    void expect_refused_scenario(const bad_scenario& bad) {
        const auto [text, place] = without_mark(bad.text, "bad.yaml");
        test::write_file(folder_ / "bad.yaml", text);
        expect_refused("run bad.yaml", place, bad.message);
        expect_refused("run bad.yaml --json --out r", place, bad.message);
        expect_refused("check bad.yaml", place, bad.message);
        fs::remove(folder_.path() / "bad.yaml");
    }

    std::vector<std::string> entries() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_.path()))
            names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        return names;
    }

    static std::string content(const fs::path& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }

    test::temporary_folder folder_;
};

TEST_F(command_line, a_good_scenario_runs) {
    const outcome result = run("run s.yaml --quiet --out r");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(fs::exists(folder_.path() / "r" / "results.csv"));
    EXPECT_EQ(run("check s.yaml").status, 0);
}

TEST_F(command_line, the_resolved_scenario_runs_and_resolves_to_itself) {
    ASSERT_EQ(run("run s.yaml --quiet --out r").status, 0);
    const outcome again = run("run r/scenario.yaml --quiet --out r2");
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(content(folder_.path() / "r" / "scenario.yaml"), content(folder_.path() / "r2" / "scenario.yaml"));
    EXPECT_EQ(content(folder_.path() / "r" / "results.csv"), content(folder_.path() / "r2" / "results.csv"));
}

TEST_F(command_line, wrong_scenarios) {
    expect_refused_scenario({"key", "|>tiem: 1\n" + good_, {"key 'tiem' is not known.", "Did you mean 'time'?"}});
    expect_refused_scenario({"port",
                             "time: {end: 1, step: 1}\nsubsystems: {crank: {model: inertia, solver: rk4}}\n"
                             "connections: {shaft: {law: spring, between: [|>crank.shaff, crank.end], stiffness: 1}}\n",
                             {"connection 'shaft': port 'crank.shaff' does not exist. Subsystem 'crank' has: shaft, "
                              "end. Did you mean 'crank.shaft'?"}});
    expect_refused_scenario({"model",
                             "time: {end: 1, step: 1}\nsubsystems: {a: {model: |>inertai, solver: rk4}}\n",
                             {"Did you mean 'inertia'?"}});
    expect_refused_scenario(
        {"mass",
         "time: {end: 1, step: 1}\nsubsystems: {a: {model: inertia, solver: rk4, set: {inertia: |>-1}}}\n",
         {"parameter 'inertia': '-1' must be greater than zero."}});
    expect_refused_scenario({"unit",
                             "time: {end: 1, step: |>1 kg}\nsubsystems: {a: {model: inertia}}\n",
                             {"the unit 'kg' does not fit 's'"}});
    expect_refused_scenario(
        {"gain_unit", good_ + "signals: [|>3 Nn*a.mass.position -> b.mass.force]\n", {"the unit 'Nn' is not known"}});
    expect_refused_scenario({"record", good_ + "record: {only: |>c.*}\n", {"record: 'c.*' matches nothing."}});
    expect_refused_scenario(
        {"loop",
         "time: {end: 1, step: 1}\nsubsystems: {a: {ode: {inputs: {u: 0}, outputs: {y: 2*u}}, solver: rk4}}\n"
         "signals: [|>a.y -> a.u]\n",
         {"algebraic loop a.y -> a.u -> a.y"}});
    expect_refused_scenario({"garbage",
                             std::string("ab: c\nd: |>\x7f\x45\x4c\x46\x02\x01\x00\x00\x01\xff\xfe{[", 24),
                             {"this file holds the byte 0x7f"}});
    expect_refused_scenario({"empty", "|>", {"a scenario is a map with 'time' and 'subsystems', not nothing."}});
}

TEST_F(command_line, wrong_files) {
    fs::create_directories(folder_.path() / "dir");
    expect_refused("run nothing.yaml", "nothing.yaml: ", {"the file cannot be read (No such file or directory)."});
    expect_refused("check nothing.yaml", "nothing.yaml: ", {"cannot be read"});
    expect_refused("run dir", "dir: ", {"this is a folder, not a scenario file."});
    expect_refused("run s.yaml/x.yaml", "s.yaml/x.yaml: ", {"cannot be read (Not a directory)."});
    expect_refused("run /proc/self/mem", "/proc/self/mem: ", {"cannot be read (Input/output error)."});
}

TEST_F(command_line, a_misspelt_data_file_is_suggested_beside_the_scenario) {
    test::write_file(folder_ / "run.csv", "time,x\n0,1\n1,2\n");
    expect_refused_scenario({"data",
                             "time: {end: 1, step: 1}\nsubsystems: {c: {file: |>rum.csv}}\n",
                             {"file 'rum.csv' cannot be read: No such file or directory. Did you mean 'run.csv'?"}});
}

TEST_F(command_line, wrong_settings) {
    expect_refused("run s.yaml --set a.mass",
                   "--set a.mass: ", {"write object.parameter=value, for example --set spring.stiffness='2 kN/m'."});
    expect_refused("run s.yaml --set =3", "--set =3: ", {"write object.parameter=value"});
    expect_refused("run s.yaml --set kk.mass=3",
                   "--set kk.mass=3: ", {"object 'kk' does not exist. The scenario has: a, b, k. Did you mean 'k'?"});
    expect_refused(
        "run s.yaml --set a.mas=3", "--set a.mas=3: ",
        {"subsystem 'a' (model mass-spring-damper): parameter 'mas' does not exist.", "Did you mean 'mass'?"});
    expect_refused("run s.yaml --set a.solver.stp=3",
                   "--set a.solver.stp=3: ", {"solver rk4: parameter 'stp' does not exist. It has: step."});
    expect_refused("run s.yaml --set k.stifness=3", "--set k.stifness=3: ",
                   {"connection 'k' (law spring): parameter 'stifness' does not exist.", "Did you mean 'stiffness'?"});
    expect_refused("run s.yaml --set cc=3",
                   "--set cc=3: ", {"let value 'cc' does not exist. 'let' has: c. Did you mean 'c'?"});
    expect_refused("run s.yaml --set a.mass='3 m'",
                   "--set a.mass=3 m: ", {"parameter 'mass': in '3 m' the unit 'm' does not fit 'kg'."});
    expect_refused("run s.yaml --step 0", "--step 0: ", {"time: step: '0' must be greater than zero."});
    expect_refused("run s.yaml --step=-1", "--step -1: ", {"time: step: '-1' must be greater than zero."});
    expect_refused("run s.yaml --end soon", "--end soon: ", {"time: end: 'soon' is not a number."});
    expect_refused("run s.yaml --end ''", "run: --end: ", {"the value is empty."});
    expect_refused("run s.yaml --start 5", "", {"time: end 0.01 s must lie after start 5 s."});
    expect_refused("run s.yaml --method implicit",
                   "--method implicit: ", {"method 'implicit' does not exist. Methods: explicit"});
    expect_refused("run s.yaml --extrapolation polly-2",
                   "--extrapolation polly-2: ", {"extrapolation 'polly-2' does not exist.", "Did you mean 'poly-2'?"});
}

TEST_F(command_line, wrong_options) {
    expect_refused("run s.yaml --stepp 1",
                   "run: ", {"option '--stepp' does not exist. Did you mean '--step'?", "'mdpcosim run --help'"});
    expect_refused("run s.yaml -x", "run: ", {"option '-x' does not exist."});
    expect_refused("run s.yaml t.yaml", "run: ", {"'t.yaml' is one argument too many."});
    expect_refused("run", "run: ", {"scenario is required"});
    expect_refused("run s.yaml --step", "run: ", {"option '--step' takes one value."});
    expect_refused("run s.yaml --workers 0", "run: --workers: ", {"'0' must be a whole number from 1 to 4096."});
    expect_refused("run s.yaml --workers two", "run: --workers: ", {"'two' must be a whole number from 1 to 4096."});
    expect_refused("run s.yaml --workers 1.5", "run: --workers: ", {"'1.5' must be a whole number"});
    expect_refused("run s.yaml --transport mail", "run: --transport: ",
                   {"transport 'mail' is not available in this version. Available: threads, processes, tcp, mpi."});
    expect_refused(
        "rum s.yaml", "",
        {"subcommand 'rum' does not exist. mdpcosim has: run, serve, check, advise, list", "Did you mean 'run'?"});
    expect_refused("", "",
                   {"a subcommand is missing. mdpcosim has: run, serve, check, advise, list", "'mdpcosim --help'"});
    expect_refused("--versio", "", {"option '--versio' does not exist. Did you mean '--version'?"});
    expect_refused("list", "list: ", {"topic is required"});
    expect_refused("list modells", "list: ",
                   {"topic 'modells' does not exist. 'mdpcosim list' has: models, laws", "Did you mean 'models'?"});
    expect_refused("list modells --json", "list: ", {"topic 'modells' does not exist."});
}

/// Hexadecimal, octal, with units, signs or blanks, too large: no option guesses.
TEST_F(command_line, numbers_are_decimal_and_of_a_size_that_makes_sense) {
    const std::vector<std::string> whole{
        "run s.yaml --workers",        "bench transport --runs",      "bench joints --joints",
        "bench extrapolations --each", "bench extrapolations --seed", "bench trust --each",
        "bench trust --seed",          "stability --optimise --seed", "stability --figure 2.13 --points",
        "longtime --periods",          "order --input-degree"};
    for (const auto& command : whole)
        for (const char* value : {"0x2", "1e1", "1.0", "+2", "-2", " 2", "1_0", "nan", "99999999999999999999"}) {
            SCOPED_TRACE(command + " " + value);
            const outcome result = run(command + "='" + value + "'");
            EXPECT_EQ(result.status, 2) << result.err;
            EXPECT_NE(result.err.find(command.substr(command.rfind("--"))), std::string::npos) << result.err;
            EXPECT_NE(result.err.find("must be a whole number from "), std::string::npos) << result.err;
        }
    for (const char* command :
         {"run s.yaml --wait", "serve s.yaml a --connect 127.0.0.1:1 --wait", "bench multirate --frequency-ratio"})
        for (const char* value : {"0x2", "nan", "inf", "-1", "+1", "2 s", "1,5"})
            expect_refused(std::string(command) + "='" + value + "'", "", {"' must be a number "});
    expect_refused("run s.yaml --wait 1e300", "run: --wait: ", {"'1e300' is too high; at most 1000000."});
    expect_refused("bench joints --joints 2 010x",
                   "bench joints: --joints: ", {"'010x' must be a whole number from 1"});
    EXPECT_EQ(run("run s.yaml --quiet --workers 08 --out r").status, 0) << "no octal number";
}

TEST_F(command_line, wrong_analyses) {
    expect_refused("order --extrapolation polly-2",
                   "--extrapolation polly-2: ", {"extrapolation 'polly-2' does not exist.", "Did you mean 'poly-2'?"});
    expect_refused("order --extrapolation lin-2-3", "--extrapolation lin-2-3: ", {"Allowed: lin-2-4", "lin-2-3-opt"});
    expect_refused("order --extrapolation '{degree: 1, a: [0.5, 0.4]}'",
                   "--extrapolation {degree: 1, a: [0.5, 0.4]}: ", {"the coefficients a must add up to 1"});
    expect_refused("order --extrapolation '{degree: 1, c: [1]}'",
                   "--extrapolation {degree: 1, c: [1]}: ", {"key 'c' is not known."});
    expect_refused("order --method implicit",
                   "--method implicit: ", {"method 'implicit' does not exist. mdpcosim has: explicit"});
    expect_refused("order --input-degree 7", "--input-degree 7: ", {"'7' must be a whole number from 0 to 6."});
    expect_refused("order --input-degree=-1", "--input-degree -1: ", {"'-1' must be a whole number from 0 to 6."});
    expect_refused("order --F 3", "order: ", {"option '--F' does not exist."});
    expect_refused("order --extrapolation poly-1 --svg no/such/folder.svg",
                   "no/such/folder.svg: ", {"the picture cannot be written (No such file or directory)."});
    expect_refused("longtime --F 0", "--F 0: ", {"'0' must be greater than zero."});
    expect_refused("longtime --F=-10", "--F -10: ", {"'-10' must be greater than zero."});
    expect_refused("longtime --F stiff", "--F stiff: ", {"'stiff' is not a number. Examples: 3.16, 1e-2, 10^1/2."});
    expect_refused("longtime --V 0", "--V 0: ", {"'0' must be greater than zero."});
    expect_refused("longtime --mass-ratio=-1", "--mass-ratio -1: ", {"'-1' must be greater than zero."});
    expect_refused("longtime --frequency-ratio 1/0", "--frequency-ratio 1/0: ", {"'1/0' is not a number."});
    expect_refused("longtime --V 4 --mass-ratio 1 --frequency-ratio 3", "--frequency-ratio 3: ",
                   {"with --V 4 and --mass-ratio 1 the frequency ratio is 2. Give two of the three."});
    expect_refused("longtime --damping=-0.1", "--damping -0.1: ", {"'-0.1' must not be negative."});
    expect_refused("longtime --coupling-damping=-1", "--coupling-damping -1: ", {"'-1' must not be negative."});
    expect_refused("longtime --step 0", "--step 0: ", {"'0' must be greater than zero."});
    for (const std::string option : {"longtime --step", "longtime --coupling-damping", "stability --damping"})
        expect_refused(option + " 99999999999999999999",
                       option.substr(option.find("--")) + " 99999999999999999999: ", {"is too high; at most 1e+12."});
    expect_refused("longtime --periods 0", "--periods 0: ", {"'0' must be a whole number from 1 to 10000."});
    expect_refused("longtime --variant force-forse", "--variant: ",
                   {"variant 'force-forse' does not exist.", "has: force-force, force-displacement",
                    "Did you mean 'force-force'?"});
    expect_refused("longtime --displacement-extrapolation lin-2-3-opt --coupling-damping 0.1",
                   "longtime: ", {"extrapolation 'lin-2-3-opt' needs du/dt", "take one without rates"});
}

TEST_F(command_line, analyses) {
    const outcome order = run("order --extrapolation lin-2-3-opt '{degree: 0, a: [1.5, -0.5]}' --json --svg o.svg");
    ASSERT_EQ(order.status, 0) << order.err;
    const auto orders = json::parse(order.out)["orders"];
    ASSERT_EQ(orders.size(), 2u);
    EXPECT_NEAR(orders[0]["local"]["q"]["order"].get<double>(), 3, 0.05);
    EXPECT_EQ(orders[1]["extrapolation"], "const-2-2-own");
    EXPECT_TRUE(content(folder_.path() / "o.svg").starts_with("<svg"));

    const outcome longtime =
        run("longtime --extrapolation lin-2-3-opt --F 10^1/2 --mass-ratio 1/4 --frequency-ratio 2 "
            "--step 0.1 --json --svg l.svg");
    ASSERT_EQ(longtime.status, 0) << longtime.err;
    const auto result = json::parse(longtime.out)["longtime"][0];
    EXPECT_NEAR(result["F"].get<double>(), std::sqrt(10), 1e-15);
    EXPECT_EQ(result["V"], 1.0);
    EXPECT_EQ(result["omega_H"], 0.1);
    EXPECT_EQ(result["variants"].size(), 3u);
    EXPECT_TRUE(content(folder_.path() / "l.svg").ends_with("</svg>\n"));
    const outcome table = run("longtime --variant force-force --F 10 100");
    EXPECT_EQ(table.status, 0);
    EXPECT_NE(table.out.find("F = 100"), std::string::npos);
    EXPECT_EQ(table.out.find("displacement"), std::string::npos);
}

TEST_F(command_line, help_is_no_mistake) {
    for (const char* arguments : {"--help", "--version", "run --help", "list models", "list models --json",
                                  "order --help", "longtime --help"}) {
        const outcome result = run(arguments);
        EXPECT_EQ(result.status, 0) << arguments;
        EXPECT_NE(result.out, "") << arguments;
        EXPECT_EQ(result.err, "") << arguments;
    }
}

TEST_F(command_line, wrong_out_folders) {
    test::write_file(folder_ / "taken", "x");
    expect_refused("run s.yaml --out taken",
                   "--out taken: ", {"the folder cannot be made (a file of this name exists)."});
    expect_refused("run s.yaml --out taken/deeper",
                   "--out taken/deeper: ", {"the folder cannot be made (Not a directory)."});
    EXPECT_EQ(content(folder_.path() / "taken"), "x");
}

TEST_F(command_line, a_folder_in_use_is_refused_and_left_alone) {
    fs::create_directories(folder_.path() / "r");
    test::write_file(folder_ / "r/results.csv", "the other run's");
    const int lock = ::open((folder_.path() / "r" / ".running").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    ASSERT_GE(lock, 0);
    ASSERT_EQ(::flock(lock, LOCK_EX), 0);
    expect_refused("run s.yaml --out r", "--out r: ",
                   {"another mdpcosim is running in this folder. Wait for it or choose another folder with --out."});
    EXPECT_EQ(content(folder_.path() / "r" / "results.csv"), "the other run's");
    ::close(lock);
    EXPECT_EQ(run("run s.yaml --quiet --out r").status, 0);
}

}  // namespace
}  // namespace mdpcosim
