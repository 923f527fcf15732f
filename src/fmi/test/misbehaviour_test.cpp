#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <elf.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include <cstddef>
#include <filesystem>
#include <sstream>

#include "core/error.hpp"
#include "fmi/test/test_fmu.hpp"
#include "support/archives.hpp"

namespace mdpcosim::fmi {
namespace {

using testing::HasSubstr;

/// Which enumeration item a name is; the FMU's description lists them.
double item(const instance& fmu, const std::string& variable, const std::string& name) {
    for (const enumeration_item& i :
         fmu.description().find_type(fmu.description().find(variable)->declared_type)->items)
        if (i.name == name) return static_cast<double>(i.value);
    ADD_FAILURE() << name;
    return 0;
}

struct culprit {
    std::string where, call_2, call_3;
    kind k = kind::co_simulation;
};
const culprit culprits[] = {
    {"set-up", "fmi2SetupExperiment", ""},
    {"enter-initialization", "fmi2EnterInitializationMode", "fmi3EnterInitializationMode"},
    {"exit-initialization", "fmi2ExitInitializationMode", "fmi3ExitInitializationMode"},
    {"set", "fmi2SetReal", "fmi3SetFloat64"},
    {"get", "fmi2GetReal", "fmi3GetFloat64"},
    {"step", "fmi2DoStep", "fmi3DoStep"},
    {"save", "fmi2GetFMUstate", "fmi3GetFMUState"},
    {"restore", "fmi2SetFMUstate", "fmi3SetFMUState"},
    {"directional", "fmi2GetDirectionalDerivative", "fmi3GetDirectionalDerivative"},
    {"terminate", "fmi2Terminate", "fmi3Terminate"},
    {"reset", "fmi2Reset", "fmi3Reset"},
    {"set-time", "fmi2SetTime", "fmi3SetTime", kind::model_exchange},
    {"set-states", "fmi2SetContinuousStates", "fmi3SetContinuousStates", kind::model_exchange},
    {"derivatives", "fmi2GetDerivatives", "fmi3GetContinuousStateDerivatives", kind::model_exchange},
    {"indicators", "fmi2GetEventIndicators", "fmi3GetEventIndicators", kind::model_exchange},
    {"update", "fmi2NewDiscreteStates", "fmi3UpdateDiscreteStates", kind::model_exchange},
};

class misbehaviour : public testing::TestWithParam<std::tuple<version, culprit>> {
   protected:
    struct told {
        std::string failure;
        bool fatal = false;
        std::vector<std::string> log;
    };

    /// A whole life of an instance that misbehaves at its place; every function is called.
    told live(const std::string& how) {
        const auto& [v, who] = GetParam();
        told result;
        instance_options options{.name = "bad", .kind = who.k, .logging = true};
        options.log = [&](const log_message& m) { result.log.emplace_back(m.text); };
        const auto fmu = make_instance(test_fmu("misbehave", v), options);
        try {
            set(*fmu, {"where", "how"}, {item(*fmu, "where", who.where), item(*fmu, "how", how)});
            initialise(*fmu);
            double sensitivity = 0;
            const double seed[] = {1};
            std::vector<double> x{1};
            if (who.k == kind::model_exchange) {
                leave_event_mode(*fmu, true);
                fmu->set_time(0.1);
                fmu->set_states(x);
                fmu->get_derivatives(x);
                fmu->get_indicators(x);
            }
            set(*fmu, "u", 1);
            if (who.k == kind::co_simulation) fmu->do_step(0, 0.1, true);
            get(*fmu, "y");
            const auto state = fmu->make_state();
            fmu->save(*state);
            fmu->restore(*state);
            fmu->directional_derivative(block_of(*fmu, {"der(x)"}), block_of(*fmu, {"u"}), seed, {&sensitivity, 1});
            fmu->terminate();
            fmu->reset();
        } catch (const fmu_failure& failure) {
            result.failure = failure.what();
            result.fatal = failure.fatal();
        }
        return result;
    }
    std::string call() const {
        const auto& [v, who] = GetParam();
        return v == version::v2 ? who.call_2 : who.call_3;
    }
};

std::vector<std::tuple<version, culprit>> all_places() {
    std::vector<std::tuple<version, culprit>> all;
    for (const culprit& who : culprits) {
        all.emplace_back(version::v2, who);
        if (!who.call_3.empty()) all.emplace_back(version::v3, who);
    }
    return all;
}
INSTANTIATE_TEST_SUITE_P(places, misbehaviour, testing::ValuesIn(all_places()), [](const auto& test) {
    std::string name = std::get<1>(test.param).where;
    std::replace(name.begin(), name.end(), '-', '_');
    return name + (std::get<0>(test.param) == version::v2 ? "_2" : "_3");
});

/// The FMU returns before it writes how far it came.
TEST(discarded_steps, without_a_time_did_nothing) {
    for (const version v : {version::v2, version::v3}) {
        const auto fmu = make_instance(test_fmu("misbehave", v), {.name = "bad"});
        set(*fmu, {"where", "how"}, {item(*fmu, "where", "step"), item(*fmu, "how", "discard")});
        set(*fmu, "when", 0.1);
        initialise(*fmu);
        EXPECT_EQ(fmu->do_step(0, 0.125, true).reached, 0.125);
        const step_result result = fmu->do_step(0.125, 0.125, true);
        EXPECT_EQ(result.status, status::discard);
        EXPECT_EQ(result.reached, 0.125);
    }
}

TEST_P(misbehaviour, nothing) { EXPECT_EQ(live("nothing").failure, ""); }

TEST_P(misbehaviour, warning_is_logged) {
    const told t = live("warning");
    EXPECT_EQ(t.failure, "");
    EXPECT_THAT(t.log, testing::Contains(call() + " returned a warning"));
    EXPECT_THAT(t.log, testing::Contains("as commanded"));
}

TEST_P(misbehaviour, discard_is_returned_or_an_error) {
    const auto& [v, who] = GetParam();
    const bool has_meaning =
        who.where == "step" || (who.k == kind::model_exchange && who.where != "update" && who.where != "set-time");
    if (has_meaning) {
        EXPECT_EQ(live("discard").failure, "");
    } else {
        EXPECT_THAT(live("discard").failure, HasSubstr(call() + " returned discard. The FMU says: 'as commanded'"));
    }
}

TEST_P(misbehaviour, error_and_fatal_name_the_call) {
    const told error = live("error");
    EXPECT_THAT(error.failure, HasSubstr(call() + " returned error. The FMU says: 'as commanded'."));
    EXPECT_FALSE(error.fatal);
    const told fatal = live("fatal");  // the FMU ends the process when it is called again after this
    EXPECT_THAT(fatal.failure, HasSubstr(call() + " returned fatal."));
    EXPECT_TRUE(fatal.fatal);
    EXPECT_THAT(live("unknown-status").failure, HasSubstr(call() + " returned the status 42, which does not exist."));
}

TEST_P(misbehaviour, exceptions_are_caught) {
    EXPECT_THAT(live("throw").failure, HasSubstr("an exception left " + call() + ": thrown as commanded."));
    EXPECT_THAT(live("throw-int").failure, HasSubstr("an exception left " + call() + "."));
}

TEST_P(misbehaviour, logs_of_all_kinds) {
    EXPECT_THAT(live("log-format").log, testing::Contains("%s%n%d"));
    EXPECT_THAT(live("log-format-without-arguments").log, testing::Contains("%s%n%d"));
    EXPECT_THAT(live("log-null").log, testing::Contains("(null)"));
    EXPECT_THAT(live("log-long").log, testing::Contains(std::string(16384, '?')));
}

/// An FMU that throws while it makes an instance loses the memory it took: nobody has a pointer to it.
struct expected_leak {
#ifdef __SANITIZE_ADDRESS__
    __lsan::ScopedDisabler disabler;
#endif
};

std::string refusal(const std::function<void()>& action) {
    try {
        action();
    } catch (const user_error& error) {
        return error.what();
    }
    return "nothing refused";
}

class libraries : public testing::TestWithParam<version> {};
INSTANTIATE_TEST_SUITE_P(versions, libraries, testing::Values(version::v2, version::v3),
                         [](const auto& test) { return test.param == version::v2 ? "v2" : "v3"; });

TEST_P(libraries, that_cannot_be_used) {
    const version v = GetParam();
    const auto made = [&](const std::string& name) {
        return refusal([&] { make_instance(test_fmu(name, v), {.name = "bad"}); });
    };
    const std::string prefix = v == version::v2 ? "fmi2" : "fmi3";
    EXPECT_THAT(made("missing-function"), HasSubstr("has no function '" + prefix + "DoStep'"));
    EXPECT_THAT(made("missing-library"),
                testing::AllOf(HasSubstr("libfmu_absent.so: cannot open shared object file"),
                               HasSubstr("It needs libfmu_absent.so: install what brings it")));
    EXPECT_THAT(made("missing-symbol"), HasSubstr("undefined symbol: mdpcosim_absent_function"));
    EXPECT_THAT(made("wrong-token"), HasSubstr("gave no instance (token '{another-model}'"));
    EXPECT_THAT(made("wrong-token"), HasSubstr("The FMU says: "));
    EXPECT_THAT(made("no-instance"), HasSubstr("gave no instance"));
    [[maybe_unused]] const expected_leak leak;
    EXPECT_THAT(made("throwing-instance"), HasSubstr("an exception left fmi"));
}

TEST_P(libraries, made_for_another_machine) {
    const auto fmu = test_fmu("decay", GetParam());
    const std::filesystem::path library = fmu->library("decay");
    std::ostringstream text;
    text << std::ifstream(library, std::ios::binary).rdbuf();
    const test_folder folder;
    const auto packed = [&](const std::string& bytes) {
        const fmu_texts texts = read_fmu_texts(fmu->path());
        const std::string entry = std::filesystem::relative(library, fmu->folder()).string();
        const auto path =
            folder.write("x.fmu", zip_bytes({{"modelDescription.xml", texts.description}, {entry, bytes}}));
        return refusal([&] { make_instance(open_fmu(path), {.name = "bad"}); });
    };
    std::string bytes = text.str();
    EXPECT_EQ(packed(bytes), "nothing refused");
    bytes[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_AARCH64);
    bytes[offsetof(Elf64_Ehdr, e_machine) + 1] = 0;
    EXPECT_THAT(packed(bytes), HasSubstr("is made for aarch64 (64 bits), but this mdpcosim runs on"));
    EXPECT_THAT(packed("MZ this is Windows"), HasSubstr("is not a shared library"));
    for (const std::size_t size : {100, 4000, 12000})
        EXPECT_THAT(packed(text.str().substr(0, size)), HasSubstr("is damaged: parts of the library are missing"));
}

TEST(library, kinds_that_are_not_offered) {
    const test_folder folder;
    fmu_texts texts = read_fmu_texts(test_fmu("decay", version::v2)->path());
    const std::size_t at = texts.description.find("<ModelExchange");
    texts.description.erase(at, texts.description.find("/>", at) + 2 - at);
    const auto path = folder.write("x.fmu", zip_bytes({{"modelDescription.xml", texts.description}}));
    EXPECT_THAT(refusal([&] { make_instance(open_fmu(path), {.name = "x", .kind = kind::model_exchange}); }),
                HasSubstr("does not offer model exchange, only co-simulation"));
}

}  // namespace
}  // namespace mdpcosim::fmi
