#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "subsystem/file_csv.hpp"
#include "support/fuzz.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

TEST(fuzz, csv_files) {
    const test::temporary_folder folder;
    subsystem_spec spec;
    spec.name = "cycle";
    spec.kind = subsystem_spec::source_kind::file;
    spec.file.path = folder / "fuzz.csv";
    const auto attempt = [&](const std::string& text) -> std::string {
        test::write_file(spec.file.path, text);
        try {
            const csv_table table = read_csv(spec);
            EXPECT_EQ(table.values.size(), table.rows() * table.columns());
            EXPECT_EQ(table.units.size(), table.columns());
            for (const double value : table.values) EXPECT_TRUE(std::isfinite(value));
            for (std::size_t i = 1; i < table.rows(); ++i) EXPECT_GE(table.time[i], table.time[i - 1]);
            return "taken";
        } catch (const user_error& problem) {
            const std::string message = problem.what();
            EXPECT_LT(message.size(), 2000u);
            EXPECT_NE(message.find("fuzz.csv"), std::string::npos) << message;
            return message;
        }
    };
    test::fuzzer fuzz("csv",
                      {"time,x\n0,1\n1,2\n", "# speeds\ntime [ms];\"a [m/s]\";b\n0;1;2\n\n0;3;4\n5;6;7\n",
                       "time\tn [rpm]\r\n0\t1e3\r\n1\t-2\r\n", "\xef\xbb\xbf\"time\",\"x[1]\",\"x[2]\"\n 0 , +1 , 2\n"},
                      {",",      ";",           "\t",    "\n",   "\r",
                       "\"",     "\"\"",        "[",     "]",    "[m]",
                       "[degC]", "[dB]",        "[-]",   "time", "nan",
                       "inf",    "1e308",       "1e999", "-",    "+",
                       "0x1",    "1,5",         "#",     " ",    std::string(1, '\0'),
                       "\xff",   "\xef\xbb\xbf"});
    const long count = fuzz.run(attempt);
    std::cout << count << " tables, " << fuzz.outcomes() << " kinds of outcome\n";
    EXPECT_GT(count, 1000);
    EXPECT_GT(fuzz.outcomes(), 10u);
}

TEST(fuzz, csv_files_of_kinds) {
    const test::temporary_folder folder;
    subsystem_spec spec;
    spec.name = "cycle";
    spec.kind = subsystem_spec::source_kind::file;
    spec.file.path = folder / "fuzz.csv";
    const auto kind = [&](const char* column, std::initializer_list<const char*> words) {
        setting& made = spec.file.kinds.emplace_back(setting{column, {}, {}, true});
        for (const char* word : words) made.values.push_back({word, {}});
    };
    kind("b", {"boolean"});
    kind("n", {"int64"});
    kind("m", {"uint64", "2"});
    kind("e", {"enumeration", "off=1", "on=-2"});
    kind("s", {"string"});
    kind("u", {"real", "3", "held"});
    kind("k", {"uint8"});
    const auto attempt = [&](const std::string& text) -> std::string {
        test::write_file(spec.file.path, text);
        try {
            const csv_table table = read_csv(spec);
            EXPECT_GE(table.columns(), 6u);
            EXPECT_EQ(table.text_columns.size(), 4u);
            EXPECT_EQ(table.values.size(), table.rows() * table.columns());
            EXPECT_EQ(table.texts.size(), table.rows() * table.text_columns.size());
            for (const double value : table.values) EXPECT_TRUE(std::isfinite(value));
            return "taken";
        } catch (const user_error& problem) {
            const std::string message = problem.what();
            EXPECT_LT(message.size(), 2000u);
            EXPECT_NE(message.find("fuzz.csv"), std::string::npos) << message;
            return message;
        }
    };
    test::fuzzer fuzz(
        "csv of kinds",
        {"time,b,n,m,e,s,u,k\n0,true,-9223372036854775808,1 18446744073709551615,off,\"a, \"\"b\"\"\",1 2 "
         "3,255\n1,0,+7,\"0 1\",-2,,\"4 5  6\",3.0\n"},
        {",", "\n", "\"", "\"\"", " ", "true", "2", "-1", "1e3", "0.5", "9223372036854775808", "1e999", "nan", "off",
         "[m]", "time", std::string(1, '\0'), "\xff"});
    const long count = fuzz.run(attempt);
    std::cout << count << " tables, " << fuzz.outcomes() << " kinds of outcome\n";
    EXPECT_GT(count, 1000);
    EXPECT_GT(fuzz.outcomes(), 10u);
}

}  // namespace
}  // namespace mdpcosim
