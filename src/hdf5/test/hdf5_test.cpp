#include "hdf5/hdf5.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include "core/error.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using source = recorded_column::source;

const std::vector<recorded_column> columns{{"a.mass.position", "m", source::output, 0},
                                           {"spring.u", "N", source::coupling, 0},
                                           {"a.y", "", source::output, 1}};

struct file_content {
    std::int64_t rows = -1;
    std::vector<double> time, u;
    std::string unit;
    hsize_t size = 0;
};

file_content read_back(const std::filesystem::path& path) {
    file_content c;
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    EXPECT_GE(file, 0);
    const auto read = [&](const char* name, hid_t type, auto& into) {
        const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
        EXPECT_GE(set, 0) << name;
        const hid_t space = H5Dget_space(set);
        c.size = static_cast<hsize_t>(H5Sget_simple_extent_npoints(space));
        if constexpr (requires { into.resize(1); }) {
            into.resize(c.size);
            EXPECT_GE(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, into.data()), 0);
        } else {
            EXPECT_GE(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &into), 0);
        }
        H5Sclose(space);
        H5Dclose(set);
    };
    read("rows", H5T_NATIVE_INT64, c.rows);
    read("time", H5T_NATIVE_DOUBLE, c.time);
    read("spring.u", H5T_NATIVE_DOUBLE, c.u);
    const hid_t set = H5Dopen2(file, "spring.u", H5P_DEFAULT);
    const hid_t attribute = H5Aopen(set, "unit", H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute);
    c.unit.resize(H5Tget_size(type));
    H5Aread(attribute, type, c.unit.data());
    H5Tclose(type);
    H5Aclose(attribute);
    H5Dclose(set);
    H5Fclose(file);
    return c;
}

std::vector<double> rows_from(int first, int count) {
    std::vector<double> values;
    for (int i = first; i < first + count; ++i) values.insert(values.end(), {0.1 * i, 1.0 * i, -2.0 * i, 7.0});
    return values;
}

TEST(hdf5, columns_with_units_read_back_bitwise) {
    const test::temporary_folder folder;
    const auto sink = make_hdf5_sink(folder / "r.h5", columns, 100);
    sink->write(rows_from(0, 30), 4);
    sink->flush();
    sink->write(rows_from(30, 70), 4);
    sink->finish();
    const file_content c = read_back(folder / "r.h5");
    EXPECT_EQ(c.rows, 100);
    ASSERT_EQ(c.time.size(), 100u);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(c.time[static_cast<std::size_t>(i)], 0.1 * i);
        EXPECT_EQ(c.u[static_cast<std::size_t>(i)], -2.0 * i);
    }
    EXPECT_EQ(c.unit, "N");
}

/// As in display units: the attribute names what the numbers are in.
TEST(hdf5, columns_in_other_units_have_them_as_attribute) {
    const test::temporary_folder folder;
    std::vector<recorded_column> other = columns;
    other[1].file_unit = "kN";
    other[1].factor = 1e-3;
    other[1].offset = 5;
    recorder rows(other, make_hdf5_sink(folder / "r.h5", other, 100));
    const double y[] = {1, 2}, u[] = {-3000};
    rows.row(0.25, y, u);
    rows.finish();
    const file_content c = read_back(folder / "r.h5");
    ASSERT_EQ(c.u.size(), 1u);
    EXPECT_EQ(c.u[0], 2);
    EXPECT_EQ(c.time[0], 0.25);
    EXPECT_EQ(c.unit, "kN");
}

/// The file on disk is good after every flush although the sink still has it in hand.
TEST(hdf5, is_readable_between_flushes_and_before_the_end) {
    const test::temporary_folder folder;
    const auto sink = make_hdf5_sink(folder / "r.h5", columns, 1000);
    EXPECT_EQ(read_back(folder / "r.h5").rows, 0);
    for (int i = 0; i < 10; ++i) {
        sink->write(rows_from(10 * i, 10), 4);
        sink->flush();
        const file_content c = read_back(folder / "r.h5");
        EXPECT_EQ(c.rows, 10 * (i + 1));
        EXPECT_EQ(c.u[static_cast<std::size_t>(10 * i + 9)], -2.0 * (10 * i + 9));
    }
}

TEST(hdf5, a_run_that_ends_early_leaves_no_empty_rows) {
    const test::temporary_folder folder;
    const auto sink = make_hdf5_sink(folder / "r.h5", columns, 1000);
    sink->write(rows_from(0, 17), 4);
    sink->finish();
    const file_content c = read_back(folder / "r.h5");
    EXPECT_EQ(c.rows, 17);
    EXPECT_EQ(c.time.size(), 17u);
    EXPECT_EQ(c.u[16], -32);
}

/// Far more rows announced than a file could hold: it grows with what is written.
TEST(hdf5, grows_beyond_its_first_size) {
    const test::temporary_folder folder;
    const auto sink = make_hdf5_sink(folder / "r.h5", columns, std::int64_t{1} << 50);
    constexpr int block = 500000;
    for (int i = 0; i < 6; ++i) sink->write(rows_from(i * block, block), 4);
    sink->finish();
    const file_content c = read_back(folder / "r.h5");
    EXPECT_EQ(c.rows, 6 * block);
    ASSERT_EQ(c.u.size(), 6u * block);
    EXPECT_EQ(c.u.front(), 0);
    EXPECT_EQ(c.u[3 * block + 1], -2.0 * (3 * block + 1));
    EXPECT_EQ(c.u.back(), -2.0 * (6 * block - 1));
}

TEST(hdf5, names_with_slashes_and_no_columns) {
    const test::temporary_folder folder;
    make_hdf5_sink(folder / "a.h5", {{"a/b.c", "1", source::output, 0}}, 3)->finish();
    make_hdf5_sink(folder / "b.h5", {}, 3)->finish();
    EXPECT_TRUE(std::filesystem::exists(folder / "a.h5"));
    EXPECT_TRUE(std::filesystem::exists(folder / "b.h5"));
}

/// Of a writer that is gone: rows that it flushed are not added again.
TEST(hdf5, rows_are_added_to_a_file_without_its_writer) {
    const test::temporary_folder folder;
    const auto file = folder / "r.h5";
    const std::vector<std::string> names{"time", "a.mass.position", "spring.u", "a.y"};
    {
        const auto sink = make_hdf5_sink(file, columns, 10);
        sink->write(rows_from(0, 4), 4);
        sink->flush();
    }
    EXPECT_TRUE(append_hdf5_rows(file, names, rows_from(2, 6)));
    file_content c = read_back(file);
    EXPECT_EQ(c.rows, 8);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(c.u[static_cast<std::size_t>(i)], -2.0 * i);
    EXPECT_EQ(c.time[7], 0.1 * 7);
    EXPECT_FALSE(append_hdf5_rows(file, names, rows_from(8, 3))) << "there is room for two";
    EXPECT_EQ(read_back(file).rows, 8);
    EXPECT_FALSE(append_hdf5_rows(folder / "none.h5", names, rows_from(0, 1)));
}

TEST(hdf5, a_place_that_cannot_be_written_is_a_run_error) {
    EXPECT_THROW(make_hdf5_sink("/nowhere/at/all.h5", columns, 3), run_error);
}

}  // namespace
}  // namespace mdpcosim
