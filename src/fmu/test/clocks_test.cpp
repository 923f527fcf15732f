// Clocks that nobody lets tick: told, and refused where an input waits for one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "fmu/fmu_subsystem.hpp"
#include "support/archives.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* clocked = R"(<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="Clocked" instantiationToken="{1}">
  <CoSimulation modelIdentifier="clocked" hasEventMode="true"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent"/>
    <Clock name="tick" valueReference="1" causality="input" intervalVariability="triggered"/>
    <Float64 name="u" valueReference="2" causality="input" variability="discrete" start="0" clocks="1"/>
    <Float64 name="free" valueReference="3" causality="input" start="0"/>
    <Float64 name="y" valueReference="4" causality="output" variability="discrete" clocks="1"/>
  </ModelVariables>
  <ModelStructure><Output valueReference="4"/></ModelStructure>
</fmiModelDescription>
)";

TEST(clocks, are_told_and_inputs_that_wait_for_them_are_refused) {
    const test::temporary_folder folder;
    subsystem_spec spec;
    spec.name = "a";
    spec.kind = subsystem_spec::source_kind::fmu;
    spec.path = folder / "clocked.fmu";
    spec.source.value = "clocked.fmu";
    test::write_file(spec.path, fmi::zip_bytes({{"modelDescription.xml", clocked}}));
    const auto driven = [](const std::string& which) {
        return [which](const std::string& input) { return input == which; };
    };
    EXPECT_THAT(check_fmu_clocks(spec, driven("free")),
                AllOf(HasSubstr("fmu of 'a'"), HasSubstr("do not tick"), HasSubstr("triggered"), HasSubstr("tick"),
                      HasSubstr("u"), HasSubstr("y")));
    try {
        check_fmu_clocks(spec, driven("u"));
        ADD_FAILURE() << "nothing is refused";
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(), AllOf(HasSubstr("'u'"), HasSubstr("ticks of a clock only (tick)")));
    }
}

}  // namespace
}  // namespace mdpcosim
