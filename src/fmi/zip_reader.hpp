#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fmi/archive.hpp"

struct zip;

/// Reads a zip archive that may be hostile. Private to fmi/.
namespace mdpcosim::fmi {

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
    zip_reader(const std::filesystem::path& archive, const archive_limits& limits);
    zip_reader(const zip_reader&) = delete;
    zip_reader& operator=(const zip_reader&) = delete;
    ~zip_reader();

    const std::vector<zip_entry>& entries() const { return entries_; }
    /// -1: there is none of that name.
    int find(std::string_view name) const;
    /// The bytes of an entry, in pieces; more than its header says is a user_error.
    void read(int entry, const std::function<void(std::span<const char>)>& take) const;
    std::string text(int entry, std::uint64_t most) const;
    /// Everything into a folder that is empty.
    void unpack(const std::filesystem::path& into) const;

   private:
    [[noreturn]] void refuse(const std::string& why) const;
    void check_name(const std::string& name) const;
    void check_entry(int index, const archive_limits& limits, std::uint64_t& total);
    void check_twins() const;

    std::string file_;
    struct zip* zip_ = nullptr;
    std::vector<zip_entry> entries_;
};

}  // namespace mdpcosim::fmi
