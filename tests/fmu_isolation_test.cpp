// `isolate: auto`: what a trial finds decides whether an FMU lives apart.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/messages.hpp"
#include "scenario/read.hpp"
#include "simulation/isolation.hpp"

namespace mdpcosim {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

/// The entry as a run would have it.
fmu_spec chosen(const std::string& fmu, const std::string& more, bool goes_back = false) {
    scenario s = read_scenario_text(fmt::format("time: {{end: 1 s, step: 10 ms}}\nsubsystems:\n  a: {{fmu: "
                                                "{}/fmus/{}.fmu{}}}\n",
                                                MDPCOSIM_BINARY_DIR, fmu, more),
                                    "s.yaml");
    choose_isolation(s, goes_back);
    return s.subsystems.front().fmu;
}

std::string misbehaving(const std::string& where, const std::string& how) {
    return fmt::format(", set: {{where: {}, how: {}, when: 0 s}}", where, how);
}

TEST(isolation, whoever_crashes_in_the_trial_lives_apart) {
    for (const char* version : {"2", "3"}) {
        const fmu_spec a = chosen(fmt::format("misbehave-{}", version), misbehaving("step", "crash"));
        EXPECT_TRUE(a.isolate);
        EXPECT_THAT(a.isolate_because.value, AllOf(HasSubstr("in a trial its process"),
                                                   ContainsRegex("SIGSEGV|Segmentation"), HasSubstr(" in advance")));
    }
    EXPECT_THAT(chosen("crash-at-load-2", "").isolate_because.value, HasSubstr("in a trial"));
    EXPECT_TRUE(chosen("misbehave-2", misbehaving("step", "raw-exit-0")).isolate);
    EXPECT_TRUE(chosen("misbehave-2", misbehaving("step", "error")).isolate) << "what fails is not trusted either";
}

/// What the trial says of the FMU.
std::vector<std::string> told_of(const std::string& fmu, const std::string& more) {
    std::vector<std::string> told;
    const message_scope listening([&](const std::string& text) { told.push_back(text); });
    chosen(fmu, more);
    return told;
}

TEST(isolation, parameters_without_their_declared_values_are_told) {
    EXPECT_THAT(told_of("forgetful-witness-2", ""),
                testing::ElementsAre(AllOf(HasSubstr("'a'"), HasSubstr("forgetful-witness-2.fmu"),
                                           HasSubstr("'gain' is 0 and not 2"), HasSubstr("set: {\"gain\": 2}"))));
    EXPECT_THAT(told_of("forgetful-witness-2", ", set: {gain: 2}"), testing::IsEmpty());
    for (const char* sound : {"converting-witness-2", "witness-2", "witness-3", "decay-1-cs", "plain-oscillator-2",
                              "feedthrough-1-me", "feedthrough-2", "feedthrough-3", "gauge-2", "gauge-3", "workshop-3"})
        EXPECT_THAT(told_of(sound, ""), testing::IsEmpty()) << sound;
}

TEST(isolation, states_are_saved_in_the_trial_where_the_run_goes_back) {
    for (const char* where : {"save", "restore"}) {
        EXPECT_THAT(chosen("misbehave-2", misbehaving(where, "crash")).isolate_because.value,
                    HasSubstr("a step takes"));
        const fmu_spec back = chosen("misbehave-2", misbehaving(where, "crash"), true);
        EXPECT_TRUE(back.isolate) << where;
        EXPECT_THAT(back.isolate_because.value, ContainsRegex("in a trial .*(make_snapshot|restore)")) << where;
    }
}

TEST(isolation, the_end_of_the_fmu_is_tried) {
    for (const char* where : {"terminate", "free"})
        for (const char* how : {"crash", "abort", "raw-exit-0"}) {
            const fmu_spec a = chosen("misbehave-2", misbehaving(where, how));
            EXPECT_TRUE(a.isolate) << where << ' ' << how;
            EXPECT_THAT(a.isolate_because.value, AllOf(HasSubstr("in a trial its process"), HasSubstr("in its end")))
                << where << ' ' << how;
        }
    // What it returns there changes no result any more.
    EXPECT_THAT(chosen("misbehave-2", misbehaving("terminate", "error")).isolate_because.value,
                HasSubstr("a step takes"));
}

TEST(isolation, one_instance_per_process_is_kept_to) {
    const auto read = [](const std::string& entries) {
        scenario s = read_scenario_text("time: {end: 1 s, step: 10 ms}\nsubsystems:\n" + entries, "s.yaml");
        choose_isolation(s, false);
        return s;
    };
    const std::string fmu = fmt::format("{{fmu: {}/fmus/single-oscillator-2.fmu", MDPCOSIM_BINARY_DIR);
    const scenario several = read("  a: " + fmu + "}\n  b: " + fmu + "}\n  c: " + fmu + ", isolate: false}\n");
    for (const int i : {0, 1}) {
        EXPECT_TRUE(several.subsystems[i].fmu.isolate);
        EXPECT_THAT(several.subsystems[i].fmu.isolate_because.value,
                    AllOf(HasSubstr("one instance per process"), HasSubstr("3 entries")));
    }
    EXPECT_FALSE(several.subsystems[2].fmu.isolate);
    EXPECT_THAT(read("  a: " + fmu + "}\n").subsystems[0].fmu.isolate_because.value, HasSubstr("a step takes"));
}

TEST(isolation, the_choice_of_a_scenario_is_left_alone) {
    for (const char* choice : {", isolate: false", ", isolate: true", ", isolate: {apart: false, because: I say so}"}) {
        const fmu_spec a = chosen("crash-at-load-2", choice);
        EXPECT_EQ(a.isolate, std::string(choice) == ", isolate: true");
        EXPECT_THAT(a.isolate_because.value, testing::Not(HasSubstr("trial")));
    }
}

TEST(isolation, the_choice_is_written_and_read) {
    scenario s = read_scenario_text(fmt::format("time: {{end: 1 s, step: 10 ms}}\nsubsystems:\n  a: {{fmu: "
                                                "{}/fmus/decay-2.fmu, isolate: auto}}\n",
                                                MDPCOSIM_BINARY_DIR),
                                    "s.yaml");
    choose_isolation(s, false);
    const fmu_spec& a = s.subsystems.front().fmu;
    EXPECT_THAT(a.isolate_because.value, HasSubstr("a step takes"));
    const scenario again = read_scenario_text(write_scenario(s), "again.yaml");
    EXPECT_EQ(again.subsystems.front().fmu.isolate, a.isolate);
    EXPECT_TRUE(again.subsystems.front().fmu.isolate_decided);
    EXPECT_EQ(again.subsystems.front().fmu.isolate_because.value, a.isolate_because.value);
}

/// The run will say it, with its place.
TEST(isolation, mistakes_are_not_for_the_trial) {
    EXPECT_FALSE(chosen("decay-2", ", set: {nonsense: 1}").isolate_decided);
}

}  // namespace
}  // namespace mdpcosim
