#pragma once

#include <filesystem>
#include <string>

struct zip;
struct zip_source;

namespace mdpcosim::archive {

/// Writes a zip archive as SSP and FMI want it: stored or deflated, no encryption. The same contents give the same bytes: times are left out. What was
/// given is read when the archive is closed. Throws run_error.
class zip_writer {
   public:
    explicit zip_writer(const std::filesystem::path& archive);  ///< replaces a file of that name
    zip_writer(const zip_writer&) = delete;
    zip_writer& operator=(const zip_writer&) = delete;
    ~zip_writer();  ///< without close() there is no archive

    void add(const std::string& name, std::string content);
    /// A file as it is; `pack`: deflated, for those that are no archives themselves.
    void add_file(const std::string& name, const std::filesystem::path& file, bool pack);
    void close();

   private:
    void add_source(const std::string& name, zip_source* source, bool pack);
    [[noreturn]] void fail() const;

    std::filesystem::path path_;
    struct zip* zip_ = nullptr;
};

}  // namespace mdpcosim::archive
