#include "archive/local_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <vector>

#include "archive/work_folder.hpp"
#include "archive/zip_reader.hpp"
#include "core/error.hpp"
#include "core/suggest.hpp"

namespace mdpcosim::archive {

namespace {

/// The part of the path that is a file, while more follows; empty: the path does not lead through a file.
std::filesystem::path outer_file(const std::filesystem::path& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) == 0 || errno != ENOTDIR) return {};
    for (std::filesystem::path at = path.parent_path(); !at.empty() && at != at.root_path(); at = at.parent_path())
        if (::stat(at.c_str(), &about) == 0) return S_ISREG(about.st_mode) ? at : std::filesystem::path();
    return {};
}

[[noreturn]] void refuse_missing(const zip_reader& zip, const std::filesystem::path& archive, const std::string& name) {
    std::vector<std::string> names;
    for (const zip_entry& entry : zip.entries())
        if (!entry.folder) names.push_back(entry.name);
    throw no_archive(fmt::format("archive '{}': it has no file '{}'. It has: {}.{}", archive.string(), name,
                                 name_list(names), did_you_mean(name, names)));
}

}  // namespace

local_file::local_file(const std::filesystem::path& path) : path_(path) {
    const std::filesystem::path archive = outer_file(path);
    if (archive.empty()) return;
    const zip_reader zip(archive, {}, "archive");
    // As far as it leads in this archive; the rest leads on into an archive inside it.
    const std::filesystem::path rest = path.lexically_relative(archive).lexically_normal();
    std::filesystem::path name;
    int found = -1;
    auto part = rest.begin();
    for (; part != rest.end() && found < 0; ++part) found = zip.find((name /= *part).string());
    if (found < 0) refuse_missing(zip, archive, rest.string());

    work_ = shared_work_folder();
    folder_ = work_->add();
    path_ = folder_ / name.filename();
    try {
        zip.unpack(found, path_);
        if (part == rest.end()) return;
        std::filesystem::path inner = path_;
        for (; part != rest.end(); ++part) inner /= *part;
        // The copy of the outer one is needed no longer than it takes to copy the inner one.
        const local_file copy(inner);
        const std::filesystem::path kept = work_->add();
        std::filesystem::copy_file(copy.path(), kept / copy.path().filename());
        work_->remove(folder_);
        folder_ = kept;
        path_ = kept / copy.path().filename();
    } catch (...) {
        work_->remove(folder_);
        throw;
    }
}

local_file::~local_file() {
    if (work_) work_->remove(folder_);
}

std::filesystem::path file_on_disk(const std::filesystem::path& path) {
    std::filesystem::path outer = outer_file(path);
    return outer.empty() ? path : outer;
}

std::filesystem::path archive_of(const std::filesystem::path& path) {
    std::filesystem::path innermost = outer_file(path);
    if (innermost.empty()) return {};
    // Archives inside are known by their names alone: nothing is opened here.
    std::filesystem::path at = innermost;
    const std::filesystem::path rest = path.lexically_relative(innermost);
    for (auto part = rest.begin(); part != rest.end(); ++part) {
        at /= *part;
        if (std::next(part) != rest.end() && (at.extension() == ".ssp" || at.extension() == ".fmu")) innermost = at;
    }
    return innermost;
}

}  // namespace mdpcosim::archive
