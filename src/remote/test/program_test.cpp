// Programs as subsystems: the contract, from every language; what they declare wrongly; what becomes of those that fail.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cerrno>
#include <cmath>
#include <random>

#include "core/error.hpp"
#include "remote/program_interview.hpp"
#include "remote/test/program_spec.hpp"
#include "subsystem/factory.hpp"
#include "support/subsystem_contract.hpp"

namespace mdpcosim::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<subsystem_case> program_cases() {
    const settings values{{"mass", "1 kg"}, {"stiffness", "40 N/m"}, {"damping", "0.5 N.s/m"}, {"x0", "1 m"}};
    const std::filesystem::path scripts = std::filesystem::path(MDPCOSIM_SOURCE_DIR) / "examples" / "external-programs";
    std::vector<subsystem_case> all;
    const auto add = [&](const char* name, std::vector<std::string> command, const settings& set,
                         const std::filesystem::path& folder) {
        const subsystem_spec spec = spec_of_program(std::move(command), set, folder);
        all.push_back({name, [spec] { return make_subsystem(spec); }, 0.005});
    };
    add("c", {"./mass"}, values, example_programs);
    add("fortran_with_own_loop", {"./mass_fortran"}, values, example_programs);
    add("python", {"python3", "mass.py"}, values, scripts);
    return all;
}

INSTANTIATE_TEST_SUITE_P(program, subsystem_contract, testing::ValuesIn(program_cases()), case_name);

std::unique_ptr<subsystem> faulty(const settings& set, const std::string& start = "", double limit = 0) {
    std::vector<std::string> command{"./faulty"};
    if (!start.empty()) command.push_back(start);
    subsystem_spec spec = spec_of_program(command, set, test_programs);
    spec.limit = limit;
    return make_subsystem(spec);
}

std::string mistake_of(const settings& set, const std::string& start = "") {
    try {
        faulty(set, start);
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "accepted";
}

void expect_no_process_left() {
    int status = 0;
    EXPECT_EQ(waitpid(-1, &status, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

TEST(program, parameters_reach_it_in_its_units) {
    const auto slow = faulty({{"lag", "2000 ms"}}), fast = faulty({});
    const subsystem_description& d = slow->describe();
    EXPECT_EQ(d.type, "program faulty");
    ASSERT_EQ(d.parameters.size(), 3u);
    const auto shown = [&](std::size_t i) { return d.parameters[i].name + ": " + d.parameters[i].values.at(0); };
    EXPECT_EQ(shown(0), "how: well");
    EXPECT_EQ(shown(1), "when: 0.25 s");
    EXPECT_EQ(shown(2), "lag: 2 s");
    EXPECT_EQ(d.inputs[0].unit, "N");
    EXPECT_EQ(d.inputs[0].max_degree, 1);
    EXPECT_EQ(d.inputs[0].description, "what it follows");
    polynomial one;
    one.c[0] = 1;
    double y = 0;
    slow->initialise(0);
    slow->advance({0, 0.1, 0}, {&one, 1}, {&y, 1});
    EXPECT_NEAR(y, 1 - std::exp(-0.05), 1e-15);
    fast->initialise(0);
    fast->advance({0, 0.1, 0}, {&one, 1}, {&y, 1});
    EXPECT_NEAR(y, 1 - std::exp(-1), 1e-15);
}

TEST(program, wrong_settings_are_told_with_their_place) {
    EXPECT_THAT(mistake_of({{"lagg", "1 s"}}),
                AllOf(StartsWith("s.yaml:7:5: subsystem 'a' (program faulty): parameter 'lagg' does not exist."),
                      HasSubstr("Did you mean 'lag'?")));
    EXPECT_THAT(mistake_of({{"lag", "1 kg"}}), AllOf(HasSubstr("s.yaml:7:9"), HasSubstr("parameter 'lag'")));
    EXPECT_THAT(mistake_of({{"lag", "fast"}}), HasSubstr("'fast' is not a number"));
    EXPECT_THAT(mistake_of({{"lag", "-1 s"}}), HasSubstr("parameter 'lag' must be greater than zero."));
    EXPECT_THAT(mistake_of({{"how", "required"}}),
                HasSubstr("parameter 'level' (level of the tank, in m) is missing."));
    expect_no_process_left();
}

TEST(program, wrong_declarations_are_told) {
    const std::string owner = "s.yaml:5:13: subsystem 'a' (program faulty): ";
    const auto declared = [](const char* how) { return mistake_of({{"how", how}}); };
    EXPECT_THAT(declared("unit"), AllOf(StartsWith(owner + "input 'u'"), HasSubstr("furlong")));
    EXPECT_THAT(declared("not-si"), HasSubstr("unit 'kN' is not SI; use 'N'"));
    EXPECT_THAT(declared("degree"), HasSubstr("a degree is 0 to 6, not 9."));
    EXPECT_THAT(declared("same-name"), HasSubstr("output 'u' is declared twice."));
    EXPECT_THAT(declared("bad-name"), HasSubstr("output '1 y': a name has letters"));
    EXPECT_THAT(declared("rate"), HasSubstr("output 'y': it cannot be its own rate."));
    EXPECT_THAT(declared("no-number"), HasSubstr("there is no input number 5"));
    EXPECT_THAT(declared("port"), HasSubstr("kind 'rotaton' does not exist"));
    EXPECT_THAT(declared("same-port"), HasSubstr("port 'p'"));
    expect_no_process_left();
}

TEST(program, one_that_does_not_introduce_itself_is_told) {
    EXPECT_THAT(
        mistake_of({}, "exit"),
        AllOf(StartsWith(
                  "s.yaml:5:13: subsystem 'a' (program faulty exit): its process ended with status 3 at its start"),
              HasSubstr("it wrote last: cannot find its model"), HasSubstr("mdpcosim_subsystem_open()")));
    EXPECT_THAT(mistake_of({{"how", "quiet-end"}}), HasSubstr("ended with status 0 at its start"));
    EXPECT_THAT(mistake_of({}, "version"), HasSubstr("it speaks version 99 of the protocol"));
    EXPECT_THAT(mistake_of({}, "garbage"), HasSubstr("a message of 4294967295 bytes"));
    expect_no_process_left();
}

TEST(program, one_that_is_not_there_is_told) {
    const auto refusal = [](const std::vector<std::string>& command) {
        try {
            make_subsystem(spec_of_program(command, {}, test_programs));
        } catch (const user_error& problem) {
            return std::string(problem.what());
        }
        return std::string("accepted");
    };
    EXPECT_THAT(refusal({"./fualty"}),
                AllOf(StartsWith("s.yaml:5:13: subsystem 'a': program './fualty' does not exist"),
                      HasSubstr("Did you mean 'faulty'?")));
    EXPECT_THAT(refusal({"no-such-program-anywhere"}), HasSubstr("nor in PATH"));
    EXPECT_THAT(refusal({MDPCOSIM_SOURCE_DIR "/examples/external-programs/mass.py"}),
                AllOf(HasSubstr("cannot be executed"), HasSubstr("name its interpreter")));
    EXPECT_THAT(refusal({"/bin/true"}), HasSubstr("ended with status 0 at its start"));
    expect_no_process_left();
}

/// What a program says may be damaged: it is refused by an error of the two promised kinds, or it still makes sense.
TEST(program, damaged_messages_are_refused) {
    program_declaration d;
    d.inputs.resize(2);
    d.outputs.resize(2);
    d.inputs[0].name = "p.force", d.inputs[1].name = "u", d.outputs[0].name = "p.position", d.outputs[1].name = "y";
    d.outputs[1].direct = "u p.force", d.outputs[0].rate = "y";
    d.ports.push_back({"p", "translation", "takes-load", "", "a port"});
    std::vector<std::vector<char>> frames;
    const auto add = [&](const auto& message) {
        wire_writer to;
        put(to, message);
        frames.emplace_back(to.bytes().begin(), to.bytes().end());
    };
    add(d);
    add(program_question{"gain", "N/m", "gain", program_question::kind::list, false, {2, 3}});
    add(program_refusal{"no licence"});
    std::mt19937 random(20261115);
    int refused = 0, understood = 0;
    for (int i = 0; i < 5000; ++i) {  // damaged sizes make some of them costly
        std::vector<char> bytes = frames[random() % frames.size()];
        for (unsigned k = random() % 4; k > 0; --k) bytes[random() % bytes.size()] = static_cast<char>(random());
        if (random() % 4 == 0) bytes.resize(random() % (bytes.size() + 1));
        try {
            const auto said = get_program_message(bytes);
            program_interview interview(spec_of_program({"./x"}));
            if (const auto* question = std::get_if<program_question>(&said)) interview.answer(*question);
            if (const auto* declared = std::get_if<program_declaration>(&said)) interview.meet(*declared);
            ++understood;
        } catch (const run_error&) {
            ++refused;
        } catch (const user_error&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 1250);
    EXPECT_GT(understood, 500);
}

/// The reason of the failure in the first step that ends at 0.25 s or later.
std::string failure_of(const settings& set, const std::string& start = "", double limit = 0) {
    const auto s = faulty(set, start, limit);
    try {
        s->initialise(0);
        std::vector<polynomial> inputs(1);
        double y = 0;
        for (int n = 0; n < 10; ++n) s->advance({0.05 * n, 0.05 * (n + 1), n}, inputs, {&y, 1});
        return fmt::format("nothing, y = {}", y);
    } catch (const run_error& problem) {
        return problem.what();
    }
}

TEST(program, failures_are_told_with_the_last_words) {
    for (const char* start : {"", "loop"}) {
        const auto fault = [&](const char* how, double limit = 0) { return failure_of({{"how", how}}, start, limit); };
        EXPECT_THAT(fault("exit"), HasSubstr("ended with status 7 in advance; it wrote last: no licence"));
        EXPECT_THAT(fault("kill"), HasSubstr("killed by signal 9 (Killed) in advance; it wrote last: about to fall"));
        EXPECT_THAT(fault("segfault"), HasSubstr("killed by signal 11"));
        EXPECT_THAT(fault("hang", 0.3),
                    AllOf(HasSubstr("did not answer within 0.3 s in advance"), HasSubstr("it wrote last: thinking")));
        EXPECT_THAT(fault("orphan", 0.3), HasSubstr("did not answer within 0.3 s"));
        EXPECT_THAT(fault("close", 0.3), HasSubstr("did not answer within 0.3 s"));
        EXPECT_THAT(fault("fail"), HasSubstr("the valve is stuck"));
        EXPECT_THAT(fault("number"), HasSubstr("there is no output number 99; there are 1"));
        EXPECT_EQ(fault("nan"), "nothing, y = nan");  // the transport looks at numbers
        EXPECT_THAT(fault("well"), HasSubstr("nothing"));
    }
    EXPECT_THAT(failure_of({{"how", "status"}}), HasSubstr("its function 'advance' returned 3"));
    EXPECT_THAT(failure_of({{"how", "initialise"}}), HasSubstr("no steady state"));
    EXPECT_THAT(failure_of({{"how", "twice"}}, "loop"), HasSubstr("receive was called twice, without send between"));
    EXPECT_THAT(failure_of({{"how", "between"}}, "loop"), HasSubstr("it wrote last: lost between two steps"));
    expect_no_process_left();
}

}  // namespace
}  // namespace mdpcosim::test
