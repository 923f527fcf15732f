#include "study/rows.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "core/error.hpp"
#include "core/files.hpp"

namespace mdpcosim {

namespace {

constexpr const char* queue_name = "pending";
constexpr const char* counter_name = "next";

[[noreturn]] void fail_on(const std::filesystem::path& path, const char* attempted) {
    throw run_error(fmt::format("{}: the study's file cannot be {}: {}", path.string(), attempted,
                                std::generic_category().message(errno)));
}

/// On one line, without tabs.
std::string flat(const std::string& reason) {
    std::string s = reason;
    std::ranges::replace_if(
        s, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
    return s;
}

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::size_t begin = 0;
    for (;;) {
        const std::size_t end = line.find('\t', begin);
        fields.push_back(line.substr(begin, end - begin));
        if (end == std::string::npos) return fields;
        begin = end + 1;
    }
}

}  // namespace

row_file::row_file(const std::filesystem::path& path)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644)) {
    if (file_.get() < 0) fail_on(path_, "made");
}

void row_file::write(const std::string& line) const {
    if (const int error = write_all(file_.get(), line); error != 0) {
        errno = error;
        fail_on(path_, "written");
    }
}

void row_file::begin(std::int64_t variant) const { write(fmt::format("begin\t{}\n", variant)); }
void row_file::close_search(std::int64_t search) const { write(fmt::format("closed\t{}\n", search)); }

void row_file::add(const study_row& row) const {
    std::string line = fmt::format("row\t{}\t{}\t{}\t{}\t{}\t{}", row.variant, row.done ? 1 : 0, row.verdict,
                                   row.macro_steps, row.integrations, row.seconds);
    for (const auto* numbers : {&row.parameters, &row.values})
        for (const double x : *numbers) line += fmt::format("\t{}", x);
    write(line + "\t" + flat(row.reason) + "\n");
}

void row_reader::read() {
    std::vector<std::filesystem::path> files;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, none))
        if (entry.path().extension() == ".rows") files.push_back(entry.path());
    std::ranges::sort(files);
    for (const auto& path : files) read_file(path);
}

void row_reader::read_file(const std::filesystem::path& path) {
    std::uintmax_t& at = read_so_far_[path];
    std::ifstream in(path, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(at));
    std::string line;
    while (std::getline(in, line) && !in.eof()) {
        at += line.size() + 1;
        if (!take(line, path.stem().string()))
            throw run_error(
                fmt::format("{}: '{}' is no line of a study; the file is damaged.", path.string(), line.substr(0, 60)));
    }
}

bool row_reader::take(const std::string& line, const std::string& worker) {
    const auto fields = fields_of(line);
    if (fields.size() < 2) return false;
    const std::int64_t number = std::strtoll(fields[1].c_str(), nullptr, 10);
    if (fields[0] == "begin") return all_.begun.insert_or_assign(number, worker), true;
    if (fields[0] == "closed") return all_.closed.insert(number), true;
    constexpr std::size_t head = 7;
    if (fields[0] != "row" || fields.size() != head + parameters_ + measures_ + 1) return false;
    study_row row{.variant = number, .done = fields[2] == "1", .verdict = std::atoi(fields[3].c_str())};
    row.macro_steps = std::strtoll(fields[4].c_str(), nullptr, 10);
    row.integrations = std::strtoll(fields[5].c_str(), nullptr, 10);
    row.seconds = std::strtod(fields[6].c_str(), nullptr);
    for (std::size_t k = 0; k < parameters_ + measures_; ++k)
        (k < parameters_ ? row.parameters : row.values).push_back(std::strtod(fields[head + k].c_str(), nullptr));
    row.reason = fields.back();
    all_.begun.erase(number);
    all_.rows.insert_or_assign(number, std::move(row));
    return true;
}

void work_queue::make(const std::filesystem::path& folder, const std::vector<std::int64_t>& pending) {
    std::string text;
    for (std::size_t k = 0; k < pending.size();) {
        std::size_t end = k + 1;
        while (end < pending.size() && pending[end] == pending[end - 1] + 1) ++end;
        text += fmt::format("{} {}\n", pending[k], end - k);
        k = end;
    }
    write_output(folder / queue_name, text);
    const file_handle counter(::open((folder / counter_name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    const std::int64_t first = 0;
    if (counter.get() < 0 || ::pwrite(counter.get(), &first, sizeof first, 0) != sizeof first)
        fail_on(folder / counter_name, "made");
}

work_queue::work_queue(const std::filesystem::path& folder)
    : folder_(folder), counter_(::open((folder / counter_name).c_str(), O_RDWR | O_CLOEXEC)) {
    if (counter_.get() < 0) fail_on(folder / counter_name, "opened");
    std::ifstream in(folder / queue_name);
    for (range r{}; in >> r.first >> r.count;) {
        r.before = total_;
        total_ += r.count;
        ranges_.push_back(r);
    }
}

std::vector<std::int64_t> work_queue::take(std::size_t most) {
    if (::flock(counter_.get(), LOCK_EX) != 0) fail_on(folder_ / counter_name, "locked");
    std::int64_t next = 0;
    const bool known = ::pread(counter_.get(), &next, sizeof next, 0) == sizeof next;
    // Towards the end in ever smaller pieces, so that nobody is left with much.
    const std::int64_t left = total_ - next;
    const std::int64_t count = std::min<std::int64_t>({static_cast<std::int64_t>(most), (left + 15) / 16, left});
    const std::int64_t after = next + count;
    const bool noted = known && (count <= 0 || ::pwrite(counter_.get(), &after, sizeof after, 0) == sizeof after);
    ::flock(counter_.get(), LOCK_UN);
    if (!noted) fail_on(folder_ / counter_name, "written");
    std::vector<std::int64_t> taken;
    for (std::int64_t k = next; k < after; ++k) {
        const auto r = std::ranges::upper_bound(ranges_, k, {}, &range::before) - 1;
        taken.push_back(r->first + (k - r->before));
    }
    return taken;
}

}  // namespace mdpcosim
