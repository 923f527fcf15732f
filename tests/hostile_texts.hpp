#pragma once

#include <string>
#include <vector>

/// What hostile_inputs.hpp damages: a block diagram, and a system of SSP with values, units and a dictionary.
namespace mdpcosim::test {

inline const std::string hostile_blocks = R"(time: {end: 1 ms, step: 100 us}
subsystems:
  plant:
    model: blocks
    parts:
      u: {kind: input, start: 1}
      gain: {kind: function, of: "2*u - speed"}
      motor: {kind: transfer-function, of: gain, num: [1, 3], den: [0.1, 1, 2]}
      speed: {kind: integrator, of: motor, start: 0, lower: -10, upper: 10}
      curve: {kind: table, of: speed, x: [0, 1, 2], values: [0, 3, 4], outside: hold}
      field: {kind: map, of: speed, by: u, x: [0, 1], y: [0, 1, 2], values: [0, 1, 2, 3, 4, 5]}
      late: {kind: delay, of: speed, time: 1 ms}
      seen: {kind: sample, of: speed, time: 0.2 ms, offset: 0}
      switch: {kind: relay, of: seen, on: 0.1, off: 0.05, high: 2, low: 0}
      control: {kind: pid, of: "1 - speed", kp: 2, ki: 3, kd: 0.1, filter-time: 1 ms, lower: -1, upper: 1}
      gear: {kind: memory, start: 1, parts: {up: {kind: rule, when: "speed - 1", to: "gear + 1"}}}
    solver: {name: rk4, step: 50 us}
record: {every: 100 us, only: ["*"]}
)";

/// @FMU@ is a file with an input u and outputs; its parameters stand in values.ssv.
inline const std::string hostile_system = R"(<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription version="1.0" name="hostile" xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription" xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" xmlns:ssb="http://ssp-standard.org/SSP1/SystemStructureSignalDictionary">
<ssd:System name="top">
<ssd:ParameterBindings>
<ssd:ParameterBinding source="values.ssv" type="application/x-ssp-parameter-set"/>
</ssd:ParameterBindings>
<ssd:Elements>
<ssd:Component name="a" source="@FMU@" implementation="CoSimulation"><ssd:Connectors>
<ssd:Connector name="force" kind="input"><ssc:Real unit="N"/></ssd:Connector><ssd:Connector name="position" kind="output"><ssc:Real unit="m"/></ssd:Connector>
</ssd:Connectors></ssd:Component>
<ssd:System name="inner" id="inner">
<ssd:Connectors><ssd:Connector name="in" kind="input"><ssc:Real unit="mm"/></ssd:Connector><ssd:Connector name="out" kind="output"><ssc:Real unit="m"/></ssd:Connector></ssd:Connectors>
<ssd:Elements>
<ssd:Component name="b" source="@FMU@"><ssd:Connectors>
<ssd:Connector name="force" kind="input"><ssc:Real unit="N"/></ssd:Connector><ssd:Connector name="position" kind="output"><ssc:Real unit="m"/></ssd:Connector>
</ssd:Connectors></ssd:Component>
</ssd:Elements>
<ssd:Connections>
<ssd:Connection startConnector="in" endElement="b" endConnector="force" suppressUnitConversion="true"><ssc:LinearTransformation factor="2" offset="0.5"/></ssd:Connection>
<ssd:Connection startElement="b" startConnector="position" endConnector="out"/>
</ssd:Connections>
</ssd:System>
<ssd:Component name="again" source="#inner"><ssd:Connectors><ssd:Connector name="in" kind="input"><ssc:Real unit="mm"/></ssd:Connector></ssd:Connectors></ssd:Component>
<ssd:SignalDictionaryReference name="ref" dictionary="bus"><ssd:Connectors><ssd:Connector name="way" kind="inout"><ssc:Real unit="m"/></ssd:Connector></ssd:Connectors></ssd:SignalDictionaryReference>
</ssd:Elements>
<ssd:Connections>
<ssd:Connection startElement="a" startConnector="position" endElement="inner" endConnector="in"/>
<ssd:Connection startElement="inner" startConnector="out" endElement="ref" endConnector="way"/>
<ssd:Connection startElement="ref" startConnector="way" endElement="again" endConnector="in"/>
</ssd:Connections>
<ssd:SignalDictionaries><ssd:SignalDictionary name="bus"><ssb:SignalDictionary version="1.0"><ssb:DictionaryEntry name="way"><ssc:Real unit="m"/></ssb:DictionaryEntry></ssb:SignalDictionary></ssd:SignalDictionary></ssd:SignalDictionaries>
</ssd:System>
<ssd:Units>
<ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit><ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit><ssc:Unit name="N"><ssc:BaseUnit kg="1" m="1" s="-2"/></ssc:Unit><ssc:Unit name="kg"><ssc:BaseUnit kg="1"/></ssc:Unit>
</ssd:Units>
<ssd:DefaultExperiment startTime="0" stopTime="0.02"/>
<ssd:Annotations><ssc:Annotation type="org.mdpcosim"><yaml>
time: {step: 1 ms}
record: {every: 2 ms}
</yaml></ssc:Annotation></ssd:Annotations>
</ssd:SystemStructureDescription>
)";

inline const std::string hostile_values =
    R"(<ssv:ParameterSet version="1.0" name="values" xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon">
<ssv:Parameters><ssv:Parameter name="a.m"><ssv:Real value="2" unit="kg"/></ssv:Parameter><ssv:Parameter name="inner.b.m"><ssv:Real value="3" unit="kg"/></ssv:Parameter></ssv:Parameters>
<ssv:Units><ssc:Unit name="kg"><ssc:BaseUnit kg="1"/></ssc:Unit></ssv:Units>
</ssv:ParameterSet>
)";

inline const std::vector<std::string> hostile_xml_words{"<",
                                                        "/>",
                                                        "\"",
                                                        "&x;",
                                                        "<!DOCTYPE x [<!ENTITY x \"&x;&x;\">]>",
                                                        "<![CDATA[",
                                                        "0",
                                                        "-1",
                                                        "1e999",
                                                        "nan",
                                                        "99999999999999999999",
                                                        "",
                                                        "a",
                                                        "b",
                                                        "inner",
                                                        "in",
                                                        "out",
                                                        "force",
                                                        "position",
                                                        "way",
                                                        "mm",
                                                        "kg",
                                                        "#inner",
                                                        "#top",
                                                        "hostile.ssd",
                                                        "hostile.ssd#inner",
                                                        "hostile.ssp",
                                                        "values.ssv",
                                                        "../values.ssv",
                                                        "/dev/zero",
                                                        "file:///etc/passwd",
                                                        "http://x/y.fmu",
                                                        "input",
                                                        "output",
                                                        "inout",
                                                        "ModelExchange",
                                                        "ScheduledExecution",
                                                        "subsystems: {x: {program: /bin/true}}",
                                                        "include: hostile.yaml",
                                                        "record: {every: 1e-300 s}",
                                                        "\x1b[31m",
                                                        "\xff",
                                                        std::string(5000, 'x')};

}  // namespace mdpcosim::test
