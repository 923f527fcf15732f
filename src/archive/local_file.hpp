#pragma once

#include <filesystem>
#include <memory>

/// Paths may lead into archives: `system.ssp/resources/Engine.fmu`, also `outer.ssp/resources/inner.ssp/resources/Engine.fmu`.
namespace mdpcosim::archive {

class work_folder;

/// A file on the disk: the path itself, or, where it leads into an archive, a copy that goes with the object. What is neither is left to
/// whoever opens it. Throws user_error where the archive is none, or has no such file.
class local_file {
   public:
    explicit local_file(const std::filesystem::path& path);
    local_file(const local_file&) = delete;
    local_file& operator=(const local_file&) = delete;
    ~local_file();

    const std::filesystem::path& path() const { return path_; }

   private:
    std::filesystem::path path_;
    std::shared_ptr<work_folder> work_;  ///< none: no copy
    std::filesystem::path folder_;
};

/// The file that there is on the disk: the outermost archive that the path leads into, or the path itself.
std::filesystem::path file_on_disk(const std::filesystem::path& path);

/// The archive that the path leads into, the innermost one; empty: none.
std::filesystem::path archive_of(const std::filesystem::path& path);

}  // namespace mdpcosim::archive
