#include "results/result_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/suggest.hpp"
#include "core/units.hpp"

namespace mdpcosim {

namespace {

std::filesystem::path results_file(const std::filesystem::path& given) {
    std::error_code status;
    if (!std::filesystem::exists(given, status))
        throw user_error(
            fmt::format("{}: there is no such folder or file. Give a run's folder or a CSV file.", given.string()));
    if (!std::filesystem::is_directory(given, status)) return given;
    std::filesystem::path file = given / "results.csv";
    if (!std::filesystem::exists(file, status))
        throw user_error(
            fmt::format("{}: the folder has no results.csv; it is not the folder of a run, or that run had 'record: "
                        "{{csv: no}}'.",
                        given.string()));
    return file;
}

class reader {
   public:
    explicit reader(const std::filesystem::path& file) try : in_(file, longest_line), file_(intern(file.string())) {
        table_.path = file;
    } catch (const file_problem& problem) {
        throw user_error(fmt::format("{}: the file cannot be read ({}).", file.string(), problem.what()));
    }

    result_table read(const std::function<bool(std::string_view)>& keep) {
        read_header(keep);
        while (next_line()) read_row();
        return std::move(table_);
    }

   private:
    /// False at the end. A last line without its end was being written when the run was killed.
    bool next_line() {
        try {
            if (!in_.next(line_)) return false;
        } catch (const file_problem& problem) {
            throw user_error({file_, line_number_ + 1, 1},
                             fmt::format("the file cannot be read further ({}).", problem.what()));
        }
        ++line_number_;
        if (in_.cut()) {
            table_.cut = true;
            return false;
        }
        if (line_.ends_with('\r')) line_.pop_back();
        return true;
    }

    [[noreturn]] void fail(std::size_t at, const std::string& message) const {
        throw user_error({file_, line_number_, static_cast<int>(at) + 1}, message);
    }

    void read_header(const std::function<bool(std::string_view)>& keep) {
        if (!next_line()) throw user_error({file_, 1, 1}, "the file has no header line 'time,name,...'.");
        for (std::size_t at = 0; at <= line_.size();) {
            const std::size_t begin = at;
            std::string name = header_name(at);
            std::string unit;
            to_si_.push_back(split_unit(name, begin, unit));
            all_.push_back(name);
            const bool is_time = name == "time" && time_column_ == npos;
            if (is_time) time_column_ = all_.size() - 1;
            const bool kept = !is_time && keep(name);
            kept_.push_back(kept);
            if (!kept) continue;
            table_.names.push_back(name);
            table_.units.push_back(unit);
        }
        if (time_column_ == npos) fail(0, fmt::format("the header has no column 'time'. It has: {}.", name_list(all_)));
        auto sorted = all_;
        std::sort(sorted.begin(), sorted.end());
        const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
        if (twice != sorted.end()) fail(0, fmt::format("column '{}' is there twice.", *twice));
    }

    /// `a.x [mm]` as `a.x`, which has values in mm then: results are in SI. Without a unit they are taken as they are.
    conversion split_unit(std::string& name, std::size_t at, std::string& si) const {
        const std::size_t blank = name.rfind(" [");
        if (!name.ends_with(']') || blank == std::string::npos || blank == 0) return {};
        const std::string unit = name.substr(blank + 2, name.size() - blank - 3);
        try {
            si = si_unit(unit);
            const conversion found = find_conversion(unit, si);
            name.resize(blank);
            return found;
        } catch (const unit_error& problem) {
            fail(at, fmt::format("column '{}': {}", name, problem.message()));
        }
    }

    /// The name that begins at `at`, which moves behind the comma after it.
    std::string header_name(std::size_t& at) const {
        std::string name;
        if (at < line_.size() && line_[at] == '"') {
            const std::size_t begin = at++;
            for (;; ++at) {
                if (at >= line_.size()) fail(begin, "a quote in the header has no end.");
                if (line_[at] == '"' && (++at >= line_.size() || line_[at] != '"')) break;
                name += line_[at];
            }
            if (at < line_.size() && line_[at] != ',') fail(at, "a comma is expected after a quoted name.");
        } else {
            const std::size_t end = std::min(line_.find(',', at), line_.size());
            name = line_.substr(at, end - at);
            at = end;
        }
        ++at;
        return name;
    }

    void read_row() {
        if (line_.empty()) return;
        const char* const begin = line_.data();
        const char* const end = begin + line_.size();
        const char* at = begin;
        double time = 0;
        for (std::size_t column = 0; column < kept_.size(); ++column) {
            if (column > 0) {
                if (at == end)
                    fail(line_.size(),
                         fmt::format("the line has {} values, but the header has {} columns.", column, kept_.size()));
                ++at;
            }
            double value = 0;
            const auto [rest, status] = std::from_chars(at, end, value);
            if (status != std::errc() || (rest != end && *rest != ',')) refuse_value(at, column);
            if (column == time_column_)
                time = value;
            else if (kept_[column])
                table_.values.push_back(
                    to_si_[column].factor == 1 && to_si_[column].offset == 0 ? value : to_si_[column](value));
            at = rest;
        }
        if (at != end)
            fail(static_cast<std::size_t>(at - begin),
                 fmt::format("the line has more values than the header has columns ({}).", kept_.size()));
        if (!std::isfinite(time)) fail(0, fmt::format("the time {} is not a finite number.", time));
        if (!table_.time.empty() && time < table_.time.back())
            fail(0, fmt::format("time {} follows {}; times must not fall.", time, table_.time.back()));
        table_.time.push_back(time);
    }

    [[noreturn]] void refuse_value(const char* at, std::size_t column) const {
        const auto place = static_cast<std::size_t>(at - line_.data());
        const std::string field = line_.substr(place, line_.find(',', place) - place);
        fail(place, fmt::format("'{}' in column '{}' is not a number.", field.substr(0, 40), all_[column]));
    }

    static constexpr std::size_t npos = static_cast<std::size_t>(-1);
    static constexpr std::size_t longest_line = 64'000'000;

    line_reader in_;
    std::string_view file_;
    std::string line_;
    int line_number_ = 0;
    std::vector<std::string> all_;
    std::vector<char> kept_;
    std::vector<conversion> to_si_;  ///< of all columns
    std::size_t time_column_ = npos;
    result_table table_;
};

}  // namespace

result_table read_results(const std::filesystem::path& folder_or_file,
                          const std::function<bool(std::string_view)>& keep) {
    return reader(results_file(folder_or_file)).read(keep);
}

}  // namespace mdpcosim
