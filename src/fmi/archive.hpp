#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "archive/zip_reader.hpp"
#include "fmi/description.hpp"

/// An FMU's archive, unpacked into a private folder for as long as somebody uses it.
namespace mdpcosim::fmi {

using archive::archive_limits;
using archive::no_archive;

/// An FMU that was unpacked: shared by all its instances, its folder is removed with the last of them, or at the end of the
/// process once its library was loaded (libraries stay loaded, see library.hpp). Folders of processes that died are removed
/// when the next process unpacks an FMU.
class fmu_files {
   public:
    virtual ~fmu_files() = default;
    const std::filesystem::path& path() const { return path_; }      ///< of the archive
    const std::filesystem::path& folder() const { return folder_; }  ///< where it is unpacked
    const fmi::description& description() const { return description_; }
    std::string resource_location() const;  ///< URI of the FMU's folder (1.0) or of its resources (2.0), or path (3.0)
    /// The shared library for this platform: the one of that name, or the only one there is. A user_error says which
    /// platforms or libraries there are where it is missing.
    std::filesystem::path library(const std::string& model_identifier) const;

   protected:
    std::filesystem::path path_, folder_;
    fmi::description description_;
};

/// Unpacks and reads the FMU, or reads one that lies unpacked in a folder; the same archive (path, size, time of change) is unpacked once per process. Throws user_error:
/// no archive, entries that leave the folder, links, bombs, no description, a version that is not supported.
std::shared_ptr<const fmu_files> open_fmu(const std::filesystem::path& archive, const archive_limits& limits = {});

/// The folder under binaries/ for this machine: "linux64" (1.0, 2.0), "x86_64-linux" (3.0).
std::string platform_name(version v);

/// The names of the files in it, and the texts alone, without unpacking, for `fmu info` and `fmu validate`.
std::vector<std::string> fmu_entries(const std::filesystem::path& archive, const archive_limits& limits = {});
struct fmu_texts {
    std::string description, terminals;
    std::vector<std::string> entries;
};
fmu_texts read_fmu_texts(const std::filesystem::path& archive, const archive_limits& limits = {});

}  // namespace mdpcosim::fmi
