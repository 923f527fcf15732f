#include "results/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

constexpr const char* lock_name = ".running";
constexpr const char* written_files[] = {"results.csv",   "results.h5",    "results.h5.part", "summary.json",
                                         "profile.json",  "scenario.yaml", "fmi.log",         "system.json",
                                         "coupling.json", "report.html",   "steps.csv"};

}  // namespace

run_folder::run_folder(const std::filesystem::path& path) : path_(path) {
    std::error_code status;
    std::filesystem::create_directories(path_, status);
    std::error_code none;
    if (!std::filesystem::is_directory(path_, none))
        throw user_error(
            fmt::format("--out {}: the folder cannot be made ({}).", path_.string(),
                        std::filesystem::exists(path_, none) ? "a file of this name exists" : status.message()));
    while (true) {
        lock_ = ::open(file(lock_name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (lock_ < 0)
            throw user_error(
                fmt::format("--out {}: the folder cannot be written ({}).", path_.string(), std::strerror(errno)));
        if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
            ::close(lock_);
            throw user_error(
                fmt::format("--out {}: another mdpcosim is running in this folder. Wait for it or choose another "
                            "folder with --out.",
                            path_.string()));
        }
        // The run before may have removed the file between our open and our lock: then ours is nobody's lock.
        struct stat held {
        }, present{};
        if (::fstat(lock_, &held) == 0 && ::stat(file(lock_name).c_str(), &present) == 0 &&
            held.st_ino == present.st_ino)
            break;
        ::close(lock_);
    }
    for (const char* name : written_files) std::filesystem::remove(file(name), status);
    for (const char* folder : {half_step_folder, twice_step_folder}) {
        for (const char* name : written_files) std::filesystem::remove(file(folder) / name, status);
        std::filesystem::remove(file(folder), status);  // unless there is something else in it
    }
}

run_folder::~run_folder() {
    std::error_code status;
    std::filesystem::remove(file(lock_name), status);
    ::close(lock_);
}

void run_folder::write(const char* name, const std::string& content) const {
    const std::filesystem::path target = file(name);
    const std::filesystem::path draft = target.string() + ".part";
    errno = 0;
    std::ofstream out(draft, std::ios::binary);
    out << content;
    out.close();
    std::error_code status;
    if (!out) status = std::error_code(errno != 0 ? errno : EIO, std::generic_category());
    if (!status) std::filesystem::rename(draft, target, status);
    if (!status) return;
    const std::string why = status.message();
    std::filesystem::remove(draft, status);
    throw run_error(fmt::format("{}: the file cannot be written ({})", target.string(), why));
}

}  // namespace mdpcosim
