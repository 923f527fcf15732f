#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "archive/local_file.hpp"
#include "core/error.hpp"

struct zip;

/// Reads a zip archive that may be hostile.
namespace mdpcosim::archive {

/// There is no such file, or it is no zip archive at all.
class no_archive : public user_error {
   public:
    using user_error::user_error;
};

/// What an archive may hold; beyond that it is refused before anything is written.
struct archive_limits {
    std::uint64_t entries = 100000;
    std::uint64_t bytes = 4ULL << 30;     ///< unpacked
    std::uint64_t ratio = 1000;           ///< unpacked to packed, of an entry above one MiB
    std::uint64_t description = 1 << 28;  ///< bytes of the XML file that describes the rest
};

struct zip_entry {
    std::string name;  ///< without the slash at the end of a folder
    std::uint64_t size = 0;
    bool folder = false;
    bool executable = false;
    int place = 0;  ///< in the archive
};

/// The table of contents is checked by the constructor, before anything is read: names that leave the folder, links, twins,
/// encrypted entries, sizes and numbers beyond the limits are a user_error.
class zip_reader {
   public:
    /// `kind` is what messages call the archive. It may lie inside another one.
    zip_reader(const std::filesystem::path& archive, const archive_limits& limits, const std::string& kind = "FMU");
    zip_reader(const zip_reader&) = delete;
    zip_reader& operator=(const zip_reader&) = delete;
    ~zip_reader();

    const std::vector<zip_entry>& entries() const { return entries_; }
    /// -1: there is none of that name.
    int find(std::string_view name) const;
    /// The bytes of an entry, in pieces; more than its header says is a user_error.
    void read(int index, const std::function<void(std::span<const char>)>& take) const;
    std::string text(int index, std::uint64_t most) const;
    /// Everything into a folder that is empty.
    void unpack(const std::filesystem::path& into) const;
    /// One file, which is not there yet.
    void unpack(int index, const std::filesystem::path& target) const;

   private:
    [[noreturn]] void refuse(const std::string& why) const;
    void check_name(const std::string& name) const;
    void check_entry(int index, const archive_limits& limits, std::uint64_t& total);
    void settle_twins();

    std::string owner_;  ///< "FMU 'x.fmu'"
    std::shared_ptr<const local_file> file_;
    struct zip* zip_ = nullptr;
    std::vector<zip_entry> entries_;
};

}  // namespace mdpcosim::archive
