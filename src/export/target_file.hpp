#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/last_words.hpp"
#include "scenario/spec.hpp"

/// The archive that is written: under another name first. Private to export/.
namespace mdpcosim {

/// User errors: a name that does not end with `extension`, a file of the scenario's own, a file that is there and is no archive. `kind`: "SSP".
void refuse_file(const scenario& s, const std::filesystem::path& file, const std::string& extension,
                 const std::string& kind);

/// What will be the file, in a folder of its own beside it, which goes with this object, or with the program, however that ends.
class draft_file {
   public:
    /// run_error where nothing can be written there.
    explicit draft_file(std::filesystem::path file);
    draft_file(const draft_file&) = delete;
    draft_file& operator=(const draft_file&) = delete;
    ~draft_file();

    const std::filesystem::path& path() const { return draft_; }
    /// The draft gets the file's name; run_error where that fails.
    void put_in_place() const;

   private:
    [[noreturn]] void fail(const std::string& why) const;

    std::filesystem::path file_, draft_;
    std::optional<file_in_work> folder_;
};

}  // namespace mdpcosim
