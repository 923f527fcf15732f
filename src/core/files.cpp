#include "core/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mdpcosim {

namespace {

constexpr std::size_t read_at_once = 1 << 16;

/// Made by the system for the descriptors of this process: never replaced by a file of ours.
bool is_open_already(const std::filesystem::path& path) {
    const std::string& name = path.native();
    return name.starts_with("/dev/") || name.starts_with("/proc/");
}

[[noreturn]] void fail(int code) { throw file_problem(std::strerror(code), code); }

std::string size_text(std::size_t bytes) {
    return bytes >= 1'000'000 ? std::to_string(bytes / 1'000'000) + " MB" : std::to_string(bytes / 1'000) + " kB";
}

/// Appends what one read gives; false at the end.
bool read_some(int file, std::string& into) {
    const std::size_t before = into.size();
    into.resize(before + read_at_once);
    ssize_t count = 0;
    do count = ::read(file, into.data() + before, read_at_once);
    while (count < 0 && errno == EINTR);
    const int code = errno;
    into.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0) fail(code);
    return count > 0;
}

}  // namespace

file_handle open_input(const std::filesystem::path& path) {
    // Without waiting: a named pipe is known for one before anybody writes into it.
    file_handle file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (file.get() < 0) fail(errno);
    struct stat about {};
    if (::fstat(file.get(), &about) != 0) fail(errno);
    if (S_ISDIR(about.st_mode)) throw file_problem("it is a folder, not a file", EISDIR);
    if (S_ISFIFO(about.st_mode) && is_open_already(path)) {
        ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
        return file;
    }
    if (!S_ISREG(about.st_mode)) throw file_problem("it is a device, a socket or a named pipe, not a file");
    return file;
}

std::string read_input(const std::filesystem::path& path, std::size_t most) {
    const file_handle file = open_input(path);
    const auto refuse = [&] { throw file_problem("it is larger than " + size_text(most) + ", which is the limit"); };
    struct stat about {};
    if (::fstat(file.get(), &about) == 0 && S_ISREG(about.st_mode)) {
        if (static_cast<std::size_t>(about.st_size) > most) refuse();
    }
    std::string text;
    text.reserve(static_cast<std::size_t>(about.st_size) + read_at_once);
    while (read_some(file.get(), text))
        if (text.size() > most) refuse();
    return text;
}

line_reader::line_reader(const std::filesystem::path& path, std::size_t longest)
    : file_(open_input(path)), longest_(longest) {}

bool line_reader::fill() {
    buffer_.erase(0, at_);
    at_ = 0;
    if (buffer_.size() > longest_)
        throw file_problem("it has a line of more than " + size_text(longest_) + ", which is the limit");
    return read_some(file_.get(), buffer_);
}

bool line_reader::next(std::string& line) {
    for (std::size_t from = 0;;) {
        const std::size_t end = buffer_.find('\n', at_ + from);
        if (end != std::string::npos) {
            line.assign(buffer_, at_, end - at_);
            at_ = end + 1;
            return true;
        }
        from = buffer_.size() - at_;
        if (!fill()) break;
    }
    if (buffer_.empty()) return false;
    line = std::move(buffer_);
    buffer_.clear();
    cut_ = true;
    return true;
}

int write_all(int file, std::string_view content) {
    while (!content.empty()) {
        const ssize_t count = ::write(file, content.data(), content.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count < 0 ? errno : EIO;
        content.remove_prefix(static_cast<std::size_t>(count));
    }
    return 0;
}

void keep_readable(int file) {
    constexpr mode_t owner = S_IRUSR | S_IWUSR;
    struct stat about {};
    if (::fstat(file, &about) == 0 && (about.st_mode & owner) != owner) ::fchmod(file, (about.st_mode & 07777) | owner);
}

file_handle create_file(const std::filesystem::path& path) {
    if (is_open_already(path)) return file_handle(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    struct stat about {};
    if (::lstat(path.c_str(), &about) == 0 && (S_ISREG(about.st_mode) || S_ISLNK(about.st_mode)))
        ::unlink(path.c_str());
    file_handle made(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (made.get() >= 0) keep_readable(made.get());
    return made;
}

void write_output(const std::filesystem::path& path, std::string_view content) {
    std::error_code none;
    const auto there = std::filesystem::status(path, none).type();
    using type = std::filesystem::file_type;
    if (is_open_already(path) || (there != type::regular && there != type::not_found && there != type::directory)) {
        const file_handle file(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
        if (file.get() < 0) fail(errno);
        ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
        if (const int code = write_all(file.get(), content); code != 0) fail(code);
        return;
    }
    const std::string draft = path.string() + ".part";
    file_handle file = create_file(draft);
    if (file.get() < 0) fail(errno);
    int code = write_all(file.get(), content);
    file.close();
    if (code == 0 && ::rename(draft.c_str(), path.c_str()) != 0) code = errno;
    if (code == 0) return;
    ::unlink(draft.c_str());
    fail(code);
}

void write_document(const std::filesystem::path& path, std::string_view content) {
    std::error_code none;
    if (std::filesystem::is_regular_file(path, none) && !is_open_already(path)) {
        std::string begin;
        read_some(open_input(path).get(), begin);
        if (!begin.empty() && begin.front() != '<')
            throw file_problem("there is a file of this name that is neither SVG nor HTML; it is left as it is",
                               EEXIST);
    }
    write_output(path, content);
}

const std::filesystem::path* find_same_file(const std::filesystem::path& path,
                                            const std::vector<std::filesystem::path>& inputs) {
    struct stat wanted {};
    if (::stat(path.c_str(), &wanted) != 0) return nullptr;
    const auto found = std::ranges::find_if(inputs, [&](const std::filesystem::path& input) {
        struct stat about {};
        return ::stat(input.c_str(), &about) == 0 && about.st_dev == wanted.st_dev && about.st_ino == wanted.st_ino;
    });
    return found == inputs.end() ? nullptr : &*found;
}

}  // namespace mdpcosim
