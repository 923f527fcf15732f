#include "results/csv.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

constexpr std::size_t longest_number = 32;

class csv_sink final : public result_sink {
   public:
    csv_sink(const std::filesystem::path& path, const std::vector<recorded_column>& columns) : path_(path) {
        file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (file_ < 0) fail("opened");
        std::string header = "time";
        for (const auto& column : columns) {
            header += ',';
            const bool quote = column.name.find_first_of(",\"") != std::string::npos;
            header += quote ? '"' + column.name + '"' : column.name;
        }
        header += '\n';
        text_.resize(1 << 16);
        put(header);
        // The header is on disk from the start: a run that fails in its first step leaves a readable file.
        flush();
    }

    csv_sink(const csv_sink&) = delete;
    csv_sink& operator=(const csv_sink&) = delete;
    ~csv_sink() override {
        if (file_ >= 0) ::close(file_);
    }

    void write(std::span<const double> values, std::size_t row_length) override {
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (used_ + longest_number > text_.size()) drain();
            used_ = static_cast<std::size_t>(std::to_chars(text_.data() + used_, text_.data() + text_.size(), values[i]).ptr - text_.data());
            text_[used_++] = (i + 1) % row_length == 0 ? '\n' : ',';
        }
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
        std::size_t done = 0;
        while (done < used_) {
            const ssize_t count = ::write(file_, text_.data() + done, used_ - done);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) fail("written");
            done += static_cast<std::size_t>(count);
        }
        used_ = 0;
    }

    [[noreturn]] void fail(const char* what) const {
        throw run_error(fmt::format("{}: the results cannot be {} ({})", path_.string(), what, std::strerror(errno)));
    }

    std::filesystem::path path_;
    int file_ = -1;
    std::string text_;
    std::size_t used_ = 0;
};

}  // namespace

std::unique_ptr<result_sink> make_csv_sink(const std::filesystem::path& path, const std::vector<recorded_column>& columns) {
    return std::make_unique<csv_sink>(path, columns);
}

}  // namespace mdpcosim
