// What recording costs per value: processor time of the thread that calls recorder::row(), with files written there and by a thread of their
// own, five times or as often as the argument says. The baseline formats the same numbers with std::to_chars and does nothing else. See docs/performance.md.
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "hdf5/hdf5.hpp"
#include "results/csv.hpp"
#include "results/decimals.hpp"
#include "results/recorder.hpp"

namespace {

using namespace mdpcosim;
namespace fs = std::filesystem;

constexpr std::size_t values = 4'000'000;

double cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Outputs of oscillators at one time.
void fill(std::vector<double>& y, std::size_t row) {
    const double t = 1e-3 * static_cast<double>(row);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::sin((1 + 0.37 * static_cast<double>(i)) * t) / 3;
}

/// Nanoseconds per value of work(y, t), without what makes the values.
template <class Work>
double per_value(std::size_t columns, const Work& work) {
    std::vector<double> y(columns);
    double seconds = 0;
    const std::size_t rows = values / (columns + 1);
    constexpr std::size_t batch = 64;
    std::vector<std::vector<double>> some(batch, y);
    for (std::size_t row = 0; row < rows; row += batch) {
        for (std::size_t k = 0; k < batch; ++k) fill(some[k], row + k);
        const double begin = cpu_seconds();
        for (std::size_t k = 0; k < batch; ++k) work(1e-3 * static_cast<double>(row + k), some[k]);
        seconds += cpu_seconds() - begin;
    }
    const std::size_t done = (rows + batch - 1) / batch * batch;
    return 1e9 * seconds / static_cast<double>(done * (columns + 1));
}

struct scratch_folder {
    fs::path path = fs::temp_directory_path() / fmt::format("mdpcosim_bench_{}", ::getpid());
    scratch_folder() { fs::create_directories(path); }
    ~scratch_folder() { fs::remove_all(path); }
};

double recorded(std::size_t columns, bool csv, bool hdf5, bool in_thread) {
    const scratch_folder folder;
    std::vector<recorded_column> all;
    for (std::size_t i = 0; i < columns; ++i)
        all.push_back({fmt::format("s{}.y", i), "m", recorded_column::source::output, static_cast<std::uint32_t>(i)});
    const auto rows = static_cast<std::int64_t>(values / (columns + 1) + 100);
    std::vector<std::unique_ptr<result_sink>> sinks;
    if (csv) sinks.push_back(make_csv_sink(folder.path / "results.csv", all));
    if (hdf5) sinks.push_back(make_hdf5_sink(folder.path / "results.h5", all, rows));
    const auto journal = std::make_unique<row_journal>();
    row_writing how{.journal = journal.get()};
    if (in_thread) how.core_is_free = [] { return true; };
    recorder into(all, std::move(sinks), std::move(how));
    return per_value(columns, [&](double t, const std::vector<double>& y) { into.row(t, y, {}); });
}

template <class Format>
double formatted(std::size_t columns, const Format& format) {
    std::vector<char> text((columns + 1) * decimal_room);
    return per_value(columns, [&](double t, const std::vector<double>& y) {
        char* to = format(text.data(), t);
        for (const double value : y) *to++ = ',', to = format(to, value);
    });
}

}  // namespace

int main(int count, char** arguments) {
    const int repetitions = std::max(5, count > 1 ? std::atoi(arguments[1]) : 5);
    struct candidate {
        const char* name;
        std::vector<double> ns = {};
    };
    for (const std::size_t columns : {std::size_t{10}, std::size_t{100}, std::size_t{1000}}) {
        std::vector<candidate> all{
            {"std::to_chars alone"}, {"decimals alone"},   {"nothing written"}, {"CSV"}, {"HDF5"},
            {"CSV and HDF5"},        {"both, by a thread"}};
        for (int r = 0; r < repetitions; ++r) {
            std::size_t k = 0;
            const auto add = [&](double ns) { all[k++].ns.push_back(ns); };
            add(formatted(columns, [](char* to, double x) { return std::to_chars(to, to + decimal_room, x).ptr; }));
            add(formatted(columns, [](char* to, double x) { return write_decimal(to, x); }));
            add(recorded(columns, false, false, false));
            add(recorded(columns, true, false, false));
            add(recorded(columns, false, true, false));
            add(recorded(columns, true, true, false));
            add(recorded(columns, true, true, true));
        }
        fmt::print("\n{} columns, {} repetitions in turns\n\n| written | ns per value | median |\n|---|---|---|\n",
                   columns, repetitions);
        for (candidate& c : all) {
            std::ranges::sort(c.ns);
            fmt::print("| {} | {:.1f} to {:.1f} | {:.1f} |\n", c.name, c.ns.front(), c.ns.back(),
                       c.ns[c.ns.size() / 2]);
        }
    }
    return 0;
}
