// Nested systems, files and dictionaries taken apart: which component feeds which, which value goes where, and what does not fit together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/work_folder.hpp"
#include "ssp/flatten.hpp"
#include "ssp/read.hpp"
#include "support/archives.hpp"
#include "support/fuzz.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim::ssp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ssp_flatten : public testing::Test {
   protected:
    flat_system flat(const std::string& file = "s.ssd") {
        return flatten(folder_ / file, [](const part&, const std::string& name) { return name.size() == 1; });
    }
    std::string problem(const std::string& file = "s.ssd") {
        try {
            flat(file);
        } catch (const user_error& e) {
            return e.what();
        }
        return "nothing is wrong";
    }
    void write(const std::string& name, const std::string& text) { test::write_file(folder_ / name, text); }
    /// A system of these elements and connections.
    static std::string system(const std::string& elements, const std::string& connections,
                              const std::string& more = {}) {
        return "<SystemStructureDescription version=\"1.0\" name=\"s\">\n<System name=\"s\">" + more +
               "\n<Elements>\n" + elements + "</Elements>\n<Connections>\n" + connections +
               "</Connections>\n</System>\n</SystemStructureDescription>";
    }
    static std::string component(const std::string& name, const std::string& source, const std::string& inside = {}) {
        return "<Component name=\"" + name + "\" source=\"" + source +
               "\"><Connectors><Connector name=\"u\" kind=\"input\"/><Connector name=\"y\" "
               "kind=\"output\"/></Connectors>" +
               inside + "</Component>\n";
    }
    static std::string connection(const std::string& from, const std::string& y, const std::string& to,
                                  const std::string& u) {
        const auto element = [](const char* attribute, const std::string& name) {
            return name.empty() ? std::string() : std::string(attribute) + "=\"" + name + "\" ";
        };
        return "<Connection " + element("startElement", from) + "startConnector=\"" + y + "\" " +
               element("endElement", to) + "endConnector=\"" + u + "\"/>\n";
    }
    static std::string set_of(const std::string& parameters) {
        return "<ParameterBindings><ParameterBinding><ParameterValues><ParameterSet><Parameters>" + parameters +
               "</Parameters></ParameterSet></ParameterValues></ParameterBinding></ParameterBindings>";
    }
    static std::string real(const std::string& name, const std::string& value) {
        return "<Parameter name=\"" + name + "\"><Real value=\"" + value + "\"/></Parameter>";
    }
    static std::vector<std::string> links_of(const flat_system& s) {
        std::vector<std::string> all;
        for (const link& l : s.links)
            all.push_back(s.parts[static_cast<std::size_t>(l.source)].full_name() + "." + l.from->name + " -> " +
                          s.parts[static_cast<std::size_t>(l.target)].full_name() + "." + l.to->name);
        return all;
    }
    static std::vector<std::string> values_of(const flat_system& s) {
        std::vector<std::string> all;
        for (const binding& b : s.bindings)
            all.push_back(s.parts[static_cast<std::size_t>(b.target)].full_name() + "." + b.variable + " = " +
                          b.value->values.front());
        return all;
    }

    test::temporary_folder folder_;
};

TEST_F(ssp_flatten, through_systems_and_dictionaries) {
    std::string text = test::corpus("ssp/test/corpus/description").front();
    const std::string mapping = text.substr(text.find("<x:ParameterMapping>"));
    text.erase(text.find("<x:ParameterMapping>"), mapping.find("</x:ParameterMapping>") + 21);
    write("s.ssd", text);
    const flat_system s = flatten(folder_ / "s.ssd", [](const part&, const std::string&) { return true; });
    ASSERT_EQ(s.parts.size(), 3u);
    EXPECT_EQ(s.parts[0].full_name(), "inner.mass");
    EXPECT_EQ(s.parts[0].path, folder_ / "resources/mass.fmu");
    EXPECT_EQ(s.parts[1].full_name(), "again.mass");
    EXPECT_THAT(links_of(s), ElementsAre("inner.mass.x -> gauge.u", "gauge.y -> again.mass.F"));
    // Out of the inner system, into the dictionary, out of it.
    ASSERT_EQ(s.links[0].hops.size(), 3u);
    EXPECT_TRUE(s.links[0].hops[0].keep_number);
    EXPECT_EQ(s.links[0].hops[1].unit->name, "mm");
    EXPECT_THAT(s.notes, ElementsAre(HasSubstr("nothing feeds 'drive'")));
    EXPECT_EQ(values_of(s).front(), "inner.mass.m = 2.5");
}

TEST_F(ssp_flatten, a_dictionary_joins_what_refers_to_it) {
    const std::string bus =
        "<SignalDictionaries><SignalDictionary name=\"bus\"><SignalDictionary><DictionaryEntry "
        "name=\"x\"/></SignalDictionary>"
        "</SignalDictionary></SignalDictionaries>";
    const auto reference = [](const std::string& name) {
        return "<SignalDictionaryReference name=\"" + name +
               "\" dictionary=\"bus\"><Connectors><Connector name=\"x\" "
               "kind=\"inout\"/></Connectors></SignalDictionaryReference>\n";
    };
    const std::string inner = "<System name=\"in\"><Elements>" + component("b", "b.fmu") + reference("tap") +
                              "</Elements><Connections>" + connection("tap", "x", "b", "u") +
                              "</Connections></System>\n";
    write("s.ssd", system(component("a", "a.fmu") + reference("to") + inner, connection("a", "y", "to", "x"), bus));
    EXPECT_THAT(links_of(flat()), ElementsAre("a.y -> in.b.u"));
    write("s.ssd", system(component("a", "a.fmu") + reference("to") + inner,
                          connection("a", "y", "to", "x") + connection("a", "y", "to", "x"), bus));
    EXPECT_THAT(problem(), HasSubstr("is fed twice"));
}

TEST_F(ssp_flatten, files_and_ids_become_systems) {
    write("inner.ssd",
          "<SystemStructureDescription version=\"1.0\" name=\"i\"><System name=\"i\"><Connectors><Connector "
          "name=\"in\" kind=\"input\"/><Connector name=\"out\" kind=\"output\"/></Connectors><Elements>" +
              component("c", "c.fmu") + "</Elements><Connections>" + connection("", "in", "c", "u") +
              connection("c", "y", "", "out") + "</Connections></System></SystemStructureDescription>");
    write(
        "s.ssd",
        system(component("a", "a.fmu") + "<Component name=\"f\" source=\"inner.ssd\"/>\n<Component name=\"g\" "
                                         "type=\"application/x-ssp-definition\" source=\"inner.ssd\"/>\n",
               connection("a", "y", "f", "in") + connection("f", "out", "g", "in") + connection("a", "u", "g", "out")));
    const flat_system s = flat();
    EXPECT_THAT(links_of(s), ElementsAre("g.c.y -> a.u", "a.y -> f.c.u", "f.c.y -> g.c.u"));
    EXPECT_EQ(s.links[2].hops.size(), 3u);
}

TEST_F(ssp_flatten, systems_inside_themselves_are_refused) {
    write("s.ssd", system("<Component name=\"b\" source=\"b.ssd\"/>\n", ""));
    write("b.ssd", system("<Component name=\"c\" source=\"s.ssd\"/>\n", ""));
    EXPECT_THAT(
        problem(),
        AllOf(HasSubstr("b.ssd:4:2: component 'b.c': the system contains itself: 's.ssd' leads back to the system.")));
    write("s.ssd",
          system("<System name=\"in\" id=\"me\"><Elements><Component name=\"c\" source=\"#me\"/></Elements></System>\n",
                 ""));
    EXPECT_THAT(problem(), HasSubstr("'#me' leads back to system 'in'"));
    write("s.ssd", system("<Component name=\"c\" source=\"#you\"/>\n", ""));
    EXPECT_THAT(problem(), HasSubstr("there is no system with the id 'you'"));
    write("s.ssd", system("<Component name=\"c\" source=\"none.ssd\"/>\n", ""));
    EXPECT_THAT(problem(),
                AllOf(HasSubstr("s.ssd:4:2: component 'c': system structure"), HasSubstr("none.ssd' cannot be read")));
}

TEST_F(ssp_flatten, many_small_systems_are_refused_before_they_are_large) {
    for (int level = 0; level < 9; ++level) {
        std::string elements;
        for (int i = 0; i < 9; ++i)
            elements +=
                "<Component name=\"c" + std::to_string(i) + "\" source=\"s" + std::to_string(level + 1) + ".ssd\"/>\n";
        write("s" + std::to_string(level) + ".ssd", system(elements, ""));
    }
    write("s9.ssd", system(component("a", "a.fmu"), ""));
    EXPECT_THAT(problem("s0.ssd"), HasSubstr("which is not allowed"));
}

TEST_F(ssp_flatten, connections_that_cannot_be) {
    const std::string two = component("alpha", "a.fmu") + component("beta", "b.fmu");
    const auto tried = [&](const std::string& connections, const std::string& more = {}) {
        write("s.ssd", system(two, connections, more));
        return problem();
    };
    EXPECT_THAT(tried(connection("alhpa", "y", "beta", "u")),
                AllOf(HasSubstr("s.ssd:8:2: connection: element 'alhpa' does not exist. The system has: alpha, beta."),
                      HasSubstr("Did you mean 'alpha'?")));
    EXPECT_THAT(tried(connection("alpha", "z", "beta", "u")),
                HasSubstr("connector 'z' does not exist. Component 'alpha' has: u, y."));
    EXPECT_THAT(tried(connection("alpha", "y", "beta", "y")),
                HasSubstr("'y' of component 'alpha' and 'y' of component 'beta' both give a value"));
    EXPECT_THAT(tried(connection("alpha", "u", "beta", "u")), HasSubstr("both take a value"));
    EXPECT_THAT(
        tried(connection("alpha", "y", "beta", "u") + connection("beta", "y", "beta", "u")),
        AllOf(HasSubstr("s.ssd:9:2:"), HasSubstr("'u' of component 'beta' is fed twice, also by the connection at"),
              HasSubstr("s.ssd:8:2.")));
    EXPECT_EQ(tried(connection("beta", "u", "alpha", "y")),
              "nothing is wrong");  // start and end say nothing about the direction
    EXPECT_THAT(
        tried(connection("", "in", "alpha", "u"), "<Connectors><Connector name=\"in\" kind=\"output\"/></Connectors>"),
        HasSubstr("both take a value"));
    EXPECT_THAT(tried("<Connection startElement=\"alpha\" startConnector=\"y\" startIndices=\"1\" endElement=\"beta\" "
                      "endConnector=\"u\"/>"),
                HasSubstr("startIndices and endIndices are not supported"));
    const std::string loose =
        "<Connectors><Connector name=\"p\" kind=\"inout\"/><Connector name=\"q\" kind=\"inout\"/></Connectors>";
    EXPECT_THAT(
        tried(connection("", "p", "", "q") + connection("", "q", "", "p") + connection("", "p", "alpha", "u"), loose),
        HasSubstr("goes in a circle"));
}

TEST_F(ssp_flatten, what_nothing_feeds_is_told) {
    write("s.ssd", system(component("a", "a.fmu"), connection("", "in", "a", "u"),
                          "<Connectors><Connector name=\"in\" kind=\"input\"/></Connectors>"));
    const flat_system s = flat();
    EXPECT_THAT(s.links, IsEmpty());
    EXPECT_THAT(s.notes, ElementsAre(AllOf(HasSubstr("s.ssd:7:2"), HasSubstr("nothing feeds 'in'"),
                                           HasSubstr("keeps its start value"))));
}

// Parameters

TEST_F(ssp_flatten, outer_and_later_values_win) {
    write("s.ssd", system("<System name=\"in\">" + set_of(real("a.p", "1") + real("a.q", "2")) + "<Elements>" +
                              component("a", "a.fmu", set_of(real("p", "3") + real("q", "4") + real("r", "5"))) +
                              "</Elements></System>\n",
                          "", set_of(real("in.a.p", "6"))));
    EXPECT_THAT(values_of(flat()), ElementsAre("in.a.p = 6", "in.a.q = 2", "in.a.r = 5"));
}

TEST_F(ssp_flatten, connectors_of_systems_take_values) {
    write("s.ssd",
          system(component("a", "a.fmu") + component("b", "b.fmu"),
                 connection("", "in", "a", "u") + connection("", "in", "b", "u"),
                 "<Connectors><Connector name=\"in\" kind=\"input\"/></Connectors>" + set_of(real("in", "7"))));
    EXPECT_THAT(values_of(flat()), ElementsAre("a.u = 7", "b.u = 7"));
}

TEST_F(ssp_flatten, names_with_dots_may_mean_several) {
    write("s.ssd", system("<System name=\"a\"><Elements>" + component("b", "b.fmu") + "</Elements></System>\n" +
                              component("a.b", "c.fmu"),
                          "", set_of(real("a.b.p", "1"))));
    EXPECT_THAT(values_of(flat()), ElementsAre("a.b.p = 1", "a.b.p = 1"));
}

TEST_F(ssp_flatten, files_prefixes_and_mappings) {
    write("v.ssv", "<ParameterSet><Parameters>" + real("p", "1") + real("long", "2") + real("q", "3") +
                       "</Parameters></ParameterSet>");
    const auto bound = [&](const std::string& binding) {
        write("s.ssd", system(component("a", "a.fmu"), "", "<ParameterBindings>" + binding + "</ParameterBindings>"));
    };
    bound("<ParameterBinding source=\"v.ssv\" prefix=\"a.\"/>");
    const flat_system s = flat();
    EXPECT_THAT(values_of(s), ElementsAre("a.p = 1", "a.q = 3"));
    EXPECT_THAT(
        s.notes,
        ElementsAre(AllOf(HasSubstr("v.ssv: parameters that the system does not have are passed over: a.long."))));

    write(
        "m.ssm",
        R"(<ParameterMapping><MappingEntry source="long" target="a.r"><LinearTransformation factor="3"/></MappingEntry></ParameterMapping>)");
    bound("<ParameterBinding source=\"v.ssv\"><ParameterMapping source=\"m.ssm\"/></ParameterBinding>");
    const flat_system mapped = flat();
    EXPECT_THAT(values_of(mapped), ElementsAre("a.r = 2"));
    EXPECT_EQ(mapped.bindings[0].hops.at(0).transformation->factor, 3);
}

TEST_F(ssp_flatten, names_of_parameters_that_do_not_exist) {
    const auto bound = [&](const std::string& binding) {
        write("s.ssd", system(component("a", "a.fmu"), "", "<ParameterBindings>" + binding + "</ParameterBindings>"));
        return problem();
    };
    write("s.ssd", system(component("a", "a.fmu", set_of(real("pp", "1"))), ""));
    EXPECT_THAT(problem(),
                AllOf(HasSubstr("s.ssd:4:"), HasSubstr("parameter 'pp' does not exist. Component 'a' has: u, y.")));
    write("v.ssv", "<ParameterSet><Parameters>" + real("b.p", "1") + "</Parameters></ParameterSet>");
    EXPECT_THAT(bound("<ParameterBinding source=\"v.ssv\"/>"),
                AllOf(HasSubstr("v.ssv:1:"), HasSubstr("parameter 'b.p' does not exist. The system has: a.u, a.y.")));
    EXPECT_THAT(bound("<ParameterBinding source=\"w.ssv\"/>"),
                AllOf(HasSubstr("s.ssd:2:"), HasSubstr("w.ssv' cannot be read")));
    write("m.ssm", R"(<ParameterMapping><MappingEntry source="b.q" target="a.p"/></ParameterMapping>)");
    const std::string mapped =
        "<ParameterBinding source=\"v.ssv\"><ParameterMapping source=\"m.ssm\"/></ParameterBinding>";
    EXPECT_THAT(
        bound(mapped),
        HasSubstr(
            "m.ssm:1:20: mapping: parameter 'b.q' does not exist. The parameter set has: b.p. Did you mean 'b.p'?"));
    write("m.ssm", R"(<ParameterMapping><MappingEntry source="b.p" target="a.qq"/></ParameterMapping>)");
    EXPECT_THAT(bound(mapped), HasSubstr("m.ssm:1:20: mapping: parameter 'a.qq' does not exist."));
    EXPECT_THAT(bound("<ParameterBinding type=\"text/csv\" source=\"v.csv\"/>"),
                HasSubstr("the type 'text/csv' cannot be read"));
}

TEST_F(ssp_flatten, few_lines_that_stand_for_very_many_ways_are_refused) {
    // A chain of systems that pass a value on, from one component to many.
    const int length = 900, ends = 1200;
    const std::string way =
        "<Connectors><Connector name=\"i\" kind=\"input\"/><Connector name=\"o\" kind=\"output\"/></Connectors>"
        "<Connections><Connection startConnector=\"i\" endConnector=\"o\"/></Connections>";
    std::string elements = component("a", "a.fmu"), connections = connection("a", "y", "p0", "i");
    for (int i = 0; i < length; ++i) {
        const std::string name = "p" + std::to_string(i);
        elements += "<System name=\"" + name + "\">" + way + "</System>";
        if (i + 1 < length) connections += connection(name, "o", "p" + std::to_string(i + 1), "i");
    }
    for (int i = 0; i < ends; ++i) {
        const std::string name = "d" + std::to_string(i);
        elements += component(name, "d.fmu");
        connections += connection("p" + std::to_string(length - 1), "o", name, "u");
    }
    write("s.ssd", system(elements, connections));
    EXPECT_THAT(problem(), HasSubstr("more than 1000000 times in all"));
}

// Archives

TEST_F(ssp_flatten, archives_hold_everything) {
    const std::string inner = fmi::zip_bytes({{"SystemStructure.ssd", system(component("x", "resources/x.fmu"), "")},
                                              {"Other.ssd", system(component("o", "../o.fmu"), "")}});
    const auto pack = [&](const std::string& elements) {
        test::write_file(folder_ / "s.ssp", fmi::zip_bytes({{"SystemStructure.ssd", system(elements, "")},
                                                            {"resources/inner.ssp", inner}}));
        return problem("s.ssp/SystemStructure.ssd");
    };
    const std::string package = "type=\"application/x-ssp-package\" ";
    EXPECT_EQ(pack("<Component name=\"in\" " + package + "source=\"resources/inner.ssp\"/>"), "nothing is wrong");
    EXPECT_EQ(flat("s.ssp/SystemStructure.ssd").parts.at(0).path,
              folder_ / "s.ssp/resources/inner.ssp/resources/x.fmu");
    EXPECT_THAT(
        pack("<Component name=\"in\" " + package + "source=\"resources/inner.ssp#Other.ssd\"/>"),
        AllOf(HasSubstr("inner.ssp/Other.ssd:4:2"), HasSubstr("the path '../o.fmu' leaves the archive 'inner.ssp'")));
    EXPECT_THAT(pack("<Component name=\"in\" source=\"resources/../../o.fmu\"/>"),
                AllOf(HasSubstr("s.ssp/SystemStructure.ssd:4:2"),
                      HasSubstr("leaves the archive 's.ssp'. Put the file into the archive")));
    EXPECT_THAT(pack("<Component name=\"in\" source=\"%2e%2e/o.fmu\"/>"), HasSubstr("leaves the archive 's.ssp'"));
    EXPECT_THAT(pack("<Component name=\"in\" source=\"/etc/passwd\"/>"), HasSubstr("leaves the archive 's.ssp'"));
    for (const std::string outside : {"../../Other.ssd", "../SystemStructure.ssd", "/etc/passwd", "%2e%2e/Other.ssd"})
        EXPECT_THAT(pack("<Component name=\"in\" " + package + "source=\"resources/inner.ssp#" + outside + "\"/>"),
                    HasSubstr("leaves the archive 'inner.ssp'"));
    EXPECT_THAT(pack("<Component name=\"in\" source=\"file:///o.fmu\"/>"),
                HasSubstr("lies elsewhere. Put a copy into the archive"));
    EXPECT_THAT(
        pack("<Component name=\"in\" " + package + "source=\"resources/none.ssp\"/>"),
        AllOf(HasSubstr("component 'in'"), HasSubstr("it has no file 'resources/none.ssp/SystemStructure.ssd'")));
    test::write_file(folder_ / "t.ssp", fmi::zip_bytes({{"readme.txt", "?"}}));
    EXPECT_THAT(problem("t.ssp/SystemStructure.ssd"),
                HasSubstr("it has no file 'SystemStructure.ssd'. It has: readme.txt."));
    test::write_file(folder_ / "u.ssp", "no archive");
    EXPECT_THAT(problem("u.ssp/SystemStructure.ssd"), HasSubstr("cannot be opened as a zip archive"));
}

}  // namespace
}  // namespace mdpcosim::ssp
