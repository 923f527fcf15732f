#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/temporary_folder.hpp"

/// All processes of a run, by a variable that they inherit.
namespace mdpcosim::test {

inline constexpr const char* mark_variable = "MDPCOSIM_TEST_MARK";

/// Living processes whose environment has `mark` ("NAME=VALUE"), each with its parent's number.
inline std::vector<std::pair<pid_t, pid_t>> marked_processes(const std::string& mark) {
    std::vector<std::pair<pid_t, pid_t>> found;
    namespace fs = std::filesystem;
    for (const auto& entry : fs::directory_iterator("/proc", fs::directory_options::skip_permission_denied)) {
        const std::string name = entry.path().filename();
        if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); })) continue;
        if (content(entry.path() / "environ").find(mark) == std::string::npos) continue;
        const std::string status = content(entry.path() / "stat");
        std::istringstream rest(status.substr(std::min(status.size(), status.rfind(')') + 2)));
        char state = 'Z';
        pid_t parent = 0;
        rest >> state >> parent;
        if (state != 'Z') found.emplace_back(std::stoi(name), parent);
    }
    return found;
}

}  // namespace mdpcosim::test
