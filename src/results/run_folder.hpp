#pragma once

#include <filesystem>
#include <string>

namespace mdpcosim {

/// Inside the folder of a run: the same scenario with another macro step, for comparison.
inline constexpr const char* half_step_folder = "half-step";
inline constexpr const char* twice_step_folder = "twice-step";

/// The folder a run writes into. A finished run's files are removed, a folder that a running mdpcosim uses is refused
/// (user_error); the lock is held by the open file, so that it goes with the process however that ends.
class run_folder {
   public:
    explicit run_folder(const std::filesystem::path& path);
    run_folder(const run_folder&) = delete;
    run_folder& operator=(const run_folder&) = delete;
    ~run_folder();

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path file(const char* name) const { return path_ / name; }
    /// Writes a whole file, under another name first: readers see the old or the new one.
    void write(const char* name, const std::string& content) const;

   private:
    std::filesystem::path path_;
    int lock_ = -1;
};

}  // namespace mdpcosim
