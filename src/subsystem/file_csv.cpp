#include "subsystem/file_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <optional>

#include "archive/local_file.hpp"
#include "core/files.hpp"
#include "core/suggest.hpp"
#include "core/units.hpp"
#include "subsystem/file_kinds.hpp"

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
    std::string si = {};
    location where;  ///< of the unit's text
    conversion to_si = {};
    column_kind kind = {};
};

class csv_reader {
   public:
    explicit csv_reader(const subsystem_spec& spec) : spec_(spec), file_(intern(spec.file.path.string())) {}

    csv_table read() {
        read_columns();
        add_columns();
        read_rows();
        return std::move(table_);
    }

    csv_header header() {
        read_columns();
        csv_header result;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (i == time_column_) continue;
            result.names.push_back(columns_[i].name);
            result.units.push_back(columns_[i].si);
        }
        return result;
    }

   private:
    void read_columns() {
        load();
        read_header();
        override_units();
        convert_units();
    }

    [[noreturn]] void fail(const location& where, const std::string& message) const {
        throw user_error(where, fmt::format("subsystem '{}': {}", spec_.name, message));
    }

    /// The place of `at`, which points into the present line.
    location place(const char* at) const { return {file_, line_number_, static_cast<int>(at - line_.data()) + 1}; }

    // the file

    void load() {
        constexpr std::size_t most = 512'000'000;
        try {
            buffer_ = read_input(archive::local_file(spec_.file.path).path(), most);
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
        for (const auto field : split_fields("the header")) add_column(field);
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

    std::vector<std::string_view> split_fields(const char* what) const {
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
        if (quoted) fail(place(line_.data()), fmt::format("{} has a quote without its end.", what));
        return fields;
    }

    static std::string unquoted(std::string_view field) {
        if (field.size() < 2 || field.front() != '"' || field.back() != '"') return std::string(field);
        std::string text;
        for (std::size_t i = 1; i + 1 < field.size(); ++i) {
            text += field[i];
            if (field[i] == '"') ++i;  // a doubled quote is one
        }
        return text;
    }

    void add_column(std::string_view field) {
        const location where = place(field.data());
        std::string name = unquoted(trimmed(field));
        std::string unit = split_unit(name);
        if (name.empty()) fail(where, fmt::format("column {} has no name.", columns_.size() + 1));
        for (std::size_t i = 0; i < columns_.size(); ++i)
            if (columns_[i].name == name)
                fail(where,
                     fmt::format("column '{}' is there twice: columns {} and {}.", name, i + 1, columns_.size() + 1));
        columns_.push_back({.name = name, .unit = unit, .where = where});
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
                column.si = is_time ? "s" : si_unit(column.unit);
                column.to_si = find_conversion(column.unit, column.si);
            } catch (const unit_error& problem) {
                fail(column.where, fmt::format("column '{}': the {}.", column.name, problem.message()));
            }
        }
    }

    // kinds

    void add_columns() {
        const std::string object = fmt::format("subsystem '{}'", spec_.name);
        for (const setting& s : spec_.file.kinds) {
            const auto found = std::ranges::find(columns_, s.name, &csv_column::name);
            if (found == columns_.end())
                fail(s.where, "kinds: " + unknown_name("column", s.name, fmt::format("'{}'", file_), names()));
            if (found->name == "time")
                fail(s.where, "kinds: column 'time' is the time in s, or in the unit of its header.");
            found->kind = read_column_kind(s, object);
            only_numbers_ = only_numbers_ && found->kind.plain();
        }
        for (std::size_t i = 0; i < columns_.size(); ++i)
            if (i != time_column_) add_outputs(columns_[i]);
    }

    void add_outputs(const csv_column& column) {
        const column_kind& kind = column.kind;
        if (kind.is == column_kind::type::skip) return;
        for (int k = 0; k < std::abs(kind.count); ++k) {
            const std::string name = kind.count < 0 ? column.name : fmt::format("{}[{}]", column.name, k);
            if (kind.is_text()) {
                table_.text_columns.push_back(
                    {name, fmt::format("column {}", column.name),
                     kind.is == column_kind::type::string ? variable_type::string : variable_type::integer});
                continue;
            }
            const bool real = kind.is == column_kind::type::real;
            table_.names.push_back(name);
            table_.units.push_back(real ? column.si : "");
            table_.types.push_back(real                                    ? variable_type::real
                                   : kind.is == column_kind::type::boolean ? variable_type::boolean
                                                                           : variable_type::integer);
            table_.held.push_back(kind.held);
        }
    }

    // the values

    void read_rows() {
        const auto lines = static_cast<std::size_t>(std::count(rest_.begin(), rest_.end(), '\n')) + 1;
        table_.time.reserve(lines);
        table_.values.reserve(lines * table_.columns());
        while (next_line()) only_numbers_ ? read_row() : read_row_of_kinds();
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
        refuse_value(column, field, text, comma ? " Write decimals with a point." : "");
    }

    [[noreturn]] void refuse_value(std::size_t column, const char* field, std::string_view value,
                                   const std::string& hint) const {
        const csv_column& c = columns_[column];
        const bool number = c.kind.is == column_kind::type::real;
        std::string more = hint;
        if (number && more.empty() && !value.empty() && (value.front() == '"' || std::isalpha(value.front()) != 0))
            more = fmt::format(" A column of another kind is named in the subsystem: 'kinds: {{{}: string}}'.", c.name);
        fail(place(field), fmt::format("column '{}' (column {}): '{}' is {}{}.{}", c.name, column + 1, value,
                                       number ? "not " : "not allowed; expected is ", c.kind.expected(), more));
    }

    /// A row that has more than numbers: fields may be quoted.
    void read_row_of_kinds() {
        const std::vector<std::string_view> fields = split_fields("the row");
        if (fields.size() != columns_.size()) refuse_count(fields.size());
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (columns_[i].kind.is == column_kind::type::skip) continue;
            const std::string value = unquoted(trimmed(fields[i]));
            if (i == time_column_) {
                const auto time = columns_[i].kind.number(value);
                if (!time) refuse_value(i, fields[i].data(), value, "");
                check_time(columns_[i].to_si(*time), fields[i].data());
                table_.time.push_back(columns_[i].to_si(*time));
            } else if (columns_[i].kind.count < 0) {
                add_value(i, fields[i].data(), value, value);
            } else {
                add_elements(i, fields[i].data(), value);
            }
        }
    }

    void add_value(std::size_t column, const char* field, std::string_view element, std::string_view whole) {
        const csv_column& c = columns_[column];
        if (c.kind.is_text()) {
            auto text = c.kind.text(element);
            if (!text) refuse_value(column, field, whole, "");
            return table_.texts.push_back(std::move(*text));
        }
        const auto number = c.kind.number(element);
        if (!number) refuse_value(column, field, whole, "");
        table_.values.push_back(c.kind.is == column_kind::type::real ? c.to_si(*number) : *number);
    }

    void add_elements(std::size_t column, const char* field, std::string_view whole) {
        int count = 0;
        for (std::string_view rest = trimmed(whole); !rest.empty(); ++count) {
            const std::size_t end = std::min(rest.find(' '), rest.size());
            if (count < columns_[column].kind.count) add_value(column, field, rest.substr(0, end), whole);
            rest = trimmed(rest.substr(end));
        }
        if (count != columns_[column].kind.count)
            fail(
                place(field),
                fmt::format("column '{}' (column {}): '{}' has {} element{}; expected are {} with blanks between, each "
                            "{}.",
                            columns_[column].name, column + 1, whole, count, count == 1 ? "" : "s",
                            columns_[column].kind.count, columns_[column].kind.expected()));
    }

    [[noreturn]] void refuse_count() const {
        refuse_count(static_cast<std::size_t>(std::count(line_.begin(), line_.end(), separator_)) + 1);
    }

    [[noreturn]] void refuse_count(std::size_t count) const {
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
    bool only_numbers_ = true;  ///< one in each column
    csv_table table_;
};

}  // namespace

csv_table read_csv(const subsystem_spec& spec) { return csv_reader(spec).read(); }

csv_header read_csv_header(const subsystem_spec& spec) { return csv_reader(spec).header(); }

}  // namespace mdpcosim
