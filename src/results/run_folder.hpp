#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mdpcosim {

/// Inside the folder of a run: the same scenario with another macro step, for comparison.
inline constexpr const char* half_step_folder = "half-step";
inline constexpr const char* twice_step_folder = "twice-step";

/// The first line of fmi.log.
inline constexpr const char* fmi_log_head = "# time [s], subsystem (FMU): call -> status";

/// Nothing of the user's is lost in a run into `path`: the folder is new, empty or a run's (it has a summary.json, system.json or fmi.log of
/// mdpcosim, or its lock), and none of the `inputs` is a file that the run writes. Otherwise a user_error; nothing is touched.
void check_run_folder(const std::filesystem::path& path, const std::vector<std::filesystem::path>& inputs);

/// The folder a run writes into. A finished run's files are removed, a folder that a running mdpcosim uses is refused, and one that is
/// not a run's (user_error); the lock is held by the open file, so that it goes with the process however that ends.
class run_folder {
   public:
    static constexpr const char* reserve_name = ".reserve";

    /// `working_folder`: where a relative path begins, whatever folder foreign code has changed to since (default: the present one).
    explicit run_folder(const std::filesystem::path& path, const std::filesystem::path& working_folder = {});
    run_folder(const run_folder&) = delete;
    run_folder& operator=(const run_folder&) = delete;
    ~run_folder();

    const std::filesystem::path& path() const { return path_; }  ///< as it was given
    const std::filesystem::path& place() const { return place_; }
    std::filesystem::path file(const char* name) const { return place_ / name; }
    /// Writes a whole file, under another name first: readers see the old or the new one.
    void write(const char* name, const std::string& content) const;
    /// Takes so much of the disk for what is written at the end, until release(): a summary finds its place on a full disk, too.
    void reserve(std::size_t bytes);
    void release();

   private:
    std::filesystem::path path_, place_;
    int lock_ = -1;
};

}  // namespace mdpcosim
