#include "results/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>

#include "core/error.hpp"
#include "support/largest_file.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

using source = recorded_column::source;
using test::content;
using test::temporary_folder;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::vector<double> numbers_of(const std::string& line) {
    std::vector<double> numbers;
    for (const char *at = line.data(), *end = at + line.size(); at < end; ++at) {
        double value = 0;
        const auto [next, error] = std::from_chars(at, end, value);
        EXPECT_EQ(error, std::errc()) << line;
        numbers.push_back(value);
        at = next;
    }
    return numbers;
}

TEST(csv, header_and_shortest_decimals) {
    const temporary_folder folder;
    const auto sink =
        make_csv_sink(folder / "r.csv", {{"a.x", "m", source::output, 0}, {"c.u", "N", source::coupling, 0}});
    EXPECT_EQ(content(folder / "r.csv"), "time,a.x,c.u\n");  // at once
    sink->write(std::vector<double>{0, 0.1, -2, 0.30000000000000004, 1e-300, 1e22}, 3);
    sink->flush();
    EXPECT_EQ(content(folder / "r.csv"), "time,a.x,c.u\n0,0.1,-2\n0.30000000000000004,1e-300,1e+22\n");
}

TEST(csv, names_with_separators_are_quoted) {
    const temporary_folder folder;
    make_csv_sink(folder / "r.csv", {{"x[1]", "", source::output, 0},
                                     {"a,b", "", source::output, 0},
                                     {"say \"hi\"", "", source::output, 0},
                                     {"two\nlines", "", source::output, 0}});
    EXPECT_EQ(content(folder / "r.csv"), "time,x[1],\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\"\n");
}

/// Any double reads back to the same bits, negative zero and the smallest and largest numbers included.
TEST(csv, reads_back_bitwise) {
    const temporary_folder folder;
    std::mt19937_64 random(7);
    using limits = std::numeric_limits<double>;
    std::vector<double> values{0.0,
                               -0.0,
                               limits::min(),
                               -limits::min(),
                               limits::max(),
                               limits::lowest(),
                               limits::denorm_min(),
                               limits::epsilon(),
                               1.0 / 3,
                               123456789012345680000.0};
    while (values.size() < 3 * 20000) {
        const double v = std::bit_cast<double>(random());
        if (std::isfinite(v)) values.push_back(v);
    }
    const auto sink = make_csv_sink(folder / "r.csv", {{"x", "", source::output, 0}, {"y", "", source::output, 1}});
    for (std::size_t at = 0; at < values.size(); at += 3000) sink->write(std::span(values).subspan(at, 3000), 3);
    sink->flush();
    const auto lines = lines_of(content(folder / "r.csv"));
    ASSERT_EQ(lines.size(), 20001u);
    std::size_t at = 0;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const auto row = numbers_of(lines[i]);
        ASSERT_EQ(row.size(), 3u);
        for (const double v : row) {
            ASSERT_EQ(std::bit_cast<std::uint64_t>(v), std::bit_cast<std::uint64_t>(values[at])) << lines[i];
            ++at;
        }
    }
}

/// Whatever stands in the file at any time ends with a whole row.
TEST(csv, never_a_torn_row) {
    const temporary_folder folder;
    constexpr std::size_t columns = 999;
    std::vector<recorded_column> names;
    for (std::size_t i = 0; i < columns; ++i)
        names.push_back({"x[" + std::to_string(i + 1) + "]", "", source::output, 0});
    const auto sink = make_csv_sink(folder / "r.csv", names);
    std::vector<double> row(columns + 1, -1.0 / 3);
    std::size_t seen = 1;
    for (int i = 0; i < 50; ++i) {
        sink->write(row, row.size());
        const std::string text = content(folder / "r.csv");
        ASSERT_TRUE(text.ends_with('\n'));
        seen = lines_of(text).size();
    }
    EXPECT_GT(seen, 1u);  // some rows left the buffer without flush()
    sink->flush();
    const auto lines = lines_of(content(folder / "r.csv"));
    ASSERT_EQ(lines.size(), 51u);
    for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_EQ(numbers_of(lines[i]), row);
}

/// Longer than the usual buffer.
TEST(csv, very_long_rows) {
    const temporary_folder folder;
    std::vector<recorded_column> names(20000, {"x", "", source::output, 0});
    const auto sink = make_csv_sink(folder / "r.csv", names);
    const std::vector<double> rows(3 * 20001, -2.2250738585072014e-308);
    sink->write(rows, 20001);
    sink->flush();
    const auto lines = lines_of(content(folder / "r.csv"));
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(numbers_of(lines[3]).size(), 20001u);
    EXPECT_EQ(numbers_of(lines[3]).back(), -2.2250738585072014e-308);
}

TEST(csv, a_full_disk_is_a_run_error) {
    try {
        make_csv_sink("/dev/full", {{"x", "", source::output, 0}});
        FAIL() << "the header was written";
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(), testing::HasSubstr("/dev/full: the results cannot be written"));
        EXPECT_THAT(problem.what(), testing::HasSubstr("No space left on device"));
    }
}

/// What the disk took of a row is taken back, and nothing follows behind the gap.
TEST(csv, a_row_is_whole_or_not_there) {
    const temporary_folder folder;
    const auto sink = make_csv_sink(folder / "r.csv", {{"x", "", source::output, 0}});
    const std::vector<double> row{-1.0 / 3, -2.0 / 3};
    sink->write(row, 2);
    sink->flush();
    const std::size_t whole = content(folder / "r.csv").size();
    {
        const test::largest_file limit(whole + 10);
        sink->write(row, 2);
        EXPECT_THROW(sink->flush(), run_error);
    }
    EXPECT_EQ(content(folder / "r.csv").size(), whole);
    sink->write(row, 2);
    sink->flush();
    EXPECT_EQ(content(folder / "r.csv").size(), whole);
}

TEST(csv, a_link_in_its_place_is_not_followed) {
    const temporary_folder folder;
    test::write_file(folder / "mine", "mine");
    std::filesystem::create_symlink("mine", folder / "r.csv");
    make_csv_sink(folder / "r.csv", {{"x", "", source::output, 0}});
    EXPECT_EQ(content(folder / "mine"), "mine");
    EXPECT_EQ(content(folder / "r.csv"), "time,x\n");
}

TEST(csv, a_folder_that_is_not_there_is_a_run_error) {
    const temporary_folder folder;
    try {
        make_csv_sink(folder / "no/r.csv", {});
        FAIL() << "opened";
    } catch (const run_error& problem) {
        EXPECT_THAT(problem.what(),
                    testing::HasSubstr("r.csv: the results cannot be opened (No such file or directory)"));
    }
}

// ---- recorder -------------------------------------------------------------------------------------------------------

/// Keeps what it is given; refuses on demand.
class listening_sink final : public result_sink {
   public:
    struct log {
        std::vector<double> values;
        std::size_t row_length = 0;
        int flushes = 0;
        bool refuse = false;
    };
    explicit listening_sink(log& to) : log_(to) {}
    void write(std::span<const double> values, std::size_t row_length) override {
        if (log_.refuse) throw run_error("full");
        log_.values.insert(log_.values.end(), values.begin(), values.end());
        log_.row_length = row_length;
    }
    void flush() override { ++log_.flushes; }

   private:
    log& log_;
};

TEST(recorder, takes_outputs_and_coupling_variables_by_their_index) {
    listening_sink::log log;
    recorder rows({{"b", "", source::output, 2}, {"u", "", source::coupling, 1}, {"a", "", source::output, 0}},
                  std::make_unique<listening_sink>(log));
    const std::vector<double> y{1, 2, 3}, u{10, 20};
    rows.row(0.5, y, u);
    rows.row(0.75, y, u);
    EXPECT_EQ(rows.rows(), 2);
    EXPECT_TRUE(log.values.empty());  // in memory until flush() or until a block is full
    rows.flush();
    EXPECT_EQ(log.values, (std::vector<double>{0.5, 3, 20, 1, 0.75, 3, 20, 1}));
    EXPECT_EQ(log.row_length, 4u);
    EXPECT_EQ(log.flushes, 1);
    rows.flush();
    EXPECT_EQ(log.values.size(), 8u);
}

TEST(recorder, many_rows_arrive_complete_and_in_order) {
    listening_sink::log log;
    recorder rows({{"y", "", source::output, 0}, {"z", "", source::output, 1}}, std::make_unique<listening_sink>(log));
    constexpr int count = 100000;
    for (int i = 0; i < count; ++i) rows.row(i, std::vector<double>{2.0 * i, -1.0 * i}, {});
    rows.flush();
    ASSERT_EQ(log.values.size(), 3u * count);
    for (int i = 0; i < count; ++i) {
        const auto at = 3 * static_cast<std::size_t>(i);
        ASSERT_EQ(log.values[at], i);
        ASSERT_EQ(log.values[at + 1], 2.0 * i);
        ASSERT_EQ(log.values[at + 2], -1.0 * i);
    }
}

TEST(recorder, rows_that_were_refused_are_not_written_later) {
    listening_sink::log log;
    recorder rows({{"y", "", source::output, 0}}, std::make_unique<listening_sink>(log));
    rows.row(1, std::vector<double>{1}, {});
    log.refuse = true;
    EXPECT_THROW(rows.flush(), run_error);
    log.refuse = false;
    rows.row(2, std::vector<double>{2}, {});
    rows.flush();
    EXPECT_EQ(log.values, (std::vector<double>{2, 2}));
}

/// Whoever writes a block, each row arrives once and in its place.
TEST(recorder, rows_in_order_where_a_core_is_free_now_and_then) {
    for (const bool journaled : {false, true}) {
        auto journal = std::make_unique<row_journal>();
        listening_sink::log log;
        std::vector<std::unique_ptr<result_sink>> sinks;
        sinks.push_back(std::make_unique<listening_sink>(log));
        int asked = 0;
        constexpr int count = 1000000;
        {
            recorder rows({{"y", "", source::output, 0}, {"z", "", source::output, 1}}, std::move(sinks),
                          {.journal = journaled ? journal.get() : nullptr,
                           .core_is_free = [&asked] { return ++asked % 3 != 0; }});
            for (int i = 0; i < count; ++i) {
                rows.row(i, std::vector<double>{2.0 * i, -1.0 * i}, {});
                if (i % 300000 == 7) rows.flush_soon();
            }
            rows.finish();
            EXPECT_EQ(rows.rows_written(), count);
        }
        EXPECT_GT(asked, 9);
        EXPECT_TRUE(journal->empty());
        ASSERT_EQ(log.values.size(), 3u * count);
        for (int i = 0; i < count; ++i) ASSERT_EQ(log.values[3 * static_cast<std::size_t>(i)], i);
    }
}

/// Waits in write() until it may go on.
class slow_sink final : public result_sink {
   public:
    explicit slow_sink(std::atomic<bool>& go) : go_(go) {}
    void write(std::span<const double>, std::size_t) override { go_.wait(false); }
    void flush() override {}

   private:
    std::atomic<bool>& go_;
};

/// What a process leaves that is killed while a block is being written.
TEST(recorder, rows_of_both_blocks_are_in_the_journal) {
    auto journal = std::make_unique<row_journal>();
    std::atomic<bool> go = false;
    std::vector<std::unique_ptr<result_sink>> sinks;
    sinks.push_back(std::make_unique<slow_sink>(go));
    recorder rows({{"y", "", source::output, 0}}, std::move(sinks),
                  {.journal = journal.get(), .core_is_free = [] { return true; }});
    constexpr int count = 140000;  // more than a block, less than two
    for (int i = 0; i < count; ++i) rows.row(i, std::vector<double>{0.5 * i}, {});
    const std::vector<double> left = journal->left();
    go = true;
    go.notify_all();
    ASSERT_EQ(left.size(), 2u * count);
    for (int i = 0; i < count; ++i) ASSERT_EQ(left[2 * static_cast<std::size_t>(i)], i);
    rows.finish();
    EXPECT_TRUE(journal->empty());
}

TEST(recorder, what_a_sink_throws_in_the_thread_is_thrown_by_the_next_call) {
    listening_sink::log log;
    log.refuse = true;
    std::vector<std::unique_ptr<result_sink>> sinks;
    sinks.push_back(std::make_unique<listening_sink>(log));
    recorder rows({{"y", "", source::output, 0}}, std::move(sinks), {.core_is_free = [] { return true; }});
    rows.row(1, std::vector<double>{1}, {});
    rows.flush_soon();
    EXPECT_THROW(rows.flush(), run_error);
    EXPECT_TRUE(rows.refused());
    EXPECT_EQ(rows.rows_written(), 0);
    log.refuse = false;
    rows.row(2, std::vector<double>{2}, {});
    rows.finish();
    EXPECT_EQ(log.values, (std::vector<double>{2, 2}));
}

TEST(recorder, knows_what_a_row_takes) {
    const temporary_folder folder;
    const std::vector<recorded_column> columns{{"y", "", source::output, 0}, {"u", "", source::coupling, 0}};
    recorder rows(columns, make_csv_sink(folder / "r.csv", columns));
    EXPECT_EQ(rows.bytes_per_row(), 0);
    rows.row(0.25, std::vector<double>{-1.5}, std::vector<double>{1e-300});
    EXPECT_EQ(rows.bytes_per_row(), 17);  // "0.25,-1.5,1e-300\n"
    rows.finish();
    EXPECT_EQ(content(folder / "r.csv"), "time,y,u\n0.25,-1.5,1e-300\n");
}

TEST(recorder, without_columns_there_is_still_the_time) {
    listening_sink::log log;
    recorder rows({}, std::make_unique<listening_sink>(log));
    rows.row(1, {}, {});
    rows.flush();
    EXPECT_EQ(log.values, (std::vector<double>{1}));
}

}  // namespace
}  // namespace mdpcosim
