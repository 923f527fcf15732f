#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mdpcosim {

/// The rows of a results.csv: times that never fall, and the columns that were asked for.
struct result_table {
    std::filesystem::path path;      ///< of the file
    std::vector<std::string> names;  ///< of the kept columns, without `time`
    std::vector<std::string> units;  ///< SI, which the values are in; empty: the file does not say
    std::vector<double> time;
    std::vector<double> values;  ///< row after row
    bool cut = false;            ///< the last line had no end (a run that was killed) and was left out

    std::size_t rows() const { return time.size(); }
    std::size_t columns() const { return names.size(); }
    double value(std::size_t row, std::size_t column) const { return values[row * names.size() + column]; }
};

/// Reads a results.csv, or that of a run's folder; `keep` chooses the columns. A missing file, a line that is not numbers and
/// a time that falls are user errors with line and column.
result_table read_results(const std::filesystem::path& folder_or_file,
                          const std::function<bool(std::string_view)>& keep);

}  // namespace mdpcosim
