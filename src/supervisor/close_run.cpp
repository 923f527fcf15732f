#include "supervisor/close_run.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>

#include "core/error.hpp"
#include "core/file_handle.hpp"
#include "core/json.hpp"
#include "hdf5/hdf5.hpp"
#include "results/run_folder.hpp"

namespace mdpcosim {

namespace {

namespace fs = std::filesystem;

std::string bytes_of(int file, off_t from, off_t to) {
    std::string text(static_cast<std::size_t>(to - from), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t n = ::pread(file, text.data() + done, text.size() - done, from + static_cast<off_t>(done));
        if (n <= 0) break;
        done += static_cast<std::size_t>(n);
    }
    text.resize(done);
    return text;
}

/// The last line that has an end, and where that is.
std::pair<std::string, off_t> last_line(int file, off_t size) {
    for (off_t part = 1 << 16;; part *= 4) {
        const off_t from = std::max<off_t>(0, size - part);
        const std::string text = bytes_of(file, from, size);
        const std::size_t end = text.rfind('\n');
        const std::size_t begin = end == std::string::npos || end == 0 ? std::string::npos : text.rfind('\n', end - 1);
        if (begin == std::string::npos && from > 0) continue;
        if (end == std::string::npos) return {"", 0};
        const std::size_t first = begin == std::string::npos ? 0 : begin + 1;
        return {text.substr(first, end - first), from + static_cast<off_t>(end) + 1};
    }
}

/// Fields of a header (RFC 4180).
std::vector<std::string> names_in(const std::string& header) {
    std::vector<std::string> names(1);
    bool quoted = false;
    for (std::size_t i = 0; i < header.size(); ++i) {
        const char c = header[i];
        if (c == '"' && quoted && i + 1 < header.size() && header[i + 1] == '"')
            names.back() += header[++i];
        else if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            names.emplace_back();
        else
            names.back() += c;
    }
    return names;
}

bool write_whole(int file, const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t n = ::write(file, text.data() + done, text.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += static_cast<std::size_t>(n);
    }
    return true;
}

std::string content_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
}

/// Of the process that is gone; held while its folder is finished. One that has finished itself has taken it away.
file_handle take_lock(const fs::path& folder, bool made_anew) {
    const int how = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (made_anew ? O_CREAT : 0);
    file_handle lock(::open((folder / ".running").c_str(), how, 0644));
    if (lock.get() >= 0 && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) lock.close();
    return lock;
}

void remove_drafts(const fs::path& folder) {
    std::error_code problem;
    for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem))
        if (entry->path().extension() == ".part") {
            std::error_code ignored;
            fs::remove(entry->path(), ignored);
        }
}

/// What the process has written itself says more than the draft.
json last_summary(const open_run& run, const fs::path& folder) {
    if (auto whole = json::parse_if_valid(content_of(folder / "summary.json"))) return *whole;
    return json::parse_if_valid(std::string_view(run.draft)).value_or(json::object());
}

/// Whether the last row is that of this time.
bool ends_at(const fs::path& csv, double time) {
    const file_handle file(::open(csv.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat about {};
    if (file.get() < 0 || ::fstat(file.get(), &about) != 0) return false;
    return std::strtod(last_line(file.get(), about.st_size).first.c_str(), nullptr) == time;
}

/// Behind the header.
std::int64_t rows_in_file(const fs::path& csv) {
    std::ifstream in(csv, std::ios::binary);
    const auto lines = std::count(std::istreambuf_iterator<char>(in), {}, '\n');
    return std::max<std::int64_t>(lines - 1, 0);
}

/// Of the columns, the time first, where there is no results.csv.
std::vector<std::string> names_in_system(const fs::path& file) {
    std::vector<std::string> names{"time"};
    const auto system = json::parse_if_valid(content_of(file));
    if (system && system->is_object() && system->contains("columns"))
        for (const json& column : system->at("columns")) names.push_back(column.value("name", ""));
    return names;
}

closed_run finish(const open_run& run, const std::string& status, const std::string& message) {
    closed_run closed{run.folder, {}, 0, {}};
    const row_journal& journal = run.journal;
    const std::vector<double> rows = journal.left();
    const std::size_t used = rows.size();
    auto names = append_csv_rows(closed.folder / "results.csv", rows);
    const bool csv = !names.empty();
    if (!csv) names = names_in_system(closed.folder / "system.json");
    // Where there is no room left the HDF5 file keeps what was flushed.
    if (names.size() == journal.row_length && used > 0) append_hdf5_rows(closed.folder / "results.h5", names, rows);
    closed.rows = journal.rows;
    // A full disk has fewer than were recorded.
    if (csv && used >= journal.row_length && journal.row_length > 0 &&
        !ends_at(closed.folder / "results.csv", rows[used - journal.row_length]))
        closed.rows = rows_in_file(closed.folder / "results.csv");
    json summary = last_summary(run, closed.folder);
    summary["status"] = status;
    if (!message.empty())
        summary["message"] = message;
    else if (summary.value("message", std::string()).empty())
        summary["message"] = "the run could not write its results";
    closed.message = summary["message"].get<std::string>();
    if (journal.rows > 0) summary["rows"] = closed.rows;
    if (!std::isnan(journal.reached.load())) {
        summary["time"]["reached"] = journal.reached.load();
        summary["macro_steps"] = journal.steps.load();
    }
    closed.summary = summary.dump(2) + "\n";
    const fs::path draft = closed.folder / "summary.json.part";
    std::error_code ignored;
    fs::remove(closed.folder / run_folder::reserve_name, ignored);  // not before: rows would have taken its place
    fs::remove(draft, ignored);
    const file_handle file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (file.get() >= 0 && write_whole(file.get(), closed.summary))
        fs::rename(draft, closed.folder / "summary.json", ignored);
    else
        fs::remove(draft, ignored);
    return closed;
}

}  // namespace

std::vector<std::string> append_csv_rows(const fs::path& path, std::span<const double> values) {
    const file_handle file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    struct stat about {};
    if (file.get() < 0 || ::fstat(file.get(), &about) != 0) return {};
    std::ifstream in(path, std::ios::binary);
    std::string header;
    if (!std::getline(in, header) || in.eof()) return {};
    std::vector<std::string> names = names_in(header);
    const auto [line, end] = last_line(file.get(), about.st_size);
    double last = -std::numeric_limits<double>::infinity();
    std::from_chars(line.data(), line.data() + line.size(), last);  // of the header: none
    if (end < about.st_size && ::ftruncate(file.get(), end) != 0) return names;
    std::string text;
    char number[32];
    for (std::size_t row = 0; row + names.size() <= values.size(); row += names.size()) {
        if (values[row] <= last) continue;
        for (std::size_t k = 0; k < names.size(); ++k) {
            text.append(number, std::to_chars(number, number + sizeof number, values[row + k]).ptr);
            text += k + 1 < names.size() ? ',' : '\n';
        }
    }
    if (::lseek(file.get(), end, SEEK_SET) == end && !write_whole(file.get(), text) &&
        ::ftruncate(file.get(), end) != 0)
        return {};
    return names;
}

std::vector<closed_run> close_runs(last_words& words, const std::string& status, const std::string& message) {
    std::vector<closed_run> closed;
    std::vector<std::reference_wrapper<open_run>> runs(words.runs.begin(), words.runs.end());
    // A run before those inside its folder.
    std::ranges::stable_sort(runs, {}, [](const open_run& r) { return std::strlen(r.folder); });
    for (open_run& run : runs) {
        const open_run::state now = run.now.exchange(open_run::state::none);
        if (now == open_run::state::none) continue;
        const fs::path folder = run.folder;
        const bool aside = folder.filename() == half_step_folder || folder.filename() == twice_step_folder;
        std::error_code ignored;
        if (aside && !closed.empty() && folder.parent_path() == closed.front().folder) {
            fs::remove_all(folder, ignored);
            continue;
        }
        try {
            std::optional<run_folder> made;
            // It died before it had its folder.
            if (now == open_run::state::set_up && !fs::exists(folder / ".running")) made.emplace(folder);
            file_handle lock = take_lock(folder, now == open_run::state::closing);
            if (!made && lock.get() < 0) continue;  // another one runs there by now
            remove_drafts(folder);
            closed.push_back(finish(run, status, message));
            fs::remove(folder / ".running", ignored);
        } catch (const std::exception&) {  // a folder that cannot be made: there is nothing to be kept
        }
    }
    return closed;
}

}  // namespace mdpcosim
