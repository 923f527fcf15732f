#include "subsystem/file_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/files.hpp"
#include "core/suggest.hpp"
#include "core/units.hpp"

namespace mdpcosim {

namespace {

std::string_view trimmed(std::string_view s) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!s.empty() && blank(s.front())) s.remove_prefix(1);
    while (!s.empty() && blank(s.back())) s.remove_suffix(1);
    return s;
}

struct csv_column {
    std::string name;
    std::string unit;  ///< as written; empty: none
    location where;    ///< of the unit's text
    conversion to_si;
};

class csv_reader {
   public:
    explicit csv_reader(const subsystem_spec& spec) : spec_(spec), file_(intern(spec.file.path.string())) {}

    csv_table read() {
        load();
        read_header();
        override_units();
        convert_units();
        read_rows();
        return std::move(table_);
    }

   private:
    [[noreturn]] void fail(const location& where, const std::string& message) const {
        throw user_error(where, fmt::format("subsystem '{}': {}", spec_.name, message));
    }

    /// The place of `at`, which points into the present line.
    location place(const char* at) const { return {file_, line_number_, static_cast<int>(at - line_.data()) + 1}; }

    // the file

    void load() {
        constexpr std::size_t most = 512'000'000;
        try {
            buffer_ = read_input(spec_.file.path, most);
        } catch (const file_problem& problem) {
            refuse_file(problem);
        }
        rest_ = buffer_;
        if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // byte order mark
    }

    [[noreturn]] void refuse_file(const file_problem& reason) const {
        std::vector<std::string> neighbours;
        std::error_code problem;
        if (reason.code() == ENOENT)
            for (const auto& entry :
                 std::filesystem::directory_iterator(std::filesystem::absolute(spec_.file.path).parent_path(), problem))
                neighbours.push_back(entry.path().filename().string());
        std::sort(neighbours.begin(), neighbours.end());
        fail(spec_.source.where, fmt::format("file '{}' cannot be read: {}.{}", file_, reason.what(),
                                             did_you_mean(spec_.file.path.filename().string(), neighbours)));
    }

    /// The next line that is neither blank nor a comment.
    bool next_line() {
        while (!rest_.empty()) {
            const std::size_t end = std::min(rest_.find('\n'), rest_.size());
            line_ = rest_.substr(0, end);
            rest_.remove_prefix(std::min(end + 1, rest_.size()));
            ++line_number_;
            const std::string_view content = trimmed(line_);
            if (!content.empty() && content.front() != '#') return true;
        }
        return false;
    }

    // the header

    void read_header() {
        if (!next_line()) fail({file_, 1, 1}, "the file has no data: a header row that names the columns is expected.");
        find_separator();
        for (const auto field : header_fields()) add_column(field);
        const auto found =
            std::find_if(columns_.begin(), columns_.end(), [](const auto& c) { return c.name == "time"; });
        if (found == columns_.end())
            fail(place(line_.data()),
                 fmt::format("the header has no column 'time'. The first row must name the columns; it has: {}.{}",
                             name_list(names()), did_you_mean("time", names())));
        if (columns_.size() < 2) fail(place(line_.data()), "the header has no column besides 'time'.");
        time_column_ = static_cast<std::size_t>(found - columns_.begin());
    }

    /// A semicolon or a tab decides before a comma, which may be part of a name.
    void find_separator() {
        bool quoted = false;
        std::string found;
        for (const char c : line_) {
            if (c == '"') quoted = !quoted;
            if (!quoted) found += c;
        }
        for (const char candidate : {';', '\t', ','})
            if (found.find(candidate) != std::string::npos) {
                separator_ = candidate;
                return;
            }
    }

    std::vector<std::string_view> header_fields() const {
        std::vector<std::string_view> fields;
        bool quoted = false;
        std::size_t begin = 0;
        for (std::size_t i = 0; i <= line_.size(); ++i) {
            if (i < line_.size() && line_[i] == '"') quoted = !quoted;
            if (i == line_.size() || (line_[i] == separator_ && !quoted)) {
                fields.push_back(line_.substr(begin, i - begin));
                begin = i + 1;
            }
        }
        if (quoted) fail(place(line_.data()), "the header has a quote without its end.");
        return fields;
    }

    void add_column(std::string_view field) {
        const location where = place(field.data());
        field = trimmed(field);
        std::string name;
        if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
            for (std::size_t i = 1; i + 1 < field.size(); ++i) {
                name += field[i];
                if (field[i] == '"') ++i;  // a doubled quote is one
            }
        } else {
            name = field;
        }
        std::string unit = split_unit(name);
        if (name.empty()) fail(where, fmt::format("column {} has no name.", columns_.size() + 1));
        for (std::size_t i = 0; i < columns_.size(); ++i)
            if (columns_[i].name == name)
                fail(where,
                     fmt::format("column '{}' is there twice: columns {} and {}.", name, i + 1, columns_.size() + 1));
        columns_.push_back({name, unit, where, {}});
    }

    /// Takes `[unit]` off the end of the name; `force[1]`, an element of a vector, stays a name.
    static std::string split_unit(std::string& name) {
        const std::size_t open = name.rfind('[');
        if (name.empty() || name.back() != ']' || open == std::string::npos) return {};
        std::string unit(trimmed(std::string_view(name).substr(open + 1, name.size() - open - 2)));
        const bool number = !unit.empty() && unit.find_first_not_of("0123456789") == std::string::npos;
        if (number && open > 0 && name[open - 1] != ' ') return {};
        name = trimmed(std::string_view(name).substr(0, open));
        return unit == "-" ? "1" : unit;
    }

    std::vector<std::string> names() const {
        std::vector<std::string> list;
        for (const auto& c : columns_) list.push_back(c.name);
        return list;
    }

    // units

    void override_units() {
        for (const auto& s : spec_.file.units) {
            const auto found =
                std::find_if(columns_.begin(), columns_.end(), [&](const auto& c) { return c.name == s.name; });
            if (found == columns_.end())
                fail(s.where, "units: " + unknown_name("column", s.name, fmt::format("'{}'", file_), names()));
            if (s.list || s.values.size() != 1)
                fail(s.where, fmt::format("units: column '{}': one unit is expected.", s.name));
            found->unit = s.values.front().value;
            found->where = s.values.front().where;
        }
    }

    void convert_units() {
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            csv_column& column = columns_[i];
            const bool is_time = i == time_column_;
            try {
                const std::string si = is_time ? "s" : si_unit(column.unit);
                column.to_si = find_conversion(column.unit, si);
                if (is_time) continue;
                table_.names.push_back(column.name);
                table_.units.push_back(si);
            } catch (const unit_error& problem) {
                fail(column.where, fmt::format("column '{}': the {}.", column.name, problem.message()));
            }
        }
    }

    // the numbers

    void read_rows() {
        const auto lines = static_cast<std::size_t>(std::count(rest_.begin(), rest_.end(), '\n')) + 1;
        table_.time.reserve(lines);
        table_.values.reserve(lines * table_.columns());
        while (next_line()) read_row();
        if (table_.time.empty()) fail({file_, line_number_, 1}, "the file has no data after its header.");
    }

    void read_row() {
        const char* at = line_.data();
        const char* const end = at + line_.size();
        const char* time_field = at;
        double time = 0;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (i > 0) ++at;  // the separator
            const char* field = at;
            const double value = columns_[i].to_si(read_number_at(at, end, i));
            if (i == time_column_) {
                time = value;
                time_field = field;
            } else {
                table_.values.push_back(value);
            }
            if ((at == end) != (i + 1 == columns_.size())) refuse_count();
        }
        check_time(time, time_field);
        table_.time.push_back(time);
    }

    /// Reads one number and leaves `at` on the separator or the end of the line.
    double read_number_at(const char*& at, const char* end, std::size_t column) const {
        const auto blank = [this](char c) { return c == ' ' || c == '\r' || (c == '\t' && separator_ != '\t'); };
        const char* const field = at;
        while (at < end && blank(*at)) ++at;
        if (at < end && *at == '+') ++at;
        double value = 0;
        const auto [after, status] = std::from_chars(at, end, value);
        const bool number = status == std::errc{} && std::isfinite(value);
        at = after;
        while (at < end && blank(*at)) ++at;
        if (number && (at == end || *at == separator_)) return value;
        const std::string_view from(field, static_cast<std::size_t>(end - field));
        const std::string_view text = trimmed(from.substr(0, std::min(from.find(separator_), from.size())));
        const bool comma = separator_ != ',' && text.find(',') != std::string_view::npos;
        fail(place(field), fmt::format("column '{}' (column {}): '{}' is not a finite number.{}", columns_[column].name,
                                       column + 1, text, comma ? " Write decimals with a point." : ""));
    }

    [[noreturn]] void refuse_count() const {
        const auto count = std::count(line_.begin(), line_.end(), separator_) + 1;
        fail(place(line_.data()), fmt::format("the row has {} field{}, but the header has {}.", count,
                                              count == 1 ? "" : "s", columns_.size()));
    }

    void check_time(double time, const char* field) const {
        const std::size_t n = table_.time.size();
        if (n == 0 || time > table_.time[n - 1]) return;
        if (time < table_.time[n - 1])
            fail(place(field), fmt::format("column 'time' (column {}): time goes back from {} s to {} s.",
                                           time_column_ + 1, table_.time[n - 1], time));
        if (n >= 2 && table_.time[n - 2] == time)
            fail(place(field), fmt::format("column 'time' (column {}): three rows have the time {} s; a jump has two.",
                                           time_column_ + 1, time));
    }

    const subsystem_spec& spec_;
    std::string_view file_;
    std::string buffer_;
    std::string_view rest_;
    std::string_view line_;
    int line_number_ = 0;
    char separator_ = ',';
    std::vector<csv_column> columns_;
    std::size_t time_column_ = 0;
    csv_table table_;
};

}  // namespace

csv_table read_csv(const subsystem_spec& spec) { return csv_reader(spec).read(); }

}  // namespace mdpcosim
