#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace mdpcosim {

/// What is in an FMU and what mdpcosim makes of it; long lists are cut unless `all` is set. Nothing of the FMU is run.
std::string fmu_info_text(const std::filesystem::path& path, bool all);
std::string fmu_info_json(const std::filesystem::path& path);

/// Checks of an FMU: archive, description, binaries, a short run with each interface in a process of its own.
struct fmu_verdict {
    struct violation {
        std::string place;  ///< `modelDescription.xml:12`, `archive`, `co-simulation`
        std::string message;
        std::string level = "error";  ///< "error", "warning", "note"
    };
    std::string fmu;
    std::vector<std::string> passed;   ///< what was checked and found right
    std::vector<std::string> skipped;  ///< what could not be checked, and why
    std::vector<violation> violations;

    std::size_t count(const std::string& level) const {
        return static_cast<std::size_t>(std::ranges::count(violations, level, &violation::level));
    }
    bool valid() const { return count("error") == 0; }
};
/// Throws user_error where there is no file or no archive.
fmu_verdict fmu_validate(const std::filesystem::path& fmu);
std::string to_text(const fmu_verdict& verdict);
std::string to_json(const fmu_verdict& verdict);

}  // namespace mdpcosim
