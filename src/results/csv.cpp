#include "results/csv.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "core/files.hpp"
#include "results/decimals.hpp"

namespace mdpcosim {

namespace {

constexpr std::size_t longest_number = longest_decimal + 1;  ///< and a separator

/// RFC 4180: a field with a separator, a quote or a line break stands in quotes, and quotes in it are doubled.
std::string quoted(const std::string& name) {
    if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
    std::string field = "\"";
    for (const char c : name) {
        if (c == '"') field += '"';
        field += c;
    }
    return field + '"';
}

class csv_sink final : public result_sink {
   public:
    csv_sink(const std::filesystem::path& path, const std::vector<recorded_column>& columns) : path_(path) {
        file_ = create_file(path);
        if (file_.get() < 0) fail("opened");
        std::string header = "time";
        for (const auto& column : columns) {
            header += ',';
            header +=
                quoted(column.shows_unit ? fmt::format("{} [{}]", column.name, column.unit_in_files()) : column.name);
        }
        header += '\n';
        text_.resize(std::max<std::size_t>(1 << 16, (columns.size() + 1) * longest_number) + decimal_room);
        put(header);
        // The header is on disk from the start: a run that fails in its first step leaves a readable file.
        flush();
    }

    void write(std::span<const double> values, std::size_t row_length) override {
        for (; !values.empty(); values = values.subspan(row_length)) {
            // Only whole rows go to the file: a killed run, and a reader while it runs, see no torn one.
            if (used_ + row_length * longest_number + decimal_room > text_.size()) drain();
            char* to = text_.data() + used_;
            for (const double value : values.first(row_length)) {
                to = write_decimal(to, value);
                *to++ = ',';
            }
            to[-1] = '\n';
            used_ = static_cast<std::size_t>(to - text_.data());
        }
    }

    std::size_t bytes_of(std::span<const double> row) const override {
        char text[decimal_room];
        std::size_t sum = row.size();
        for (const double value : row) sum += static_cast<std::size_t>(write_decimal(text, value) - text);
        return sum;
    }

    void flush() override { drain(); }

   private:
    void put(std::string_view part) {
        while (!part.empty()) {
            const std::size_t fits = std::min(part.size(), text_.size() - used_);
            std::memcpy(text_.data() + used_, part.data(), fits);
            used_ += fits;
            part.remove_prefix(fits);
            if (used_ == text_.size()) drain();
        }
    }

    void drain() {
        const std::size_t used = std::exchange(used_, 0);  // nothing is written twice
        if (full_) return;
        std::size_t done = 0;
        while (done < used) {
            const ssize_t count = ::write(file_.get(), text_.data() + done, used - done);
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) {
                const int code = errno;
                take_back(done);
                errno = code;
                fail("written");
            }
            done += static_cast<std::size_t>(count);
        }
        length_ += static_cast<off_t>(used);
    }

    /// After a failure within the text: a row is whole or not there, and none follows behind the gap.
    void take_back(std::size_t done) {
        full_ = true;
        const std::size_t last = std::string_view(text_).substr(0, done).rfind('\n');
        const off_t whole = length_ + static_cast<off_t>(last == std::string_view::npos ? 0 : last + 1);
        [[maybe_unused]] const int unable = ::ftruncate(file_.get(), whole);
    }

    [[noreturn]] void fail(const char* attempted) const {
        throw run_error(
            fmt::format("{}: the results cannot be {} ({})", path_.string(), attempted, std::strerror(errno)));
    }

    std::filesystem::path path_;
    file_handle file_;
    off_t length_ = 0;   ///< of whole rows in the file
    bool full_ = false;  ///< takes nothing any more
    std::string text_;
    std::size_t used_ = 0;
};

}  // namespace

std::unique_ptr<result_sink> make_csv_sink(const std::filesystem::path& path,
                                           const std::vector<recorded_column>& columns) {
    return std::make_unique<csv_sink>(path, columns);
}

namespace {

const result_format_registration csv_format{
    {.name = "csv",
     .make = [](const auto& path, const auto& columns, std::int64_t) { return make_csv_sink(path, columns); }}};

}  // namespace

}  // namespace mdpcosim
