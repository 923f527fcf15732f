#include "archive/work_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "core/error.hpp"

namespace mdpcosim::archive {

namespace {

constexpr std::string_view prefix = "mdpcosim-fmu-";

/// The folder itself is locked: there is no moment with a folder but without a lock file.
int open_folder(const char* path) { return ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

bool is_same(int folder, const char* path) {
    struct stat opened {
    }, named{};
    return ::fstat(folder, &opened) == 0 && ::lstat(path, &named) == 0 && opened.st_ino == named.st_ino &&
           opened.st_dev == named.st_dev;
}

[[noreturn]] void throw_no_room(const std::filesystem::path& base) {
    throw user_error(
        fmt::format("cannot make a folder for what is unpacked in '{}' ({}). TMPDIR chooses another place.",
                    base.string(), std::strerror(errno)));
}

}  // namespace

std::filesystem::path work_base() {
    const char* chosen = std::getenv("TMPDIR");
    return chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
}

work_folder::work_folder() : process_(::getpid()) {
    const std::filesystem::path base = std::filesystem::absolute(work_base());
    std::vector<char> text;
    for (int tries = 0; tries < 10; ++tries) {
        const std::string pattern = (base / fmt::format("{}{}-XXXXXX", prefix, process_)).string();
        text.assign(pattern.c_str(), pattern.c_str() + pattern.size() + 1);
        if (::mkdtemp(text.data()) == nullptr) break;
        lock_ = open_folder(text.data());
        // Another process that cleans up may have been faster than our lock; then the folder is gone.
        if (lock_ >= 0 && ::flock(lock_, LOCK_EX) == 0 && is_same(lock_, text.data())) {
            path_ = text.data();
            return;
        }
        if (lock_ >= 0) ::close(lock_);
    }
    throw_no_room(base);
}

work_folder::~work_folder() {
    remove(path_);
    ::close(lock_);
}

bool work_folder::mine() const { return process_ == ::getpid(); }

std::filesystem::path work_folder::add() {
    std::filesystem::path inside = path_ / std::to_string(added_++);
    if (::mkdir(inside.c_str(), S_IRWXU) != 0) throw_no_room(path_);
    return inside;
}

void work_folder::remove(const std::filesystem::path& inside) const {
    std::error_code ignored;
    if (mine()) std::filesystem::remove_all(inside, ignored);
}

std::shared_ptr<work_folder> shared_work_folder() {
    static std::mutex mutex;
    static std::weak_ptr<work_folder> shared;
    const std::scoped_lock lock(mutex);
    std::shared_ptr<work_folder> work = shared.lock();
    if (work && work->mine()) return work;
    remove_left_folders();
    shared = work = std::make_shared<work_folder>();
    return work;
}

int remove_stale_folders(const std::filesystem::path& base) {
    int removed = 0;
    std::error_code status;
    for (const auto& entry : std::filesystem::directory_iterator(base, status)) {
        if (!entry.path().filename().string().starts_with(prefix)) continue;
        const int folder = open_folder(entry.path().c_str());
        if (folder < 0) continue;
        struct stat about {};
        if (::fstat(folder, &about) == 0 && about.st_uid == ::geteuid() && ::flock(folder, LOCK_EX | LOCK_NB) == 0 &&
            is_same(folder, entry.path().c_str())) {
            std::error_code failed;
            std::filesystem::remove_all(entry.path(), failed);
            if (!failed) ++removed;
        }
        ::close(folder);
    }
    return removed;
}

void remove_left_folders() { remove_stale_folders(work_base()); }

}  // namespace mdpcosim::archive
