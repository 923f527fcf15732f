// Wrong scenarios: YAML, the sections of the file, time, record, recorded data.
#include "bad_input.hpp"

#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

class bad_shape : public testing::TestWithParam<bad_scenario> {};

TEST_P(bad_shape, is_refused) { expect_refused(GetParam()); }

const std::string time_ = "time: {end: 1 s, step: 1 ms}\n";
const std::string a_ = "subsystems: {a: {model: mass-spring-damper, solver: rk4}}\n";

bad_scenario top(const std::string& name, const std::string& section, std::vector<std::string> message) {
    return {name, time_ + a_ + section + "\n", std::move(message)};
}

bad_scenario timed(const std::string& name, const std::string& section, std::vector<std::string> message) {
    return {name, section + "\n" + a_, std::move(message)};
}

INSTANTIATE_TEST_SUITE_P(
    top, bad_shape,
    testing::Values(
        bad_scenario{"empty", "|>", {"a scenario is a map with 'time' and 'subsystems', not nothing."}},
        bad_scenario{"list", "|>- a\n- b\n", {"a scenario is a map", "not a list"}},
        bad_scenario{"text", "|>hello\n", {"a scenario is a map", "not a number or text"}},
        top("unknown_key", "|>tiem: 3",
            {"scenario: key 'tiem' is not known. Known keys: ", "record", "Did you mean 'time'?"}),
        bad_scenario{"no_time", "|>" + a_, {"scenario: key 'time' is missing."}},
        bad_scenario{"no_subsystems", "|>" + time_, {"scenario: key 'subsystems' is missing."}},
        bad_scenario{"duplicate_key",
                     time_ + a_ + "|>time: {end: 1, step: 1}\n",
                     {"key 'time' stands twice; the first is at line 1, column 1."}},
        top("version", "mdpcosim: |>2", {"this program reads version 1, not '2'"}),
        bad_scenario{"tab", "time:\n\tend|>: 1\n", {"not valid YAML", "tab", "blanks"}},
        bad_scenario{"unclosed_brace", "time: {end: 1\n|>", {"not valid YAML", "a '{' has no '}'"}},
        bad_scenario{"unclosed_quote", "time: \"|>x\n", {"time: a map is expected"}},
        bad_scenario{"binary", std::string("time: |>\0\0\x01", 11), {"this file holds the byte 0x00"}},
        bad_scenario{"two_documents", time_ + a_ + "|>---\nx: 1\n", {"a second document begins here"}},
        bad_scenario{"colon_in_text", "a: b|>: c\n", {"not valid YAML", "quotes"}},
        top("let_list", "let: |>[1]", {"let: a map is expected ('key: value' entries), not a list."}),
        top("let_value_missing", "let:\n  |>c:\n", {"let value 'c': the value is missing."}),
        top("let_map", "let: {c: |>{d: 1}}", {"let value 'c': a number or text is expected, not a map."}),
        top("let_bad_name", "let: {|>2c: 1}", {"let value '2c': a name holds letters, digits"}),
        top("subsystems_twice", "|>subsystems: {}", {"key 'subsystems' stands twice", "line 2, column 1"}),
        bad_scenario{"subsystems_list", time_ + "subsystems: |>[a]\n", {"subsystems: a map is expected", "not a list"}},
        bad_scenario{"subsystems_empty", time_ + "subsystems: |>{}\n", {"at least one subsystem is needed"}},
        top("connections_list", "connections: |>[a]", {"connections: a map is expected", "not a list"}),
        top("signals_map", "signals: |>{a: b}", {"signals: a list of '- a.y -> b.u' is expected, not a map."}),
        top("method_list", "method: |>[explicit]",
            {"method: a number or text, or a map ('key: value' entries), is expected, not a list."}),
        top("method_unknown", "method: |>explict",
            {"method 'explict' does not exist. Methods: explicit", "Did you mean 'explicit'?"}),
        top("method_missing", "|>method:\n", {"method: the value is missing."})),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    time, bad_shape,
    testing::Values(
        timed("number", "time: |>5", {"time: a map is expected ('key: value' entries), not a number or text."}),
        timed("unknown_key", "time: {end: 1, step: 1, |>stop: 2}",
              {"time: key 'stop' is not known. Known keys: start, end, step. Did you mean 'step'?"}),
        timed("misspelt_key", "time: {end: 1, |>stepp: 1}", {"time: key 'stepp' is not known. Did you mean 'step'?"}),
        timed("no_step", "time: |>{end: 1}", {"time: key 'step' is missing."}),
        timed("no_number", "time: {end: |>soon, step: 1}",
              {"time: end: 'soon' is not a number. Write a number, with or without a unit that fits 's'."}),
        timed("nan", "time: {end: |>nan, step: 1}", {"time: end: 'nan' is not a number."}),
        timed("infinite", "time: {end: |>inf, step: 1}", {"time: end: 'inf' is not a number."}),
        timed("too_large", "time: {end: |>1e308 h, step: 1}", {"time: end: '1e308 h' is too large"}),
        timed("unit", "time: {end: 1, step: |>1 m}", {"time: step: in '1 m' the unit 'm' does not fit 's'."}),
        timed("unknown_unit", "time: {end: 1, step: |>1 sek}", {"time: step: in '1 sek' the unit 'sek' is not known"}),
        timed("decimal_comma", "time:\n  end: |>1,5 s\n  step: 1",
              {"time: end: '1,5 s' is not a number. Write decimals with a point."}),
        timed("step_zero", "time: {end: 1, step: |>0}", {"time: step: '0' must be greater than zero."}),
        timed("step_negative", "time: {end: 1, step: |>-1 ms}", {"time: step: '-1 ms' must be greater than zero."}),
        timed("step_tiny", "time: {end: 1, step: |>1e-16}", {"time: step 1e-16 s is too small for 0 s to 1 s"}),
        timed("step_lost_in_rounding", "time: {start: 1e9, end: 1000000001, step: |>1 ns}",
              {"too small for 1000000000 s to 1000000001 s"}),
        timed("end_before_start", "time: {start: 2, end: |>1, step: 1}", {"time: end 1 s must lie after start 2 s."}),
        timed("end_at_start", "time: {start: 2 s, end: |>2000 ms, step: 1}",
              {"time: end 2 s must lie after start 2 s."})),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    record, bad_shape,
    testing::Values(
        top("list", "record: |>[a]", {"record: a map is expected", "not a list"}),
        top("unknown_key", "record: {|>evry: 1}",
            {"record: key 'evry' is not known. Known keys: every, only, units, csv, hdf5. Did you mean 'every'?"}),
        top("every_zero", "record: {every: |>0}", {"record: every: '0' must be greater than zero."}),
        top("every_negative", "record: {every: |>-1 ms}", {"record: every: '-1 ms' must be greater than zero."}),
        top("every_unit", "record: {every: |>1 Hz}", {"record: every: in '1 Hz' the unit 'Hz' does not fit 's'."}),
        top("only_map", "record: {only: |>{a: b}}", {"record: 'only': a number or text is expected, not a map."}),
        top("only_empty", "record: {only: |>[]}",
            {"record: 'only' is an empty list. Leave it out to record everything."}),
        top("only_misspelt", "record: {only: [|>a.mass.positon]}",
            {"record: 'a.mass.positon' matches nothing. There is: a.mass.position, ",
             "Did you mean 'a.mass.position'?"}),
        top("only_matches_nothing", "record: {only: [a.*, |>b.*]}",
            {"record: 'b.*' matches nothing. There is: a.mass.position, a.mass.velocity, a.mass.acceleration."})),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    iteration, bad_shape,
    testing::Values(
        top("solver", "iteration: |>newtn",
            {"iteration: parameter 'solver': 'newtn' is not allowed. Allowed: newton, anderson, iqn-ils, fixed-point.",
             "Did you mean 'newton'?"}),
        top("unknown_key", "iteration: {solver: newton, |>limt: 3}",
            {"iteration: parameter 'limt' does not exist.", "Did you mean 'limit'?"}),
        top("tolerance", "iteration: {tolerance: |>0}", {"parameter 'tolerance': '0' must be greater than zero."}),
        top("limit", "iteration: {limit: |>2.5}", {"parameter 'limit': '2.5' must be a whole number of at least 1."}),
        top("list", "iteration: |>[newton]", {"iteration: a number or text, or a map", "is expected, not a list."}),
        top("points", "method: {name: |>iterated, points: 7}", {"method iterated: points = 7 is too high; at most 6."}),
        top("method_option", "method: {name: iterated, |>pionts: 2}",
            {"method iterated: parameter 'pionts' does not exist.", "Did you mean 'points'?"})),
    scenario_name);

INSTANTIATE_TEST_SUITE_P(
    step_control, bad_shape,
    testing::Values(
        top("no_tolerance", "step-control: |>{atol: 1e-6}", {"step-control: key 'rtol' is missing."}),
        top("unknown_key", "step-control: {rtol: 1e-3, |>smalest: 1 us}",
            {"step-control: key 'smalest' is not known.", "Did you mean 'smallest'?"}),
        top("tolerance_zero", "step-control: {rtol: |>0}", {"step-control: rtol: '0' must be greater than zero."}),
        top("estimate", "step-control: {rtol: 1e-3, estimate: |>trail}",
            {"step-control: estimate: 'trail' is not allowed. Allowed: trial, jump, energy. Did you mean 'trial'?"}),
        top("smallest_above_first", "step-control: {rtol: 1e-3, smallest: |>2 s}",
            {"step-control: smallest 2 s is above the first step, 'time: step', of "}),
        top("replicas", "replicas: |>-1", {"scenario: replicas"})),
    scenario_name);

// recorded data

TEST(bad_file, csv) {
    const test::temporary_folder folder;
    test::write_file(folder / "run.csv", "time,speed\n0,1\n1,fast\n");
    test::write_file(folder / "good.csv", "time,speed\n0,1\n1,2\n");
    const auto message = [&](const std::string& entry) {
        return message_of(time_ + "subsystems:\n  c: {" + entry + "}\n", folder.path());
    };
    expect_message(
        message("file: rum.csv"), "s.yaml:3:13: ",
        {"subsystem 'c': file '", "rum.csv' cannot be read: No such file or directory.", "Did you mean 'run.csv'?"});
    expect_message(message("file: ."), "s.yaml:3:13: ", {"cannot be read: it is a folder, not a file."});
    expect_message(message("file: run.csv"), (folder / "run.csv").string() + ":3:3: ",
                   {"subsystem 'c': column 'speed' (column 2): 'fast' is not a finite number."});
    expect_message(message("file: good.csv, units: {sped: m/s}"),
                   "s.yaml:3:31: ", {"subsystem 'c': units: column 'sped' does not exist.", "Did you mean 'speed'?"});
    expect_message(message("file: good.csv, units: {speed: m/ss}"),
                   "s.yaml:3:38: ", {"column 'speed': the unit 'm/ss' is not known"});
    expect_message(message("file: good.csv, units: [speed]"),
                   "s.yaml:3:30: ", {"subsystem 'c': units: a map is expected"});
    expect_message(message("file: good.csv, interpolation: cubik"), "s.yaml:3:38: ",
                   {"interpolation: 'cubik' is not allowed. Allowed: linear, hold, cubic. Did you mean 'cubic'?"});
    expect_message(message("file: good.csv, solver: rk4"),
                   "s.yaml:3:23: ", {"subsystem 'c': key 'solver' is not known."});
    EXPECT_EQ(message("file: good.csv, units: {speed: m/s}"), "accepted");
}

}  // namespace
}  // namespace mdpcosim
