#pragma once

#include <string>

/// Descriptions without any violation, one per version, for tests that spoil them.
namespace mdpcosim::fmi {

inline const std::string good_1 = R"xml(<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="1.0" modelName="Pump" modelIdentifier="pump" guid="{1234}" generationTool="a tool" variableNamingConvention="structured"
    numberOfContinuousStates="2" numberOfEventIndicators="3">
  <UnitDefinitions>
    <BaseUnit unit="rad/s"><DisplayUnitDefinition displayUnit="rpm" gain="9.5492965855137201"/></BaseUnit>
    <BaseUnit unit="K"><DisplayUnitDefinition displayUnit="degC" gain="1" offset="-273.15"/></BaseUnit>
  </UnitDefinitions>
  <TypeDefinitions>
    <Type name="Speed"><RealType quantity="AngularVelocity" unit="rad/s" displayUnit="rpm" max="1000" nominal="100"/></Type>
    <Type name="Mode"><EnumerationType><Item name="off"/><Item name="on"/></EnumerationType></Type>
    <Type name="Count"><IntegerType min="0"/></Type>
  </TypeDefinitions>
  <DefaultExperiment startTime="0.5" stopTime="10" tolerance="1e-6"/>
  <VendorAnnotations><Tool name="a tool"><Annotation name="x" value="1"/></Tool></VendorAnnotations>
  <ModelVariables>
    <ScalarVariable name="J" valueReference="1" variability="parameter"><Real unit="kg.m2" start="0.1"/></ScalarVariable>
    <ScalarVariable name="i" valueReference="2" variability="parameter" causality="internal"><Real/></ScalarVariable>
    <ScalarVariable name="guess" valueReference="3" variability="parameter"><Real start="1" fixed="false"/></ScalarVariable>
    <ScalarVariable name="w" valueReference="4" causality="output"><Real declaredType="Speed" start="3"/><DirectDependency/></ScalarVariable>
    <ScalarVariable name="back" valueReference="4" causality="output" alias="negatedAlias"><Real declaredType="Speed"/></ScalarVariable>
    <ScalarVariable name="speed" valueReference="4" alias="alias"><Real unit="rad/s"/></ScalarVariable>
    <ScalarVariable name="p" valueReference="5" causality="output" variability="continuous"><Real unit="Pa"/>
      <DirectDependency><Name>torque</Name><Name>on</Name></DirectDependency></ScalarVariable>
    <ScalarVariable name="torque" valueReference="6" causality="input"><Real unit="N.m" start="2"/></ScalarVariable>
    <ScalarVariable name="on" valueReference="0" causality="input" variability="discrete"><Boolean/></ScalarVariable>
    <ScalarVariable name="mode" valueReference="0" variability="parameter"><Enumeration declaredType="Mode" start="2"/></ScalarVariable>
    <ScalarVariable name="count" valueReference="1" causality="output" variability="discrete"><Integer declaredType="Count"/></ScalarVariable>
    <ScalarVariable name="file" valueReference="0" variability="parameter"><String start="a b &amp; c"/></ScalarVariable>
    <ScalarVariable name="pi" valueReference="7" variability="constant" causality="none"><Real start="3.14"/></ScalarVariable>
    <ScalarVariable name="x" valueReference="8"><Real start="0.5" fixed="false"/></ScalarVariable>
  </ModelVariables>
  <Implementation>
    <CoSimulation_StandAlone>
      <Capabilities canHandleVariableCommunicationStepSize="true" canInterpolateInputs="true" maxOutputDerivativeOrder="2"
          canBeInstantiatedOnlyOncePerProcess="true" canRunAsynchronuously="false"/>
    </CoSimulation_StandAlone>
  </Implementation>
</fmiModelDescription>
)xml";

inline const std::string good_2 = R"xml(<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Pendulum" guid="{4711}" numberOfEventIndicators="2" variableNamingConvention="structured">
  <ModelExchange modelIdentifier="pendulum" canGetAndSetFMUstate="true"/>
  <CoSimulation modelIdentifier="pendulum_cs" canHandleVariableCommunicationStepSize="true" maxOutputDerivativeOrder="2"
      canInterpolateInputs="true" canBeInstantiatedOnlyOncePerProcess="1" providesDirectionalDerivative="true"/>
  <UnitDefinitions>
    <Unit name="rad"><BaseUnit rad="1"/><DisplayUnit name="deg" factor="57.295779513082323"/></Unit>
    <Unit name="degC"><BaseUnit K="1" factor="1" offset="273.15"/></Unit>
    <Unit name="rad/s"><BaseUnit s="-1" rad="1"/></Unit>
  </UnitDefinitions>
  <TypeDefinitions>
    <SimpleType name="Angle"><Real quantity="Angle" unit="rad" displayUnit="deg" min="-100" nominal="2"/></SimpleType>
    <SimpleType name="Mode"><Enumeration><Item name="off" value="1"/><Item name="on" value="5"/></Enumeration></SimpleType>
  </TypeDefinitions>
  <LogCategories><Category name="logAll"/></LogCategories>
  <DefaultExperiment startTime="0.5" stopTime="10" tolerance="1e-6" stepSize="0.01"/>
  <ModelVariables>
    <ScalarVariable name="phi" valueReference="0" causality="output" initial="exact"><Real declaredType="Angle" start="0.1"/></ScalarVariable>
    <ScalarVariable name="w" valueReference="1" causality="output" initial="exact"><Real unit="rad/s" derivative="1" start="0"/></ScalarVariable>
    <ScalarVariable name="der(w)" valueReference="2"><Real derivative="2"/></ScalarVariable>
    <ScalarVariable name="torque" valueReference="3" causality="input" description="on the joint"><Real start="0" max="10"/></ScalarVariable>
    <ScalarVariable name="mode" valueReference="0" causality="parameter" variability="fixed"><Enumeration declaredType="Mode" start="5"/></ScalarVariable>
    <ScalarVariable name="count" valueReference="1" variability="discrete"><Integer/></ScalarVariable>
    <ScalarVariable name="file" valueReference="0" causality="parameter" variability="tunable"><String start="a b &amp; c"/></ScalarVariable>
    <ScalarVariable name="angle" valueReference="0"><Real unit="rad" displayUnit="deg"/></ScalarVariable>
    <ScalarVariable name="on" valueReference="0" causality="input" variability="discrete"><Boolean start="true"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure>
    <Outputs>
      <Unknown index="1" dependencies=""/>
      <Unknown index="2" dependencies="2" dependenciesKind="constant"/>
    </Outputs>
    <Derivatives>
      <Unknown index="2" dependencies="2"/>
      <Unknown index="3"/>
    </Derivatives>
    <InitialUnknowns>
      <Unknown index="3" dependencies="1 4"/>
    </InitialUnknowns>
  </ModelStructure>
</fmiModelDescription>
)xml";

inline const std::string good_3 = R"xml(<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="Rows" instantiationToken="{0815}">
  <CoSimulation modelIdentifier="rows" canHandleVariableCommunicationStepSize="true" hasEventMode="true" fixedInternalStepSize="1e-3"
      providesIntermediateUpdate="true" mightReturnEarlyFromDoStep="true" canGetAndSetFMUState="true" canSerializeFMUState="true"/>
  <ModelExchange modelIdentifier="rows" needsCompletedIntegratorStep="true" providesDirectionalDerivatives="true"/>
  <UnitDefinitions>
    <Unit name="m"><BaseUnit m="1"/><DisplayUnit name="mm" factor="1000"/></Unit>
  </UnitDefinitions>
  <TypeDefinitions>
    <Float64Type name="Length" unit="m" min="-5"/>
    <EnumerationType name="Gear"><Item name="first" value="-1"/><Item name="second" value="2"/></EnumerationType>
  </TypeDefinitions>
  <ModelVariables>
    <UInt64 name="n" valueReference="10" causality="structuralParameter" start="3"/>
    <Float64 name="x" valueReference="11" initial="exact" declaredType="Length" start="1 2 3">
      <Dimension valueReference="10"/>
      <Alias name="length" displayUnit="mm" description="the same"/>
    </Float64>
    <Float64 name="der(x)" valueReference="12" derivative="11"><Dimension valueReference="10"/></Float64>
    <Float64 name="A" valueReference="13" causality="parameter" start="7"><Dimension valueReference="10"/><Dimension start="2"/></Float64>
    <Float32 name="u" valueReference="14" causality="input" start="0.5" intermediateUpdate="true"/>
    <Int8 name="small" valueReference="15" causality="output"/>
    <Enumeration name="gear" valueReference="16" causality="parameter" declaredType="Gear" start="-1"/>
    <String name="texts" valueReference="17" causality="parameter"><Dimension start="2"/><Start value="one two"/><Start value="three"/></String>
    <Boolean name="flags" valueReference="18" causality="input" start="true false"><Dimension start="2"/></Boolean>
    <Float64 name="z" valueReference="19"><Dimension start="4"/></Float64>
    <Float64 name="time" valueReference="20" causality="independent"/>
    <Binary name="blob" valueReference="21" causality="output"/>
    <Clock name="tick" valueReference="22" causality="input" intervalVariability="triggered"/>
  </ModelVariables>
  <ModelStructure>
    <Output valueReference="15" dependencies="14 11" dependenciesKind="dependent constant"/>
    <Output valueReference="21" dependencies=""/>
    <ContinuousStateDerivative valueReference="12"/>
    <InitialUnknown valueReference="15" dependencies=""/>
    <InitialUnknown valueReference="21"/>
    <InitialUnknown valueReference="12"/>
    <EventIndicator valueReference="19"/>
  </ModelStructure>
</fmiModelDescription>
)xml";

inline const std::string good_terminals = R"xml(<?xml version="1.0"?>
<fmiTerminalsAndIcons fmiVersion="3.0">
  <Terminals>
    <Terminal name="flange" matchingRule="plug" terminalKind="translational" description="left end">
      <TerminalMemberVariable variableName="length" memberName="s" variableKind="signal"/>
      <TerminalMemberVariable variableName="u" memberName="f" variableKind="inflow"/>
      <Terminal name="inner" matchingRule="bus"><TerminalMemberVariable variableName="z" memberName="z" variableKind="signal"/></Terminal>
    </Terminal>
  </Terminals>
</fmiTerminalsAndIcons>
)xml";

}  // namespace mdpcosim::fmi
