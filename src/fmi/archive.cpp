#include "fmi/archive.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "archive/work_folder.hpp"
#include "archive/zip_reader.hpp"
#include "core/error.hpp"
#include "core/files.hpp"
#include "core/suggest.hpp"
#include "fmi/description_reader.hpp"

namespace mdpcosim::fmi {

namespace {

using archive::work_folder;
using archive::zip_entry;
using archive::zip_reader;

constexpr std::uint64_t most_terminal_bytes = 1 << 26;

std::vector<std::string> files_of(const zip_reader& zip) {
    std::vector<std::string> names;
    for (const zip_entry& entry : zip.entries())
        if (!entry.folder) names.push_back(entry.name);
    return names;
}

fmu_texts read_texts(const zip_reader& zip, const std::filesystem::path& archive, const archive_limits& limits) {
    fmu_texts texts;
    const int description = zip.find("modelDescription.xml");
    if (description < 0)
        throw user_error(fmt::format("FMU '{}': the archive has no modelDescription.xml at its top, so it is no FMU.",
                                     archive.string()));
    texts.description = zip.text(description, limits.description);
    if (const int terminals = zip.find("terminalsAndIcons/terminalsAndIcons.xml"); terminals >= 0)
        texts.terminals = zip.text(terminals, std::min(limits.description, most_terminal_bytes));
    texts.entries = files_of(zip);
    return texts;
}

class unpacked_fmu : public fmu_files {
   public:
    unpacked_fmu(const std::filesystem::path& archive, const archive_limits& limits) {
        path_ = archive;
        const zip_reader zip(archive, limits);
        fmu_texts texts = read_texts(zip, archive, limits);
        description_ = consume_description(std::move(texts.description), std::move(texts.terminals), archive.string());
        work_ = archive::shared_work_folder();
        folder_ = work_->add();
        try {
            zip.unpack(folder_);
            // Its path is handed to every instance, whether the archive has the folder or not.
            std::error_code ignored;
            std::filesystem::create_directory(folder_ / "resources", ignored);
        } catch (...) {
            work_->remove(folder_);
            throw;
        }
    }
    unpacked_fmu(const unpacked_fmu&) = delete;
    unpacked_fmu& operator=(const unpacked_fmu&) = delete;
    ~unpacked_fmu() override { work_->remove(folder_); }

   private:
    std::shared_ptr<work_folder> work_;
};

/// One that lies there unpacked, as those inside an exported FMU do.
class fmu_folder : public fmu_files {
   public:
    fmu_folder(const std::filesystem::path& folder, const archive_limits& limits) {
        path_ = folder;
        folder_ = std::filesystem::absolute(folder);
        const auto text = [&](const char* name, std::uint64_t most) {
            try {
                return read_input(folder / name, most);
            } catch (const file_problem& problem) {
                throw user_error(fmt::format("FMU '{}': {} {}.", folder.string(), name, problem.what()));
            }
        };
        constexpr const char* terminals = "terminalsAndIcons/terminalsAndIcons.xml";
        std::error_code none;
        description_ = consume_description(
            text("modelDescription.xml", limits.description),
            std::filesystem::exists(folder / terminals, none) ? text(terminals, most_terminal_bytes) : std::string(),
            folder.string());
    }
};

/// The archive as it is now: a new export under the same name is another FMU.
struct archive_key {
    std::string path;
    std::int64_t size = 0, seconds = 0, nanoseconds = 0;
    ino_t inode = 0;
    auto operator<=>(const archive_key&) const = default;
};

archive_key key_of(const std::filesystem::path& path) {
    archive_key key;
    std::error_code status;
    key.path = std::filesystem::weakly_canonical(path, status).string();
    struct stat about {};
    if (::stat(archive::file_on_disk(path).c_str(), &about) == 0)
        key = {key.path, about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_ino};
    return key;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
    std::set<std::string> names;
    std::error_code status;
    for (const auto& entry : std::filesystem::directory_iterator(folder, status))
        names.insert(entry.path().filename().string());
    return {names.begin(), names.end()};
}

}  // namespace

std::string platform_name(version v) {
    struct utsname about {};
    ::uname(&about);
    const std::string machine = about.machine;
    if (v == version::v3) return machine + "-linux";
    return machine == "x86_64" ? "linux64" : machine == "i686" ? "linux32" : machine + "-linux";
}

std::string fmu_files::resource_location() const {
    const bool whole = description_.version == version::v1;
    const std::string path = (whole ? folder_ : folder_ / "resources").string();
    if (description_.version == version::v3) return path + "/";
    std::string uri = "file://";
    for (const char c : path)
        if (std::isalnum(static_cast<unsigned char>(c)) || std::string_view("-._~/").find(c) != std::string_view::npos)
            uri += c;
        else
            uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    return uri;
}

std::filesystem::path fmu_files::library(const std::string& model_identifier) const {
    const std::string platform = platform_name(description_.version);
    const std::filesystem::path folder = folder_ / "binaries" / platform;
    const std::string file = model_identifier + ".so";
    // The identifier comes from the description; as a path it would lead elsewhere.
    if (model_identifier.empty() || model_identifier.find('/') != std::string::npos)
        throw user_error(
            fmt::format("FMU '{}': the modelIdentifier '{}' is not a file's name.", path_.string(), model_identifier));
    std::error_code status;
    if (std::filesystem::is_regular_file(folder / file, status)) return folder / file;
    if (const std::vector<std::string> there = names_in(folder); !there.empty()) {
        // Some tools rename the archive and its library after the description was written; one library leaves no doubt.
        std::vector<std::string> libraries;
        for (const std::string& name : there)
            if (name.ends_with(".so")) libraries.push_back(name);
        if (libraries.size() == 1) return folder / libraries[0];
        throw user_error(fmt::format("FMU '{}': binaries/{} has no library '{}'. It has: {}.", path_.string(), platform,
                                     file, name_list(there)));
    }
    const std::vector<std::string> platforms = names_in(folder_ / "binaries");
    const std::string build =
        std::filesystem::exists(folder_ / "sources", status)
            ? fmt::format(
                  " Or build its sources: unpack it, compile sources/*.c (those that its description lists) with "
                  "'cc -shared -fPIC -O2 -I sources -I FMI_HEADERS', link them to binaries/{}/{} and zip it again.",
                  platform, file)
            : "";
    if (platforms.empty())
        throw user_error(fmt::format("FMU '{}' has no binaries{}. Export it with a library for {}.{}", path_.string(),
                                     build.empty() ? "" : ", only sources", platform, build));
    throw user_error(fmt::format("FMU '{}' has no library for this platform, {}. It has: {}. Export it for Linux.{}",
                                 path_.string(), platform, name_list(platforms), build));
}

std::shared_ptr<const fmu_files> open_fmu(const std::filesystem::path& archive, const archive_limits& limits) {
    static std::mutex mutex;
    static std::map<archive_key, std::weak_ptr<const fmu_files>> opened;
    const std::scoped_lock lock(mutex);
    std::erase_if(opened, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<const fmu_files>& known = opened[key_of(archive)];
    std::shared_ptr<const fmu_files> files = known.lock();
    std::error_code none;
    if (!files && std::filesystem::exists(archive / "modelDescription.xml", none))
        known = files = std::make_shared<const fmu_folder>(archive, limits);
    if (!files) known = files = std::make_shared<const unpacked_fmu>(archive, limits);
    return files;
}

std::vector<std::string> fmu_entries(const std::filesystem::path& archive, const archive_limits& limits) {
    return files_of(zip_reader(archive, limits));
}

fmu_texts read_fmu_texts(const std::filesystem::path& archive, const archive_limits& limits) {
    return read_texts(zip_reader(archive, limits), archive, limits);
}

}  // namespace mdpcosim::fmi
