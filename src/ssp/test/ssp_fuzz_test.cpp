#include <gtest/gtest.h>

#include <iostream>

#include "ssp/flatten.hpp"
#include "ssp/read.hpp"
#include "support/fuzz.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim::ssp {
namespace {

const std::vector<std::string> words{"<",
                                     ">",
                                     "/>",
                                     "\"",
                                     "&amp;",
                                     "&x;",
                                     "<!DOCTYPE x>",
                                     "<![CDATA[",
                                     "]]>",
                                     "<!--",
                                     "-->",
                                     "x:",
                                     "0",
                                     "-1",
                                     "1e999",
                                     "NaN",
                                     "99999999999999999999",
                                     "",
                                     "true",
                                     "input",
                                     "output",
                                     "inout",
                                     "parameter",
                                     "calculatedParameter",
                                     "unspecified",
                                     "component",
                                     "SSD",
                                     "any",
                                     "#s1",
                                     "fuzz.ssd",
                                     "fuzz.ssd#s1",
                                     "other.ssd",
                                     "../x.fmu",
                                     "file:///x",
                                     "http://x/y.fmu",
                                     "%2e%2e/",
                                     "inner",
                                     "inner.mass",
                                     "a.b.c",
                                     "bus",
                                     "drive",
                                     "application/x-ssp-definition",
                                     "application/x-ssp-package",
                                     "\xff\xfe",
                                     "\xef\xbb\xbf",
                                     "<x:System name=\"q\">",
                                     "</x:System>",
                                     "<x:Elements>",
                                     "</x:Elements>",
                                     "<Connector name=\"y\" kind=\"output\"/>",
                                     "<c:LinearTransformation factor=\"0\"/>"};

/// The message without the file in front: places differ from input to input.
template <class Read>
std::string outcome_of(const Read& read) {
    try {
        read();
        return "read";
    } catch (const user_error& problem) {
        const std::string text = problem.what();
        EXPECT_FALSE(text.empty());
        return text.substr(text.find(' ') + 1);
    }
}

template <class Read>
void fuzz_reader(const char* kind, std::size_t least, const Read& read) {
    test::fuzzer fuzz(std::string("ssp-") + kind, test::corpus(std::string("ssp/test/corpus/") + kind), words);
    const long count = fuzz.run([&](const std::string& text) { return outcome_of([&] { read(text); }); });
    std::cout << count << " inputs, " << fuzz.outcomes() << " kinds of outcome\n";
    EXPECT_GT(count, 1000);
    EXPECT_GT(fuzz.outcomes(), least);
}

/// Every connection between parts that there are, every value for one.
TEST(fuzz, ssp_description) {
    const test::temporary_folder folder;
    const std::filesystem::path file = folder.path() / "fuzz.ssd";
    test::write_file(folder.path() / "other.ssd", test::corpus("ssp/test/corpus/description").front());
    fuzz_reader("description", 60, [&](const std::string& text) {
        parse_description(text, file);
        test::write_file(file, text);
        const flat_system system = flatten(file, [](const part&, const std::string& name) { return name != "no"; });
        const int parts = static_cast<int>(system.parts.size());
        for (const link& l : system.links) {
            EXPECT_TRUE(l.source >= 0 && l.source < parts && l.target >= 0 && l.target < parts);
            EXPECT_TRUE(l.from != nullptr && l.to != nullptr && l.last != nullptr && !l.hops.empty());
        }
        for (const binding& b : system.bindings) EXPECT_TRUE(b.target >= 0 && b.target < parts && b.value != nullptr);
    });
}

TEST(fuzz, ssp_parameters) {
    fuzz_reader("parameters", 15, [](const std::string& text) {
        for (const parameter& p : parse_parameters(text, "fuzz.ssv").parameters) EXPECT_FALSE(p.values.empty());
    });
}

TEST(fuzz, ssp_mapping) {
    fuzz_reader("mapping", 10, [](const std::string& text) { parse_mapping(text, "fuzz.ssm"); });
}

TEST(fuzz, ssp_dictionary) {
    fuzz_reader("dictionary", 10, [](const std::string& text) { parse_dictionary(text, "fuzz.ssb"); });
}

}  // namespace
}  // namespace mdpcosim::ssp
