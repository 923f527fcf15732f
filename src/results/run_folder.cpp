#include "results/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "core/suggest.hpp"

namespace mdpcosim {

namespace {

namespace fs = std::filesystem;

constexpr const char* lock_name = ".running";
constexpr const char* written_files[] = {"results.csv",   "results.h5", "summary.json",          "profile.json",
                                         "scenario.yaml", "fmi.log",    "system.json",           "coupling.json",
                                         "report.html",   "steps.csv",  run_folder::reserve_name};
constexpr const char* inner_folders[] = {half_step_folder, twice_step_folder};

/// Also the drafts of a run that was killed while it wrote.
template <class Call>
void for_each_written(const fs::path& folder, const Call& call) {
    for (const char* name : written_files)
        for (const char* ending : {"", ".part"}) call(folder / (std::string(name) + ending));
}

bool has_key(const fs::path& file, const char* key) {
    constexpr std::size_t most = 256'000'000;
    try {
        const auto document = json::parse_if_valid(read_input(file, most));
        return document && document->is_object() && document->contains(key);
    } catch (const file_problem&) {
        return false;
    }
}

bool is_call_log(const fs::path& file) {
    try {
        std::string first;
        return line_reader(file, 1000).next(first) && first == fmi_log_head;
    } catch (const file_problem&) {
        return false;
    }
}

bool is_of_a_run(const fs::path& folder) {
    std::error_code none;
    return fs::exists(folder / lock_name, none) || has_key(folder / "summary.json", "status") ||
           has_key(folder / "system.json", "columns") || is_call_log(folder / "fmi.log");
}

void refuse_foreign(const fs::path& folder) {
    std::error_code status;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder, status)) names.push_back(entry.path().filename().string());
    if (names.empty() || is_of_a_run(folder)) return;
    std::sort(names.begin(), names.end());
    throw user_error(fmt::format(
        "--out {}: the folder is not empty and holds no run of mdpcosim, but: {}. Nothing was changed. Name a "
        "new or an empty folder, or that of an earlier run.",
        folder.string(), name_list(names)));
}

}  // namespace

void check_run_folder(const fs::path& path, const std::vector<fs::path>& inputs) {
    std::error_code gone;
    if (const fs::path here = fs::current_path(gone); path.is_relative() && gone)
        throw user_error(
            fmt::format("--out {}: the working folder does not exist any more ({}). Change to another one.",
                        path.string(), gone.message()));
    refuse_foreign(path);
    const auto check = [&](const fs::path& file) {
        struct stat about {};
        // A link is removed, what it leads to is not.
        if (::lstat(file.c_str(), &about) != 0 || S_ISLNK(about.st_mode)) return;
        if (const fs::path* input = find_same_file(file, inputs))
            throw user_error(fmt::format(
                "--out {}: the run would write over {}, which it reads. Nothing was changed. Choose another "
                "folder with --out.",
                path.string(), input->string()));
    };
    for_each_written(path, check);
    for (const char* folder : inner_folders) for_each_written(path / folder, check);
}

run_folder::run_folder(const fs::path& path, const fs::path& working_folder)
    : path_(path), place_(working_folder.empty() ? fs::absolute(path) : working_folder / path) {
    std::error_code status;
    std::error_code none;
    if (fs::create_directories(place_, status))  // whatever umask foreign code has left behind
        fs::permissions(place_, fs::perms::owner_all, fs::perm_options::add, none);
    if (!std::filesystem::is_directory(place_, none))
        throw user_error(
            fmt::format("--out {}: the folder cannot be made ({}).", path_.string(),
                        std::filesystem::exists(place_, none) ? "a file of this name exists" : status.message()));
    refuse_foreign(place_);
    while (true) {
        lock_ = ::open(file(lock_name).c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (lock_ < 0)
            throw user_error(
                fmt::format("--out {}: the folder cannot be written ({}).", path_.string(), std::strerror(errno)));
        keep_readable(lock_);
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
    const auto remove = [](const fs::path& file) {
        std::error_code ignored;
        fs::remove(file, ignored);
    };
    for_each_written(place_, remove);
    for (const char* folder : inner_folders) {
        if (fs::is_symlink(file(folder), status)) continue;  // leads to somewhere else
        for_each_written(file(folder), remove);
        fs::remove(file(folder), status);  // unless there is something else in it
    }
}

run_folder::~run_folder() {
    release();
    std::error_code status;
    std::filesystem::remove(file(lock_name), status);
    ::close(lock_);
}

void run_folder::write(const char* name, const std::string& content) const {
    try {
        write_output(file(name), content);
    } catch (const file_problem& problem) {
        throw run_error(fmt::format("{}: the file cannot be written ({})", file(name).string(), problem.what()));
    }
}

void run_folder::reserve(std::size_t bytes) {
    const file_handle kept = create_file(file(reserve_name));
    const int code = kept.get() < 0 ? errno : ::posix_fallocate(kept.get(), 0, static_cast<off_t>(bytes));
    if (code == 0) return;
    release();
    if (code == ENOSPC || code == EDQUOT)
        throw run_error(fmt::format("{}: there is no space for the results ({})", path_.string(), std::strerror(code)));
}

void run_folder::release() { ::unlink(file(reserve_name).c_str()); }

}  // namespace mdpcosim
