#include "supervisor/close_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Whatever of the rows was written before, the file has each of them once.
TEST(append_csv_rows, adds_what_is_missing_and_drops_a_torn_row) {
    const test::temporary_folder folder;
    const auto file = folder / "r.csv";
    const std::vector<double> rows{0, 1, 2, 0.1, 1.5, -2, 0.2, 1e300, 3};
    const std::string whole = "time,a,\"b \"\"c\"\", d\"\n0,1,2\n0.1,1.5,-2\n0.2,1e+300,3\n";
    for (const std::size_t written : {20u, 22u, 25u, 30u, 36u, 40u, 50u}) {
        test::write_file(file, whole.substr(0, written));
        EXPECT_THAT(append_csv_rows(file, rows), ElementsAre("time", "a", "b \"c\", d"));
        EXPECT_EQ(test::content(file), whole) << written;
    }
}

TEST(append_csv_rows, leaves_files_without_a_header_alone) {
    const test::temporary_folder folder;
    test::write_file(folder / "r.csv", "time,a");
    EXPECT_THAT(append_csv_rows(folder / "r.csv", std::vector<double>{0, 1}), IsEmpty());
    EXPECT_EQ(test::content(folder / "r.csv"), "time,a");
    EXPECT_THAT(append_csv_rows(folder / "none.csv", std::vector<double>{0, 1}), IsEmpty());
}

TEST(append_csv_rows, finds_the_last_row_of_a_long_file) {
    const test::temporary_folder folder;
    const auto file = folder / "r.csv";
    std::string text = "time", row;
    for (int i = 1; i < 30000; ++i) text += ",c" + std::to_string(i);
    for (int i = 1; i < 30000; ++i) row += ",0.12345678";
    text += "\n0" + row + "\n1" + row + "\n";
    test::write_file(file, text + "2" + row.substr(0, 200000));
    std::vector<double> rows(30000, 7);
    rows[0] = 1;
    EXPECT_EQ(append_csv_rows(file, rows).size(), 30000u);
    EXPECT_TRUE(test::content(file) == text);
}

}  // namespace
}  // namespace mdpcosim
